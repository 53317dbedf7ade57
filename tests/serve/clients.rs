//! Clients that nobody here wrote: pymongo, the Node driver, mongosh, the Rust driver, PHP, Java, Clojure.
//!
//! What they are run with is installed by `scripts/check`. Where it could not be, the test says so and passes.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use bson::doc;

use super::server::Serving;
use crate::program::{root, same};

/// Says that a client is not tried, past the test harness, which would keep it to itself.
pub fn skip(missing: &dyn std::fmt::Display) {
    let line = format!("skipped: {missing} is missing; scripts/check installs it where it may\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

/// A file under `target/tools`, if it was installed.
pub fn tool(path: &str) -> Option<PathBuf> {
    installed(&root().join("target/tools").join(path))
}

/// A file that a package brings, if it was installed.
pub fn installed(path: &Path) -> Option<PathBuf> {
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

/// Whether there is Debian's php-mongodb.
pub fn has_php() -> bool {
    let modules = Command::new("php").arg("-m").output().map(|output| output.stdout);
    let found = modules.is_ok_and(|text| String::from_utf8_lossy(&text).contains("mongodb"));
    if !found {
        skip(&"php-mongodb");
    }
    found
}

#[test]
fn php_runs_the_findandmodify_of_the_first_sequence() {
    if !has_php() {
        return;
    }
    let server = Serving::start();
    let mut command = Command::new("php");
    prints(command.arg(script("findandmodify.php")).arg(server.address("")), "2 3 null\n1\n");
}

/// Where Debian puts the Java driver 3.6.3, and Clojure.
const JARS: &str = "/usr/share/java";

/// Compiles a Java program of one class over the driver, and gives the command that runs it.
pub fn java(class: &str, source: &Path, folder: &Path) -> Command {
    let driver = format!("{JARS}/mongo-java-driver.jar");
    let mut compiler = Command::new("javac");
    compiler.arg("-nowarn").args(["-cp", &driver, "-d"]).arg(folder).arg(source);
    let compiled = compiler.output().unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let mut command = Command::new("java");
    command.args(["-cp", &format!("{driver}:{}", folder.display()), class]);
    command
}

/// Whether there is a Java compiler and the driver.
pub fn has_java() -> bool {
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
        let folder = tempfile::tempdir().unwrap();
        let mut command = java("NextId", &script("NextId.java"), folder.path());
        prints(command.arg(server.address("")), "1 2 1\n500 124750\n11000\n");
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
