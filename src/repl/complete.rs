//! What could stand at the cursor: candidates for each kind of place, from the same tables that run what is typed.

use super::operators::operators;
use crate::dialect::Place;
use crate::shell::{self, Emulate, Kind, Method, Run};

/// What may replace the prefix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    /// What the list shows.
    pub name: String,
    /// What is put into the input.
    pub text: String,
    /// The dot before the prefix is replaced too.
    pub over_dot: bool,
}

impl Candidate {
    fn same(name: impl Into<String>) -> Self {
        let name = name.into();
        Self { text: name.clone(), name, over_dot: false }
    }
}

/// Where names come from that stand in no table.
pub(super) trait Known {
    /// The emulated shell.
    fn emulate(&self) -> Emulate;
    /// The current database.
    fn db(&self) -> String;
    /// All databases.
    fn databases(&self) -> Vec<String>;
    /// The collections of a database.
    fn collections(&self, db: &str) -> Vec<String>;
    /// The fields of a collection.
    fn fields(&self, db: &str, collection: &str) -> Vec<String>;
    /// The names that can follow a chain of names, the user's own among them; the globals for an empty one.
    fn members(&self, chain: &[&str]) -> Vec<String>;
    /// The words that can begin a statement now.
    fn words(&self) -> Vec<String>;
    /// What may follow a word: one word each, or several.
    fn following(&self, verb: &str) -> Vec<String>;
}

/// Everything that can stand at `place` and begins with `prefix`, sorted and without repetitions.
pub(super) fn candidates(place: &Place, prefix: &str, known: &dyn Known) -> Vec<Candidate> {
    let mut found = match place {
        Place::Name { statement } => {
            let words = if *statement { known.words() } else { Vec::new() };
            let mut found = globals(known);
            found.extend(words.into_iter().map(Candidate::same));
            found
        }
        Place::Member { chain } => members(chain, known),
        Place::Key { call, argument, path } => keys(call, *argument, path, prefix, known),
        Place::Argument { verb, before } => word_arguments(verb, before, prefix, known),
        Place::Nothing => Vec::new(),
    };
    found.retain(|candidate| candidate.name.starts_with(prefix));
    found.sort();
    found.dedup_by(|one, other| one.name == other.name);
    found
}

fn globals(known: &dyn Known) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = named(&known.members(&[]));
    if let Some(class) = shell::class("globalThis") {
        found.extend(visible(class.methods, known.emulate()).map(call));
    }
    found
}

/// Names that can be typed as they are.
fn named(names: &[String]) -> Vec<Candidate> {
    names.iter().filter(|name| is_identifier(name)).map(Candidate::same).collect()
}

/// What goes on behind a word and what was typed after it. What lies deeper, as step 4.2 in lesson 4, is offered once
/// something was typed.
fn word_arguments(
    verb: &str,
    before: &[String],
    prefix: &str,
    known: &dyn Known,
) -> Vec<Candidate> {
    if verb == "use" {
        let databases = if before.is_empty() { known.databases() } else { Vec::new() };
        return databases.into_iter().map(Candidate::same).collect();
    }
    let next = |phrase: String| {
        let mut words = phrase.split_whitespace();
        let begun = before.iter().all(|typed| words.next() == Some(typed));
        let next = words.next().filter(|next| begun && (!prefix.is_empty() || !next.contains('.')));
        next.map(Candidate::same)
    };
    known.following(verb).into_iter().filter_map(next).collect()
}

