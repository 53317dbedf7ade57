//! Rust: the driver `mongodb`, options as methods of the action.

use std::collections::BTreeMap;

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{CALL, Layout, PADDED, after, chain, group, row, text};
use super::literal::{Moment, double, hex, is_hidden, quoted, snake, uuid};
use super::snippet::{Needs, Written};

/// The driver's crate.
const DRIVER: &str = "mongodb";

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let mut written = Written::of(call, statement);
    written.needs.import("Client");
    let mut context = uses(&written.needs);
    context.push(format!("let db = client.database({})", string(&call.db)));
    vec![written.text("//", "Rust, mongodb 3", &context, "    ")]
}

/// The use declarations, names of one module together.
fn uses(needs: &Needs) -> Vec<String> {
    let mut own = Vec::new();
    let mut modules: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut others = Vec::new();
    for path in needs.imports() {
        match path.split_once("::") {
            None => own.push(path.to_owned()),
            Some(("std", _)) => others.push(format!("use {path}")),
            Some((module, name)) => modules.entry(module).or_default().push(name),
        }
    }
    own.extend(modules.into_iter().map(|(module, names)| match &names[..] {
        [name] => format!("{module}::{name}"),
        names => format!("{module}::{{{}}}", names.join(", ")),
    }));
    let own = match &own[..] {
        [name] => name.clone(),
        names => format!("{{{}}}", names.join(", ")),
    };
    [vec![format!("use {DRIVER}::{own}")], others].concat()
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let name = match step.method {
        Method::BulkWrite => return None,
        Method::DropDatabase => "drop".to_owned(),
        method => snake(method.name()),
    };
    let mut links = Vec::new();
    if let Some(collection) = &call.collection {
        needs.import("bson::Document");
        links.push(text(format!(".collection::<Document>({})", string(collection))));
    }
    let arguments = match step.method {
        Method::CreateIndex => vec![index(step, needs)?],
        Method::CreateIndexes => {
            let indexes = call.steps.iter().map(|step| index(step, needs));
            vec![group("[", indexes.collect::<Option<_>>()?, "]", CALL)]
        }
        Method::ListCollections | Method::ListCollectionNames => Vec::new(),
        Method::DropIndex | Method::CreateCollection | Method::Distinct => {
            let mut arguments = Vec::new();
            for one in &step.arguments {
                arguments.push(match &one.value {
                    Bson::String(name) => text(string(name)),
                    other => argument(other, needs),
                });
            }
            arguments
        }
        _ => step.arguments.iter().map(|one| argument(&one.value, needs)).collect(),
    };
    links.push(after(format!(".{name}"), group("(", arguments, ")", CALL)));
    match step.method {
        Method::CreateIndex => {}
        Method::ListCollections | Method::ListCollectionNames => {
            let filter = step.arguments.iter();
            links.extend(
                filter.map(|one| group(".filter(", vec![argument(&one.value, needs)], ")", CALL)),
            );
        }
        _ => {
            for (name, value) in &step.options {
                links.push(option(name, value, needs)?);
            }
        }
    }
    links.push(text(".await?"));
    let answer = match step.method.answer() {
        "" => {
            // What stands for itself has its first link on its own line.
            let first = links.remove(0);
            return Some(row([chain(row([text("db"), first]), links), text(";")]));
        }
        answer @ ("documents" | "collections" | "indexes") => format!("let mut {answer} = "),
        answer => format!("let {answer} = "),
    };
    Some(row([text(answer), chain(text("db"), links), text(";")]))
}

/// A document, or a list of documents, as an argument.
fn argument(bson: &Bson, needs: &mut Needs) -> Layout {
    match bson {
        Bson::Document(inner) => document(inner, needs),
        Bson::Array(list) => {
            let list = list.iter().map(|one| argument(one, needs)).collect();
            group("vec![", list, "]", CALL)
        }
        other => value(other, needs),
    }
}

fn document(document: &Document, needs: &mut Needs) -> Layout {
    needs.import("bson::doc");
    group("doc! {", fields(document, needs), "}", PADDED)
}

fn fields(document: &Document, needs: &mut Needs) -> Vec<Layout> {
    let field =
        |(key, inner): (&String, &Bson)| after(format!("{}: ", string(key)), value(inner, needs));
    document.iter().map(field).collect()
}

/// One method of the action; `None` where it has none for this value.
fn option(name: &str, given: &Bson, needs: &mut Needs) -> Option<Layout> {
    let (method, value) = match (name, given) {
        ("returnDocument", _) => {
            needs.import("options::ReturnDocument");
            ("return_document".to_owned(), text("ReturnDocument::After"))
        }
        ("let", given) => ("let_vars".to_owned(), argument(given, needs)),
        ("maxTimeMS", milliseconds) => {
            needs.import("std::time::Duration");
            ("max_time".to_owned(), text(format!("Duration::from_millis({milliseconds})")))
        }
        ("expireAfterSeconds", seconds) => {
            needs.import("std::time::Duration");
            ("expire_after".to_owned(), text(format!("Duration::from_secs({seconds})")))
        }
        ("hint", hint) => {
            needs.import("options::Hint");
            let hint = match hint {
                Bson::Document(keys) => {
                    group("Hint::Keys(", vec![document(keys, needs)], ")", CALL)
                }
                name => after("Hint::Name", group("(", vec![owned(name)?], ")", CALL)),
            };
            ("hint".to_owned(), hint)
        }
        ("name", name) => ("name".to_owned(), owned(name)?),
        ("collation", given) => ("collation".to_owned(), collation(given.as_document()?, needs)?),
        ("comment", given) => {
            needs.import("bson::bson");
            ("comment".to_owned(), group("bson!(", vec![value(given, needs)], ")", CALL))
        }
        ("skip" | "limit" | "batchSize", number) => (snake(name), text(number.to_string())),
        (name, given) => (snake(name), argument(given, needs)),
    };
    Some(after(format!(".{method}"), group("(", vec![value], ")", CALL)))
}

