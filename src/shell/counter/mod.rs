//! `counter()` and `nextVal()`: the findAndModify pattern as built-in functions.
//!
//! Each call is one findAndModify through [`super::Shell::run`], exactly as if it had been typed. `$inc` gets an
//! integer, so types and overflow are the server's, and an integer sequence never degrades to a double.

mod listing;
mod options;

pub(super) use listing::listing;

use bson::raw::cstr;
use bson::{Bson, RawBson, RawBsonRef, RawDocument, RawDocumentBuf, rawdoc};

use self::options::{Options, Sequence, name_of, options, whole_number};
use super::command::{Command, field, key_of};
use super::cursor::open_stream;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, Shell};
use crate::error::{Code, CommandError, Error, Result};
use crate::value::kind;
use crate::value::number::{self, Number, Overflow};
use crate::value::raw;

/// How often a call that lost the race for creating its counter begins again.
const ATTEMPTS: usize = 64;

/// Room for the parts of a command.
const ROOM: usize = 64;

/// From here on a double stands for two whole numbers or more: adding 1 may give the same one again.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// `counter.peek` and its sisters.
pub(super) const COUNTER: Class = Class::functions(
    "CounterFunctions",
    "counter",
    "counters in the collection counters, created by their first call",
    &[
        native("peek", "(name, options)", "the number handed out last, or null", peek_counter),
        native("reset", "(name, value, options)", "sets the number handed out last", reset_counter),
        native(
            "resetToMax",
            "(name, collection, field, options)",
            "sets it to the largest number in use",
            max_counter,
        ),
    ],
);

/// `nextVal.peek` and its sisters.
pub(super) const NEXT_VAL: Class = Class::functions(
    "NextValFunctions",
    "nextVal",
    "sequences in the collection sequences, created by hand",
    &[
        native("peek", "(name, options)", "the number handed out last, or null", peek_sequence),
        native(
            "reset",
            "(name, value, options)",
            "sets the number handed out last",
            reset_sequence,
        ),
        native(
            "resetToMax",
            "(name, collection, field, options)",
            "sets it to the largest number in use",
            max_sequence,
        ),
    ],
);

/// `counter(name, {step, start, collection, field, count})`.
pub(super) fn counter(call: &mut Call<'_>) -> Result<Reply> {
    advance(call, Sequence::Counter)
}

/// `nextVal(name, {step, start, collection, field, count})`.
pub(super) fn next_val(call: &mut Call<'_>) -> Result<Reply> {
    advance(call, Sequence::Sequence)
}

fn advance(call: &Call<'_>, sequence: Sequence) -> Result<Reply> {
    let name = name_of(call)?;
    let options = options(call, 1, sequence)?;
    let upsert = options.start.is_none() && sequence == Sequence::Counter;
    let mut attempts = 0;
    loop {
        match call.shell.run(&call.shell.db, command(name, &options, upsert)) {
            Ok(reply) => match field(&reply, "value") {
                Some(RawBsonRef::Document(counter)) => {
                    return answer(call.shell, name, counter, &options);
                }
                _ if options.start.is_some() => {
                    if let Some(reply) = create(call.shell, name, &options)? {
                        return Ok(reply);
                    }
                }
                _ => return Err(missing(call.shell, name, &options)),
            },
            // Another first call was quicker; its counter is there now.
            Err(Error::Command(error)) if upsert && is_own_duplicate(&error) => {}
            Err(error) => return Err(explain(call.shell, name, &options, error)),
        }
        attempts += 1;
        if attempts == ATTEMPTS {
            return Err(usage(format!(
                "{} could not be created or found in {ATTEMPTS} attempts: others keep creating and deleting it",
                describe(call.shell, name, &options)
            )));
        }
    }
}

/// The one findAndModify.
fn command(name: &RawBson, options: &Options<'_>, upsert: bool) -> RawDocumentBuf {
    let mut query = raw::document(ROOM);
    query.append(cstr!("_id"), name.as_raw_bson_ref());
    let mut amount = raw::document(ROOM);
    amount.append(key_of(options.field), integer(options.amount));
    let mut update = raw::document(ROOM);
    update.append(cstr!("$inc"), amount);
    let mut body = Command::new(cstr!("findAndModify"), options.collection)
        .with(cstr!("query"), query)
        .with(cstr!("update"), update)
        .with(cstr!("new"), true);
    if upsert {
        body = body.with(cstr!("upsert"), true);
    }
    body.body()
}

