//! What a user can call: class tables, globals, shell words, counters.
//!
//! Everything with a name that a user can type is a row of a table. Dispatch, help, completion, "did you mean" and the
//! tests read the same row, so they cannot drift apart. Nothing here knows of JavaScript: a method gets BSON in and
//! gives a [`Reply`] out, through the one door in `script`.

mod assertions;
mod builtins;
mod bulk;
mod call;
mod collection;
mod command;
mod concern;
mod config;
mod counter;
mod cursor;
mod database;
mod database_admin;
pub mod departures;
pub mod examples;
mod explain;
mod extended_json;
mod files;
mod given;
mod global;
mod held;
mod help;
mod help_text;
mod lock_step;
mod md5;
mod mongo;
mod nearest;
mod node;
mod output;
mod plan_cache;
mod programs;
mod refusal;
mod replica;
mod result;
mod road;
mod rows;
mod session;
mod settings;
mod sharding;
mod testing;
mod types;
mod viewed;
mod waiting;
mod wire;
pub mod words;
mod write;

pub use call::{Arguments, Call, Receiver};
pub use config::Inspection;
pub use cursor::Page;
pub use files::machine;
pub use given::Given;
pub use lock_step::LockStep;
pub use nearest::nearest;
pub use output::{Output, Paced};
pub use settings::{Preferences, SETTINGS};
pub use wire::Sent;

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use bson::{RawBson, RawDocumentBuf};

use crate::backend::Backend;
use crate::error::Result;
use crate::interrupt::Interrupt;
use held::Table;
use wire::Wire;

/// Which shell is emulated. It decides number types, results and printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Emulate {
    /// The classic `mongo` shell, 4.4.
    #[default]
    Mongo,
    /// `mongosh` 2.x.
    Mongosh,
}

impl Emulate {
    /// The version of the emulated shell: what scripts look at.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Mongo => "4.4.6",
            Self::Mongosh => "2.12.0",
        }
    }
}

/// A class of the shell: `Database`, `Collection`, `Cursor`, `ObjectId`...
pub struct Class {
    /// What the door calls it and the prelude's key for it, e.g. `Collection`.
    pub name: &'static str,
    /// The global it hangs on: the constructor's name as `mongo` has it, e.g. `DBCollection`, or the object that gets
    /// the functions, e.g. `rs`; empty if it has none.
    pub global: &'static str,
    /// The other name that mongosh has for that global, e.g. `Long` for `NumberLong`; empty if there is none.
    pub modern: &'static str,
    /// What its rows become.
    pub kind: Kind,
    /// Which emulated shells have that global.
    pub shells: Shells,
    /// One line for `help`.
    pub help: &'static str,
    /// Its rows, sorted by name.
    pub methods: &'static [Method],
}

/// What the rows of a class become in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Methods of a prototype. A row `constructor` is what the global does when it is called, with `new` or without;
    /// without such a row the global cannot be called.
    Instances,
    /// As `Instances`; an object prints as `Name({...})` of its own fields (what printing calls a result).
    Results,
    /// As `Results`, and the objects are errors that can be thrown, derived from `Error`.
    Errors,
    /// Functions on the global of that name, which is made (a plain object) when there is none; `globalThis` stands for
    /// the globals themselves.
    Functions,
    /// Methods added to the prototype of the JavaScript built-in of that name (`String`, `Number`).
    Extensions,
}

/// One thing a user can call. Dispatch, help and completion all read this row.
pub struct Method {
    /// The name as typed, e.g. `findOne`.
    pub name: &'static str,
    /// Its arguments, e.g. `(filter, projection)`; empty for a property, which is read without a call (a getter that
    /// an own field of the same name shadows).
    pub usage: &'static str,
    /// One line of help; empty for the primitives under the prelude, which no listing shows.
    pub help: &'static str,
    /// Which emulated shells have it.
    pub shells: Shells,
    /// What runs.
    pub run: Run,
}

/// Which emulated shells have a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shells {
    /// Both.
    Both,
    /// Only `mongo`.
    Mongo,
    /// Only `mongosh`.
    Mongosh,
}

