//! Go: the driver `mongo-driver/v2`, options built by setters.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{CALL, Layout, after, group, row, text, trailing_chain};
use super::literal::{Moment, double, hex, is_hidden, pascal, quoted};
use super::snippet::{Needs, Written};

/// Where the driver's packages are.
const DRIVER: &str = "go.mongodb.org/mongo-driver/v2";

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let written = Written::of(call, statement);
    let imports = written.needs.imports().map(|path| match path {
        "math" | "time" => format!("\"{path}\""),
        "options" => format!("\"{DRIVER}/mongo/options\""),
        path => format!("\"{DRIVER}/{path}\""),
    });
    let imports = format!("import ({})", imports.collect::<Vec<_>>().join("; "));
    let imports = if written.needs.imports().next().is_none() { String::new() } else { imports };
    let db = format!("db := client.Database({})", string(&call.db));
    vec![written.text("//", "Go, mongo-driver/v2", &[imports, db], "\t")]
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) => format!("db.Collection({})", string(name)),
        None => "db".to_owned(),
    };
    let name = match step.method {
        Method::CreateIndex => "Indexes().CreateOne".to_owned(),
        Method::CreateIndexes => "Indexes().CreateMany".to_owned(),
        Method::DropIndex => "Indexes().DropOne".to_owned(),
        Method::DropIndexes => "Indexes().DropAll".to_owned(),
        Method::ListIndexes => "Indexes().List".to_owned(),
        Method::DropDatabase => "Drop".to_owned(),
        method => pascal(method.name()),
    };
    let mut arguments = vec![text("ctx")];
    arguments.extend(self::arguments(call, needs)?);
    let code = row([text(format!("{target}.{name}")), group("(", arguments, ")", CALL)]);
    // A declaration before it has brought an `err` already.
    let err = if needs.statements() > 0 { "err = " } else { "err := " };
    Some(match step.method {
        Method::FindOne
        | Method::FindOneAndDelete
        | Method::FindOneAndReplace
        | Method::FindOneAndUpdate
        | Method::RunCommand
        | Method::Distinct => {
            let answer = step.method.answer();
            needs.import("bson");
            let kind = if step.method == Method::Distinct { "bson.A" } else { "bson.M" };
            needs.before(format!("var {answer} {kind}"));
            row([text(err), code, text(format!(".Decode(&{answer})"))])
        }
        Method::Find | Method::Aggregate | Method::ListCollections | Method::ListIndexes => {
            after("cursor, err := ", code)
        }
        Method::CreateIndex => after("name, err := ", code),
        Method::CreateIndexes => after("names, err := ", code),
        method => match method.answer() {
            "" => after(err, code),
            answer => after(format!("{answer}, err := "), code),
        },
    })
}

fn arguments(call: &Call, needs: &mut Needs) -> Option<Vec<Layout>> {
    let step = &call.step;
    if step.method == Method::CreateIndex {
        return Some(vec![index(step, needs)?]);
    }
    let mut arguments = Vec::new();
    for one in &step.arguments {
        arguments.push(match (&one.value, step.method) {
            (Bson::Array(list), Method::InsertMany) => {
                let list = list.iter().map(|one| value(one, needs)).collect();
                group("[]any{", list, "}", CALL)
            }
            (other, _) => value(other, needs),
        });
    }
    if arguments.is_empty()
        && matches!(step.method, Method::ListCollections | Method::ListCollectionNames)
    {
        arguments.push(value(&Bson::Document(Document::new()), needs));
    }
    match step.method {
        Method::BulkWrite => {
            needs.import("mongo");
            let writes = call.steps.iter().map(|step| operation(step, needs));
            let writes = writes.collect::<Option<_>>()?;
            arguments.push(group("[]mongo.WriteModel{", writes, "}", CALL));
        }
        Method::CreateIndexes => {
            needs.import("mongo");
            let indexes = call.steps.iter().map(|step| {
                let inner = index_fields(step, needs)?;
                Some(group("{", inner, "}", CALL))
            });
            let indexes = indexes.collect::<Option<_>>()?;
            arguments.push(group("[]mongo.IndexModel{", indexes, "}", CALL));
        }
        _ => {}
    }
    if !step.options.is_empty() {
        let builder = match step.method {
            Method::CountDocuments => "Count".to_owned(),
            Method::ReplaceOne => "Replace".to_owned(),
            method => pascal(method.name()),
        };
        arguments.push(options(&builder, step, needs)?);
    }
    Some(arguments)
}

