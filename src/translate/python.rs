//! Python: the driver pymongo, options as keyword arguments.

use std::collections::BTreeMap;

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{CALL, Layout, after, group, row, text};
use super::literal::{Moment, double, four_digits, hex, is_name, quoted, snake, uuid};
use super::snippet::{Needs, Written};

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let mut written = Written::of(call, statement);
    written.needs.import("pymongo.MongoClient");
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for import in written.needs.imports() {
        let (module, name) = import.rsplit_once('.').unwrap_or(("", import));
        modules.entry(module).or_default().push(name);
    }
    let imports =
        modules.iter().map(|(module, names)| format!("from {module} import {}", names.join(", ")));
    let mut context: Vec<String> = imports.collect();
    context.push("client = MongoClient()".to_owned());
    context.push(format!("db = client[{}]", string(&call.db)));
    vec![written.text("#", "Python, pymongo 4", &context, "    ")]
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) => format!("db[{}]", string(name)),
        None => "db".to_owned(),
    };
    let name = match step.method {
        Method::RunCommand => "command".to_owned(),
        Method::DropDatabase => {
            return Some(text(format!("client.drop_database({})", string(&call.db))));
        }
        method => snake(method.name()),
    };
    let answer = match step.method.answer() {
        "" => String::new(),
        answer => format!("{answer} = "),
    };
    let arguments = group("(", arguments(call, needs), ")", CALL);
    Some(row([text(format!("{answer}{target}.{name}")), arguments]))
}

fn arguments(call: &Call, needs: &mut Needs) -> Vec<Layout> {
    let step = &call.step;
    match step.method {
        Method::RunCommand => {
            let command = step.arguments[0].document();
            // A command without a parameter is known by its name alone.
            return match command.iter().next() {
                Some((name, Bson::Int32(1))) if command.len() == 1 => vec![text(string(name))],
                _ => vec![document(&command, needs)],
            };
        }
        Method::ListCollections | Method::ListCollectionNames => {
            let filter =
                step.arguments.iter().map(|one| after("filter=", value(&one.value, needs)));
            return filter.collect();
        }
        Method::CreateIndex => return index(step, needs),
        _ => {}
    }
    let options = options(step, needs);
    let mut arguments: Vec<_> = match step.method {
        // It wants a filter, be it empty.
        Method::CountDocuments => &step.arguments[..],
        _ => step.telling(!options.is_empty()),
    }
    .iter()
    .map(|one| value(&one.value, needs))
    .collect();
    if !call.steps.is_empty() {
        let list = call.steps.iter().map(|step| {
            let (name, inner) = match step.method {
                Method::CreateIndex => ("IndexModel".to_owned(), index(step, needs)),
                method => {
                    let given = step.arguments.iter().map(|one| value(&one.value, needs));
                    let mut inner: Vec<_> = given.collect();
                    inner.extend(self::options(step, needs));
                    (super::literal::pascal(method.name()), inner)
                }
            };
            needs.import(&format!("pymongo.{name}"));
            group(format!("{name}("), inner, ")", CALL)
        });
        arguments.push(group("[", list.collect(), "]", CALL));
    }
    arguments.extend(options);
    arguments
}

fn index(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    let keys = step.arguments[0].document();
    let keys = match keys.iter().next() {
        Some((key, Bson::Int32(1))) if keys.len() == 1 => text(string(key)),
        _ => pairs(&keys, needs),
    };
    let mut inner = vec![keys];
    inner.extend(options(step, needs));
    inner
}

/// Keyword arguments. Those of `find` and of writes have names of their own, others go into the command as they are.
fn options(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    let finds = matches!(step.method, Method::Find | Method::FindOne);
    let modifies = matches!(
        step.method,
        Method::FindOneAndDelete | Method::FindOneAndReplace | Method::FindOneAndUpdate
    );
    let raw = matches!(
        step.method,
        Method::Aggregate
            | Method::CountDocuments
            | Method::EstimatedDocumentCount
            | Method::Distinct
            | Method::CreateIndex
    );
    let option = |(name, given): &(&str, Bson)| {
        let plain = raw || (modifies && ["maxTimeMS", "bypassDocumentValidation"].contains(name));
        let keyword = match (*name, plain) {
            ("maxTimeMS", false) => "max_time_ms".to_owned(),
            (name, true) => name.to_owned(),
            (name, false) => snake(name),
        };
        let code = match (*name, given) {
            ("returnDocument", _) => {
                needs.import("pymongo.ReturnDocument");
                text("ReturnDocument.AFTER")
            }
            ("sort" | "min" | "max", Bson::Document(keys)) => pairs(keys, needs),
            ("hint", Bson::Document(keys)) if finds || modifies || !raw => pairs(keys, needs),
            ("collation", Bson::Document(collation))
                if collation.keys().all(|key| is_name(key)) =>
            {
                needs.import("pymongo.collation.Collation");
                let fields = collation.iter();
                let fields = fields.map(|(key, one)| after(format!("{key}="), value(one, needs)));
                group("Collation(", fields.collect(), ")", CALL)
            }
            (_, given) => value(given, needs),
        };
        after(format!("{keyword}="), code)
    };
    step.options.iter().map(option).collect()
}

