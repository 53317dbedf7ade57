//! From a tree of what can be shown to text: one module a style.
//!
//! `script` builds a [`Shown`] from a JavaScript value, `session` from a reply. The styles know nothing of either.

mod data;
mod grid;
pub mod ink;
pub mod mongo;
pub mod mongosh;
pub mod scalar;
mod served;
mod style;

pub use data::{Data, Flow};
pub use grid::{cell, columns};
pub use ink::{Ink, Paint};
pub use served::DB_REF;
pub use style::{Options, Printer, Row, STYLES, Style, emulated, printer};

use bson::Bson;

/// Everything a shell can be asked to show.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// `undefined`.
    Undefined,
    /// A missing element of an array.
    Hole,
    /// A JavaScript number, or an int32 or double that was read from a server.
    Number(f64),
    /// A BSON value other than a document or array: null, string, boolean, ObjectId, date, `Int32` for a
    /// `NumberInt(...)` object, `Int64` for `NumberLong`, and so on.
    Value(Bson),
    /// A `Date` that is no date.
    InvalidDate,
    /// A text that some `tojson`, `shellPrint` or `toString` gave; printed as it stands.
    Text(String),
    /// An array.
    Array(Vec<Shown>, Origin),
    /// An object.
    Object(Object),
    /// A function or class.
    Function {
        /// What the inspector calls it.
        kind: FunctionKind,
        /// Its `name`; may be empty.
        name: String,
        /// Its source text.
        source: String,
    },
    /// An error; `stack` is in the user's positions and may be empty.
    Error {
        /// `String(error)`, e.g. `TypeError: x is not a function`.
        text: String,
        /// Its stack without that first line.
        stack: String,
        /// Its own enumerable fields.
        fields: Vec<(String, Shown)>,
    },
    /// A `Map`.
    Map(Vec<(Shown, Shown)>),
    /// A `Set`.
    Set(Vec<Shown>),
    /// A typed array by its name and length, e.g. `Uint8Array(2)`.
    Typed {
        /// That name.
        name: String,
        /// Its elements.
        elements: Vec<Shown>,
    },
    /// A symbol, by its description.
    Symbol(String),
    /// A BigInt, in decimal digits.
    BigInt(String),
    /// A getter and/or setter that was not called.
    Accessor {
        /// Has a getter.
        get: bool,
        /// Has a setter.
        set: bool,
    },
    /// A reference to an object that is being shown already, `steps` levels up: 1 is the object, array, `Map` or `Set`
    /// that holds this reference itself.
    Ancestor(usize),
    /// A result of the shell's own (`WriteResult`, `BulkWriteResult`, `WriteError`): the classic shell prints
    /// `Name({...})`, mongosh the class name before the braces.
    Result {
        /// The class's name.
        name: String,
        /// Its fields.
        fields: Vec<(String, Shown)>,
    },
}

/// An object to show.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Object {
    /// The constructor's name unless it is a plain object; `None` for plain ones. `[Object: null prototype]` is the
    /// name of an object without prototype, and [`DB_REF`] that of a `DBRef`, whose fields are `$ref`, `$id` and
    /// perhaps `$db`.
    pub name: Option<String>,
    /// Own enumerable fields in order; symbol keys as `Symbol(x)`.
    pub fields: Vec<(String, Shown)>,
    /// Where it came from.
    pub origin: Origin,
}

/// Where a value came from: mongosh lays out what a server sent differently from what a script built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Origin {
    /// Built by a script.
    #[default]
    Script,
    /// Read from a server (or the embedded engine).
    Server,
}

/// What an inspector calls a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// `[Function: f]`
    Function,
    /// `[AsyncFunction: f]`
    Async,
    /// `[GeneratorFunction: f]`
    Generator,
    /// `[AsyncGeneratorFunction: f]`
    AsyncGenerator,
    /// `[class K]`
    Class,
}
