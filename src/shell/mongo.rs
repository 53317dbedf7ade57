//! Connections: `db.getMongo()` and `Mongo()`.

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocumentBuf, rawdoc};

use super::command::{Command, field};
use super::database::{answer, database_name};
use super::refusal::{missing_argument, usage};
use super::rows::native;
use super::{Call, Class, Reply, Shell, concern, help, session};
use crate::backend::Topology;
use crate::error::Result;

/// `db.getMongo()`.
pub(super) const MONGO: Class = Class::instances(
    "Mongo",
    "Mongo",
    "a connection",
    &[
        native("adminCommand", "(command)", "sends a command to the admin database", admin_command),
        native("close", "()", "ends the connection; the session's own stays", close),
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
        native("getReadPref", "()", "which members are read from", get_read_pref),
        native("getReadPrefMode", "()", "which members are read from", get_read_pref),
        native("getReadPrefTagSet", "()", "which tags members read from must have", no_tags),
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
        native("setReadPref", "(mode, tagSet)", "which members to read from", set_read_pref),
        native("setSecondaryOk", "(ok)", "lets secondaries answer reads", secondary_ok),
        native("setSlaveOk", "(ok)", "lets secondaries answer reads (old name)", secondary_ok),
        native("setWriteConcern", "(concern)", "how safe all writes shall be", concern::set),
        native("startSession", "(options)", "starts a session", session::start),
        native("toString", "()", "what it is connected to", text),
        native("tojson", "()", "what it is connected to", text),
        native("unsetWriteConcern", "()", "writes are as safe as any again", concern::unset),
        native("useWriteCommands", "()", "whether writes are commands", yes),
        native("writeMode", "()", "how writes are sent", mode),
    ],
);

/// What the connection is called.
fn name(shell: &Shell) -> String {
    match shell.backend.describe() {
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
    match shell.backend.describe() {
        Topology::Embedded { .. } => "the embedded engine".to_owned(),
        Topology::Server { address, .. } => format!("mongodb://{address}/{}", shell.db),
    }
}

fn uri(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(address(call.shell))))
}

fn close(_: &mut Call<'_>) -> Result<Reply> {
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

/// One server has no members to choose from. A replica set has; there the address says which are read from.
fn set_read_pref(call: &mut Call<'_>) -> Result<Reply> {
    let modes = ["nearest", "primary", "primaryPreferred", "secondary", "secondaryPreferred"];
    match call.text(0, "mode")? {
        None => {}
        Some(mode) if mode != "primary" && modes.contains(&mode) && is_set(call.shell) => {
            return Err(usage(format!(
                "setReadPref() is not available: start tally with ?readPreference={mode} in the address"
            )));
        }
        Some(mode) if modes.contains(&mode) => {}
        Some(mode) => {
            let hint = super::nearest(mode, modes).map(|near| format!(". Did you mean {near}?"));
            return Err(usage(format!(
                "unknown read preference {mode}{}",
                hint.unwrap_or_default()
            )));
        }
    }
    Ok(Reply::Nothing)
}

/// Whether the session talks to a replica set.
fn is_set(shell: &Shell) -> bool {
    matches!(shell.backend.describe(), Topology::Server { replica_set: Some(_), .. })
}

fn get_read_pref(call: &mut Call<'_>) -> Result<Reply> {
    if call.method == "getReadPrefMode" {
        return Ok(Reply::Value(RawBson::String("primary".to_owned())));
    }
    Ok(Reply::Value(RawBson::Document(rawdoc! { "mode": "primary" })))
}

/// Every read goes to the one server there is.
pub(super) fn secondary_ok(call: &mut Call<'_>) -> Result<Reply> {
    call.shell.notice(
        "note: slaveOk and secondaryOk are deprecated and have no effect here: there is one server",
    );
    Ok(Reply::Nothing)
}

pub(super) fn is_secondary_ok(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(false)))
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

fn no_tags(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Array(bson::RawArrayBuf::new())))
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
    let db = own_server(call.shell, &address)?;
    Ok(Reply::Database(db.unwrap_or_else(|| "test".to_owned())))
}

/// `new Mongo(address)`: the session's own connection.
pub(super) fn connect(call: &mut Call<'_>) -> Result<Reply> {
    let address = call.text(0, "address")?.unwrap_or("localhost:27017").to_owned();
    own_server(call.shell, &address)?;
    Ok(Reply::Handle("Mongo", 0))
}

/// The database that an address names, where the address means what this session talks to: a server's own address, or
/// for the embedded engine a loopback one. A session has one connection, so others are refused.
fn own_server(shell: &mut Shell, address: &str) -> Result<Option<String>> {
    let Parts { host, port, db } = parts(address);
    let refused = |what: &str| {
        Err(usage(format!(
            "cannot connect to {host}: {what}. Start tally with that address to talk to it"
        )))
    };
    match shell.backend.describe() {
        _ if host.is_empty() => {}
        Topology::Embedded { .. } if is_loopback(host) => {
            shell.notice("note: localhost means this session's own embedded engine");
        }
        Topology::Embedded { .. } => return refused("this session runs its embedded engine"),
        Topology::Server { address: own, .. } => {
            let own = parts(&own);
            let same_host = host == own.host || (is_loopback(host) && is_loopback(own.host));
            if !same_host || port != own.port {
                return refused(&format!("this session talks to {}:{}", own.host, own.port));
            }
        }
    }
    match db {
        "" => Ok(None),
        db => database_name(shell, Some(&RawBson::String(db.to_owned())), "connect").map(Some),
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
    port: &'a str,
    db: &'a str,
}

/// Host, port and database of `host:port/db`, `mongodb://user:password@host:port/db?options`, or of `db` alone.
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
    let (host, port) = match host.rsplit_once(':') {
        Some((name, port))
            if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') =>
        {
            (name, port)
        }
        _ => (host, "27017"),
    };
    Parts { host, port, db }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_fall_into_host_port_and_database() {
        let of = |host, port, db| Parts { host, port, db };
        assert_eq!(parts("localhost:27018/shop"), of("localhost", "27018", "shop"));
        assert_eq!(parts("localhost"), of("localhost", "27017", ""));
        assert_eq!(parts("shop"), of("", "27017", "shop"));
        assert_eq!(parts("db.example:27017"), of("db.example", "27017", ""));
        let whole = "mongodb://ann:pw@127.0.0.1:27017/shop?w=1";
        assert_eq!(parts(whole), of("127.0.0.1", "27017", "shop"));
        assert_eq!(parts("mongodb://[::1]:27017"), of("[::1]", "27017", ""));
    }
}
