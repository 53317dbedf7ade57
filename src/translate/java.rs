//! Java: the current driver (`mongodb-driver-sync`), options as builders; the classic one is `java_classic`.

use std::collections::BTreeSet;

use bson::{Bson, Document};

use super::call::{Argument, Call, Method, Step};
use super::java_classic;
use super::layout::{Layout, Shape, after, chain, group, row, text};
use super::literal::{Moment, double, four_digits, hex, pascal, quoted, uuid};
use super::snippet::{Needs, Written};

/// The classes of documents in the two drivers.
const DOCUMENT: &str = "org.bson.Document";
/// The package of options and builders.
const MODEL: &str = "com.mongodb.client.model";

/// The code of a call, for the current driver and for the classic one.
pub(super) fn write(call: &Call) -> Vec<String> {
    let mut written = Written::of(call, statement);
    for import in ["MongoClient", "MongoClients", "MongoDatabase"] {
        written.needs.import(&format!("com.mongodb.client.{import}"));
    }
    let mut context = imports(&written.needs);
    context.push("MongoClient client = MongoClients.create()".to_owned());
    context.push(format!("MongoDatabase db = client.getDatabase({})", string(&call.db)));
    let current = written.text("//", "Java, mongodb-driver-sync", &context, "        ");
    vec![current, java_classic::write(call)]
}

/// The import declarations by package; methods are imported by their class.
pub(super) fn imports(needs: &Needs) -> Vec<String> {
    let import = |name: &str| {
        let (home, last) = name.rsplit_once('.').unwrap_or(("", name));
        let method = last.chars().next().is_some_and(char::is_lowercase);
        format!("import {}{home}.*", if method { "static " } else { "" })
    };
    let imports: BTreeSet<String> = needs.imports().map(import).collect();
    imports.into_iter().collect()
}

/// A class by its short name; it is imported.
pub(super) fn class(name: &'static str, needs: &mut Needs) -> &'static str {
    needs.import(name);
    name.rsplit('.').next().unwrap_or(name)
}

/// A class of the package of options.
fn model(name: &str, needs: &mut Needs) -> String {
    needs.import(&format!("{MODEL}.{name}"));
    name.to_owned()
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) => format!("db.getCollection({})", string(name)),
        None => "db".to_owned(),
    };
    let stores = step.method == Method::Aggregate && step.arguments[0].stored;
    let kind = match step.method {
        _ if stores => String::new(),
        Method::FindOneAndDelete
        | Method::FindOneAndReplace
        | Method::FindOneAndUpdate
        | Method::FindOne
        | Method::RunCommand => class(DOCUMENT, needs).to_owned(),
        Method::Find => iterable("FindIterable", needs),
        Method::Aggregate => iterable("AggregateIterable", needs),
        Method::ListCollections => iterable("ListCollectionsIterable", needs),
        Method::ListIndexes => iterable("ListIndexesIterable", needs),
        Method::ListCollectionNames => {
            class("com.mongodb.client.ListCollectionNamesIterable", needs).to_owned()
        }
        Method::Distinct => {
            class("org.bson.BsonValue", needs);
            format!("{}<BsonValue>", class("com.mongodb.client.DistinctIterable", needs))
        }
        Method::CountDocuments | Method::EstimatedDocumentCount => "long".to_owned(),
        _ => String::new(),
    };
    let answer = if kind.is_empty() { "" } else { step.method.answer() };
    let before = if kind.is_empty() { String::new() } else { format!("{kind} {answer} = ") };
    let fluent = matches!(
        step.method,
        Method::Find | Method::FindOne | Method::Aggregate | Method::Distinct
    );
    let name = match step.method {
        Method::FindOne => "find",
        Method::DropDatabase => "drop",
        method => method.name(),
    };
    let mut links = Vec::new();
    let mut arguments = Vec::new();
    match step.method {
        Method::ListCollections | Method::ListCollectionNames => {
            let filter = step.arguments.iter();
            links.extend(filter.map(|one| {
                group(".filter(", vec![value(&one.value, DOCUMENT, needs)], ")", Shape::Hanging)
            }));
        }
        Method::BulkWrite => arguments.push(list(
            call.steps.iter().map(|step| write_model(step, needs)).collect::<Option<_>>()?,
            needs,
        )),
        Method::CreateIndexes => {
            let indexes = call.steps.iter().map(|step| {
                let inner = with_options(step, "IndexOptions", needs)?;
                Some(group(
                    format!("new {}(", model("IndexModel", needs)),
                    inner,
                    ")",
                    Shape::Hanging,
                ))
            });
            arguments.push(list(indexes.collect::<Option<_>>()?, needs));
        }
        Method::CreateIndex => arguments = with_options(step, "IndexOptions", needs)?,
        _ if fluent => {
            let told = step.telling(step.method == Method::Distinct);
            arguments = told.iter().map(|one| argument(one, step, needs)).collect();
            if step.method == Method::Distinct {
                arguments.push(text("BsonValue.class"));
            }
            for (option, given) in &step.options {
                links.push(setter(option, given, needs)?);
            }
        }
        method => {
            let class = match method {
                Method::CountDocuments => "CountOptions".to_owned(),
                Method::ReplaceOne => "ReplaceOptions".to_owned(),
                Method::UpdateOne | Method::UpdateMany => "UpdateOptions".to_owned(),
                Method::DeleteOne | Method::DeleteMany => "DeleteOptions".to_owned(),
                method => format!("{}Options", pascal(method.name())),
            };
            arguments = with_options(step, &class, needs)?;
        }
    }
    if step.method == Method::BulkWrite && !step.options.is_empty() {
        arguments.push(options(step, "BulkWriteOptions", needs)?);
    }
    let call = after(format!(".{name}"), group("(", arguments, ")", Shape::Hanging));
    if stores {
        links.push(text(".toCollection()"));
    }
    if step.method == Method::FindOne {
        links.push(text(".first()"));
    }
    let code = match links.is_empty() {
        true => row([text(target), call]),
        false => chain(text(target), [vec![call], links].concat()),
    };
    Some(row([text(before), code, text(";")]))
}

