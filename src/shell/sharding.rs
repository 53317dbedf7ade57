//! `sh`: sharding helpers. Each sends the real commands; without a router they say so, as the emulated shell does.

use std::time::{Duration, Instant};

use bson::raw::{CStr, cstr};
use bson::{RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};

use super::command::{Command, field, owned, truthy, whole};
use super::database::answer;
use super::refusal::{raised, usage};
use super::rows::native;
use super::{Call, Class, Reply, class, help};
use crate::error::Result;

/// `sh.status()` and its like.
pub(super) const SH: Class = Class::functions(
    "Sharding",
    "sh",
    "sharding helpers",
    &[
        native("abortMoveCollection", "(namespace)", "gives up moving a collection", send),
        native("abortReshardCollection", "(namespace)", "gives up resharding", send),
        native("abortUnshardCollection", "(namespace)", "gives up unsharding", send),
        native("addShard", "(host)", "adds a shard", send),
        native("addShardTag", "(shard, tag)", "puts a shard into a zone (old name)", send),
        native("addShardToZone", "(shard, zone)", "puts a shard into a zone", send),
        native("addTagRange", "(namespace, min, max, tag)", "gives a zone a range of keys", send),
        native("balancerCollectionStatus", "(namespace)", "whether a collection is balanced", send),
        native("checkMetadataConsistency", "(options)", "looks for faults of the catalog", send),
        native("commitReshardCollection", "(namespace)", "ends resharding at once", send),
        native("disableAutoMerger", "(namespace)", "leaves small chunks as they are", configure),
        native("disableAutoSplit", "()", "leaves big chunks as they are", configure),
        native("disableBalancing", "(namespace)", "leaves a collection unbalanced", configure),
        native("disableMigrations", "(namespace)", "keeps chunks where they are", configure),
        native("enableAutoMerger", "(namespace)", "lets small chunks be merged", configure),
        native("enableAutoSplit", "()", "lets big chunks be split", configure),
        native("enableBalancing", "(namespace)", "lets a collection be balanced", configure),
        native("enableMigrations", "(namespace)", "lets chunks move", configure),
        native("enableSharding", "(database, primaryShard)", "lets a database be sharded", send),
        native("getBalancerState", "()", "whether the balancer is on", balancer_state),
        native("help", "()", "this list", sh_help),
        native("isBalancerRunning", "()", "whether the balancer is at work", balancer_running),
        native("isConfigShardEnabled", "()", "whether config servers hold data, too", config_shard),
        native("listShards", "()", "the shards", list_shards),
        native("moveChunk", "(namespace, find, to)", "moves a chunk to a shard", send),
        native("moveCollection", "(namespace, toShard)", "moves an unsharded collection", send),
        native("moveRange", "(namespace, toShard, min, max)", "moves a range to a shard", send),
        native(
            "removeRangeFromZone",
            "(namespace, min, max)",
            "takes a range of keys from its zone",
            unzone,
        ),
        native("removeShardFromZone", "(shard, zone)", "takes a shard out of a zone", send),
        native("removeShardTag", "(shard, tag)", "takes a shard out of a zone (old name)", send),
        native(
            "removeTagRange",
            "(namespace, min, max, tag)",
            "takes a range of keys from its zone (old name)",
            unzone,
        ),
        native(
            "reshardCollection",
            "(namespace, key, unique, options)",
            "shards a collection by another key",
            send,
        ),
        native("setBalancerState", "(on)", "starts or stops the balancer", set_balancer),
        native("shardCollection", "(namespace, key, unique, options)", "shards a collection", send),
        native("splitAt", "(namespace, middle)", "splits a chunk at a key", send),
        native("splitFind", "(namespace, query)", "splits the chunk of a document", send),
        native("startAutoMerger", "()", "merges small chunks from now on", configure),
        native("startBalancer", "(timeout)", "starts the balancer", balancer),
        native("status", "()", "the shards", status),
        native("stopAutoMerger", "()", "merges no chunks any more", configure),
        native("stopBalancer", "(timeout)", "stops the balancer", balancer),
        native("unshardCollection", "(namespace, toShard)", "puts a collection on one shard", send),
        native(
            "updateZoneKeyRange",
            "(namespace, min, max, zone)",
            "gives a zone a range of keys",
            send,
        ),
        native("waitForBalancer", "(on, timeout)", "waits until the balancer works or rests", wait),
        native("waitForBalancerOff", "(timeout)", "waits until the balancer rests", wait_off),
    ],
);

