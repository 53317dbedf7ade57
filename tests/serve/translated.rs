//! What `translate` writes, run by the drivers themselves: each language does the same calls, prints what they give, and
//! leaves the same documents behind as the commands that the shell sent.

mod rust;

use std::path::Path;
use std::process::Command;

use bson::{Document, RawDocumentBuf, doc};
use tally::translate;

use super::clients::{has_java, has_php, java, prints, skip, tool};
use super::server::{Serving, Wire};

/// What a call gives, and so what is printed of it.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    /// Nothing that matters.
    Nothing,
    /// One document: its `_id` and `next`.
    Document,
    /// Documents: `_id` and `n` of each.
    Documents,
    /// Values.
    Values,
}

/// The calls, as the shell sends them, in the order in which they are done.
fn calls() -> Vec<(Gives, Document)> {
    let take = doc! {
        "findAndModify": "counters", "query": { "_id": "users" }, "update": { "$inc": { "next": 1 } },
        "new": true, "upsert": true,
    };
    let update =
        |change: Document| doc! { "update": "users", "updates": [change], "ordered": true };
    vec![
        (Gives::Document, take.clone()),
        (Gives::Document, take),
        (
            Gives::Nothing,
            doc! { "insert": "users", "documents": [{ "_id": 1, "n": 30, "city": "Quito" }], "ordered": true },
        ),
        (
            Gives::Nothing,
            doc! {
                "insert": "users", "ordered": true, "documents": [
                    { "_id": 2, "n": 40, "city": "Lima" }, { "_id": 3, "n": 50, "city": "Quito" },
                    { "_id": 4, "n": 60, "city": "Lima" },
                ],
            },
        ),
        (
            Gives::Nothing,
            update(
                doc! { "q": { "_id": 1 }, "u": { "$set": { "name": "Ann" } }, "multi": false, "upsert": false },
            ),
        ),
        (
            Gives::Nothing,
            update(doc! { "q": {}, "u": { "$inc": { "n": 1 } }, "multi": true, "upsert": false }),
        ),
        (
            Gives::Nothing,
            update(
                doc! { "q": { "_id": 4 }, "u": { "n": 7, "city": "Cuzco" }, "multi": false, "upsert": false },
            ),
        ),
        (
            Gives::Nothing,
            doc! { "delete": "users", "deletes": [{ "q": { "_id": 2 }, "limit": 1 }], "ordered": true },
        ),
        (
            Gives::Documents,
            doc! {
                "find": "users", "filter": { "n": { "$gte": 7 } }, "projection": { "n": 1 }, "sort": { "_id": -1 },
                "limit": 2,
            },
        ),
        (
            Gives::Documents,
            doc! {
                "aggregate": "users", "cursor": {}, "pipeline": [
                    { "$group": { "_id": "$city", "n": { "$sum": "$n" } } }, { "$sort": { "_id": 1 } },
                ],
            },
        ),
        (Gives::Values, doc! { "distinct": "users", "key": "city", "query": {} }),
        (
            Gives::Document,
            doc! { "findAndModify": "counters", "query": { "_id": "users" }, "remove": true },
        ),
    ]
}

/// What all of them print: 1 and 2 from the sequence; after the changes 3 has 51 and 4 has 7, Quito 31 + 51.
const PRINTED: &str = "\
users 1
users 2
4 7
3 51
Cuzco 7
Quito 82
Quito
Cuzco
users 2
";

/// The documents that are left.
fn left(client: &mut Wire) -> (Vec<Document>, i32) {
    let found = client.run("test", doc! { "find": "users", "sort": { "_id": 1 } });
    let users = found.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
    let users = users.iter().map(|user| user.as_document().unwrap().clone()).collect();
    (users, client.run("test", doc! { "count": "counters" }).get_i32("n").unwrap())
}

