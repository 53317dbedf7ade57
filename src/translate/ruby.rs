//! Ruby: the gem `mongo`, options as keyword arguments.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{BARE, Layout, Shape, after, group, row, text};
use super::literal::{Moment, double, hex, is_hidden, is_name, quoted, snake, uuid};
use super::snippet::{Needs, Written};

/// A hash: blanks inside the braces, no comma behind the last pair.
const HASH: Shape = Shape::Block { padded: true, trailing: false };

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let written = Written::of(call, statement);
    let client =
        format!("client = Mongo::Client.new(['localhost:27017'], database: {})", string(&call.db));
    vec![written.text("#", "Ruby, gem mongo", &["require 'mongo'".to_owned(), client], "  ")]
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) if is_name(name) => format!("client[:{name}]"),
        Some(name) => format!("client[{}]", string(name)),
        None => "client.database".to_owned(),
    };
    let mut tail = "";
    let name = match step.method {
        Method::RunCommand => {
            tail = ".first";
            "command".to_owned()
        }
        Method::CreateCollection => {
            let name = step.arguments[0].value.as_str()?;
            let name = if is_name(name) { format!(":{name}") } else { string(name) };
            return Some(text(format!("client[{name}].create")));
        }
        Method::CreateIndex => "indexes.create_one".to_owned(),
        Method::CreateIndexes => "indexes.create_many".to_owned(),
        Method::DropIndex => "indexes.drop_one".to_owned(),
        Method::DropIndexes => "indexes.drop_all".to_owned(),
        Method::ListIndexes => "indexes".to_owned(),
        Method::DropDatabase => "drop".to_owned(),
        Method::ListCollectionNames if step.arguments.is_empty() => "collection_names".to_owned(),
        Method::ListCollectionNames => return None,
        Method::FindOne => {
            tail = ".first";
            "find".to_owned()
        }
        method => snake(method.name()),
    };
    if step.method == Method::Aggregate && step.arguments[0].stored {
        tail = ".to_a";
    }
    let arguments = arguments(call, needs)?;
    let call = match arguments.is_empty() {
        true => text(format!(".{name}")),
        false => after(format!(".{name}"), group("(", arguments, ")", BARE)),
    };
    let code = row([text(target), call, text(tail)]);
    Some(match step.method.answer() {
        "" => code,
        answer => after(format!("{answer} = "), code),
    })
}

fn arguments(call: &Call, needs: &mut Needs) -> Option<Vec<Layout>> {
    let step = &call.step;
    if step.method == Method::ListCollections {
        let filter = step.arguments.iter();
        return Some(filter.map(|one| after("filter: ", value(&one.value, needs))).collect());
    }
    let options = options(step, needs)?;
    let told = step.telling(!options.is_empty());
    let mut arguments: Vec<_> = told.iter().map(|one| value(&one.value, needs)).collect();
    if !call.steps.is_empty() {
        let list = call.steps.iter().map(|step| operation(step, needs));
        arguments.push(group("[", list.collect::<Option<_>>()?, "]", BARE));
    }
    arguments.extend(options);
    Some(arguments)
}

/// One write of a `bulk_write`, or one index.
fn operation(step: &Step, needs: &mut Needs) -> Option<Layout> {
    let names: &[&str] = match step.method {
        Method::CreateIndex => &["key"],
        Method::ReplaceOne => &["filter", "replacement"],
        _ => &["filter", "update"],
    };
    let given = names.iter().zip(&step.arguments);
    let mut inner: Vec<_> =
        given.map(|(name, one)| after(format!("{name}: "), value(&one.value, needs))).collect();
    inner.extend(options(step, needs)?);
    let inner = group("{", inner, "}", HASH);
    Some(match step.method {
        Method::CreateIndex => inner,
        method => group("{", vec![after(format!("{}: ", snake(method.name())), inner)], "}", HASH),
    })
}

