//! Shell words: `show dbs`, `use shop`, `it`... Each word, and each noun of `show`, is a row.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocumentBuf, rawdoc};

use super::command::{Command, field, truthy, whole};
use super::cursor::{Page, open_stream};
use super::database::{catalog, database_name};
use super::refusal::{invalid_input, missing_argument, usage};
use super::{Emulate, Shell, Shells, counter, help_text, mongo, nearest, settings};
use crate::error::{Error, Result};
use crate::translate::{self, LANGUAGES};

/// A word that may stand where a statement could.
pub struct Word {
    /// The word, e.g. `use`.
    pub name: &'static str,
    /// What follows it, e.g. `NAME`.
    pub usage: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Which emulated shells have it.
    pub shells: Shells,
    /// What it does with what follows.
    run: fn(&mut Shell, &[&str]) -> Result<Spoken>,
}

/// Something `show` can show.
pub struct Noun {
    /// The noun, e.g. `collections`.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// What is shown.
    run: fn(&mut Shell, &[&str]) -> Result<Spoken>,
}

/// What a word answers.
#[derive(Debug, PartialEq)]
pub enum Spoken {
    /// Lines of text, as they are.
    Lines(Vec<String>),
    /// Documents, each as `printjson` prints it.
    Documents(Vec<RawDocumentBuf>),
    /// A value, as the prompt shows results.
    Value(RawBson),
    /// More documents of the cursor that was shown last.
    Page(Page),
    /// The screen is to be cleared.
    Clear,
    /// The editor is to be opened on this name or, empty, on what was edited last.
    Edit(String),
    /// The tutor is spoken to, in these words.
    Learn(Vec<String>),
}

/// The words, sorted.
pub const WORDS: &[Word] = &[
    Word {
        name: "cls",
        usage: "",
        help: "clears the screen",
        shells: Shells::Both,
        run: |_, _| Ok(Spoken::Clear),
    },
    Word {
        name: "edit",
        usage: "NAME",
        help: "opens the editor on a variable",
        shells: Shells::Both,
        run: edit,
    },
    Word {
        name: "exit",
        usage: "",
        help: "quits the shell",
        shells: Shells::Both,
        run: |_, _| Err(Error::Exit(0)),
    },
    Word {
        name: "help",
        usage: "[TOPIC]",
        help: "this list, or help on a topic",
        shells: Shells::Both,
        run: help,
    },
    Word { name: "it", usage: "", help: "shows the next documents", shells: Shells::Both, run: it },
    Word {
        name: "learn",
        usage: "[LESSON]",
        help: "lessons on numbering documents: learn, learn 4, learn 4.2, learn help",
        shells: Shells::Both,
        run: learn,
    },
    Word {
        name: "quit",
        usage: "",
        help: "quits the shell",
        shells: Shells::Both,
        run: |_, _| Err(Error::Exit(0)),
    },
    Word {
        name: "set",
        usage: "NAME VALUE",
        help: "how the shell behaves; set alone lists it",
        shells: Shells::Both,
        run: |shell, arguments| Ok(Spoken::Lines(settings::run(shell, arguments)?)),
    },
    Word {
        name: "show",
        usage: "NOUN",
        help: "shows databases, collections, counters...",
        shells: Shells::Both,
        run: show,
    },
    Word {
        name: "trace",
        usage: "on|off",
        help: "tells of each command that is sent",
        shells: Shells::Both,
        run: trace,
    },
    Word {
        name: "translate",
        usage: "[LANGUAGE]",
        help: "the last database call as code for a driver",
        shells: Shells::Both,
        run: translate,
    },
    Word {
        name: "use",
        usage: "NAME",
        help: "makes another database the current one",
        shells: Shells::Both,
        run: use_database,
    },
];

/// The nouns of `show`, sorted.
pub const NOUNS: &[Noun] = &[
    Noun { name: "collections", help: "the collections of this database", run: collections },
    Noun { name: "command", help: "the last command that was sent, whole", run: command },
    Noun { name: "counters", help: "the counters and sequences of this database", run: counters },
    Noun { name: "databases", help: "the databases and their sizes", run: databases },
    Noun { name: "dbs", help: "the databases and their sizes", run: databases },
    Noun { name: "log", help: "the last lines of a log: show log [name]", run: log },
    Noun { name: "logs", help: "the names of the logs", run: logs },
    Noun { name: "profile", help: "the latest slow operations", run: profile },
    Noun { name: "roles", help: "the roles of this database", run: roles },
    Noun { name: "tables", help: "the collections of this database", run: collections },
    Noun { name: "task", help: "the task of the lesson", run: task },
    Noun { name: "types", help: "the BSON types in the document shown last", run: types },
    Noun { name: "users", help: "the users of this database", run: users },
];

