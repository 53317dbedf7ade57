//! The data directory: formats, damage, a disk that is full.

use std::fs;
use std::path::Path;

use bson::doc;
use tally::Error;
use tally::engine::{Engine, Location};

use crate::engine::Database;

fn open(path: &Path) -> Result<Database, String> {
    match Engine::open(&Location::Directory(path.to_owned())) {
        Ok(engine) => Ok(Database { engine }),
        Err(Error::Storage(message)) => Err(message),
        Err(other) => panic!("{other:?}"),
    }
}

/// A directory with one document, closed.
fn filled() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).unwrap().insert("t", vec![doc! { "_id": 1 }]);
    directory
}

#[test]
fn another_format_is_told_from_this_one() {
    let directory = filled();
    fs::write(directory.path().join("FORMAT"), "tally data format 99\n").unwrap();
    let message = open(directory.path()).err().unwrap();
    let name = directory.path().display();
    assert_eq!(
        message,
        format!("the data directory {name} has format 99; this version of tally reads format 1")
    );
}

#[test]
fn a_directory_that_lost_a_part_is_never_taken_for_an_empty_one() {
    for lost in [
        "FORMAT",
        "store",
        "store/keyspaces",
        "store/version",
        "store/keyspaces/1",
        "store/keyspaces/1/current",
        "store/keyspaces/2/current",
        "store/0.jnl",
    ] {
        let directory = filled();
        let path = directory.path().join(lost);
        if path.is_dir() {
            fs::remove_dir_all(&path).unwrap()
        } else {
            fs::remove_file(&path).unwrap()
        }
        let message =
            open(directory.path()).err().unwrap_or_else(|| panic!("opened without {lost}"));
        assert!(message.contains(&directory.path().display().to_string()), "{lost}: {message}");
    }
    let directory = filled();
    fs::write(directory.path().join("FORMAT"), "something else").unwrap();
    assert!(
        open(directory.path())
            .err()
            .unwrap()
            .contains("is damaged: its FORMAT file is no format number")
    );
    let directory = filled();
    fs::create_dir(directory.path().join("store/keyspaces/strange")).unwrap();
    assert!(open(directory.path()).err().unwrap().contains("holds an unknown strange"));
}

#[test]
fn a_directory_of_something_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("thesis.txt"), "precious").unwrap();
    let message = open(directory.path()).err().unwrap();
    assert!(message.contains("holds thesis.txt and no data of tally"), "{message}");
    let file = directory.path().join("thesis.txt");
    assert!(open(&file).err().unwrap().contains("it is a file"));
}

#[test]
fn a_creation_that_was_cut_short_is_begun_again() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir_all(directory.path().join("store.new/keyspaces")).unwrap();
    open(directory.path()).unwrap().insert("t", vec![doc! { "_id": 1 }]);
    // Complete but for its name.
    fs::rename(directory.path().join("store"), directory.path().join("store.new")).unwrap();
    assert_eq!(open(directory.path()).unwrap().find(doc! { "find": "t" }), [doc! { "_id": 1 }]);
}

/// Names the data directory to the child whose files may not grow.
const FULL: &str = "TALLY_TEST_FULL_DISK";

/// What happens when files cannot grow: no test of its own, see below.
#[test]
fn child_on_a_full_disk() {
    let Some(directory) = std::env::var_os(FULL) else { return };
    let db = open(Path::new(&directory)).unwrap();
    let mut stored = 0;
    let refused = loop {
        let document = doc! { "_id": i32::try_from(stored).unwrap(), "text": "x".repeat(10_000) };
        match db.try_run(doc! { "insert": "t", "documents": [document] }) {
            Ok(_) => stored += 1,
            Err(error) => break error,
        }
        assert!(stored < 10_000, "the disk never filled");
    };
    let Error::Storage(message) = refused else { panic!("{refused:?}") };
    assert!(message.contains("cannot be written"), "{message}");
    assert_eq!(db.find(doc! { "find": "t" }).len(), stored);
    // The next write opens the storage anew; there is still no room.
    let again = db
        .try_run(doc! { "insert": "t", "documents": [{ "_id": -1, "text": "x".repeat(10_000) }] });
    assert!(
        matches!(&again, Err(Error::Storage(message)) if message.contains("cannot be written")),
        "{again:?}"
    );
    assert_eq!(db.find(doc! { "find": "t" }).len(), stored);
    assert_eq!(
        usize::try_from(db.run(doc! { "count": "t" }).get_i32("n").unwrap()).unwrap(),
        stored
    );
    // What is small enough for the rest may go through; everything before stays.
    let _ = db.try_run(doc! { "insert": "t", "documents": [{ "_id": -2 }] });
    assert!(db.find(doc! { "find": "t", "filter": { "_id": { "$gte": 0 } } }).len() == stored);
    fs::write(Path::new(&directory).with_extension("stored"), "").ok();
    let mut out = std::io::stderr();
    std::io::Write::write_all(&mut out, format!("stored {stored}\n").as_bytes()).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_reads_go_on_and_nothing_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    drop(open(&data).unwrap());
    // A limit on the size of files is the full disk that everybody can have.
    let output = std::process::Command::new("sh")
        .arg("-c")
        .arg("trap '' XFSZ; ulimit -f 2000; exec \"$0\" engine_storage::child_on_a_full_disk --exact --nocapture")
        .arg(std::env::current_exe().unwrap())
        .env(FULL, &data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stdout));
    let stored: usize =
        said.lines().find_map(|line| line.strip_prefix("stored ")?.parse().ok()).unwrap();
    assert!(stored > 20, "{said}");
    let db = open(&data).unwrap();
    let found = db.find(doc! { "find": "t", "filter": { "_id": { "$gte": 0 } } });
    assert!(found.len() == stored, "{} of {stored}", found.len());
    db.insert("t", vec![doc! { "_id": 100_000 }]);
    assert!(db.run(doc! { "validate": "t" }).get_bool("valid").unwrap());
}
