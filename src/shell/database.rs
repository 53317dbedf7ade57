//! Databases: the table of what can be called on `db`, and the short functions behind it.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf, rawdoc};

use super::collection::{aggregation, change_stream};
use super::command::{Command, field, key_of, owned, truthy};
use super::cursor::open_stream;
use super::refusal::{invalid_input, missing_argument, usage};
use super::rows::{native, prelude};
use super::{
    Call, Class, Emulate, Reply, Shell, concern, database_admin as admin, help, mongo, replica,
    sharding,
};
use crate::error::{Error, Result};

/// `db`.
pub(super) const DATABASE: Class = Class::instances(
    "Database",
    "DB",
    "a database: collections under a name",
    &[
        native("__resumed", "(reply, batchSize)", "", super::cursor::resumed),
        prelude("addUser", "(user)", "creates a user (old name of createUser)"),
        native("adminCommand", "(command)", "sends a command to the admin database", admin_command),
        native(
            "aggregate",
            "(pipeline, options)",
            "an aggregation without a collection",
            aggregate,
        ),
        native("auth", "(user, password)", "logs in", admin::auth),
        native(
            "changeUserPassword",
            "(user, password)",
            "gives a user another password",
            admin::change_password,
        ),
        native(
            "cloneCollection",
            "(from, collection, query)",
            "was removed from servers",
            admin::removed,
        ),
        native("cloneDatabase", "(host)", "was removed from servers", admin::removed),
        native("commandHelp", "(name)", "what the server says of a command", admin::command_help),
        native("copyDatabase", "(from, to, host)", "was removed from servers", admin::removed),
        native("createCollection", "(name, options)", "creates a collection", create_collection),
        native("createRole", "(role)", "creates a role", admin::create_role),
        prelude("createUser", "(user)", "creates a user"),
        native("createView", "(name, on, pipeline, options)", "creates a view", create_view),
        native("currentOp", "(filter)", "what the server is doing", admin::current_op),
        native(
            "disableFreeMonitoring",
            "()",
            "ends a service that servers have no more",
            admin::free_monitoring,
        ),
        native("dropAllRoles", "()", "drops the roles of this database", admin::drop_all_roles),
        native("dropAllUsers", "()", "drops the users of this database", admin::drop_all_users),
        native("dropDatabase", "()", "drops this database", drop_database),
        native("dropRole", "(name)", "drops a role", admin::drop_role),
        native("dropUser", "(name)", "drops a user", admin::drop_user),
        native(
            "enableFreeMonitoring",
            "()",
            "begins a service that servers have no more",
            admin::free_monitoring,
        ),
        native("eval", "(function, ...)", "refused: servers run no code any more", admin::gone),
        native("fsyncLock", "()", "flushes and blocks writes", admin::fsync_lock),
        native("fsyncUnlock", "()", "lets writes go on", admin::fsync_unlock),
        native("getCollection", "(name)", "a collection by any name", get_collection),
        native(
            "getCollectionInfos",
            "(filter)",
            "the catalog's entries of its collections",
            collection_infos,
        ),
        native("getCollectionNames", "()", "the names of its collections", collection_names),
        native(
            "getFreeMonitoringStatus",
            "()",
            "the state of a service that servers have no more",
            admin::free_monitoring,
        ),
        native("getLastError", "(w, wtimeout)", "the error of the last write", admin::last_error),
        native(
            "getLastErrorObj",
            "(w, wtimeout)",
            "the answer to the last write",
            admin::last_error_object,
        ),
        native(
            "getLogComponents",
            "()",
            "how much each part of the server logs",
            admin::log_components,
        ),
        native("getMongo", "()", "its connection", get_mongo),
        native("getName", "()", "its name", get_name),
        native("getPrevError", "()", "the last error of this connection", admin::by_name),
        native("getProfilingLevel", "()", "how much is profiled", admin::profiling_level),
        native(
            "getProfilingStatus",
            "()",
            "how much is profiled, and what counts as slow",
            admin::profiling_status,
        ),
        native("getReplicationInfo", "()", "the state of the oplog", admin::replication_info),
        native("getRole", "(name, options)", "a role", admin::get_role),
        native("getRoles", "(options)", "the roles of this database", admin::get_roles),
        native("getSiblingDB", "(name)", "another database of the same connection", sibling),
        native("getSisterDB", "(name)", "another database (old name of getSiblingDB)", sibling),
        native("getSlaveOk", "()", "whether secondaries may answer reads", mongo::is_secondary_ok),
        native("getUser", "(name, options)", "a user", admin::get_user),
        native("getUsers", "(options)", "the users of this database", admin::get_users),
        native("getWriteConcern", "()", "the write concern that was set for it", concern::get),
        native(
            "grantPrivilegesToRole",
            "(role, privileges)",
            "gives a role privileges",
            admin::privileges,
        ),
        native("grantRolesToRole", "(role, roles)", "gives a role roles", admin::role_roles),
        native("grantRolesToUser", "(user, roles)", "gives a user roles", admin::grant_roles),
        native("group", "(options)", "refused: aggregate with $group took its place", admin::gone),
        native("hello", "()", "who the server is", admin::hello),
        native("help", "()", "this list", help::database),
        native("hostInfo", "()", "the machine the server runs on", admin::host_info),
        native("isMaster", "()", "who the server is (old name of hello)", admin::is_master),
        native("killOp", "(id)", "stops an operation", admin::kill_op),
        native("listCommands", "()", "the commands of the server", admin::list_commands),
        native(
            "loadServerScripts",
            "()",
            "makes the functions of system.js callable",
            admin::load_server_scripts,
        ),
        native("logout", "()", "logs out", admin::logout),
        prelude("printCollectionStats", "(scale)", "prints the stats of every collection"),
        native(
            "printReplicationInfo",
            "()",
            "prints the state of the oplog",
            replica::replication_info,
        ),
        native(
            "printSecondaryReplicationInfo",
            "()",
            "prints how far secondaries are behind",
            replica::replication_info,
        ),
        native("printShardingStatus", "()", "prints the shards", sharding::status),
        native(
            "printSlaveReplicationInfo",
            "()",
            "prints how far secondaries are behind (old name)",
            replica::replication_info,
        ),
        native("removeUser", "(name)", "drops a user (old name of dropUser)", admin::drop_user),
        native("resetError", "()", "forgets the last error of this connection", admin::by_name),
        native(
            "revokePrivilegesFromRole",
            "(role, privileges)",
            "takes privileges from a role",
            admin::privileges,
        ),
        native(
            "revokeRolesFromRole",
            "(role, roles)",
            "takes roles from a role",
            admin::role_roles,
        ),
        native(
            "revokeRolesFromUser",
            "(user, roles)",
            "takes roles from a user",
            admin::revoke_roles,
        ),
        native(
            "rotateCertificates",
            "(message)",
            "makes the server read its certificates again",
            admin::rotate,
        ),
        native("runCommand", "(command)", "sends a command", run_command),
        native(
            "serverBits",
            "()",
            "how many bits an address of the server has",
            admin::server_bits,
        ),
        native("serverBuildInfo", "()", "how the server was built", admin::build_info),
        native("serverCmdLineOpts", "()", "how the server was started", admin::command_line),
        native("serverStatus", "(options)", "counters of the server", admin::server_status),
        native(
            "setLogLevel",
            "(level, component)",
            "how much the server logs",
            admin::set_log_level,
        ),
        native(
            "setProfilingLevel",
            "(level, options)",
            "how much to profile",
            admin::set_profiling_level,
        ),
        native("setSecondaryOk", "(ok)", "lets secondaries answer reads", mongo::secondary_ok),
        native(
            "setSlaveOk",
            "(ok)",
            "lets secondaries answer reads (old name)",
            mongo::secondary_ok,
        ),
        native("setWriteConcern", "(concern)", "how safe its writes shall be", concern::set),
        native("shutdownServer", "(options)", "ends the server", admin::shut_down),
        native("stats", "(scale)", "sizes and counts", admin::stats),
        prelude("toString", "()", "its name"),
        native("unsetWriteConcern", "()", "its writes are as safe as any again", concern::unset),
        native("updateRole", "(role, update)", "changes a role", admin::update_role),
        native("updateUser", "(name, update)", "changes a user", admin::update_user),
        native("version", "()", "the version of the server", admin::version),
        native("watch", "(pipeline, options)", "follows changes (needs a replica set)", watch),
    ],
);

