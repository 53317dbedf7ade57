//! Connections: `db.getMongo()` and `Mongo()`.

use std::sync::Arc;

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocumentBuf, rawdoc};

use super::collection::change_stream;
use super::command::{Command, field, owned};
use super::database::{answer, database_name};
use super::held::Held;
use super::refusal::{missing_argument, usage};
use super::road::Road;
use super::rows::native;
use super::{Call, Class, Reply, Shell, concern, help, session};
use crate::backend::{Address, Remote, ServerSettings, Topology};
use crate::error::Result;

/// `db.getMongo()`.
pub(super) const MONGO: Class = Class::instances(
    "Mongo",
    "Mongo",
    "a connection",
    &[
        native("adminCommand", "(command)", "sends a command to the admin database", admin_command),
        native("close", "()", "ends the connection; the shell's own stays", close),
        native("connect", "()", "accepted: it is connected already", accept),
        native("constructor", "(address)", "a connection to an address", connect),
        native("forceReadMode", "(mode)", "accepted: there is one way to read", accept),
        native("forceWriteMode", "(mode)", "accepted: there is one way to write", accept),
        native("getCollection", "(namespace)", "a collection by database and name", get_collection),
        native("getDB", "(name)", "a database", get_db),
        native("getDBNames", "()", "the names of the databases", names),
        native("getDBs", "()", "the databases and their sizes", databases),
        native(
            "getLogComponents",
            "()",
            "how much each part of the server logs",
            super::database_admin::log_components,
        ),
        native(
            "getMaxWireVersion",
            "()",
            "the newest wire protocol the server speaks",
            wire_version,
        ),
        native(
            "getMinWireVersion",
            "()",
            "the oldest wire protocol the server speaks",
            wire_version,
        ),
        native(
            "getReadConcern",
            "()",
            "how safe what is read must be, where that was set",
            get_read_concern,
        ),
        native("getReadPref", "()", "which members are read from", get_read_pref),
        native("getReadPrefMode", "()", "which members are read from", get_read_pref),
        native("getReadPrefTagSet", "()", "which tags members read from must have", get_read_pref),
        native("getSlaveOk", "()", "whether secondaries may answer reads", is_secondary_ok),
        native("getURI", "()", "its address", uri),
        native("getWriteConcern", "()", "the write concern that was set for it", concern::get),
        native("hasWriteCommands", "()", "whether writes are commands", yes),
        native("help", "()", "this list", |call| help::object(call, "Mongo")),
        native("isCausalConsistency", "()", "whether reads see the writes before them", no),
        native("readMode", "()", "how reads are sent", mode),
        native(
            "setCausalConsistency",
            "(on)",
            "accepted: reads see the writes before them",
            accept,
        ),
        native(
            "setLogLevel",
            "(level, component)",
            "how much the server logs",
            super::database_admin::set_log_level,
        ),
        native("setReadConcern", "(level)", "how safe what is read must be", set_read_concern),
        native("setReadPref", "(mode, tagSet)", "which members to read from", set_read_pref),
        native("setSecondaryOk", "(ok)", "lets secondaries answer reads", secondary_ok),
        native("setSlaveOk", "(ok)", "lets secondaries answer reads (old name)", secondary_ok),
        native("setWriteConcern", "(concern)", "how safe all writes shall be", concern::set),
        native("startSession", "(options)", "starts a session", session::start),
        native("toString", "()", "what it is connected to", text),
        native("tojson", "()", "what it is connected to", text),
        native("unsetWriteConcern", "()", "writes are as safe as any again", concern::unset),
        native("useWriteCommands", "()", "whether writes are commands", yes),
        native("watch", "(pipeline, options)", "follows all changes (needs a replica set)", watch),
        native("writeMode", "()", "how writes are sent", mode),
    ],
);

/// What the connection is called.
fn name(shell: &Shell) -> String {
    match shell.server().describe() {
        Topology::Embedded { .. } => "the embedded engine".to_owned(),
        Topology::Server { address, .. } => address,
    }
}

fn text(call: &mut Call<'_>) -> Result<Reply> {
    let text = match call.shell.classic() {
        true => format!("connection to {}", name(call.shell)),
        false => address(call.shell),
    };
    Ok(Reply::Value(RawBson::String(text)))
}

fn address(shell: &Shell) -> String {
    match shell.server().describe() {
        Topology::Embedded { .. } => "the embedded engine".to_owned(),
        Topology::Server { address, .. } => format!("mongodb://{address}/{}", shell.db),
    }
}

fn uri(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(address(call.shell))))
}

/// The session's own connection stays.
fn close(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    call.shell.held.close(handle);
    Ok(Reply::Nothing)
}

fn admin_command(call: &mut Call<'_>) -> Result<Reply> {
    let body = super::database::command_of(call)?;
    answer(call.shell, "admin", body)
}

fn get_db(call: &mut Call<'_>) -> Result<Reply> {
    database_name(call.shell, call.value(0), "Mongo.getDB").map(Reply::Database)
}

