//! C#: the driver `MongoDB.Driver`, options in objects with initialisers.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::layout::{BARE, Layout, Shape, after, chain, group, row, text};
use super::literal::{Moment, double, four_digits, hex, pascal, quoted, uuid};
use super::snippet::{Needs, Written};

/// An initialiser: blanks inside the braces, no comma behind the last part.
const BRACES: Shape = Shape::Block { padded: true, trailing: false };

/// The code of a call.
pub(super) fn write(call: &Call) -> Vec<String> {
    let written = Written::of(call, statement);
    let context = [
        "using MongoDB.Bson".to_owned(),
        "using MongoDB.Driver".to_owned(),
        "var client = new MongoClient()".to_owned(),
        format!("var db = client.GetDatabase({})", string(&call.db)),
    ];
    vec![written.text("//", "C#, MongoDB.Driver 3", &context, "    ")]
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let collection = call.collection.as_deref();
    let (target, name) = match (step.method, collection) {
        (Method::DropDatabase, _) => {
            return Some(text(format!("await client.DropDatabaseAsync({});", string(&call.db))));
        }
        (Method::Drop, Some(name)) => {
            return Some(text(format!("await db.DropCollectionAsync({});", string(name))));
        }
        (_, None) => ("db".to_owned(), pascal(step.method.name())),
        (method, Some(name)) => {
            let collection = format!("db.GetCollection<BsonDocument>({})", string(name));
            let name = match method {
                Method::CreateIndex => "Indexes.CreateOne".to_owned(),
                Method::CreateIndexes => "Indexes.CreateMany".to_owned(),
                Method::DropIndex => "Indexes.DropOne".to_owned(),
                Method::DropIndexes => "Indexes.DropAll".to_owned(),
                Method::ListIndexes => "Indexes.List".to_owned(),
                Method::FindOne => "Find".to_owned(),
                method => pascal(method.name()),
            };
            (collection, name)
        }
    };
    let answer = match (step.method, step.method.answer()) {
        // What inserts answers with nothing.
        (Method::InsertOne | Method::InsertMany, _) | (_, "") => String::new(),
        (_, answer) => format!("var {answer} = "),
    };
    if matches!(step.method, Method::Find | Method::FindOne) {
        let code = after("await ", chain(text(target), find(step, needs)?));
        return Some(row([text(answer), code, text(";")]));
    }
    let kind = match step.method {
        Method::RunCommand | Method::Aggregate => "<BsonDocument>",
        Method::Distinct => "<BsonValue>",
        _ => "",
    };
    let arguments = group("(", arguments(call, needs)?, ")", BARE);
    let name = text(format!("{answer}await {target}.{name}Async{kind}"));
    Some(row([name, arguments, text(";")]))
}

/// The chain of a query: sort, skip, limit and projection are links of it, the others go into its options.
fn find(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    let links = ["sort", "skip", "limit", "projection"];
    let (mut chained, others): (Vec<_>, Vec<_>) =
        step.options.iter().cloned().partition(|(name, _)| links.contains(name));
    chained.sort_by_key(|(name, _)| *name == "projection");
    let mut arguments: Vec<_> = step.arguments.iter().map(|one| value(&one.value, needs)).collect();
    if !others.is_empty() {
        arguments.push(initialised("new FindOptions", &others, needs)?);
    }
    let mut chain = vec![group(".Find(", arguments, ")", BARE)];
    for (name, given) in chained {
        let name = if name == "projection" { "Project".to_owned() } else { pascal(name) };
        chain.push(group(format!(".{name}("), vec![value(&given, needs)], ")", BARE));
    }
    let last = if step.method == Method::FindOne { "FirstOrDefault" } else { "ToList" };
    chain.push(text(format!(".{last}Async()")));
    Some(chain)
}

