//! Write concerns that a connection, a database or a collection keeps for the writes that name none of their own.

use std::collections::BTreeMap;

use bson::raw::cstr;
use bson::{RawBson, RawDocumentBuf};

use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Kind, Receiver, Reply, Shell, Shells};
use crate::error::Result;

/// The concerns kept, by database and collection; an empty name stands for all of them.
pub(super) type Concerns = BTreeMap<(String, String), RawDocumentBuf>;

/// `WriteConcern({w: 1})`.
pub(super) const WRITE_CONCERN: Class = Class::instances(
    "WriteConcern",
    "WriteConcern",
    "how safe a write must be before it is answered",
    &[native("constructor", "(w, wtimeout, j)", "a write concern of parts or of one object", make)],
)
.of(Kind::Results)
.only(Shells::Mongo);

impl Shell {
    /// The concern for a write that names none: the collection's, else its database's, else the connection's.
    pub(super) fn concern(&self, db: &str, collection: &str) -> Option<RawBson> {
        if self.concerns.is_empty() {
            return None;
        }
        let places = [(db, collection), (db, ""), ("", "")];
        let found = places
            .into_iter()
            .find_map(|(db, name)| self.concerns.get(&(db.to_owned(), name.to_owned())));
        found.map(|concern| RawBson::Document(concern.clone()))
    }
}

/// The concern that the arguments describe: one object, or `w`, `wtimeout` and `j`.
fn described(call: &Call<'_>) -> Result<RawDocumentBuf> {
    match call.value(0) {
        Some(RawBson::Document(concern)) => Ok(concern.clone()),
        Some(w @ (RawBson::Int32(_) | RawBson::Double(_) | RawBson::String(_))) => {
            let mut concern = RawDocumentBuf::new();
            concern.append(cstr!("w"), w.clone());
            if let Some(timeout) = call.value(1) {
                concern.append(cstr!("wtimeout"), timeout.clone());
            }
            if let Some(journal) = call.value(2) {
                concern.append(cstr!("j"), journal.clone());
            }
            Ok(concern)
        }
        _ => Err(usage(format!("{} needs a write concern, such as {{w: 1}}", call.method))),
    }
}

fn make(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Instance("WriteConcern", described(call)?))
}

/// Database and collection of the receiver, empty where it is more than one.
fn place(call: &Call<'_>) -> Result<(String, String)> {
    match &call.this {
        Receiver::Handle(_) => Ok((String::new(), String::new())),
        Receiver::Database(db) => Ok((db.clone(), String::new())),
        _ => call.collection(),
    }
}

/// `setWriteConcern`: kept for the writes to come.
pub(super) fn set(call: &mut Call<'_>) -> Result<Reply> {
    let (place, concern) = (place(call)?, described(call)?);
    call.shell.concerns.insert(place, concern);
    Ok(Reply::Nothing)
}

/// `unsetWriteConcern`: what is further up holds again.
pub(super) fn unset(call: &mut Call<'_>) -> Result<Reply> {
    let place = place(call)?;
    call.shell.concerns.remove(&place);
    Ok(Reply::Nothing)
}

/// `getWriteConcern`: the receiver's own, or what is further up; nothing when none was set.
pub(super) fn get(call: &mut Call<'_>) -> Result<Reply> {
    let (db, collection) = place(call)?;
    Ok(match call.shell.concern(&db, &collection) {
        Some(RawBson::Document(concern)) => Reply::Instance("WriteConcern", concern),
        _ => Reply::Nothing,
    })
}
