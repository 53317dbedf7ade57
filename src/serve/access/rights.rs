//! What a command needs, and what a role allows.

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf};

use super::users;
use crate::engine::Request;
use crate::engine::command::commands;
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::serve::connection::Client;

/// The roles that there are.
pub(super) const ROLES: &[&str] = &["dbAdmin", "read", "readWrite", "root"];

/// A role of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Role {
    pub(super) kind: Kind,
    pub(super) db: String,
}

/// What kind of role it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Administers one database.
    Admin,
    /// Reads one database.
    Read,
    /// Reads and writes one database.
    ReadWrite,
    /// Does everything.
    Root,
}

impl Role {
    pub(super) fn named(name: &str, db: &str) -> Option<Self> {
        let kind = match name {
            "dbAdmin" => Kind::Admin,
            "read" => Kind::Read,
            "readWrite" => Kind::ReadWrite,
            "root" if db == "admin" => Kind::Root,
            _ => return None,
        };
        Some(Self { kind, db: db.to_owned() })
    }

    pub(super) fn name(&self) -> &'static str {
        match self.kind {
            Kind::Admin => "dbAdmin",
            Kind::Read => "read",
            Kind::ReadWrite => "readWrite",
            Kind::Root => "root",
        }
    }

    /// Whether it allows this in that database.
    fn allows(&self, need: Need, db: &str) -> bool {
        let here = self.db == db;
        match (self.kind, need) {
            (_, Need::Nothing | Need::Login) | (Kind::Root, _) => true,
            (_, Need::Everything) => false,
            (Kind::Read, Need::Read | Need::Look)
            | (Kind::ReadWrite, Need::Read | Need::Look | Need::Write | Need::Shape)
            | (Kind::Admin, Need::Look | Need::Shape | Need::Administer) => here,
            (Kind::Read, Need::Write | Need::Shape | Need::Administer)
            | (Kind::ReadWrite, Need::Administer)
            | (Kind::Admin, Need::Read | Need::Write) => false,
        }
    }
}

/// What a command needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Need {
    /// Nothing: it is needed to log in.
    Nothing,
    /// Somebody who has logged in.
    Login,
    /// To see which collections and indexes there are, and how large.
    Look,
    /// To read documents.
    Read,
    /// To write documents.
    Write,
    /// To make and drop collections and indexes.
    Shape,
    /// To administer a database.
    Administer,
    /// The role `root`.
    Everything,
}

/// The commands that need less than everything, by name.
const NEEDS: &[(&str, Need)] = &[
    ("aggregate", Need::Read),
    ("buildInfo", Need::Nothing),
    ("buildinfo", Need::Nothing),
    ("collMod", Need::Administer),
    ("collStats", Need::Look),
    ("collstats", Need::Look),
    ("compact", Need::Administer),
    ("connectionStatus", Need::Nothing),
    ("convertToCapped", Need::Shape),
    ("count", Need::Read),
    ("create", Need::Shape),
    ("createIndexes", Need::Shape),
    ("dataSize", Need::Read),
    ("datasize", Need::Read),
    ("dbStats", Need::Look),
    ("dbstats", Need::Look),
    ("delete", Need::Write),
    ("distinct", Need::Read),
    ("drop", Need::Shape),
    ("dropDatabase", Need::Administer),
    ("dropIndexes", Need::Shape),
    ("endSessions", Need::Nothing),
    ("find", Need::Read),
    ("findAndModify", Need::Write),
    ("findandmodify", Need::Write),
    ("getMore", Need::Read),
    ("hello", Need::Nothing),
    ("insert", Need::Write),
    ("isMaster", Need::Nothing),
    ("ismaster", Need::Nothing),
    ("killCursors", Need::Read),
    ("listCollections", Need::Look),
    ("listCommands", Need::Nothing),
    ("listDatabases", Need::Login),
    ("listIndexes", Need::Look),
    ("logout", Need::Nothing),
    ("ping", Need::Nothing),
    ("planCacheClear", Need::Administer),
    ("profile", Need::Administer),
    ("reIndex", Need::Administer),
    ("refreshSessions", Need::Nothing),
    ("saslContinue", Need::Nothing),
    ("saslStart", Need::Nothing),
    ("startSession", Need::Login),
    ("update", Need::Write),
    ("validate", Need::Administer),
    ("whatsmyuri", Need::Nothing),
];

fn need(name: &str) -> Need {
    let found = NEEDS.binary_search_by_key(&name, |(name, _)| name);
    found.map_or(Need::Everything, |at| NEEDS[at].1)
}

/// Refuses a command that the client may not run.
pub(in crate::serve) fn check(client: &Client, request: &Request) -> Result<()> {
    if !client.server.auth || client.joined {
        return Ok(());
    }
    let body = &*request.body;
    let (name, _) = first(body);
    let needs = needs(body, &request.db);
    if needs.iter().all(|(need, _)| *need == Need::Nothing) {
        return Ok(());
    }
    let roles = client.session.roles(&client.server)?;
    let Some(roles) = roles else {
        // Whoever is at this machine may make the first user, for how else would one come into being?
        let first_user = name == "createUser" && request.db == "admin" && client.local;
        if first_user && users::is_empty(&client.server.engine)? {
            return Ok(());
        }
        return Err(refuse!(UNAUTHORIZED, "Command {name} requires authentication"));
    };
    let secret = needs.iter().any(|(_, db)| *db == "admin") && mentions(body, "system.users");
    let all = needs.iter().copied().chain(secret.then_some((Need::Everything, "admin")));
    for (need, db) in all {
        if !roles.iter().any(|role| role.allows(need, db)) && need != Need::Login {
            // A command that nobody knows is none that is forbidden.
            if !is_known(name) {
                return Ok(());
            }
            let told = Document::try_from(body).unwrap_or_default();
            let told = crate::value::text::value(&Bson::Document(told));
            return Err(refuse!(UNAUTHORIZED, "not authorized on {db} to execute command {told}"));
        }
    }
    Ok(())
}