/// The word of that name.
pub fn word(name: &str) -> Option<&'static Word> {
    WORDS.binary_search_by_key(&name, |word| word.name).ok().map(|at| &WORDS[at])
}

/// Runs a word with what follows it.
///
/// # Errors
/// [`Error::Exit`] for `exit` and `quit`; [`Error::Usage`] in the emulated shell's words; what the server refuses.
pub fn run(shell: &mut Shell, verb: &str, arguments: &[&str]) -> Result<Spoken> {
    match word(verb) {
        Some(word) => {
            let spoken = (word.run)(shell, arguments)?;
            match &spoken {
                Spoken::Documents(documents) => shell.look_at_last(documents),
                Spoken::Value(value) => shell.look_at(value.clone()),
                Spoken::Lines(_)
                | Spoken::Page(_)
                | Spoken::Clear
                | Spoken::Edit(_)
                | Spoken::Learn(_) => {}
            }
            Ok(spoken)
        }
        None => {
            let hint = match nearest(verb, WORDS.iter().map(|word| word.name)) {
                Some(near) => format!(". Did you mean {near}?"),
                None => String::new(),
            };
            Err(usage(format!("{verb} is no word of this shell{hint}")))
        }
    }
}

fn lines(shell: &Shell, lines: Vec<String>) -> Spoken {
    // mongosh ends even an empty answer with a line end.
    match shell.emulate {
        Emulate::Mongosh if lines.is_empty() => Spoken::Lines(vec![String::new()]),
        Emulate::Mongo | Emulate::Mongosh => Spoken::Lines(lines),
    }
}

fn line(text: impl Into<String>) -> Spoken {
    Spoken::Lines(vec![text.into()])
}

fn use_database(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    // The classic shell takes all that follows for the name, mongosh the first part.
    let name = match shell.emulate {
        Emulate::Mongo => arguments.join(" "),
        Emulate::Mongosh => arguments.first().copied().unwrap_or_default().to_owned(),
    };
    if name.is_empty() {
        // The classic shell says so, and nothing has failed.
        return match shell.emulate {
            Emulate::Mongo => Ok(line("bad use parameter")),
            Emulate::Mongosh => Err(missing_argument(0, "Mongo.use")),
        };
    }
    shell.db = database_name(shell, Some(&RawBson::String(name)), "Mongo.use")?;
    Ok(line(format!("switched to db {}", shell.db)))
}

fn it(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    Ok(match shell.next_page()? {
        Some(page) => Spoken::Page(page),
        None => line("no cursor"),
    })
}

fn edit(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    match (arguments, shell.emulate) {
        ([], Emulate::Mongo) => Err(usage("edit needs the name of a variable: edit doc")),
        (arguments, _) => Ok(Spoken::Edit(arguments.join(" "))),
    }
}

fn learn(_: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    let words = std::iter::once(&"learn").chain(arguments);
    Ok(Spoken::Learn(words.map(|word| (*word).to_owned()).collect()))
}

fn task(_: &mut Shell, _: &[&str]) -> Result<Spoken> {
    Ok(Spoken::Learn(vec!["show".to_owned(), "task".to_owned()]))
}

fn help(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    Ok(Spoken::Lines(help_text::topic(shell.emulate, arguments.first().copied())))
}

/// The last command that was sent, in the languages named or in all of them.
fn translate(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    let mut languages = Vec::new();
    for name in arguments.iter().filter(|name| **name != "all") {
        languages.push(translate::language(name).ok_or_else(|| {
            let hint = match nearest(name, translate::names()) {
                Some(near) => format!(" Did you mean {near}?"),
                None => {
                    let all: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
                    format!(" The languages are {}.", all.join(", "))
                }
            };
            usage(format!("cannot translate to \"{name}\".{hint}"))
        })?);
    }
    if languages.is_empty() || arguments.contains(&"all") {
        languages = LANGUAGES.iter().collect();
    }
    match shell.last_sent() {
        Some(sent) => Ok(Spoken::Lines(translate::code(&sent.db, &sent.body, languages)?)),
        None => Ok(line("nothing to translate: no command has been sent yet")),
    }
}