fn arguments(call: &Call, needs: &mut Needs) -> Option<Vec<Layout>> {
    let step = &call.step;
    let mut arguments = Vec::new();
    for (at, one) in step.arguments.iter().enumerate() {
        arguments.push(match (&one.value, step.method) {
            (Bson::Document(filter), Method::ListCollections | Method::ListCollectionNames) => {
                let filter = vec![after("Filter = ", document(filter, needs))];
                group(format!("new {}Options {{", pascal(step.method.name())), filter, "}", BRACES)
            }
            (Bson::Array(_), _) if at == 1 => pipeline(&one.value, needs),
            (Bson::Array(list), _) => documents(list, needs),
            (other, _) => value(other, needs),
        });
    }
    match step.method {
        Method::BulkWrite => {
            let writes = call.steps.iter().map(|step| operation(step, needs));
            let writes = writes.collect::<Option<_>>()?;
            arguments.push(group("new WriteModel<BsonDocument>[] {", writes, "}", BRACES));
        }
        Method::CreateIndex => arguments = vec![index(step, needs)?],
        Method::CreateIndexes => {
            let indexes = call.steps.iter().map(|step| index(step, needs));
            arguments.push(group("new[] {", indexes.collect::<Option<_>>()?, "}", BRACES));
        }
        _ => {}
    }
    if !step.options.is_empty() && step.method != Method::CreateIndex {
        let class = match step.method {
            Method::CountDocuments => "CountOptions".to_owned(),
            Method::ReplaceOne => "ReplaceOptions".to_owned(),
            Method::UpdateOne | Method::UpdateMany => "UpdateOptions".to_owned(),
            Method::DeleteOne | Method::DeleteMany => "DeleteOptions".to_owned(),
            Method::FindOneAndDelete | Method::FindOneAndReplace | Method::FindOneAndUpdate => {
                format!("{}Options<BsonDocument>", pascal(step.method.name()))
            }
            method => format!("{}Options", pascal(method.name())),
        };
        arguments.push(initialised(&format!("new {class}"), &step.options, needs)?);
    }
    Some(arguments)
}

