//! What could stand at the cursor: candidates for each kind of place, from the same tables that run what is typed.

use crate::engine::{expr, query};
use crate::shell::{self, Class, Emulate, Kind, Method, Run};

/// A place in an input where something can be completed; `prefix` is what is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The start of a statement: a shell word or a global.
    Statement,
    /// A name inside an expression.
    Global,
    /// The arguments of a shell word before this one: `show |`.
    Word(String),
    /// A member of what the chain before the dot is.
    Member(Vec<Link>),
    /// The key of an object; the calls it stands in tell the collection.
    Key(Option<Vec<Link>>),
    /// A string that is the first argument of a call.
    Argument(Vec<Link>),
}

/// One link of a chain like `db.users.find()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// A name, or a string in brackets.
    Name(String),
    /// A call, by the name that is called, with its first argument where that is a string.
    Call(String, Option<String>),
}

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
    /// The names of the counters in a collection of the current database.
    fn counters(&self, collection: &str) -> Vec<String>;
    /// The names of the globals, the user's own among them.
    fn globals(&self) -> Vec<String>;
    /// The shell words and, for each, what may follow it.
    fn words(&self) -> Vec<(String, Vec<String>)>;
}

/// Everything that can stand at `place` and begins with `prefix`, sorted and without repetitions.
pub(super) fn candidates(place: &Place, prefix: &str, known: &dyn Known) -> Vec<Candidate> {
    let mut found = match place {
        Place::Statement => {
            let mut found = globals(known);
            found.extend(known.words().into_iter().map(|(word, _)| Candidate::same(word)));
            found
        }
        Place::Global => globals(known),
        Place::Word(verb) => word_arguments(verb, known),
        Place::Member(chain) => members(chain, known),
        Place::Key(chain) => keys(chain.as_deref(), prefix, known),
        Place::Argument(chain) => arguments(chain, known),
    };
    found.retain(|candidate| candidate.name.starts_with(prefix));
    found.sort();
    found.dedup_by(|one, other| one.name == other.name);
    found
}

fn globals(known: &dyn Known) -> Vec<Candidate> {
    let functions = shell::class("globalThis").map_or(&[] as &[Method], |class| class.methods);
    let mut found: Vec<Candidate> = known
        .globals()
        .into_iter()
        .filter(|name| is_identifier(name))
        .map(Candidate::same)
        .collect();
    for method in visible(functions, known.emulate()) {
        found.retain(|candidate| candidate.name != method.name);
        found.push(call(method));
    }
    found
}

fn word_arguments(verb: &str, known: &dyn Known) -> Vec<Candidate> {
    if verb == "use" {
        return known.databases().into_iter().map(Candidate::same).collect();
    }
    let words = known.words();
    let nouns = words.into_iter().find(|(word, _)| word == verb).map(|(_, nouns)| nouns);
    nouns.unwrap_or_default().into_iter().map(Candidate::same).collect()
}

/// What a chain stands for.
enum Subject {
    Database(String),
    Collection(String, String),
    Class(&'static Class),
}

fn subject(chain: &[Link], known: &dyn Known) -> Option<Subject> {
    let (first, rest) = chain.split_first()?;
    let mut subject = match first {
        Link::Name(name) if name == "db" => Subject::Database(known.db()),
        Link::Name(name) => Subject::Class(global(name, known.emulate())?),
        Link::Call(name, _) => Subject::Class(global(name, known.emulate())?),
    };
    for link in rest {
        subject = match (subject, link) {
            (Subject::Database(db), Link::Name(name)) => Subject::Collection(db, name.clone()),
            (Subject::Database(db), Link::Call(method, argument)) => {
                match (method.as_str(), argument) {
                    ("getCollection", Some(name)) => Subject::Collection(db, name.clone()),
                    ("getSiblingDB" | "getSisterDB", Some(name)) => Subject::Database(name.clone()),
                    _ => Subject::Class(answer("Database", method)?),
                }
            }
            (Subject::Collection(db, name), Link::Name(inner)) => {
                Subject::Collection(db, format!("{name}.{inner}"))
            }
            (Subject::Collection(db, name), Link::Call(method, argument)) => {
                match (method.as_str(), argument) {
                    ("getDB", _) => Subject::Database(db),
                    ("getCollection", Some(inner)) => {
                        Subject::Collection(db, format!("{name}.{inner}"))
                    }
                    _ => Subject::Class(answer("Collection", method)?),
                }
            }
            (Subject::Class(class), Link::Call(method, _)) => {
                Subject::Class(answer(class.name, method)?)
            }
            (Subject::Class(_), Link::Name(_)) => return None,
        };
    }
    Some(subject)
}

/// The class behind a global: what it constructs, or its functions.
fn global(name: &str, emulate: Emulate) -> Option<&'static Class> {
    shell::classes().iter().find(|class| class.global == name && class.shells.include(emulate))
}

