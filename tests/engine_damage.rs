//! A data directory that was spoilt says so, naming the directory, and never opens with less than was stored.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use bson::{Document, doc};
use tally::Error;
use tally::engine::{Engine, Location};

use crate::engine::Database;

/// Names the data directory to a process that fills it and is killed.
const FILLER: &str = "TALLY_TEST_DAMAGE";

fn open(path: &Path) -> Result<Database, Error> {
    Engine::open(&Location::Directory(path.to_owned())).map(|engine| Database { engine })
}

/// Stores documents of `size` bytes in two collections, one with an index.
fn fill(db: &Database, documents: i32, size: usize) {
    let index = doc! { "key": { "tag": 1 }, "name": "tag_1" };
    db.run(doc! { "createIndexes": "a", "indexes": [index] });
    for from in (0..documents).step_by(50) {
        for collection in ["a", "b"] {
            let document =
                |id: i32| doc! { "_id": id, "tag": format!("tag {id}"), "text": text(id, size) };
            db.insert(collection, (from..documents.min(from + 50)).map(document).collect());
        }
    }
}

/// Text that does not compress away.
fn text(id: i32, size: usize) -> String {
    let mut state = u64::from(id.cast_unsigned()) + 1;
    let letter = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + (state >> 33) as u8 % 26)
    };
    (0..size).map(letter).collect()
}

/// All that is stored, by every way to it.
fn contents(db: &Database) -> Result<Vec<Document>, Error> {
    let mut all = Vec::new();
    for collection in ["a", "b"] {
        for filter in [doc! {}, doc! { "tag": { "$gte": "" } }, doc! { "_id": { "$gte": 0 } }] {
            let find = doc! { "find": collection, "filter": filter, "batchSize": 100_000 };
            let found = db.try_run(find)?;
            let batch = found.get_document("cursor").unwrap().get_array("firstBatch").unwrap();
            all.push(doc! { "found": i64::try_from(batch.len()).unwrap() });
        }
        all.push(doc! { "n": db.try_run(doc! { "count": collection })?.get_i32("n").unwrap() });
        let valid = db.try_run(doc! { "validate": collection })?;
        all.push(doc! { "valid": valid.get_bool("valid").unwrap() });
    }
    Ok(all)
}

/// No test of its own: fills a directory until the disk has it, and waits to be killed.
#[test]
fn filler() {
    let Some(directory) = std::env::var_os(FILLER) else { return };
    let size = std::env::var("TALLY_TEST_DAMAGE_SIZE").unwrap().parse().unwrap();
    let db = open(Path::new(&directory)).unwrap();
    fill(&db, 200, size);
    let last = doc! { "insert": "c", "documents": [{}], "writeConcern": { "j": true } };
    db.run(last);
    fs::write(Path::new(&directory).with_extension("filled"), "").unwrap();
    loop {
        std::thread::park();
    }
}

