//! Many documents: written by the thousand, read one by one in JavaScript, found by an index.

use std::path::Path;

use crate::Figure;
use crate::bare::Storage;
use crate::session::{Session, tally};
use crate::start::shortest;

/// Documents of a large collection, and of a small one that it is compared with.
const LARGE: u32 = 1_000_000;
const SMALL: u32 = 100_000;

/// Documents of one call.
const MANY: u32 = 1000;

/// How often each is measured.
const TURNS: u32 = 2;

/// A function that writes the documents from one number to another, and answers with the latter.
const FILL: &str = "function fill(from, to) { for (var i = from; i < to; i += 1000) { var many = []; \
                    for (var j = i; j < i + 1000; j++) many.push({name: 'user ' + j, n: j, at: new Date(j)}); \
                    db.b.insertMany(many) } return i } 0";

/// Writing a million documents, made in JavaScript, beside the bare storage crate writing the same keys and bytes.
pub(crate) fn insert() -> Vec<Figure> {
    let (mut own, mut bare) = (0_f64, 0_f64);
    let mut growth = None;
    for _ in 0..TURNS {
        let folder = tempfile::tempdir().unwrap();
        let mut session = Session::over(&folder.path().join("data"));
        session.ask(FILL);
        session.number(&format!("fill(0, {SMALL})"));
        let small = session.kept();
        let seconds = session.seconds(&format!("fill({SMALL}, {LARGE})"), &LARGE.to_string());
        own = own.max(f64::from(LARGE - SMALL) / seconds);
        growth = session.kept().zip(small).map(|(large, small)| large / small);
        drop(session);
        bare = bare.max(Storage::new().insert(LARGE, MANY));
    }
    let mut figures = vec![
        Figure::at_least("insertMany by the thousand, documents a second", 200_000.0, own, ""),
        Figure::at_least("  against the bare storage crate", 0.4, own / bare, ""),
    ];
    if let Some(growth) = growth {
        figures.push(Figure::at_most(
            "  memory kept after 1,000,000 against 100,000",
            1.2,
            growth,
            "",
        ));
    }
    figures
}

/// A collection of that many documents in a directory.
fn filled(data: &Path, documents: u32) -> Session {
    let mut session = Session::over(data);
    session.ask(FILL);
    session.number(&format!("fill(0, {documents})"));
    session
}

/// Reading a million documents - ObjectId, string, number, date - one by one in JavaScript.
pub(crate) fn read() -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    drop(filled(&data, LARGE));
    let directory = data.to_str().unwrap();
    let first = shortest(|| {
        let output = tally(&["--data", directory, "--eval", "db.b.findOne().n"]).output().unwrap();
        assert_eq!(output.stdout, b"0\n");
    });
    let mut session = Session::over(&data);
    session.ask(
        "function read(limit) { var n = 0; db.b.find().limit(limit).forEach(function (d) { n += 1 }); return n } 0",
    );
    session.number(&format!("read({SMALL})"));
    let small = session.peak();
    let (input, answer) = (format!("read({LARGE})"), LARGE.to_string());
    let seconds = (0..TURNS).map(|_| session.seconds(&input, &answer)).fold(f64::MAX, f64::min);
    let own = f64::from(LARGE) / seconds;
    let large = session.peak();
    let what = "find().forEach over 1,000,000, documents a second";
    let mut figures = vec![
        Figure::at_most("start to first document among 1,000,000", 20.0, first, " ms"),
        Figure::at_least(what, 500_000.0, own, ""),
    ];
    if let (Some(small), Some(large)) = (small, large) {
        let what = "  memory after 1,000,000 against 100,000";
        figures.push(Figure::at_most(what, 1.2, large / small, ""));
    }
    figures
}

/// Finding one document by an indexed field, among a thousand and among a million.
pub(crate) fn lookup() -> Vec<Figure> {
    let folder = tempfile::tempdir().unwrap();
    let mut session = filled(&folder.path().join("data"), MANY);
    session.ask("db.b.createIndex({n: 1}).ok");
    let mut examined = 0_f64;
    let mut measure = |session: &mut Session, documents: u32| {
        let found = session.number(&format!("db.b.findOne({{n: {}}}).n", documents - 1));
        assert_eq!(found, f64::from(documents - 1));
        for count in ["totalKeysExamined", "totalDocsExamined"] {
            let explain = "db.b.find({n: 700}).explain('executionStats').executionStats";
            examined = examined.max(session.number(&format!("{explain}.{count}")));
        }
        let body = format!("db.b.findOne({{n: i * 7919 % {documents}}})");
        (0..3).map(|_| session.rate(&body, SMALL)).fold(0.0, f64::max)
    };
    let small = measure(&mut session, MANY);
    session.number(&format!("fill({MANY}, {LARGE})"));
    let large = measure(&mut session, LARGE);
    vec![
        Figure::at_most("indexed equality, keys and documents examined", 1.0, examined, ""),
        Figure::at_least("indexed equality among 1,000,000, a second", 40_000.0, large, ""),
        Figure::at_least("  against the same among 1,000", 0.5, large / small, ""),
    ]
}
