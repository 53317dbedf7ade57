//! Users, kept as documents of `admin.system.users`, and the commands about them.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bson::{Binary, Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc, rawdoc};

use super::rights::{ROLES, Role};
use super::scram::{Credential, Mechanism};
use crate::engine::{Engine, Request};
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use crate::serve::connection::Client;
use crate::{bad_value, refuse};

/// Somebody who may log in.
#[derive(Clone, Debug)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) db: String,
    pub(super) roles: Vec<Role>,
    credentials: Document,
}

impl User {
    fn read(document: &Document) -> Option<Self> {
        let roles = document.get_array("roles").ok()?.iter().filter_map(|role| {
            let role = role.as_document()?;
            Role::named(role.get_str("role").ok()?, role.get_str("db").ok()?)
        });
        Some(Self {
            name: document.get_str("user").ok()?.to_owned(),
            db: document.get_str("db").ok()?.to_owned(),
            roles: roles.collect(),
            credentials: document.get_document("credentials").ok()?.clone(),
        })
    }

    /// What is kept of the password for one mechanism.
    pub(super) fn credential(&self, mechanism: Mechanism) -> Option<Credential> {
        Credential::read(mechanism, &self.credentials)
    }

    /// The mechanisms that the user may log in by.
    pub(super) fn mechanisms(&self) -> impl Iterator<Item = &'static str> {
        let known = Mechanism::ALL.into_iter().filter(|one| self.credential(*one).is_some());
        known.map(Mechanism::name)
    }
}

/// Runs a command on the users themselves.
fn run(engine: &Engine, body: &Document) -> Result<Document> {
    let body = RawDocumentBuf::try_from(body).map_err(|error| bad_value!("{error}"))?;
    let request = Request { db: "admin".to_owned(), body, interrupt: Interrupt::new() };
    let reply = engine.run(&request)?;
    Document::try_from(&*reply).map_err(|error| refuse!(INVALID_BSON, "{error}"))
}

/// The documents of the users that match.
fn find(engine: &Engine, filter: Document) -> Result<Vec<Document>> {
    let all = i32::MAX;
    let reply = run(engine, &doc! { "find": "system.users", "filter": filter, "batchSize": all })?;
    let batch = reply.get_document("cursor").and_then(|cursor| cursor.get_array("firstBatch"));
    let documents =
        batch.map(|batch| batch.iter().filter_map(Bson::as_document).cloned().collect());
    Ok(documents.unwrap_or_default())
}

/// A user, if there is one of that name in that database.
pub(super) fn lookup(engine: &Engine, db: &str, name: &str) -> Result<Option<User>> {
    let found = find(engine, doc! { "_id": format!("{db}.{name}") })?;
    Ok(found.first().and_then(User::read))
}

/// Whether nobody can log in yet.
pub(super) fn is_empty(engine: &Engine) -> Result<bool> {
    Ok(find(engine, doc! {})?.is_empty())
}

/// The name that the first field of a command gives.
fn named<'a>(body: &'a RawDocument, command: &str) -> Result<&'a str> {
    match body.get(command) {
        Ok(Some(RawBsonRef::String(""))) => {
            Err(bad_value!("User document needs 'user' field to be non-empty"))
        }
        Ok(Some(RawBsonRef::String(name))) if !name.contains('\0') => Ok(name),
        Ok(_) | Err(_) => Err(refuse!(
            TYPE_MISMATCH,
            "BSON field '{command}.{command}' is the wrong type, expected type 'string'"
        )),
    }
}

/// The fields of a user's document that a command gives: password and roles.
fn given(name: &str, request: &Request) -> Result<Document> {
    let body = &request.body;
    let mut fields = Document::new();
    if let Ok(Some(password)) = body.get("pwd") {
        let RawBsonRef::String(password) = password else {
            return Err(refuse!(TYPE_MISMATCH, "'pwd' field must be of type string"));
        };
        if password.is_empty() {
            return Err(Error::command(Code(50687), "Password cannot be empty"));
        }
        let mut credentials = Document::new();
        for mechanism in mechanisms(body)? {
            let credential = Credential::make(mechanism, name, password)?;
            credentials.insert(mechanism.name(), credential.document());
        }
        fields.insert("credentials", credentials);
    }
    if let Ok(Some(roles)) = body.get("roles") {
        let RawBsonRef::Array(roles) = roles else {
            return Err(refuse!(TYPE_MISMATCH, "'roles' field must be an array"));
        };
        let roles = roles.into_iter().flatten().map(|role| self::role(role, &request.db));
        fields.insert("roles", roles.collect::<Result<Vec<_>>>()?);
    }
    if let Ok(Some(RawBsonRef::Document(data))) = body.get("customData") {
        fields.insert("customData", Document::try_from(data).unwrap_or_default());
    }
    Ok(fields)
}

/// The mechanisms that a command names; all when it names none.
fn mechanisms(body: &RawDocument) -> Result<Vec<Mechanism>> {
    let Ok(named) = body.get_array("mechanisms") else { return Ok(Mechanism::ALL.to_vec()) };
    let names = named.into_iter().flatten().map(|name| name.as_str().unwrap_or_default());
    let found = names.map(|name| {
        Mechanism::named(name).ok_or_else(|| bad_value!("Unknown auth mechanism '{name}'"))
    });
    let found = found.collect::<Result<Vec<_>>>()?;
    if found.is_empty() {
        return Err(bad_value!("mechanisms field must not be empty"));
    }
    Ok(found)
}