/// A directory whose process was killed, a while after its last write.
fn killed(directory: &Path, size: usize) -> PathBuf {
    let data = directory.join("data");
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["engine_damage::filler", "--exact", "--nocapture", "--test-threads=1"])
        .env(FILLER, &data)
        .env("TALLY_TEST_DAMAGE_SIZE", size.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while !data.with_extension("filled").exists() {
        assert!(begin.elapsed() < Duration::from_secs(60), "it was never filled");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    data
}

/// A directory that was closed.
fn closed(directory: &Path, size: usize) -> PathBuf {
    let data = directory.join("data");
    fill(&open(&data).unwrap(), 200, size);
    data
}

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

/// Copies a directory; journals keep their holes.
fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let status = Command::new("cp").args(["-r", "--sparse=always"]).arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

/// The ways to spoil a file, by name.
///
/// `flips` are the places where a bit is flipped: so many parts of so many from the beginning.
fn spoilt(bytes: &[u8], flips: &[(usize, usize)]) -> Vec<(String, Option<Vec<u8>>)> {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
    let mut ways = vec![
        ("removed".to_owned(), None),
        ("emptied".to_owned(), Some(Vec::new())),
        ("halved".to_owned(), Some(bytes[..end / 2].to_vec())),
        ("zeroed".to_owned(), Some(vec![0; bytes.len()])),
        ("overwritten".to_owned(), Some(text(7, bytes.len()).into_bytes())),
    ];
    let mut second_half = bytes.to_vec();
    second_half[end / 2..].fill(0);
    ways.push(("zeroed from the middle".to_owned(), Some(second_half)));
    for &(part, parts) in flips {
        let mut flipped = bytes.to_vec();
        if let Some(byte) = flipped.get_mut(end * part / parts) {
            *byte ^= 1 << ((part + parts) % 8);
        }
        ways.push((format!("with a bit flipped at {part}/{parts}"), Some(flipped)));
    }
    if flips.len() < MANY.len() {
        ways.retain(|(how, _)| !["emptied", "overwritten"].contains(&how.as_str()));
    }
    ways.retain(|(_, spoilt)| spoilt.as_deref() != Some(bytes));
    ways
}

/// Spoils each file of `data` in each way and looks what becomes of it.
fn try_all(data: &Path, state: &str, flips: &[(usize, usize)]) {
    let work = data.with_extension("spoilt");
    copy(data, &work);
    let expected = contents(&open(&work).unwrap()).unwrap();
    assert_eq!(expected[0], doc! { "found": 200_i64 });
    let mut paths = Vec::new();
    files(data, &mut paths);
    let mut wrong = Vec::new();
    for path in &paths {
        let name = path.strip_prefix(data).unwrap();
        let bytes = fs::read(path).unwrap();
        for (how, spoilt) in spoilt(&bytes, flips) {
            copy(data, &work);
            match spoilt {
                None => fs::remove_file(work.join(name)).unwrap(),
                Some(bytes) => fs::write(work.join(name), bytes).unwrap(),
            }
            let what = format!("{state}, {} {how}", name.display());
            let found = catch_unwind(AssertUnwindSafe(|| contents(&open(&work)?)));
            match found {
                Err(_) => wrong.push(format!("{what}: panics")),
                Ok(Err(Error::Storage(message)))
                    if message.contains(&work.display().to_string()) => {}
                Ok(Err(error)) => wrong.push(format!("{what}: {error}")),
                Ok(Ok(found)) if found != expected => wrong.push(format!("{what}: {found:?}")),
                Ok(Ok(_)) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Places all over a file.
const MANY: &[(usize, usize)] = &[(0, 1), (1, 97), (1, 7), (1, 3), (1, 2), (3, 4), (96, 97)];

#[test]
fn all_in_the_journal_and_closed() {
    let directory = tempfile::tempdir().unwrap();
    try_all(&closed(directory.path(), 100), "in the journal and closed", MANY);
}

#[test]
fn all_in_the_journal_and_killed() {
    let directory = tempfile::tempdir().unwrap();
    try_all(&killed(directory.path(), 100), "in the journal and killed", MANY);
}

#[test]
fn in_tables_and_killed() {
    let directory = tempfile::tempdir().unwrap();
    let data = killed(directory.path(), 25_000);
    let tables = fs::read_dir(data.join("store/keyspaces/1/tables")).unwrap().count();
    assert!(tables > 0, "nothing of it is in tables");
    try_all(&data, "in tables and killed", &[(1, 2)]);
}

/// How many documents a collection holds, and whether something was mended.
fn look(data: &Path) -> Result<(usize, bool), Error> {
    let db = open(data)?;
    Ok((db.find(doc! { "find": "t" }).len(), db.engine.mended().is_some()))
}

#[test]
fn a_write_that_was_cut_short_is_left_out_and_told_and_what_the_disk_had_is_not() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let (journal, mark) = (data.join("store/0.jnl"), data.join("SYNCED"));
    open(&data).unwrap().insert("t", vec![doc! { "_id": 1, "text": text(1, 500) }]);
    let (short, old) = (fs::read(&journal).unwrap(), fs::read(&mark).unwrap());
    open(&data).unwrap().insert("t", vec![doc! { "_id": 2, "text": text(2, 500) }]);
    let (long, new) = (fs::read(&journal).unwrap(), fs::read(&mark).unwrap());
    assert_eq!(look(&data).unwrap(), (2, false));

    // The second write ends anywhere, or a bit of it is wrong, and the disk was never said to have it.
    let middle = short.len() + 300;
    for end in [short.len() + 1, short.len() + 20, middle] {
        fs::write(&journal, &long[..end]).unwrap();
        fs::write(&mark, &old).unwrap();
        assert_eq!(look(&data).unwrap(), (1, true), "cut at {end}");
        assert_eq!(look(&data).unwrap(), (1, false), "once mended, cut at {end}");
    }
    let mut flipped = long.clone();
    flipped[middle] ^= 4;
    fs::write(&journal, &flipped).unwrap();
    fs::write(&mark, &old).unwrap();
    assert_eq!(look(&data).unwrap(), (1, true));

    // The same where the disk had it is damage; nothing is changed, and there is a way on.
    for spoilt in [&long[..short.len()], &long[..long.len() - 1], &flipped, &[][..]] {
        fs::write(&journal, spoilt).unwrap();
        fs::write(&mark, &new).unwrap();
        let Err(Error::Storage(message)) = look(&data) else { panic!("{} bytes", spoilt.len()) };
        let begin =
            format!("the data directory {} is damaged: store/0.jnl is spoilt", data.display());
        assert!(message.starts_with(&begin) && message.contains("remove SYNCED"), "{message}");
        assert_eq!(fs::read(&journal).unwrap(), spoilt);
    }
    fs::write(&journal, &flipped).unwrap();
    fs::remove_file(&mark).unwrap();
    assert_eq!(look(&data).unwrap(), (1, true));
}
