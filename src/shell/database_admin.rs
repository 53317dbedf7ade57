//! The methods of a database that administer: each sends one command.

use bson::raw::{CStr, cstr};
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf, rawdoc};

use super::command::{Command, key_of, owned, whole};
use super::database::answer;
use super::refusal::{invalid_input, raised, usage};
use super::{Call, Reply};
use crate::error::{Code, Error, Result};

/// Sends `{name: 1}` with the options in the first argument.
fn simple(call: &Call<'_>, db: &str, name: &CStr) -> Result<Reply> {
    let mut body = Command::new(name, 1);
    if let Some(options) = call.options(0) {
        body = body.options(&options, &[name.as_str()]);
    }
    answer(call.shell, db, body.body())
}

/// Sends `{name: first argument}` with the options in the second argument.
fn named(call: &Call<'_>, name: &CStr, what: &str) -> Result<RawDocumentBuf> {
    let Some(target) = call.text(0, what)? else {
        return Err(usage(format!("{} needs a {what}", call.method)));
    };
    let mut body = Command::new(name, target);
    if let Some(options) = call.options(1) {
        body = body.options(&options, &[name.as_str()]);
    }
    Ok(body.body())
}

pub(super) fn hello(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("hello"))
}

pub(super) fn is_master(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("isMaster"))
}

pub(super) fn build_info(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("buildInfo"))
}

pub(super) fn host_info(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("hostInfo"))
}

pub(super) fn command_line(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("getCmdLineOpts"))
}

pub(super) fn server_status(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("serverStatus"))
}

pub(super) fn list_commands(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("listCommands"))
}

pub(super) fn logout(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("logout"))
}

pub(super) fn shut_down(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("shutdown"))
}

pub(super) fn fsync_lock(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "fsync": 1, "lock": true })
}

pub(super) fn fsync_unlock(call: &mut Call<'_>) -> Result<Reply> {
    simple(call, "admin", cstr!("fsyncUnlock"))
}

/// The version of the server, as text.
pub(super) fn version(call: &mut Call<'_>) -> Result<Reply> {
    let reply = call.shell.run("admin", rawdoc! { "buildInfo": 1 })?;
    Ok(Reply::Value(owned(&reply, "version").unwrap_or(RawBson::Null)))
}

/// `stats(scale)` or `stats({scale, freeStorage})`.
pub(super) fn stats(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let body = Command::new(cstr!("dbStats"), 1);
    let body = match call.value(0) {
        Some(RawBson::Document(options)) => body.options(options, &["dbStats"]),
        scale => body.maybe(cstr!("scale"), scale.cloned()),
    };
    answer(call.shell, &db, body.body())
}

/// `currentOp(true)` or `currentOp({filter})`.
pub(super) fn current_op(call: &mut Call<'_>) -> Result<Reply> {
    let body = Command::new(cstr!("currentOp"), 1);
    let body = match call.value(0) {
        Some(RawBson::Document(filter)) => body.options(filter, &["currentOp"]),
        _ if call.truthy(0) => body.with(cstr!("$all"), true),
        _ => body,
    };
    answer(call.shell, "admin", body.body())
}

pub(super) fn kill_op(call: &mut Call<'_>) -> Result<Reply> {
    let Some(operation) = call.value(0).cloned() else {
        let missing =
            Error::command(Code(40414), "BSON field 'killOp.op' is missing but a required field");
        return Err(call.shell.wrong("no opNum to kill specified", missing));
    };
    let body = Command::new(cstr!("killOp"), 1).with(cstr!("op"), operation).body();
    answer(call.shell, "admin", body)
}

pub(super) fn command_help(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let Some(name) = call.text(0, "name")? else { return Err(usage("commandHelp needs a name")) };
    let mut body = RawDocumentBuf::new();
    body.append(key_of(name), 1);
    body.append(cstr!("help"), true);
    let reply = call.shell.run(&db, body)?;
    Ok(Reply::Value(owned(&reply, "help").unwrap_or(RawBson::Null)))
}