/// A role as a user's document has it.
fn role(role: RawBsonRef<'_>, db: &str) -> Result<Document> {
    let (name, db) = match role {
        RawBsonRef::String(name) => (name, db),
        RawBsonRef::Document(role) => match (role.get_str("role"), role.get_str("db")) {
            (Ok(name), Ok(db)) => (name, db),
            _ => return Err(bad_value!("a role needs the strings 'role' and 'db'")),
        },
        _ => return Err(bad_value!("Role names must be either strings or objects")),
    };
    if Role::named(name, db).is_none() {
        return Err(refuse!(
            ROLE_NOT_FOUND,
            "Could not find role: {name}@{db}; there are {}",
            ROLES.join(", ")
        ));
    }
    Ok(doc! { "role": name, "db": db })
}

fn ok() -> RawDocumentBuf {
    rawdoc! { "ok": 1.0 }
}

fn changed(client: &Client) {
    client.server.access.fetch_add(1, Ordering::AcqRel);
}

/// The command `createUser`.
pub(in crate::serve) fn create(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let name = named(&request.body, "createUser")?;
    let given = given(name, request)?;
    if !given.contains_key("credentials") {
        return Err(bad_value!(
            "Must provide a 'pwd' field for all user documents, except those with '$external' as the user's source db"
        ));
    }
    if !given.contains_key("roles") {
        return Err(Error::command(
            Code(40414),
            "BSON field 'createUser.roles' is missing but a required field",
        ));
    }
    let id = uuid::Uuid::new_v4().as_bytes().to_vec();
    let id = Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: id };
    let db = &request.db;
    let mut user = doc! { "_id": format!("{db}.{name}"), "userId": id, "user": name, "db": db };
    user.extend(given);
    let engine = &client.server.engine;
    let reply = run(
        engine,
        &doc! { "insert": "system.users", "documents": [user], "writeConcern": { "j": true } },
    )?;
    if reply.contains_key("writeErrors") {
        return Err(Error::command(Code(51003), format!("User \"{name}@{db}\" already exists")));
    }
    changed(client);
    Ok(ok())
}

/// The command `updateUser`.
pub(in crate::serve) fn update(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let name = named(&request.body, "updateUser")?;
    let given = given(name, request)?;
    if given.is_empty() {
        return Err(bad_value!("Must specify at least one field to update in updateUser"));
    }
    let update = doc! { "q": { "_id": format!("{}.{name}", request.db) }, "u": { "$set": given } };
    let command =
        doc! { "update": "system.users", "updates": [update], "writeConcern": { "j": true } };
    expect_one(client, request, name, &command)
}

/// The command `dropUser`.
pub(in crate::serve) fn drop_user(
    client: &Arc<Client>,
    request: &Request,
) -> Result<RawDocumentBuf> {
    let name = named(&request.body, "dropUser")?;
    let delete = doc! { "q": { "_id": format!("{}.{name}", request.db) }, "limit": 1 };
    let command =
        doc! { "delete": "system.users", "deletes": [delete], "writeConcern": { "j": true } };
    expect_one(client, request, name, &command)
}

/// Runs a command that has to find a user.
fn expect_one(
    client: &Client,
    request: &Request,
    name: &str,
    command: &Document,
) -> Result<RawDocumentBuf> {
    let reply = run(&client.server.engine, command)?;
    if reply.get_i32("n").is_ok_and(|n| n == 1) {
        changed(client);
        return Ok(ok());
    }
    Err(refuse!(USER_NOT_FOUND, "User '{name}@{}' not found", request.db))
}

/// The command `usersInfo`.
pub(in crate::serve) fn show(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let one = |value: RawBsonRef<'_>| match value {
        RawBsonRef::String(name) => Some(Bson::String(format!("{}.{name}", request.db))),
        RawBsonRef::Document(user) => {
            let (name, db) = (user.get_str("user").ok()?, user.get_str("db").ok()?);
            Some(Bson::String(format!("{db}.{name}")))
        }
        _ => None,
    };
    let filter = match request.body.get("usersInfo") {
        Ok(Some(RawBsonRef::Array(users))) => {
            let ids: Vec<Bson> = users.into_iter().flatten().filter_map(one).collect();
            doc! { "_id": { "$in": ids } }
        }
        Ok(Some(RawBsonRef::Document(options)))
            if options.get("forAllDBs").is_ok_and(|all| all.is_some()) =>
        {
            doc! {}
        }
        Ok(Some(value @ (RawBsonRef::String(_) | RawBsonRef::Document(_)))) => {
            doc! { "_id": one(value).unwrap_or(Bson::Null) }
        }
        Ok(_) | Err(_) => doc! { "db": &request.db },
    };
    let mut users = find(&client.server.engine, filter)?;
    for user in &mut users {
        let names =
            user.get_document("credentials").map(|known| known.keys().cloned().collect::<Vec<_>>());
        let names = names.unwrap_or_default();
        user.remove("credentials");
        user.insert("mechanisms", names);
    }
    RawDocumentBuf::try_from(&doc! { "users": users, "ok": 1.0 })
        .map_err(|error| bad_value!("{error}"))
}
