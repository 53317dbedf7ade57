//! Clojure: the libraries monger and congomongo, both over Java's classic driver.

use bson::{Bson, Document};

use super::call::{Argument, Call, Method, Step};
use super::layout::{Layout, Shape, group, row, text};
use super::literal::{Moment, double, four_digits, hex, is_name, quoted};
use super::snippet::{Needs, Written};

/// A map or a vector.
const DATA: Shape = Shape::Lisp { keep: 1, step: 1 };

/// The code of a call, for either library.
pub(super) fn write(call: &Call) -> Vec<String> {
    let monger = Written::of(call, monger);
    let mut context: Vec<String> = monger.needs.imports().map(ToOwned::to_owned).collect();
    let db = string(&call.db);
    context.push("(require '[monger.core :as mg])".to_owned());
    context.push(format!("(def db (mg/get-db (mg/connect) {db}))"));
    let monger = monger.text(";;", "Clojure, monger 3", &context, "  ");
    let congo = Written::of(call, congomongo);
    let mut context: Vec<String> = congo.needs.imports().map(ToOwned::to_owned).collect();
    context.push("(use 'somnium.congomongo)".to_owned());
    context.push(format!("(set-connection! (make-connection {db}))"));
    let congo = congo.text(";;", "Clojure, congomongo 2", &context, "  ");
    vec![monger, congo]
}

/// A call: the first `keep` parts on the first line, the others below each other.
fn form(keep: usize, parts: Vec<Layout>) -> Layout {
    group("(", parts, ")", Shape::Lisp { keep, step: 2 })
}

fn map(fields: Vec<(String, Layout)>) -> Layout {
    let fields = fields.into_iter().map(|(key, inner)| row([text(format!("{key} ")), inner]));
    group("{", fields.collect(), "}", DATA)
}

fn given(step: &Step, needs: &mut Needs) -> Vec<Layout> {
    step.arguments.iter().map(|one| argument(one, needs)).collect()
}

/// Plain numbers where they only compare, typed ones where they are stored.
fn argument(one: &Argument, needs: &mut Needs) -> Layout {
    value(&one.value, one.stored, needs)
}

/// The options of findAndModify that the classic driver has, under the names of the library.
fn modify_options(
    step: &Step,
    names: [&str; 5],
    needs: &mut Needs,
) -> Option<Vec<(String, Layout)>> {
    let [remove, new, upsert, sort, fields] = names;
    let mut options = Vec::new();
    if step.method == Method::FindOneAndDelete {
        options.push((remove.to_owned(), text("true")));
    }
    for (name, given) in &step.options {
        options.push(match *name {
            "returnDocument" => (new.to_owned(), text("true")),
            "upsert" => (upsert.to_owned(), text("true")),
            "sort" => (sort.to_owned(), value(given, false, needs)),
            "projection" => (fields.to_owned(), selected(given, needs)),
            _ => return None,
        });
    }
    Some(options)
}

/// The fields of a projection: those of one that only includes as a vector of names.
fn selected(projection: &Bson, needs: &mut Needs) -> Layout {
    let fields = projection.as_document().into_iter().flatten();
    let field = |(key, wanted): (&String, &Bson)| match wanted {
        Bson::Int32(1) | Bson::Boolean(true) => Some(text(keyword(key))),
        _ => None,
    };
    match fields.map(field).collect::<Option<_>>() {
        Some(fields) => group("[", fields, "]", DATA),
        None => value(projection, false, needs),
    }
}