/// `options.Find().SetLimit(5)`.
fn options(builder: &str, step: &Step, needs: &mut Needs) -> Option<Layout> {
    needs.import("options");
    Some(trailing_chain(text(format!("options.{builder}()")), setters(step, needs)?))
}

fn setters(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    let mut setters = Vec::new();
    for (name, given) in &step.options {
        let code = match (*name, given) {
            // Time is limited by the context alone.
            ("maxTimeMS", _) => return None,
            ("returnDocument", _) => {
                needs.import("options");
                text("options.After")
            }
            ("collation", given) => collation(given.as_document()?, needs)?,
            ("arrayFilters", Bson::Array(list)) => {
                let list = list.iter().map(|one| value(one, needs)).collect();
                group("[]any{", list, "}", CALL)
            }
            (_, given) => value(given, needs),
        };
        let name = match *name {
            "showRecordId" => "ShowRecordID".to_owned(),
            name => pascal(name),
        };
        setters.push(group(format!("Set{name}("), vec![code], ")", CALL));
    }
    Some(setters)
}

fn collation(collation: &Document, needs: &mut Needs) -> Option<Layout> {
    needs.import("options");
    let mut fields = Vec::new();
    for (key, given) in collation {
        let code = match (key.as_str(), given) {
            ("locale" | "caseFirst" | "alternate" | "maxVariable", Bson::String(choice)) => {
                string(choice)
            }
            ("strength", Bson::Int32(strength)) => strength.to_string(),
            (
                "caseLevel" | "numericOrdering" | "normalization" | "backwards",
                Bson::Boolean(yes),
            ) => yes.to_string(),
            _ => return None,
        };
        fields.push(text(format!("{}: {code}", pascal(key))));
    }
    Some(group("&options.Collation{", fields, "}", CALL))
}

fn index(step: &Step, needs: &mut Needs) -> Option<Layout> {
    needs.import("mongo");
    Some(group("mongo.IndexModel{", index_fields(step, needs)?, "}", CALL))
}

fn index_fields(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    let keys = step.arguments.iter();
    let mut fields: Vec<_> = keys.map(|keys| after("Keys: ", value(&keys.value, needs))).collect();
    if !step.options.is_empty() {
        fields.push(after("Options: ", options("Index", step, needs)?));
    }
    Some(fields)
}

/// One write of a bulk write.
fn operation(step: &Step, needs: &mut Needs) -> Option<Layout> {
    let names: &[&str] = match step.method {
        Method::ReplaceOne => &["Filter", "Replacement"],
        _ => &["Filter", "Update"],
    };
    let model = text(format!("mongo.New{}Model()", pascal(step.method.name())));
    let given = names.iter().zip(&step.arguments);
    let mut links: Vec<_> = given
        .map(|(name, one)| group(format!("Set{name}("), vec![value(&one.value, needs)], ")", CALL))
        .collect();
    links.extend(setters(step, needs)?);
    Some(trailing_chain(model, links))
}

fn string(text: &str) -> String {
    quoted(text, '"', |character| match u32::from(character) {
        0x7f => Some("\\x7f".to_owned()),
        code if code < 0x20 => Some(format!("\\x{code:02x}")),
        code => is_hidden(character).then(|| format!("\\u{code:04x}")),
    })
}

fn bytes(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "[]byte{}".to_owned();
    }
    let bytes = bytes.iter().map(|byte| format!("0x{}", hex(&[*byte])));
    format!("[]byte{{{}}}", bytes.collect::<Vec<_>>().join(", "))
}

