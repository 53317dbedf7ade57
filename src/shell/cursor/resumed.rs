//! The cursor of a reply that a script already has: `new DBCommandCursor(db, db.runCommand({find: "c"}))`.

use std::sync::Arc;

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocument, RawDocumentBuf};

use super::Stream;
use crate::backend::{Backend, Cursor, Request};
use crate::error::Result;
use crate::interrupt::Interrupt;
use crate::shell::command::{self, Command, field};
use crate::shell::held::{CommandCursor, Held};
use crate::shell::refusal::usage;
use crate::shell::{Call, Reply};

/// `DBCommandCursor(db, reply, batchSize)`, called on the database.
pub(in crate::shell) fn resumed(call: &mut Call<'_>) -> Result<Reply> {
    let db = call.database()?;
    let Some(RawBson::Document(reply)) = call.value(0) else {
        return Err(usage("DBCommandCursor needs a database and the reply of a command"));
    };
    let cursor = field(reply, "cursor").and_then(RawBsonRef::as_document);
    let cursor = cursor.ok_or_else(|| usage("the reply of the command has no cursor"))?;
    let namespace = cursor.get_str("ns").unwrap_or_default();
    let collection = namespace.split_once('.').map_or("", |(_, collection)| collection);
    let resumed = Resumed {
        backend: Arc::clone(call.shell.server()),
        interrupt: call.shell.interrupt.clone(),
        collection: collection.to_owned(),
        id: command::count(cursor, "id"),
        batch_size: call.value(1).and_then(|size| command::whole(size.as_raw_bson_ref())),
        first: Some(batch(cursor, "firstBatch")),
        db,
    };
    let stream = Stream::new(Box::new(resumed));
    let held = Held::Command(CommandCursor { stream, pretty: false, on: String::new() });
    Ok(Reply::Handle("CommandCursor", call.shell.held.insert(held)))
}

struct Resumed {
    backend: Arc<dyn Backend>,
    interrupt: Interrupt,
    db: String,
    collection: String,
    id: i64,
    batch_size: Option<i64>,
    first: Option<Vec<RawDocumentBuf>>,
}

impl Cursor for Resumed {
    fn next_batch(&mut self) -> Result<Option<Vec<RawDocumentBuf>>> {
        if let Some(batch) = self.first.take() {
            return Ok(Some(batch));
        }
        if self.id == 0 {
            return Ok(None);
        }
        let body = Command::new(cstr!("getMore"), self.id)
            .with(cstr!("collection"), self.collection.as_str())
            .maybe(cstr!("batchSize"), self.batch_size.filter(|size| *size > 0))
            .body();
        let (db, interrupt) = (self.db.clone(), self.interrupt.clone());
        let reply = self.backend.run(Request { db, body, interrupt })?;
        let cursor = field(&reply, "cursor").and_then(RawBsonRef::as_document);
        let Some(cursor) = cursor else { return Ok(None) };
        self.id = command::count(cursor, "id");
        Ok(Some(batch(cursor, "nextBatch")))
    }

    fn id(&self) -> i64 {
        self.id
    }
}

/// The documents of a batch.
fn batch(cursor: &RawDocument, name: &str) -> Vec<RawDocumentBuf> {
    let elements = cursor.get_array(name).ok().into_iter().flatten().flatten();
    elements.filter_map(|element| element.as_document().map(ToOwned::to_owned)).collect()
}
