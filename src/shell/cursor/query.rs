//! A query that a cursor stands for: what to find, collected by the chained methods and sent at the first fetch.

use bson::raw::{CStr, cstr};
use bson::{RawBson, RawDocumentBuf};

use super::stream::Stream;
use crate::backend::PATIENCE;
use crate::shell::command::Command;

/// A query, before and after it was sent.
pub(in crate::shell) struct Query {
    pub(in crate::shell) db: String,
    pub(in crate::shell) collection: String,
    pub(in crate::shell) filter: RawDocumentBuf,
    pub(in crate::shell) limit: i64,
    pub(in crate::shell) skip: i64,
    /// The further fields of the `find` command, in the order in which they were asked for.
    pub(in crate::shell) options: Vec<(&'static CStr, RawBson)>,
    /// Show each document over several lines.
    pub(in crate::shell) pretty: bool,
    /// How much to explain instead of finding anything (`db.c.explain().find()`).
    pub(in crate::shell) explained: Option<String>,
    /// The documents, once the query was sent.
    pub(in crate::shell) stream: Option<Stream>,
    /// What the prompt showed last; mongosh shows it again.
    pub(in crate::shell) page: Option<Vec<RawDocumentBuf>>,
}

impl Query {
    /// A query for the documents of a collection that match `filter`.
    pub(in crate::shell) fn new(db: String, collection: String, filter: RawDocumentBuf) -> Self {
        Self {
            db,
            collection,
            filter,
            limit: 0,
            skip: 0,
            options: Vec::new(),
            pretty: false,
            explained: None,
            stream: None,
            page: None,
        }
    }

    /// Sets one option, again if need be.
    pub(in crate::shell) fn set(&mut self, key: &'static CStr, value: impl Into<RawBson>) {
        let value = value.into();
        match self.options.iter_mut().find(|(known, _)| *known == key) {
            Some((_, old)) => *old = value,
            None => self.options.push((key, value)),
        }
    }

    /// The value of an option.
    pub(in crate::shell) fn option(&self, key: &CStr) -> Option<&RawBson> {
        self.options.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The `find` command.
    pub(in crate::shell) fn command(&self) -> RawDocumentBuf {
        let mut command = Command::new(cstr!("find"), self.collection.as_str())
            .with(cstr!("filter"), &self.filter);
        if self.limit != 0 {
            command = command.with(cstr!("limit"), number(self.limit.saturating_abs()));
        }
        if self.skip != 0 {
            command = command.with(cstr!("skip"), number(self.skip));
        }
        if self.limit < 0 {
            // A negative limit asks for one batch and no more.
            command = command.with(cstr!("singleBatch"), true);
        }
        for (key, value) in self.options.iter().filter(|(key, _)| *key != PATIENCE) {
            command = command.with(key, value.as_raw_bson_ref());
        }
        command.body()
    }

    /// The `find` command for a stream, with how long to wait for new documents.
    pub(in crate::shell) fn streamed(&self) -> RawDocumentBuf {
        let mut command = self.command();
        if let Some(patience) = self.option(PATIENCE) {
            command.append(PATIENCE, patience.as_raw_bson_ref());
        }
        command
    }

    /// The `count` command over the same documents; skip and limit count only if `all` is asked for.
    pub(in crate::shell) fn count(&self, all: bool) -> RawDocumentBuf {
        let mut command = Command::new(cstr!("count"), self.collection.as_str())
            .with(cstr!("query"), &self.filter);
        for key in [cstr!("hint"), cstr!("collation"), cstr!("maxTimeMS"), cstr!("readConcern")] {
            command = command.maybe(key, self.option(key).map(RawBson::as_raw_bson_ref));
        }
        if all && self.limit != 0 {
            command = command.with(cstr!("limit"), number(self.limit.saturating_abs()));
        }
        if all && self.skip != 0 {
            command = command.with(cstr!("skip"), number(self.skip));
        }
        command.body()
    }

    /// The same query, not sent yet.
    pub(in crate::shell) fn again(&self) -> Self {
        Self {
            limit: self.limit,
            skip: self.skip,
            options: self.options.clone(),
            pretty: self.pretty,
            explained: self.explained.clone(),
            ..Self::new(self.db.clone(), self.collection.clone(), self.filter.clone())
        }
    }
}

/// Limits and skips travel as int32 where they fit.
fn number(value: i64) -> RawBson {
    i32::try_from(value).map_or(RawBson::Int64(value), RawBson::Int32)
}