/// A helper that is one command: its name, and what the arguments are called in it. The first one is the value of the
/// command; options, where there are some, are put in one by one.
struct Shape {
    method: &'static str,
    command: &'static CStr,
    fields: &'static [&'static CStr],
}

const fn shape(
    method: &'static str,
    command: &'static CStr,
    fields: &'static [&'static CStr],
) -> Shape {
    Shape { method, command, fields }
}

/// Sorted by method.
const SHAPES: &[Shape] = &[
    shape("abortMoveCollection", cstr!("abortMoveCollection"), &[]),
    shape("abortReshardCollection", cstr!("abortReshardCollection"), &[]),
    shape("abortUnshardCollection", cstr!("abortUnshardCollection"), &[]),
    shape("addShard", cstr!("addShard"), &[]),
    shape("addShardTag", cstr!("addShardToZone"), &[cstr!("zone")]),
    shape("addShardToZone", cstr!("addShardToZone"), &[cstr!("zone")]),
    shape("addTagRange", cstr!("updateZoneKeyRange"), &[cstr!("min"), cstr!("max"), cstr!("zone")]),
    shape("balancerCollectionStatus", cstr!("balancerCollectionStatus"), &[]),
    shape("checkMetadataConsistency", cstr!("checkMetadataConsistency"), &[]),
    shape("commitReshardCollection", cstr!("commitReshardCollection"), &[]),
    shape("enableSharding", cstr!("enableSharding"), &[cstr!("primaryShard")]),
    shape("moveChunk", cstr!("moveChunk"), &[cstr!("find"), cstr!("to")]),
    shape("moveCollection", cstr!("moveCollection"), &[cstr!("toShard")]),
    shape("moveRange", cstr!("moveRange"), &[cstr!("toShard"), cstr!("min"), cstr!("max")]),
    shape("removeShardFromZone", cstr!("removeShardFromZone"), &[cstr!("zone")]),
    shape("removeShardTag", cstr!("removeShardFromZone"), &[cstr!("zone")]),
    shape("reshardCollection", cstr!("reshardCollection"), &[cstr!("key"), cstr!("unique")]),
    shape("shardCollection", cstr!("shardCollection"), &[cstr!("key"), cstr!("unique")]),
    shape("splitAt", cstr!("split"), &[cstr!("middle")]),
    shape("splitFind", cstr!("split"), &[cstr!("find")]),
    shape("unshardCollection", cstr!("unshardCollection"), &[cstr!("toShard")]),
    shape(
        "updateZoneKeyRange",
        cstr!("updateZoneKeyRange"),
        &[cstr!("min"), cstr!("max"), cstr!("zone")],
    ),
];

/// Whether a router answers. The classic shell asks it first and goes no further without one; mongosh warns and tries.
fn through_router(call: &mut Call<'_>) -> Result<()> {
    let reply = call.shell.run("admin", rawdoc! { "hello": 1 })?;
    if field(&reply, "msg").and_then(|msg| msg.as_str()) == Some("isdbgrid") {
        return Ok(());
    }
    if call.shell.classic() {
        return Err(usage("not connected to a mongos"));
    }
    call.shell.notice("MongoshWarning: [SHAPI-10003] You are not connected to a mongos. This command may not work as expected.");
    Ok(())
}

/// What the helper called needs at least.
fn first(call: &Call<'_>) -> Result<RawBson> {
    call.value(0).cloned().ok_or_else(|| usage(format!("sh.{} needs an argument", call.method)))
}

