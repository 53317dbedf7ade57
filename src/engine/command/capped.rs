//! Capped collections: what they hold, and making one of a collection that is none.

use std::ops::Bound;
use std::sync::Arc;

use bson::{Bson, Document, RawDocument, RawDocumentBuf, doc};

use super::Command;
use super::context::Context;
use super::fields::{Fields, decode_value};
use super::{administration, name, reply};
use crate::engine::storage::{self, Collection, Shape, Writing};
use crate::error::Result;
use crate::{bad_value, refuse};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "cloneCollectionAsCapped",
        aliases: &[],
        help: "copies a collection's documents into a new capped one",
        admin_only: false,
        run: clone_as_capped,
    },
    Command {
        name: "convertToCapped",
        aliases: &[],
        help: "makes a collection a capped one",
        admin_only: false,
        run: convert,
    },
];

/// Documents written in one turn while copying.
const CHUNK: usize = 1024;

/// What a capped collection holds at most.
pub(super) struct Limits {
    bytes: u64,
    documents: u64,
}

impl Limits {
    /// None when the collection is not capped.
    pub(super) fn of(shape: &Shape) -> Option<Self> {
        let number = |name: &str| match shape.options.get(name) {
            Some(Bson::Int32(number)) => u64::try_from(*number).ok(),
            Some(Bson::Int64(number)) => u64::try_from(*number).ok(),
            Some(Bson::Double(number)) => Some(*number as u64),
            _ => None,
        };
        // Sizes are whole multiples of 256, as the server has them.
        let bytes = number("size")?.max(1).div_ceil(256) * 256;
        let capped = shape.options.contains_key("capped");
        capped.then(|| Self {
            bytes,
            documents: number("max").filter(|max| *max > 0).unwrap_or(u64::MAX),
        })
    }

    /// Refuses a document that is larger than all of them may be.
    pub(super) fn check(&self, document: &RawDocument) -> Result<()> {
        if document.as_bytes().len() as u64 > self.bytes {
            return Err(bad_value!("object to insert exceeds cappedMaxSize"));
        }
        Ok(())
    }

    /// Removes the oldest documents until the others fit. The newest stays in any case.
    pub(super) fn keep(&self, writing: &mut Writing<'_>, collection: &Collection) -> Result<()> {
        let (mut bytes, mut documents) = (collection.bytes(), collection.documents());
        let reading = writing.reading();
        for record in reading.records(collection, (Bound::Unbounded, Bound::Unbounded), false) {
            if documents <= 1 || (bytes <= self.bytes && documents <= self.documents) {
                break;
            }
            let (record, document) = record?;
            writing.remove(record, storage::document(&document)?)?;
            bytes = bytes.saturating_sub(document.len() as u64);
            documents -= 1;
        }
        Ok(())
    }
}

/// The new collection has the index on `_id` only, as the manual has it. What others write to the old one while its
/// documents are copied is not in the new one.
fn convert(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("convertToCapped", context.body)?;
    let size = size(&fields)?;
    fields.finish()?;
    let source = administration::present(context, name)?;
    let copy = format!("tmp{}.convertToCapped.{name}", source.uuid().simple());
    fill(context, &source, &copy, size)?;
    context.storage().rename((context.database, &copy), (context.database, name), true)?;
    Ok(reply::ok())
}

fn clone_as_capped(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("cloneCollectionAsCapped", context.body)?;
    let target = fields.text("toCollection")?;
    let target = fields.required("toCollection", target)?;
    let size = size(&fields)?;
    fields.ignore(&["temp"]);
    fields.finish()?;
    name::check_creatable(context.database, target)?;
    let source = administration::present(context, name)?;
    fill(context, &source, target, size)?;
    Ok(reply::ok())
}

fn size(fields: &Fields<'_>) -> Result<Bson> {
    let size = fields.value("size").map(decode_value).transpose()?;
    fields.required("size", size)
}

/// Makes a capped collection called `target` of the documents of another; of a failure nothing stays.
fn fill(context: &Context<'_>, source: &Arc<Collection>, target: &str, size: Bson) -> Result<()> {
    let options: Document = doc! { "capped": true, "size": size };
    let Some(collection) = context.storage().create(context.database, target, options)? else {
        return Err(refuse!(
            NAMESPACE_EXISTS,
            "cloneCollectionAsCapped failed - destination collection {} already exists",
            context.namespace(target)
        ));
    };
    let filled = copy(context, source, &collection, &context.namespace(target));
    if filled.is_err() {
        context.storage().drop_collection(context.database, target)?;
    }
    filled
}

fn copy(
    context: &Context<'_>,
    source: &Collection,
    target: &Collection,
    namespace: &str,
) -> Result<()> {
    let reading = context.storage().reading()?;
    let mut records = reading.records(source, (Bound::Unbounded, Bound::Unbounded), false);
    let mut more = true;
    while more {
        context.interrupt.check()?;
        // Dropped meanwhile: nobody wants the documents any more.
        let Some(mut writing) = context.storage().writing(target)? else { return Ok(()) };
        for _ in 0..CHUNK {
            let Some(record) = records.next() else {
                more = false;
                break;
            };
            writing.insert(namespace, storage::document(&record?.1)?)?;
        }
        writing.flush(context.durable)?;
        if let Some(limits) = Limits::of(writing.shape()) {
            limits.keep(&mut writing, target)?;
        }
        writing.commit(context.durable)?;
    }
    Ok(())
}
