//! Indexes of a collection.

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use crate::error::{Code, Error, Result};
use crate::shell::command::{Command, field, owned};
use crate::shell::cursor::open_stream;
use crate::shell::database::answer;
use crate::shell::refusal::{invalid_input, missing_argument, usage};
use crate::shell::{Call, Reply};

/// `createIndex(keys, options, commitQuorum)`: the server's reply, or in mongosh the index's name.
pub(super) fn create_index(call: &mut Call<'_>) -> Result<Reply> {
    let keys = match call.value(0) {
        Some(RawBson::Document(keys)) => keys.clone(),
        None if !call.shell.classic() => return Err(missing_argument(0, "Collection.createIndex")),
        _ => return Err(usage("createIndexes first argument should be an array")),
    };
    let index = specification(&keys, call.value(1));
    let names = vec![name_of(&index)];
    create(call, vec![index], names, false)
}

/// `createIndexes([keys, ...], options, commitQuorum)`: the server's reply, or in mongosh the names.
pub(super) fn create_indexes(call: &mut Call<'_>) -> Result<Reply> {
    let Some(RawBson::Array(list)) = call.value(0) else {
        let text = "createIndexes first argument should be an array";
        return Err(call
            .shell
            .wrong(text, invalid_input("The \"keyPatterns\" argument must be an array")));
    };
    let mut indexes = Vec::new();
    for keys in list.into_iter().flatten() {
        let RawBsonRef::Document(keys) = keys else {
            return Err(usage("createIndexes needs an array of key patterns such as [{a: 1}]"));
        };
        indexes.push(specification(keys, call.value(1)));
    }
    let names = indexes.iter().map(|index| name_of(index)).collect();
    create(call, indexes, names, true)
}

/// `ensureIndex(keys, options)`: the old name of `createIndex`.
pub(super) fn ensure_index(call: &mut Call<'_>) -> Result<Reply> {
    let Some(RawBson::Document(keys)) = call.value(0) else {
        return Err(usage("ensureIndex needs a key pattern such as {a: 1}"));
    };
    let index = specification(keys, call.value(1));
    let names = vec![name_of(&index)];
    create(call, vec![index], names, true)
}

fn create(
    call: &Call<'_>,
    indexes: Vec<RawDocumentBuf>,
    names: Vec<String>,
    as_array: bool,
) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let indexes: RawArrayBuf = indexes.into_iter().collect();
    let body = Command::new(cstr!("createIndexes"), name)
        .with(cstr!("indexes"), indexes)
        .maybe(cstr!("commitQuorum"), call.value(2).cloned())
        .body();
    if call.shell.classic() {
        return answer(call.shell, &db, body);
    }
    call.shell.run(&db, body)?;
    let mut names = names.into_iter().map(RawBson::String);
    Ok(Reply::Value(match as_array {
        true => RawBson::Array(names.collect()),
        false => names.next().unwrap_or(RawBson::Null),
    }))
}

/// The specification of an index: keys, name and options. A text for options is a name, `true` asks for a unique one.
fn specification(keys: &RawDocument, options: Option<&RawBson>) -> RawDocumentBuf {
    let mut index = rawdoc! { "key": keys.to_owned() };
    let given = match options {
        Some(RawBson::Document(options)) => field(options, "name").and_then(|name| name.as_str()),
        Some(RawBson::String(name)) => Some(name.as_str()),
        _ => None,
    };
    index.append(cstr!("name"), given.map_or_else(|| default_name(keys), ToOwned::to_owned));
    match options {
        Some(RawBson::Document(options)) => {
            for (key, value) in options.iter().flatten() {
                if !["key", "name"].contains(&key.as_str()) {
                    index.append(key, value);
                }
            }
        }
        Some(RawBson::Boolean(true)) => index.append(cstr!("unique"), true),
        _ => {}
    }
    index
}

/// Keys and values joined by `_`: `a_1_b_-1`.
fn default_name(keys: &RawDocument) -> String {
    let part = |value: RawBsonRef<'_>| match value {
        RawBsonRef::Int32(value) => value.to_string(),
        RawBsonRef::Int64(value) => value.to_string(),
        RawBsonRef::Double(value) => value.to_string(),
        RawBsonRef::Decimal128(value) => value.to_string(),
        RawBsonRef::Boolean(value) => value.to_string(),
        RawBsonRef::String(value) => value.replace(' ', "_"),
        _ => String::new(),
    };
    let parts = keys.iter().flatten().map(|(key, value)| format!("{key}_{}", part(value)));
    parts.collect::<Vec<_>>().join("_")
}

