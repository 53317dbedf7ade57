//! What was typed, for the next time: where it is kept, and what is kept.

use std::fs;
use std::path::{Path, PathBuf};

use rustyline::Config;
use rustyline::history::{FileHistory, History as _};

use super::secret;

/// How many inputs are remembered.
pub(super) const LENGTH: usize = 1000;

/// The file of this user, or `None` where there is no home.
///
/// State, not data, by the XDG rules; a platform without a folder for state has it beside the data.
pub(super) fn place() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().ok()?;
    let folder = strategy.state_dir().unwrap_or_else(|| strategy.data_dir());
    Some(folder.join("tally").join("history"))
}

/// An empty history of the right length that forgets an input typed twice in a row.
pub(super) fn empty(config: &Config) -> FileHistory {
    FileHistory::with_config(config)
}

/// Reads what is in the file. One that is missing or unreadable is no history, and no error.
pub(super) fn load(history: &mut FileHistory, file: &Path) {
    let _ = history.load(file);
}

/// Remembers an input, unless there is a password in it, and appends it to the file at once so that nothing is lost when
/// the process is killed. A file that cannot be written is no error: a read-only home is a home.
pub(super) fn remember(history: &mut FileHistory, text: &str, file: Option<&Path>) {
    let text = text.trim_end_matches(['\n', '\r']);
    if text.trim().is_empty() || secret::is_secret(text) || !matches!(history.add(text), Ok(true)) {
        return;
    }
    let Some(file) = file else { return };
    if let Some(folder) = file.parent() {
        let _ = fs::create_dir_all(folder);
    }
    let _ = history.append(file);
}

#[cfg(test)]
mod tests {
    use rustyline::history::SearchDirection;

    use super::*;

    fn all(history: &FileHistory) -> Vec<String> {
        (0..history.len())
            .map(|index| {
                let found = history.get(index, SearchDirection::Forward).expect("no error");
                found.expect("within its length").entry.into_owned()
            })
            .collect()
    }

    fn config() -> Config {
        Config::builder().max_history_size(LENGTH).expect("a length").build()
    }

    #[test]
    fn inputs_come_back_byte_for_byte() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("deep").join("history");
        let inputs = [
            "var s = `a\n  b`; // keep me\nprint(s.length)",
            "x = '\\n\\\\n \\t \\\\'",
            "  leading blanks and trailing  ",
            "\ttab",
            "#V2",
            "a\r\nb",
            "“curly” 日本 😀\u{2028}",
            "\\",
            "line\n\n\nafter empty lines",
        ];
        let mut history = empty(&config());
        for input in inputs {
            remember(&mut history, input, Some(&file));
        }
        let mut other = empty(&config());
        load(&mut other, &file);
        assert_eq!(all(&other), inputs);
    }

    #[test]
    fn two_sessions_share_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        let (mut one, mut two) = (empty(&config()), empty(&config()));
        load(&mut one, &file);
        load(&mut two, &file);
        remember(&mut one, "1", Some(&file));
        remember(&mut two, "2\n2", Some(&file));
        remember(&mut one, "3", Some(&file));
        let mut later = empty(&config());
        load(&mut later, &file);
        let mut found = all(&later);
        found.sort();
        assert_eq!(found, ["1", "2\n2", "3"]);
    }

    #[test]
    fn passwords_and_repetitions_are_not_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        let mut history = empty(&config());
        for input in ["1", "1", "db.auth('ann', 's3cret')", "", " \n", "2\n"] {
            remember(&mut history, input, Some(&file));
        }
        assert_eq!(all(&history), ["1", "2"]);
        assert!(!fs::read_to_string(&file).expect("a file").contains("s3cret"));
    }

    #[cfg(unix)]
    #[test]
    fn the_file_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("history");
        remember(&mut empty(&config()), "1", Some(&file));
        let mode = fs::metadata(&file).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_no_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let blocked = folder.path().join("file");
        fs::write(&blocked, "no folder").expect("a file");
        let mut history = empty(&config());
        load(&mut history, &blocked.join("history"));
        remember(&mut history, "1", Some(&blocked.join("history")));
        assert_eq!(all(&history), ["1"]);
    }
}
