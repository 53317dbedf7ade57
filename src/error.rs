//! What can go wrong, sorted by who can do something about it, and MongoDB's error codes.
//!
//! Every room answers with this one [`Error`]. A server error has the same shape whether the embedded engine or a
//! remote server raised it, so nothing above can tell them apart.

use std::fmt;
use std::ops::Range;

use bson::{Bson, Document, doc};

/// The result of anything that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, sorted by who can do something about it.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// The input could not be read. Whoever typed it mends it.
    Syntax(Box<SyntaxError>),
    /// The script threw. Its author mends it.
    Thrown(Box<Thrown>),
    /// The database refused the command, in MongoDB's own words and codes.
    Command(Box<CommandError>),
    /// The server cannot be reached.
    Connection(String),
    /// The data directory cannot be read, written or trusted.
    Storage(String),
    /// Another process holds the data directory; whoever waits may have it.
    Held(String),
    /// A shell function was called wrongly; the text is the shell's own.
    Usage(String),
    /// A shell function throws an error object of a class of its own (`WriteError`, `MongoServerError`...).
    Raised(Box<Raised>),
    /// The user changed their mind (Ctrl-C).
    Interrupted,
    /// The script asked the process to end with this exit code (`quit(3)`).
    Exit(i32),
}

/// A text that is no input: what is wrong with it and where.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxError {
    /// One sentence without the position, e.g. ``expected a value after ":"``.
    pub message: String,
    /// Bytes of the text the user wrote, for the caret.
    pub span: Range<usize>,
}

/// A JavaScript exception that nobody caught.
#[derive(Clone, Debug, PartialEq)]
pub struct Thrown {
    /// The constructor's name (`TypeError`); empty when the thrown value is no error.
    pub name: String,
    /// `String(exception)`: what the classic shell prints after `uncaught exception: `.
    pub text: String,
    /// The exception's own `message`, or the text of a thrown value that is no error.
    pub message: String,
    /// Where it was thrown, innermost frame first, in the user's own positions.
    pub frames: Vec<Frame>,
    /// The server error behind it, when it came from the database.
    pub cause: Option<CommandError>,
    /// What mongosh's prompt tells beside it: the result and the write errors of a bulk write.
    pub more: Option<String>,
    /// What kind of value was thrown.
    pub kind: ThrownKind,
    /// The text was refused when it was read: nothing of it ran.
    pub early: bool,
}

/// What kind of value was thrown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThrownKind {
    /// An `Error` or an object derived from one.
    Error,
    /// An object that is no error (`throw {a: 1}`).
    Object,
    /// A string, number or other primitive.
    Primitive,
}

/// One line of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function's name; empty at the top level.
    pub function: String,
    /// The file as it was named by the user, or `(shell)`, `(shell eval)`.
    pub file: String,
    /// Line, from 1, in the text the user wrote.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// That line as the user wrote it, where the text is known.
    pub source: Option<String>,
}

impl Frame {
    /// `function@file:line:column`, as the old shell writes it.
    pub fn classic(&self) -> String {
        format!("{}@{}:{}:{}", self.function, self.file, self.line, self.column)
    }

    /// `at function (file:line:column)`, as Node writes it.
    pub fn modern(&self) -> String {
        let Self { function, file, line, column, .. } = self;
        match function.as_str() {
            "" => format!("at {file}:{line}:{column}"),
            name => format!("at {name} ({file}:{line}:{column})"),
        }
    }
}

/// An error object that a shell function throws.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Raised {
    /// The error's class: a class of the shell's table, or else the `name` of a plain JavaScript `Error`; `Error` is
    /// just that.
    pub class: &'static str,
    /// Its message, up to the document it quotes.
    pub message: String,
    /// A document that the message quotes as `tojson` writes it (`count failed: {...}`), which is printing's to write.
    pub quoted: Option<Document>,
    /// The message after that document.
    pub tail: String,
    /// Its own fields, e.g. `code` and `writeErrors`.
    pub fields: Document,
}

impl Raised {
    /// The whole message; `tojson` writes the quoted document.
    pub fn text(&self, tojson: impl FnOnce(&Document) -> String) -> String {
        let quoted = self.quoted.as_ref().map(tojson).unwrap_or_default();
        format!("{}{quoted}{}", self.message, self.tail)
    }
}

/// A command that the database refused.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandError {
    /// MongoDB's error code.
    pub code: Code,
    /// The server's words.
    pub message: String,
    /// Further fields of the reply, such as `keyPattern`, `keyValue`, `errInfo`.
    pub details: Document,
    /// `errorLabels`, e.g. `RetryableWriteError`.
    pub labels: Vec<String>,
}

impl CommandError {
    /// The refusal that a reply tells of: the reverse of [`CommandError::reply`].
    pub fn of_reply(mut reply: Document) -> Self {
        let code = Code(reply.get_i32("code").unwrap_or_default());
        let message = match reply.remove("errmsg") {
            Some(Bson::String(message)) => message,
            _ => "the command was refused".to_owned(),
        };
        let labels = match reply.remove("errorLabels") {
            Some(Bson::Array(labels)) => {
                labels.into_iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
            }
            _ => Vec::new(),
        };
        for own in ["ok", "code", "codeName"] {
            reply.remove(own);
        }
        Self { code, message, details: reply, labels }
    }