/// Sends a command. A refusal is the reply in the classic shell and thrown in mongosh.
pub(super) fn answer(shell: &Shell, db: &str, body: RawDocumentBuf) -> Result<Reply> {
    match shell.run(db, body) {
        Ok(reply) => Ok(Reply::Served(RawBson::Document(reply))),
        Err(Error::Command(error)) if shell.emulate == Emulate::Mongo => {
            let reply = RawDocumentBuf::try_from(error.reply()).unwrap_or_default();
            Ok(Reply::Served(RawBson::Document(reply)))
        }
        Err(error) => Err(error),
    }
}

/// The command of the arguments: a document, or a name with options: `("ping")`, `("collMod", {...})`.
pub(super) fn command_of(call: &Call<'_>) -> Result<RawDocumentBuf> {
    match call.value(0) {
        Some(RawBson::Document(command)) => Ok(command.clone()),
        Some(RawBson::String(name)) => {
            let mut command = RawDocumentBuf::new();
            command.append(key_of(name), 1.0);
            for (key, value) in call.options(1).iter().flat_map(|options| options.iter().flatten())
            {
                command.append(key, value);
            }
            Ok(command)
        }
        _ if call.shell.classic() => Err(usage(format!("{} needs a command", call.method))),
        _ => Err(missing_argument(0, &format!("Database.{}", call.method))),
    }
}

