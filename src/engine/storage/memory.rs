//! What came of the last write of everyone who may send it again: a row of the catalog's tree for each of them, written in
//! the batch that does the write. So whoever lost the answer can ask whether there was one, whatever died meanwhile.
//!
//! | row | key | value |
//! |---|---|---|
//! | a memory | `r`, session (16 bytes) | `{number, at, reply}` or `{number, at, progress}` |

use bson::{DateTime, RawDocument, RawDocumentBuf};

use super::Storage;
use super::catalog::rows;
use super::reading::tree_key;
use super::store::CATALOG;
use crate::error::Result;

/// Nobody asks for what is older, in milliseconds: who lost an answer asks at once.
const KEPT: i64 = 60 * 60 * 1000;

/// The sort of these rows.
const SORT: u8 = b'r';

/// The key of a session's row.
pub(super) fn memory_key(session: &[u8; 16]) -> Vec<u8> {
    let mut key = tree_key(CATALOG, &[SORT]);
    key.extend_from_slice(session);
    key
}

impl Storage {
    /// What is remembered of a session.
    ///
    /// # Errors
    /// [`crate::Error::Storage`].
    pub fn remembered(&self, session: &[u8; 16]) -> Result<Option<RawDocumentBuf>> {
        let open = self.store.reading()?;
        let value = open.entries.get(memory_key(session));
        let value = value.map_err(|error| self.store.unreadable(&error))?;
        let damaged = |_| self.store.damaged("what it remembers of a write cannot be read");
        value.map(|value| RawDocumentBuf::from_bytes(value.to_vec()).map_err(damaged)).transpose()
    }

    /// Forgets what nobody will ask for any more.
    pub(super) fn forget(&self) -> Result<()> {
        let open = self.store.writing()?;
        let now = DateTime::now().timestamp_millis();
        let mut batch = open.database.batch();
        let mut old = 0;
        for (key, value) in rows(&self.store, &open, SORT)? {
            let row = RawDocument::from_bytes(&*value).ok();
            let at = row.and_then(|row| row.get_datetime("at").ok());
            if at.is_none_or(|at| now.saturating_sub(at.timestamp_millis()) > KEPT) {
                let mut whole = tree_key(CATALOG, &[SORT]);
                whole.extend_from_slice(&key);
                batch.remove(&open.entries, whole);
                old += 1;
            }
        }
        if old == 0 { Ok(()) } else { self.store.commit(batch, false) }
    }
}
