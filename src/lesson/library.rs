//! The pages there are: those built into the program, or those of a folder, in one language.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::page::{Complaint, Draft, Page};
use super::text::Texts;
use crate::error::{Error, Result};

/// A file that is built in: its language, its name without ending, its text.
type Embedded = (&'static str, &'static str, &'static str);

macro_rules! embedded {
    ($($language:literal: $($name:literal)+;)+) => {
        &[$($((
            $language,
            $name,
            include_str!(concat!("../../scripts/lessons/", $language, "/", $name, ".md")),
        ),)+)+]
    };
}

/// The pages that are built in.
const PAGES: &[Embedded] = embedded! {
    "en":
        "01-sequences"
        "02-take-a-number"
        "03-missing-sequence"
        "04-read-then-write"
        "05-max-plus-one"
        "06-long-and-double"
        "07-gaps"
        "08-several-servers"
        "09-blocks"
        "10-optimistic-loop"
        "11-no-sequence"
        "12-your-driver";
    "es":
        "01-sequences"
        "02-take-a-number"
        "03-missing-sequence"
        "04-read-then-write"
        "05-max-plus-one"
        "06-long-and-double"
        "07-gaps"
        "08-several-servers"
        "09-blocks"
        "10-optimistic-loop"
        "11-no-sequence"
        "12-your-driver";
};

/// The interface texts that are built in, by language.
const INTERFACES: &[(&str, &str)] =
    &[("es", include_str!("../../scripts/lessons/es/interface.toml"))];

/// The language of the originals, and of whatever is not translated.
pub(super) const ENGLISH: &str = "en";

/// Where pages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The program itself.
    Embedded,
    /// A folder with a folder for each language.
    Folder(PathBuf),
}

/// All pages in one language.
#[derive(Debug)]
pub(super) struct Library {
    /// The pages in the order of their numbers.
    pub(super) pages: Vec<Page>,
    /// What the tutor says beside them.
    pub(super) texts: Texts,
}

impl Library {
    /// The page of `4`, and the step of `4.2`, both by place.
    ///
    /// # Errors
    /// [`Error::Usage`] when there is no such lesson or step.
    pub(super) fn find(&self, place: &str) -> Result<(usize, Option<usize>)> {
        let (lesson, step) = match place.split_once('.') {
            Some((lesson, step)) => (lesson, Some(step)),
            None => (place, None),
        };
        let number = lesson.parse::<usize>().ok();
        let page = self.pages.iter().position(|page| Some(page.number) == number);
        let Some(page) = page else {
            return Err(Error::Usage(self.texts.say("no-such-lesson", &[("lesson", lesson)])));
        };
        let Some(step) = step else { return Ok((page, None)) };
        let steps = self.pages[page].steps.len();
        match step.parse::<usize>() {
            Ok(at) if (1..=steps).contains(&at) => Ok((page, Some(at - 1))),
            _ => {
                let steps = steps.to_string();
                let values = [("lesson", lesson), ("step", step), ("steps", &steps)];
                Err(Error::Usage(self.texts.say("no-such-step", &values)))
            }
        }
    }
}

/// Something wrong in a file: the file, and what.
pub(super) type Fault = (String, Complaint);

impl Source {
    /// The languages that have pages, sorted.
    pub(super) fn languages(&self) -> BTreeSet<String> {
        match self {
            Self::Embedded => PAGES.iter().map(|(language, ..)| (*language).to_owned()).collect(),
            Self::Folder(folder) => {
                let entries = fs::read_dir(folder).into_iter().flatten().flatten();
                let named = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
                named.filter(|language| !self.pages(language).is_empty()).collect()
            }
        }
    }

