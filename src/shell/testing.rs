//! What test files of the classic shell expect to find beside `assert`: `jsTest`, `TestData`, ports, programs.

use bson::RawBson;

use super::command::document;
use super::refusal::usage;
use super::rows::{native, prelude};
use super::{Call, Class, Reply, files, programs};
use crate::error::{Code, Result};

/// Globals.
pub(super) const TEST_FUNCTIONS: Class = Class::functions(
    "TestFunctions",
    "globalThis",
    "what test files use",
    &[
        native("ErrorCodes", "", "the numbers of the server's errors, by name", error_codes),
        prelude(
            "TestData",
            "",
            "what the runner of a test tells it; empty until a script fills it",
        ),
        native("__scriptName", "()", "", script_name),
        native("_getEnv", "(name)", "a variable of the environment", environment),
        native("_isWindows", "()", "whether this is Windows", is_windows),
        prelude("_rand", "()", "a random number from 0 to 1"),
        prelude("_srand", "(seed)", "starts _rand at a seed"),
        prelude("allocatePort", "()", "a port number that no test has yet"),
        prelude("allocatePorts", "(count)", "port numbers that no test has yet"),
        prelude("bsonObjToArray", "(document)", "the values of a document"),
        prelude(
            "bsonUnorderedFieldsCompare",
            "(left, right)",
            "the order of two documents, whatever the order of their fields",
        ),
        prelude("chatty", "(text)", "prints a text"),
        native(
            "clearRawMongoProgramOutput",
            "()",
            "forgets what programs have said",
            programs::forget,
        ),
        native("getenv", "(name)", "a variable of the environment", environment),
        prelude("indentStr", "(indent, text)", "a text with blanks before each line"),
        prelude("isNetworkError", "(error)", "whether an error is one of the network"),
        prelude("jsTestName", "()", "the name of the test"),
        prelude("jsTestOptions", "()", "what the runner of a test tells it"),
        native("pathExists", "(path)", "whether there is such a file", files::file_exists),
        native("rawMongoProgramOutput", "()", "what programs have said", programs::said),
        prelude("resetAllocatedPorts", "()", "begins with the port numbers again"),
        prelude(
            "retryOnNetworkError",
            "(function, times, ms)",
            "calls again after an error of the network",
        ),
        native(
            "run",
            "(program, argument, ...)",
            "runs a program; answers with its exit code",
            programs::run,
        ),
        native("runNonMongoProgram", "(program, argument, ...)", "runs a program", programs::run),
        native("runProgram", "(program, argument, ...)", "runs a program", programs::run),
        prelude("setJsTestOption", "(name, value)", "sets an option of the test"),
        native("setVerboseShell", "(on)", "tells how long each query and write took", verbose),
        prelude("shellPrintHelper", "(value)", "prints a value as the prompt does"),
        prelude("timestampCmp", "(left, right)", "-1, 0 or 1"),
        prelude("tojsonObject", "(value, indent, nolint)", "an object as JSON text"),
    ],
);

/// `jsTest`.
pub(super) const JS_TEST: Class = Class::functions(
    "TestHelpers",
    "jsTest",
    "what test files use",
    &[
        prelude("isMongos", "(connection)", "whether a connection leads to a router"),
        prelude("log", "(message)", "prints a message in a frame"),
        prelude("name", "()", "the name of the test"),
        prelude("options", "()", "what the runner of a test tells it"),
        prelude("setOption", "(name, value)", "sets an option of the test"),
    ],
);

/// `MongoRunner`.
pub(super) const RUNNER: Class = Class::functions(
    "TestRunner",
    "MongoRunner",
    "starts servers for tests, which tally does not",
    &[
        native("runMongod", "(options)", "refused: tally starts no servers", no_servers),
        native("runMongos", "(options)", "refused: tally starts no servers", no_servers),
        native("stopMongod", "(connection)", "refused: tally starts no servers", no_servers),
    ],
);

/// `ReplSetTest`.
pub(super) const REPLICA_SET: Class = Class::instances(
    "TestReplicaSet",
    "ReplSetTest",
    "starts a replica set for tests, which tally does not",
    &[native("constructor", "(options)", "refused: tally starts no servers", no_servers)],
);

/// `ShardingTest`.
pub(super) const SHARDED: Class = Class::instances(
    "TestShards",
    "ShardingTest",
    "starts a sharded cluster for tests, which tally does not",
    &[native("constructor", "(options)", "refused: tally starts no servers", no_servers)],
);

fn no_servers(_: &mut Call<'_>) -> Result<Reply> {
    Err(usage(
        "tally starts no servers: what needs one of its own cannot run here. `db` is an engine to test against, or start tally with the address of a server",
    ))
}

fn is_windows(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(cfg!(windows))))
}

/// The errors that have a name.
fn error_codes(_: &mut Call<'_>) -> Result<Reply> {
    let codes = Code::known().map(|(code, name)| (name.to_owned(), RawBson::Int32(code)));
    Ok(Reply::Value(RawBson::Document(document(codes))))
}

/// The script's file without its ending; nothing where there is none.
fn script_name(call: &mut Call<'_>) -> Result<Reply> {
    let name = call.shell.given.script.as_ref().and_then(|script| script.file_stem());
    Ok(match name {
        Some(name) => Reply::Value(RawBson::String(name.to_string_lossy().into_owned())),
        None => Reply::Nothing,
    })
}

/// Nothing for a variable that is not set.
fn environment(call: &mut Call<'_>) -> Result<Reply> {
    let Some(name) = call.text(0, "name")?.filter(|name| !name.is_empty()) else {
        return Err(usage(format!("{} needs a name", call.method)));
    };
    Ok(match std::env::var_os(name) {
        Some(value) => Reply::Value(RawBson::String(value.to_string_lossy().into_owned())),
        None => Reply::Nothing,
    })
}

/// `setVerboseShell(on)`; without an argument it is turned on.
fn verbose(call: &mut Call<'_>) -> Result<Reply> {
    call.shell.verbose = call.arguments.is_empty() || call.truthy(0);
    Ok(Reply::Nothing)
}