fn show(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    let name = arguments.first().copied().unwrap_or("undefined");
    if let Ok(at) = NOUNS.binary_search_by_key(&name, |noun| noun.name) {
        return (NOUNS[at].run)(shell, &arguments[1..]);
    }
    let hint = match nearest(name, NOUNS.iter().map(|noun| noun.name)) {
        Some(near) => format!(" Did you mean {near}?"),
        None => String::new(),
    };
    let other = invalid_input(format!("'{name}' is not a valid argument for \"show\".{hint}"));
    let classic = if arguments.is_empty() { "" } else { name };
    Err(shell.wrong(&format!("don't know how to show [{classic}]{}", dotted(&hint)), other))
}

/// A hint after a sentence that has no full stop of its own.
fn dotted(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(".{hint}") }
}

fn trace(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    match arguments {
        ["on"] => shell.set_tracing(true),
        ["off"] => shell.set_tracing(false),
        [] => {
            let state = if shell.is_tracing() { "on" } else { "off" };
            return Ok(line(format!("trace is {state}; trace on and trace off change it")));
        }
        _ => return Err(usage("trace is turned on with trace on, and off with trace off")),
    }
    Ok(Spoken::Lines(Vec::new()))
}

fn command(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    Ok(match shell.last_sent() {
        Some(sent) => Spoken::Documents(vec![sent.body]),
        None => line("no command was sent yet"),
    })
}

fn types(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    let types = shell.viewed_types();
    Ok(types.map_or_else(|| line("no document was shown yet"), Spoken::Lines))
}

fn counters(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    let listing = counter::listing(shell)?;
    Ok(lines(shell, listing))
}

/// One database of the listing.
struct Database {
    name: String,
    bytes: i64,
    empty: bool,
}

fn databases(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    let reply = mongo::list(shell)?;
    let entries = reply.get_array("databases").ok();
    let listed = entries.into_iter().flatten().filter_map(|entry| match entry {
        Ok(RawBsonRef::Document(entry)) => Some(Database {
            name: entry.get_str("name").unwrap_or_default().to_owned(),
            bytes: field(entry, "sizeOnDisk").and_then(whole).unwrap_or(0),
            empty: field(entry, "empty").is_some_and(truthy),
        }),
        _ => None,
    });
    let mut listed: Vec<_> = listed.collect();
    let text = match shell.emulate {
        Emulate::Mongo => {
            listed.sort_by(|left, right| left.name.cmp(&right.name));
            in_gigabytes(&listed)
        }
        Emulate::Mongosh => in_binary_units(&listed),
    };
    Ok(lines(shell, text))
}

/// The classic listing: sizes in gigabytes with three decimals, their points below each other.
fn in_gigabytes(databases: &[Database]) -> Vec<String> {
    #[allow(clippy::cast_precision_loss)]
    let size = |database: &Database| format!("{:.3}GB", database.bytes as f64 / 1_073_741_824.0);
    let names = databases.iter().map(|database| database.name.chars().count()).max().unwrap_or(0);
    let widths = databases.iter().map(|database| size(database).len()).max().unwrap_or(0);
    let row = |database: &Database| {
        if database.bytes > 1 {
            format!("{:<names$}  {:>widths$}", database.name, size(database))
        } else if database.empty {
            format!("{:<names$}  (empty)", database.name)
        } else {
            database.name.clone()
        }
    };
    databases.iter().map(row).collect()
}

/// mongosh's listing: sizes in binary units, right-aligned.
fn in_binary_units(databases: &[Database]) -> Vec<String> {
    let names = databases.iter().map(|database| database.name.chars().count()).max().unwrap_or(0);
    let widths = databases.iter().map(|database| binary_size(database.bytes).len()).max();
    let widths = widths.unwrap_or(0);
    let row = |database: &Database| {
        format!("{:<names$}  {:>widths$}", database.name, binary_size(database.bytes))
    };
    databases.iter().map(row).collect()
}

fn binary_size(bytes: i64) -> String {
    if bytes <= 1000 {
        return format!("{bytes} B");
    }
    #[allow(clippy::cast_precision_loss)]
    let mut size = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for larger in ["MiB", "GiB", "TiB", "PiB"] {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.2} {unit}")
}