    /// The pages of a language, name and text, sorted by name.
    pub(super) fn pages(&self, language: &str) -> Vec<(String, String)> {
        let mut pages: Vec<(String, String)> = match self {
            Self::Embedded => {
                let pages = PAGES.iter().filter(|(own, ..)| *own == language);
                pages.map(|(_, name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
            }
            Self::Folder(folder) => {
                let entries = fs::read_dir(folder.join(language)).into_iter().flatten().flatten();
                entries.filter_map(|entry| page_file(&entry.path())).collect()
            }
        };
        pages.sort();
        pages
    }

    /// The interface texts of a language.
    pub(super) fn texts(&self, language: &str) -> Texts {
        let embedded = INTERFACES.iter().find(|(own, _)| *own == language);
        let own = match self {
            Self::Embedded => None,
            Self::Folder(folder) => {
                fs::read_to_string(folder.join(language).join("interface.toml")).ok()
            }
        };
        match (own, embedded) {
            (Some(text), _) => Texts::read(&text),
            (None, Some((_, text))) => Texts::read(text),
            (None, None) => Texts::english(),
        }
    }

    /// The name that progress in these pages is kept under.
    pub(super) fn heading(&self) -> String {
        match self {
            Self::Embedded => "lessons".to_owned(),
            Self::Folder(folder) => {
                let folder = folder.canonicalize().unwrap_or_else(|_| folder.clone());
                folder.display().to_string()
            }
        }
    }

    /// Reads all pages in `language`; what is not translated is English.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub(super) fn read(&self, language: &str) -> std::result::Result<Library, Vec<Fault>> {
        let mut faults = Vec::new();
        let mut complete = |language: &str, name: &str, text: &str, original: Option<&Page>| {
            let draft = Draft::read(text, &self.texts(language));
            let page = draft.complete(name, original);
            let file = |complaint| (format!("{language}/{name}.md"), complaint);
            page.map_err(|complaints| faults.extend(complaints.into_iter().map(file))).ok()
        };
        let originals = self.pages(ENGLISH).into_iter();
        let mut pages: Vec<Page> =
            originals.filter_map(|(name, text)| complete(ENGLISH, &name, &text, None)).collect();
        if language != ENGLISH {
            for (name, text) in self.pages(language) {
                let at = pages.iter().position(|page| page.name == name);
                let original = at.map(|at| pages[at].clone());
                match (complete(language, &name, &text, original.as_ref()), at) {
                    (Some(page), Some(at)) => pages[at] = page,
                    (Some(page), None) => pages.push(page),
                    (None, _) => {}
                }
            }
        }
        pages.sort_by(|one, other| (one.number, &one.name).cmp(&(other.number, &other.name)));
        for pair in pages.windows(2) {
            if pair[0].number == pair[1].number {
                let text = format!("{} has the same number", pair[0].name);
                let name = &pair[1].name;
                faults.push((format!("{language}/{name}.md"), Complaint { line: 0, text }));
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Library { pages, texts: self.texts(language) })
    }

    /// Reads all pages, for a session.
    ///
    /// # Errors
    /// When there are none, or something is wrong with them.
    pub(super) fn library(&self, language: &str) -> Result<Library> {
        let library = self.read(language).map_err(|faults| {
            let first = faults.first().map(said).unwrap_or_default();
            let more = match faults.len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more: tally learn lint says all)", count - 1),
            };
            Error::Usage(format!("{first}{more}"))
        })?;
        if library.pages.is_empty() {
            let folder = match self {
                Self::Embedded => String::new(),
                Self::Folder(folder) => format!(" in {}", folder.display()),
            };
            let text = format!("there are no lessons{folder}: pages are named en/01-name.md");
            return Err(Error::Usage(text));
        }
        Ok(library)
    }
}

/// A fault as one line: `en/01-x.md:12: what is wrong`.
pub(super) fn said((file, complaint): &Fault) -> String {
    match complaint.line {
        0 => format!("{file}: {}", complaint.text),
        line => format!("{file}:{line}: {}", complaint.text),
    }
}

/// The name and text of a page's file.
fn page_file(path: &Path) -> Option<(String, String)> {
    let name = path.file_stem()?.to_str()?;
    let page = path.extension()? == "md" && name.starts_with(|c: char| c.is_ascii_digit());
    page.then(|| Some((name.to_owned(), fs::read_to_string(path).ok()?)))?
}

/// The language of the environment: the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that says something.
pub fn language(variable: impl Fn(&str) -> Option<String>) -> String {
    let set = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let value = ["LC_ALL", "LC_MESSAGES", "LANG"].iter().find_map(set).unwrap_or_default();
    let language = value.split(['_', '.', '@', '-']).next().unwrap_or_default().to_lowercase();
    if matches!(language.as_str(), "" | "c" | "posix") { ENGLISH.to_owned() } else { language }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/lessons");
        let folder = Source::Folder(folder);
        assert_eq!(Source::Embedded.languages(), folder.languages());
        for language in folder.languages() {
            assert_eq!(Source::Embedded.pages(&language), folder.pages(&language));
        }
    }

    #[test]
    fn an_unknown_language_is_english() {
        let english = Source::Embedded.library(ENGLISH).expect("pages");
        let unknown = Source::Embedded.library("xx").expect("pages");
        assert_eq!(unknown.pages, english.pages);
    }

    #[test]
    fn the_environment_names_the_language() {
        let said = |pairs: &[(&str, &str)]| {
            let pairs: Vec<_> = pairs.to_vec();
            language(move |name| {
                let found = pairs.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(said(&[("LANG", "es_ES.UTF-8")]), "es");
        assert_eq!(said(&[("LANG", "es_ES.UTF-8"), ("LC_ALL", "C")]), "en");
        assert_eq!(said(&[("LANG", "de"), ("LC_ALL", "")]), "de");
        assert_eq!(said(&[]), "en");
    }
}
