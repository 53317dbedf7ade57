//! Commands that inform: about the server that the engine stands for, its state, and the data it holds.

use std::sync::atomic::Ordering;

use bson::{DateTime, Document, RawBsonRef, RawDocumentBuf, doc};

use super::Command;
use super::context::Context;
use super::fields::Fields;
use super::read::encode;
use super::reply::ok;
use super::storable::LARGEST_DOCUMENT;
use crate::error::Result;
use crate::refuse;

/// The version of MongoDB whose answers the engine gives.
pub(crate) const VERSION: &str = "7.0.14";

/// The wire version of [`VERSION`].
const WIRE: i32 = 21;

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "buildInfo",
        aliases: &["buildinfo"],
        help: "the server's version",
        admin_only: false,
        run: build_info,
    },
    Command {
        name: "connectionStatus",
        aliases: &[],
        help: "who is logged in",
        admin_only: false,
        run: connection_status,
    },
    Command {
        name: "endSessions",
        aliases: &[],
        help: "ends sessions",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "getCmdLineOpts",
        aliases: &[],
        help: "the server's options",
        admin_only: true,
        run: command_line,
    },
    Command {
        name: "getLog",
        aliases: &[],
        help: "lines of the server's log",
        admin_only: true,
        run: log,
    },
    Command {
        name: "getParameter",
        aliases: &[],
        help: "settings of the server",
        admin_only: true,
        run: parameter,
    },
    Command {
        name: "hello",
        aliases: &[],
        help: "what the server is and can",
        admin_only: false,
        run: hello,
    },
    Command {
        name: "hostInfo",
        aliases: &[],
        help: "the machine",
        admin_only: false,
        run: host_info,
    },
    Command {
        name: "isMaster",
        aliases: &["ismaster"],
        help: "as hello",
        admin_only: false,
        run: is_master,
    },
    Command {
        name: "killAllSessions",
        aliases: &[],
        help: "ends sessions",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "killSessions",
        aliases: &[],
        help: "ends sessions",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "logout",
        aliases: &[],
        help: "forgets who is logged in",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "ping",
        aliases: &[],
        help: "whether the server answers",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "refreshSessions",
        aliases: &[],
        help: "keeps sessions alive",
        admin_only: false,
        run: accept,
    },
    Command {
        name: "serverStatus",
        aliases: &[],
        help: "the server's state",
        admin_only: false,
        run: server_status,
    },
    Command {
        name: "startSession",
        aliases: &[],
        help: "begins a session",
        admin_only: false,
        run: start_session,
    },
    Command {
        name: "whatsmyuri",
        aliases: &[],
        help: "the client's address",
        admin_only: false,
        run: whats_my_uri,
    },
];

/// Commands that have nothing to do here.
fn accept(_: &Context<'_>) -> Result<RawDocumentBuf> {
    Ok(ok())
}

fn hello(context: &Context<'_>) -> Result<RawDocumentBuf> {
    describe(context, "isWritablePrimary")
}

fn is_master(context: &Context<'_>) -> Result<RawDocumentBuf> {
    describe(context, "ismaster")
}

fn describe(context: &Context<'_>, primary: &str) -> Result<RawDocumentBuf> {
    let mut reply = Document::new();
    if matches!(context.body.get("helloOk"), Ok(Some(RawBsonRef::Boolean(true)))) {
        reply.insert("helloOk", true);
    }
    reply.insert(primary, true);
    reply.extend(doc! {
        "maxBsonObjectSize": LARGEST_DOCUMENT as i32,
        "maxMessageSizeBytes": 48_000_000,
        "maxWriteBatchSize": 100_000,
        "localTime": DateTime::now(),
        "logicalSessionTimeoutMinutes": 30,
        "connectionId": 1,
        "minWireVersion": 0,
        "maxWireVersion": WIRE,
        "readOnly": false,
        "ok": 1.0,
    });
    encode(&reply)
}

fn build_info(_: &Context<'_>) -> Result<RawDocumentBuf> {
    let parts: Vec<i32> =
        VERSION.split('.').filter_map(|part| part.parse().ok()).chain([0]).collect();
    encode(&doc! {
        "version": VERSION,
        "gitVersion": "0000000000000000000000000000000000000000",
        "modules": [],
        "allocator": "system",
        "javascriptEngine": "none",
        "sysInfo": "deprecated",
        "versionArray": parts,
        "openssl": { "running": "disabled", "compiled": "disabled" },
        "buildEnvironment": {},
        "bits": 64,
        "debug": cfg!(debug_assertions),
        "maxBsonObjectSize": LARGEST_DOCUMENT as i32,
        "storageEngines": ["tally"],
        "ok": 1.0,
    })
}