fn run_command(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    answer(call.shell, &db, command_of(call)?)
}

fn admin_command(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", command_of(call)?)
}

fn aggregate(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    aggregation(call, &db, RawBson::Int32(1))
}

fn watch(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    change_stream(call, &db, RawBson::Int32(1), false)
}

fn get_name(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(call.database()?)))
}

fn get_mongo(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Connection)
}

/// A database name that a server would take, else an error in the words of either shell.
pub(super) fn database_name(
    shell: &Shell,
    value: Option<&RawBson>,
    method: &str,
) -> Result<String> {
    let name = match value {
        Some(RawBson::String(name)) => name,
        None if !shell.classic() => return Err(missing_argument(0, method)),
        None => return Err(usage("a database name is needed")),
        Some(_) => {
            return Err(shell.wrong(
                "a database name must be a string",
                invalid_input("Database name must be a string"),
            ));
        }
    };
    let bad = |character: char| matches!(character, '/' | '\\' | '.' | ' ' | '"' | '$' | '\0');
    if name.is_empty() || name.contains(bad) || name.len() > 63 {
        let text = format!("Invalid database name: {name}");
        return Err(match shell.emulate {
            Emulate::Mongo => usage(format!("[{name}] is not a valid database name")),
            Emulate::Mongosh => invalid_input(text),
        });
    }
    Ok(name.clone())
}

fn sibling(call: &mut Call<'_>) -> Result<Reply> {
    database_name(call.shell, call.value(0), "Database.getSiblingDB").map(Reply::Database)
}