fn iterable(name: &str, needs: &mut Needs) -> String {
    needs.import(&format!("com.mongodb.client.{name}"));
    format!("{name}<{}>", class(DOCUMENT, needs))
}

/// The arguments, and behind them the options if there are some.
fn with_options(step: &Step, class: &str, needs: &mut Needs) -> Option<Vec<Layout>> {
    let told = step.telling(!step.options.is_empty());
    let mut arguments: Vec<_> = told.iter().map(|one| argument(one, step, needs)).collect();
    if !step.options.is_empty() {
        arguments.push(options(step, class, needs)?);
    }
    Some(arguments)
}

fn options(step: &Step, class: &str, needs: &mut Needs) -> Option<Layout> {
    let mut links = Vec::new();
    for (option, given) in &step.options {
        links.push(setter(option, given, needs)?);
    }
    Some(chain(text(format!("new {}()", model(class, needs))), links))
}

fn write_model(step: &Step, needs: &mut Needs) -> Option<Layout> {
    let class = match step.method {
        Method::ReplaceOne => "ReplaceOptions",
        Method::UpdateOne | Method::UpdateMany => "UpdateOptions",
        _ => "DeleteOptions",
    };
    let inner = with_options(step, class, needs)?;
    let name = model(&format!("{}Model", pascal(step.method.name())), needs);
    Some(group(format!("new {name}<>("), inner, ")", Shape::Hanging))
}

/// A setter of an options object or a fluent query; `None` where there is none for this value.
fn setter(name: &str, given: &Bson, needs: &mut Needs) -> Option<Layout> {
    let one = |name: &str, inner: Layout| {
        Some(group(format!(".{name}("), vec![inner], ")", Shape::Hanging))
    };
    match (name, given) {
        ("returnDocument", _) => {
            model("ReturnDocument", needs);
            one(name, text("ReturnDocument.AFTER"))
        }
        ("maxTimeMS", number) => {
            class("java.util.concurrent.TimeUnit", needs);
            Some(text(format!(".maxTime({number}, TimeUnit.MILLISECONDS)")))
        }
        ("expireAfterSeconds", number) => {
            class("java.util.concurrent.TimeUnit", needs);
            Some(text(format!(".expireAfter({number}L, TimeUnit.SECONDS)")))
        }
        ("hint", Bson::String(index)) => one("hintString", text(string(index))),
        ("collation", given) => one(name, collation(given.as_document()?, needs)?),
        ("comment", Bson::String(comment)) => one(name, text(string(comment))),
        ("comment", _) => None,
        (name, given) => one(name, value(given, DOCUMENT, needs)),
    }
}

