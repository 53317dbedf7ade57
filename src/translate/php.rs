//! PHP: the library `mongodb/mongodb`, and a raw command through the extension alone.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{CALL, Layout, after, group, row, text};
use super::literal::{Moment, double, hex, is_hidden, is_name, quoted};
use super::snippet::{Needs, Written};

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let library = Written::of(call, statement);
    let mut context = uses(&library.needs);
    let db = string(&call.db);
    context.push("$client = new MongoDB\\Client()".to_owned());
    context.push(format!("$db = $client->selectDatabase({db})"));
    let library =
        library.text("//", "PHP, library mongodb/mongodb 1.16 or later", &context, "    ");
    let raw = Written::of(call, command);
    let mut context = uses(&raw.needs);
    context.push("$manager = new MongoDB\\Driver\\Manager()".to_owned());
    let raw = raw.text("//", "PHP, extension mongodb 1.16 or later, raw command", &context, "    ");
    vec![library, raw]
}

/// The names to import, those of one namespace together.
fn uses(needs: &Needs) -> Vec<String> {
    let mut uses = Vec::new();
    let mut bson: Vec<&str> = Vec::new();
    for import in needs.imports() {
        match import.strip_prefix("MongoDB\\BSON\\") {
            Some(name) => bson.push(name),
            None => uses.push(format!("use {import}")),
        }
    }
    match &bson[..] {
        [] => {}
        [name] => uses.insert(0, format!("use MongoDB\\BSON\\{name}")),
        names => uses.insert(0, format!("use MongoDB\\BSON\\{{{}}}", names.join(", "))),
    }
    uses
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) if is_name(name) => format!("$db->{name}"),
        Some(name) => format!("$db->selectCollection({})", string(name)),
        None => "$db".to_owned(),
    };
    let (name, tail) = match step.method {
        Method::RunCommand => ("command", "->toArray()[0]"),
        Method::DropDatabase => ("drop", ""),
        method => (method.name(), ""),
    };
    let answer = match step.method.answer() {
        "" => String::new(),
        answer => format!("${answer} = "),
    };
    let arguments = group("(", arguments(call, needs), ")", CALL);
    Some(row([text(format!("{answer}{target}->{name}")), arguments, text(format!("{tail};"))]))
}

fn command(call: &Call, needs: &mut Needs) -> Option<Layout> {
    needs.import("MongoDB\\Driver\\Command");
    let command = group("new Command(", vec![array(&call.command, needs)], ")", CALL);
    let arguments = group("(", vec![text(string(&call.db)), command], ")", CALL);
    let (answer, tail) = match call.command.keys().next().map(String::as_str) {
        Some("find" | "aggregate" | "listCollections" | "listIndexes") => ("$cursor", ""),
        _ => ("$reply", "->toArray()[0]"),
    };
    Some(row([
        text(format!("{answer} = $manager->executeCommand")),
        arguments,
        text(format!("{tail};")),
    ]))
}

fn arguments(call: &Call, needs: &mut Needs) -> Vec<Layout> {
    let step = &call.step;
    if matches!(step.method, Method::ListCollections | Method::ListCollectionNames) {
        let filter = step.arguments.iter();
        let filter = filter.map(|one| {
            group("[", vec![after("'filter' => ", value(&one.value, needs))], "]", CALL)
        });
        return filter.collect();
    }
    let options = options(step, needs);
    let told = step.telling(!options.is_empty());
    let mut arguments: Vec<_> = told.iter().map(|one| argument(&one.value, needs)).collect();
    match step.method {
        Method::BulkWrite => {
            let writes = call.steps.iter().map(|step| {
                let mut inner: Vec<_> =
                    step.arguments.iter().map(|one| argument(&one.value, needs)).collect();
                let options = self::options(step, needs);
                if !options.is_empty() {
                    inner.push(group("[", options, "]", CALL));
                }
                let inner = group("[", inner, "]", CALL);
                group("[", vec![after(format!("'{}' => ", step.method.name()), inner)], "]", CALL)
            });
            arguments.push(group("[", writes.collect(), "]", CALL));
        }
        Method::CreateIndexes => {
            let indexes = call.steps.iter().map(|step| {
                let keys = step.arguments.iter();
                let mut inner: Vec<_> =
                    keys.map(|keys| after("'key' => ", argument(&keys.value, needs))).collect();
                inner.extend(self::options(step, needs));
                group("[", inner, "]", CALL)
            });
            arguments.push(group("[", indexes.collect(), "]", CALL));
        }
        _ => {}
    }
    if !options.is_empty() {
        arguments.push(group("[", options, "]", CALL));
    }
    arguments
}