fn monger(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let Some(collection) = &call.collection else {
        return match step.method {
            Method::DropDatabase => Some(text("(.dropDatabase db)")),
            Method::ListCollectionNames if step.arguments.is_empty() => {
                needs.import("(require '[monger.db :as mdb])");
                Some(text("(mdb/get-collection-names db)"))
            }
            Method::RunCommand => {
                let mut parts = vec![text("mg/command"), text("db")];
                parts.extend(given(step, needs));
                Some(form(2, parts))
            }
            _ => None,
        };
    };
    needs.import("(require '[monger.collection :as mc])");
    let call = |name: &str, rest: Vec<Layout>| {
        let head = [text(format!("mc/{name}")), text("db"), text(string(collection))];
        Some(form(3, head.into_iter().chain(rest).collect()))
    };
    match step.method {
        Method::FindOneAndDelete | Method::FindOneAndReplace | Method::FindOneAndUpdate => {
            let names = [":remove", ":return-new", ":upsert", ":sort", ":fields"];
            let options = modify_options(step, names, needs)?;
            let mut parts = modify_arguments(step, needs)?;
            if !options.is_empty() {
                parts.push(map(options));
            }
            call("find-and-modify", parts)
        }
        Method::Find if !step.only(&["projection"]) => query(collection, step, needs),
        Method::Find | Method::FindOne if step.only(&["projection"]) => {
            let mut parts = match step.method {
                Method::Find => step.telling(!step.options.is_empty()),
                _ => &step.arguments[..],
            }
            .iter()
            .map(|one| argument(one, needs))
            .collect::<Vec<_>>();
            if let Some(projection) = step.option("projection") {
                parts.push(selected(projection, needs));
            }
            call(if step.method == Method::Find { "find-maps" } else { "find-one-as-map" }, parts)
        }
        Method::CreateIndex => {
            let mut parts = given(step, needs);
            if !step.options.is_empty() {
                parts.push(map(named(step, needs)));
            }
            call("create-index", parts)
        }
        _ if !step.only(&["upsert"]) => None,
        Method::InsertOne => call("insert", given(step, needs)),
        Method::InsertMany => call("insert-batch", given(step, needs)),
        Method::UpdateOne | Method::UpdateMany | Method::ReplaceOne => {
            let mut parts = modify_arguments(step, needs)?;
            let mut options = Vec::new();
            if step.method == Method::UpdateMany {
                options.push((":multi".to_owned(), text("true")));
            }
            if step.is("upsert") {
                options.push((":upsert".to_owned(), text("true")));
            }
            if !options.is_empty() {
                parts.push(map(options));
            }
            call("update", parts)
        }
        Method::DeleteMany => call("remove", given(step, needs)),
        Method::Aggregate => call("aggregate", given(step, needs)),
        Method::Distinct => {
            let told = step.telling(false).iter();
            call("distinct", told.map(|one| argument(one, needs)).collect())
        }
        Method::CountDocuments | Method::EstimatedDocumentCount => {
            let told = step.telling(false).iter();
            call("count", told.map(|one| argument(one, needs)).collect())
        }
        Method::Drop => call("drop", Vec::new()),
        Method::DropIndex => call("drop-index", given(step, needs)),
        Method::DropIndexes => call("drop-indexes", Vec::new()),
        Method::ListIndexes => call("indexes-on", Vec::new()),
        _ => None,
    }
}

/// Filter and update of the classic driver, which knows no pipelines; a removal has an empty update.
fn modify_arguments(step: &Step, needs: &mut Needs) -> Option<Vec<Layout>> {
    if step.arguments.iter().any(|one| matches!(one.value, Bson::Array(_))) {
        return None;
    }
    let mut parts = given(step, needs);
    if parts.len() == 1 {
        parts.push(text("{}"));
    }
    Some(parts)
}

/// The options under their own names, as keywords.
fn named(step: &Step, needs: &mut Needs) -> Vec<(String, Layout)> {
    let option = |(name, given): &(&str, Bson)| (format!(":{name}"), value(given, false, needs));
    step.options.iter().map(option).collect()
}

/// monger's query language.
fn query(collection: &str, step: &Step, needs: &mut Needs) -> Option<Layout> {
    needs.import("(require '[monger.query :as mq])");
    let head = [text("mq/with-collection"), text("db"), text(string(collection))];
    let mut parts: Vec<_> = head.into();
    let filter = given(step, needs);
    parts.push(form(1, [vec![text("mq/find")], filter].concat()));
    for (name, given) in &step.options {
        let (name, inner) = match *name {
            "projection" => ("fields", selected(given, needs)),
            "sort" | "skip" | "limit" | "hint" => (*name, value(given, false, needs)),
            "batchSize" => ("batch-size", value(given, false, needs)),
            _ => return None,
        };
        parts.push(form(2, vec![text(format!("mq/{name}")), inner]));
    }
    Some(form(3, parts))
}