/// What a chain stands for.
enum Subject {
    Database(String),
    Collection(String, String),
    /// An object of that class.
    Class(&'static str),
}

/// The name of a link that is called: `find` of `find()`.
fn called(link: &str) -> Option<&str> {
    link.strip_suffix("()").filter(|name| !name.is_empty())
}

fn subject(chain: &[String], known: &dyn Known) -> Option<Subject> {
    let (first, rest) = chain.split_first()?;
    let mut subject = match called(first) {
        None if first == "db" => Subject::Database(known.db()),
        None => return None,
        Some(global) => Subject::Class(made_by(global, known.emulate())?),
    };
    for link in rest {
        subject = match (subject, called(link)) {
            (Subject::Database(db), None) => Subject::Collection(db, link.clone()),
            (Subject::Database(_), Some(method)) => Subject::Class(answer("Database", method)?),
            (Subject::Collection(db, name), None) => {
                Subject::Collection(db, format!("{name}.{link}"))
            }
            (Subject::Collection(db, _), Some("getDB")) => Subject::Database(db),
            (Subject::Collection(..), Some(method)) => {
                Subject::Class(answer("Collection", method)?)
            }
            (Subject::Class(class), Some(method)) => Subject::Class(answer(class, method)?),
            (Subject::Class(_), None) => return None,
        };
    }
    Some(subject)
}

/// The class of what a global makes when it is called.
fn made_by(global: &str, emulate: Emulate) -> Option<&'static str> {
    let mut classes = shell::classes().iter();
    let class = classes.find(|class| {
        let named = class.global == global
            || emulate == Emulate::Mongosh && class.modern == global && !global.is_empty();
        named && class.shells.include(emulate)
    })?;
    (class.kind != Kind::Functions).then_some(class.name)
}

/// The class of what a method answers, where there is something to call on it.
fn answer(class: &str, method: &str) -> Option<&'static str> {
    Some(match (class, method) {
        ("Database", "getCollection") => "Collection",
        ("Database", "getSiblingDB" | "getSisterDB") => "Database",
        ("Database" | "Collection", "aggregate") | ("Collection", "find") => "Cursor",
        ("Collection", "initializeOrderedBulkOp" | "initializeUnorderedBulkOp") => "Bulk",
        ("Mongo", "getDB") => "Database",
        // What does not end a cursor or a bulk builder answers with the same object.
        (
            "Cursor",
            "sort" | "limit" | "skip" | "pretty" | "hint" | "batchSize" | "projection"
            | "collation" | "min" | "max",
        ) => "Cursor",
        ("Bulk", "find" | "upsert") => "Bulk",
        _ => return None,
    })
}

fn members(chain: &[String], known: &dyn Known) -> Vec<Candidate> {
    let emulate = known.emulate();
    let mut found = match subject(chain, known) {
        Some(Subject::Class(class)) => methods(class, emulate),
        Some(Subject::Database(db)) => {
            let mut found = methods("Database", emulate);
            found.extend(known.collections(&db).iter().map(|name| collection(name, emulate)));
            found
        }
        Some(Subject::Collection(db, name)) => {
            let mut found = methods("Collection", emulate);
            let inner = format!("{name}.");
            let names = known.collections(&db);
            let names = names.iter().filter_map(|name| name.strip_prefix(&inner));
            found.extend(names.map(|name| collection(name, emulate)));
            found
        }
        None => Vec::new(),
    };
    // What scripts have put there can be seen only by looking, and only where nothing has to be called.
    if chain.iter().all(|link| !link.ends_with(')')) {
        let names: Vec<&str> = chain.iter().map(String::as_str).collect();
        let mut others = named(&known.members(&names));
        let known = |other: &Candidate| found.iter().any(|candidate| candidate.name == other.name);
        others.retain(|other| other.name != "constructor" && !known(other));
        found.append(&mut others);
    }
    found
}

fn methods(class: &str, emulate: Emulate) -> Vec<Candidate> {
    shell::class(class)
        .map(|class| visible(class.methods, emulate).map(call).collect())
        .unwrap_or_default()
}