fn collation(collation: &Document, needs: &mut Needs) -> Option<Layout> {
    let mut links = Vec::new();
    for (key, given) in collation {
        links.push(text(match (key.as_str(), given) {
            ("locale", Bson::String(locale)) => format!(".locale({})", string(locale)),
            ("strength", Bson::Int32(strength)) => {
                let names = ["PRIMARY", "SECONDARY", "TERTIARY", "QUATERNARY", "IDENTICAL"];
                let at = usize::try_from(*strength).ok()?.checked_sub(1)?;
                format!(
                    ".collationStrength({}.{})",
                    model("CollationStrength", needs),
                    names.get(at)?
                )
            }
            ("numericOrdering", Bson::Boolean(yes)) => format!(".numericOrdering({yes})"),
            ("caseLevel" | "normalization" | "backwards", Bson::Boolean(yes)) => {
                format!(".{key}({yes})")
            }
            _ => return None,
        }));
    }
    links.push(text(".build()"));
    Some(chain(text(format!("{}.builder()", model("Collation", needs))), links))
}

/// An argument: a filter on one field and a plain update by their builders, everything else as it is.
fn argument(one: &Argument, step: &Step, needs: &mut Needs) -> Layout {
    let Bson::Document(document) = &one.value else { return value(&one.value, DOCUMENT, needs) };
    let filters = step.arguments.first().is_some_and(|first| std::ptr::eq(first, one));
    let updates =
        matches!(step.method, Method::FindOneAndUpdate | Method::UpdateOne | Method::UpdateMany);
    let takes_filter =
        !matches!(step.method, Method::InsertOne | Method::RunCommand | Method::CreateIndex);
    let built = match (filters, updates) {
        (true, _) if takes_filter => equality(document, needs),
        (false, true) => changes(document, needs),
        _ => None,
    };
    built.unwrap_or_else(|| value(&one.value, DOCUMENT, needs))
}

/// `eq(field, value)`.
fn equality(filter: &Document, needs: &mut Needs) -> Option<Layout> {
    let (field, wanted) = filter.iter().next().filter(|_| filter.len() == 1)?;
    let operators = |inner: &Document| inner.keys().next().is_some_and(|key| key.starts_with('$'));
    if field.starts_with('$') || wanted.as_document().is_some_and(operators) {
        return None;
    }
    needs.import(&format!("{MODEL}.Filters.eq"));
    let inner = vec![text(string(field)), value(wanted, DOCUMENT, needs)];
    Some(group("eq(", inner, ")", Shape::Hanging))
}

/// `inc(field, amount)` and its like, several in a `combine(...)`.
fn changes(update: &Document, needs: &mut Needs) -> Option<Layout> {
    let mut changes = Vec::new();
    for (operator, fields) in update {
        let fields = fields.as_document().filter(|fields| !fields.is_empty())?;
        let name = operator.strip_prefix('$')?;
        for (field, given) in fields {
            let inner = match (name, given) {
                ("inc" | "mul", Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_))
                | ("set" | "setOnInsert" | "min" | "max", _)
                | ("rename", Bson::String(_)) => {
                    vec![text(string(field)), value(given, DOCUMENT, needs)]
                }
                ("push" | "addToSet" | "pull", Bson::Document(_)) => return None,
                ("push" | "addToSet" | "pull", given) => {
                    vec![text(string(field)), value(given, DOCUMENT, needs)]
                }
                ("currentDate", Bson::Boolean(true)) | ("unset", _) => vec![text(string(field))],
                _ => return None,
            };
            needs.import(&format!("{MODEL}.Updates.{name}"));
            changes.push(group(format!("{name}("), inner, ")", Shape::Hanging));
        }
    }
    match changes.len() {
        0 => None,
        1 => changes.pop(),
        _ => {
            needs.import(&format!("{MODEL}.Updates.combine"));
            Some(group("combine(", changes, ")", Shape::Hanging))
        }
    }
}

