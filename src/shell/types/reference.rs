//! `DBRef` and `DBPointer`: references to a document of another collection.

use bson::raw::cstr;
use bson::{RawBson, RawDocumentBuf};

use super::{text, this};
use crate::error::Result;
use crate::shell::refusal::{missing_argument, usage};
use crate::shell::rows::{native, prelude};
use crate::shell::{Call, Class, Reply, Shells};
use crate::value::pointer;

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
        native(
            "constructor",
            "(namespace, id)",
            "an outdated reference to a document",
            construct_pointer,
        ),
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

fn construct_pointer(call: &mut Call<'_>) -> Result<Reply> {
    let (Some(namespace), Some(RawBson::ObjectId(id))) =
        (call.text(0, "namespace")?, call.value(1))
    else {
        return Err(usage(
            "DBPointer needs 2 arguments: DBPointer(\"db.collection\", ObjectId(...))",
        ));
    };
    let pointer = pointer::make(namespace, *id).ok_or_else(|| usage("this is no namespace"))?;
    Ok(Reply::Typed(pointer))
}

/// Namespace and id of the receiver.
fn parts(call: &Call<'_>) -> Result<(String, bson::oid::ObjectId)> {
    let parts = match this(call)? {
        value @ RawBson::DbPointer(_) => pointer::parts(value.as_raw_bson_ref()),
        _ => None,
    };
    parts.ok_or_else(|| usage(format!("{} must be called on a DBPointer", call.method)))
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
