//! What a user can call: class tables, globals, shell words, counters.
//!
//! Everything with a name that a user can type is a row of a table. Dispatch, help, completion, "did you mean" and the
//! tests read the same row, so they cannot drift apart. Nothing here knows of JavaScript: a method gets BSON in and
//! gives a [`Reply`] out, through the one door in `script`.

mod call;
mod output;

pub use call::{Arguments, Call, Receiver};
pub use output::{Output, Paced};

use std::sync::Arc;

use bson::{RawBson, RawDocumentBuf};

use crate::backend::Backend;
use crate::error::Result;
use crate::interrupt::Interrupt;

/// Which shell is emulated. It decides number types, results and printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Emulate {
    /// The classic `mongo` shell, 4.4.
    #[default]
    Mongo,
    /// `mongosh` 2.x.
    Mongosh,
}

/// A class of the shell: `Database`, `Collection`, `Cursor`, `ObjectId`...
pub struct Class {
    /// What the door calls it and the prelude's key for it, e.g. `Collection`.
    pub name: &'static str,
    /// The constructor's global name as `mongo` has it, e.g. `DBCollection`; empty if it has none.
    pub global: &'static str,
    /// One line for `help`.
    pub help: &'static str,
    /// Its rows, sorted by name.
    pub methods: &'static [Method],
}

/// One thing a user can call. Dispatch, help and completion all read this row.
pub struct Method {
    /// The name as typed, e.g. `findOne`.
    pub name: &'static str,
    /// Its arguments, e.g. `(filter, projection)`.
    pub usage: &'static str,
    /// One line of help.
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
    /// `tostrictjson(x)`: extended JSON.
    ToStrictJson,
}

/// What a method answers.
#[derive(Debug)]
pub enum Reply {
    /// `undefined`.
    Nothing,
    /// A value that the shell itself built.
    Value(RawBson),
    /// A value that came from the server: its numbers remember their types when it is saved again.
    Served(RawBson),
    /// Documents from the server, as an array.
    Documents(Vec<RawDocumentBuf>),
    /// A new object of a shell class with these own fields, e.g. `WriteResult`.
    Instance(&'static str, RawDocumentBuf),
    /// A new object of a shell class that stands for something held in the [`Shell`], e.g. a cursor.
    Handle(&'static str, u32),
    /// A database object.
    Database(String),
    /// A collection object: database and name.
    Collection(String, String),
    /// The receiver itself, for chaining.
    This,
}

/// Everything that the methods share: where commands go, the current database, open cursors, settings.
pub struct Shell {
    /// Where commands go.
    pub backend: Arc<dyn Backend>,
    /// Stops whatever runs.
    pub interrupt: Interrupt,
    /// The emulated shell.
    pub emulate: Emulate,
    /// The name of the database that the global `db` stands for.
    pub db: String,
    /// Where results and warnings go.
    pub output: Output,
}
