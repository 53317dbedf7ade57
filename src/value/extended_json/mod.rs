//! Extended JSON, version 2: BSON as JSON text and back, without a loss of type or of digits.
//!
//! [`write()`] and [`text`] make text of BSON, [`parse`] and [`read()`] make BSON of text. What is written is what
//! `js-bson` writes, which a user of mongosh sees, where that loses nothing; what is read is version 2, the older forms
//! of version 1 (`{"$date": 0}`, `{"$binary": "...", "$type": "00"}`, `{"$regex": "...", "$options": "..."}`) and plain JSON.

mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

pub use read::{parse, plain, read};
pub use write::{export, quoted, text, write};

/// How much of BSON's types the JSON shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Numbers are plain, dates between 1970 and 9999 are ISO texts. Reading it, whole numbers that a double holds
    /// exactly are numbers like any other.
    #[default]
    Relaxed,
    /// Every type is told. Reading it, an int64 stays one, however small.
    Canonical,
}

/// Why a text is no extended JSON, or a value cannot be written as such.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where in the document: field names and indexes, joined by dots; empty at the top level.
    pub path: String,
    /// Where in the text, line and column from 1, when it is no JSON at all.
    pub position: Option<(usize, usize)>,
}

impl Refusal {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), path: String::new(), position: None }
    }

    /// The same, one level further out.
    fn inside(mut self, name: &str) -> Self {
        self.path = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{name}.{}", self.path),
        };
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some((line, column)) = self.position {
            write!(f, " at line {line} column {column}")?;
        }
        if !self.path.is_empty() {
            write!(f, " (in {})", self.path)?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}
