//! What the options of an address add to single commands: read preference, read concern and write concern.
//!
//! The driver's typed methods do that; a raw command goes out as it is, so it is done here.

use bson::raw::{CStr, cstr};
use bson::{RawDocument, RawDocumentBuf};
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria};

use crate::backend;

/// How the options of an address concern a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// It reads: it takes the read preference and the read concern.
    Read,
    /// It writes: it takes the write concern, and goes to where writes go.
    Write,
}

/// The commands that take a concern, by name, as the manual lists them.
const COMMANDS: &[(&str, Kind)] = &[
    ("aggregate", Kind::Read),
    ("collMod", Kind::Write),
    ("count", Kind::Read),
    ("create", Kind::Write),
    ("createIndexes", Kind::Write),
    ("delete", Kind::Write),
    ("deleteIndexes", Kind::Write),
    ("distinct", Kind::Read),
    ("drop", Kind::Write),
    ("dropDatabase", Kind::Write),
    ("dropIndexes", Kind::Write),
    ("find", Kind::Read),
    ("findAndModify", Kind::Write),
    ("findandmodify", Kind::Write),
    ("insert", Kind::Write),
    ("renameCollection", Kind::Write),
    ("update", Kind::Write),
];

/// The options of an address that concern single commands.
pub(super) struct Concerns {
    read: Option<RawDocumentBuf>,
    write: Option<RawDocumentBuf>,
    preference: Option<SelectionCriteria>,
}

impl Concerns {
    /// Those among the options of an address.
    pub(super) fn of(options: &ClientOptions) -> Self {
        let read = options.read_concern.as_ref();
        let write = options.write_concern.as_ref();
        Self {
            read: read.and_then(|read| bson::serialize_to_raw_document_buf(read).ok()),
            write: write.and_then(|write| bson::serialize_to_raw_document_buf(write).ok()),
            preference: options.selection_criteria.clone(),
        }
    }

    /// Where reads go.
    pub(super) fn preference(&self) -> Option<SelectionCriteria> {
        self.preference.clone()
    }

    /// Adds the concern that a command takes and does not say itself; answers with where the command may go.
    pub(super) fn dress(&self, body: &mut RawDocumentBuf) -> Option<SelectionCriteria> {
        let name = super::command(body).to_owned();
        let at = COMMANDS.binary_search_by_key(&name.as_str(), |(name, _)| name).ok()?;
        let kind = match COMMANDS[at].1 {
            Kind::Read if name == "aggregate" && stores(body) => Kind::Write,
            kind => kind,
        };
        let (field, concern) = match kind {
            Kind::Read => (cstr!("readConcern"), &self.read),
            Kind::Write => (cstr!("writeConcern"), &self.write),
        };
        if let (Some(concern), Ok(None)) = (concern, body.get(field)) {
            body.append(field, concern.clone());
        }
        match kind {
            Kind::Read => self.preference(),
            Kind::Write => None,
        }
    }
}

/// Whether a command takes a read concern.
pub(super) fn reads(body: &RawDocument) -> bool {
    let name = super::command(body);
    let kind = COMMANDS.binary_search_by_key(&name, |(name, _)| name).ok().map(|at| COMMANDS[at].1);
    kind == Some(Kind::Read) && !stores(body)
}

/// Takes the read preference out of a command that names one (`$readPreference`): where it may go.
pub(super) fn preference(body: &mut RawDocumentBuf) -> Option<SelectionCriteria> {
    const FIELD: &CStr = cstr!("$readPreference");
    let criteria = criteria(body.get_document(FIELD).ok()?)?;
    *body = backend::without(body, FIELD);
    Some(criteria)
}

/// The members that `{mode, tags, ...}` means.
pub(super) fn criteria(preference: &RawDocument) -> Option<SelectionCriteria> {
    // What servers are sent as `tags` the driver calls tag sets.
    let fields = preference.iter().flatten().map(|(name, value)| match name.as_str() {
        "tags" => (cstr!("tagSets"), value),
        _ => (name, value),
    });
    let fields: RawDocumentBuf = fields.collect();
    bson::deserialize_from_slice::<ReadPreference>(fields.as_bytes()).ok().map(Into::into)
}

/// Whether a pipeline ends by storing its documents.
pub(super) fn stores(body: &RawDocument) -> bool {
    let Ok(stages) = body.get_array("pipeline") else { return false };
    let last = stages.into_iter().filter_map(|stage| stage.ok()?.as_document()).last();
    last.is_some_and(|stage| ["$merge", "$out"].contains(&super::command(stage)))
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;
    use mongodb::options::{ReadConcern, WriteConcern};

    use super::*;

    fn dressed(mut body: RawDocumentBuf) -> (RawDocumentBuf, bool) {
        let options = ClientOptions::builder()
            .read_concern(ReadConcern::majority())
            .write_concern(WriteConcern::builder().journal(true).build())
            .selection_criteria(SelectionCriteria::from(ReadPreference::secondary(None)))
            .build();
        let preferred = Concerns::of(&options).dress(&mut body).is_some();
        (body, preferred)
    }

    #[test]
    fn a_command_gets_the_concern_it_takes() {
        assert!(COMMANDS.is_sorted_by_key(|(name, _)| *name));
        let majority = rawdoc! { "level": "majority" };
        assert_eq!(
            dressed(rawdoc! { "find": "t" }),
            (rawdoc! { "find": "t", "readConcern": majority }, true)
        );
        let journalled = rawdoc! { "insert": "t", "writeConcern": { "j": true } };
        assert_eq!(dressed(rawdoc! { "insert": "t" }), (journalled, false));
        let own = rawdoc! { "insert": "t", "writeConcern": { "w": 1 } };
        assert_eq!(dressed(own.clone()), (own, false));
        assert_eq!(dressed(rawdoc! { "ping": 1 }), (rawdoc! { "ping": 1 }, false));
    }

    #[test]
    fn a_command_may_say_itself_where_it_goes() {
        let mut body = rawdoc! { "find": "t", "$readPreference": { "mode": "secondary", "tags": [{ "dc": "ny" }] } };
        let Some(SelectionCriteria::ReadPreference(ReadPreference::Secondary { .. })) =
            preference(&mut body)
        else {
            panic!("a secondary")
        };
        assert_eq!(body, rawdoc! { "find": "t" });
        let mut body = rawdoc! { "find": "t", "$readPreference": { "mode": "sideways" } };
        assert!(preference(&mut body).is_none());
    }

    #[test]
    fn a_pipeline_that_stores_is_a_write() {
        let (body, preferred) =
            dressed(rawdoc! { "aggregate": "t", "pipeline": [{ "$match": {} }, { "$out": "u" }] });
        assert!(body.get_document("writeConcern").is_ok() && !preferred);
        let (body, preferred) = dressed(rawdoc! { "aggregate": "t", "pipeline": [] });
        assert!(body.get_document("readConcern").is_ok() && preferred);
    }
}