/// What runs when a method is called.
#[derive(Clone, Copy)]
pub enum Run {
    /// A Rust function over BSON arguments, behind the door.
    Native(fn(&mut Call<'_>) -> Result<Reply>),
    /// A function over any JavaScript values that shows them; `script` runs it with the style of the session.
    Show(Show),
    /// Code of the prelude under the same class and name, for methods that take functions or touch JavaScript values.
    Prelude,
}

/// The functions that show any JavaScript value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// `print(...)`: the arguments as the emulated shell prints them, joined by blanks, to the output.
    Print,
    /// `printjson(x)`.
    PrintJson,
    /// `printjsononeline(x)`.
    PrintJsonOneLine,
    /// `tojson(x, indent, nolint)`: answers with the text.
    ToJson,
    /// `tojsononeline(x)`.
    ToJsonOneLine,
}

/// What a method answers.
#[derive(Debug)]
pub enum Reply {
    /// `undefined`.
    Nothing,
    /// A value that the shell itself built; an int32 or a double is a number.
    Value(RawBson),
    /// A BSON value as an object of its class: what constructors answer. An int32 is a `NumberInt` object, a double a
    /// `Double`, a date a `Date`.
    Typed(RawBson),
    /// A value that came from the server: its numbers remember their types when it is saved again.
    Served(RawBson),
    /// Documents from the server, as an array.
    Documents(Vec<RawDocumentBuf>),
    /// A new object of a shell class with these own fields, e.g. `WriteResult`.
    Instance(&'static str, RawDocumentBuf),
    /// As [`Reply::Instance`], with further fields that its methods see and printing does not.
    Veiled {
        /// The class.
        class: &'static str,
        /// What is printed.
        fields: RawDocumentBuf,
        /// What is not.
        hidden: RawDocumentBuf,
    },
    /// A new object of a shell class that stands for something held in the [`Shell`], e.g. a cursor. When the object
    /// is collected, [`Shell::release`] forgets what it stood for.
    Handle(&'static str, u32),
    /// The connection that the receiver belongs to.
    Connection,
    /// A database object of the receiver's connection and session.
    Database(String),
    /// A database object of a connection that was just opened under that number.
    DatabaseAt(u32, String),
    /// A collection object: database and name.
    Collection(String, String),
    /// The receiver itself, for chaining.
    This,
}

/// Everything that the methods share: where commands go, the current database, open cursors, settings.
pub struct Shell {
    /// The shell's own connection.
    pub backend: Arc<dyn Backend>,
    /// Stops whatever runs.
    pub interrupt: Interrupt,
    /// The emulated shell.
    pub emulate: Emulate,
    /// The name of the database that the global `db` stands for; empty while there is none (`--nodb`).
    pub db: String,
    /// Where results and warnings go.
    pub output: Output,
    /// What the command line gives to scripts.
    pub given: Given,
    /// How many write errors stood in results that scripts were given.
    write_errors: Arc<AtomicUsize>,
    /// How many documents of a cursor a prompt shows at once (`DBQuery.shellBatchSize`).
    pub batch_size: usize,
    /// Cursors, bulk builders and whatever else script objects stand for.
    held: Table,
    /// By which road commands go that belong to no object.
    home: road::Road,
    /// What connections were told of all reads.
    reading: concern::Reading,
    /// The cursor that `it` goes on with.
    shown: Option<u32>,
    /// No script object stands for that cursor any more.
    orphaned: bool,
    /// Deprecations and notices that were given once already.
    noticed: Vec<&'static str>,
    /// The commands that were sent.
    wire: Wire,
    /// The document that was shown last, unless a script holds it.
    viewed: Option<RawBson>,
    /// Write concerns for the writes that name none.
    concerns: concern::Concerns,
    /// Queries and writes tell how long they took (`set verbose true`).
    pub verbose: bool,
    /// What the last write failed with, for `getLastError`.
    last_error: RefCell<Option<(i32, String)>>,
    /// What the user has set for the prompt.
    pub preferences: Preferences,
    /// What was typed so far, oldest first, for `history()`.
    pub typed: Vec<String>,
    /// What the programs that scripts ran have said.
    programs_said: String,
    /// The settings that mongosh's `config` has changed.
    settings: Vec<(&'static str, RawBson)>,
    /// What they decide of printing.
    pub inspection: Inspection,
}

impl Shell {
    /// A shell that sends its commands to `backend`, starting in database `db`.
    pub fn new(
        backend: Arc<dyn Backend>,
        interrupt: Interrupt,
        emulate: Emulate,
        db: impl Into<String>,
        output: Output,
    ) -> Self {
        Self {
            backend,
            interrupt,
            emulate,
            db: db.into(),
            output,
            given: Given::default(),
            write_errors: Arc::default(),
            batch_size: 20,
            held: Table::default(),
            home: road::Road::default(),
            reading: concern::Reading::new(),
            shown: None,
            orphaned: false,
            noticed: Vec::new(),
            wire: Wire::default(),
            viewed: None,
            concerns: concern::Concerns::new(),
            verbose: false,
            last_error: RefCell::default(),
            preferences: Preferences::default(),
            typed: Vec::new(),
            programs_said: String::new(),
            settings: Vec::new(),
            inspection: Inspection::default(),
        }
    }

    /// A shell for another thread: the same backend, database, settings and streams, and nothing open. `name` stands
    /// before each line of its trace; `turns` makes it go in lock step with others, under a number of its own from 0.
    #[must_use]
    pub fn sibling(
        &self,
        interrupt: Interrupt,
        name: String,
        turns: Option<(Arc<LockStep>, usize)>,
    ) -> Self {
        Self {
            backend: Arc::clone(self.server()),
            interrupt,
            emulate: self.emulate,
            db: self.db.clone(),
            output: self.output.clone(),
            given: self.given.clone(),
            write_errors: Arc::clone(&self.write_errors),
            batch_size: self.batch_size,
            held: Table::default(),
            home: road::Road::default(),
            reading: self.reading_of_own(),
            shown: None,
            orphaned: false,
            noticed: self.noticed.clone(),
            wire: self.wire.sibling(name, turns),
            viewed: None,
            concerns: self.concerns_of_own(),
            verbose: self.verbose,
            last_error: RefCell::default(),
            preferences: self.preferences,
            typed: Vec::new(),
            programs_said: String::new(),
            settings: self.settings.clone(),
            inspection: self.inspection,
        }
    }

    /// Forgets what a script object stood for: the object was collected. An open cursor is closed at the server, unless
    /// `it` may still go on with it.
    pub fn release(&mut self, handle: u32) {
        if self.shown == Some(handle) {
            self.orphaned = true;
        } else {
            self.held.remove(handle);
        }
    }

    /// How many write errors stood in results that scripts were given instead of an error.
    pub fn write_errors(&self) -> usize {
        self.write_errors.load(Ordering::Relaxed)
    }

    /// Counts the write errors of a result.
    fn count_write_errors(&self, errors: usize) {
        self.write_errors.fetch_add(errors, Ordering::Relaxed);
    }

    /// With `set verbose true`, says on stderr what was done, to how many documents and in which time; the words are the
    /// classic shell's.
    fn tell_time(&self, action: &str, count: usize, kind: &str, start: Instant) {
        if self.verbose {
            let took = start.elapsed().as_millis();
            self.output.notice(&format!("{action} {count} {kind}record(s) in {took}ms"));
        }
    }

    /// Says something on stderr, once in the life of this shell.
    fn notice(&mut self, text: &'static str) {
        if !self.noticed.contains(&text) {
            self.noticed.push(text);
            self.output.notice(text);
        }
    }
}

/// Every class, sorted by name.
pub fn classes() -> &'static [Class] {
    CLASSES
}

/// The class of that name.
pub fn class(name: &str) -> Option<&'static Class> {
    CLASSES.binary_search_by_key(&name, |class| class.name).ok().map(|at| &CLASSES[at])
}

impl Class {
    /// The row of that name.
    pub fn method(&self, name: &str) -> Option<&'static Method> {
        self.methods
            .binary_search_by_key(&name, |method| method.name)
            .ok()
            .map(|at| &self.methods[at])
    }
}

impl Method {
    /// Whether the row is a property: read, not called.
    pub fn is_property(&self) -> bool {
        self.usage.is_empty()
    }
}

impl Shells {
    /// Whether `emulate` is one of them.
    pub fn include(self, emulate: Emulate) -> bool {
        match self {
            Self::Both => true,
            Self::Mongo => emulate == Emulate::Mongo,
            Self::Mongosh => emulate == Emulate::Mongosh,
        }
    }
}

/// Sorted by name.
const CLASSES: &[Class] = &[
    builtins::ARRAY,
    assertions::ASSERT,
    types::BSON_REG_EXP,
    types::BSON_SYMBOL,
    types::BIN_DATA,
    types::BINARY_FUNCTIONS,
    bulk::BULK,
    bulk::BULK_FIND,
    result::BULK_WRITE_ERROR,
    result::BULK_WRITE_RESULT,
    cursor::CHANGE_STREAM,
    types::CODE,
    collection::COLLECTION,
    cursor::COMMAND_CURSOR,
    config::CONFIG,
    node::CONSOLE,
    counter::COUNTER,
    cursor::CURSOR,
    types::DB_POINTER,
    types::DB_REF,
    database::DATABASE,
    builtins::DATE,
    types::DECIMAL_FUNCTIONS,
    types::DOUBLE,
    types::DOUBLE_FUNCTIONS,
    extended_json::EJSON,
    explain::EXPLAINABLE,
    global::GLOBAL,
    types::INT_FUNCTIONS,
    types::LONG_FUNCTIONS,
    builtins::MATH,
    types::MAX_KEY,
    types::MIN_KEY,
    mongo::MONGO,
    counter::NEXT_VAL,
    node::NODE,
    node::NODE_ASSERT,
    types::NUMBER_DECIMAL,
    types::NUMBER_INT,
    types::NUMBER_LONG,
    builtins::NUMBER,
    builtins::OBJECT,
    types::OBJECT_ID,
    types::OBJECT_ID_FUNCTIONS,
    plan_cache::PLAN_CACHE,
    global::QUERY_SETTINGS,
    builtins::RANDOM,
    builtins::REG_EXP,
    replica::RS,
    session::SESSION,
    sharding::SH,
    builtins::STRING,
    testing::TEST_FUNCTIONS,
    testing::JS_TEST,
    testing::REPLICA_SET,
    testing::RUNNER,
    testing::SHARDED,
    types::TIMESTAMP,
    result::WRITE_COMMAND_ERROR,
    concern::WRITE_CONCERN,
    result::WRITE_CONCERN_ERROR,
    result::WRITE_ERROR,
    result::WRITE_RESULT,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_every_visible_row_has_help() {
        assert!(CLASSES.is_sorted_by(|left, right| left.name < right.name));
        for class in CLASSES {
            let sorted = class.methods.is_sorted_by(|left, right| left.name < right.name);
            assert!(sorted, "{} is not sorted", class.name);
            assert!(!class.help.is_empty());
        }
    }
}