/// The first field of a command: its name and what it is about.
fn first(body: &RawDocument) -> (&str, RawBsonRef<'_>) {
    let first = body.iter().next().and_then(|first| first.ok());
    first.map_or(("", RawBsonRef::Null), |(name, value)| (name.as_str(), value))
}

fn is_known(name: &str) -> bool {
    let server = ["createUser", "dropUser", "shutdown", "updateUser"];
    server.contains(&name) || commands().any(|row| row.name == name || row.aliases.contains(&name))
}

/// What a command needs, and in which databases.
fn needs<'a>(body: &'a RawDocument, db: &'a str) -> Vec<(Need, &'a str)> {
    let (name, value) = first(body);
    match (name, value) {
        ("explain", RawBsonRef::Document(explained)) => needs(explained, db),
        ("aggregate", RawBsonRef::String(_)) => {
            let mut all = vec![(Need::Read, db)];
            all.extend(target(body, db).map(|target| (Need::Write, target)));
            all
        }
        // The whole server is asked, not a collection.
        ("aggregate", _) => vec![(Need::Everything, db)],
        // The users are in it.
        ("dropDatabase", _) if db == "admin" => vec![(Need::Everything, db)],
        _ => vec![(need(name), db)],
    }
}

/// The database that a pipeline writes to, if it does.
fn target<'a>(body: &'a RawDocument, db: &'a str) -> Option<&'a str> {
    let stages = body.get_array("pipeline").ok()?;
    stages.into_iter().flatten().filter_map(RawBsonRef::as_document).find_map(|stage| {
        match first(stage) {
            ("$out", RawBsonRef::Document(place)) => Some(place.get_str("db").unwrap_or(db)),
            ("$merge", RawBsonRef::Document(merge)) => {
                let place = merge.get_document("into").ok();
                Some(place.and_then(|place| place.get_str("db").ok()).unwrap_or(db))
            }
            ("$out" | "$merge", _) => Some(db),
            _ => None,
        }
    })
}

/// Whether a text stands anywhere in a command. The users' collection is not to be reached by any way round.
fn mentions(body: &RawDocument, text: &str) -> bool {
    body.as_bytes().windows(text.len()).any(|bytes| bytes == text.as_bytes())
}

/// The reply of `listDatabases`, with what the client may see.
pub(in crate::serve) fn databases(
    client: &Client,
    reply: RawDocumentBuf,
) -> Result<RawDocumentBuf> {
    if !client.server.auth || client.joined {
        return Ok(reply);
    }
    let roles = client.session.roles(&client.server)?.unwrap_or_default();
    let mut reply = Document::try_from(&*reply)
        .map_err(|error| Error::command(Code::INVALID_BSON, error.to_string()))?;
    if let Ok(databases) = reply.get_array_mut("databases") {
        databases.retain(|database| {
            let name = database.as_document().and_then(|one| one.get_str("name").ok());
            name.is_some_and(|name| roles.iter().any(|role| role.allows(Need::Look, name)))
        });
    }
    RawDocumentBuf::try_from(&reply)
        .map_err(|error| Error::command(Code::INVALID_BSON, error.to_string()))
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    #[test]
    fn commands_are_sorted_and_known() {
        assert!(NEEDS.is_sorted_by_key(|(name, _)| name));
        for (name, _) in NEEDS {
            assert!(is_known(name) || name.starts_with("sasl"), "{name}");
        }
    }

    #[test]
    fn a_role_is_for_one_database() {
        let allows = |role: &str, command: RawDocumentBuf| {
            let role = Role::named(role, "shop").expect("a role");
            needs(&command, "shop").into_iter().all(|(need, db)| role.allows(need, db))
        };
        let find = || rawdoc! { "find": "t" };
        let insert = || rawdoc! { "insert": "t" };
        assert!(
            allows("read", find()) && allows("readWrite", find()) && !allows("dbAdmin", find())
        );
        assert!(!allows("read", insert()) && allows("readWrite", insert()));
        assert!(allows("dbAdmin", rawdoc! { "dropDatabase": 1 }));
        assert!(!allows("readWrite", rawdoc! { "dropDatabase": 1 }));
        let out = |place: RawDocumentBuf| {
            rawdoc! { "aggregate": "t", "pipeline": [{ "$match": {} }, { "$out": place }] }
        };
        assert!(allows("readWrite", out(rawdoc! { "db": "shop", "coll": "u" })));
        assert!(!allows("readWrite", out(rawdoc! { "db": "other", "coll": "u" })));
        assert!(!allows("read", rawdoc! { "aggregate": "t", "pipeline": [{ "$out": "u" }] }));
        let merge = rawdoc! { "$merge": { "into": { "db": "other", "coll": "u" } } };
        assert!(!allows("readWrite", rawdoc! { "aggregate": "t", "pipeline": [merge] }));
        let explain = rawdoc! { "explain": { "delete": "t", "deletes": [] } };
        assert!(!allows("read", explain.clone()) && allows("readWrite", explain));
        for all in ["shutdown", "fsync", "createUser", "currentOp", "serverStatus", "frobnicate"] {
            assert!(
                ROLES
                    .iter()
                    .filter_map(|name| Role::named(name, "shop"))
                    .all(|role| { !role.allows(need(all), "shop") })
            );
        }
        assert!(Role::named("root", "shop").is_none());
        assert!(Role::named("root", "admin").expect("a role").allows(Need::Everything, "shop"));
    }
}
