//! Global functions.

use std::io::IsTerminal as _;

use bson::{RawBson, rawdoc};

use super::command::{number, whole};
use super::refusal::usage;
use super::rows::{native, prelude, shows};
use super::types::{csuuid, hex_data, iso_date, juuid, md5, pyuuid, uuid};
use super::words::Spoken;
use super::{Call, Class, Reply, Shells, Show, counter, files, mongo};
use crate::error::Result;

/// The globals.
pub(super) const GLOBAL: Class = Class::functions(
    "Global",
    "globalThis",
    "functions without an object",
    &[
        native("CSUUID", "(text)", "a UUID in the byte order of old C# drivers", csuuid),
        native("HexData", "(subtype, hex)", "bytes from hexadecimal digits", hex_data),
        native("ISODate", "(text)", "a date from an ISO 8601 text, or now", iso_date),
        native("JUUID", "(text)", "a UUID in the byte order of old Java drivers", juuid),
        native("LegacyCSharpUUID", "(text)", "a UUID in the byte order of old C# drivers", csuuid)
            .only(Shells::Mongosh),
        native("LegacyJavaUUID", "(text)", "a UUID in the byte order of old Java drivers", juuid)
            .only(Shells::Mongosh),
        native(
            "LegacyPythonUUID",
            "(text)",
            "a UUID in the byte order of old Python drivers",
            pyuuid,
        )
        .only(Shells::Mongosh),
        native("MD5", "(hex)", "bytes of an MD5 digest", md5),
        native("PYUUID", "(text)", "a UUID in the byte order of old Python drivers", pyuuid),
        native("UUID", "(text)", "a UUID, or a new random one", uuid),
        native("__speak", "(verb, ...)", "", speak),
        prelude("__word", "(verb, ...)", ""),
        prelude("assert", "(condition, message)", "throws unless the condition holds"),
        native(
            "bsonBinaryEqual",
            "(left, right)",
            "whether two documents have the same bytes",
            binary_equal,
        ),
        native(
            "bsonWoCompare",
            "(left, right)",
            "the order of two documents, field names left out",
            order,
        ),
        native("bsonsize", "(document)", "how many bytes a document takes", size),
        native("buildInfo", "()", "which programs run", build_information).only(Shells::Mongosh),
        native("cat", "(file)", "the text of a file", files::cat),
        native("cd", "(path)", "changes the working directory", files::cd),
        native("cls", "()", "clears the screen", clear),
        prelude("compare", "(left, right)", "-1, 0 or 1"),
        prelude("compareOn", "(field)", "a function that compares by a field"),
        native("connect", "(address)", "the database at an address", mongo::connect_database),
        native("copyFile", "(from, to)", "copies a file", files::copy_file),
        native(
            "counter",
            "(name, options)",
            "the next number of a counter, which its first call creates",
            counter::counter,
        ),
        prelude("doassert", "(message)", "throws an error"),
        native("exit", "(code)", "quits the shell", files::quit).only(Shells::Mongosh),
        native("fileExists", "(path)", "whether there is such a file", files::file_exists),
        prelude("friendlyEqual", "(left, right)", "whether both look the same as JSON"),
        native("gc", "()", "collects garbage at some time", nothing),
        native("getBuildInfo", "()", "how the server was built", build_info),
        native("getHostName", "()", "the name of this machine", files::hostname),
        native("getMemInfo", "()", "memory in use, in megabytes", memory),
        native("help", "(topic)", "what can be typed, or help on a topic", help),
        native("hex_md5", "(text)", "the MD5 digest of a text", files::hex_md5),
        native("history", "()", "what was typed at the prompt, oldest first", history),
        native("hostname", "()", "the name of this machine", files::hostname),
        native("interpreterVersion", "()", "what runs the scripts", interpreter),
        native("isInteractive", "()", "whether someone sits at a terminal", is_interactive),
        prelude("isNumber", "(value)", "whether it is a number"),
        prelude("isObject", "(value)", "whether it is an object"),
        prelude("isString", "(value)", "whether it is a text"),
        native("it", "()", "shows the next documents", it).only(Shells::Mongosh),
        prelude("jsTestLog", "(message)", "prints a message in a frame"),
        native("listFiles", "(path)", "files with their sizes", files::list_files),
        prelude("load", "(file, ...)", "runs scripts"),
        native("ls", "(path)", "the names of files", files::ls),
        native("md5sumFile", "(file)", "the MD5 digest of a file", files::md5sum_file),
        native("mkdir", "(path)", "makes a directory", files::mkdir),
        native("nextVal", "(name, options)", "the next number of a sequence", counter::next_val),
        prelude(
            "parallel",
            "(workers, [times], [options], function, ...arguments)",
            "runs a function in several threads at once; answers with every result",
        ),
        native("passwordPrompt", "()", "asks for a password", password),
        shows("print", "(value, ...)", "prints values", Show::Print),
        prelude("printStackTrace", "()", "prints where the script is"),
        shows("printjson", "(value, ...)", "prints a value as JSON", Show::PrintJson),
        shows(
            "printjsononeline",
            "(value)",
            "prints a value as JSON on one line",
            Show::PrintJsonOneLine,
        ),
        native("pwd", "()", "the working directory", files::pwd),
        native("quit", "(code)", "quits the shell", files::quit),
        prelude(
            "race",
            "(function, ..., options)",
            "runs functions in several threads and counts the numbers handed out twice",
        ),
        native("removeFile", "(path)", "deletes a file or directory", files::remove_file),
        prelude("show", "(noun)", "shows databases, collections, counters..."),
        native("sleep", "(ms)", "waits", files::sleep),
        prelude(
            "startParallelShell",
            "(code, port, noConnect, ...arguments)",
            "runs code in one more thread; answers with a function that waits for it",
        ),
        shows("tojson", "(value, indent, nolint)", "a value as JSON text", Show::ToJson),
        shows("tojsononeline", "(value)", "a value as JSON text on one line", Show::ToJsonOneLine),
        prelude("tostrictjson", "(value)", "a value as extended JSON text"),
        native("use", "(name)", "makes another database the current one", use_database),
        native("version", "()", "the version of the emulated shell", version),
        native("writeFile", "(path, text)", "writes a new file", files::write_file),
    ],
);
/// `DBQuery.shellBatchSize`.
pub(super) const QUERY_SETTINGS: Class = Class::functions(
    "QuerySettings",
    "DBQuery",
    "settings of cursors",
    &[native("shellBatchSize", "", "how many documents a prompt shows at once", batch_size)],
);

