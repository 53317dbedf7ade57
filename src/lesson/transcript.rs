//! A learner's transcript for whoever teaches: what was typed at each step, what was said to it, and how long it took.
//!
//! It is Markdown, and grows at the end of its file as the lesson goes on, so that a lesson that breaks off is there up to
//! that point. What is typed while playing, or after a step is done, is no answer and is left out.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The transcript of one learner.
pub(super) struct Transcript {
    file: PathBuf,
    now: fn() -> SystemTime,
    begun: SystemTime,
    answers: usize,
    hints: usize,
}

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Effort {
    /// How long it took.
    pub(super) time: Duration,
    /// How many inputs were typed.
    pub(super) answers: usize,
    /// How many hints were asked for.
    pub(super) hints: usize,
}

impl Transcript {
    /// A transcript in that file, behind what is there already.
    pub(super) fn new(file: &Path, now: fn() -> SystemTime) -> Self {
        Self { file: file.to_owned(), now, begun: now(), answers: 0, hints: 0 }
    }

    /// A step begins. Answers with the moment: `2026-12-01T09:30:00Z`.
    pub(super) fn begin(&mut self) -> String {
        (self.begun, self.answers, self.hints) = ((self.now)(), 0, 0);
        let whole = self.begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        let moment = SystemTime::UNIX_EPOCH + Duration::from_secs(whole);
        bson::DateTime::from_system_time(moment).try_to_rfc3339_string().unwrap_or_default()
    }

    /// How the step that was begun last has gone so far.
    pub(super) fn effort(&self) -> Effort {
        let time = (self.now)().duration_since(self.begun).unwrap_or_default();
        Effort { time, answers: self.answers, hints: self.hints }
    }

    /// A hint was asked for.
    pub(super) fn hinted(&mut self) {
        self.hints += 1;
    }

    /// Writes what was typed, as a block of code.
    ///
    /// # Errors
    /// What the file refuses.
    pub(super) fn typed(&mut self, text: &str) -> io::Result<()> {
        self.answers += 1;
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        self.write(&format!("{fence}js\n{}\n{fence}", text.trim_end()), None)
    }

    /// Writes a paragraph; under the title if the file is new.
    ///
    /// # Errors
    /// What the file refuses.
    pub(super) fn write(&mut self, text: &str, title: Option<&str>) -> io::Result<()> {
        if let Some(folder) = self.file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder)?;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        let head = match title {
            Some(title) if file.metadata()?.len() == 0 => format!("# {title}\n\n"),
            Some(_) | None => String::new(),
        };
        file.write_all(format!("{head}{text}\n\n").as_bytes())
    }
}

/// The length of the longest row of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("new/class.md");
        let mut transcript = Transcript::new(&file, || SystemTime::UNIX_EPOCH);
        assert_eq!(transcript.begin(), "1970-01-01T00:00:00Z");
        transcript.write("## 1.1", Some("A class")).expect("written");
        transcript.typed("print(`a`)\n").expect("written");
        transcript.typed("```").expect("written");
        transcript.hinted();
        let text = fs::read_to_string(&file).expect("there");
        assert_eq!(text, "# A class\n\n## 1.1\n\n```js\nprint(`a`)\n```\n\n````js\n```\n````\n\n");
        let effort = Effort { time: Duration::ZERO, answers: 2, hints: 1 };
        assert_eq!(transcript.effort(), effort);
    }
}