/// `{databases: [{name, sizeOnDisk, empty}], totalSize, ok}`.
pub(super) fn list(shell: &Shell) -> Result<RawDocumentBuf> {
    let body = Command::new(cstr!("listDatabases"), 1).body();
    shell.run("admin", body).map_err(|error| shell.refused(error, "listDatabases failed:", ""))
}

fn databases(call: &mut Call<'_>) -> Result<Reply> {
    list(call.shell).map(|reply| Reply::Served(RawBson::Document(reply)))
}

fn names(call: &mut Call<'_>) -> Result<Reply> {
    let reply = list(call.shell)?;
    let databases = reply.get_array("databases").ok();
    let names = databases.into_iter().flatten().filter_map(|entry| match entry {
        Ok(RawBsonRef::Document(entry)) => field(entry, "name").map(RawBson::from),
        _ => None,
    });
    Ok(Reply::Value(RawBson::Array(names.collect())))
}

/// The read preference that a mode and a tag set describe, in the form in which commands carry it.
pub(super) fn preference(call: &Call<'_>) -> Result<Option<RawDocumentBuf>> {
    const MODES: [&str; 5] =
        ["nearest", "primary", "primaryPreferred", "secondary", "secondaryPreferred"];
    let Some(mode) = call.text(0, "mode")? else { return Ok(None) };
    if !MODES.contains(&mode) {
        let hint = super::nearest(mode, MODES).map(|near| format!(". Did you mean {near}?"));
        return Err(usage(format!("unknown read preference {mode}{}", hint.unwrap_or_default())));
    }
    let mut preference = rawdoc! { "mode": mode };
    match call.value(1) {
        Some(RawBson::Array(tags)) if mode != "primary" => {
            preference.append(cstr!("tags"), tags.clone())
        }
        Some(RawBson::Array(tags)) if !tags.is_empty() => {
            return Err(usage("the read preference primary takes no tags"));
        }
        _ => {}
    }
    Ok(Some(preference))
}

/// One server has no members to choose from, but it is told.
fn set_read_pref(call: &mut Call<'_>) -> Result<Reply> {
    let preference = preference(call)?;
    call.shell.set_reading(concern::PREFERENCE, preference);
    Ok(Reply::Nothing)
}

fn get_read_pref(call: &mut Call<'_>) -> Result<Reply> {
    let kept = call.shell.reading(concern::PREFERENCE).cloned();
    let kept = kept.unwrap_or_else(|| rawdoc! { "mode": "primary" });
    Ok(Reply::Value(match call.method {
        "getReadPrefMode" => owned(&kept, "mode").unwrap_or(RawBson::Null),
        "getReadPrefTagSet" => {
            owned(&kept, "tags").unwrap_or_else(|| RawBson::Array(bson::RawArrayBuf::new()))
        }
        _ => RawBson::Document(kept),
    }))
}

fn set_read_concern(call: &mut Call<'_>) -> Result<Reply> {
    let concern = call.text(0, "level")?.map(|level| rawdoc! { "level": level });
    call.shell.set_reading(concern::CONCERN, concern);
    Ok(Reply::Nothing)
}

fn get_read_concern(call: &mut Call<'_>) -> Result<Reply> {
    let kept = call.shell.reading(concern::CONCERN);
    Ok(kept.and_then(|kept| owned(kept, "level")).map_or(Reply::Nothing, Reply::Value))
}

/// `watch(pipeline, options)`: all changes there are.
fn watch(call: &mut Call<'_>) -> Result<Reply> {
    change_stream(call, "admin", RawBson::Int32(1), true)
}

/// `setSlaveOk()` and its like: the read preference `secondaryPreferred`.
pub(super) fn secondary_ok(call: &mut Call<'_>) -> Result<Reply> {
    call.shell.notice(
        "note: slaveOk and secondaryOk are deprecated; they mean setReadPref(\"secondaryPreferred\")",
    );
    let on = call.arguments.is_empty() || call.truthy(0);
    let preference = on.then(|| rawdoc! { "mode": "secondaryPreferred" });
    call.shell.set_reading(concern::PREFERENCE, preference);
    Ok(Reply::Nothing)
}

pub(super) fn is_secondary_ok(call: &mut Call<'_>) -> Result<Reply> {
    let kept = call.shell.reading(concern::PREFERENCE).and_then(|kept| owned(kept, "mode"));
    let primary = kept.is_none_or(|mode| mode == RawBson::String("primary".to_owned()));
    Ok(Reply::Value(RawBson::Boolean(!primary)))
}

/// What would change nothing here.
fn accept(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Nothing)
}

fn yes(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(true)))
}

fn no(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(false)))
}

/// The one way in which reads and writes are sent.
fn mode(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String("commands".to_owned())))
}

/// `getMinWireVersion()` and `getMaxWireVersion()`.
fn wire_version(call: &mut Call<'_>) -> Result<Reply> {
    let key = if call.method == "getMinWireVersion" { "minWireVersion" } else { "maxWireVersion" };
    let reply = call.shell.run("admin", rawdoc! { "hello": 1 })?;
    Ok(field(&reply, key).map_or(Reply::Nothing, |version| Reply::Served(RawBson::from(version))))
}