/// A string that owns its text.
fn owned(name: &Bson) -> Option<Layout> {
    Some(text(format!("{}.to_owned()", string(name.as_str()?))))
}

fn collation(collation: &Document, needs: &mut Needs) -> Option<Layout> {
    needs.import("options::Collation");
    let mut links = Vec::new();
    for (key, given) in collation {
        let code = match (key.as_str(), given) {
            ("locale", Bson::String(locale)) => string(locale),
            ("strength", Bson::Int32(strength)) => {
                let names = ["Primary", "Secondary", "Tertiary", "Quaternary", "Identical"];
                let at = usize::try_from(*strength).ok()?.checked_sub(1)?;
                needs.import("options::CollationStrength");
                format!("CollationStrength::{}", names.get(at)?)
            }
            (
                "caseLevel" | "numericOrdering" | "normalization" | "backwards",
                Bson::Boolean(yes),
            ) => yes.to_string(),
            ("caseFirst" | "alternate" | "maxVariable", Bson::String(choice)) => {
                let kind = format!("Collation{}", super::literal::pascal(key));
                needs.import(&format!("options::{kind}"));
                let choice = match choice.as_str() {
                    "non-ignorable" => "NonIgnorable".to_owned(),
                    "upper" | "lower" | "off" | "shifted" | "punct" | "space" => {
                        super::literal::pascal(choice)
                    }
                    _ => return None,
                };
                format!("{kind}::{choice}")
            }
            _ => return None,
        };
        links.push(text(format!(".{}({code})", snake(key))));
    }
    links.push(text(".build()"));
    Some(chain(text("Collation::builder()"), links))
}

fn index(step: &Step, needs: &mut Needs) -> Option<Layout> {
    needs.import("IndexModel");
    let mut links = Vec::new();
    for keys in &step.arguments {
        links.push(group(".keys(", vec![argument(&keys.value, needs)], ")", CALL));
    }
    if !step.options.is_empty() {
        needs.import("options::IndexOptions");
        let mut options = Vec::new();
        for (name, value) in &step.options {
            options.push(option(name, value, needs)?);
        }
        options.push(text(".build()"));
        links.push(group(
            ".options(",
            vec![chain(text("IndexOptions::builder()"), options)],
            ")",
            CALL,
        ));
    }
    links.push(text(".build()"));
    Some(chain(text("IndexModel::builder()"), links))
}

fn string(text: &str) -> String {
    quoted(text, '"', |character| {
        is_hidden(character).then(|| format!("\\u{{{:x}}}", u32::from(character)))
    })
}

/// A value inside `doc!`.
fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "f64::NAN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            if *number > 0.0 { "f64::INFINITY" } else { "f64::NEG_INFINITY" }.to_owned()
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return group("{", fields(inner, needs), "}", PADDED),
        Bson::Array(list) => {
            return group("[", list.iter().map(|one| value(one, needs)).collect(), "]", CALL);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => {
            needs.import("bson::Bson");
            "Bson::Null".to_owned()
        }
        Bson::RegularExpression(regex) => {
            needs.import("bson::Regex");
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            let fields = vec![
                text(format!("pattern: {}.into()", string(pattern))),
                text(format!("options: {}.into()", string(options))),
            ];
            return group("Regex {", fields, "}", PADDED);
        }
        Bson::JavaScriptCode(code) => {
            needs.import("bson::Bson");
            format!("Bson::JavaScriptCode({}.into())", string(code))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            needs.import("bson::JavaScriptCodeWithScope");
            let fields = vec![
                text(format!("code: {}.into()", string(&code.code))),
                after("scope: ", document(&code.scope, needs)),
            ];
            return group("JavaScriptCodeWithScope {", fields, "}", PADDED);
        }
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("{number}_i64"),
        Bson::Timestamp(at) => {
            needs.import("bson::Timestamp");
            format!("Timestamp {{ time: {}, increment: {} }}", at.time, at.increment)
        }
        Bson::Binary(binary) => match uuid(binary) {
            Some(uuid) => {
                needs.import("bson::Uuid");
                format!("Uuid::parse_str(\"{uuid}\")?")
            }
            None => {
                needs.import("bson::Binary");
                let subtype = u8::from(binary.subtype);
                let bytes = binary.bytes.iter().map(|byte| format!("0x{}", hex(&[*byte])));
                let bytes = bytes.collect::<Vec<_>>().join(", ");
                let fields = vec![
                    text(format!("subtype: {subtype}_u8.into()")),
                    text(format!("bytes: vec![{bytes}]")),
                ];
                return group("Binary {", fields, "}", PADDED);
            }
        },
        Bson::ObjectId(id) => {
            needs.import("bson::oid::ObjectId");
            format!("ObjectId::parse_str(\"{id}\")?")
        }
        Bson::DateTime(date) => {
            needs.import("bson::DateTime");
            match Moment::of(*date) {
                Some(moment) => format!("DateTime::parse_rfc3339_str(\"{}\")?", moment.iso()),
                None => format!("DateTime::from_millis({})", date.timestamp_millis()),
            }
        }
        Bson::Decimal128(number) => {
            needs.import("bson::Decimal128");
            format!("\"{number}\".parse::<Decimal128>()?")
        }
        Bson::MinKey => {
            needs.import("bson::Bson");
            "Bson::MinKey".to_owned()
        }
        Bson::MaxKey => {
            needs.import("bson::Bson");
            "Bson::MaxKey".to_owned()
        }
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}
