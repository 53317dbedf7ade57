//! Names that only the database knows, asked for while the user waits for a completion: never for long, never loudly.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use bson::raw::RawBsonRef;
use bson::{RawDocument, RawDocumentBuf, rawdoc};

use crate::backend::{Backend, Request};
use crate::interrupt::Interrupt;

/// How long a completion may take before it goes on without an answer.
const PATIENCE: Duration = Duration::from_millis(200);

/// How long a server may work on an answer that comes too late; the next completion finds it.
const LATEST: Duration = Duration::from_secs(10);

/// How many documents are looked at for the names of fields.
const SAMPLE: i32 = 20;

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// The names of all databases.
    Databases,
    /// The names of a database's collections.
    Collections(String),
    /// The names of fields, dotted ones too, in a sample of a collection.
    Fields(String, String),
}

/// An answer that is there, or on its way.
enum Answer {
    Here(Vec<String>),
    Coming(Receiver<Vec<String>>),
}

/// The database's names, remembered from one input to the next.
pub(super) struct Names {
    backend: RefCell<Arc<dyn Backend>>,
    answers: RefCell<HashMap<Question, Answer>>,
}

impl Names {
    /// Names that `backend` knows.
    pub(super) fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend: RefCell::new(backend), answers: RefCell::default() }
    }

    /// Forgets everything: an input ran, and may have changed anything. `backend` is where the session is now.
    pub(super) fn forget(&self, backend: Arc<dyn Backend>) {
        self.answers.borrow_mut().clear();
        *self.backend.borrow_mut() = backend;
    }

    /// The answer, sorted; empty if it does not come in time or the database refuses.
    pub(super) fn ask(&self, question: Question) -> Vec<String> {
        let mut answers = self.answers.borrow_mut();
        let answer = answers.entry(question.clone()).or_insert_with(|| {
            let (sender, receiver) = channel();
            let backend = Arc::clone(&self.backend.borrow());
            // A thread of its own, so that a server that does not answer cannot hold the prompt.
            let started = thread::Builder::new().name("names".to_owned()).spawn(move || {
                let _ = sender.send(names(&*backend, &question));
            });
            if started.is_ok() { Answer::Coming(receiver) } else { Answer::Here(Vec::new()) }
        });
        if let Answer::Coming(receiver) = answer {
            match receiver.recv_timeout(PATIENCE) {
                Ok(names) => *answer = Answer::Here(names),
                Err(_) => return Vec::new(),
            }
        }
        match answer {
            Answer::Here(names) => names.clone(),
            Answer::Coming(_) => Vec::new(),
        }
    }
}

/// Asks the database; an error is no name.
fn names(backend: &dyn Backend, question: &Question) -> Vec<String> {
    let run = |db: &str, body: RawDocumentBuf| {
        let interrupt = Interrupt::new().with_deadline(Instant::now() + LATEST);
        backend.run(Request { db: db.to_owned(), body, interrupt }).ok()
    };
    let mut found = BTreeSet::new();
    match question {
        Question::Databases => {
            let reply = run("admin", rawdoc! { "listDatabases": 1, "nameOnly": true });
            let list = reply.as_deref().and_then(|reply| reply.get_array("databases").ok());
            for database in list.into_iter().flatten().flatten() {
                found.extend(text(database, "name"));
            }
        }
        Question::Collections(db) => {
            let reply = run(db, rawdoc! { "listCollections": 1, "nameOnly": true, "cursor": {} });
            for collection in reply.as_deref().map(batch).unwrap_or_default() {
                found.extend(text(RawBsonRef::Document(collection), "name"));
            }
        }
        Question::Fields(db, collection) => {
            let reply = run(
                db,
                rawdoc! { "find": collection.as_str(), "limit": SAMPLE, "singleBatch": true },
            );
            for document in reply.as_deref().map(batch).unwrap_or_default() {
                fields(document, "", &mut found);
            }
        }
    }
    found.into_iter().collect()
}

