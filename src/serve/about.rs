//! Commands about the connection and the process: greetings, what runs, how the server was started.
//!
//! They have rows in the engine's table, too, which answers as an engine without a server; here the reply gets what only
//! the server knows. All other commands go to the engine as they are.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};

use super::connection::Client;
use super::wire::Compressor;
use super::{access, awaiting, fail_point};
use crate::engine::{Request, Retry};
use crate::error::{Code, Error, Result};
use crate::refuse;

/// A command that the server has a say in.
struct Row {
    name: &'static str,
    run: fn(&Arc<Client>, &Request) -> Result<RawDocumentBuf>,
}

const COMMANDS: &[Row] = &[
    Row { name: "aggregate", run: aggregate },
    Row { name: "configureFailPoint", run: fail_point::configure },
    Row { name: "connectionStatus", run: connection_status },
    Row { name: "createUser", run: access::create },
    Row { name: "currentOp", run: current_operations },
    Row { name: "dropUser", run: access::drop_user },
    Row { name: "find", run: awaiting::find },
    Row { name: "getCmdLineOpts", run: command_line },
    Row { name: "getMore", run: awaiting::get_more },
    Row { name: "hello", run: greet },
    Row { name: "isMaster", run: greet },
    Row { name: "ismaster", run: greet },
    Row { name: "killOp", run: kill_operation },
    Row { name: "listDatabases", run: databases },
    Row { name: "logout", run: access::log_out },
    Row { name: "saslContinue", run: access::continue_login },
    Row { name: "saslStart", run: access::start_login },
    Row { name: "serverStatus", run: status },
    Row { name: "shutdown", run: shut_down },
    Row { name: "updateUser", run: access::update },
    Row { name: "usersInfo", run: access::show },
    Row { name: "whatsmyuri", run: address },
];

/// The commands that may still come as an OP_QUERY: what drivers send before they know the server.
const OLD: &[&str] = &[
    "_isSelf",
    "authenticate",
    "buildInfo",
    "buildinfo",
    "hello",
    "isMaster",
    "ismaster",
    "saslContinue",
    "saslStart",
];

/// How many connections `serverStatus` says there is room for.
const ROOM: i32 = 20_000;

/// Runs a command. A write with the same `retry` is done once.
pub(super) fn run(
    client: &Arc<Client>,
    request: &Request,
    retry: Option<Retry>,
) -> Result<RawDocumentBuf> {
    access::check(client, request)?;
    let name = name(&request.body);
    let fields = fail_point::check(client, request, name)?;
    let reply = match COMMANDS.binary_search_by_key(&name, |row| row.name) {
        Ok(at) => (COMMANDS[at].run)(client, request),
        Err(_) => match retry {
            Some(retry) => client.server.engine.run_once(request, retry),
            None => client.server.engine.run(request),
        },
    }?;
    if fields.is_empty() { Ok(reply) } else { extended(&reply, |reply| reply.extend(fields)) }
}

/// Refuses a command that may not come as an OP_QUERY.
pub(super) fn check_old(body: &RawDocument) -> Result<()> {
    let name = name(body);
    if OLD.binary_search(&name).is_ok() {
        return Ok(());
    }
    Err(refuse!(
        UNSUPPORTED_OP_QUERY_COMMAND,
        "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade. For more details see \
         https://dochub.mongodb.org/core/legacy-opcode-removal"
    ))
}

fn name(body: &RawDocument) -> &str {
    body.iter().next().and_then(|first| first.ok()).map_or("", |(name, _)| name.as_str())
}

/// The engine's reply, with some fields set anew.
fn amended(
    client: &Client,
    request: &Request,
    amend: impl FnOnce(&mut Document),
) -> Result<RawDocumentBuf> {
    extended(&client.server.engine.run(request)?, amend)
}

fn extended(reply: &RawDocument, amend: impl FnOnce(&mut Document)) -> Result<RawDocumentBuf> {
    let invalid = |error: &dyn std::fmt::Display| refuse!(INVALID_BSON, "{error}");
    let mut reply = Document::try_from(reply).map_err(|error| invalid(&error))?;
    // The end of a reply is `ok`.
    let ok = reply.remove("ok");
    amend(&mut reply);
    reply.extend(ok.map(|ok| ("ok".to_owned(), ok)));
    RawDocumentBuf::try_from(&reply).map_err(|error| invalid(&error))
}

