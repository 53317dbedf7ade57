//! `tally learn` without a prompt: the list, the bargain, and what authors need.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::layout::Layout;
use super::progress::Progress;
use super::tutor::Settings;
use super::{bargain, lint, menu, text};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::print::Paint;

/// What can be done without a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Lists the lessons.
    List,
    /// Says what pages lack.
    Lint,
    /// Runs all pages, in one language or in all.
    Test(Option<String>),
    /// Begins a folder of pages.
    New(PathBuf),
}

/// A page with every section, for authors to begin with.
const TEMPLATE: &str = include_str!("../../scripts/lessons/template.md");

/// What a page is.
const README: &str = include_str!("../../scripts/lessons/README.md");

/// The width of what is not shown at a prompt.
const COLUMNS: usize = 80;

/// Makes sure that there is the lesson (`4`) or step (`4.2`) that somebody wants to begin with.
///
/// # Errors
/// [`Error::Usage`] when there is none; when the pages cannot be read.
pub fn look_up(settings: &Settings, place: &str) -> Result<()> {
    let library = settings.source.library(&settings.language)?;
    library.find(place).map(drop)
}

/// Does an errand. Answers with the exit code.
///
/// # Errors
/// When pages cannot be read or files not be written; [`Error::Interrupted`].
pub fn run(
    errand: &Errand,
    settings: &Settings,
    interrupt: &Interrupt,
    out: &mut dyn Write,
) -> Result<i32> {
    let mut tell = |line: &str| match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Exit(1)),
    };
    let source = &settings.source;
    match errand {
        Errand::List => {
            let library = source.library(&settings.language)?;
            let progress = Progress::open(settings.folder.as_deref(), &source.heading());
            let layout = Layout::new(COLUMNS, Paint::Plain);
            for line in menu::list(&library, &progress, &layout) {
                tell(&line)?;
            }
            Ok(0)
        }
        Errand::Lint => {
            let complaints = lint::lint(source);
            complaints.iter().try_for_each(|line| tell(line))?;
            if complaints.is_empty() {
                tell("nothing is missing")?;
            }
            Ok(i32::from(!complaints.is_empty()))
        }
        Errand::Test(language) => {
            let languages = match language {
                Some(language) => vec![language.clone()],
                None => source.languages().into_iter().collect(),
            };
            let mut broken = false;
            for language in languages {
                let outcome = bargain::try_out(settings, &language, interrupt)?;
                outcome.broken.iter().try_for_each(|line| tell(line))?;
                let said = match outcome.broken.len() {
                    0 => "all well".to_owned(),
                    1 => "1 promise is broken".to_owned(),
                    count => format!("{count} promises are broken"),
                };
                let (lessons, steps) =
                    (counted(outcome.lessons, "lesson"), counted(outcome.steps, "step"));
                tell(&format!("{language}: {lessons}, {steps}: {said}"))?;
                broken |= !outcome.broken.is_empty();
            }
            Ok(i32::from(broken))
        }
        Errand::New(folder) => {
            begin(folder)?;
            let shown = folder.display();
            tell(&format!(
                "{shown}/en/01-first.md is a page with every section, {shown}/README.md says what they are."
            ))?;
            tell(&format!("Next: tally learn --lessons {shown}, and tally learn test {shown}."))?;
            Ok(0)
        }
    }
}

/// `1 lesson`, `2 lessons`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// A folder with one page in it.
fn begin(folder: &Path) -> Result<()> {
    if folder.read_dir().is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Usage(format!("{} is not empty", folder.display())));
    }
    let texts = text::to_translate();
    let files = [
        ("README.md", README),
        ("en/01-first.md", TEMPLATE),
        ("en/interface.toml", texts.as_str()),
    ];
    let written = fs::create_dir_all(folder.join("en")).and_then(|()| {
        files.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
    });
    written
        .map_err(|error| Error::Usage(format!("{} cannot be written: {error}", folder.display())))
}
