//! Node: the driver `mongodb`, options in an object.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{CALL, Layout, PADDED, after, group, row, text};
use super::literal::{Moment, double, four_digits, hex, is_name, looks_whole, quoted, uuid};
use super::snippet::{Needs, Written};

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let mut written = Written::of(call, statement);
    written.needs.import("MongoClient");
    let imports = format!("import {{ {} }} from \"mongodb\"", written.needs.listed());
    let db = format!("const db = new MongoClient(uri).db({})", string(&call.db));
    vec![written.text("//", "Node, mongodb", &[imports, db], "  ")]
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) => format!("db.collection({})", string(name)),
        None => "db".to_owned(),
    };
    let (name, last) = match step.method {
        Method::RunCommand => ("command", ""),
        Method::ListCollectionNames => ("listCollections", ".toArray()"),
        Method::Find | Method::Aggregate | Method::ListCollections | Method::ListIndexes => {
            (step.method.name(), ".toArray()")
        }
        method => (method.name(), ""),
    };
    let call = row([text(format!(".{name}")), group("(", arguments(call, needs), ")", CALL)]);
    let code = row([text(format!("await {target}")), call, text(last)]);
    Some(match step.method.answer() {
        "" => row([code, text(";")]),
        answer => row([text(format!("const {answer} = ")), code, text(";")]),
    })
}

fn arguments(call: &Call, needs: &mut Needs) -> Vec<Layout> {
    let step = &call.step;
    let mut options = options(step, needs);
    if step.method == Method::ListCollectionNames {
        options.push(text("nameOnly: true"));
    }
    let told = step.telling(!options.is_empty());
    let mut arguments: Vec<_> = told.iter().map(|one| value(&one.value, needs)).collect();
    if arguments.is_empty() && step.method == Method::ListCollectionNames {
        arguments.push(text("{}"));
    }
    match step.method {
        Method::BulkWrite => {
            let writes = call.steps.iter().map(|step| operation(step, needs)).collect();
            arguments.push(group("[", writes, "]", CALL));
        }
        Method::CreateIndexes => {
            let indexes = call.steps.iter().map(|step| index(step, needs)).collect();
            arguments.push(group("[", indexes, "]", CALL));
        }
        _ => {}
    }
    if !options.is_empty() {
        arguments.push(group("{", options, "}", PADDED));
    }
    arguments
}

fn options(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    let field = |(name, option): &(&str, Bson)| after(format!("{name}: "), value(option, needs));
    step.options.iter().map(field).collect()
}

/// One write of a `bulkWrite`.
fn operation(step: &Step, needs: &mut Needs) -> Layout {
    let names: &[&str] = match step.method {
        Method::ReplaceOne => &["filter", "replacement"],
        Method::UpdateOne | Method::UpdateMany => &["filter", "update"],
        _ => &["filter"],
    };
    let given = names.iter().zip(&step.arguments);
    let mut fields: Vec<_> =
        given.map(|(name, one)| after(format!("{name}: "), value(&one.value, needs))).collect();
    fields.extend(options(step, needs));
    let inner = group("{", fields, "}", PADDED);
    group("{", vec![after(format!("{}: ", step.method.name()), inner)], "}", PADDED)
}

fn index(step: &Step, needs: &mut Needs) -> Layout {
    let mut fields: Vec<_> =
        step.arguments.iter().map(|keys| after("key: ", value(&keys.value, needs))).collect();
    fields.extend(options(step, needs));
    group("{", fields, "}", PADDED)
}

fn string(text: &str) -> String {
    quoted(text, '"', four_digits)
}

/// A key of an object literal.
fn key(key: &str) -> String {
    let plain = !key.is_empty() && is_name(&key.replace('$', "_"));
    match key {
        // As a plain key it would set the prototype.
        "__proto__" => "[\"__proto__\"]".to_owned(),
        key if plain => key.to_owned(),
        key => string(key),
    }
}