/// The documents of a reply's first batch.
fn batch(reply: &RawDocument) -> Vec<&RawDocument> {
    let batch =
        reply.get_document("cursor").ok().and_then(|cursor| cursor.get_array("firstBatch").ok());
    batch.into_iter().flatten().flatten().filter_map(RawBsonRef::as_document).collect()
}

fn text(document: RawBsonRef<'_>, field: &str) -> Option<String> {
    document.as_document()?.get_str(field).ok().map(str::to_owned)
}

/// The dotted names of a document's fields; those inside an array are its elements'.
fn fields(document: &RawDocument, before: &str, found: &mut BTreeSet<String>) {
    // Deeper names are longer than what they complete.
    const DEEPEST: usize = 4;
    for (key, value) in document.iter().flatten() {
        let name = if before.is_empty() { key.to_string() } else { format!("{before}.{key}") };
        if before.matches('.').count() < DEEPEST {
            match value {
                RawBsonRef::Document(inner) => fields(inner, &name, found),
                RawBsonRef::Array(elements) => {
                    for inner in
                        elements.into_iter().flatten().filter_map(|element| element.as_document())
                    {
                        fields(inner, &name, found);
                    }
                }
                _ => {}
            }
        }
        found.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::sync::{Condvar, Mutex};

    use super::*;
    use crate::backend::{Cursor, Topology};
    use crate::error::{Error, Result};

    /// A database that answers each command once it may.
    #[derive(Default)]
    struct Gated {
        open: Mutex<bool>,
        opened: Condvar,
    }

    impl Gated {
        fn open() -> Arc<Self> {
            let gated = Arc::new(Self::default());
            gated.release();
            gated
        }

        fn release(&self) {
            *self.open.lock().expect("not poisoned") = true;
            self.opened.notify_all();
        }
    }

    impl Backend for Gated {
        fn describe(&self) -> Topology {
            Topology::Embedded { directory: None }
        }

        fn run(&self, request: Request) -> Result<RawDocumentBuf> {
            let open = self.open.lock().expect("not poisoned");
            drop(self.opened.wait_while(open, |open| !*open).expect("not poisoned"));
            let command =
                request.body.iter().next().expect("a command").expect("valid").0.to_string();
            match command.as_str() {
                "listCollections" => Ok(rawdoc! {
                    "cursor": { "firstBatch": [{ "name": "users" }, { "name": "a.b" }, { "odd": 1 }] },
                }),
                "find" => Ok(rawdoc! {
                    "cursor": { "firstBatch": [
                        { "_id": "users", "address": { "city": "x" } },
                        { "_id": 2, "tags": [{ "k": 1 }, 2], "name": "y" },
                    ] },
                }),
                _ => Err(Error::Usage("no".to_owned())),
            }
        }

        fn stream(&self, _: Request) -> Result<Box<dyn Cursor>> {
            Err(Error::Usage("no".to_owned()))
        }
    }

    #[test]
    fn names_come_from_replies_and_errors_are_silent() {
        let names = Names::new(Gated::open());
        assert_eq!(names.ask(Question::Collections("test".into())), ["a.b", "users"]);
        assert_eq!(
            names.ask(Question::Fields("test".into(), "users".into())),
            ["_id", "address", "address.city", "name", "tags", "tags.k"]
        );
        assert!(names.ask(Question::Databases).is_empty());
    }

    #[test]
    fn a_database_that_is_slow_does_not_hold_the_prompt_and_its_answer_is_there_the_next_time() {
        let gated = Arc::new(Gated::default());
        let names = Names::new(gated.clone());
        let question = || Question::Collections("test".into());
        assert!(names.ask(question()).is_empty(), "it goes on without the answer");
        gated.release();
        let found = iter::repeat_with(|| names.ask(question())).find(|names| !names.is_empty());
        assert_eq!(found.expect("it comes"), ["a.b", "users"]);
    }
}
