//! `rs` and `sh`: replica set and sharding helpers. Each sends the real command; a standalone server says no.

use bson::raw::{CStr, cstr};
use bson::{RawBson, rawdoc};

use super::command::Command;
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
        native("secondaryOk", "()", "lets secondaries answer reads", mongo::secondary_ok),
        native("slaveOk", "()", "lets secondaries answer reads (old name)", mongo::secondary_ok),
        native("status", "()", "the state of the members", status),
        native("stepDown", "(seconds)", "makes the primary step down", step_down),
        native("syncFrom", "(host)", "makes a secondary copy from that member", sync_from),
    ],
);

/// `sh.status()` and its like.
pub(super) const SH: Class = Class::functions(
    "Sharding",
    "sh",
    "sharding helpers",
    &[
        native("addShard", "(host)", "adds a shard", add_shard),
        native("enableSharding", "(database)", "lets a database be sharded", enable_sharding),
        native("getBalancerState", "()", "whether the balancer is on", balancer_state),
        native("help", "()", "this list", sh_help),
        native("isBalancerRunning", "()", "whether the balancer is at work", balancer_state),
        native("moveChunk", "(namespace, find, to)", "moves a chunk to a shard", move_chunk),
        native(
            "shardCollection",
            "(namespace, key, unique)",
            "shards a collection",
            shard_collection,
        ),
        native("startBalancer", "()", "starts the balancer", start_balancer),
        native("status", "()", "the shards", sharding_status),
        native("stopBalancer", "()", "stops the balancer", stop_balancer),
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

fn conf(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "replSetGetConfig": 1 })
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
fn replication_info(call: &mut Call<'_>) -> Result<Reply> {
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

fn sh_help(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("Sharding").expect("the table has the class of its own row");
    help::listed(call.shell, "sh.", class)
}

fn add_shard(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("addShard"), "")
}

fn enable_sharding(call: &mut Call<'_>) -> Result<Reply> {
    send(call, cstr!("enableSharding"), "")
}

fn balancer_state(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "balancerStatus": 1 })
}

fn start_balancer(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "balancerStart": 1 })
}

fn stop_balancer(call: &mut Call<'_>) -> Result<Reply> {
    answer(call.shell, "admin", rawdoc! { "balancerStop": 1 })
}

fn shard_collection(call: &mut Call<'_>) -> Result<Reply> {
    let namespace = call.text(0, "namespace")?.unwrap_or_default();
    let body = Command::new(cstr!("shardCollection"), namespace)
        .maybe(cstr!("key"), call.value(1).cloned())
        .maybe(cstr!("unique"), call.value(2).cloned())
        .body();
    answer(call.shell, "admin", body)
}

fn move_chunk(call: &mut Call<'_>) -> Result<Reply> {
    let namespace = call.text(0, "namespace")?.unwrap_or_default();
    let body = Command::new(cstr!("moveChunk"), namespace)
        .maybe(cstr!("find"), call.value(1).cloned())
        .maybe(cstr!("to"), call.value(2).cloned())
        .body();
    answer(call.shell, "admin", body)
}

fn sharding_status(call: &mut Call<'_>) -> Result<Reply> {
    let mongos = call.shell.run("admin", rawdoc! { "isdbgrid": 1 });
    match mongos {
        Ok(_) => answer(call.shell, "admin", rawdoc! { "listShards": 1 }),
        Err(error) if error.code().is_some() => Err(usage(
            "printShardingStatus: this db does not have sharding enabled. be sure you are connecting to a mongos from the shell and not to a mongod.",
        )),
        Err(error) => Err(error),
    }
}