/// The class of what a method answers, where there is something to call on it.
fn answer(class: &str, method: &str) -> Option<&'static Class> {
    let answer = match (class, method) {
        ("Collection" | "Database", "find" | "aggregate") => "Cursor",
        ("Collection", "initializeOrderedBulkOp" | "initializeUnorderedBulkOp") => "Bulk",
        // A cursor's and a bulk builder's methods answer with the same object, but for those that end it.
        (
            "Cursor",
            "toArray" | "forEach" | "next" | "count" | "itcount" | "size" | "explain" | "hasNext"
            | "map",
        ) => {
            return None;
        }
        ("Cursor", _) => "Cursor",
        ("Bulk", "insert" | "execute") => return None,
        ("Bulk", _) => "Bulk",
        _ => return None,
    };
    shell::class(answer)
}

fn members(chain: &[Link], known: &dyn Known) -> Vec<Candidate> {
    let emulate = known.emulate();
    match subject(chain, known) {
        None => Vec::new(),
        Some(Subject::Class(class)) => {
            let constructs = matches!(chain, [Link::Name(_)]) && class.kind != Kind::Functions;
            // The methods of an ObjectId are on an ObjectId, not on its constructor.
            if constructs {
                Vec::new()
            } else {
                visible(class.methods, emulate).map(call).collect()
            }
        }
        Some(Subject::Database(db)) => {
            let mut found = methods("Database", emulate);
            found.extend(known.collections(&db).iter().map(|name| collection(name, emulate)));
            found
        }
        Some(Subject::Collection(db, name)) => {
            let mut found = methods("Collection", emulate);
            let inner = format!("{name}.");
            let names = known.collections(&db);
            found.extend(
                names
                    .iter()
                    .filter_map(|name| name.strip_prefix(&inner))
                    .map(|name| collection(name, emulate)),
            );
            found
        }
    }
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
    let text = match emulate {
        Emulate::Mongo => format!("[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\"")),
        Emulate::Mongosh => format!("['{}']", name.replace('\\', "\\\\").replace('\'', "\\'")),
    };
    Candidate { name: name.to_owned(), text, over_dot: true }
}

fn keys(chain: Option<&[Link]>, prefix: &str, known: &dyn Known) -> Vec<Candidate> {
    if prefix.starts_with('$') {
        return operators().map(Candidate::same).collect();
    }
    let (Some((Link::Call(..), before))) = chain.and_then(|chain| chain.split_last()) else {
        return Vec::new();
    };
    match subject(before, known) {
        Some(Subject::Collection(db, name)) => {
            known.fields(&db, &name).into_iter().map(Candidate::same).collect()
        }
        _ => Vec::new(),
    }
}

