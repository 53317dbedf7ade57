//! Indexes with `expireAfterSeconds`: about once a minute, documents whose date is that old go.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bson::{Bson, DateTime, Document, RawDocumentBuf, doc};

use crate::engine::storage::Storage;
use crate::engine::{Request, Shared};
use crate::interrupt::Interrupt;

/// How often expired documents are looked for.
const PERIOD: Duration = Duration::from_secs(60);

/// How often the thread looks whether the engine is still there.
const GLANCE: Duration = Duration::from_millis(500);

/// Starts to look for expired documents, if there is an index that asks for it and nobody does so yet.
pub(in crate::engine) fn start(shared: &Arc<Shared>) {
    if expiring(&shared.storage).is_empty()
        || shared.expiring.swap(true, std::sync::atomic::Ordering::AcqRel)
    {
        return;
    }
    let weak = Arc::downgrade(shared);
    // Without a thread documents stay until the next start, which is no harm.
    let _ = std::thread::Builder::new().name("tally expiry".into()).spawn(move || watch(&weak));
}

fn watch(shared: &Weak<Shared>) {
    let mut waited = Duration::ZERO;
    loop {
        std::thread::sleep(GLANCE);
        waited += GLANCE;
        let Some(shared) = shared.upgrade() else { return };
        if waited >= PERIOD {
            waited = Duration::ZERO;
            expire(&shared, DateTime::now());
        }
    }
}

/// Database, collection, field and seconds of every such index.
fn expiring(storage: &Storage) -> Vec<(String, String, String, i64)> {
    let catalog = storage.catalog();
    let mut found = Vec::new();
    for database in catalog.databases() {
        for (name, collection) in catalog.collections(database) {
            for index in &collection.shape().indexes {
                let seconds = match index.definition.spec.get("expireAfterSeconds") {
                    Some(Bson::Int32(seconds)) => i64::from(*seconds),
                    Some(Bson::Int64(seconds)) => *seconds,
                    Some(Bson::Double(seconds)) => *seconds as i64,
                    _ => continue,
                };
                if let Some(field) = index.definition.fields.first() {
                    found.push((database.to_owned(), name.to_owned(), field.path.clone(), seconds));
                }
            }
        }
    }
    found
}

/// Removes what has expired at `now`.
fn expire(shared: &Arc<Shared>, now: DateTime) {
    for (db, name, field, seconds) in expiring(&shared.storage) {
        let oldest = DateTime::from_millis(
            now.timestamp_millis().saturating_sub(seconds.saturating_mul(1000)),
        );
        // Of an array of dates the earliest counts: one element that is old enough will do.
        let filter: Document =
            [(field, Bson::Document(doc! { "$lte": oldest }))].into_iter().collect();
        let command = doc! { "delete": name, "deletes": [{ "q": filter, "limit": 0 }] };
        if let Ok(body) = RawDocumentBuf::try_from(&command) {
            // Nobody waits for an answer; what fails now is tried again.
            let _ = super::run(shared, &Request { db, body, interrupt: Interrupt::new() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Engine, Location};

    #[test]
    fn documents_go_when_their_time_is_over() {
        let engine = Engine::open(&Location::Ephemeral).unwrap();
        let run = |command: Document| {
            let body = RawDocumentBuf::try_from(&command).unwrap();
            let reply = engine
                .run(&Request { db: "test".into(), body, interrupt: Interrupt::new() })
                .unwrap();
            Document::try_from(&*reply).unwrap()
        };
        let at = |seconds: i64| DateTime::from_millis(1_000_000_000_000 + seconds * 1000);
        run(
            doc! { "createIndexes": "t", "indexes": [{ "key": { "at": 1 }, "name": "at_1", "expireAfterSeconds": 60 }] },
        );
        run(doc! { "insert": "t", "documents": [
            { "_id": 1, "at": at(0) },
            { "_id": 2, "at": at(1) },
            { "_id": 3, "at": [at(0), at(99)] },
            { "_id": 4, "at": "soon" },
            { "_id": 5 },
        ] });
        expire(&engine.shared, at(60));
        let left = run(doc! { "distinct": "t", "key": "_id" });
        assert_eq!(
            left.get_array("values").unwrap(),
            &[Bson::Int32(2), Bson::Int32(4), Bson::Int32(5)]
        );
    }
}
