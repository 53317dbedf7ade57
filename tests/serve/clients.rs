//! Clients that nobody here wrote: pymongo, the Node driver, mongosh, the Rust driver, PHP, Java, Clojure.
//!
//! What they are run with is installed by `scripts/check`. Where it could not be, the test says so and passes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use bson::{RawDocumentBuf, doc};
use tally::translate;

use super::server::Serving;
use crate::program::{root, same};

/// Says that a client is not tried, past the test harness, which would keep it to itself.
fn skip(missing: &dyn std::fmt::Display) {
    let line = format!("skipped: {missing} is missing; scripts/check installs it where it may\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// A file under `target/tools`, if it was installed.
pub fn tool(path: &str) -> Option<PathBuf> {
    installed(&root().join("target/tools").join(path))
}

/// A file that a package brings, if it was installed.
fn installed(path: &Path) -> Option<PathBuf> {
    if path.exists() {
        return Some(path.to_owned());
    }
    skip(&path.display());
    None
}

pub fn script(name: &str) -> PathBuf {
    root().join("tests/serve/clients").join(name)
}

/// Runs a client and compares what it prints.
#[track_caller]
pub fn prints(command: &mut Command, expected: &str) {
    let output = command.env("HOME", "/nonexistent").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    same("the client's output", expected, &text(&output.stdout), &text(&output.stderr));
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// What `basics.py` prints.
const BASICS: &str = "\
1 2 1
True
1000 500 1000
499500
[True, False] {'_id': 500, 'even': True}
even_1__id_1 ['_id_', 'even_1__id_1']
10 100
[{'_id': False, 'n': 450}, {'_id': True, 'n': 450}]
11000
59 CommandNotFound
2 [1]
{'_id': 7}
0 True
['basics'] ['counters', 't']
7 {'ok': 1.0}
[]
";

fn pymongo(environment: &str) {
    let Some(python) = tool(environment) else { return };
    let server = Serving::start();
    for compressors in ["none", "zlib"] {
        let mut command = Command::new(&python);
        command.arg(script("basics.py")).args([&server.address(""), compressors]);
        prints(&mut command, BASICS);
    }
}

#[test]
fn pymongo_4_works() {
    pymongo("pymongo/bin/python");
}

#[test]
fn pymongo_3_11_works() {
    pymongo("pymongo3/bin/python");
}

/// What `basics.mjs` prints.
const NODE: &str = "\
1 2 1
true
500 1000
499500 [ true, false ]
even_1 [ '_id_', 'even_1' ]
10
[ { _id: null, n: 1000 } ]
11000
59 CommandNotFound
{ _id: 7 }
[ 'counters', 't' ]
true []
";

#[test]
fn the_node_driver_works() {
    let Some(tools) = tool("node/node_modules/mongodb") else { return };
    let tools = tools.ancestors().nth(2).unwrap();
    let server = Serving::start();
    for compressors in ["none", "zlib"] {
        let mut command = Command::new("node");
        command.arg(script("basics.mjs")).arg(server.address("")).arg(tools).arg(compressors);
        prints(&mut command, NODE);
    }
}

/// Its own prompt is not shown on a pipe with `--eval`; `--file` runs what a user would type.
#[test]
fn mongosh_works() {
    let Some(mongosh) = tool("node/node_modules/.bin/mongosh") else { return };
    let server = Serving::start();
    let folder = tempfile::tempdir().unwrap();
    let code = "
        function counter(name) {
            const ret = db.counters.findAndModify({query: {_id: name}, update: {$inc: {next: 1}}, new: true, upsert: true});
            return ret.next;
        }
        db.users.insertOne({_id: counter('users'), name: 'Sarah C.'});
        db.users.insertOne({_id: counter('users'), name: 'Bob D.'});
        print(db.users.find().toArray().map(user => `${user._id} ${user.name}`).join(', '));
        print(db.version().split('.')[0], db.hello().isWritablePrimary, show_collections());
        function show_collections() { return db.getCollectionNames().sort().join(' ') }
        print(db.users.find().explain().ok, db.users.stats().count, db.serverStatus().ok, db.hostInfo().ok);
        print(db.adminCommand({listDatabases: 1}).databases.map(one => one.name).join(' '));
        print(db.getMongo().getDBNames().join(' '), db.currentOp().inprog.length > 0);
        try { db.users.insertOne({_id: 1}) } catch (error) { print(error.code) }
        for (let n = 0; n < 300; n++) db.t.insertOne({_id: n});
        print(db.t.find().itcount(), db.t.countDocuments({_id: {$lt: 10}}));
        try { rs.status() } catch (error) { print(error.codeName) }
    ";
    let mut command = Command::new(mongosh);
    command.args(["--quiet", "--norc", &server.address("shop"), "--eval", code]);
    let output = command.env("HOME", folder.path()).output().unwrap();
    let expected = "1 Sarah C., 2 Bob D.\n7 true counters users\n1 2 1 1\nshop\nshop true\n11000\n300 10\n\
                    NoReplicationEnabled\n";
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    same("mongosh's output", expected, &text(&output.stdout), &text(&output.stderr));
}

#[test]
fn the_rust_driver_works_with_every_compressor() {
    use futures_util::StreamExt;
    use mongodb::options::{ClientOptions, ReturnDocument};
    let server = Serving::start();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.unwrap().block_on(async {
        for (at, compressor) in ["", "snappy", "zlib", "zstd"].into_iter().enumerate() {
            let mut address = server.address("?");
            if !compressor.is_empty() {
                address.push_str(&format!("compressors={compressor}"));
            }
            let options = ClientOptions::parse(&address).await.unwrap();
            let client = mongodb::Client::with_options(options).unwrap();
            let db = client.database(&format!("basics{at}"));
            let counters = db.collection::<bson::Document>("counters");
            for expected in 1..=3 {
                let update = doc! { "$inc": { "next": 1 } };
                let taken = counters.find_one_and_update(doc! { "_id": "users" }, update);
                let taken = taken.upsert(true).return_document(ReturnDocument::After);
                assert_eq!(taken.await.unwrap().unwrap().get_i32("next").ok(), Some(expected));
            }
            let users = db.collection::<bson::Document>("users");
            let documents = (0..1000).map(|n| doc! { "_id": n, "text": "x".repeat(1000) });
            users.insert_many(documents).await.unwrap();
            let mut found = users.find(doc! {}).batch_size(100).await.unwrap();
            let mut sum = 0;
            while let Some(user) = found.next().await {
                sum += user.unwrap().get_i32("_id").unwrap();
            }
            assert_eq!(sum, 499_500);
            assert_eq!(users.count_documents(doc! { "_id": { "$lt": 10 } }).await.unwrap(), 10);
            let refused = users.insert_one(doc! { "_id": 1 }).await.unwrap_err();
            assert!(refused.to_string().contains("E11000"), "{refused}");
            assert_eq!(db.list_collection_names().await.unwrap().len(), 2);
            db.drop().await.unwrap();
        }
    });
}

/// Debian's php-mongodb.
#[test]
fn php_runs_the_findandmodify_of_the_first_sequence() {
    let modules = Command::new("php").arg("-m").output().map(|output| output.stdout);
    if !modules.is_ok_and(|text| String::from_utf8_lossy(&text).contains("mongodb")) {
        skip(&"php-mongodb");
        return;
    }
    let server = Serving::start();
    let mut command = Command::new("php");
    prints(command.arg(script("findandmodify.php")).arg(server.address("")), "2 3 null\n1\n");
}

/// Where Debian puts the Java driver 3.6.3, and Clojure.
const JARS: &str = "/usr/share/java";

/// Compiles and runs a Java program of one class over the classic driver.
fn java(class: &str, source: &Path, address: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let driver = format!("{JARS}/mongo-java-driver.jar");
    let mut compiler = Command::new("javac");
    compiler.arg("-nowarn").args(["-cp", &driver, "-d"]).arg(folder.path()).arg(source);
    let compiled = compiler.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let path = format!("{driver}:{}", folder.path().display());
    prints(Command::new("java").args(["-cp", &path, class, address]), expected);
}

/// Whether there is a Java compiler and the driver.
fn has_java() -> bool {
    let compiler = Command::new("javac").arg("-version").output().is_ok();
    if !compiler {
        skip(&"javac");
    }
    compiler && installed(Path::new(JARS).join("mongo-java-driver.jar").as_path()).is_some()
}

#[test]
fn java_gets_the_next_id() {
    if has_java() {
        let server = Serving::start();
        java("NextId", &script("NextId.java"), &server.address(""), "1 2 1\n500 124750\n11000\n");
    }
}

#[test]
fn clojure_inserts_with_ids_of_a_sequence() {
    let jars = ["mongo-java-driver", "clojure", "spec.alpha", "core.specs.alpha"];
    let jars = jars.map(|name| Path::new(JARS).join(format!("{name}.jar")));
    if !has_java() || jars.iter().any(|jar| installed(jar).is_none()) {
        return;
    }
    let server = Serving::start();
    let path = jars.map(|jar| jar.display().to_string()).join(":");
    let mut command = Command::new("java");
    command.args(["-cp", &path, "clojure.main"]).arg(script("sequence.clj"));
    prints(command.arg(server.address("")), "1 Sarah C.\n2 Bob D.\n");
}

/// What `translate` writes is run, and gives the document that the shell gives.
#[test]
fn translated_calls_run() {
    let command = doc! {
        "findAndModify": "counters", "query": { "_id": "users" },
        "update": { "$inc": { "next": 1 } }, "new": true, "upsert": true,
    };
    let command = RawDocumentBuf::try_from(&command).unwrap();
    let code = |language: &str, part: &str| {
        let code = translate::code("test", &command, [translate::language(language).unwrap()]);
        let code = code.unwrap().join("\n");
        let found =
            code.split("\n\n").find(|text| text.lines().next().unwrap_or_default().contains(part));
        found.unwrap_or_else(|| panic!("no {part}:\n{code}")).to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let server = Serving::start();
    let address = server.address("");
    let expected = |next: i32| format!("users {next}\n");
    let mut next = 1;
    if let Some(python) = tool("pymongo/bin/python") {
        let text = format!(
            "import sys\nfrom pymongo import MongoClient, ReturnDocument\n\
             db = MongoClient(sys.argv[1])['test']\n{}\nprint(document['_id'], document['next'])\n",
            code("python", "pymongo")
        );
        prints(Command::new(python).arg(write("call.py", text)).arg(&address), &expected(next));
        next += 1;
    }
    if let Some(tools) = tool("node/node_modules/mongodb") {
        let tools = tools.ancestors().nth(2).unwrap().display().to_string();
        let text = format!(
            "import {{ createRequire }} from 'node:module';\n\
             const {{ MongoClient, Int32, Double, Long }} = createRequire({tools:?} + '/')('mongodb');\n\
             const client = new MongoClient(process.argv[2]);\nconst db = client.db('test');\n{}\n\
             console.log(document._id, document.next);\nawait client.close();\n",
            code("node", "Node")
        );
        prints(Command::new("node").arg(write("call.mjs", text)).arg(&address), &expected(next));
        next += 1;
    }
    if Command::new("php")
        .arg("-m")
        .output()
        .is_ok_and(|modules| String::from_utf8_lossy(&modules.stdout).contains("mongodb"))
    {
        let text = format!(
            "<?php\nuse MongoDB\\Driver\\Command;\n$manager = new MongoDB\\Driver\\Manager($argv[1]);\n{}\n\
             echo $reply->value->_id, ' ', $reply->value->next, \"\\n\";\n",
            code("php", "extension")
        );
        prints(Command::new("php").arg(write("call.php", text)).arg(&address), &expected(next));
        next += 1;
    }
    if has_java() {
        let text = format!(
            "import com.mongodb.*;\npublic class Call {{\n  public static void main(String[] arguments) {{\n    \
             MongoClient client = new MongoClient(new MongoClientURI(arguments[0]));\n    \
             DB db = client.getDB(\"test\");\n{}\n    \
             System.out.println(document.get(\"_id\") + \" \" + document.get(\"next\"));\n    client.close();\n  }}\n}}\n",
            code("java", "classic")
        );
        java("Call", &write("Call.java", text), &address, &expected(next));
    }
}
