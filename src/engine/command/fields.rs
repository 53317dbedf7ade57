//! The one reader of command fields: strict as the server, in the server's words.

use std::cell::Cell;

use bson::{Bson, Document, RawBsonRef, RawDocument};

use crate::error::{Code, Error, Result};
use crate::refuse;

/// Fields that every command may carry; most mean nothing here.
const GENERIC: &[&str] = &[
    "$audit",
    "$client",
    "$clusterTime",
    "$configServerState",
    "$configTime",
    "$db",
    "$oplogQueryData",
    "$queryOptions",
    "$readPreference",
    "$replData",
    "$topologyTime",
    "apiDeprecationErrors",
    "apiStrict",
    "apiVersion",
    "autocommit",
    "comment",
    "coordinator",
    "databaseVersion",
    "help",
    "lsid",
    "maxTimeMS",
    "maxTimeMSOpOnly",
    "mayBypassWriteBlocking",
    "readConcern",
    "shardVersion",
    "startTransaction",
    "tracking_info",
    "txnNumber",
    "txnRetryCounter",
    "writeConcern",
];

/// The fields of a command, or of one of its parts. Each is asked for once; [`Fields::finish`] then refuses the rest.
pub(super) struct Fields<'a> {
    /// What the server calls the document in its messages.
    name: &'static str,
    entries: Vec<(&'a str, RawBsonRef<'a>)>,
    /// A bit for each entry that was asked for.
    taken: Cell<u128>,
    generic: bool,
}

impl<'a> Fields<'a> {
    /// The fields of a command; the first one, its name, counts as asked for.
    pub(super) fn command(name: &'static str, body: &'a RawDocument) -> Result<Self> {
        let fields = Self::read(name, body, true)?;
        fields.taken.set(1);
        Ok(fields)
    }

    /// The fields of a document within a command.
    pub(super) fn part(name: &'static str, document: &'a RawDocument) -> Result<Self> {
        Self::read(name, document, false)
    }

    fn read(name: &'static str, document: &'a RawDocument, generic: bool) -> Result<Self> {
        let mut entries: Vec<(&str, RawBsonRef<'_>)> = Vec::with_capacity(16);
        for entry in document {
            let (key, value) = entry.map_err(|error| refuse!(INVALID_BSON, "{error}"))?;
            let key = key.as_str();
            if entries.iter().any(|(other, _)| *other == key) {
                return Err(Error::command(
                    Code(40413),
                    format!("BSON field '{name}.{key}' is a duplicate field"),
                ));
            }
            if entries.len() == 128 {
                return Err(unknown(name, key));
            }
            entries.push((key, value));
        }
        Ok(Self { name, entries, taken: Cell::new(0), generic })
    }

    /// A field as it is. Null and undefined count as absent.
    pub(super) fn value(&self, field: &str) -> Option<RawBsonRef<'a>> {
        self.present(field)
            .filter(|value| !matches!(value, RawBsonRef::Null | RawBsonRef::Undefined))
    }

