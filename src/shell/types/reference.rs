//! `DBRef` and `DBPointer`: references to a document of another collection.

use bson::raw::cstr;
use bson::{RawBson, RawBsonRef, RawDocumentBuf};

use super::{text, this};
use crate::error::Result;
use crate::shell::refusal::{missing_argument, usage};
use crate::shell::rows::{native, prelude};
use crate::shell::{Call, Class, Reply, Shells};

/// `DBRef("users", 1)`. Its fields are those that are stored: `$ref`, `$id`, `$db`.
pub(in crate::shell) const DB_REF: Class = Class::instances(
    "DBRef",
    "DBRef",
    "a reference to a document",
    &[
        prelude("collection", "", "the collection's name").only(Shells::Mongosh),
        native("constructor", "(collection, id, database)", "a reference to a document", construct),
        prelude("db", "", "the database's name").only(Shells::Mongosh),
        prelude("fetch", "()", "the document").only(Shells::Mongo),
        prelude("getCollection", "()", "the collection's name").only(Shells::Mongo),
        prelude("getDb", "()", "the database's name").only(Shells::Mongo),
        prelude("getId", "()", "the document's _id").only(Shells::Mongo),
        prelude("getRef", "()", "the collection's name").only(Shells::Mongo),
        prelude("oid", "", "the document's _id").only(Shells::Mongosh),
        prelude("toString", "()", "its text").only(Shells::Mongo),
        prelude("tojson", "()", "its text").only(Shells::Mongo),
    ],
);

/// `DBPointer("test.users", ObjectId())`.
pub(in crate::shell) const DB_POINTER: Class = Class::instances(
    "DBPointer",
    "DBPointer",
    "an outdated reference to a document",
    &[
        native("constructor", "(namespace, id)", "an outdated reference to a document", pointer),
        native("getCollection", "()", "the namespace", namespace),
        native("getId", "()", "the document's _id", id),
        native("toString", "()", "its text", pointer_text),
        native("tojson", "()", "its text", pointer_text),
    ],
)
.only(Shells::Mongo);

fn construct(call: &mut Call<'_>) -> Result<Reply> {
    let (Some(collection), Some(id)) = (call.text(0, "collection")?, call.value(1)) else {
        let missing = missing_argument(usize::from(call.value(0).is_some()), "DBRef");
        return Err(call.shell.wrong("DBRef needs 2 or 3 arguments", missing));
    };
    let mut fields = RawDocumentBuf::new();
    fields.append(cstr!("$ref"), collection);
    fields.append(cstr!("$id"), id.as_raw_bson_ref());
    if let Some(db) = call.text(2, "database")? {
        fields.append(cstr!("$db"), db);
    }
    Ok(Reply::Instance("DBRef", fields))
}

/// The `bson` crate has no constructor for pointers, so one is read from its bytes.
fn pointer(call: &mut Call<'_>) -> Result<Reply> {
    let (Some(namespace), Some(RawBson::ObjectId(id))) =
        (call.text(0, "namespace")?, call.value(1))
    else {
        return Err(usage(
            "DBPointer needs 2 arguments: DBPointer(\"db.collection\", ObjectId(...))",
        ));
    };
    let length =
        i32::try_from(namespace.len() + 1).map_err(|_| usage("the namespace is too long"))?;
    let mut bytes = vec![0; 4];
    bytes.extend([0x0c, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(namespace.as_bytes());
    bytes.push(0);
    bytes.extend(id.bytes());
    bytes.push(0);
    let whole = i32::try_from(bytes.len()).map_err(|_| usage("the namespace is too long"))?;
    bytes[..4].copy_from_slice(&whole.to_le_bytes());
    let document = RawDocumentBuf::from_bytes(bytes).map_err(|error| usage(error.to_string()))?;
    match document.get("") {
        Ok(Some(pointer @ RawBsonRef::DbPointer(_))) => Ok(Reply::Typed(RawBson::from(pointer))),
        _ => Err(usage("this is no namespace")),
    }
}

/// Namespace and id of the receiver.
fn parts(call: &Call<'_>) -> Result<(String, bson::oid::ObjectId)> {
    let parts = match this(call)? {
        pointer @ RawBson::DbPointer(_) => read(pointer),
        _ => None,
    };
    parts.ok_or_else(|| usage(format!("{} must be called on a DBPointer", call.method)))
}

/// The parts of a pointer, which the `bson` crate does not show, from its bytes: a text and twelve bytes, behind the
/// length, the type and the empty name of a document of one field.
fn read(pointer: &RawBson) -> Option<(String, bson::oid::ObjectId)> {
    let mut document = RawDocumentBuf::new();
    document.append(cstr!(""), pointer.as_raw_bson_ref());
    let bytes = document.as_bytes();
    let text = bytes.get(10..bytes.len().checked_sub(14)?)?;
    let id = bytes.get(bytes.len() - 13..bytes.len() - 1)?;
    let namespace = std::str::from_utf8(text).ok()?.to_owned();
    Some((namespace, bson::oid::ObjectId::from_bytes(id.try_into().ok()?)))
}

fn namespace(call: &mut Call<'_>) -> Result<Reply> {
    parts(call).map(|(namespace, _)| text(namespace))
}

fn id(call: &mut Call<'_>) -> Result<Reply> {
    parts(call).map(|(_, id)| Reply::Value(RawBson::ObjectId(id)))
}

fn pointer_text(call: &mut Call<'_>) -> Result<Reply> {
    let (namespace, id) = parts(call)?;
    Ok(text(format!("DBPointer(\"{namespace}\", ObjectId(\"{id}\"))")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_made_is_a_pointer_read() {
        let id = bson::oid::ObjectId::new();
        let bytes = {
            let mut bytes = vec![35, 0, 0, 0, 0x0c, 0, 7, 0, 0, 0];
            bytes.extend(b"test.c\0");
            bytes.extend(id.bytes());
            bytes.push(0);
            bytes[0] = u8::try_from(bytes.len()).expect("short");
            bytes
        };
        let document = RawDocumentBuf::from_bytes(bytes).expect("well-formed");
        let pointer = document.get("").expect("readable").expect("there");
        assert_eq!(read(&RawBson::from(pointer)), Some(("test.c".to_owned(), id)));
    }
}
