//! Java's classic driver: `DBCollection`, with arguments by position.

use bson::{Bson, Document};

use super::call::{Call, Method, Step};
use super::java::{class, imports, string};
use super::layout::{Layout, Shape, after, chain, group, row, text};
use super::snippet::{Needs, Written};

/// Its class of documents.
const DOCUMENT: &str = "com.mongodb.BasicDBObject";

/// The code of a call.
pub(super) fn write(call: &Call) -> String {
    let mut written = Written::of(call, statement);
    written.needs.import("com.mongodb.DB");
    written.needs.import("com.mongodb.MongoClient");
    let mut context = imports(&written.needs);
    context.push(format!("DB db = new MongoClient().getDB({})", string(&call.db)));
    written.text("//", "Java, classic DBCollection", &context, "        ")
}

fn value(bson: &Bson, needs: &mut Needs) -> Layout {
    super::java::value(bson, DOCUMENT, needs)
}

fn document(inner: &Document, needs: &mut Needs) -> Layout {
    super::java::document(inner, DOCUMENT, needs)
}

fn flag(value: bool) -> Layout {
    text(value.to_string())
}

fn statement(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let target = match &call.collection {
        Some(name) => format!("db.getCollection({})", string(name)),
        None => "db".to_owned(),
    };
    let (kind, name, arguments) = match step.method {
        Method::FindOneAndDelete | Method::FindOneAndReplace | Method::FindOneAndUpdate => {
            ("com.mongodb.DBObject", "findAndModify", find_and_modify(step, needs)?)
        }
        Method::Find | Method::FindOne => return find(&target, step, needs),
        _ if !step.only(&["upsert"]) && step.method != Method::CreateIndex => return None,
        Method::RunCommand => ("com.mongodb.CommandResult", "command", given(step, needs)),
        Method::InsertOne | Method::InsertMany => ("", "insert", given(step, needs)),
        Method::UpdateOne | Method::UpdateMany | Method::ReplaceOne => {
            let mut arguments = given(step, needs);
            if matches!(step.arguments[1].value, Bson::Array(_)) {
                return None;
            }
            let (upsert, multi) = (step.is("upsert"), step.method == Method::UpdateMany);
            if upsert || multi {
                arguments.extend([flag(upsert), flag(multi)]);
            }
            ("", "update", arguments)
        }
        Method::DeleteMany => ("", "remove", given(step, needs)),
        // A classic `DB` has no `aggregate`.
        Method::Aggregate if call.collection.is_none() => return None,
        Method::Aggregate => {
            class("com.mongodb.AggregationOptions", needs);
            let mut arguments = given(step, needs);
            arguments.push(text("AggregationOptions.builder().build()"));
            ("com.mongodb.Cursor", "aggregate", arguments)
        }
        Method::Distinct => {
            let told = step.telling(false).iter();
            let told = told.map(|one| value(&one.value, needs)).collect();
            class("java.util.List", needs);
            ("List<?>", "distinct", told)
        }
        Method::CountDocuments | Method::EstimatedDocumentCount => {
            let told = step.telling(false).iter();
            ("long", "getCount", told.map(|one| value(&one.value, needs)).collect())
        }
        Method::CreateIndex => {
            let mut arguments = given(step, needs);
            if !step.options.is_empty() {
                let options =
                    step.options.iter().map(|(name, one)| ((*name).to_owned(), one.clone()));
                arguments.push(document(&options.collect(), needs));
            }
            ("", "createIndex", arguments)
        }
        Method::CreateCollection => {
            let mut arguments = given(step, needs);
            arguments.push(document(&Document::new(), needs));
            ("", "createCollection", arguments)
        }
        Method::ListCollectionNames if step.arguments.is_empty() => {
            class("java.util.Set", needs);
            ("Set<String>", "getCollectionNames", Vec::new())
        }
        Method::ListIndexes => {
            class("com.mongodb.DBObject", needs);
            class("java.util.List", needs);
            ("List<DBObject>", "getIndexInfo", Vec::new())
        }
        Method::Drop | Method::DropDatabase | Method::DropIndex | Method::DropIndexes => {
            ("", step.method.name(), given(step, needs))
        }
        Method::BulkWrite
        | Method::CreateIndexes
        | Method::DeleteOne
        | Method::ListCollections
        | Method::ListCollectionNames => return None,
    };
    let kind = if kind.contains('.') { class(kind, needs) } else { kind };
    let before = match (kind, step.method.answer()) {
        ("", _) => String::new(),
        (kind, answer) => format!("{kind} {answer} = "),
    };
    let arguments = group("(", arguments, ")", Shape::Hanging);
    Some(row([text(format!("{before}{target}.{name}")), arguments, text(";")]))
}

fn given(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    step.arguments.iter().map(|one| value(&one.value, needs)).collect()
}

/// The seven arguments: query, fields, sort, remove, update, returnNew, upsert.
fn find_and_modify(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    if !step.only(&["projection", "sort", "returnDocument", "upsert"]) {
        return None;
    }
    let mut option = |name| match step.option(name) {
        Some(given) => value(given, needs),
        None => text("null"),
    };
    let (fields, sort) = (option("projection"), option("sort"));
    let update = match step.arguments.get(1).map(|update| &update.value) {
        None => text("null"),
        Some(Bson::Document(update)) => document(update, needs),
        Some(_) => return None,
    };
    let query = value(&step.arguments[0].value, needs);
    let remove = flag(step.method == Method::FindOneAndDelete);
    let new = flag(step.option("returnDocument").is_some());
    Some(vec![query, fields, sort, remove, update, new, flag(step.is("upsert"))])
}

fn find(target: &str, step: &Step, needs: &mut Needs) -> Option<Layout> {
    let projection = step.option("projection");
    let one = step.method == Method::FindOne;
    let known = ["projection", "sort", "skip", "limit", "hint", "batchSize"];
    if !step.only(if one { &known[..2] } else { &known }) {
        return None;
    }
    let told = step.telling(!step.options.is_empty());
    let mut arguments: Vec<_> = told.iter().map(|one| value(&one.value, needs)).collect();
    arguments.extend(projection.map(|fields| value(fields, needs)));
    let mut links = Vec::new();
    for (name, given) in step.options.iter().filter(|(name, _)| *name != "projection") {
        match one {
            // Behind the fields of `findOne` stands its order.
            true => {
                if projection.is_none() {
                    arguments.push(text("null"));
                }
                arguments.push(value(given, needs));
            }
            false => links.push(group(
                format!(".{name}("),
                vec![value(given, needs)],
                ")",
                Shape::Hanging,
            )),
        }
    }
    let (kind, name) = match one {
        true => (class("com.mongodb.DBObject", needs), "findOne"),
        false => (class("com.mongodb.DBCursor", needs), "find"),
    };
    let call = after(format!(".{name}"), group("(", arguments, ")", Shape::Hanging));
    let code = match links.is_empty() {
        true => row([text(target), call]),
        false => chain(text(target), [vec![call], links].concat()),
    };
    let before = text(format!("{kind} {} = ", step.method.answer()));
    Some(row([before, code, text(";")]))
}