/// A setting's getter and, with an argument, its setter.
fn batch_size(call: &mut Call<'_>) -> Result<Reply> {
    if let Some(value) = call.value(0) {
        let size = whole(value.as_raw_bson_ref()).and_then(|size| usize::try_from(size).ok());
        let Some(size) = size.filter(|size| *size > 0) else {
            return Err(usage("DBQuery.shellBatchSize must be a number above 0"));
        };
        if !call.shell.classic() {
            call.shell.notice("DeprecationWarning: DBQuery.shellBatchSize is deprecated, please use config.set(\"displayBatchSize\") instead");
        }
        call.shell.batch_size = size;
    }
    let size = i64::try_from(call.shell.batch_size).unwrap_or(i64::MAX);
    Ok(Reply::Value(number(size)))
}

/// `Object.bsonsize` and `bsonsize`.
pub(super) fn size(call: &mut Call<'_>) -> Result<Reply> {
    match call.value(0) {
        Some(RawBson::Document(document)) => {
            let size = document.as_bytes().len();
            Ok(Reply::Value(number(i64::try_from(size).unwrap_or(i64::MAX))))
        }
        _ => Err(usage(format!("{} needs a document", call.method))),
    }
}

fn binary_equal(call: &mut Call<'_>) -> Result<Reply> {
    let same = match (call.value(0), call.value(1)) {
        (Some(RawBson::Document(left)), Some(RawBson::Document(right))) => left == right,
        _ => return Err(usage("bsonBinaryEqual needs two documents")),
    };
    Ok(Reply::Value(RawBson::Boolean(same)))
}

/// Values in order, names left out: what sorting by an index does.
fn order(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = (call.document(0, "left")?, call.document(1, "right")?);
    let order = left
        .values()
        .zip(right.values())
        .map(|(left, right)| crate::value::compare::compare(left, right))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()));
    Ok(Reply::Value(RawBson::Int32(order as i32)))
}

fn nothing(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Nothing)
}