    /// The reply that a refused command has on the wire.
    pub fn reply(&self) -> Document {
        let mut reply = doc! {
            "ok": 0.0, "errmsg": &self.message, "code": self.code.0, "codeName": self.code.name(),
        };
        reply.extend(self.details.clone());
        if !self.labels.is_empty() {
            reply.insert("errorLabels", &self.labels);
        }
        reply
    }
}

impl Error {
    /// A refused command, in the server's words.
    pub fn command(code: Code, message: impl Into<String>) -> Self {
        Self::Command(Box::new(CommandError {
            code,
            message: message.into(),
            details: Document::new(),
            labels: Vec::new(),
        }))
    }

    /// A refused command with further reply fields.
    pub fn command_with(code: Code, message: impl Into<String>, details: Document) -> Self {
        Self::Command(Box::new(CommandError {
            code,
            message: message.into(),
            details,
            labels: Vec::new(),
        }))
    }

    /// The server's code, when the database refused.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::Command(error) => Some(error.code),
            _ => None,
        }
    }

    /// Whether it ends all that is running: nothing that was typed, no check and no `catch` goes on after it.
    pub fn stops(&self) -> bool {
        matches!(self, Self::Interrupted | Self::Exit(_))
    }

    /// Whether it is a text that could not be read, of which nothing ran.
    pub fn is_early(&self) -> bool {
        match self {
            Self::Syntax(_) => true,
            Self::Thrown(thrown) => thrown.early,
            _ => false,
        }
    }

    /// The same error with `prefix` in front of the server's words.
    ///
    /// MongoDB nests messages with ` :: caused by :: `; the prefix carries that itself.
    #[must_use]
    pub fn prefixed(self, prefix: &str) -> Self {
        match self {
            Self::Command(mut error) => {
                error.message.insert_str(0, prefix);
                Self::Command(error)
            }
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "SyntaxError: {}", error.message),
            Self::Thrown(thrown) => f.write_str(&thrown.text),
            Self::Command(error) => f.write_str(&error.message),
            Self::Connection(message)
            | Self::Storage(message)
            | Self::Held(message)
            | Self::Usage(message) => f.write_str(message),
            Self::Raised(raised) => f.write_str(&raised.text(Document::to_string)),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Exit(code) => write!(f, "exit with code {code}"),
        }
    }
}

impl std::error::Error for Error {}

/// Shorthand for a [`Code::BAD_VALUE`] error with a formatted message.
#[macro_export]
macro_rules! bad_value {
    ($($argument:tt)*) => {
        $crate::error::Error::command($crate::error::Code::BAD_VALUE, format!($($argument)*))
    };
}

/// Shorthand for a refused command: `refuse!(TYPE_MISMATCH, "…")`.
#[macro_export]
macro_rules! refuse {
    ($code:ident, $($argument:tt)*) => {
        $crate::error::Error::command($crate::error::Code::$code, format!($($argument)*))
    };
}

/// A server error code. Any number is valid; the known ones have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(pub i32);

impl Code {
    /// The codes that have a name, by number.
    pub fn known() -> impl Iterator<Item = (i32, &'static str)> {
        CODES.iter().copied()
    }

    /// The `codeName` of a reply: the listed name, or `LocationN`.
    pub fn name(self) -> String {
        match CODES.binary_search_by_key(&self.0, |(code, _)| *code) {
            Ok(at) => CODES[at].1.to_owned(),
            Err(_) => format!("Location{}", self.0),
        }
    }
}