fn congomongo(call: &Call, needs: &mut Needs) -> Option<Layout> {
    let step = &call.step;
    let Some(collection) = &call.collection else {
        return match step.method {
            Method::DropDatabase => Some(text(format!("(drop-database! {})", string(&call.db)))),
            Method::ListCollectionNames if step.arguments.is_empty() => Some(text("(collections)")),
            Method::RunCommand => {
                Some(form(1, [vec![text("command")], given(step, needs)].concat()))
            }
            _ => None,
        };
    };
    let call = |name: &str, rest: Vec<Layout>| {
        let head = [text(name), text(keyword(collection))];
        Some(form(2, head.into_iter().chain(rest).collect()))
    };
    let pairs = |options: Vec<(String, Layout)>| {
        options.into_iter().map(|(key, inner)| row([text(format!("{key} ")), inner]))
    };
    match step.method {
        Method::FindOneAndDelete | Method::FindOneAndReplace | Method::FindOneAndUpdate => {
            let names = [":remove?", ":return-new?", ":upsert?", ":sort", ":only"];
            let options = modify_options(step, names, needs)?;
            let mut parts = modify_arguments(step, needs)?;
            parts.extend(pairs(options));
            call("fetch-and-modify", parts)
        }
        Method::Find | Method::FindOne => {
            let known = ["projection", "sort", "skip", "limit"];
            if !step.only(if step.method == Method::FindOne { &known[..1] } else { &known }) {
                return None;
            }
            let filter = step.telling(false).iter();
            let filter = filter.map(|one| (":where".to_owned(), argument(one, needs)));
            let mut options: Vec<_> = filter.collect();
            for (name, given) in &step.options {
                options.push(match *name {
                    "projection" => (":only".to_owned(), selected(given, needs)),
                    name => (format!(":{name}"), value(given, false, needs)),
                });
            }
            let name = if step.method == Method::Find { "fetch" } else { "fetch-one" };
            call(name, pairs(options).collect())
        }
        Method::CreateIndex if step.only(&["unique", "name"]) => {
            let keys = step.arguments[0].document();
            let key = |(key, direction): (&String, &Bson)| match direction {
                Bson::Int32(1) => Some(text(keyword(key))),
                Bson::Int32(-1) => {
                    Some(group("[", vec![text(keyword(key)), text("-1")], "]", DATA))
                }
                _ => None,
            };
            let keys = keys.iter().map(key).collect::<Option<_>>()?;
            let mut parts = vec![group("[", keys, "]", DATA)];
            parts.extend(pairs(named(step, needs)));
            call("add-index!", parts)
        }
        _ if !step.only(&["upsert"]) => None,
        Method::InsertOne => call("insert!", given(step, needs)),
        Method::InsertMany => call("mass-insert!", given(step, needs)),
        Method::UpdateOne | Method::UpdateMany | Method::ReplaceOne => {
            let mut parts = modify_arguments(step, needs)?;
            // It upserts unless it is told not to.
            let mut options = Vec::new();
            if !step.is("upsert") {
                options.push((":upsert".to_owned(), text("false")));
            }
            if step.method == Method::UpdateMany {
                options.push((":multiple".to_owned(), text("true")));
            }
            parts.extend(pairs(options));
            call("update!", parts)
        }
        Method::DeleteMany => call("destroy!", given(step, needs)),
        Method::Distinct => {
            let mut parts = vec![argument(&step.arguments[0], needs)];
            let filter = step.telling(false).iter().skip(1);
            let filter = filter.map(|one| (":where".to_owned(), argument(one, needs)));
            let filter: Vec<_> = filter.collect();
            parts.extend(pairs(filter));
            call("distinct-values", parts)
        }
        Method::CountDocuments | Method::EstimatedDocumentCount => {
            let filter = step.telling(false).iter();
            let filter = filter.map(|one| (":where".to_owned(), argument(one, needs)));
            let filter: Vec<_> = filter.collect();
            call("fetch-count", pairs(filter).collect())
        }
        Method::Drop => call("drop-coll!", Vec::new()),
        Method::DropIndex => call("drop-index!", given(step, needs)),
        Method::DropIndexes => call("drop-all-indexes!", Vec::new()),
        Method::ListIndexes => call("get-indexes", Vec::new()),
        _ => None,
    }
}

fn string(text: &str) -> String {
    quoted(text, '"', four_digits)
}