/// An integer in the smallest type that holds it.
fn integer(value: i64) -> RawBson {
    i32::try_from(value).map_or(RawBson::Int64(value), RawBson::Int32)
}

/// The value under a dotted field.
fn stored<'a>(document: &'a RawDocument, path: &str) -> Option<RawBsonRef<'a>> {
    match path.split_once('.') {
        None => document.get(path).ok().flatten(),
        Some((head, rest)) => match document.get(head).ok().flatten()? {
            RawBsonRef::Document(inner) => stored(inner, rest),
            _ => None,
        },
    }
}

/// What a call answers: what the stored value reads as, or the block that was reserved.
fn answer(
    shell: &Shell,
    name: &RawBson,
    counter: &RawDocument,
    options: &Options<'_>,
) -> Result<Reply> {
    let Some(last) = stored(counter, options.field) else {
        return Err(usage(format!(
            "{} has no field {} that can be read",
            describe(shell, name, options),
            options.field
        )));
    };
    if let RawBsonRef::Double(value) = last
        && (value.is_nan() || value.abs() >= EXACT)
    {
        return Err(usage(format!(
            "sequence exhausted: {} holds the double {value} in its field {}, and doubles do not tell whole numbers of that size apart. Make it a NumberLong; see: learn 6",
            describe(shell, name, options),
            options.field
        )));
    }
    let last = RawBson::from(last);
    if !options.block {
        return Ok(Reply::Served(last));
    }
    let back = options.amount - options.step;
    let first = match &last {
        RawBson::Int32(value) => integer(i64::from(*value) - back),
        RawBson::Int64(value) => RawBson::Int64(value.saturating_sub(back)),
        #[allow(clippy::cast_precision_loss)]
        RawBson::Double(value) => RawBson::Double(value - back as f64),
        other => difference(other, back)?,
    };
    Ok(Reply::Served(RawBson::Document(rawdoc! { "first": first, "last": last })))
}

/// `value - back` for the types that only [`number`] knows.
fn difference(value: &RawBson, back: i64) -> Result<RawBson> {
    let value = Bson::try_from(value.clone()).map_err(|error| usage(error.to_string()))?;
    Number::of(&value)
        .and_then(|last| number::subtract(last, Number::Int64(back), Overflow::Refused))
        .and_then(|first| RawBson::try_from(Bson::from(first)).ok())
        .ok_or_else(|| usage("the counter holds no number that can be counted back"))
}

/// Creates the counter at its start; `None` when another call was quicker.
fn create(shell: &Shell, name: &RawBson, options: &Options<'_>) -> Result<Option<Reply>> {
    let Some(start) = options.start else { return Ok(None) };
    let Some(last) =
        options.amount.checked_sub(options.step).and_then(|ahead| start.checked_add(ahead))
    else {
        return Err(usage(format!(
            "{}: the first numbers from {start} on pass the end of 64-bit integers",
            describe(shell, name, options)
        )));
    };
    let mut document = RawDocumentBuf::new();
    document.append(cstr!("_id"), name.as_raw_bson_ref());
    append_path(&mut document, options.field, integer(last));
    let list: bson::RawArrayBuf = [&document].into_iter().collect();
    let body =
        Command::new(cstr!("insert"), options.collection).with(cstr!("documents"), list).body();
    let reply = shell.run(&shell.db, body)?;
    let errors = reply.get_array("writeErrors").ok();
    match errors.and_then(|errors| errors.into_iter().flatten().next()) {
        None => answer(shell, name, &document, options).map(Some),
        Some(RawBsonRef::Document(error)) => {
            let code = i32::try_from(super::command::count(error, "code")).unwrap_or(0);
            let details = rawdoc_details(error);
            let message = error.get_str("errmsg").unwrap_or_default().to_owned();
            let error = CommandError { code: Code(code), message, details, labels: Vec::new() };
            match is_own_duplicate(&error) {
                true => Ok(None),
                false => Err(shell.failed(Error::Command(Box::new(error)), "insert")),
            }
        }
        Some(_) => Ok(None),
    }
}