    /// A field as it is, null included.
    pub(super) fn present(&self, field: &str) -> Option<RawBsonRef<'a>> {
        let at = self.entries.iter().position(|(name, _)| *name == field)?;
        self.taken.set(self.taken.get() | 1 << at);
        Some(self.entries[at].1)
    }

    /// Accepts fields that mean nothing here.
    pub(super) fn ignore(&self, fields: &[&str]) {
        for field in fields {
            self.present(field);
        }
    }

    pub(super) fn raw_document(&self, field: &'static str) -> Result<Option<&'a RawDocument>> {
        match self.value(field) {
            None => Ok(None),
            Some(RawBsonRef::Document(document)) => Ok(Some(document)),
            Some(other) => Err(self.wrong(field, other, "object")),
        }
    }

    pub(super) fn document(&self, field: &'static str) -> Result<Option<Document>> {
        self.raw_document(field)?.map(decode).transpose()
    }

    pub(super) fn text(&self, field: &'static str) -> Result<Option<&'a str>> {
        match self.value(field) {
            None => Ok(None),
            Some(RawBsonRef::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(field, other, "string")),
        }
    }

    /// A boolean that has to be one.
    pub(super) fn flag(&self, field: &'static str) -> Result<Option<bool>> {
        match self.value(field) {
            None => Ok(None),
            Some(RawBsonRef::Boolean(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.wrong(field, other, "bool")),
        }
    }

    /// A boolean that may be a number.
    pub(super) fn loose_flag(&self, field: &'static str) -> Result<bool> {
        match self.value(field) {
            None => Ok(false),
            Some(value) => match truth(value) {
                Some(flag) => Ok(flag),
                None => Err(self.wrong_list(field, value, "bool, long, int, decimal, double")),
            },
        }
    }

    /// A whole number; a fraction is cut off, as the server does.
    pub(super) fn long(&self, field: &'static str) -> Result<Option<i64>> {
        match self.value(field) {
            None => Ok(None),
            Some(value) => match integer(value) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong_list(field, value, "long, int, decimal, double")),
            },
        }
    }

    /// A whole number that is not negative.
    pub(super) fn count(&self, field: &'static str) -> Result<Option<u64>> {
        let Some(number) = self.long(field)? else { return Ok(None) };
        u64::try_from(number).map(Some).map_err(|_| {
            Error::command(
                Code(51024),
                format!("BSON field '{field}' value must be >= 0, actual value '{number}'"),
            )
        })
    }

    /// An array's elements.
    pub(super) fn array(&self, field: &'static str) -> Result<Option<Vec<RawBsonRef<'a>>>> {
        match self.value(field) {
            None => Ok(None),
            Some(RawBsonRef::Array(array)) => {
                let elements = array
                    .into_iter()
                    .map(|element| element.map_err(|error| refuse!(INVALID_BSON, "{error}")));
                Ok(Some(elements.collect::<Result<_>>()?))
            }
            Some(other) => Err(self.wrong(field, other, "array")),
        }
    }

    /// An array of documents.
    pub(super) fn documents(&self, field: &'static str) -> Result<Option<Vec<&'a RawDocument>>> {
        let Some(elements) = self.array(field)? else { return Ok(None) };
        let documents = elements.into_iter().enumerate().map(|(at, element)| match element {
            RawBsonRef::Document(document) => Ok(document),
            other => Err(refuse!(
                TYPE_MISMATCH,
                "BSON field '{}.{field}.{at}' is the wrong type '{}', expected type 'object'",
                self.name,
                type_name(other)
            )),
        });
        Ok(Some(documents.collect::<Result<_>>()?))
    }

    /// What a required field was found to be.
    pub(super) fn required<T>(&self, field: &str, found: Option<T>) -> Result<T> {
        found.ok_or_else(|| {
            Error::command(
                Code(40414),
                format!("BSON field '{}.{field}' is missing but a required field", self.name),
            )
        })
    }

    /// Refuses every field that nobody asked for.
    pub(super) fn finish(self) -> Result<()> {
        let taken = self.taken.get();
        for (at, (field, _)) in self.entries.iter().enumerate() {
            if taken & 1 << at == 0 && !(self.generic && GENERIC.contains(field)) {
                return Err(unknown(self.name, field));
            }
        }
        Ok(())
    }

    pub(super) fn wrong(&self, field: &str, found: RawBsonRef<'_>, wanted: &str) -> Error {
        refuse!(
            TYPE_MISMATCH,
            "BSON field '{}.{field}' is the wrong type '{}', expected type '{wanted}'",
            self.name,
            type_name(found)
        )
    }

    fn wrong_list(&self, field: &str, found: RawBsonRef<'_>, wanted: &str) -> Error {
        // The quote stands where the server puts it.
        refuse!(
            TYPE_MISMATCH,
            "BSON field '{}.{field}' is the wrong type '{}', expected types '[{wanted}']",
            self.name,
            type_name(found)
        )
    }
}

fn unknown(name: &str, field: &str) -> Error {
    Error::command(Code(40415), format!("BSON field '{name}.{field}' is an unknown field."))
}

/// The name that messages give to a value's type.
pub(super) fn type_name(value: RawBsonRef<'_>) -> &'static str {
    Bson::try_from(value).map_or("invalid", |value| crate::value::text::type_name(&value))
}

/// A document decoded.
pub(super) fn decode(document: &RawDocument) -> Result<Document> {
    Document::try_from(document).map_err(|error| refuse!(INVALID_BSON, "{error}"))
}

/// A value decoded.
pub(super) fn decode_value(value: RawBsonRef<'_>) -> Result<Bson> {
    Bson::try_from(value).map_err(|error| refuse!(INVALID_BSON, "{error}"))
}

/// A number as a whole one.
pub(super) fn integer(value: RawBsonRef<'_>) -> Option<i64> {
    match value {
        RawBsonRef::Int32(number) => Some(i64::from(number)),
        RawBsonRef::Int64(number) => Some(number),
        // A cast from a double saturates and makes NaN 0, as the server does.
        RawBsonRef::Double(number) => Some(number as i64),
        RawBsonRef::Decimal128(number) => {
            Some(number.to_string().parse::<f64>().unwrap_or(0.0) as i64)
        }
        _ => None,
    }
}

/// A boolean, or a number that is not 0.
pub(super) fn truth(value: RawBsonRef<'_>) -> Option<bool> {
    match value {
        RawBsonRef::Boolean(flag) => Some(flag),
        RawBsonRef::Double(number) => Some(number != 0.0),
        other => integer(other).map(|number| number != 0),
    }
}
