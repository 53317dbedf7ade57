//! What a learner has done: kept in one small text file beside the database's own files, and written as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::toml::{self, Table, Value};

/// The file's name.
const FILE: &str = "learn.toml";

/// What is kept of a file that cannot be read whole.
const DAMAGED: &str = "learn.toml.damaged";

/// What stands at the head of the file.
const HEAD: &str = "# Your progress in the lessons of tally: steps solved and skipped, by lesson. \"learn reset all\" empties it.\n";

/// How a step was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The learner solved it, or has read it.
    Solved,
    /// The learner saw the solution.
    Skipped,
}

/// The steps of one lesson that are done, by number from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Done {
    solved: BTreeSet<usize>,
    skipped: BTreeSet<usize>,
}

/// Progress in one set of pages.
#[derive(Debug)]
pub(super) struct Progress {
    file: Option<PathBuf>,
    /// The set's own name in the file.
    heading: String,
    lessons: BTreeMap<String, Done>,
    at: Option<(String, usize)>,
    /// The copy that was made of a file which could not be read whole.
    damaged: Option<PathBuf>,
}

impl Progress {
    /// The progress kept in a folder; `None` keeps it for as long as the program runs.
    pub(super) fn open(folder: Option<&Path>, heading: &str) -> Self {
        let file = folder.map(|folder| folder.join(FILE));
        let (mut table, whole) = read(file.as_deref());
        let mut progress = Self {
            file,
            heading: heading.to_owned(),
            lessons: BTreeMap::new(),
            at: None,
            damaged: None,
        };
        if !whole {
            progress.damaged = progress.keep();
        }
        progress.take(table.remove(heading).as_ref(), true);
        progress
    }

    /// Whether it outlives the program.
    pub(super) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// The steps of a lesson that are done.
    pub(super) fn done(&self, lesson: &str) -> Done {
        self.lessons.get(lesson).cloned().unwrap_or_default()
    }

    /// Where the learner was last: a lesson and a step, from 1.
    pub(super) fn at(&self) -> Option<(&str, usize)> {
        self.at.as_ref().map(|(lesson, step)| (lesson.as_str(), *step))
    }

    /// The learner is at a step now. Answers whether that could be kept.
    pub(super) fn move_to(&mut self, lesson: &str, step: usize) -> bool {
        self.at = Some((lesson.to_owned(), step));
        self.save(Merge::With)
    }

    /// A step is done. Answers whether that could be kept.
    pub(super) fn end(&mut self, lesson: &str, step: usize, ended: Ended) -> bool {
        let done = self.lessons.entry(lesson.to_owned()).or_default();
        match ended {
            Ended::Solved => {
                done.solved.insert(step);
                done.skipped.remove(&step);
            }
            Ended::Skipped if done.solved.contains(&step) => {}
            Ended::Skipped => {
                done.skipped.insert(step);
            }
        }
        self.save(Merge::With)
    }

    /// Forgets a lesson, or all of them. Answers whether that could be kept.
    pub(super) fn forget(&mut self, lesson: Option<&str>) -> bool {
        match lesson {
            Some(lesson) => {
                self.lessons.remove(lesson);
            }
            None => {
                self.lessons.clear();
                self.at = None;
            }
        }
        self.save(Merge::Without)
    }

    /// The copy that was made of a file which could not be read whole. It is told once.
    pub(super) fn damaged(&mut self) -> Option<PathBuf> {
        self.damaged.take()
    }

    /// Keeps the file as it is beside the one that will be written.
    fn keep(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        let copy = file.with_file_name(DAMAGED);
        fs::copy(file, &copy).ok().map(|_| copy)
    }

    /// Takes in what the file says of this set of pages.
    fn take(&mut self, own: Option<&Value>, place: bool) {
        for (key, value) in own.and_then(Value::as_table).into_iter().flatten() {
            match value {
                Value::String(at) if key == "at" && place => {
                    self.at = at
                        .rsplit_once('.')
                        .and_then(|(lesson, step)| Some((lesson.to_owned(), step.parse().ok()?)));
                }
                Value::Array(steps) => {
                    let (lesson, skipped) = match key.strip_suffix("_skipped") {
                        Some(lesson) => (lesson, true),
                        None => (key.as_str(), false),
                    };
                    let done = self.lessons.entry(lesson.to_owned()).or_default();
                    let all = if skipped { &mut done.skipped } else { &mut done.solved };
                    let number = |step: &Value| usize::try_from(step.as_integer()?).ok();
                    all.extend(steps.iter().filter_map(number));
                }
                _ => {}
            }
        }
    }

    /// Writes the file anew: under another name first, so that there is always a whole one. What another program has
    /// added in between stays.
    fn save(&mut self, merge: Merge) -> bool {
        let Some(file) = self.file.clone() else { return true };
        let (mut table, _) = read(Some(&file));
        let own = table.remove(&self.heading);
        if merge == Merge::With {
            self.take(own.as_ref(), false);
        }
        for done in self.lessons.values_mut() {
            done.skipped.retain(|step| !done.solved.contains(step));
        }
        table.insert(self.heading.clone(), Value::Table(self.table()));
        let written = toml::to_string(&table)
            .is_ok_and(|lines| write(&file, &format!("{HEAD}\n{lines}")).is_ok());
        if !written {
            self.file = None;
        }
        written
    }