/// A string.
pub(super) fn string(text: &str) -> String {
    quoted(text, '"', four_digits)
}

/// A list; `List.of` takes no null.
fn list(items: Vec<Layout>, needs: &mut Needs) -> Layout {
    let null = text("null");
    if items == [null.clone()] {
        class("java.util.Arrays", needs);
        return text("Arrays.asList((Object) null)");
    }
    let open = match items.contains(&null) {
        true => format!("{}.asList(", class("java.util.Arrays", needs)),
        false => format!("{}.of(", class("java.util.List", needs)),
    };
    group(open, items, ")", Shape::Hanging)
}

/// A document of the class `documents`: its first field in the constructor, the others appended.
pub(super) fn document(document: &Document, documents: &'static str, needs: &mut Needs) -> Layout {
    let name = class(documents, needs);
    let mut fields =
        document.iter().map(|(key, inner)| vec![text(string(key)), value(inner, documents, needs)]);
    let Some(first) = fields.next() else { return text(format!("new {name}()")) };
    let links = fields.map(|field| group(".append(", field, ")", Shape::Hanging)).collect();
    chain(group(format!("new {name}("), first, ")", Shape::Hanging), links)
}

/// A value, with documents of the class `documents`.
pub(super) fn value(bson: &Bson, documents: &'static str, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "Double.NaN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            let name = if *number > 0.0 { "POSITIVE_INFINITY" } else { "NEGATIVE_INFINITY" };
            format!("Double.{name}")
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, documents, needs),
        Bson::Array(items) => {
            let items = items.iter().map(|one| value(one, documents, needs)).collect();
            return list(items, needs);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::RegularExpression(regex) => {
            let class = class("org.bson.BsonRegularExpression", needs);
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            match options {
                "" => format!("new {class}({})", string(pattern)),
                options => format!("new {class}({}, {})", string(pattern), string(options)),
            }
        }
        Bson::JavaScriptCode(code) => {
            format!("new {}({})", class("org.bson.types.Code", needs), string(code))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            let class = class("org.bson.types.CodeWithScope", needs);
            let scope = document(&code.scope, DOCUMENT, needs);
            let inner = vec![text(string(&code.code)), scope];
            return group(format!("new {class}("), inner, ")", Shape::Hanging);
        }
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("{number}L"),
        Bson::Timestamp(at) => {
            let class = class("org.bson.BsonTimestamp", needs);
            // Java's integers are signed; the driver reads them as if they were not.
            format!("new {class}({}, {})", signed(at.time), signed(at.increment))
        }
        Bson::Binary(binary) => match (uuid(binary), u8::from(binary.subtype)) {
            (Some(uuid), _) => {
                class("java.util.UUID", needs);
                let class = class("org.bson.BsonBinary", needs);
                format!("new {class}(UUID.fromString(\"{uuid}\"))")
            }
            (None, subtype) => {
                class("java.util.HexFormat", needs);
                let class = class("org.bson.types.Binary", needs);
                let kind = if subtype == 0 { String::new() } else { format!("(byte) {subtype}, ") };
                let bytes = hex(&binary.bytes);
                format!("new {class}({kind}HexFormat.of().parseHex(\"{bytes}\"))")
            }
        },
        Bson::ObjectId(id) => format!("new {}(\"{id}\")", class("org.bson.types.ObjectId", needs)),
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => {
                class("java.time.Instant", needs);
                let class = class("java.util.Date", needs);
                format!("{class}.from(Instant.parse(\"{}\"))", moment.iso())
            }
            None => format!("new {}({}L)", class("java.util.Date", needs), date.timestamp_millis()),
        },
        Bson::Decimal128(number) => {
            format!("{}.parse(\"{number}\")", class("org.bson.types.Decimal128", needs))
        }
        Bson::MinKey => format!("new {}()", class("org.bson.types.MinKey", needs)),
        Bson::MaxKey => format!("new {}()", class("org.bson.types.MaxKey", needs)),
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, documents, needs);
        }
    };
    text(code)
}

fn signed(number: u32) -> String {
    match i32::try_from(number) {
        Ok(number) => number.to_string(),
        Err(_) => format!("(int) {number}L"),
    }
}