fn name_of(index: &RawDocument) -> String {
    index.get_str("name").unwrap_or_default().to_owned()
}

/// `dropIndex(name or keys)`.
pub(super) fn drop_index(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let index = match call.value(0) {
        Some(RawBson::String(star)) if star == "*" => {
            let text =
                "To drop indexes in the collection using '*', use db.collection.dropIndexes()";
            return Err(call.shell.wrong(text, invalid_input(format!("{text}."))));
        }
        Some(index) => index.clone(),
        None => {
            let missing = missing_argument(0, "Collection.dropIndex");
            return Err(call.shell.wrong("need to specify index to dropIndex", missing));
        }
    };
    let body = Command::new(cstr!("dropIndexes"), name).with(cstr!("index"), index).body();
    answer(call.shell, &db, body)
}

/// `dropIndexes()`, `dropIndexes(name or keys or [name, ...])`.
pub(super) fn drop_indexes(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let index = call.value(0).cloned().unwrap_or_else(|| RawBson::String("*".to_owned()));
    let body = Command::new(cstr!("dropIndexes"), name).with(cstr!("index"), index).body();
    answer(call.shell, &db, body)
}

/// `getIndexes()`; the classic shell has none for a collection that is not there.
pub(super) fn get_indexes(call: &mut Call<'_>) -> Result<Reply> {
    indexes(call).map(Reply::Documents)
}

fn indexes(call: &Call<'_>) -> Result<Vec<RawDocumentBuf>> {
    let (db, name) = call.collection()?;
    let body = Command::new(cstr!("listIndexes"), name).body();
    match open_stream(call.shell, &db, body).and_then(|mut stream| stream.rest()) {
        Err(Error::Command(error))
            if error.code == Code::NAMESPACE_NOT_FOUND && call.shell.classic() =>
        {
            Ok(Vec::new())
        }
        Err(error) => Err(call.shell.failed(error, "listIndexes")),
        listed => listed,
    }
}

pub(super) fn get_index_keys(call: &mut Call<'_>) -> Result<Reply> {
    let keys = indexes(call)?.iter().filter_map(|index| owned(index, "key")).collect();
    Ok(Reply::Value(RawBson::Array(keys)))
}

pub(super) fn hide_index(call: &mut Call<'_>) -> Result<Reply> {
    hide(call, true)
}

pub(super) fn unhide_index(call: &mut Call<'_>) -> Result<Reply> {
    hide(call, false)
}

fn hide(call: &Call<'_>, hidden: bool) -> Result<Reply> {
    let (db, name) = call.collection()?;
    let mut index = RawDocumentBuf::new();
    match call.value(0) {
        Some(RawBson::Document(keys)) => index.append(cstr!("keyPattern"), keys),
        Some(RawBson::String(name)) => index.append(cstr!("name"), name.as_str()),
        _ => return Err(usage(format!("{} needs an index name or its keys", call.method))),
    }
    index.append(cstr!("hidden"), hidden);
    let body = Command::new(cstr!("collMod"), name).with(cstr!("index"), index).body();
    answer(call.shell, &db, body)
}

pub(super) fn re_index(call: &mut Call<'_>) -> Result<Reply> {
    let (db, name) = call.collection()?;
    answer(call.shell, &db, Command::new(cstr!("reIndex"), name).body())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_named_after_its_keys() {
        assert_eq!(default_name(&rawdoc! { "a": 1.0, "b.c": -1 }), "a_1_b.c_-1");
        assert_eq!(default_name(&rawdoc! { "t": "text" }), "t_text");
    }

    #[test]
    fn options_may_be_a_name_or_true_for_unique() {
        let keys = rawdoc! { "a": 1 };
        let named = specification(&keys, Some(&RawBson::String("mine".to_owned())));
        assert_eq!(named, rawdoc! { "key": { "a": 1 }, "name": "mine" });
        let unique = specification(&keys, Some(&RawBson::Boolean(true)));
        assert_eq!(unique, rawdoc! { "key": { "a": 1 }, "name": "a_1", "unique": true });
    }
}
