//! The fields of a command, taken one after another until nothing is left that no option stands for.

use bson::{Bson, Document};

/// The options of `findAndModify`.
pub(super) const FIND_AND_MODIFY: &[&str] = &[
    "sort",
    "projection",
    "collation",
    "arrayFilters",
    "hint",
    "let",
    "comment",
    "maxTimeMS",
    "bypassDocumentValidation",
];
/// The options of `insert`.
pub(super) const INSERT: &[&str] = &["comment", "bypassDocumentValidation"];
/// The options of `update` and `delete` that the whole command carries.
pub(super) const WRITE: &[&str] = &["let", "comment", "bypassDocumentValidation"];
/// The options of one statement of them.
pub(super) const STATEMENT: &[&str] = &["collation", "arrayFilters", "hint"];
/// The options of `find`.
pub(super) const FIND: &[&str] = &[
    "projection",
    "sort",
    "skip",
    "limit",
    "hint",
    "collation",
    "batchSize",
    "comment",
    "maxTimeMS",
    "min",
    "max",
    "let",
    "allowDiskUse",
    "noCursorTimeout",
    "returnKey",
    "showRecordId",
];
/// The options of `aggregate`.
pub(super) const AGGREGATE: &[&str] = &[
    "allowDiskUse",
    "collation",
    "hint",
    "let",
    "comment",
    "maxTimeMS",
    "bypassDocumentValidation",
];
/// The options of `distinct`.
pub(super) const DISTINCT: &[&str] = &["collation", "comment", "maxTimeMS"];
/// The options of `count`.
pub(super) const COUNT: &[&str] = &["skip", "limit", "hint", "collation", "comment", "maxTimeMS"];
/// The options of an index.
pub(super) const INDEX: &[&str] = &[
    "name",
    "unique",
    "sparse",
    "hidden",
    "expireAfterSeconds",
    "partialFilterExpression",
    "collation",
];

/// What a value must be to be an option.
enum Kind {
    Flag,
    Count,
    Document,
    Documents,
    Text,
    TextOrDocument,
    Any,
}

fn kind(option: &str) -> Kind {
    match option {
        "skip" | "limit" | "batchSize" | "maxTimeMS" | "expireAfterSeconds" => Kind::Count,
        "arrayFilters" => Kind::Documents,
        "hint" => Kind::TextOrDocument,
        "name" => Kind::Text,
        "comment" => Kind::Any,
        "sort" | "projection" | "collation" | "let" | "min" | "max" => Kind::Document,
        "partialFilterExpression" => Kind::Document,
        _ => Kind::Flag,
    }
}

/// The fields that nobody has taken yet.
pub(super) struct Fields<'a> {
    left: Vec<(&'a str, &'a Bson)>,
}

impl<'a> Fields<'a> {
    /// The fields behind a command's name.
    pub(super) fn new(command: &'a Document) -> Self {
        Self { left: command.iter().skip(1).map(|(key, value)| (key.as_str(), value)).collect() }
    }

    /// The fields of a part of a command.
    pub(super) fn of(part: &'a Document) -> Self {
        Self { left: part.iter().map(|(key, value)| (key.as_str(), value)).collect() }
    }