/// The terminal's own sequence: home, then erase.
fn clear(call: &mut Call<'_>) -> Result<Reply> {
    if std::io::stdout().is_terminal() {
        call.shell.output.line("\u{1b}[H\u{1b}[2J")?;
    }
    Ok(Reply::Nothing)
}

fn build_info(call: &mut Call<'_>) -> Result<Reply> {
    super::database::answer(call.shell, "admin", rawdoc! { "buildInfo": 1 })
}

/// mongosh's `buildInfo()`, about the shell itself.
fn build_information(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(rawdoc! {
        "version": call.shell.emulate.version(),
        "distributionKind": "packaged",
        "buildArch": std::env::consts::ARCH,
        "buildPlatform": std::env::consts::OS,
        "nodeVersion": "v20.20.2",
        "tally": env!("CARGO_PKG_VERSION"),
    })))
}

/// Memory of this process in megabytes, where the platform tells it.
fn memory(_: &mut Call<'_>) -> Result<Reply> {
    let statistics = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let mut pages = statistics.split(' ').map(|pages| pages.parse::<i64>().unwrap_or(0));
    let mut megabytes = || RawBson::Double(pages.next().unwrap_or(0) as f64 * 4096.0 / 1_048_576.0);
    let (virtual_size, resident) = (megabytes(), megabytes());
    Ok(Reply::Value(RawBson::Document(rawdoc! { "virtual": virtual_size, "resident": resident })))
}

fn interpreter(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String("QuickJS".to_owned())))
}

fn is_interactive(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(std::io::stdin().is_terminal())))
}

/// Nothing here is protected by a password, so there is none to ask for.
fn password(_: &mut Call<'_>) -> Result<Reply> {
    Err(usage(
        "passwordPrompt() has nothing to ask for: the embedded engine has no users that log in",
    ))
}

/// The version of the shell that is emulated: what scripts look at.
fn version(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(call.shell.emulate.version().to_owned())))
}

/// A shell word inside a file: its lines are printed, documents and values are handed to the prelude, which prints them.
fn speak(call: &mut Call<'_>) -> Result<Reply> {
    let verb = call.text(0, "verb")?.unwrap_or_default().to_owned();
    let words: Vec<String> = call
        .arguments
        .iter()
        .skip(1)
        .filter_map(|word| word.as_str().map(ToOwned::to_owned))
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match super::words::run(call.shell, &verb, &words)? {
        Spoken::Lines(lines) => {
            for line in lines {
                call.shell.output.line(&line)?;
            }
            Reply::Nothing
        }
        Spoken::Documents(documents) => Reply::Documents(documents),
        Spoken::Page(page) => Reply::Documents(page.documents),
        Spoken::Value(value) => Reply::Served(value),
        Spoken::Clear => clear(call)?,
        Spoken::Edit(_) => return Err(usage("edit works at the prompt only")),
        Spoken::Learn(_) => return Err(usage("learn works at the prompt only")),
    })
}

/// `help()`, and `help("numbers")`.
fn help(call: &mut Call<'_>) -> Result<Reply> {
    let topic = call.text(0, "topic")?.map(ToOwned::to_owned);
    let words: Vec<&str> = topic.as_deref().into_iter().collect();
    if let Spoken::Lines(lines) = super::words::run(call.shell, "help", &words)? {
        for line in lines {
            call.shell.output.line(&line)?;
        }
    }
    Ok(Reply::Nothing)
}

/// `it()`: the next page, as an array.
fn it(call: &mut Call<'_>) -> Result<Reply> {
    Ok(match call.shell.next_page()? {
        Some(page) => Reply::Documents(page.documents),
        None => Reply::Value(RawBson::String("no cursor".to_owned())),
    })
}

/// `use("shop")`, as scripts write it: the line that the word prints is the value.
fn use_database(call: &mut Call<'_>) -> Result<Reply> {
    let name = call.text(0, "name")?.unwrap_or_default().to_owned();
    Ok(match super::words::run(call.shell, "use", &[name.as_str()])? {
        Spoken::Lines(lines) => Reply::Value(RawBson::String(lines.join("\n"))),
        _ => Reply::Nothing,
    })
}

/// `history()`: the inputs of this and of earlier sessions; none where there is no prompt.
fn history(call: &mut Call<'_>) -> Result<Reply> {
    let typed = call.shell.typed.iter().map(|text| RawBson::String(text.clone()));
    Ok(Reply::Value(RawBson::Array(typed.collect())))
}