/// The rows that a listing shows.
fn visible(methods: &'static [Method], emulate: Emulate) -> impl Iterator<Item = &'static Method> {
    methods.iter().filter(move |method| {
        method.shells.include(emulate) && method.name != "constructor" && !is_primitive(method)
    })
}

fn is_primitive(method: &Method) -> bool {
    method.help.is_empty() && matches!(method.run, Run::Native(_))
}

/// A method with its opening parenthesis, and the closing one if nothing belongs between.
fn call(method: &'static Method) -> Candidate {
    let name = method.name.to_owned();
    let text = match method.usage {
        "" => name.clone(),
        "()" => format!("{name}()"),
        _ => format!("{name}("),
    };
    Candidate { name, text, over_dot: false }
}

/// A collection after a dot; a name that is no identifier goes into brackets.
fn collection(name: &str, emulate: Emulate) -> Candidate {
    if name.split('.').all(is_identifier) {
        return Candidate::same(name);
    }
    Candidate {
        name: name.to_owned(),
        text: format!("[{}]", in_quotes(name, emulate)),
        over_dot: true,
    }
}

fn in_quotes(name: &str, emulate: Emulate) -> String {
    let name = name.replace('\\', "\\\\");
    match emulate {
        Emulate::Mongo => format!("\"{}\"", name.replace('"', "\\\"")),
        Emulate::Mongosh => format!("'{}'", name.replace('\'', "\\'")),
    }
}

fn keys(
    call: &[String],
    argument: usize,
    path: &[String],
    prefix: &str,
    known: &dyn Known,
) -> Vec<Candidate> {
    if prefix.starts_with('$') {
        let operators = operators(call, argument, path);
        return operators.into_iter().map(Candidate::same).collect();
    }
    let Some((_, before)) = call.split_last() else { return Vec::new() };
    let Some(Subject::Collection(db, name)) = subject(before, known) else { return Vec::new() };
    // In `{address: {ci` the fields of `address` count; an operator on the way (`$set`) is no field.
    let path: Vec<&str> =
        path.iter().map(String::as_str).filter(|key| !key.starts_with('$')).collect();
    let above = if path.is_empty() { String::new() } else { path.join(".") + "." };
    let names = known.fields(&db, &name);
    names.iter().filter_map(|name| name.strip_prefix(&above)).map(field).collect()
}

/// A field as a key: in quotes if it has to be.
fn field(name: &str) -> Candidate {
    let text = if is_identifier(name) { name.to_owned() } else { in_quotes(name, Emulate::Mongo) };
    Candidate { name: name.to_owned(), text, over_dot: false }
}

fn is_identifier(name: &str) -> bool {
    let letter = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '$';
    name.chars().next().is_some_and(letter)
        && name.chars().all(|each| letter(each) || each.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Known for Fixed {
        fn emulate(&self) -> Emulate {
            Emulate::Mongo
        }
        fn db(&self) -> String {
            "test".to_owned()
        }
        fn databases(&self) -> Vec<String> {
            vec!["admin".into(), "shop".into()]
        }
        fn collections(&self, db: &str) -> Vec<String> {
            let names: &[&str] =
                if db == "test" { &["a.b", "my-coll", "users"] } else { &["orders"] };
            names.iter().map(|name| (*name).to_owned()).collect()
        }
        fn fields(&self, db: &str, collection: &str) -> Vec<String> {
            vec!["address.city".into(), "email".into(), format!("{db}_{collection}")]
        }
        fn members(&self, chain: &[&str]) -> Vec<String> {
            let names: &[&str] = match chain {
                [] => &["myVariable", "Math", "odd name"],
                ["myVariable"] => &["size"],
                _ => &[],
            };
            names.iter().map(|name| (*name).to_owned()).collect()
        }
        fn words(&self) -> Vec<String> {
            owned(&["learn", "show", "use"])
        }
        fn following(&self, verb: &str) -> Vec<String> {
            match verb {
                "learn" => owned(&["4", "4.1", "4.2", "reset", "reset all"]),
                "show" => owned(&["collections", "dbs"]),
                _ => Vec::new(),
            }
        }
    }

    fn names(place: &Place, prefix: &str) -> Vec<String> {
        candidates(place, prefix, &Fixed).into_iter().map(|candidate| candidate.name).collect()
    }

    fn member(chain: &[&str]) -> Place {
        Place::Member { chain: owned(chain) }
    }

    fn key(call: &[&str], path: &[&str]) -> Place {
        Place::Key { call: owned(call), argument: 0, path: owned(path) }
    }

    fn argument(verb: &str) -> Place {
        Place::Argument { verb: verb.to_owned(), before: Vec::new() }
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn words_and_globals_begin_a_statement() {
        assert_eq!(names(&Place::Name { statement: true }, "sho"), ["show"]);
        assert_eq!(names(&Place::Name { statement: false }, "sho"), [""; 0]);
        assert_eq!(names(&Place::Name { statement: false }, "my"), ["myVariable"]);
        assert_eq!(names(&Place::Name { statement: true }, "odd"), [""; 0]);
        assert_eq!(names(&argument("show"), "c"), ["collections"]);
        assert_eq!(names(&argument("use"), ""), ["admin", "shop"]);
        assert_eq!(names(&argument("it"), ""), [""; 0]);
        assert_eq!(names(&Place::Nothing, ""), [""; 0]);
    }

    #[test]
    fn several_words_follow_one_by_one() {
        let learn = |before: &[&str], prefix: &str| {
            names(&Place::Argument { verb: "learn".to_owned(), before: owned(before) }, prefix)
        };
        assert_eq!(learn(&[], ""), ["4", "reset"]);
        assert_eq!(learn(&[], "4"), ["4", "4.1", "4.2"]);
        assert_eq!(learn(&["reset"], ""), ["all"]);
        assert_eq!(learn(&["4"], ""), [""; 0]);
        let shop = Place::Argument { verb: "use".to_owned(), before: owned(&["shop"]) };
        assert_eq!(names(&shop, ""), [""; 0]);
    }

    #[test]
    fn a_collection_that_is_no_identifier_goes_into_brackets() {
        let found = candidates(&member(&["db"]), "my", &Fixed);
        let bracketed =
            Candidate { name: "my-coll".into(), text: "[\"my-coll\"]".into(), over_dot: true };
        assert_eq!(found, [bracketed]);
        assert!(names(&member(&["db"]), "a").contains(&"a.b".to_owned()));
        assert!(names(&member(&["db", "a"]), "").contains(&"b".to_owned()));
    }

    #[test]
    fn methods_open_their_parenthesis() {
        let text = |place: &Place, name: &str| {
            let found = candidates(place, name, &Fixed);
            found
                .into_iter()
                .find(|candidate| candidate.name == name)
                .map(|candidate| candidate.text)
        };
        assert_eq!(text(&member(&["db", "users"]), "findOne").as_deref(), Some("findOne("));
        assert_eq!(text(&member(&["db"]), "dropDatabase").as_deref(), Some("dropDatabase()"));
        assert_eq!(text(&member(&["db", "users", "find()"]), "sort").as_deref(), Some("sort("));
        assert_eq!(
            text(&member(&["db", "users", "find()", "sort()"]), "limit").as_deref(),
            Some("limit(")
        );
        assert_eq!(text(&member(&["db", "users", "count()"]), "sort"), None);
    }

    #[test]
    fn other_objects_show_what_they_have() {
        assert_eq!(names(&member(&["myVariable"]), "s"), ["size"]);
        assert_eq!(names(&member(&["f()"]), ""), [""; 0]);
    }

    #[test]
    fn keys_are_fields_of_the_collection_or_operators() {
        let find = ["db", "users", "find"];
        assert_eq!(names(&key(&find, &[]), ""), ["address.city", "email", "test_users"]);
        assert_eq!(names(&key(&find, &["address"]), "c"), ["city"]);
        assert_eq!(names(&key(&["db", "users", "update"], &["$set"]), "em"), ["email"]);
        assert_eq!(candidates(&key(&find, &[]), "addr", &Fixed)[0].text, "\"address.city\"");
        assert_eq!(names(&key(&find, &["age"]), "$elem"), ["$elemMatch"]);
        assert_eq!(names(&key(&[], &[]), "$elem"), ["$elemMatch"]);
        for operator in ["$inc", "$lookup", "$gte", "$dateToString", "$addToSet"] {
            assert!(names(&key(&[], &[]), operator).contains(&operator.to_owned()), "{operator}");
        }
        assert_eq!(names(&key(&[], &[]), "e"), [""; 0]);
    }
}
