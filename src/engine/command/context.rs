//! What every command has: the engine, its database and body, how long it may take, and how durable its writes are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bson::spec::ElementType;
use bson::{DateTime, Document, RawBsonRef, RawDocument};

use super::fields::{decode, type_name};
use super::name;
use super::retry::Retried;
use crate::engine::expr::{Expression, Scope};
use crate::engine::storage::{Collection, Storage};
use crate::engine::{Request, Shared};
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use crate::{bad_value, refuse};

/// The deepest nesting of a command.
const DEEPEST: usize = 200;

/// The least that a document takes inside another one: its type, an empty name, its length and its end.
const SMALLEST_LEVEL: usize = 7;

/// One command being run.
pub(crate) struct Context<'a> {
    pub(super) shared: &'a Arc<Shared>,
    pub(super) database: &'a str,
    pub(super) body: &'a RawDocument,
    /// Raised by the user, or by `maxTimeMS`.
    pub(super) interrupt: Interrupt,
    /// Whether writes have to reach the disk before the reply.
    pub(super) durable: bool,
    /// Set when the command may come again.
    pub(super) retried: Option<Retried>,
}

/// What was run since the engine was opened, for `serverStatus`.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(super) started: Instant,
    pub(super) insert: AtomicU64,
    pub(super) query: AtomicU64,
    pub(super) update: AtomicU64,
    pub(super) delete: AtomicU64,
    pub(super) get_more: AtomicU64,
    pub(super) command: AtomicU64,
}

impl Default for Tally {
    fn default() -> Self {
        let zero = AtomicU64::default;
        Self {
            started: Instant::now(),
            insert: zero(),
            query: zero(),
            update: zero(),
            delete: zero(),
            get_more: zero(),
            command: zero(),
        }
    }
}

/// Counts one more.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl<'a> Context<'a> {
    /// Reads what any command may carry.
    pub(super) fn new(shared: &'a Arc<Shared>, request: &'a Request) -> Result<Self> {
        let mut context = Self {
            shared,
            database: &request.db,
            body: &request.body,
            interrupt: request.interrupt.clone(),
            durable: false,
            retried: None,
        };
        let shallow = request.body.as_bytes().len() < DEEPEST * SMALLEST_LEVEL;
        for entry in &*request.body {
            let (field, value) = entry.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
            // What is to be stored has its own, lower limit.
            if field != "documents" && !shallow {
                check_depth(value, 1)?;
            }
            match (field.as_str(), value) {
                ("maxTimeMS", value) => {
                    if let Some(limit) = max_time(value)? {
                        context.interrupt = request.interrupt.with_deadline(Instant::now() + limit);
                    }
                }
                ("writeConcern", RawBsonRef::Document(concern)) => {
                    context.durable = write_concern(concern)?
                }
                ("readConcern", RawBsonRef::Document(concern)) => read_concern(concern)?,
                ("txnNumber" | "startTransaction" | "autocommit", _) => {
                    return Err(refuse!(
                        ILLEGAL_OPERATION,
                        "Transaction numbers are only allowed on a replica set member or mongos"
                    ));
                }
                _ => {}
            }
        }
        Ok(context)
    }

    /// The same command on another database.
    pub(super) fn within<'b>(&'b self, database: &'b str) -> Context<'b> {
        Context { database, interrupt: self.interrupt.clone(), retried: None, ..*self }
    }

    pub(super) fn storage(&self) -> &'a Storage {
        &self.shared.storage
    }

    /// The collection that the command's first field names.
    pub(super) fn collection_name(&self) -> Result<&'a str> {
        name::collection(self.database, self.body)
    }

    pub(super) fn collection(&self, name: &str) -> Option<Arc<Collection>> {
        self.storage().collection(self.database, name)
    }

    pub(super) fn namespace(&self, name: &str) -> String {
        format!("{}.{name}", self.database)
    }

    /// The time of the command and its `let` variables.
    pub(super) fn scope(&self, variables: Option<&RawDocument>) -> Result<Scope> {
        let scope = Scope::new(DateTime::now())
            .with_interrupt(self.interrupt.clone())
            .with_functions(self.shared.hook());
        let Some(variables) = variables else { return Ok(scope) };
        let mut values = Document::new();
        for (variable, expression) in decode(variables)? {
            let valid = variable
                .chars()
                .next()
                .is_some_and(|first| first.is_ascii_lowercase() || !first.is_ascii());
            if !valid {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "'{variable}' starts with an invalid character for a user variable name"
                ));
            }
            let value =
                Expression::parse(&expression, &scope)?.evaluate(&Document::new(), &scope)?;
            values.insert(variable, value.unwrap_or(bson::Bson::Null));
        }
        Ok(scope.with_variables(values))
    }
}