/// The code of the calls: the piece whose heading has `part`, between what `around` puts before and after it.
fn code(language: &str, part: &str, mut around: impl FnMut(Gives, &str) -> String) -> String {
    let language = translate::language(language).unwrap();
    let pieces = calls().into_iter().map(|(gives, command)| {
        let command = RawDocumentBuf::try_from(&command).unwrap();
        let code = translate::code("test", &command, [language]).unwrap().join("\n");
        let found = code.split("\n\n").find(|text| text.lines().next().unwrap().contains(part));
        around(gives, found.unwrap_or_else(|| panic!("no {part}:\n{code}")))
    });
    pieces.collect::<Vec<_>>().join("\n")
}

/// Runs a program over a server of its own, and compares what it prints and leaves with what the commands do.
#[track_caller]
fn runs(name: &str, text: &str, command: impl FnOnce(&Path, &Path) -> Command) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let server = Serving::start();
    prints(command(&path, folder.path()).arg(server.address("")), PRINTED);
    let plain = Serving::start();
    let mut shell = plain.connect();
    for (_, command) in calls() {
        assert_eq!(shell.run("test", command).get_f64("ok").ok(), Some(1.0));
    }
    assert_eq!(left(&mut server.connect()), left(&mut shell));
    assert_eq!(left(&mut shell).0.len(), 3);
}

#[test]
fn python_does_what_was_translated() {
    let Some(python) = tool("pymongo/bin/python") else { return };
    let calls = code("python", "pymongo", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => "print(document['_id'], document['next'])",
            Gives::Documents => "for one in documents: print(one['_id'], one['n'])",
            Gives::Values => "for one in values: print(one)",
        };
        format!("{code}\n{after}\n")
    });
    let text = format!(
        "import sys\nfrom pymongo import MongoClient, ReturnDocument\nclient = MongoClient(sys.argv[1])\n\
         db = client['test']\n{calls}"
    );
    runs("calls.py", &text, |path, _| {
        let mut command = Command::new(python);
        command.arg(path);
        command
    });
}

#[test]
fn node_does_what_was_translated() {
    let Some(tools) = tool("node/node_modules/mongodb") else { return };
    let tools = tools.ancestors().nth(2).unwrap().display().to_string();
    let calls = code("node", "Node", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => "console.log(document._id, document.next)",
            Gives::Documents => "for (const one of documents) console.log(one._id, one.n)",
            Gives::Values => "for (const one of values) console.log(one)",
        };
        format!("{{\n{code}\n{after}\n}}")
    });
    let text = format!(
        "import {{ createRequire }} from 'node:module';\n\
         const {{ MongoClient, Int32, Double, Long }} = createRequire({tools:?} + '/')('mongodb');\n\
         const client = new MongoClient(process.argv[2]);\nconst db = client.db('test');\n{calls}\nawait client.close();\n"
    );
    runs("calls.mjs", &text, |path, _| {
        let mut command = Command::new("node");
        command.arg(path);
        command
    });
}

/// Debian's php-mongodb, to which commands are given as they are.
#[test]
fn php_does_what_was_translated() {
    if !has_php() {
        return;
    }
    let calls = code("php", "extension", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => r#"echo $reply->value->_id, ' ', $reply->value->next, "\n";"#,
            Gives::Documents => r#"foreach ($cursor as $one) echo $one->_id, ' ', $one->n, "\n";"#,
            Gives::Values => r#"foreach ($reply->values as $one) echo $one, "\n";"#,
        };
        format!("{code}\n{after}\n")
    });
    let text = format!(
        "<?php\nuse MongoDB\\Driver\\Command;\n$manager = new MongoDB\\Driver\\Manager($argv[1]);\n{calls}"
    );
    runs("calls.php", &text, |path, _| {
        let mut command = Command::new("php");
        command.arg(path);
        command
    });
}

