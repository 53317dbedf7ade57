//! `bulkWrite`: a list of operations in the words of the CRUD functions.

use bson::raw::CStr;
use bson::{RawBson, RawBsonRef, RawDocument};

use super::write::{
    deletion, filter, many, must_be_replacement, must_have_operators, nothing_to_do, statement,
    update_of,
};
use crate::error::{Error, Result};
use crate::shell::command::{field, owned, truthy};
use crate::shell::refusal::{invalid_argument, invalid_input, missing_argument};
use crate::shell::write::{Operation, with_id};
use crate::shell::{Call, Reply, Shell, result};

/// `bulkWrite([{insertOne: {document}}, {updateOne: {filter, update, ...}}, ...], options)`.
pub(super) fn bulk_write(call: &mut Call<'_>) -> Result<Reply> {
    let Some(RawBson::Array(list)) = call.value(0) else {
        let missing = missing_argument(0, "Collection.bulkWrite");
        return Err(call.shell.wrong("bulkWrite needs an array of operations", missing));
    };
    let mut operations = Vec::new();
    let mut inserted = Vec::new();
    for element in list {
        let entry = match element {
            Ok(RawBsonRef::Document(entry)) => entry.iter().flatten().next(),
            _ => None,
        };
        let Some((name, RawBsonRef::Document(arguments))) = entry else {
            return Err(unknown_operation(call.shell, entry.map(|(name, _)| name)));
        };
        let operation = bulk_operation(call.shell, name, arguments)?;
        if let (Operation::Insert(_), Some(id)) = (&operation, owned(operation.document(), "_id")) {
            inserted.push((operations.len(), id));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(nothing_to_do(call.shell));
    }
    let outcome = many(call, &operations)?;
    match result::failed_many(call.shell, &outcome, &inserted) {
        Some(error) => Err(error),
        None => Ok(result::bulk_written(call.shell, &outcome, &inserted)),
    }
}

fn unknown_operation(shell: &Shell, name: Option<&CStr>) -> Error {
    let text = match name {
        Some(name) => format!(
            "bulkWrite only supports insertOne, updateOne, updateMany, replaceOne, deleteOne, deleteMany, not {name}"
        ),
        None => "bulkWrite needs operations such as {insertOne: {document: {...}}}".to_owned(),
    };
    shell.wrong(&text, invalid_argument(&text))
}

/// One operation of `bulkWrite`.
fn bulk_operation(shell: &Shell, name: &CStr, arguments: &RawDocument) -> Result<Operation> {
    let missing = |what: &str| {
        let text = format!("{name} bulkWrite operation expects the {what} field");
        shell.wrong(&text, invalid_input(&text))
    };
    let query = || {
        let given = owned(arguments, "filter").ok_or_else(|| missing("filter"))?;
        filter(shell, Some(&given))
    };
    let upsert = || field(arguments, "upsert").is_some_and(truthy);
    Ok(match name.as_str() {
        "insertOne" => match field(arguments, "document") {
            Some(RawBsonRef::Document(document)) => {
                Operation::Insert(with_id(document, shell.emulate)?.0)
            }
            _ => return Err(missing("document")),
        },
        "updateOne" | "updateMany" => {
            let query = query()?;
            let update = owned(arguments, "update");
            let update = update_of(update.as_ref()).ok_or_else(|| missing("update"))?;
            must_have_operators(shell, &update)?;
            let multi = name.as_str() == "updateMany";
            Operation::Update(statement(query, update, multi, upsert(), Some(arguments)))
        }
        "replaceOne" => {
            let query = query()?;
            let update = owned(arguments, "replacement");
            let update = update_of(update.as_ref()).ok_or_else(|| missing("replacement"))?;
            must_be_replacement(shell, &update)?;
            Operation::Update(statement(query, update, false, upsert(), Some(arguments)))
        }
        "deleteOne" => Operation::Delete(deletion(query()?, 1, Some(arguments))),
        "deleteMany" => Operation::Delete(deletion(query()?, 0, Some(arguments))),
        _ => return Err(unknown_operation(shell, Some(name))),
    })
}
