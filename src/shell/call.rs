//! One call of a method: the shell, the receiver and the arguments, with accessors that give good errors.

use bson::{Bson, Document, RawBson, RawDocument, RawDocumentBuf};

use super::{Shell, command};
use crate::error::{Error, Result};

/// Whose method is called.
#[derive(Clone, Debug, PartialEq)]
pub enum Receiver {
    /// A global function, or a constructor.
    None,
    /// A database by name.
    Database(String),
    /// A collection: database and name.
    Collection(String, String),
    /// Something held in the [`Shell`] by number, such as a cursor or a bulk builder.
    Handle(u32),
    /// A BSON value with methods, such as an ObjectId.
    Value(RawBson),
}

/// The arguments of a call, converted to BSON. `undefined` is [`RawBson::Undefined`]; trailing ones are kept.
pub type Arguments = Vec<RawBson>;

/// One call of a method.
pub struct Call<'a> {
    /// Everything the methods share.
    pub shell: &'a mut Shell,
    /// The method's name, for errors.
    pub method: &'static str,
    /// Whose method is called.
    pub this: Receiver,
    /// What it is called with.
    pub arguments: Arguments,
}

impl Call<'_> {
    /// The argument at `index`; `None` when it is missing, `undefined` or null.
    pub fn value(&self, index: usize) -> Option<&RawBson> {
        self.arguments
            .get(index)
            .filter(|value| !matches!(value, RawBson::Undefined | RawBson::Null))
    }

    /// The argument at `index` as a raw document, or `None` when it was left out.
    ///
    /// # Errors
    /// Names the argument and what was found in its place.
    pub fn raw_document(&self, index: usize, name: &str) -> Result<Option<&RawDocument>> {
        match self.value(index) {
            None => Ok(None),
            Some(RawBson::Document(document)) => Ok(Some(document)),
            Some(other) => Err(self.wrong(name, "an object", other)),
        }
    }

    /// The argument at `index` decoded, empty when it was left out.
    ///
    /// # Errors
    /// As [`Call::raw_document`].
    pub fn document(&self, index: usize, name: &str) -> Result<Document> {
        match self.raw_document(index, name)? {
            None => Ok(Document::new()),
            Some(document) => Document::try_from(document)
                .map_err(|error| Error::Usage(format!("`{name}`: {error}"))),
        }
    }

    /// The argument at `index` as text, or `None` when it was left out.
    ///
    /// # Errors
    /// Names the argument and what was found in its place.
    pub fn text(&self, index: usize, name: &str) -> Result<Option<&str>> {
        match self.value(index) {
            None => Ok(None),
            Some(RawBson::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", other)),
        }
    }

    /// The argument at `index` as an owned BSON value, or `None` when it was left out.
    ///
    /// # Errors
    /// When the bytes are no BSON; a script cannot cause that.
    pub fn bson(&self, index: usize) -> Result<Option<Bson>> {
        self.value(index)
            .cloned()
            .map(|value| Bson::try_from(value).map_err(|error| Error::Usage(error.to_string())))
            .transpose()
    }

    /// The database and the collection whose method is called.
    ///
    /// # Errors
    /// When the method was taken off its collection and called on something else.
    pub fn collection(&self) -> Result<(String, String)> {
        match &self.this {
            Receiver::Collection(db, name) => Ok((db.clone(), name.clone())),
            _ => Err(self.astray("a collection")),
        }
    }

    /// The name of the database whose method is called.
    ///
    /// # Errors
    /// As [`Call::collection`].
    pub fn database(&self) -> Result<String> {
        match &self.this {
            Receiver::Database(db) => Ok(db.clone()),
            _ => Err(self.astray("a database")),
        }
    }

    /// The number of what the receiver stands for.
    ///
    /// # Errors
    /// As [`Call::collection`].
    pub fn handle(&self) -> Result<u32> {
        match &self.this {
            Receiver::Handle(handle) => Ok(*handle),
            _ => Err(self.astray("an object of its class")),
        }
    }

    /// Whether JavaScript takes the argument at `index` for true.
    pub fn truthy(&self, index: usize) -> bool {
        self.value(index).is_some_and(|value| command::truthy(value.as_raw_bson_ref()))
    }

    /// The argument at `index` as options: an object, or nothing when it is anything else.
    pub fn options(&self, index: usize) -> Option<RawDocumentBuf> {
        match self.value(index) {
            Some(RawBson::Document(options)) => Some(options.clone()),
            _ => None,
        }
    }

    fn astray(&self, wanted: &str) -> Error {
        Error::Usage(format!("{} must be called on {wanted}", self.method))
    }

    fn wrong(&self, name: &str, wanted: &str, found: &RawBson) -> Error {
        Error::Usage(format!(
            "{}: `{name}` must be {wanted}, not {:?}",
            self.method,
            found.as_raw_bson_ref().element_type()
        ))
    }
}
