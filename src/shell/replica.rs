//! `rs`: replica set helpers. Each sends the real command; a standalone server says no.

use bson::raw::{CStr, cstr};
use bson::{RawArrayBuf, RawBson, RawDocument, RawDocumentBuf, rawdoc};

use super::command::{Command, count, field, number, owned};
use super::database::answer;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, class, help, mongo};
use crate::error::Result;

/// `rs.status()` and its like.
pub(super) const RS: Class = Class::functions(
    "ReplicaSet",
    "rs",
    "replica set helpers",
    &[
        native("add", "(host or member, arbiter)", "adds a member", add),
        native("addArb", "(host)", "adds an arbiter", add_arbiter),
        native("conf", "()", "the configuration", conf),
        native("config", "()", "the configuration", conf),
        native("freeze", "(seconds)", "keeps this member from becoming primary", freeze),
        native("hello", "()", "who the server is", hello),
        native("help", "()", "this list", rs_help),
        native("initiate", "(configuration)", "starts a replica set", initiate),
        native("isMaster", "()", "who the server is (old name of hello)", is_master),
        native("printReplicationInfo", "()", "the state of the oplog", replication_info),
        native(
            "printSecondaryReplicationInfo",
            "()",
            "how far secondaries are behind",
            replication_info,
        ),
        native(
            "printSlaveReplicationInfo",
            "()",
            "how far secondaries are behind (old name)",
            replication_info,
        ),
        native("reconfig", "(configuration, options)", "changes the configuration", reconfig),
        native("remove", "(host)", "removes a member", remove),
        native("secondaryOk", "()", "lets secondaries answer reads", mongo::secondary_ok),
        native("slaveOk", "()", "lets secondaries answer reads (old name)", mongo::secondary_ok),
        native("status", "()", "the state of the members", status),
        native("stepDown", "(seconds)", "makes the primary step down", step_down),
        native("syncFrom", "(host)", "makes a secondary copy from that member", sync_from),
    ],
);

/// Sends `{name: first argument or default}` to the admin database.
fn send(call: &Call<'_>, name: &CStr, default: impl Into<RawBson>) -> Result<Reply> {
    let value = call.value(0).cloned().unwrap_or_else(|| default.into());
    answer(call.shell, "admin", Command::new(name, value).body())
}

fn status(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "replSetGetStatus": 1 })
}

/// The configuration itself, without the reply around it.
fn configuration(call: &Call<'_>) -> Result<RawDocumentBuf> {
    let reply = call.shell.run("admin", rawdoc! { "replSetGetConfig": 1 });
    let before = "Could not retrieve replica set config: ";
    let reply = reply.map_err(|error| call.shell.refused(error, before, ""))?;
    match owned(&reply, "config") {
        Some(RawBson::Document(configuration)) => Ok(configuration),
        _ => Err(usage("the server answered without a configuration")),
    }
}

fn conf(call: &mut Call<'_>) -> Result<Reply> {
    configuration(call).map(|configuration| Reply::Served(RawBson::Document(configuration)))
}

/// Sends the configuration with other members, under the next version.
fn with_members(
    call: &Call<'_>,
    configuration: &RawDocumentBuf,
    members: RawArrayBuf,
) -> Result<Reply> {
    let version = count(configuration, "version").saturating_add(1);
    let mut changed = RawDocumentBuf::new();
    for (key, value) in configuration.iter().flatten() {
        match key.as_str() {
            "version" => changed.append(key, number(version)),
            "members" => changed.append(key, &members),
            _ => changed.append(key, value),
        }
    }
    answer(call.shell, "admin", rawdoc! { "replSetReconfig": changed })
}

/// The members of a configuration.
fn members(configuration: &RawDocumentBuf) -> impl Iterator<Item = &RawDocument> {
    let list = configuration.get_array("members").ok();
    list.into_iter().flatten().flatten().filter_map(|member| member.as_document())
}

/// Adds a member: a host, or a document that may name its number. The number is one more than the highest.
fn join(call: &Call<'_>, arbiter: bool) -> Result<Reply> {
    let wanted = match call.value(0) {
        Some(RawBson::String(host)) => rawdoc! { "host": host.as_str() },
        Some(RawBson::Document(member)) => member.clone(),
        _ => return Err(usage(format!("rs.{} needs a host or a member", call.method))),
    };
    let configuration = configuration(call)?;
    let highest = members(&configuration).map(|member| count(member, "_id")).max();
    let next = highest.map_or(0, |highest| highest.saturating_add(1));
    let mut member = RawDocumentBuf::new();
    if field(&wanted, "_id").is_none() {
        member.append(cstr!("_id"), number(next));
    }
    for (key, value) in wanted.iter().flatten() {
        member.append(key, value);
    }
    if arbiter {
        member.append(cstr!("arbiterOnly"), true);
    }
    let all = members(&configuration).map(ToOwned::to_owned).chain([member]);
    let all = all.map(RawBson::Document).collect();
    with_members(call, &configuration, all)
}

fn add(call: &mut Call<'_>) -> Result<Reply> {
    join(call, call.truthy(1))
}

fn add_arbiter(call: &mut Call<'_>) -> Result<Reply> {
    join(call, true)
}

fn remove(call: &mut Call<'_>) -> Result<Reply> {
    let Some(host) = call.text(0, "host")? else { return Err(usage("rs.remove needs a host")) };
    let configuration = configuration(call)?;
    let stays = |member: &&RawDocument| member.get_str("host").ok() != Some(host);
    let rest: Vec<_> = members(&configuration).filter(stays).map(ToOwned::to_owned).collect();
    if rest.len() == members(&configuration).count() {
        let hosts = members(&configuration).filter_map(|member| member.get_str("host").ok());
        let hosts = hosts.map(|host| format!("\"{host}\"")).collect::<Vec<_>>().join(", ");
        return Err(usage(format!("error: couldn't find {host} in [ {hosts} ]")));
    }
    with_members(call, &configuration, rest.into_iter().map(RawBson::Document).collect())
}

fn hello(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "hello": 1 })
}

fn is_master(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "isMaster": 1 })
}

fn initiate(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("replSetInitiate"), rawdoc! {})
}

fn reconfig(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("replSetReconfig"), rawdoc! {})
}

fn freeze(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("replSetFreeze"), 0)
}

fn step_down(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("replSetStepDown"), 60)
}

fn sync_from(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("replSetSyncFrom"), "")
}

/// The text of either shell for a server without an oplog.
pub(super) fn replication_info(call: &mut Call<'_>) -> Result<Reply> {
    let text = "replication not detected ; is this a replica set?";
    call.shell.run("admin", rawdoc! { "replSetGetStatus": 1 }).map_err(|error| {
        match error.code() {
            Some(_) => usage(text),
            None => error,
        }
    })?;
    answer(call.shell, "admin", rawdoc! { "replSetGetStatus": 1 })
}

fn rs_help(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("ReplicaSet").expect("the table has the class of its own row");
    help::listed(call.shell, "rs.", class)
}
