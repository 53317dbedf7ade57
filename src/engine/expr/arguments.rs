//! The evaluated arguments of an operator, and the questions that functions ask of them.

use std::borrow::Cow;

use bson::Bson;

use super::Value;

/// The arguments of one call, evaluated. Absent optional ones and missing values both read as `None`.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    /// The operator's name, for messages.
    pub(crate) name: &'static str,
    values: Vec<Value<'a>>,
}

impl<'a> Arguments<'a> {
    /// Joins an operator's name and its values.
    pub(crate) fn new(name: &'static str, values: Vec<Value<'a>>) -> Self {
        Self { name, values }
    }

    /// How many were written.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// The argument at `index`; `None` when missing or not written.
    pub(crate) fn get(&self, index: usize) -> Option<&Bson> {
        self.values.get(index)?.as_deref()
    }

    /// The argument at `index` unless it is missing, null or undefined.
    pub(crate) fn present(&self, index: usize) -> Option<&Bson> {
        self.get(index).filter(|value| !matches!(value, Bson::Null | Bson::Undefined))
    }

    /// Takes the argument at `index` out, leaving it missing.
    pub(crate) fn take(&mut self, index: usize) -> Option<Bson> {
        self.values.get_mut(index)?.take().map(Cow::into_owned)
    }

    /// All arguments in order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Option<&Bson>> {
        self.values.iter().map(|value| value.as_deref())
    }
}