fn connection_status(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("connectionStatus", context.body)?;
    let privileges = fields.loose_flag("showPrivileges")?;
    fields.finish()?;
    let mut info = doc! { "authenticatedUsers": [], "authenticatedUserRoles": [] };
    if privileges {
        info.insert("authenticatedUserPrivileges", Vec::<Document>::new());
    }
    encode(&doc! { "authInfo": info, "ok": 1.0 })
}

fn command_line(_: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "argv": ["tally"], "parsed": {}, "ok": 1.0 })
}

fn log(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("getLog", context.body)?;
    let reply = match fields.present("getLog") {
        Some(RawBsonRef::String("*")) => doc! { "names": ["global", "startupWarnings"], "ok": 1.0 },
        // The engine keeps no log; a shell would print each line as a banner.
        Some(RawBsonRef::String("global" | "startupWarnings")) => {
            doc! { "totalLinesWritten": 0, "log": [], "ok": 1.0 }
        }
        Some(RawBsonRef::String(other)) => {
            return Err(refuse!(OPERATION_FAILED, "No log named '{other}'"));
        }
        other => {
            let found = other.map_or("missing", super::fields::type_name);
            return Err(refuse!(
                TYPE_MISMATCH,
                "Argument to getLog must be of type String; found {found}"
            ));
        }
    };
    encode(&reply)
}

fn parameter(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let known =
        doc! { "featureCompatibilityVersion": { "version": "7.0" }, "quiet": false, "logLevel": 0 };
    let mut reply = Document::new();
    let all = matches!(context.body.get("getParameter"), Ok(Some(RawBsonRef::String("*"))));
    for (name, value) in known {
        if all || matches!(context.body.get(&name), Ok(Some(_))) {
            reply.insert(name, value);
        }
    }
    if reply.is_empty() {
        return Err(refuse!(INVALID_OPTIONS, "no option found to get"));
    }
    reply.insert("ok", 1.0);
    encode(&reply)
}

fn host_info(_: &Context<'_>) -> Result<RawDocumentBuf> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    encode(&doc! {
        "system": {
            "currentTime": DateTime::now(),
            "hostname": host(),
            "cpuAddrSize": 64,
            "memSizeMB": memory_megabytes(),
            "numCores": i32::try_from(cores).unwrap_or(i32::MAX),
            "cpuArch": std::env::consts::ARCH,
            "numaEnabled": false,
        },
        "os": { "type": std::env::consts::OS, "name": std::env::consts::OS, "version": "" },
        "extra": {},
        "ok": 1.0,
    })
}

/// The machine's name, as far as files tell it.
pub(super) fn host() -> String {
    let name = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

fn memory_megabytes() -> i64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix("kB")?.trim().parse::<i64>().ok()
    });
    total.unwrap_or(0) / 1024
}

fn server_status(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let tally = &context.shared.tally;
    let up = tally.started.elapsed();
    let millis = i64::try_from(up.as_millis()).unwrap_or(i64::MAX);
    let number =
        |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).cast_signed();
    let resident = std::fs::read_to_string("/proc/self/statm").ok();
    let resident =
        resident.and_then(|text| text.split(' ').nth(1)?.parse::<i64>().ok()).unwrap_or(0) * 4096
            / (1024 * 1024);
    encode(&doc! {
        "host": host(),
        "version": VERSION,
        "process": "mongod",
        "pid": i64::from(std::process::id()),
        "uptime": up.as_secs_f64().floor(),
        "uptimeMillis": millis,
        "uptimeEstimate": millis / 1000,
        "localTime": DateTime::now(),
        "connections": { "current": 1, "available": 1000, "totalCreated": 1, "active": 1 },
        "metrics": { "cursor": { "open": { "total": context.shared.cursors.len() as i64 } } },
        "network": { "bytesIn": 0_i64, "bytesOut": 0_i64, "numRequests": number(&tally.command) },
        "opcounters": {
            "insert": number(&tally.insert),
            "query": number(&tally.query),
            "update": number(&tally.update),
            "delete": number(&tally.delete),
            "getmore": number(&tally.get_more),
            "command": number(&tally.command),
        },
        "storageEngine": { "name": "tally", "supportsCommittedReads": true, "persistent": true },
        "mem": { "bits": 64, "resident": resident, "virtual": resident, "supported": true },
        "ok": 1.0,
    })
}

fn start_session(_: &Context<'_>) -> Result<RawDocumentBuf> {
    let id = uuid::Uuid::new_v4();
    let id =
        bson::Binary { subtype: bson::spec::BinarySubtype::Uuid, bytes: id.as_bytes().to_vec() };
    encode(&doc! { "id": { "id": id }, "timeoutMinutes": 30, "ok": 1.0 })
}

fn whats_my_uri(_: &Context<'_>) -> Result<RawDocumentBuf> {
    encode(&doc! { "you": "127.0.0.1:0", "ok": 1.0 })
}