fn rawdoc_details(error: &RawDocument) -> bson::Document {
    let fields = error.iter().flatten().filter(|(key, _)| key.as_str().starts_with("key"));
    let fields: RawDocumentBuf = fields.collect();
    bson::Document::try_from(fields).unwrap_or_default()
}

/// Puts a value under a dotted field.
fn append_path(document: &mut RawDocumentBuf, path: &str, value: RawBson) {
    match path.split_once('.') {
        None => document.append(key_of(path), value),
        Some((head, rest)) => {
            let mut inner = RawDocumentBuf::new();
            append_path(&mut inner, rest, value);
            document.append(key_of(head), inner);
        }
    }
}

/// Whether a refusal is the duplicate of the counter's own `_id`, and not one of some other unique index.
fn is_own_duplicate(error: &CommandError) -> bool {
    error.code == Code::DUPLICATE_KEY
        && match error.details.get_document("keyPattern") {
            Ok(pattern) => pattern.len() == 1 && pattern.contains_key("_id"),
            // Servers before 4.4 tell it in their words only.
            Err(_) => error.message.contains(" index: _id_ "),
        }
}

/// `the counter "users" in test.counters`.
fn describe(shell: &Shell, name: &RawBson, options: &Options<'_>) -> String {
    format!(
        "the {} {} in {}.{}",
        options.sequence.noun(),
        quoted(name),
        shell.db,
        options.collection
    )
}

/// A name or a value as the user would write it.
fn quoted(value: &RawBson) -> String {
    match value {
        RawBson::String(text) => format!("{text:?}"),
        RawBson::Int64(number) => number.to_string(),
        other => Bson::try_from(other.clone()).map(|value| value.to_string()).unwrap_or_default(),
    }
}

fn missing(shell: &Shell, name: &RawBson, options: &Options<'_>) -> Error {
    let (name, collection, field) = (quoted(name), options.collection, options.field);
    let create = format!(
        "Create it: db.{collection}.insert({{_id: {name}, {field}: 0}})  (or use counter({name}), which creates its own); see: learn 3"
    );
    usage(format!("there is no sequence {name} in {}.{collection}. {create}", shell.db))
}

/// The counter as it is stored.
fn look(shell: &Shell, name: &RawBson, options: &Options<'_>) -> Result<Option<RawDocumentBuf>> {
    let mut query = RawDocumentBuf::new();
    query.append(cstr!("_id"), name.as_raw_bson_ref());
    let body = Command::new(cstr!("find"), options.collection)
        .with(cstr!("filter"), query)
        .with(cstr!("limit"), 1)
        .with(cstr!("singleBatch"), true)
        .body();
    open_stream(shell, &shell.db, body)?.next()
}

/// Why the server would not count: what the counter holds, in plain words.
fn explain(shell: &Shell, name: &RawBson, options: &Options<'_>, error: Error) -> Error {
    let code = error.code();
    let known = [Code::TYPE_MISMATCH, Code::BAD_VALUE, Code::PATH_NOT_VIABLE, Code::OVERFLOW];
    let found = if code.is_some_and(|code| known.contains(&code)) {
        look(shell, name, options).ok().flatten()
    } else {
        None
    };
    let value = found.as_ref().and_then(|counter| stored(counter, options.field));
    let (what, field) = (describe(shell, name, options), options.field);
    match value.map(RawBson::from) {
        Some(value @ (RawBson::Int32(_) | RawBson::Int64(_))) => usage(format!(
            "sequence exhausted: {what} holds {} in its field {field}, and {:+} passes the end of 64-bit integers; it was left as it is; see: learn 6",
            quoted(&value),
            options.amount
        )),
        Some(RawBson::Double(_) | RawBson::Decimal128(_)) | None => {
            shell.failed(error, "findAndModifyFailed")
        }
        Some(value) => usage(format!(
            "{what} holds {} in its field {field} ({}); it was left as it is; see: learn 1",
            with_article(kind::of(value.element_type())),
            quoted(&value)
        )),
    }
}

fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {noun}")
}

fn peek_counter(call: &mut Call<'_>) -> Result<Reply> {
    peek(call, Sequence::Counter)
}

fn peek_sequence(call: &mut Call<'_>) -> Result<Reply> {
    peek(call, Sequence::Sequence)
}

fn peek(call: &Call<'_>, sequence: Sequence) -> Result<Reply> {
    let name = name_of(call)?;
    let options = options(call, 1, sequence)?;
    let found = look(call.shell, name, &options)?;
    Ok(match found.as_ref().and_then(|counter| stored(counter, options.field)) {
        Some(value) => Reply::Served(RawBson::from(value)),
        None => Reply::Value(RawBson::Null),
    })
}

fn reset_counter(call: &mut Call<'_>) -> Result<Reply> {
    reset(call, Sequence::Counter)
}

fn reset_sequence(call: &mut Call<'_>) -> Result<Reply> {
    reset(call, Sequence::Sequence)
}

fn reset(call: &Call<'_>, sequence: Sequence) -> Result<Reply> {
    let name = name_of(call)?;
    let options = options(call, 2, sequence)?;
    let value = match call.value(1) {
        None => RawBson::Int32(0),
        Some(value) => integer(whole_number(call.method, "value", value.as_raw_bson_ref())?),
    };
    set(call.shell, name, &options, value)
}

/// Sets the number handed out last and answers with it. As in counting, a counter comes into being and a sequence does
/// not.
fn set(shell: &Shell, name: &RawBson, options: &Options<'_>, value: RawBson) -> Result<Reply> {
    let mut query = RawDocumentBuf::new();
    query.append(cstr!("_id"), name.as_raw_bson_ref());
    let mut fields = RawDocumentBuf::new();
    fields.append(key_of(options.field), value);
    let body = Command::new(cstr!("findAndModify"), options.collection)
        .with(cstr!("query"), query)
        .with(cstr!("update"), rawdoc! { "$set": fields })
        .with(cstr!("new"), true)
        .with(cstr!("upsert"), options.sequence == Sequence::Counter)
        .body();
    let reply = shell.run(&shell.db, body);
    let reply = reply.map_err(|error| shell.failed(error, "findAndModifyFailed"))?;
    match field(&reply, "value") {
        Some(RawBsonRef::Document(counter)) => answer(shell, name, counter, options),
        _ => Err(missing(shell, name, options)),
    }
}

fn max_counter(call: &mut Call<'_>) -> Result<Reply> {
    reset_to_max(call, Sequence::Counter)
}

fn max_sequence(call: &mut Call<'_>) -> Result<Reply> {
    reset_to_max(call, Sequence::Sequence)
}