    /// Takes a field.
    pub(super) fn take(&mut self, key: &str) -> Option<&'a Bson> {
        let at = self.left.iter().position(|(name, _)| *name == key)?;
        Some(self.left.remove(at).1)
    }

    /// Takes a document: outside `None` when it is something else, inside when it is not there.
    #[allow(clippy::option_option)]
    pub(super) fn document(&mut self, key: &str) -> Option<Option<Document>> {
        match self.take(key) {
            None | Some(Bson::Null) => Some(None),
            Some(Bson::Document(document)) => Some(Some(document.clone())),
            Some(_) => None,
        }
    }

    /// Takes an array of documents, as [`Fields::document`].
    #[allow(clippy::option_option)]
    pub(super) fn documents(&mut self, key: &str) -> Option<Option<Vec<Document>>> {
        match self.take(key) {
            None => Some(None),
            Some(Bson::Array(list)) => {
                let documents = list.iter().map(|element| element.as_document().cloned());
                documents.collect::<Option<Vec<_>>>().map(Some)
            }
            Some(_) => None,
        }
    }

    /// Takes a flag, false when it is missing; `None` when it is no flag.
    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        self.take(key).map_or(Some(false), truth)
    }

    /// Takes a whole number, as [`Fields::document`].
    #[allow(clippy::option_option)]
    pub(super) fn whole(&mut self, key: &str) -> Option<Option<i64>> {
        match self.take(key) {
            None => Some(None),
            Some(value) => whole(value).map(Some),
        }
    }

    /// Takes `ordered` and gives it back as an option if it says something.
    #[allow(clippy::option_option)]
    pub(super) fn ordered(&mut self) -> Option<Option<(&'static str, Bson)>> {
        match self.take("ordered").map_or(Some(true), truth)? {
            true => Some(None),
            false => Some(Some(("ordered", Bson::Boolean(false)))),
        }
    }

    /// Everything that is left as options; `None` when something is none of them, or of a kind that it cannot have.
    pub(super) fn options(&mut self, known: &[&'static str]) -> Option<Vec<(&'static str, Bson)>> {
        let mut options = Vec::new();
        for (key, value) in self.left.drain(..) {
            // The command calls the projection of findAndModify `fields`.
            let key = if key == "fields" { "projection" } else { key };
            let name = *known.iter().find(|name| **name == key)?;
            match (kind(name), value) {
                (Kind::Flag, value) => {
                    if truth(value)? {
                        options.push((name, Bson::Boolean(true)));
                    }
                }
                (Kind::Count, value) => options.push((name, count(value)?)),
                (Kind::Document | Kind::TextOrDocument, Bson::Document(_))
                | (Kind::Text | Kind::TextOrDocument, Bson::String(_))
                | (Kind::Any, _) => options.push((name, plain(value))),
                (Kind::Documents, Bson::Array(list))
                    if list.iter().all(|element| matches!(element, Bson::Document(_))) =>
                {
                    options.push((name, plain(value)));
                }
                (Kind::Document | Kind::Documents | Kind::Text | Kind::TextOrDocument, _) => {
                    return None;
                }
            }
        }
        // In the order of the table, which is that of the manuals, whatever the order of the command.
        options.sort_by_key(|(name, _)| known.iter().position(|known| known == name));
        Some(options)
    }
}

/// A flag, which commands accept as a number too.
fn truth(value: &Bson) -> Option<bool> {
    match value {
        Bson::Boolean(value) => Some(*value),
        value => whole(value).map(|number| number != 0),
    }
}

fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        #[allow(clippy::cast_possible_truncation)]
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(*number as i64)
        }
        _ => None,
    }
}

/// A number that counts something: not negative, int32 where it can be.
fn count(value: &Bson) -> Option<Bson> {
    let number = whole(value).filter(|number| *number >= 0)?;
    Some(i32::try_from(number).map_or(Bson::Int64(number), Bson::Int32))
}

/// The value with every double that is a whole number in the range of an int32 as one. The classic shell sends all
/// its numbers as doubles; where they only compare or count, that is not what its user meant to say.
pub(super) fn plain(value: &Bson) -> Bson {
    match value {
        Bson::Double(number) => match whole(value).map(i32::try_from) {
            Some(Ok(0)) if number.is_sign_negative() => value.clone(),
            Some(Ok(number)) => Bson::Int32(number),
            _ => value.clone(),
        },
        Bson::Document(document) => {
            let fields = document.iter().map(|(key, value)| (key.clone(), plain(value)));
            Bson::Document(fields.collect())
        }
        Bson::Array(list) => Bson::Array(list.iter().map(plain).collect()),
        value => value.clone(),
    }
}

/// Commands in which numbers compare and count, but for the parts that are stored.
const KNOWN: &[&str] = &[
    "aggregate",
    "count",
    "createindexes",
    "delete",
    "distinct",
    "dropindexes",
    "find",
    "findandmodify",
    "insert",
    "listcollections",
    "update",
];

/// The parts of commands that are stored.
const STORED: &[&str] = &["documents", "update", "updates"];

/// Whether something in a command is stored, or may be: nobody knows what another command does with its documents.
pub(super) fn stores(command: &Document) -> bool {
    let nested = |value: &Bson| matches!(value, Bson::Document(_) | Bson::Array(_));
    match is_known(command) {
        true => command.keys().any(|key| STORED.contains(&key.as_str())),
        false => command.values().any(nested),
    }
}

fn is_known(command: &Document) -> bool {
    let verb = command.keys().next().map(|verb| verb.to_ascii_lowercase());
    verb.is_some_and(|verb| KNOWN.contains(&verb.as_str()))
}

/// A command as it was sent, its numbers plain where nothing in them is stored.
pub(super) fn as_sent(command: &Document) -> Document {
    let known = is_known(command);
    let upserts = command.get("upsert").and_then(truth).unwrap_or(false);
    let field = |(key, value): (&String, &Bson)| {
        let stored = STORED.contains(&key.as_str()) || (upserts && key == "query");
        // Of an unknown command, only the numbers on the surface are known to be plain.
        let nested = matches!(value, Bson::Document(_) | Bson::Array(_));
        let value = if stored || (nested && !known) { value.clone() } else { plain(value) };
        (key.clone(), value)
    };
    command.iter().map(field).collect()
}