fn collections(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    let db = shell.db.clone();
    let entries = catalog(shell, &db, rawdoc! {}, false)?;
    let name = |entry: &RawDocumentBuf| entry.get_str("name").unwrap_or_default().to_owned();
    if shell.classic() {
        return Ok(Spoken::Lines(entries.iter().map(name).collect()));
    }
    let is_system = |entry: &RawDocumentBuf| {
        let name = entry.get_str("name").unwrap_or_default();
        name.starts_with("system.") || name.starts_with("enxcol_.")
    };
    let (system, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_system);
    let all: Vec<_> = others.into_iter().chain(system).collect();
    let width = all.iter().map(|entry| name(entry).chars().count()).max().unwrap_or(0);
    let row = |entry: &RawDocumentBuf| match entry.get_str("type").unwrap_or_default() {
        "view" => format!("{:<width$}  [view]", name(entry)),
        "timeseries" => format!("{:<width$}  [time-series]", name(entry)),
        _ => name(entry),
    };
    let rows = all.iter().map(row).collect();
    Ok(lines(shell, rows))
}

/// The documents in an array of a reply, in the form of either shell.
fn listed(shell: &Shell, body: RawDocumentBuf, key: &str) -> Result<Spoken> {
    let reply = shell.run(&shell.db, body)?;
    let list = reply.get_array(key).map(ToOwned::to_owned).unwrap_or_else(|_| RawArrayBuf::new());
    Ok(match shell.emulate {
        Emulate::Mongosh => Spoken::Value(RawBson::Array(list)),
        Emulate::Mongo => Spoken::Documents(
            list.into_iter()
                .flatten()
                .filter_map(|entry| entry.as_document().map(ToOwned::to_owned))
                .collect(),
        ),
    })
}

fn users(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    listed(shell, rawdoc! { "usersInfo": 1 }, "users")
}

fn roles(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    listed(shell, rawdoc! { "rolesInfo": 1, "showBuiltinRoles": true }, "roles")
}

fn texts(list: &bson::raw::RawArray) -> Vec<String> {
    let texts = list.into_iter().flatten().filter_map(|entry| entry.as_str());
    texts.map(ToOwned::to_owned).collect()
}

/// Lines in the classic shell, an array in mongosh.
fn texts_of(shell: &Shell, body: RawDocumentBuf, key: &str) -> Result<Spoken> {
    let reply = shell.run("admin", body)?;
    let list = reply.get_array(key).map(ToOwned::to_owned).unwrap_or_else(|_| RawArrayBuf::new());
    Ok(match shell.emulate {
        Emulate::Mongo => Spoken::Lines(texts(&list)),
        Emulate::Mongosh => Spoken::Value(RawBson::Array(list)),
    })
}

fn logs(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    texts_of(shell, rawdoc! { "getLog": "*" }, "names")
}

fn log(shell: &mut Shell, arguments: &[&str]) -> Result<Spoken> {
    let name = arguments.first().copied().unwrap_or("global");
    texts_of(shell, rawdoc! { "getLog": name }, "log")
}

fn profile(shell: &mut Shell, _: &[&str]) -> Result<Spoken> {
    let db = shell.db.clone();
    let count = shell.run(&db, rawdoc! { "count": "system.profile" })?;
    if super::command::count(&count, "n") == 0 {
        let (stop, raw) = match shell.emulate {
            Emulate::Mongo => ("", "db.system.profile.find() to show raw profile entries"),
            Emulate::Mongosh => {
                (".", "db.getCollection('system.profile').find() to show raw profile entries.")
            }
        };
        return Ok(Spoken::Lines(vec![
            format!("db.system.profile is empty{stop}"),
            format!("Use db.setProfilingLevel(2) will enable profiling{stop}"),
            format!("Use {raw}"),
        ]));
    }
    let body = Command::new(cstr!("find"), "system.profile")
        .with(cstr!("filter"), rawdoc! { "millis": { "$gt": 0 } })
        .with(cstr!("sort"), rawdoc! { "$natural": -1 })
        .with(cstr!("limit"), 5)
        .body();
    open_stream(shell, &db, body).and_then(|mut stream| stream.rest()).map(Spoken::Documents)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(name: &str, bytes: i64) -> Database {
        Database { name: name.to_owned(), bytes, empty: bytes == 0 }
    }

    #[test]
    fn sizes_stand_below_each_other() {
        let all = [database("admin", 40_960), database("shop", 12 << 30), database("x", 0)];
        assert_eq!(in_gigabytes(&all), ["admin   0.000GB", "shop   12.000GB", "x      (empty)"]);
        assert_eq!(in_gigabytes(&all[..1]), ["admin  0.000GB"]);
        let all = [database("admin", 40_960), database("shop", 859)];
        assert_eq!(in_binary_units(&all), ["admin  40.00 KiB", "shop       859 B"]);
    }

    #[test]
    fn words_and_nouns_are_sorted() {
        assert!(WORDS.is_sorted_by_key(|word| word.name));
        assert!(NOUNS.is_sorted_by_key(|noun| noun.name));
    }
}