/// A getLastError command. Servers dropped it with 5.1; what it told is then what the last write answered.
fn get_last_error(call: &Call<'_>) -> Result<RawDocumentBuf> {
    let db = call.database()?;
    let body = Command::new(cstr!("getLastError"), 1)
        .maybe(cstr!("w"), call.value(0).cloned())
        .maybe(cstr!("wtimeout"), call.value(1).cloned())
        .body();
    match call.shell.run(&db, body) {
        Err(error) if error.code() == Some(Code::COMMAND_NOT_FOUND) => {
            let last = call.shell.last_error.borrow();
            let mut reply = RawDocumentBuf::new();
            match &*last {
                Some((code, message)) => {
                    reply.append(cstr!("err"), message.as_str());
                    reply.append(cstr!("code"), *code);
                }
                None => reply.append(cstr!("err"), RawBson::Null),
            }
            reply.append(cstr!("ok"), 1.0);
            Ok(reply)
        }
        reply => reply.map_err(|error| call.shell.failed(error, "getlasterror")),
    }
}

pub(super) fn last_error(call: &mut Call<'_>) -> Result<Reply> {
    if !call.shell.classic() {
        call.shell.notice(
            "DeprecationWarning: Database.getLastError() is deprecated and will be removed in the future.",
        );
        // What a server of today does not know is no error to mongosh.
        let reply = get_last_error(call).unwrap_or_default();
        return Ok(Reply::Value(owned(&reply, "err").unwrap_or(RawBson::Null)));
    }
    let reply = get_last_error(call)?;
    Ok(Reply::Value(owned(&reply, "err").unwrap_or(RawBson::Null)))
}

pub(super) fn last_error_object(call: &mut Call<'_>) -> Result<Reply> {
    get_last_error(call).map(|reply| Reply::Served(RawBson::Document(reply)))
}

/// `{was, slowms, sampleRate}`; the classic shell takes the `ok` out.
pub(super) fn profiling_status(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let reply = call.shell.run(&db, rawdoc! { "profile": -1 });
    let reply = reply.map_err(|error| call.shell.failed(error, "profile command"))?;
    if !call.shell.classic() {
        return Ok(Reply::Served(RawBson::Document(reply)));
    }
    let kept = reply.iter().flatten().filter(|(key, _)| key.as_str() != "ok").collect();
    Ok(Reply::Served(RawBson::Document(kept)))
}

pub(super) fn profiling_level(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let reply = call.shell.run(&db, rawdoc! { "profile": -1 });
    let reply = reply.map_err(|error| call.shell.failed(error, "profile command"))?;
    Ok(owned(&reply, "was").map_or(Reply::Nothing, Reply::Served))
}

/// `setProfilingLevel(level, slowms or {slowms, sampleRate, filter})`.
pub(super) fn set_profiling_level(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let Some(level) = call.value(0).cloned() else {
        return Err(usage("setProfilingLevel needs a level: 0, 1 or 2"));
    };
    if let Some(number) = whole(level.as_raw_bson_ref()).filter(|_| !call.shell.classic())
        && !(0..=2).contains(&number)
    {
        return Err(invalid_input(format!("Input level {number} is out of range [0..2]")));
    }
    let body = Command::new(cstr!("profile"), level);
    let body = match call.value(1) {
        Some(RawBson::Document(options)) => body.options(options, &["profile"]),
        slow => body.maybe(cstr!("slowms"), slow.cloned()),
    };
    answer(call.shell, &db, body.body())
}

pub(super) fn log_components(call: &mut Call<'_>) -> Result<Reply> {
    let body = rawdoc! { "getParameter": 1, "logComponentVerbosity": 1 };
    let reply = call.shell.run("admin", body)?;
    Ok(owned(&reply, "logComponentVerbosity").map_or(Reply::Nothing, Reply::Served))
}

/// `setLogLevel(level, "storage.journal")`.
pub(super) fn set_log_level(call: &mut Call<'_>) -> Result<Reply> {
    let Some(level) = call.value(0).cloned() else {
        return Err(usage("setLogLevel needs a level"));
    };
    let component = call.text(1, "component")?.unwrap_or_default().to_owned();
    let mut verbosity = rawdoc! { "verbosity": level };
    for part in component.rsplit('.').filter(|part| !part.is_empty()) {
        let mut outer = RawDocumentBuf::new();
        outer.append(key_of(part), verbosity);
        verbosity = outer;
    }
    let body = rawdoc! { "setParameter": 1, "logComponentVerbosity": verbosity };
    answer(call.shell, "admin", body)
}

/// The oplog's size and times; without replication there is none.
pub(super) fn replication_info(call: &mut Call<'_>) -> Result<Reply> {
    let entries =
        super::database::catalog(call.shell, "local", rawdoc! { "name": "oplog.rs" }, false)?;
    let Some(entry) = entries.first() else {
        let missing = rawdoc! { "errmsg": "replication not detected" };
        return Ok(Reply::Value(RawBson::Document(missing)));
    };
    Ok(Reply::Served(RawBson::Document(entry.clone())))
}