fn greet(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let program = request.body.get_document("client");
    let program = program.ok().and_then(|client| client.get_document("application").ok());
    if let Some(name) = program.and_then(|program| program.get_str("name").ok()) {
        // Who a client is stands in its first greeting.
        let _ = client.application.set(name.to_owned());
    }
    amended(client, request, |reply| {
        reply.insert("connectionId", client.number);
        let compressors = compressors(&request.body);
        if !compressors.is_empty() {
            reply.insert("compression", compressors);
        }
        access::greet(client, &request.body, reply);
    })
}

/// The compressors that both sides know, in the client's order.
fn compressors(body: &RawDocument) -> Vec<&str> {
    let Ok(offered) = body.get_array("compression") else { return Vec::new() };
    let names = offered.into_iter().flatten().filter_map(RawBsonRef::as_str);
    names.filter(|name| Compressor::named(name).is_some()).collect()
}

fn connection_status(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    amended(client, request, |reply| access::who(client, reply))
}

fn databases(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    access::databases(client, client.server.engine.run(request)?)
}

fn command_line(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    amended(client, request, |reply| {
        reply.insert("argv", vec!["tally", "serve"]);
        reply.insert("parsed", client.server.options.clone());
    })
}

fn address(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    amended(client, request, |reply| {
        reply.insert("you", client.peer.as_str());
    })
}

fn status(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    amended(client, request, |reply| {
        let server = &client.server;
        let statistics = &server.statistics;
        let current = statistics.connections.load(Ordering::Relaxed);
        let current = i32::try_from(current).unwrap_or(i32::MAX);
        let long =
            |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed).cast_signed();
        reply.insert(
            "connections",
            doc! {
                "current": current,
                "available": ROOM.saturating_sub(current),
                "totalCreated": statistics.created.load(Ordering::Relaxed),
                "active": i32::try_from(server.operations.len()).unwrap_or(i32::MAX),
            },
        );
        reply.insert(
            "network",
            doc! {
                "bytesIn": long(&statistics.received),
                "bytesOut": long(&statistics.sent),
                "numRequests": long(&statistics.requests),
            },
        );
    })
}

fn current_operations(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    amended(client, request, |reply| {
        let running = client.server.operations.list(&client.server.host);
        reply.insert("inprog", running.into_iter().map(Bson::Document).collect::<Vec<_>>());
    })
}

/// The stage `$currentOp` becomes the documents that it gives, and the pipeline goes on with them.
fn aggregate(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    match with_operations(client, request) {
        Some(request) => client.server.engine.run(&request),
        None => client.server.engine.run(request),
    }
}

/// The same command with other documents in the place of `$currentOp`; `None` when it has no such stage.
fn with_operations(client: &Client, request: &Request) -> Option<Request> {
    let named = matches!(request.body.get("aggregate"), Ok(Some(RawBsonRef::String(_))));
    if named || request.db != "admin" {
        return None;
    }
    let mut body = Document::try_from(&*request.body).ok()?;
    let first = body.get_array_mut("pipeline").ok()?.first_mut()?.as_document_mut()?;
    first.remove("$currentOp")?;
    // Commands that run have operators in them, which are not to be evaluated.
    let running = client.server.operations.list(&client.server.host);
    let running = running.into_iter().map(|one| doc! { "$literal": one }.into());
    first.insert("$documents", running.collect::<Vec<Bson>>());
    let body = RawDocumentBuf::try_from(&body).ok()?;
    Some(Request { db: request.db.clone(), body, interrupt: request.interrupt.clone() })
}

fn kill_operation(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let reply = client.server.engine.run(request)?;
    let number = match request.body.get("op") {
        Ok(Some(RawBsonRef::Int32(number))) => Some(number),
        Ok(Some(RawBsonRef::Int64(number))) => i32::try_from(number).ok(),
        #[allow(clippy::cast_possible_truncation)]
        Ok(Some(RawBsonRef::Double(number))) => Some(number as i32),
        Ok(_) | Err(_) => None,
    };
    if let Some(number) = number {
        client.server.operations.kill(number);
    }
    Ok(reply)
}

fn shut_down(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    if request.db != "admin" {
        return Err(Error::command(
            Code::UNAUTHORIZED,
            "shutdown may only be run against the admin database.",
        ));
    }
    client.server.stop();
    Ok(bson::rawdoc! { "ok": 1.0 })
}