/// `getCollection("shop.orders")`.
fn get_collection(call: &mut Call<'_>) -> Result<Reply> {
    let namespace = call.text(0, "namespace")?.unwrap_or_default();
    let (db, name) = namespace.split_once('.').unwrap_or((namespace, ""));
    if name.is_empty() {
        return Err(usage("getCollection needs a database and a collection: \"shop.orders\""));
    }
    let db =
        database_name(call.shell, Some(&RawBson::String(db.to_owned())), "Mongo.getCollection")?;
    Ok(Reply::Collection(db, name.to_owned()))
}

/// `connect(address, user, password)`: a database.
pub(super) fn connect_database(call: &mut Call<'_>) -> Result<Reply> {
    let Some(address) = call.text(0, "address")?.map(ToOwned::to_owned) else {
        let text = "Missing connection string: connect(\"localhost:27017/test\")";
        return Err(call.shell.wrong(text, missing_argument(0, "connect")));
    };
    if let Some(db) = own_database(call.shell, &address)? {
        return Ok(Reply::Database(db.unwrap_or_else(|| "test".to_owned())));
    }
    let settings = ServerSettings {
        username: call.text(1, "user")?.map(ToOwned::to_owned),
        password: call.text(2, "password")?.map(ToOwned::to_owned),
        ..ServerSettings::default()
    };
    let address = Address::parse(&address)?;
    let db = address.database().unwrap_or("test").to_owned();
    Ok(Reply::DatabaseAt(open(call.shell, address, settings)?, db))
}

/// `new Mongo(address)`: another connection; the session's own where that is meant.
pub(super) fn connect(call: &mut Call<'_>) -> Result<Reply> {
    let address = call.text(0, "address")?.unwrap_or("localhost:27017").to_owned();
    if own_database(call.shell, &address)?.is_some() {
        return Ok(Reply::Handle("Mongo", 0));
    }
    let connection = open(call.shell, Address::parse(&address)?, ServerSettings::default())?;
    Ok(Reply::Handle("Mongo", connection))
}

/// Connects to a server now, so that a wrong address is told where it stands. Answers with the connection's number.
fn open(shell: &mut Shell, address: Address, settings: ServerSettings) -> Result<u32> {
    let server = Remote::new(address, settings);
    server.greet(&shell.interrupt, None)?;
    let number = shell.held.insert(Held::Connection);
    let road = Road { backend: Some(Arc::new(server)), session: None, connection: number };
    shell.held.reroute(number, road);
    Ok(number)
}

/// The database that an address names, where the address means the session's own connection: a database's name alone, or
/// in an embedded session a loopback address.
fn own_database(shell: &mut Shell, address: &str) -> Result<Option<Option<String>>> {
    let Parts { host, db, .. } = parts(address);
    match shell.backend.describe() {
        _ if host.is_empty() => {}
        Topology::Embedded { .. } if is_loopback(host) && !shell.given.local_servers => {
            shell.notice("note: localhost means this session's own embedded engine; --localhost=server makes it mean a server");
        }
        _ => return Ok(None),
    }
    match db {
        "" => Ok(Some(None)),
        db => database_name(shell, Some(&RawBson::String(db.to_owned())), "connect")
            .map(|db| Some(Some(db))),
    }
}

/// Whether a host is this very machine.
fn is_loopback(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]", "::1", "0.0.0.0"].contains(&host)
}

/// What an address says.
#[derive(Debug, PartialEq, Eq)]
struct Parts<'a> {
    /// Empty when it names a database only.
    host: &'a str,
    db: &'a str,
}

/// Host and database of `host:port/db`, `mongodb://user:password@host:port/db?options`, or of `db` alone.
fn parts(address: &str) -> Parts<'_> {
    let (scheme, rest) = match address.split_once("://") {
        Some((_, rest)) => (true, rest),
        None => (false, address),
    };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    let (hosts, db) = match rest.split_once('/') {
        Some((hosts, db)) => (hosts, db),
        // A bare word is a database, as on the command line.
        None if !scheme && !rest.contains([':', '.']) && rest != "localhost" => ("", rest),
        None => (rest, ""),
    };
    let host = hosts.rsplit_once('@').map_or(hosts, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            name
        }
        _ => host,
    };
    Parts { host, db }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fall_into_host_and_database() {
        let of = |host, db| Parts { host, db };
        assert_eq!(parts("localhost:27018/shop"), of("localhost", "shop"));
        assert_eq!(parts("localhost"), of("localhost", ""));
        assert_eq!(parts("shop"), of("", "shop"));
        assert_eq!(parts("db.example:27017"), of("db.example", ""));
        let whole = "mongodb://ann:pw@127.0.0.1:27017/shop?w=1";
        assert_eq!(parts(whole), of("127.0.0.1", "shop"));
        assert_eq!(parts("mongodb://[::1]:27017"), of("[::1]", ""));
    }
}