/// Functions kept on the server are no longer run by it; they cannot be loaded into this shell either.
pub(super) fn load_server_scripts(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let body = rawdoc! { "count": "system.js" };
    let reply = call.shell.run(&db, body)?;
    match super::command::count(&reply, "n") {
        0 => Ok(Reply::Nothing),
        _ => Err(usage(format!(
            "{db}.system.js holds functions, and tally does not load code from a database. Copy them into a file and load() it"
        ))),
    }
}

pub(super) fn change_password(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let (Some(user), Some(password)) = (call.text(0, "user")?, call.text(1, "password")?) else {
        return Err(usage("changeUserPassword needs a user and a password"));
    };
    answer(call.shell, &db, rawdoc! { "updateUser": user, "pwd": password })
}

pub(super) fn update_user(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    answer(call.shell, &db, named(call, cstr!("updateUser"), "user name")?)
}

pub(super) fn drop_user(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let body = named(call, cstr!("dropUser"), "user name")?;
    if !call.shell.classic() {
        return answer(call.shell, &db, body);
    }
    let dropped = call.shell.run(&db, body);
    Ok(Reply::Value(RawBson::Boolean(match dropped {
        Ok(_) => true,
        Err(crate::error::Error::Command(error)) if error.code == crate::error::Code(11) => false,
        Err(error) => return Err(call.shell.failed(error, "dropUser")),
    })))
}

pub(super) fn drop_all_users(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("dropAllUsersFromDatabase"))
}

/// The users of this database: an array in the classic shell, the server's reply in mongosh.
pub(super) fn get_users(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let mut body = Command::new(cstr!("usersInfo"), 1);
    if let Some(options) = call.options(0) {
        body = body.options(&options, &["usersInfo"]);
    }
    let reply = call.shell.run(&db, body.body());
    let reply = reply.map_err(|error| call.shell.failed(error, "usersInfo"))?;
    if !call.shell.classic() {
        return Ok(Reply::Served(RawBson::Document(reply)));
    }
    let users = owned(&reply, "users").unwrap_or_else(|| RawBson::Array(RawArrayBuf::new()));
    Ok(Reply::Served(users))
}

/// The first entry of an array in a reply, or null.
fn first(reply: &RawDocumentBuf, key: &str) -> Reply {
    let entry = reply.get_array(key).ok().and_then(|list| list.into_iter().next());
    match entry {
        Some(Ok(entry @ RawBsonRef::Document(_))) => Reply::Served(RawBson::from(entry)),
        _ => Reply::Value(RawBson::Null),
    }
}

pub(super) fn get_user(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let body = named(call, cstr!("usersInfo"), "user name")?;
    let reply = call.shell.run(&db, body);
    Ok(first(&reply.map_err(|error| call.shell.failed(error, "usersInfo"))?, "users"))
}

pub(super) fn get_role(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let body = named(call, cstr!("rolesInfo"), "role name")?;
    let reply = call.shell.run(&db, body);
    Ok(first(&reply.map_err(|error| call.shell.failed(error, "rolesInfo"))?, "roles"))
}

pub(super) fn get_roles(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let mut body = Command::new(cstr!("rolesInfo"), 1);
    if let Some(options) = call.options(0) {
        body = body.options(&options, &["rolesInfo"]);
    }
    let reply = call.shell.run(&db, body.body());
    let reply = reply.map_err(|error| call.shell.failed(error, "rolesInfo"))?;
    if !call.shell.classic() {
        return Ok(Reply::Served(RawBson::Document(reply)));
    }
    Ok(Reply::Served(owned(&reply, "roles").unwrap_or_else(|| RawBson::Array(RawArrayBuf::new()))))
}

pub(super) fn create_role(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let Some(role) = call.options(0) else {
        return Err(usage("createRole needs {role, privileges, roles}"));
    };
    let body = Command::new(cstr!("createRole"), owned(&role, "role").unwrap_or(RawBson::Null))
        .options(&role, &["role"])
        .body();
    answer(call.shell, &db, body)
}

pub(super) fn drop_role(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    answer(call.shell, &db, named(call, cstr!("dropRole"), "role name")?)
}