/// Sends the command of the helper that was called.
fn send(call: &mut Call<'_>) -> Result<Reply> {
    let at = SHAPES
        .binary_search_by_key(&call.method, |shape| shape.method)
        .expect("each row that sends has a shape");
    let Shape { command, fields, .. } = &SHAPES[at];
    let target =
        if call.method == "checkMetadataConsistency" { RawBson::Int32(1) } else { first(call)? };
    through_router(call)?;
    let mut body = Command::new(command, target);
    for (at, field) in fields.iter().enumerate() {
        body = body.maybe(field, call.value(at + 1).cloned());
    }
    if let Some(options) = call.options(fields.len() + 1) {
        body = body.options(&options, &[command.as_str()]);
    }
    answer(call.shell, "admin", body.body())
}

/// A range belongs to no zone when its zone is null.
fn unzone(call: &mut Call<'_>) -> Result<Reply> {
    let namespace = first(call)?;
    through_router(call)?;
    let body = Command::new(cstr!("updateZoneKeyRange"), namespace)
        .maybe(cstr!("min"), call.value(1).cloned())
        .maybe(cstr!("max"), call.value(2).cloned())
        .with(cstr!("zone"), RawBson::Null);
    answer(call.shell, "admin", body.body())
}

/// The helpers that change a document of the config database.
fn configure(call: &mut Call<'_>) -> Result<Reply> {
    let on = call.method.starts_with("enable") || call.method.starts_with("start");
    let (collection, id, change) = match call.method {
        "startAutoMerger" | "stopAutoMerger" => {
            ("settings", RawBson::from("automerge"), rawdoc! { "$set": { "enabled": on } })
        }
        "enableAutoSplit" | "disableAutoSplit" => {
            ("settings", RawBson::from("autosplit"), rawdoc! { "$set": { "enabled": on } })
        }
        "enableAutoMerger" => {
            ("collections", first(call)?, rawdoc! { "$unset": { "enableAutoMerge": 1 } })
        }
        "disableAutoMerger" => {
            ("collections", first(call)?, rawdoc! { "$set": { "enableAutoMerge": false } })
        }
        "enableMigrations" => {
            ("collections", first(call)?, rawdoc! { "$unset": { "permitMigrations": 1 } })
        }
        "disableMigrations" => {
            ("collections", first(call)?, rawdoc! { "$set": { "permitMigrations": false } })
        }
        _ => ("collections", first(call)?, rawdoc! { "$set": { "noBalance": !on } }),
    };
    through_router(call)?;
    let upsert = collection == "settings";
    let update = rawdoc! { "q": { "_id": id }, "u": change, "upsert": upsert };
    let body = Command::new(cstr!("update"), collection)
        .with(cstr!("updates"), [update].iter().collect::<RawArrayBuf>())
        .with(cstr!("writeConcern"), rawdoc! { "w": "majority" });
    answer(call.shell, "config", body.body())
}

/// What the balancer does: `{mode, inBalancerRound, numBalancerRounds}`.
fn balancer_status(call: &Call<'_>) -> Result<RawDocumentBuf> {
    let reply = call.shell.run("admin", rawdoc! { "balancerStatus": 1 });
    reply.map_err(|error| call.shell.refused(error, "command failed: ", ""))
}

fn balancer_state(call: &mut Call<'_>) -> Result<Reply> {
    through_router(call)?;
    let status = balancer_status(call)?;
    let mode = field(&status, "mode").and_then(|mode| mode.as_str());
    Ok(Reply::Value(RawBson::Boolean(mode != Some("off"))))
}

/// The classic shell says whether a round is on; mongosh shows all that is known.
fn balancer_running(call: &mut Call<'_>) -> Result<Reply> {
    through_router(call)?;
    let status = balancer_status(call)?;
    Ok(match call.shell.classic() {
        true => Reply::Value(owned(&status, "inBalancerRound").unwrap_or(RawBson::Boolean(false))),
        false => Reply::Served(RawBson::Document(status)),
    })
}