fn options(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    let option = |(name, given): &(&str, Bson)| {
        let code = match *name {
            "returnDocument" => {
                let class = super::literal::pascal(step.method.name());
                needs.import(&format!("MongoDB\\Operation\\{class}"));
                text(format!("{class}::RETURN_DOCUMENT_AFTER"))
            }
            _ => argument(given, needs),
        };
        after(format!("'{name}' => "), code)
    };
    step.options.iter().map(option).collect()
}

/// A value that the library takes for a document if it is an array: `[]` is an empty one.
fn argument(bson: &Bson, needs: &mut Needs) -> Layout {
    match bson {
        Bson::Document(document) if document.is_empty() => text("[]"),
        other => value(other, needs),
    }
}

/// A string: in single quotes, or, where something must be escaped that they cannot, in double ones.
fn string(text: &str) -> String {
    if text.chars().any(is_hidden) {
        return quoted(text, '"', |character| match character {
            '$' => Some("\\$".to_owned()),
            character if is_hidden(character) => Some(format!("\\u{{{:x}}}", u32::from(character))),
            _ => None,
        });
    }
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

fn fields(document: &Document, needs: &mut Needs) -> Vec<Layout> {
    let field =
        |(key, inner): (&String, &Bson)| after(format!("{} => ", string(key)), value(inner, needs));
    document.iter().map(field).collect()
}

/// A document of a command as an array, whatever its keys are.
fn array(document: &Document, needs: &mut Needs) -> Layout {
    group("[", fields(document, needs), "]", CALL)
}

/// Whether PHP would take this document for a list: it is empty, or its keys count from 0.
fn is_list(document: &Document) -> bool {
    document.keys().enumerate().all(|(at, key)| *key == at.to_string())
}

/// An integer. PHP reads the digits before the sign, and those of the least one are too many.
fn integer(number: i64) -> String {
    if number == i64::MIN { "PHP_INT_MIN".to_owned() } else { number.to_string() }
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    fn class<'a>(name: &'a str, needs: &mut Needs) -> &'a str {
        needs.import(&format!("MongoDB\\BSON\\{name}"));
        name
    }
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "NAN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            if *number > 0.0 { "INF" } else { "-INF" }.to_owned()
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(document) if is_list(document) => {
            return after("(object) ", array(document, needs));
        }
        Bson::Document(document) => return array(document, needs),
        Bson::Array(list) => {
            return group("[", list.iter().map(|one| value(one, needs)).collect(), "]", CALL);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "null".to_owned(),
        Bson::RegularExpression(regex) => {
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            let class = class("Regex", needs);
            match options {
                "" => format!("new {class}({})", string(pattern)),
                options => format!("new {class}({}, {})", string(pattern), string(options)),
            }
        }
        Bson::JavaScriptCode(code) => {
            format!("new {}({})", class("Javascript", needs), string(code))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            class("Javascript", needs);
            let scope = argument(&Bson::Document(code.scope.clone()), needs);
            return group("new Javascript(", vec![text(string(&code.code)), scope], ")", CALL);
        }
        Bson::Int32(number) => number.to_string(),
        // An integer that needs more than 32 bits is an int64 by itself.
        Bson::Int64(number) if i32::try_from(*number).is_err() => integer(*number),
        Bson::Int64(number) => format!("new {}({number})", class("Int64", needs)),
        // The increment comes first.
        Bson::Timestamp(at) => {
            format!("new {}({}, {})", class("Timestamp", needs), at.increment, at.time)
        }
        Bson::Binary(binary) => {
            let kind = match u8::from(binary.subtype) {
                0 => "Binary::TYPE_GENERIC".to_owned(),
                1 => "Binary::TYPE_FUNCTION".to_owned(),
                2 => "Binary::TYPE_OLD_BINARY".to_owned(),
                3 => "Binary::TYPE_OLD_UUID".to_owned(),
                4 => "Binary::TYPE_UUID".to_owned(),
                5 => "Binary::TYPE_MD5".to_owned(),
                6 => "Binary::TYPE_ENCRYPTED".to_owned(),
                other => other.to_string(),
            };
            let bytes = hex(&binary.bytes);
            format!("new {}(hex2bin('{bytes}'), {kind})", class("Binary", needs))
        }
        Bson::ObjectId(id) => format!("new {}('{id}')", class("ObjectId", needs)),
        Bson::DateTime(date) => {
            let class = class("UTCDateTime", needs);
            match Moment::of(*date) {
                Some(moment) => format!("new {class}(new DateTimeImmutable('{}'))", moment.iso()),
                None => format!("new {class}({})", integer(date.timestamp_millis())),
            }
        }
        Bson::Decimal128(number) => format!("new {}('{number}')", class("Decimal128", needs)),
        Bson::MinKey => format!("new {}()", class("MinKey", needs)),
        Bson::MaxKey => format!("new {}()", class("MaxKey", needs)),
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}