macro_rules! codes {
    ($($number:literal $constant:ident $name:literal;)*) => {
        impl Code {
            $(#[doc = $name] pub const $constant: Self = Self($number);)*
        }
        /// Number and name, sorted by number.
        const CODES: &[(i32, &str)] = &[$(($number, $name)),*];
    };
}

codes! {
    1 INTERNAL_ERROR "InternalError";
    2 BAD_VALUE "BadValue";
    9 FAILED_TO_PARSE "FailedToParse";
    11 USER_NOT_FOUND "UserNotFound";
    13 UNAUTHORIZED "Unauthorized";
    14 TYPE_MISMATCH "TypeMismatch";
    15 OVERFLOW "Overflow";
    16 INVALID_LENGTH "InvalidLength";
    17 PROTOCOL_ERROR "ProtocolError";
    18 AUTHENTICATION_FAILED "AuthenticationFailed";
    20 ILLEGAL_OPERATION "IllegalOperation";
    22 INVALID_BSON "InvalidBSON";
    26 NAMESPACE_NOT_FOUND "NamespaceNotFound";
    27 INDEX_NOT_FOUND "IndexNotFound";
    28 PATH_NOT_VIABLE "PathNotViable";
    31 ROLE_NOT_FOUND "RoleNotFound";
    40 CONFLICTING_UPDATE_OPERATORS "ConflictingUpdateOperators";
    43 CURSOR_NOT_FOUND "CursorNotFound";
    48 NAMESPACE_EXISTS "NamespaceExists";
    50 MAX_TIME_MS_EXPIRED "MaxTimeMSExpired";
    52 DOLLAR_PREFIXED_FIELD_NAME "DollarPrefixedFieldName";
    53 INVALID_ID_FIELD "InvalidIdField";
    54 NOT_SINGLE_VALUE_FIELD "NotSingleValueField";
    55 INVALID_DB_REF "InvalidDBRef";
    56 EMPTY_FIELD_NAME "EmptyFieldName";
    57 DOTTED_FIELD_NAME "DottedFieldName";
    59 COMMAND_NOT_FOUND "CommandNotFound";
    61 SHARD_KEY_NOT_FOUND "ShardKeyNotFound";
    66 IMMUTABLE_FIELD "ImmutableField";
    67 CANNOT_CREATE_INDEX "CannotCreateIndex";
    68 INDEX_ALREADY_EXISTS "IndexAlreadyExists";
    72 INVALID_OPTIONS "InvalidOptions";
    73 INVALID_NAMESPACE "InvalidNamespace";
    76 NO_REPLICATION_ENABLED "NoReplicationEnabled";
    79 UNKNOWN_REPL_WRITE_CONCERN "UnknownReplWriteConcern";
    85 INDEX_OPTIONS_CONFLICT "IndexOptionsConflict";
    86 INDEX_KEY_SPECS_CONFLICT "IndexKeySpecsConflict";
    91 SHUTDOWN_IN_PROGRESS "ShutdownInProgress";
    96 OPERATION_FAILED "OperationFailed";
    100 UNSATISFIABLE_WRITE_CONCERN "UnsatisfiableWriteConcern";
    112 WRITE_CONFLICT "WriteConflict";
    115 COMMAND_NOT_SUPPORTED "CommandNotSupported";
    116 DOC_TOO_LARGE_FOR_CAPPED "DocTooLargeForCapped";
    121 DOCUMENT_VALIDATION_FAILURE "DocumentValidationFailure";
    125 COMMAND_FAILED "CommandFailed";
    136 CAPPED_POSITION_LOST "CappedPositionLost";
    139 JS_INTERPRETER_FAILURE "JSInterpreterFailure";
    146 EXCEEDED_MEMORY_LIMIT "ExceededMemoryLimit";
    166 COMMAND_NOT_SUPPORTED_ON_VIEW "CommandNotSupportedOnView";
    167 OPTION_NOT_SUPPORTED_ON_VIEW "OptionNotSupportedOnView";
    168 INVALID_PIPELINE_OPERATOR "InvalidPipelineOperator";
    171 CANNOT_INDEX_PARALLEL_ARRAYS "CannotIndexParallelArrays";
    175 QUERY_PLAN_KILLED "QueryPlanKilled";
    186 CLIENT_METADATA_CANNOT_BE_MUTATED "ClientMetadataCannotBeMutated";
    197 INVALID_INDEX_SPECIFICATION_OPTION "InvalidIndexSpecificationOption";
    211 KEY_NOT_FOUND "KeyNotFound";
    224 QUERY_FEATURE_NOT_ALLOWED "QueryFeatureNotAllowed";
    225 TRANSACTION_TOO_OLD "TransactionTooOld";
    238 NOT_IMPLEMENTED "NotImplemented";
    241 CONVERSION_FAILURE "ConversionFailure";
    251 NO_SUCH_TRANSACTION "NoSuchTransaction";
    256 TRANSACTION_COMMITTED "TransactionCommitted";
    263 OPERATION_NOT_SUPPORTED_IN_TRANSACTION "OperationNotSupportedInTransaction";
    276 INDEX_BUILD_ABORTED "IndexBuildAborted";
    292 QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED "QueryExceededMemoryLimitNoDiskUseAllowed";
    334 MECHANISM_UNAVAILABLE "MechanismUnavailable";
    352 UNSUPPORTED_OP_QUERY_COMMAND "UnsupportedOpQueryCommand";
    10107 NOT_WRITABLE_PRIMARY "NotWritablePrimary";
    10334 BSON_OBJECT_TOO_LARGE "BSONObjectTooLarge";
    11000 DUPLICATE_KEY "DuplicateKey";
    11600 INTERRUPTED_AT_SHUTDOWN "InterruptedAtShutdown";
    11601 INTERRUPTED "Interrupted";
    11602 INTERRUPTED_DUE_TO_REPL_STATE_CHANGE "InterruptedDueToReplStateChange";
    13435 NOT_PRIMARY_NO_SECONDARY_OK "NotPrimaryNoSecondaryOk";
    13436 NOT_PRIMARY_OR_SECONDARY "NotPrimaryOrSecondary";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_the_servers_name_or_its_location() {
        assert_eq!(Code::DUPLICATE_KEY.name(), "DuplicateKey");
        assert_eq!(Code(16608).name(), "Location16608");
        assert!(CODES.is_sorted_by_key(|(code, _)| *code));
    }
}