/// Whether JavaScript keeps the order of these keys: it puts those that are array indexes first, in their own order.
fn keeps_order(document: &Document) -> bool {
    let index = |key: &String| {
        key.parse::<u32>().ok().filter(|index| index.to_string() == *key && *index < u32::MAX)
    };
    let indexes: Vec<_> = document.keys().map(index).collect();
    let first = indexes.iter().take_while(|index| index.is_some()).count();
    indexes[..first].is_sorted() && indexes[first..].iter().all(Option::is_none)
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "NaN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            if *number > 0.0 {
                "Infinity".to_owned()
            } else {
                "-Infinity".to_owned()
            }
        }
        Bson::Double(number) if looks_whole(*number) && number.abs() < 1e15 => {
            needs.import("Double");
            format!("new Double({number})")
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(document) if keeps_order(document) => {
            let field = |(name, inner): (&String, &Bson)| {
                after(format!("{}: ", key(name)), value(inner, needs))
            };
            return group("{", document.iter().map(field).collect(), "}", PADDED);
        }
        Bson::Document(document) => {
            let pair = |(name, inner): (&String, &Bson)| {
                group("[", vec![text(string(name)), value(inner, needs)], "]", CALL)
            };
            let pairs = group("[", document.iter().map(pair).collect(), "]", CALL);
            return group("new Map(", vec![pairs], ")", CALL);
        }
        Bson::Array(list) => {
            return group("[", list.iter().map(|one| value(one, needs)).collect(), "]", CALL);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::RegularExpression(regex) => {
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            if is_literal(pattern) && ["", "i", "m", "im"].contains(&options) {
                format!("/{pattern}/{options}")
            } else {
                needs.import("BSONRegExp");
                format!("new BSONRegExp({}, {})", string(pattern), string(options))
            }
        }
        Bson::JavaScriptCode(code) => format!("new {}({})", needs.import("Code"), string(code)),
        Bson::JavaScriptCodeWithScope(code) => {
            needs.import("Code");
            let scope = value(&Bson::Document(code.scope.clone()), needs);
            return group("new Code(", vec![text(string(&code.code)), scope], ")", CALL);
        }
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) if number.unsigned_abs() < 1 << 53 => {
            format!("{}.fromNumber({number})", needs.import("Long"))
        }
        Bson::Int64(number) => format!("{}.fromString(\"{number}\")", needs.import("Long")),
        Bson::Timestamp(at) => {
            needs.import("Timestamp");
            format!("new Timestamp({{ t: {}, i: {} }})", at.time, at.increment)
        }
        Bson::Binary(binary) => match uuid(binary) {
            Some(uuid) => format!("new {}(\"{uuid}\")", needs.import("UUID")),
            None => {
                needs.import("Binary");
                let bytes = format!("Buffer.from(\"{}\", \"hex\")", hex(&binary.bytes));
                match u8::from(binary.subtype) {
                    0 => format!("new Binary({bytes})"),
                    subtype => format!("new Binary({bytes}, {subtype})"),
                }
            }
        },
        Bson::ObjectId(id) => format!("new {}(\"{id}\")", needs.import("ObjectId")),
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => format!("new Date(\"{}\")", moment.iso()),
            None => format!("new Date({})", date.timestamp_millis()),
        },
        Bson::Decimal128(number) => {
            format!("{}.fromString(\"{number}\")", needs.import("Decimal128"))
        }
        Bson::MinKey => format!("new {}()", needs.import("MinKey")),
        Bson::MaxKey => format!("new {}()", needs.import("MaxKey")),
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}

/// Whether a pattern means the same as a literal of JavaScript: letters, digits, blanks, anchors and `.*`.
fn is_literal(pattern: &str) -> bool {
    let rest = pattern.replace(".*", "");
    let plain = |c: char| c.is_alphanumeric() || " _-@,^$".contains(c);
    !rest.is_empty() && rest.chars().all(plain)
}