/// Refuses a command that is nested deeper than any BSON may be, before anything walks down into it.
fn check_depth(value: RawBsonRef<'_>, depth: usize) -> Result<()> {
    let elements = match value {
        RawBsonRef::Document(document) => document.iter_elements(),
        RawBsonRef::Array(array) => array.iter_elements(),
        RawBsonRef::JavaScriptCodeWithScope(code) => code.scope.iter_elements(),
        _ => return Ok(()),
    };
    if depth > DEEPEST {
        return Err(refuse!(OVERFLOW, "BSONObj exceeds maximum nested object depth: {DEEPEST}"));
    }
    for element in elements {
        let element = element.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
        if matches!(
            element.element_type(),
            ElementType::EmbeddedDocument
                | ElementType::Array
                | ElementType::JavaScriptCodeWithScope
        ) {
            let value = element.value().map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
            check_depth(value, depth + 1)?;
        }
    }
    Ok(())
}

fn max_time(value: RawBsonRef<'_>) -> Result<Option<Duration>> {
    let number = match value {
        RawBsonRef::Int32(number) => f64::from(number),
        RawBsonRef::Int64(number) => number as f64,
        RawBsonRef::Double(number) => number,
        RawBsonRef::Decimal128(number) => number.to_string().parse().unwrap_or(f64::NAN),
        RawBsonRef::Null | RawBsonRef::Undefined => return Ok(None),
        _ => return Err(bad_value!("maxTimeMS must be a number")),
    };
    if number.fract() != 0.0 {
        return Err(bad_value!("maxTimeMS has non-integral value"));
    }
    if !(0.0..=f64::from(i32::MAX)).contains(&number) {
        return Err(bad_value!("{number} value for maxTimeMS is out of range [0, {}]", i32::MAX));
    }
    Ok((number > 0.0).then(|| Duration::from_millis(number as u64)))
}

/// Whether writes have to reach the disk.
fn write_concern(concern: &RawDocument) -> Result<bool> {
    let mut durable = false;
    for entry in concern {
        let (field, value) = entry.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
        match (field.as_str(), value) {
            ("w", RawBsonRef::String("majority") | RawBsonRef::Null) => {}
            ("w", RawBsonRef::String(tag)) => {
                return Err(refuse!(
                    UNKNOWN_REPL_WRITE_CONCERN,
                    "No write concern mode named '{tag}' found in replica set configuration"
                ));
            }
            ("w", value) => match super::fields::integer(value) {
                Some(0 | 1) => {}
                Some(2..=50) => {
                    return Err(bad_value!("cannot use 'w' > 1 when a host is not replicated"));
                }
                Some(_) => {
                    return Err(refuse!(
                        FAILED_TO_PARSE,
                        "w has to be a non-negative number and not greater than 50"
                    ));
                }
                None => {
                    return Err(refuse!(
                        FAILED_TO_PARSE,
                        "w has to be a number, string, or object; found: {}",
                        type_name(value)
                    ));
                }
            },
            ("j" | "fsync", value) => match super::fields::truth(value) {
                Some(flag) => durable |= flag,
                None => {
                    return Err(refuse!(
                        FAILED_TO_PARSE,
                        "{} must be numeric or a boolean value",
                        field.as_str()
                    ));
                }
            },
            ("wtimeout" | "wtimeoutMS" | "provenance" | "getLastError" | "wOpTime", _) => {}
            (unknown, _) => {
                return Err(Error::command(
                    Code(40415),
                    format!("BSON field 'writeConcern.{unknown}' is an unknown field."),
                ));
            }
        }
    }
    Ok(durable)
}

fn read_concern(concern: &RawDocument) -> Result<()> {
    match concern.get("level") {
        Ok(None) | Ok(Some(RawBsonRef::String("local" | "available" | "majority"))) => Ok(()),
        Ok(Some(RawBsonRef::String("linearizable" | "snapshot"))) => Err(Error::command(
            Code(246),
            "node needs to be a replica set member to use read concern",
        )),
        Ok(Some(RawBsonRef::String(other))) => Err(refuse!(
            BAD_VALUE,
            "Enumeration value '{other}' for field 'readConcern.level' is not a valid value."
        )),
        Ok(Some(other)) => Err(refuse!(
            TYPE_MISMATCH,
            "BSON field 'readConcern.level' is the wrong type '{}', expected type 'string'",
            type_name(other)
        )),
        Err(error) => Err(refuse!(INVALID_BSON, "{error}")),
    }
}