fn arguments(chain: &[Link], known: &dyn Known) -> Vec<Candidate> {
    let Some((Link::Call(method, _), before)) = chain.split_last() else { return Vec::new() };
    let names = match (method.as_str(), before.is_empty()) {
        ("counter", true) => known.counters("counters"),
        ("nextVal", true) => known.counters("sequences"),
        ("getCollection", _) => match subject(before, known) {
            Some(Subject::Database(db)) => known.collections(&db),
            _ => Vec::new(),
        },
        ("getSiblingDB" | "getSisterDB" | "getDB", false) => known.databases(),
        ("distinct", false) => match subject(before, known) {
            Some(Subject::Collection(db, name)) => known.fields(&db, &name),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    names.into_iter().map(Candidate::same).collect()
}

/// Every operator that a document can hold.
fn operators() -> impl Iterator<Item = &'static str> {
    let query = query::operators().map(|operator| operator.name);
    let expressions = expr::operators().map(|operator| operator.name);
    let accumulators = expr::ACCUMULATORS.iter().map(|row| row.name);
    query.chain(expressions).chain(accumulators)
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
            vec![format!("{db}_{collection}"), "email".into()]
        }
        fn counters(&self, collection: &str) -> Vec<String> {
            vec![format!("in {collection}")]
        }
        fn globals(&self) -> Vec<String> {
            vec!["myVariable".into(), "Math".into(), "odd name".into()]
        }
        fn words(&self) -> Vec<(String, Vec<String>)> {
            vec![("show".into(), vec!["collections".into(), "dbs".into()]), ("use".into(), vec![])]
        }
    }

    fn names(place: &Place, prefix: &str) -> Vec<String> {
        candidates(place, prefix, &Fixed).into_iter().map(|candidate| candidate.name).collect()
    }

    fn link(name: &str) -> Link {
        Link::Name(name.to_owned())
    }

    fn called(name: &str, argument: Option<&str>) -> Link {
        Link::Call(name.to_owned(), argument.map(str::to_owned))
    }

    #[test]
    fn words_and_globals_begin_a_statement() {
        assert_eq!(names(&Place::Statement, "sh"), ["show"]);
        assert_eq!(names(&Place::Global, "my"), ["myVariable"]);
        assert_eq!(names(&Place::Global, "odd"), [""; 0]);
        assert_eq!(names(&Place::Word("show".into()), "c"), ["collections"]);
        assert_eq!(names(&Place::Word("use".into()), ""), ["admin", "shop"]);
        assert_eq!(names(&Place::Word("it".into()), ""), [""; 0]);
    }

    #[test]
    fn a_collection_that_is_no_identifier_goes_into_brackets() {
        let found = candidates(&Place::Member(vec![link("db")]), "my", &Fixed);
        assert_eq!(
            found,
            [Candidate { name: "my-coll".into(), text: "[\"my-coll\"]".into(), over_dot: true }]
        );
        assert!(names(&Place::Member(vec![link("db")]), "a").contains(&"a.b".to_owned()));
        assert!(names(&Place::Member(vec![link("db"), link("a")]), "").contains(&"b".to_owned()));
    }

    #[test]
    fn the_chain_before_the_dot_decides() {
        let other = vec![link("db"), called("getSiblingDB", Some("shop"))];
        assert_eq!(names(&Place::Member(other), "ord"), ["orders"]);
        assert_eq!(names(&Place::Member(vec![link("nobody")]), ""), [""; 0]);
    }

    #[test]
    fn keys_are_fields_of_the_collection_or_operators() {
        let find = vec![link("db"), link("users"), called("find", None)];
        assert_eq!(names(&Place::Key(Some(find.clone())), ""), ["email", "test_users"]);
        assert_eq!(names(&Place::Key(Some(find)), "$elem"), ["$elemMatch"]);
        assert_eq!(names(&Place::Key(None), "$elem"), ["$elemMatch"]);
        assert_eq!(names(&Place::Key(None), "e"), [""; 0]);
    }

    #[test]
    fn strings_name_counters_collections_and_databases() {
        assert_eq!(names(&Place::Argument(vec![called("counter", None)]), ""), ["in counters"]);
        assert_eq!(names(&Place::Argument(vec![called("nextVal", None)]), ""), ["in sequences"]);
        assert_eq!(
            names(&Place::Argument(vec![link("db"), called("getCollection", None)]), "u"),
            ["users"]
        );
        assert_eq!(
            names(&Place::Argument(vec![link("db"), called("getSiblingDB", None)]), "s"),
            ["shop"]
        );
        assert_eq!(names(&Place::Argument(vec![called("print", None)]), ""), [""; 0]);
    }
}
