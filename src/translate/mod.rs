//! The last database call, as code for a driver.
//!
//! A command document is read into a `call::Call`: a method of the drivers' common specification with its arguments and
//! options. Each language is a row of [`LANGUAGES`] and a file that spells calls and values; `layout` breaks what gets
//! long. A language whose driver lacks a method or an option falls back to the driver's own "run this command", so what
//! comes out always does what the shell did.
//!
//! Numbers keep their BSON types wherever they are stored. Where they only compare or count (filters, sort orders,
//! limits), a whole number is written as one.

mod call;
mod clojure;
mod csharp;
mod go;
mod java;
mod java_classic;
mod layout;
mod literal;
mod node;
mod php;
mod python;
mod ruby;
mod rust;
mod snippet;

use bson::{Document, RawDocument};

use crate::error::{Error, Result};
use call::Call;

/// A language that calls can be translated to.
pub struct Language {
    /// Its name, e.g. `python`.
    pub name: &'static str,
    /// What else it may be called.
    pub aliases: &'static [&'static str],
    /// One line of help: which drivers.
    pub help: &'static str,
    /// The code of a call, once for each of its drivers.
    write: fn(&Call) -> Vec<String>,
}

/// The languages, sorted.
pub const LANGUAGES: &[Language] = &[
    Language {
        name: "clojure",
        aliases: &["clj", "congomongo", "monger"],
        help: "monger and congomongo",
        write: clojure::write,
    },
    Language {
        name: "csharp",
        aliases: &["c#", "cs", "dotnet"],
        help: "MongoDB.Driver 3",
        write: csharp::write,
    },
    Language {
        name: "go",
        aliases: &["golang"],
        help: "go.mongodb.org/mongo-driver/v2",
        write: go::write,
    },
    Language {
        name: "java",
        aliases: &["jvm"],
        help: "mongodb-driver-sync; the classic DBCollection",
        write: java::write,
    },
    Language {
        name: "node",
        aliases: &["javascript", "js", "nodejs"],
        help: "mongodb 6 and 7",
        write: node::write,
    },
    Language {
        name: "php",
        aliases: &[],
        help: "mongodb/mongodb; the extension's raw command",
        write: php::write,
    },
    Language {
        name: "python",
        aliases: &["py", "pymongo"],
        help: "pymongo 4",
        write: python::write,
    },
    Language { name: "ruby", aliases: &["rb"], help: "the gem mongo", write: ruby::write },
    Language { name: "rust", aliases: &["rs"], help: "mongodb 3", write: rust::write },
];

/// The language of that name or alias, in any case.
pub fn language(name: &str) -> Option<&'static Language> {
    let name = name.to_ascii_lowercase();
    let named = |row: &&Language| row.name == name || row.aliases.contains(&name.as_str());
    LANGUAGES.iter().find(named)
}

/// Every name and alias.
pub fn names() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().flat_map(|row| std::iter::once(row.name).chain(row.aliases.iter().copied()))
}

/// A command as code in these languages, in lines; an empty line between two pieces of code.
///
/// # Errors
/// When the bytes of the command are no BSON, which no command that was sent is.
pub fn code<'a>(
    db: &str,
    command: &RawDocument,
    languages: impl IntoIterator<Item = &'a Language>,
) -> Result<Vec<String>> {
    let command = Document::try_from(command).map_err(|error| Error::Usage(error.to_string()))?;
    let call = Call::parse(db, &command);
    let mut lines = Vec::new();
    for snippet in languages.into_iter().flat_map(|language| (language.write)(&call)) {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(snippet.lines().map(ToOwned::to_owned));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_sorted_and_no_name_means_two() {
        assert!(LANGUAGES.is_sorted_by_key(|row| row.name));
        let mut all: Vec<_> = names().collect();
        all.sort_unstable();
        assert!(all.is_sorted_by(|one, other| one < other), "{all:?}");
        assert_eq!(language("C#").map(|row| row.name), Some("csharp"));
        assert!(language("cobol").is_none());
    }
}