fn roles(call: &Call<'_>, name: &CStr) -> Result<Reply> {
    let db = call.database()?;
    let Some(user) = call.text(0, "user")? else {
        return Err(usage(format!("{} needs a user and roles", call.method)));
    };
    let body = Command::new(name, user).maybe(cstr!("roles"), call.value(1).cloned()).body();
    answer(call.shell, &db, body)
}

pub(super) fn grant_roles(call: &mut Call<'_>) -> Result<Reply> {
    roles(call, cstr!("grantRolesToUser"))
}

pub(super) fn revoke_roles(call: &mut Call<'_>) -> Result<Reply> {
    roles(call, cstr!("revokeRolesFromUser"))
}

/// `auth(user, password)`: nobody can log in where there are no passwords; the failure is that of either shell.
pub(super) fn auth(call: &mut Call<'_>) -> Result<Reply> {
    if !call.shell.classic() {
        return Err(crate::refuse!(AUTHENTICATION_FAILED, "Authentication failed."));
    }
    call.shell.output.line("Error: Authentication failed.")?;
    Ok(Reply::Value(RawBson::Int32(0)))
}

/// The shells' old helpers for commands that servers dropped long ago: the server's own answer, thrown.
pub(super) fn gone(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let mut body = RawDocumentBuf::new();
    body.append(key_of(call.method), 1);
    let reply = call.shell.run(&db, body).map_err(|error| call.shell.failed(error, call.method))?;
    Ok(Reply::Served(RawBson::Document(reply)))
}

/// A helper that has the name of its command.
pub(super) fn by_name(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let mut body = RawDocumentBuf::new();
    body.append(key_of(call.method), 1);
    answer(call.shell, &db, body)
}

/// Whether addresses of the server have 32 or 64 bits.
pub(super) fn server_bits(call: &mut Call<'_>) -> Result<Reply> {
    let reply = call.shell.run("admin", rawdoc! { "buildInfo": 1 })?;
    Ok(owned(&reply, "bits").map_or(Reply::Nothing, Reply::Served))
}

pub(super) fn drop_all_roles(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    simple(call, &db, cstr!("dropAllRolesFromDatabase"))
}

pub(super) fn update_role(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    answer(call.shell, &db, named(call, cstr!("updateRole"), "role name")?)
}

/// `grantRolesToRole(role, roles)` and its opposite.
pub(super) fn role_roles(call: &mut Call<'_>) -> Result<Reply> {
    of_role(call, cstr!("roles"))
}

/// `grantPrivilegesToRole(role, privileges)` and its opposite.
pub(super) fn privileges(call: &mut Call<'_>) -> Result<Reply> {
    of_role(call, cstr!("privileges"))
}

fn of_role(call: &Call<'_>, what: &CStr) -> Result<Reply> {
    let db = call.database()?;
    let Some(role) = call.text(0, "role")? else {
        return Err(usage(format!("{} needs a role and {}", call.method, what.as_str())));
    };
    let body = Command::new(&key_of(call.method), role).maybe(what, call.value(1).cloned());
    answer(call.shell, &db, body.body())
}

/// What servers dropped long ago, in the words of either shell.
pub(super) fn removed(call: &mut Call<'_>) -> Result<Reply> {
    let method = call.method;
    let text = format!("{method}() was removed: servers have not had it since MongoDB 4.2");
    let other =
        format!("[COMMON-10003] `{method}()` was removed because it was deprecated in MongoDB 4.0");
    Err(call.shell.wrong(&text, raised("MongoshDeprecatedError", other)))
}

/// `enableFreeMonitoring()` and its sisters: a service that ended with MongoDB 7.0, as the server says.
pub(super) fn free_monitoring(call: &mut Call<'_>) -> Result<Reply> {
    let body = match call.method {
        "getFreeMonitoringStatus" => rawdoc! { "getFreeMonitoringStatus": 1 },
        "enableFreeMonitoring" => rawdoc! { "setFreeMonitoring": 1, "action": "enable" },
        _ => rawdoc! { "setFreeMonitoring": 1, "action": "disable" },
    };
    answer(call.shell, "admin", body)
}

/// `rotateCertificates(message)`.
pub(super) fn rotate(call: &mut Call<'_>) -> Result<Reply> {
    let message = call.value(0).cloned();
    let body = Command::new(cstr!("rotateCertificates"), 1).maybe(cstr!("message"), message);
    answer(call.shell, "admin", body.body())
}