fn document(document: &Document, needs: &mut Needs) -> Layout {
    needs.import("bson");
    let field = |(key, inner): (&String, &Bson)| {
        group("{", vec![text(string(key)), value(inner, needs)], "}", CALL)
    };
    group("bson.D{", document.iter().map(field).collect(), "}", CALL)
}

/// A value that cannot stand in an expression, because making it may fail: declared before the code.
fn declared(name: &str, make: &str, needs: &mut Needs) -> String {
    let name = format!("{name}{}", needs.statements() + 1);
    needs.before(format!("{name}, err := {make}\nif err != nil {{\n\treturn err\n}}"));
    name
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => {
            needs.import("math");
            "math.NaN()".to_owned()
        }
        Bson::Double(number) if number.is_infinite() => {
            needs.import("math");
            format!("math.Inf({})", if *number > 0.0 { 1 } else { -1 })
        }
        // A constant of Go has no negative zero.
        Bson::Double(number) if *number == 0.0 && number.is_sign_negative() => {
            needs.import("math");
            "math.Copysign(0, -1)".to_owned()
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, needs),
        Bson::Array(list) => {
            needs.import("bson");
            return group("bson.A{", list.iter().map(|one| value(one, needs)).collect(), "}", CALL);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "nil".to_owned(),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("int64({number})"),
        Bson::ObjectId(id) => {
            needs.import("bson");
            declared("id", &format!("bson.ObjectIDFromHex(\"{id}\")"), needs)
        }
        Bson::Decimal128(number) => {
            needs.import("bson");
            declared("decimal", &format!("bson.ParseDecimal128(\"{number}\")"), needs)
        }
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => {
                needs.import("time");
                let rest = match moment.milliseconds {
                    0 => "0".to_owned(),
                    some => format!("{some} * int(time.Millisecond)"),
                };
                format!("time.Date({}, {rest}, time.UTC)", moment.long())
            }
            None => {
                needs.import("bson");
                format!("bson.DateTime({})", date.timestamp_millis())
            }
        },
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
        Bson::RegularExpression(_)
        | Bson::JavaScriptCode(_)
        | Bson::JavaScriptCodeWithScope(_)
        | Bson::Timestamp(_)
        | Bson::Binary(_)
        | Bson::MinKey
        | Bson::MaxKey => {
            needs.import("bson");
            return of_the_driver(bson, needs);
        }
    };
    text(code)
}

/// A value of a type that only the driver has.
fn of_the_driver(bson: &Bson, needs: &mut Needs) -> Layout {
    match bson {
        Bson::RegularExpression(regex) => {
            let mut fields = vec![text(format!("Pattern: {}", string(regex.pattern.as_str())))];
            if !regex.options.as_str().is_empty() {
                fields.push(text(format!("Options: {}", string(regex.options.as_str()))));
            }
            group("bson.Regex{", fields, "}", CALL)
        }
        Bson::JavaScriptCode(code) => text(format!("bson.JavaScript({})", string(code))),
        Bson::JavaScriptCodeWithScope(code) => {
            let code_field = text(format!("Code: bson.JavaScript({})", string(&code.code)));
            let scope = after("Scope: ", document(&code.scope, needs));
            group("bson.CodeWithScope{", vec![code_field, scope], "}", CALL)
        }
        Bson::Timestamp(at) => {
            text(format!("bson.Timestamp{{T: {}, I: {}}}", at.time, at.increment))
        }
        Bson::Binary(binary) => {
            let mut fields = Vec::new();
            match u8::from(binary.subtype) {
                0 => {}
                subtype => fields.push(text(format!("Subtype: {subtype}"))),
            }
            fields.push(text(format!("Data: {}", bytes(&binary.bytes))));
            group("bson.Binary{", fields, "}", CALL)
        }
        Bson::MinKey => text("bson.MinKey{}"),
        _ => text("bson.MaxKey{}"),
    }
}