fn start_or_stop(call: &mut Call<'_>, on: bool, timeout: Option<RawBson>) -> Result<Reply> {
    through_router(call)?;
    let command = if on { cstr!("balancerStart") } else { cstr!("balancerStop") };
    let timeout = timeout.unwrap_or(RawBson::Int32(60_000));
    answer(call.shell, "admin", Command::new(command, 1).with(cstr!("maxTimeMS"), timeout).body())
}

fn balancer(call: &mut Call<'_>) -> Result<Reply> {
    let timeout = call.value(0).cloned();
    start_or_stop(call, call.method == "startBalancer", timeout)
}

fn set_balancer(call: &mut Call<'_>) -> Result<Reply> {
    let on = call.truthy(0);
    start_or_stop(call, on, None)
}

/// Waits until the balancer is in a round, or in none.
fn wait(call: &mut Call<'_>) -> Result<Reply> {
    let on = call.truthy(0);
    wait_until(call, on, 1)
}

fn wait_off(call: &mut Call<'_>) -> Result<Reply> {
    wait_until(call, false, 0)
}

fn wait_until(call: &mut Call<'_>, on: bool, timeout: usize) -> Result<Reply> {
    through_router(call)?;
    let timeout = call.value(timeout).and_then(|timeout| whole(timeout.as_raw_bson_ref()));
    let timeout =
        Duration::from_millis(timeout.and_then(|ms| u64::try_from(ms).ok()).unwrap_or(60_000));
    let start = Instant::now();
    loop {
        let status = balancer_status(call)?;
        if field(&status, "inBalancerRound").is_some_and(truthy) == on {
            return Ok(Reply::Nothing);
        }
        if start.elapsed() > timeout {
            let state = if on { "start" } else { "stop" };
            return Err(usage(format!("Waited for the balancer to {state}, and it did not")));
        }
        call.shell.interrupt.check()?;
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn shards(call: &Call<'_>) -> Result<RawBson> {
    let reply = call.shell.run("admin", rawdoc! { "listShards": 1 })?;
    Ok(owned(&reply, "shards").unwrap_or_else(|| RawBson::Array(RawArrayBuf::new())))
}

fn list_shards(call: &mut Call<'_>) -> Result<Reply> {
    through_router(call)?;
    shards(call).map(Reply::Served)
}

/// Whether one of the shards is the config servers themselves.
fn config_shard(call: &mut Call<'_>) -> Result<Reply> {
    through_router(call)?;
    let shards = shards(call)?;
    let list = shards.as_array().into_iter().flatten().flatten();
    let found = list
        .filter_map(|shard| shard.as_document())
        .any(|shard| shard.get_str("_id").is_ok_and(|id| id == "config"));
    Ok(Reply::Value(RawBson::Document(rawdoc! { "enabled": found })))
}

fn sh_help(call: &mut Call<'_>) -> Result<Reply> {
    let class = class("Sharding").expect("the table has the class of its own row");
    help::listed(call.shell, "sh.", class)
}

/// `sh.status()` and `db.printShardingStatus()`.
pub(super) fn status(call: &mut Call<'_>) -> Result<Reply> {
    let mongos = call.shell.run("admin", rawdoc! { "isdbgrid": 1 });
    match mongos {
        Ok(_) => answer(call.shell, "admin", rawdoc! { "listShards": 1 }),
        Err(error) if error.code().is_some() => {
            if !call.shell.classic() {
                call.shell.output.notice(
                    "Warning: MongoshWarning: [SHAPI-10003] You are not connected to a mongos. This command may not work as expected.",
                );
            }
            Err(call.shell.wrong(
                "printShardingStatus: this db does not have sharding enabled. be sure you are connecting to a mongos from the shell and not to a mongod.",
                raised(
                    "MongoshInvalidInputError",
                    "[SHAPI-10003] This db does not have sharding enabled. Be sure you are connecting to a mongos from the shell and not to a mongod.",
                ),
            ))
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_that_sends_has_a_shape() {
        assert!(SHAPES.is_sorted_by_key(|shape| shape.method));
        for shape in SHAPES {
            assert!(SH.method(shape.method).is_some(), "{}", shape.method);
        }
    }
}
