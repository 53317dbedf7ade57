//! Write concerns that a connection, a database or a collection keeps for the writes that name none of their own, and
//! read preferences and read concerns that a connection keeps for its reads.

use std::collections::BTreeMap;

use bson::raw::{CStr, cstr};
use bson::{RawBson, RawDocumentBuf};

use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Kind, Receiver, Reply, Shell, Shells};
use crate::error::Result;

/// The concerns kept, by connection, database and collection; an empty name stands for all of them.
pub(super) type Concerns = BTreeMap<(u32, String, String), RawDocumentBuf>;

/// What connections were told of all reads: the field of a command, and its value.
pub(super) type Reading = BTreeMap<(u32, &'static CStr), RawDocumentBuf>;

/// The field of a command that says which members it may go to.
pub(super) const PREFERENCE: &CStr = cstr!("$readPreference");
/// The field of a command that says how safe what it reads must be.
pub(super) const CONCERN: &CStr = cstr!("readConcern");

/// The commands that a read preference and a read concern of the connection's are added to.
const READS: &[&str] = &["aggregate", "count", "distinct", "find"];

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
        let connection = self.held.road.connection;
        let found = places.into_iter().find_map(|(db, name)| {
            self.concerns.get(&(connection, db.to_owned(), name.to_owned()))
        });
        found.map(|concern| RawBson::Document(concern.clone()))
    }

    /// The write concerns of the connection that commands go to now, as another shell's own.
    pub(super) fn concerns_of_own(&self) -> Concerns {
        let own = self.concerns.iter().filter(|((at, ..), _)| *at == self.held.road.connection);
        own.map(|((_, db, name), kept)| ((0, db.clone(), name.clone()), kept.clone())).collect()
    }

    /// As [`Shell::concerns_of_own`], what it was told of all reads.
    pub(super) fn reading_of_own(&self) -> Reading {
        let own = self.reading.iter().filter(|((at, _), _)| *at == self.held.road.connection);
        own.map(|((_, field), kept)| ((0, *field), kept.clone())).collect()
    }

    /// What the connection that commands go to now was told of all reads.
    pub(super) fn reading(&self, field: &'static CStr) -> Option<&RawDocumentBuf> {
        self.reading.get(&(self.held.road.connection, field))
    }

    /// Tells the connection of the receiver something of all reads; `None` forgets it.
    pub(super) fn set_reading(&mut self, field: &'static CStr, value: Option<RawDocumentBuf>) {
        let key = (self.held.road.connection, field);
        match value {
            Some(value) => self.reading.insert(key, value),
            None => self.reading.remove(&key),
        };
    }

    /// Adds to a read what its connection was told of all reads and the read does not say itself. A session has options
    /// of its own.
    pub(super) fn tell_how_to_read(&self, body: &mut RawDocumentBuf) {
        if self.reading.is_empty() || self.held.road.session.is_some() {
            return;
        }
        let name = body.iter().next().and_then(|first| first.ok());
        if !name.is_some_and(|(name, _)| READS.contains(&name.as_str())) {
            return;
        }
        for field in [PREFERENCE, CONCERN] {
            if let (Some(value), Ok(None)) = (self.reading(field), body.get(field)) {
                body.append(field, value);
            }
        }
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

/// Connection, database and collection of the receiver, empty where it is more than one.
fn place(call: &Call<'_>) -> Result<(u32, String, String)> {
    let (db, collection) = match &call.this {
        Receiver::Handle(_) => (String::new(), String::new()),
        Receiver::Database(db) => (db.clone(), String::new()),
        _ => call.collection()?,
    };
    Ok((call.shell.held.road.connection, db, collection))
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
    let (_, db, collection) = place(call)?;
    Ok(match call.shell.concern(&db, &collection) {
        Some(RawBson::Document(concern)) => Reply::Instance("WriteConcern", concern),
        _ => Reply::Nothing,
    })
}
