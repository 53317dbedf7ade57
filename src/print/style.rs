//! The styles: one row each, found by the name that a user types.

use super::{Data, Paint, Shown, mongo, mongosh};
use crate::shell::{Emulate, Inspection};
use crate::value::extended_json::Form;

/// How much of a value is shown, and how it is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Levels below the outermost; `None` for all.
    pub depth: Option<usize>,
    /// Elements of an array, a `Map` or a `Set`; `None` for all.
    pub elements: Option<usize>,
    /// UTF-16 units of a string; `None` for all.
    pub string: Option<usize>,
    /// Each object from a server is inspected as if it stood alone, whole.
    pub deep: bool,
    /// The columns that a line may take; `None` for any.
    pub width: Option<usize>,
    /// Dates stand without `ISODate(...)`, as Node shows them.
    pub bare_dates: bool,
    /// Fields are shown in the order of their names.
    pub sorted: bool,
    /// Short objects share lines. Without it every entry has its own.
    pub compact: bool,
    /// `undefined` shows an empty line where the emulated shell does so; only at a terminal.
    pub blank: bool,
    /// Whether to colour.
    pub paint: Paint,
}

impl Options {
    /// The prompt's, at a terminal or on a pipe.
    pub const PROMPT: Self = Self {
        depth: Some(6),
        elements: Some(100),
        string: Some(10_000),
        width: Some(80),
        bare_dates: false,
        sorted: false,
        deep: true,
        compact: true,
        blank: false,
        paint: Paint::Plain,
    };

    /// What a script file or `--eval` prints.
    pub const SCRIPT: Self = Self { deep: false, ..Self::PROMPT };

    /// The same as the settings of mongosh's `config` have it.
    #[must_use]
    pub fn set(self, inspection: Inspection) -> Self {
        let first = Inspection::default();
        let depth = if inspection.depth == first.depth { self.depth } else { inspection.depth };
        Self { depth, compact: self.compact && inspection.compact, ..self }
    }

    /// The same without any limit: documents of a cursor, the value of `--eval`.
    #[must_use]
    pub const fn whole(self) -> Self {
        Self { depth: None, elements: None, string: None, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::PROMPT
    }
}

/// A way to put values into text. No text ends with a line end; what is `None` prints no line at all.
pub trait Style: Sync {
    /// What the prompt shows for the value of an input.
    fn value(&self, value: &Shown, options: &Options) -> Option<String>;

    /// A page of a cursor. `pretty` is what `cursor.pretty()` asks for.
    fn documents(&self, page: &[Shown], pretty: bool, options: &Options) -> Option<String>;

    /// Whether pages can follow each other, so that all of a cursor is one page after another.
    fn pages_add_up(&self) -> bool;

    /// What `print` makes of one of its arguments.
    fn argument(&self, value: &Shown, options: &Options) -> String;

    /// What `printjson` makes of one of its arguments.
    fn json(&self, value: &Shown, options: &Options) -> String;
}

/// A style that a user can name.
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// One line for `help`.
    pub help: &'static str,
    /// What prints.
    pub printer: Printer,
}

/// What prints in a style.
#[derive(Clone, Copy)]
pub enum Printer {
    /// Values as a shell shows them.
    Shell(&'static dyn Style),
    /// Data, for programs.
    Data(Data),
}

/// All styles by name.
pub const STYLES: &[Row] = &[
    Row {
        name: "csv",
        help: "comma-separated values, nested fields by their path",
        printer: Printer::Data(Data::Csv),
    },
    Row {
        name: "ejson",
        help: "extended JSON that tells every type (canonical)",
        printer: Printer::Data(Data::Json(Form::Canonical)),
    },
    Row {
        name: "json",
        help: "a JSON value for each result, a cursor as one array (relaxed extended JSON)",
        printer: Printer::Data(Data::Json(Form::Relaxed)),
    },
    Row { name: "mongo", help: "as the classic shell prints", printer: Printer::Shell(&Mongo) },
    Row { name: "mongosh", help: "as mongosh prints", printer: Printer::Shell(&Mongosh) },
    Row {
        name: "ndjson",
        help: "a line of JSON for each document",
        printer: Printer::Data(Data::Lines),
    },
    Row { name: "table", help: "aligned columns", printer: Printer::Data(Data::Table) },
];

/// What prints in the style of that name.
pub fn printer(name: &str) -> Option<Printer> {
    STYLES.iter().find(|row| row.name == name).map(|row| row.printer)
}

/// The style of an emulated shell.
pub fn emulated(emulate: Emulate) -> &'static dyn Style {
    match emulate {
        Emulate::Mongo => &Mongo,
        Emulate::Mongosh => &Mongosh,
    }
}

/// The classic shell's.
struct Mongo;

impl Style for Mongo {
    fn value(&self, value: &Shown, options: &Options) -> Option<String> {
        mongo::print_value(value, options.paint)
    }

    fn documents(&self, page: &[Shown], pretty: bool, options: &Options) -> Option<String> {
        let lines: Vec<String> = page
            .iter()
            .map(|document| {
                if pretty {
                    mongo::pretty(document, options.paint)
                } else {
                    mongo::line(document, options.paint)
                }
            })
            .collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    fn pages_add_up(&self) -> bool {
        true
    }

    fn argument(&self, value: &Shown, _: &Options) -> String {
        mongo::print_argument(value)
    }

    fn json(&self, value: &Shown, _: &Options) -> String {
        mongo::tojson(value, "", None)
    }
}

/// mongosh's.
struct Mongosh;

impl Style for Mongosh {
    fn value(&self, value: &Shown, options: &Options) -> Option<String> {
        Some(mongosh::print_value(value, *options))
            .filter(|text| options.blank || !text.is_empty() || !is_nothing(value))
    }

    fn documents(&self, page: &[Shown], _: bool, options: &Options) -> Option<String> {
        Some(mongosh::documents(page, *options))
    }

    fn pages_add_up(&self) -> bool {
        false
    }

    fn argument(&self, value: &Shown, options: &Options) -> String {
        mongosh::print_argument(value, *options)
    }

    fn json(&self, value: &Shown, options: &Options) -> String {
        mongosh::print_json(value, *options)
    }
}

fn is_nothing(value: &Shown) -> bool {
    matches!(value, Shown::Undefined | Shown::Hole | Shown::Value(bson::Bson::Undefined))
}