    /// What the file shall say of this set of pages.
    fn table(&self) -> Table {
        let mut table = Table::new();
        if let Some((lesson, step)) = &self.at {
            table.insert("at".to_owned(), format!("{lesson}.{step}").into());
        }
        for (lesson, done) in &self.lessons {
            table.insert(lesson.clone(), numbers(&done.solved));
            if !done.skipped.is_empty() {
                table.insert(format!("{lesson}_skipped"), numbers(&done.skipped));
            }
        }
        table
    }
}

/// Whether the file's own lines are taken in before it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Merge {
    With,
    Without,
}

impl Done {
    /// How many steps of a lesson with `steps` of them are done.
    pub(super) fn count(&self, steps: usize) -> usize {
        (1..=steps).filter(|step| self.has(*step)).count()
    }

    /// How many of them were skipped.
    pub(super) fn skipped(&self, steps: usize) -> usize {
        self.skipped.iter().filter(|step| **step <= steps).count()
    }

    /// Whether a step is done.
    pub(super) fn has(&self, step: usize) -> bool {
        self.solved.contains(&step) || self.skipped.contains(&step)
    }
}

/// What a file holds, and whether it could be read whole. One that is not there is empty.
fn read(file: Option<&Path>) -> (Table, bool) {
    let Some(bytes) = file.and_then(|file| fs::read(file).ok()) else {
        return (Table::new(), true);
    };
    toml::table(&String::from_utf8_lossy(&bytes))
}

fn numbers(steps: &BTreeSet<usize>) -> Value {
    steps.iter().map(|step| i64::try_from(*step).unwrap_or(i64::MAX)).collect::<Vec<_>>().into()
}

fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut new = tempfile::Builder::new().prefix(&format!("{FILE}.")).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_there_again_and_others_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut progress = Progress::open(Some(folder.path()), "lessons");
        assert!(progress.end("01-a", 1, Ended::Solved) && progress.end("01-a", 2, Ended::Skipped));
        assert!(progress.move_to("01-a", 3));
        let mut other = Progress::open(Some(folder.path()), "/some/folder");
        assert_eq!((other.at(), other.done("01-a")), (None, Done::default()));
        assert!(other.end("01-a", 1, Ended::Solved));
        let again = Progress::open(Some(folder.path()), "lessons");
        assert_eq!(again.at(), Some(("01-a", 3)));
        let done = again.done("01-a");
        assert_eq!((done.count(3), done.skipped(3), done.has(2), done.has(3)), (2, 1, true, false));
        assert_eq!(Progress::open(Some(folder.path()), "/some/folder").done("01-a").count(9), 1);
    }

    #[test]
    fn two_programs_do_not_undo_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut one = Progress::open(Some(folder.path()), "lessons");
        let mut two = Progress::open(Some(folder.path()), "lessons");
        one.end("01-a", 1, Ended::Solved);
        two.end("01-a", 2, Ended::Solved);
        assert_eq!(Progress::open(Some(folder.path()), "lessons").done("01-a").count(2), 2);
        two.forget(Some("01-a"));
        assert_eq!(Progress::open(Some(folder.path()), "lessons").done("01-a").count(2), 0);
    }

    #[test]
    fn a_step_that_was_skipped_can_still_be_solved_but_not_the_other_way_round() {
        let mut progress = Progress::open(None, "lessons");
        for ended in [Ended::Skipped, Ended::Solved, Ended::Skipped] {
            assert!(progress.end("a", 1, ended));
        }
        assert_eq!(progress.done("a").skipped(1), 0);
    }

    #[test]
    fn without_a_writable_place_it_lasts_for_the_session() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "").expect("written");
        let mut progress = Progress::open(Some(&file), "lessons");
        assert!(!progress.end("a", 1, Ended::Solved));
        assert!(!progress.is_kept() && progress.done("a").has(1));
        assert!(progress.end("a", 2, Ended::Solved));
    }

    #[test]
    fn a_spoilt_file_is_no_obstacle() {
        let folder = tempfile::tempdir().expect("a folder");
        let spoilt =
            "[lessons\nat = \"x\"\n[lessons]\nat = \"01-a.99999999999999999999999\"\n01-a = [1,\n";
        fs::write(folder.path().join(FILE), spoilt).expect("written");
        let mut progress = Progress::open(Some(folder.path()), "lessons");
        assert_eq!((progress.at(), progress.done("01-a").count(1)), (None, 1));
        let copy = progress.damaged().expect("it could not be read whole");
        assert!(progress.end("01-a", 2, Ended::Solved));
        assert_eq!(fs::read_to_string(copy).expect("kept"), spoilt);
        assert_eq!(Progress::open(Some(folder.path()), "lessons").damaged(), None);
    }
}