/// Keys with directions: a list of pairs.
fn pairs(keys: &Document, needs: &mut Needs) -> Layout {
    let pair = |(key, direction): (&String, &Bson)| {
        group("(", vec![text(string(key)), value(direction, needs)], ")", CALL)
    };
    group("[", keys.iter().map(pair).collect(), "]", CALL)
}

fn string(text: &str) -> String {
    quoted(text, '"', four_digits)
}

fn document(document: &Document, needs: &mut Needs) -> Layout {
    let field =
        |(key, inner): (&String, &Bson)| after(format!("{}: ", string(key)), value(inner, needs));
    group("{", document.iter().map(field).collect(), "}", CALL)
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "float(\"nan\")".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            if *number > 0.0 { "float(\"inf\")" } else { "float(\"-inf\")" }.to_owned()
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, needs),
        Bson::Array(list) => {
            return group("[", list.iter().map(|one| value(one, needs)).collect(), "]", CALL);
        }
        Bson::Boolean(true) => "True".to_owned(),
        Bson::Boolean(false) => "False".to_owned(),
        Bson::Null => "None".to_owned(),
        Bson::RegularExpression(regex) => {
            needs.import("bson.Regex");
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            match options {
                "" => format!("Regex({})", string(pattern)),
                options => format!("Regex({}, {})", string(pattern), string(options)),
            }
        }
        Bson::JavaScriptCode(code) => {
            needs.import("bson.Code");
            format!("Code({})", string(code))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            needs.import("bson.Code");
            let scope = document(&code.scope, needs);
            return group("Code(", vec![text(string(&code.code)), scope], ")", CALL);
        }
        Bson::Int32(number) => number.to_string(),
        // An integer that needs more than 32 bits is an int64 by itself.
        Bson::Int64(number) if i32::try_from(*number).is_err() => number.to_string(),
        Bson::Int64(number) => {
            needs.import("bson.Int64");
            format!("Int64({number})")
        }
        Bson::Timestamp(at) => {
            needs.import("bson.Timestamp");
            format!("Timestamp({}, {})", at.time, at.increment)
        }
        Bson::Binary(binary) => match (uuid(binary), u8::from(binary.subtype)) {
            (Some(uuid), _) => {
                needs.import("bson.Binary");
                needs.import("uuid.UUID");
                format!("Binary.from_uuid(UUID(\"{uuid}\"))")
            }
            (None, 0) => format!("bytes.fromhex(\"{}\")", hex(&binary.bytes)),
            (None, subtype) => {
                needs.import("bson.Binary");
                format!("Binary(bytes.fromhex(\"{}\"), {subtype})", hex(&binary.bytes))
            }
        },
        Bson::ObjectId(id) => {
            needs.import("bson.ObjectId");
            format!("ObjectId(\"{id}\")")
        }
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => {
                needs.import("datetime.datetime");
                needs.import("datetime.timezone");
                match moment.milliseconds {
                    0 => format!("datetime({}, tzinfo=timezone.utc)", moment.short()),
                    some => format!("datetime({}, {some}000, tzinfo=timezone.utc)", moment.long()),
                }
            }
            None => {
                needs.import("bson.datetime_ms.DatetimeMS");
                format!("DatetimeMS({})", date.timestamp_millis())
            }
        },
        Bson::Decimal128(number) => {
            needs.import("bson.Decimal128");
            format!("Decimal128(\"{number}\")")
        }
        Bson::MinKey => {
            needs.import("bson.MinKey");
            "MinKey()".to_owned()
        }
        Bson::MaxKey => {
            needs.import("bson.MaxKey");
            "MaxKey()".to_owned()
        }
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}