fn options(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    let mut options = Vec::new();
    for (name, given) in &step.options {
        let (name, code) = match *name {
            "returnDocument" => ("return_document".to_owned(), text(":after")),
            "expireAfterSeconds" => ("expire_after".to_owned(), value(given, needs)),
            "showRecordId" => ("show_disk_loc".to_owned(), value(given, needs)),
            // The gem spells them in its own way, and differently in its versions.
            "min" | "max" => return None,
            name => (snake(name), value(given, needs)),
        };
        options.push(after(format!("{name}: "), code));
    }
    Some(options)
}

/// A string: in single quotes, or, where something must be escaped that they cannot, in double ones.
fn string(text: &str) -> String {
    if text.chars().any(is_hidden) {
        return quoted(text, '"', |character| match character {
            // Together with what follows it would begin an interpolation.
            '#' => Some("\\#".to_owned()),
            character if is_hidden(character) => Some(format!("\\u{{{:x}}}", u32::from(character))),
            _ => None,
        });
    }
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn document(document: &Document, needs: &mut Needs) -> Layout {
    let field = |(key, inner): (&String, &Bson)| {
        let key = match is_name(key) {
            true => format!("{key}: "),
            false => format!("{} => ", string(key)),
        };
        after(key, value(inner, needs))
    };
    group("{", document.iter().map(field).collect(), "}", HASH)
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "Float::NAN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            if *number > 0.0 { "Float::INFINITY" } else { "-Float::INFINITY" }.to_owned()
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, needs),
        Bson::Array(list) => {
            return group("[", list.iter().map(|one| value(one, needs)).collect(), "]", BARE);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "nil".to_owned(),
        Bson::RegularExpression(regex) => {
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            format!("BSON::Regexp::Raw.new({}, {})", string(pattern), string(options))
        }
        Bson::JavaScriptCode(code) => format!("BSON::Code.new({})", string(code)),
        Bson::JavaScriptCodeWithScope(code) => {
            let inner = vec![text(string(&code.code)), document(&code.scope, needs)];
            return group("BSON::CodeWithScope.new(", inner, ")", BARE);
        }
        Bson::Int32(number) => number.to_string(),
        // An integer that needs more than 32 bits is an int64 by itself.
        Bson::Int64(number) if i32::try_from(*number).is_err() => number.to_string(),
        Bson::Int64(number) => format!("BSON::Int64.new({number})"),
        Bson::Timestamp(at) => format!("BSON::Timestamp.new({}, {})", at.time, at.increment),
        Bson::Binary(binary) => {
            let kind = match (uuid(binary), u8::from(binary.subtype)) {
                (Some(uuid), _) => {
                    return text(format!("BSON::Binary.from_uuid('{uuid}')"));
                }
                (None, 0) => ":generic",
                (None, 1) => ":function",
                (None, 2) => ":old",
                (None, 3) => ":uuid_old",
                (None, 4) => ":uuid",
                (None, 5) => ":md5",
                (None, 6) => ":ciphertext",
                (None, 7) => ":column",
                (None, 8) => ":sensitive",
                (None, 9) => ":vector",
                (None, _) => ":user",
            };
            format!("BSON::Binary.new(['{}'].pack('H*'), {kind})", hex(&binary.bytes))
        }
        Bson::ObjectId(id) => format!("BSON::ObjectId.from_string('{id}')"),
        Bson::DateTime(date) => {
            let milliseconds = date.timestamp_millis();
            match Moment::of(*date) {
                Some(moment) if moment.milliseconds == 0 => {
                    format!("Time.utc({})", moment.short())
                }
                _ => format!(
                    "Time.at({}, {}, :millisecond).utc",
                    milliseconds.div_euclid(1000),
                    milliseconds.rem_euclid(1000)
                ),
            }
        }
        Bson::Decimal128(number) => format!("BSON::Decimal128.new('{number}')"),
        Bson::MinKey => "BSON::MinKey.new".to_owned(),
        Bson::MaxKey => "BSON::MaxKey.new".to_owned(),
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}