/// `resetToMax(name, collection, field, options)`: the collection is a name or a collection; the field is `_id` unless
/// another is named. A collection without numbers resets to 0.
fn reset_to_max(call: &Call<'_>, sequence: Sequence) -> Result<Reply> {
    let name = name_of(call)?;
    let options = options(call, 3, sequence)?;
    let Some(collection) = call.text(1, "collection")? else {
        return Err(usage(format!("{}: which collection holds the numbers in use?", call.method)));
    };
    let path = call.text(2, "field")?.unwrap_or("_id");
    let mut filter = RawDocumentBuf::new();
    filter.append(key_of(path), rawdoc! { "$type": "number" });
    let mut sort = RawDocumentBuf::new();
    sort.append(key_of(path), -1);
    let body = Command::new(cstr!("find"), collection)
        .with(cstr!("filter"), filter)
        .with(cstr!("sort"), sort)
        .with(cstr!("limit"), 1)
        .with(cstr!("singleBatch"), true)
        .body();
    let largest =
        open_stream(call.shell, &call.shell.db, body).and_then(|mut stream| stream.next());
    let largest = largest.map_err(|error| call.shell.refused(error, "error: ", ""))?;
    let value = match largest.as_ref().and_then(|document| stored(document, path)) {
        None => 0,
        Some(value) => whole_number(call.method, &format!("the largest {path}"), value)?,
    };
    set(call.shell, name, &options, integer(value))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};

    use bson::doc;

    use super::*;
    use crate::backend::{Backend, Cursor, Request, Topology};
    use crate::interrupt::Interrupt;
    use crate::shell::{Emulate, Output, Receiver};

    /// A backend that answers what it was told to, and remembers what it was asked.
    struct Scripted {
        replies: Mutex<VecDeque<Result<RawDocumentBuf>>>,
        asked: Mutex<Vec<String>>,
    }

    impl Backend for Scripted {
        fn describe(&self) -> Topology {
            Topology::Embedded { directory: None }
        }

        fn run(&self, request: Request) -> Result<RawDocumentBuf> {
            let name = request.body.iter().flatten().next().map(|(key, _)| key.as_str().to_owned());
            self.asked.lock().expect("no panic").push(name.unwrap_or_default());
            self.replies.lock().expect("no panic").pop_front().expect("no further command")
        }

        fn stream(&self, _: Request) -> Result<Box<dyn Cursor>> {
            Err(usage("nothing to stream"))
        }
    }

    /// What `counter("users", options)` answers over those replies, and the commands it sent.
    fn counted(
        options: RawDocumentBuf,
        replies: Vec<Result<RawDocumentBuf>>,
    ) -> (Result<Reply>, Vec<String>) {
        let backend =
            Arc::new(Scripted { replies: Mutex::new(replies.into()), asked: Mutex::default() });
        let output = Output::new(std::io::sink(), std::io::sink());
        let mut shell =
            Shell::new(backend.clone(), Interrupt::new(), Emulate::Mongo, "test", output);
        let arguments = vec![RawBson::String("users".to_owned()), RawBson::Document(options)];
        let answer = counter(&mut Call {
            shell: &mut shell,
            method: "counter",
            this: Receiver::None,
            arguments,
        });
        let asked = backend.asked.lock().expect("no panic").clone();
        (answer, asked)
    }

    fn duplicate(key: &str) -> Error {
        let details = doc! { "keyPattern": { key: 1 }, "keyValue": { key: "users" } };
        Error::command_with(Code::DUPLICATE_KEY, format!("E11000 ... index: {key}_"), details)
    }

    fn found(next: i32) -> RawDocumentBuf {
        rawdoc! { "value": { "_id": "users", "next": next }, "ok": 1.0 }
    }

    #[test]
    fn a_first_call_that_loses_the_race_goes_on_with_the_winners_counter() {
        let (answer, asked) = counted(rawdoc! {}, vec![Err(duplicate("_id")), Ok(found(2))]);
        assert!(matches!(answer, Ok(Reply::Served(RawBson::Int32(2)))), "{answer:?}");
        assert_eq!(asked, ["findAndModify", "findAndModify"]);
    }

    #[test]
    fn a_duplicate_of_another_index_is_not_swallowed() {
        let (answer, asked) = counted(rawdoc! {}, vec![Err(duplicate("next"))]);
        assert!(answer.is_err());
        assert_eq!(asked.len(), 1);
    }

    #[test]
    fn a_start_that_loses_the_race_begins_again() {
        let none = || Ok(rawdoc! { "value": null, "ok": 1.0 });
        let error = rawdoc! {
            "index": 0, "code": 11000, "errmsg": "E11000", "keyPattern": { "_id": 1 }
        };
        let lost = Ok(rawdoc! { "n": 0, "writeErrors": [error], "ok": 1.0 });
        let start = rawdoc! { "start": 5.0 };
        let (answer, asked) = counted(start, vec![none(), lost, Ok(found(6))]);
        assert!(matches!(answer, Ok(Reply::Served(RawBson::Int32(6)))), "{answer:?}");
        assert_eq!(asked, ["findAndModify", "insert", "findAndModify"]);
    }

    #[test]
    fn a_race_that_never_ends_is_told() {
        let replies = (0..ATTEMPTS).map(|_| Err(duplicate("_id"))).collect();
        let (answer, asked) = counted(rawdoc! {}, replies);
        assert!(answer.is_err());
        assert_eq!(asked.len(), ATTEMPTS);
    }
}