fn get_collection(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    match call.value(0) {
        Some(RawBson::String(name)) if !name.is_empty() => Ok(Reply::Collection(db, name.clone())),
        Some(RawBson::String(_)) => {
            let invalid = invalid_input("Invalid collection name: ");
            Err(call.shell.wrong("a collection name must not be empty", invalid))
        }
        _ => {
            let missing = missing_argument(0, "Database.getColl");
            Err(call.shell.wrong("Collection name must be a string", missing))
        }
    }
}

/// `createCollection(name, options)`: the options are the server's to judge.
fn create_collection(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let Some(name) = call.text(0, "name")?.map(ToOwned::to_owned) else {
        let missing = missing_argument(0, "Database.createCollection");
        return Err(call.shell.wrong("createCollection needs a name", missing));
    };
    let mut body = Command::new(cstr!("create"), name);
    if let Some(options) = call.options(1) {
        body = body.options(&options, &["create"]);
    }
    answer(call.shell, &db, body.body())
}

fn create_view(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let (Some(name), Some(on)) = (call.text(0, "name")?, call.text(1, "viewOn")?) else {
        return Err(usage("createView needs a name, a collection and a pipeline"));
    };
    let pipeline = match call.value(2) {
        Some(RawBson::Array(pipeline)) => pipeline.clone(),
        Some(RawBson::Document(stage)) => [stage].into_iter().collect(),
        _ => RawArrayBuf::new(),
    };
    let mut body = Command::new(cstr!("create"), name)
        .with(cstr!("viewOn"), on)
        .with(cstr!("pipeline"), pipeline);
    if let Some(options) = call.options(3) {
        body = body.options(&options, &["create", "viewOn", "pipeline"]);
    }
    answer(call.shell, &db, body.body())
}

/// `dropDatabase()`; mongosh builds its answer itself.
fn drop_database(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let mut body = Command::new(cstr!("dropDatabase"), 1);
    if let Some(concern) = call.value(0) {
        body = body.with(cstr!("writeConcern"), concern.clone());
    }
    if call.shell.classic() {
        return answer(call.shell, &db, body.body());
    }
    let reply = call.shell.run(&db, body.body())?;
    let mut shown = rawdoc! { "ok": 1 };
    shown.append(cstr!("dropped"), owned(&reply, "dropped").unwrap_or(RawBson::String(db)));
    Ok(Reply::Served(RawBson::Document(shown)))
}

/// The catalog's entries, by name.
pub(super) fn catalog(
    shell: &Shell,
    db: &str,
    filter: RawDocumentBuf,
    name_only: bool,
) -> Result<Vec<RawDocumentBuf>> {
    let body = Command::new(cstr!("listCollections"), 1)
        .with(cstr!("filter"), filter)
        .with(cstr!("nameOnly"), name_only)
        .body();
    let listed = open_stream(shell, db, body).and_then(|mut stream| stream.rest());
    let mut entries = listed.map_err(|error| shell.failed(error, "listCollections"))?;
    let name = |entry: &RawDocumentBuf| entry.get_str("name").unwrap_or_default().to_owned();
    entries.sort_by_cached_key(name);
    Ok(entries)
}

/// `getCollectionInfos(filter or name, nameOnly)`.
fn collection_infos(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let filter = match call.value(0) {
        Some(RawBson::Document(filter)) => filter.clone(),
        Some(RawBson::String(name)) => rawdoc! { "name": name.as_str() },
        _ => rawdoc! {},
    };
    let options = call.options(1);
    let name_only = match &options {
        Some(options) => field(options, "nameOnly").is_some_and(truthy),
        None => call.truthy(1),
    };
    catalog(call.shell, &db, filter, name_only).map(Reply::Documents)
}

fn collection_names(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let entries = catalog(call.shell, &db, rawdoc! {}, true)?;
    let names = entries.iter().filter_map(|entry| match entry.get("name") {
        Ok(Some(name @ RawBsonRef::String(_))) => Some(RawBson::from(name)),
        _ => None,
    });
    Ok(Reply::Value(RawBson::Array(names.collect())))
}