/// `new Options { Name = value }`.
fn initialised(class: &str, options: &[(&'static str, Bson)], needs: &mut Needs) -> Option<Layout> {
    Some(group(format!("{class} {{"), properties(options, needs)?, "}", BRACES))
}

fn properties(options: &[(&'static str, Bson)], needs: &mut Needs) -> Option<Vec<Layout>> {
    let mut properties = Vec::new();
    for (name, given) in options {
        let (name, code) = match (*name, given) {
            ("upsert", _) => ("IsUpsert".to_owned(), text("true")),
            ("ordered", _) => ("IsOrdered".to_owned(), text("false")),
            ("returnDocument", _) => ("ReturnDocument".to_owned(), text("ReturnDocument.After")),
            ("maxTimeMS", number) => {
                ("MaxTime".to_owned(), text(format!("TimeSpan.FromMilliseconds({number})")))
            }
            ("expireAfterSeconds", number) => {
                ("ExpireAfter".to_owned(), text(format!("TimeSpan.FromSeconds({number})")))
            }
            ("collation", given) => ("Collation".to_owned(), collation(given.as_document()?)?),
            ("arrayFilters", Bson::Array(list)) => {
                let filter = |one: &Bson| {
                    let inner = vec![value(one, needs)];
                    group("new BsonDocumentArrayFilterDefinition<BsonDocument>(", inner, ")", BARE)
                };
                let list = list.iter().map(filter).collect();
                (
                    "ArrayFilters".to_owned(),
                    group("new ArrayFilterDefinition[] {", list, "}", BRACES),
                )
            }
            (name, given) => (pascal(name), value(given, needs)),
        };
        properties.push(after(format!("{name} = "), code));
    }
    Some(properties)
}

fn collation(collation: &Document) -> Option<Layout> {
    let mut arguments = vec![text(string(collation.get_str("locale").ok()?))];
    for (key, given) in collation.iter().filter(|(key, _)| *key != "locale") {
        arguments.push(text(match (key.as_str(), given) {
            ("strength", Bson::Int32(strength)) => {
                let names = ["Primary", "Secondary", "Tertiary", "Quaternary", "Identical"];
                let at = usize::try_from(*strength).ok()?.checked_sub(1)?;
                format!("strength: CollationStrength.{}", names.get(at)?)
            }
            (
                "caseLevel" | "numericOrdering" | "normalization" | "backwards",
                Bson::Boolean(yes),
            ) => {
                format!("{key}: {yes}")
            }
            _ => return None,
        }));
    }
    Some(group("new Collation(", arguments, ")", BARE))
}

/// One write of a bulk write.
fn operation(step: &Step, needs: &mut Needs) -> Option<Layout> {
    let inner = step.arguments.iter().map(|one| match &one.value {
        list @ Bson::Array(_) => pipeline(list, needs),
        other => value(other, needs),
    });
    let inner = inner.collect();
    let name = pascal(step.method.name());
    let made = group(format!("new {name}Model<BsonDocument>("), inner, ")", BARE);
    if step.options.is_empty() {
        return Some(made);
    }
    let properties = group(" {", properties(&step.options, needs)?, "}", BRACES);
    Some(row([made, properties]))
}

fn index(step: &Step, needs: &mut Needs) -> Option<Layout> {
    let mut inner: Vec<_> = step.arguments.iter().map(|one| value(&one.value, needs)).collect();
    if !step.options.is_empty() {
        let class = "new CreateIndexOptions<BsonDocument>";
        inner.push(initialised(class, &step.options, needs)?);
    }
    Some(group("new CreateIndexModel<BsonDocument>(", inner, ")", BARE))
}

/// Documents as an array of them.
fn documents(list: &[Bson], needs: &mut Needs) -> Layout {
    let list = list.iter().map(|one| value(one, needs)).collect();
    group("new BsonDocument[] {", list, "}", BRACES)
}

/// An update that is a pipeline.
fn pipeline(list: &Bson, needs: &mut Needs) -> Layout {
    let stages = documents(list.as_array().map(Vec::as_slice).unwrap_or_default(), needs);
    group("Builders<BsonDocument>.Update.Pipeline(", vec![stages], ")", BARE)
}

fn string(text: &str) -> String {
    quoted(text, '"', four_digits)
}

fn document(document: &Document, needs: &mut Needs) -> Layout {
    let mut pairs =
        document.iter().map(|(key, inner)| vec![text(string(key)), value(inner, needs)]);
    match document.len() {
        0 => text("new BsonDocument()"),
        1 => group("new BsonDocument(", pairs.next().unwrap_or_default(), ")", BARE),
        _ => {
            let pairs = pairs.map(|pair| group("{", pair, "}", BRACES)).collect();
            group("new BsonDocument {", pairs, "}", BRACES)
        }
    }
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "double.NaN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            let name = if *number > 0.0 { "PositiveInfinity" } else { "NegativeInfinity" };
            format!("double.{name}")
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, needs),
        Bson::Array(list) if list.is_empty() => "new BsonArray()".to_owned(),
        Bson::Array(list) => {
            let list = list.iter().map(|one| value(one, needs)).collect();
            return group("new BsonArray {", list, "}", BRACES);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "BsonNull.Value".to_owned(),
        Bson::RegularExpression(regex) => {
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            match options {
                "" => format!("new BsonRegularExpression({})", string(pattern)),
                options => {
                    format!("new BsonRegularExpression({}, {})", string(pattern), string(options))
                }
            }
        }
        Bson::JavaScriptCode(code) => format!("new BsonJavaScript({})", string(code)),
        Bson::JavaScriptCodeWithScope(code) => {
            let inner = vec![text(string(&code.code)), document(&code.scope, needs)];
            return group("new BsonJavaScriptWithScope(", inner, ")", BARE);
        }
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => format!("{number}L"),
        Bson::Timestamp(at) => match (i32::try_from(at.time), i32::try_from(at.increment)) {
            (Ok(time), Ok(increment)) => format!("new BsonTimestamp({time}, {increment})"),
            _ => {
                let whole = (i64::from(at.time) << 32) | i64::from(at.increment);
                format!("new BsonTimestamp({whole}L)")
            }
        },
        Bson::Binary(binary) => match (uuid(binary), u8::from(binary.subtype)) {
            (Some(uuid), _) => {
                format!("new BsonBinaryData(Guid.Parse(\"{uuid}\"), GuidRepresentation.Standard)")
            }
            (None, subtype) => {
                let bytes = format!("Convert.FromHexString(\"{}\")", hex(&binary.bytes));
                match subtype {
                    0 => format!("new BsonBinaryData({bytes})"),
                    subtype => {
                        format!("new BsonBinaryData({bytes}, (BsonBinarySubType){subtype})")
                    }
                }
            }
        },
        Bson::ObjectId(id) => format!("ObjectId.Parse(\"{id}\")"),
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => {
                let parts = moment.long();
                match moment.milliseconds {
                    0 => format!("new DateTime({parts}, DateTimeKind.Utc)"),
                    some => format!("new DateTime({parts}, {some}, DateTimeKind.Utc)"),
                }
            }
            None => format!("new BsonDateTime({}L)", date.timestamp_millis()),
        },
        Bson::Decimal128(number) => format!("Decimal128.Parse(\"{number}\")"),
        Bson::MinKey => "BsonMinKey.Value".to_owned(),
        Bson::MaxKey => "BsonMaxKey.Value".to_owned(),
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, needs);
        }
    };
    text(code)
}