/// A keyword, or a string where the name cannot be one. Operators are keywords like any field.
fn keyword(name: &str) -> String {
    let bare = name.strip_prefix('$').unwrap_or(name);
    if is_name(bare) { format!(":{name}") } else { string(name) }
}

fn document(document: &Document, stored: bool, needs: &mut Needs) -> Layout {
    let fields = document.iter().map(|(key, inner)| (keyword(key), value(inner, stored, needs)));
    let fields: Vec<_> = fields.collect();
    if fields.len() <= 8 {
        return map(fields);
    }
    // A literal keeps the order of eight keys and no more.
    let pairs = fields.into_iter().map(|(key, inner)| row([text(format!("{key} ")), inner]));
    form(1, std::iter::once(text("array-map")).chain(pairs).collect())
}

/// A value; an integer of Clojure is an int64, so an int32 that is stored is said to be one.
fn value(bson: &Bson, stored: bool, needs: &mut Needs) -> Layout {
    let code = match bson {
        Bson::Double(number) if number.is_nan() => "Double/NaN".to_owned(),
        Bson::Double(number) if number.is_infinite() => {
            let name = if *number > 0.0 { "POSITIVE_INFINITY" } else { "NEGATIVE_INFINITY" };
            format!("Double/{name}")
        }
        Bson::Double(number) => double(*number),
        Bson::String(text) => string(text),
        Bson::Document(inner) => return document(inner, stored, needs),
        Bson::Array(list) => {
            let list = list.iter().map(|one| value(one, stored, needs)).collect();
            return group("[", list, "]", DATA);
        }
        Bson::Boolean(value) => value.to_string(),
        Bson::Null => "nil".to_owned(),
        Bson::RegularExpression(regex) => {
            needs.import("(import 'org.bson.BsonRegularExpression)");
            let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
            format!("(BsonRegularExpression. {} {})", string(pattern), string(options))
        }
        Bson::JavaScriptCode(code) => {
            needs.import("(import 'org.bson.types.Code)");
            format!("(Code. {})", string(code))
        }
        Bson::JavaScriptCodeWithScope(code) => {
            needs.import("(import '(com.mongodb BasicDBObject) '(org.bson.types CodeWScope))");
            let scope = document(&code.scope, true, needs);
            let scope = form(2, vec![text("BasicDBObject."), scope]);
            return form(2, vec![text("CodeWScope."), text(string(&code.code)), scope]);
        }
        Bson::Int32(number) if stored => format!("(int {number})"),
        Bson::Int32(number) => number.to_string(),
        Bson::Int64(number) => number.to_string(),
        Bson::Timestamp(at) => {
            needs.import("(import 'org.bson.types.BSONTimestamp)");
            let part = |number: u32| match i32::try_from(number) {
                Ok(number) => number.to_string(),
                Err(_) => format!("(unchecked-int {number})"),
            };
            format!("(BSONTimestamp. {} {})", part(at.time), part(at.increment))
        }
        Bson::Binary(binary) => {
            needs.import("(import '(java.util HexFormat) '(org.bson.types Binary))");
            let bytes = format!("(.parseHex (HexFormat/of) \"{}\")", hex(&binary.bytes));
            match u8::from(binary.subtype) {
                0 => format!("(Binary. {bytes})"),
                subtype => format!("(Binary. (unchecked-byte {subtype}) {bytes})"),
            }
        }
        Bson::ObjectId(id) => {
            needs.import("(import 'org.bson.types.ObjectId)");
            format!("(ObjectId. \"{id}\")")
        }
        Bson::DateTime(date) => match Moment::of(*date) {
            Some(moment) => format!("#inst \"{}\"", moment.iso()),
            None => format!("(java.util.Date. {})", date.timestamp_millis()),
        },
        Bson::Decimal128(number) => {
            needs.import("(import 'org.bson.types.Decimal128)");
            format!("(Decimal128/parse \"{number}\")")
        }
        Bson::MinKey => {
            needs.import("(import 'org.bson.types.MinKey)");
            "(MinKey.)".to_owned()
        }
        Bson::MaxKey => {
            needs.import("(import 'org.bson.types.MaxKey)");
            "(MaxKey.)".to_owned()
        }
        Bson::Symbol(_) | Bson::Undefined | Bson::DbPointer(_) => {
            let stand_in = needs.stand_in(bson);
            return value(&stand_in, stored, needs);
        }
    };
    text(code)
}
