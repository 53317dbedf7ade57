//! What is written, run by a driver itself: the command that pymongo sends must be the one that the shell sent.
//!
//! pymongo comes with SecantusDB, which answers here. Its errors do not matter: a command has been sent when it is refused.

use std::process::{Command, Stdio};

use bson::{Bson, Document, doc};
use tally::translate;

use super::calls::{calls, values};
use super::{code, insert};
use crate::program::root;
use crate::remote::Secantus;

/// Runs each piece of code and writes down the first command that it sent, each as a line of hexadecimal digits of BSON.
const RUNNER: &str = r#"
import sys
import bson
from pymongo import MongoClient, monitoring
from pymongo.errors import PyMongoError

class Listener(monitoring.CommandListener):
    def started(self, event):
        sent.append(event.command)
    def succeeded(self, event):
        pass
    def failed(self, event):
        pass

sent = []
client = MongoClient(sys.argv[1], event_listeners=[Listener()])
client.admin.command("ping")
for line in sys.stdin:
    head, body = bytes.fromhex(line).decode().split("\n", 1)
    head = head.split(": ", 1)[1].split("; ")
    names = {"client": client, "db": client["test"]}
    exec("\n".join(one for one in head if one.startswith(("from ", "import "))), names)
    sent.clear()
    try:
        exec(body, names)
        for cursor in ("documents", "indexes", "collections"):
            for _ in names.get(cursor, ()):
                pass
    except PyMongoError:
        pass
    print(bson.encode(sent[-1]).hex())
"#;

/// What a driver adds to a command, or leaves out because it is what happens anyway.
const OF_NO_MATTER: &[(&str, &[Bson])] = &[
    ("lsid", &[]),
    ("$db", &[]),
    ("$readPreference", &[]),
    ("txnNumber", &[]),
    ("authorizedCollections", &[]),
    ("comment", &[Bson::Null]),
    ("multi", &[Bson::Boolean(false)]),
    ("upsert", &[Bson::Boolean(false)]),
    ("new", &[Bson::Boolean(false)]),
    ("ordered", &[Bson::Boolean(true)]),
];

/// A command without what is of no matter, its fields sorted; whole doubles as integers outside of what is stored.
fn plain(command: &Document, depth: usize) -> Document {
    let no_matter = |key: &str, value: &Bson| {
        let row = OF_NO_MATTER.iter().find(|(name, _)| *name == key);
        row.is_some_and(|(_, values)| values.is_empty() || values.contains(value))
    };
    let empty = |key: &str, value: &Bson| {
        matches!(key, "filter" | "query") && depth == 0 && *value == Bson::Document(doc! {})
    };
    let mut fields: Vec<(String, Bson)> = command
        .iter()
        .filter(|(key, value)| !no_matter(key, value) && !empty(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    for (key, value) in &mut fields {
        match value {
            Bson::Array(elements)
                if depth == 0 && matches!(key.as_str(), "updates" | "indexes") =>
            {
                for element in elements {
                    if let Bson::Document(inner) = element {
                        *inner = plain(inner, 1);
                    }
                }
            }
            _ => {}
        }
        if !matches!(key.as_str(), "documents" | "u" | "update") {
            *value = counted(value.clone());
        }
    }
    if depth == 0 {
        // The name of the command stays in front.
        fields[1..].sort_by(|one, other| one.0.cmp(&other.0));
    } else {
        fields.sort_by(|one, other| one.0.cmp(&other.0));
    }
    fields.into_iter().collect()
}

/// A value that only compares or counts: a whole number is one number, whatever its type.
fn counted(value: Bson) -> Bson {
    match value {
        Bson::Int32(number) => Bson::Double(number.into()),
        Bson::Int64(number) => Bson::Double(number as f64),
        Bson::Array(elements) => Bson::Array(elements.into_iter().map(counted).collect()),
        Bson::Document(inner) => {
            Bson::Document(inner.into_iter().map(|(key, inner)| (key, counted(inner))).collect())
        }
        other => other,
    }
}

#[test]
fn pymongo_sends_what_the_shell_sent() {
    let python = translate::language("python").unwrap();
    // A symbol and undefined are written as what replaces them; the driver asks before it creates.
    let told = ["symbol", "undefined"];
    let values = values().into_iter().filter(|(name, _)| !told.contains(name));
    let commands: Vec<(&str, Document)> =
        calls().into_iter().chain(values.map(|(name, value)| (name, insert(value)))).collect();
    let server = Secantus::start(&["--standalone"]);
    let mut typed = String::new();
    for (_, command) in &commands {
        typed.extend(code(command, python).bytes().map(|byte| format!("{byte:02x}")));
        typed.push('\n');
    }
    let folder = tempfile::tempdir().unwrap();
    let (runner, input) = (folder.path().join("runner.py"), folder.path().join("typed"));
    std::fs::write(&runner, RUNNER).unwrap();
    std::fs::write(&input, typed).unwrap();
    let output = Command::new(root().join("target/tools/secantus/bin/python"))
        .arg(&runner)
        .arg(server.address("test"))
        .stdin(Stdio::from(std::fs::File::open(&input).unwrap()))
        .output()
        .unwrap();
    let sent = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(sent.lines().count(), commands.len(), "{complaint}");
    let mut wrong = Vec::new();
    for ((name, command), sent) in commands.iter().zip(sent.lines()) {
        let digits = |at: usize| u8::from_str_radix(&sent[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..sent.len()).step_by(2).map(digits).collect();
        let mut sent = Document::from_reader(&bytes[..]).unwrap();
        if let Ok(documents) = sent.get_array_mut("documents") {
            // pymongo gives a document an `_id` where the shell has done so before.
            for document in documents.iter_mut().filter_map(Bson::as_document_mut) {
                if !command.to_string().contains("\"_id\"") {
                    document.remove("_id");
                }
            }
        }
        let (expected, found) = (plain(command, 0), plain(&sent, 0));
        // A number that is not one equals nothing, itself included.
        if expected.to_string() != found.to_string() {
            wrong.push(format!("{name}:\n{found}\nexpected:\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