/// Debian's ruby-mongo.
#[test]
fn ruby_does_what_was_translated() {
    let found = Command::new("ruby").args(["-e", "require 'mongo'"]).output();
    if !found.is_ok_and(|output| output.status.success()) {
        skip(&"ruby-mongo");
        return;
    }
    let calls = code("ruby", "gem", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => "puts \"#{document['_id']} #{document['next']}\"",
            Gives::Documents => "documents.each { |one| puts \"#{one['_id']} #{one['n']}\" }",
            Gives::Values => "values.each { |one| puts one }",
        };
        format!("{code}\n{after}\n")
    });
    let text = format!(
        "require 'mongo'\nMongo::Logger.logger.level = Logger::FATAL\n\
         client = Mongo::Client.new(ARGV[0], database: 'test')\n{calls}client.close\n"
    );
    runs("calls.rb", &text, |path, _| {
        let mut command = Command::new("ruby");
        command.args(["-W0"]).arg(path);
        command
    });
}

/// A class that does the calls.
fn class(imports: &str, db: &str, calls: &str) -> String {
    format!(
        "import com.mongodb.*;\nimport java.util.*;\nimport org.bson.*;\n{imports}\npublic class Calls {{\n\
         public static void main(String[] arguments) {{\n\
         com.mongodb.MongoClient client = new com.mongodb.MongoClient(new MongoClientURI(arguments[0]));\n\
         {db}\n{calls}\nclient.close();\n}}\n}}\n"
    )
}

/// The driver 3.6 of Debian has the collections of today and the classic ones.
#[test]
fn java_does_what_was_translated() {
    if !has_java() {
        return;
    }
    let calls = code("java", "mongodb-driver-sync", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => {
                r#"System.out.println(document.get("_id") + " " + document.get("next"));"#
            }
            Gives::Documents => {
                r#"for (Document one : documents) System.out.println(one.get("_id") + " " + one.get("n"));"#
            }
            Gives::Values => {
                r#"for (BsonValue one : values) System.out.println(one.asString().getValue());"#
            }
        };
        format!("{{\n{code}\n{after}\n}}")
    });
    let imports = "import com.mongodb.client.*;\nimport com.mongodb.client.model.*;\n\
                   import static com.mongodb.client.model.Filters.*;\n\
                   import static com.mongodb.client.model.Updates.*;";
    let db = "MongoDatabase db = client.getDatabase(\"test\");";
    runs("Calls.java", &class(imports, db, &calls), |path, folder| java("Calls", path, folder));
}

#[test]
fn classic_java_does_what_was_translated() {
    if !has_java() {
        return;
    }
    let calls = code("java", "classic", |gives, code| {
        let after = match gives {
            Gives::Nothing => "",
            Gives::Document => {
                r#"System.out.println(document.get("_id") + " " + document.get("next"));"#
            }
            Gives::Documents => {
                r#"while (documents.hasNext()) { DBObject one = documents.next();
                System.out.println(one.get("_id") + " " + one.get("n")); }"#
            }
            Gives::Values => "for (Object one : values) System.out.println(one);",
        };
        format!("{{\n{code}\n{after}\n}}")
    });
    let db = "DB db = client.getDB(\"test\");";
    runs("Calls.java", &class("", db, &calls), |path, folder| java("Calls", path, folder));
}

/// The code of the calls in Rust is compiled into this program.
#[test]
fn rust_does_what_was_translated() {
    let written = include_str!("translated/rust.rs");
    let bare = |text: &str| -> String {
        let kept = text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        kept.replace(",)", ")").replace(",]", "]")
    };
    let all = bare(written);
    let mut from = 0;
    code("rust", "Rust", |_, code| {
        let code = bare(code.split_once('\n').unwrap().1);
        let at = all[from..].find(&code);
        from += at.unwrap_or_else(|| panic!("it is not in translated/rust.rs: {code}"));
        String::new()
    });
    let server = Serving::start();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let printed = runtime.block_on(rust::calls(&server.address(""))).unwrap();
    assert_eq!(printed, PRINTED);
    assert_eq!(left(&mut server.connect()).0.len(), 3);
}
