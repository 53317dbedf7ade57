//! The program itself: its size, and how soon it answers.

use std::fs;
use std::time::{Duration, Instant};

use crate::Figure;
use crate::session::{Session, tally};

/// The size of the program.
pub(crate) fn binary() -> Vec<Figure> {
    let bytes = fs::metadata(env!("CARGO_BIN_EXE_tally")).unwrap().len();
    vec![Figure::at_most("size of the program", 20.0, bytes as f64 / 1e6, " MB")]
}

/// From the start of the process to the first result, and to the first document of existing data.
pub(crate) fn start() -> Vec<Figure> {
    let eval = |arguments: &[&str]| {
        let output = tally(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let data = path.to_str().unwrap();
    let sum = shortest(|| assert_eq!(eval(&["--data", data, "--eval", "1+1"]), b"2\n"));
    let fill = "for (var i = 0; i < 1000; i++) db.t.insert({_id: i, name: 'name ' + i}); print(db.t.count())";
    eval(&["--data", data, "--eval", fill]);
    let document =
        shortest(|| assert_eq!(eval(&["--data", data, "--eval", "db.t.findOne()._id"]), b"0\n"));
    let mut figures = vec![
        Figure::at_most("start to first result, --eval '1+1'", 10.0, sum, " ms"),
        Figure::at_most("start to first document of an existing directory", 20.0, document, " ms"),
    ];
    let mut session = Session::over(&path);
    assert_eq!(session.ask("1+1"), "2");
    if let Some(peak) = session.peak() {
        figures.push(Figure::at_most("memory of a first result", 20.0, peak, " MB"));
    }
    figures
}

/// The shortest of some runs, in milliseconds.
pub(crate) fn shortest(mut run: impl FnMut()) -> f64 {
    let one = |_| {
        let started = Instant::now();
        run();
        started.elapsed()
    };
    (0..40).map(one).min().unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0
}
