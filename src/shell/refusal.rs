//! What a script gets thrown when the database refuses or an argument is wrong, in the words of either shell.

use bson::{Bson, Document};

use super::{Emulate, Shell};
use crate::error::{Error, Raised};

/// A plain error with the shell's own words.
pub(super) fn usage(text: impl Into<String>) -> Error {
    Error::Usage(text.into())
}

/// An error of a class that only mongosh has.
pub(super) fn raised(class: &'static str, message: impl Into<String>) -> Error {
    Error::Raised(Box::new(Raised { class, message: message.into(), ..Raised::default() }))
}

/// mongosh: the driver's complaint about an argument.
pub(super) fn invalid_argument(message: impl Into<String>) -> Error {
    raised("MongoInvalidArgumentError", message)
}

/// mongosh: the shell's complaint about an argument.
pub(super) fn invalid_input(message: impl AsRef<str>) -> Error {
    raised("MongoshInvalidInputError", format!("[COMMON-10001] {}", message.as_ref()))
}

/// mongosh: an argument that must not be left out.
pub(super) fn missing_argument(position: usize, method: &str) -> Error {
    invalid_input(format!("Missing required argument at position {position} ({method})"))
}

impl Shell {
    /// What reading `db` throws while there is none (`--nodb`), in the emulated shell's words.
    pub fn no_database(&self) -> Error {
        match self.emulate {
            Emulate::Mongo => raised("ReferenceError", "db is not defined"),
            Emulate::Mongosh => {
                raised("MongoshInvalidInputError", "[SHAPI-10004] No connected database")
            }
        }
    }
}

impl Shell {
    /// Whether the classic shell is emulated.
    pub(super) fn classic(&self) -> bool {
        self.emulate == Emulate::Mongo
    }

    /// The words of the classic shell, or the error that mongosh has in their place.
    pub(super) fn wrong(&self, classic: &str, mongosh: Error) -> Error {
        match self.emulate {
            Emulate::Mongo => usage(classic),
            Emulate::Mongosh => mongosh,
        }
    }

    /// What a method throws for a refused command: the classic shell quotes the reply between `before` and `after`,
    /// mongosh throws the server's error as it is. Other errors pass.
    pub(super) fn refused(&self, error: Error, before: &str, after: &str) -> Error {
        match (self.emulate, error) {
            (Emulate::Mongo, Error::Command(error)) => {
                let reply = error.reply();
                let mut fields = Document::new();
                for key in ["code", "codeName", "errorLabels"] {
                    if let Some(value) = reply.get(key) {
                        fields.insert(key, value.clone());
                    }
                }
                Error::Raised(Box::new(Raised {
                    class: "Error",
                    message: before.to_owned(),
                    quoted: Some(reply),
                    tail: after.to_owned(),
                    fields,
                }))
            }
            (_, error) => error,
        }
    }

    /// As [`Shell::refused`] for the usual `NAME failed: {...}`.
    pub(super) fn failed(&self, error: Error, name: &str) -> Error {
        self.refused(error, &format!("{name} failed: "), "")
    }
}

/// An error object of one of the classes that carry fields and no message of their own.
pub(super) fn raised_with(
    class: &'static str,
    message: impl Into<String>,
    fields: impl IntoIterator<Item = (String, Bson)>,
) -> Error {
    Error::Raised(Box::new(Raised {
        class,
        message: message.into(),
        fields: fields.into_iter().collect(),
        ..Raised::default()
    }))
}
