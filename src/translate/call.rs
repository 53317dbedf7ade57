//! A command document read as what a driver's user would call: a method, its arguments, its options.
//!
//! The names are those of the drivers' common CRUD specification (`findOneAndUpdate`, `returnDocument`...); each
//! language spells them its own way. A command that no method stands for - because no driver has one, or a field of it
//! has no option - is a `runCommand`, which every driver has.

mod fields;
mod method;

pub(super) use method::Method;

use bson::{Bson, Document};

use fields::{Fields, plain};

/// A call of a driver's method.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Call {
    /// The database.
    pub db: String,
    /// The collection, where the method is one of a collection.
    pub collection: Option<String>,
    /// What is called.
    pub step: Step,
    /// The steps of a `bulkWrite`, the indexes of a `createIndexes`; empty for everything else.
    pub steps: Vec<Step>,
    /// The whole command, as `runCommand` would send it.
    pub command: Document,
}

/// A method with its arguments and options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// The method.
    pub method: Method,
    /// Its arguments, in the order that all drivers share.
    pub arguments: Vec<Argument>,
    /// Its options by their common names, in the order of the command; those that say the default are left out.
    pub options: Vec<(&'static str, Bson)>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Argument {
    /// Its value. Where numbers only compare or count, whole ones are int32, whatever the shell sent.
    pub value: Bson,
    /// It will be stored, so the type of each number in it matters.
    pub stored: bool,
}

impl Argument {
    /// A value whose numbers only compare: a filter, a pipeline, a name.
    fn read(value: impl Into<Bson>) -> Self {
        Self { value: plain(&value.into()), stored: false }
    }

    /// A value that is stored as it is.
    fn stored(value: impl Into<Bson>) -> Self {
        Self { value: value.into(), stored: true }
    }

    /// A filter; an upsert stores what it compares with.
    fn filter(filter: Document, upsert: bool) -> Self {
        if upsert { Self::stored(filter) } else { Self::read(filter) }
    }

    /// The value as a document; empty when it is none.
    pub(super) fn document(&self) -> Document {
        self.value.as_document().cloned().unwrap_or_default()
    }
}

impl Step {
    fn new(method: Method, arguments: Vec<Argument>, options: Vec<(&'static str, Bson)>) -> Self {
        Self { method, arguments, options }
    }

    /// The value of an option.
    pub(super) fn option(&self, name: &str) -> Option<&Bson> {
        self.options.iter().find(|(option, _)| *option == name).map(|(_, value)| value)
    }

    /// Whether an option is true.
    pub(super) fn is(&self, name: &str) -> bool {
        self.option(name) == Some(&Bson::Boolean(true))
    }

    /// Whether every option is one of these.
    pub(super) fn only(&self, names: &[&str]) -> bool {
        self.options.iter().all(|(option, _)| names.contains(option))
    }

    /// The arguments that say something: what is read without a filter and without `options` needs none.
    pub(super) fn telling(&self, options: bool) -> &[Argument] {
        let reads = matches!(
            self.method,
            Method::Find | Method::FindOne | Method::CountDocuments | Method::Distinct
        );
        match self.arguments.split_last() {
            Some((last, rest)) if reads && !options && last.document().is_empty() => rest,
            _ => &self.arguments,
        }
    }
}

impl Call {
    /// Reads a command that goes to a database.
    pub(super) fn parse(db: &str, command: &Document) -> Self {
        let read = || -> Option<(Option<String>, Step, Vec<Step>)> {
            let (verb, target) = command.iter().next()?;
            let collection = target.as_str().map(ToOwned::to_owned);
            let fields = Fields::new(command);
            let (step, steps) = match (verb.as_str(), &collection) {
                ("findAndModify" | "findandmodify", Some(_)) => (find_and_modify(fields)?, vec![]),
                ("insert", Some(_)) => (insert(fields)?, vec![]),
                ("update", Some(_)) => writes(fields, "updates", update)?,
                ("delete", Some(_)) => writes(fields, "deletes", delete)?,
                ("find", Some(_)) => (find(fields)?, vec![]),
                ("aggregate", _) => (aggregate(fields, collection.is_some())?, vec![]),
                ("distinct", Some(_)) => (distinct(fields)?, vec![]),
                ("count", Some(_)) => (count(fields)?, vec![]),
                ("createIndexes", Some(_)) => create_indexes(fields)?,
                ("dropIndexes" | "deleteIndexes", Some(_)) => (drop_indexes(fields)?, vec![]),
                ("listIndexes", Some(_)) => (simple(fields, Method::ListIndexes)?, vec![]),
                ("drop", Some(_)) => (simple(fields, Method::Drop)?, vec![]),
                ("create", Some(name)) => {
                    let mut step = simple(fields, Method::CreateCollection)?;
                    step.arguments.push(Argument::read(name.as_str()));
                    return Some((None, step, vec![]));
                }
                ("dropDatabase", None) => (simple(fields, Method::DropDatabase)?, vec![]),
                ("listCollections", None) => (list_collections(fields)?, vec![]),
                _ => return None,
            };
            Some((collection, step, steps))
        };
        let (collection, step, steps) =
            read().unwrap_or_else(|| (None, command_step(&fields::as_sent(command)), Vec::new()));
        Self { db: db.to_owned(), collection, step, steps, command: fields::as_sent(command) }
    }

    /// The same command as a `runCommand`, for a language whose driver has no such method, or no such option of it.
    pub(super) fn raw(&self) -> Self {
        Self {
            db: self.db.clone(),
            collection: None,
            step: command_step(&self.command),
            steps: Vec::new(),
            command: self.command.clone(),
        }
    }
}

/// A `runCommand` of this command.
fn command_step(command: &Document) -> Step {
    let value = Bson::Document(command.clone());
    let argument = Argument { value, stored: fields::stores(command) };
    Step::new(Method::RunCommand, vec![argument], Vec::new())
}

/// Whether an update is one: operators or a pipeline. Otherwise it replaces the document.
fn has_operators(update: &Bson) -> bool {
    match update {
        Bson::Document(update) => update.keys().next().is_some_and(|key| key.starts_with('$')),
        _ => true,
    }
}

fn find_and_modify(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("query")?.unwrap_or_default();
    let (remove, new) = (fields.flag("remove")?, fields.flag("new")?);
    let update = fields.take("update").cloned();
    let upsert = fields.flag("upsert")?;
    let mut options = fields.options(fields::FIND_AND_MODIFY)?;
    if upsert {
        options.insert(0, ("upsert", Bson::Boolean(true)));
    }
    if new {
        options.push(("returnDocument", Bson::String("after".to_owned())));
    }
    let filter = Argument::filter(filter, upsert);
    match update {
        None if remove && !new && !upsert => {
            Some(Step::new(Method::FindOneAndDelete, vec![filter], options))
        }
        Some(update @ (Bson::Document(_) | Bson::Array(_))) if !remove => {
            let method = match has_operators(&update) {
                true => Method::FindOneAndUpdate,
                false => Method::FindOneAndReplace,
            };
            Some(Step::new(method, vec![filter, Argument::stored(update)], options))
        }
        _ => None,
    }
}

fn insert(mut fields: Fields<'_>) -> Option<Step> {
    let documents = fields.documents("documents")??;
    let ordered = fields.ordered()?;
    let mut options = fields.options(fields::INSERT)?;
    if let [document] = &documents[..] {
        let document = Argument::stored(document.clone());
        return Some(Step::new(Method::InsertOne, vec![document], options));
    }
    options.extend(ordered);
    let documents = documents.into_iter().map(Bson::Document).collect::<Vec<_>>();
    Some(Step::new(Method::InsertMany, vec![Argument::stored(documents)], options))
}

/// One statement of an `update` or a `delete` is a method; several are a `bulkWrite`.
fn writes(
    mut fields: Fields<'_>,
    key: &'static str,
    read: fn(Fields<'_>) -> Option<Step>,
) -> Option<(Step, Vec<Step>)> {
    let statements = fields.documents(key)??;
    let ordered = fields.ordered()?;
    let mut options = fields.options(fields::WRITE)?;
    let steps = statements.iter().map(|statement| read(Fields::of(statement)));
    let mut steps = steps.collect::<Option<Vec<_>>>()?;
    if steps.len() == 1 {
        let mut step = steps.pop()?;
        step.options.extend(options);
        return Some((step, Vec::new()));
    }
    options.extend(ordered);
    (!steps.is_empty()).then(|| (Step::new(Method::BulkWrite, Vec::new(), options), steps))
}

fn update(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("q")??;
    let update = fields.take("u")?.clone();
    let (multi, upsert) = (fields.flag("multi")?, fields.flag("upsert")?);
    let method = match (has_operators(&update), multi) {
        (true, true) => Method::UpdateMany,
        (true, false) => Method::UpdateOne,
        (false, false) => Method::ReplaceOne,
        (false, true) => return None,
    };
    if !matches!(update, Bson::Document(_) | Bson::Array(_)) {
        return None;
    }
    let mut options = fields.options(fields::STATEMENT)?;
    if upsert {
        options.insert(0, ("upsert", Bson::Boolean(true)));
    }
    let arguments = vec![Argument::filter(filter, upsert), Argument::stored(update)];
    Some(Step::new(method, arguments, options))
}

fn delete(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("q")??;
    let method = match fields.whole("limit")? {
        Some(0) => Method::DeleteMany,
        Some(1) => Method::DeleteOne,
        _ => return None,
    };
    let options = fields.options(fields::STATEMENT)?;
    Some(Step::new(method, vec![Argument::read(filter)], options))
}

fn find(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("filter")?.unwrap_or_default();
    let single = fields.flag("singleBatch")?;
    let mut options = fields.options(fields::FIND)?;
    let one = ("limit", Bson::Int32(1));
    let method = match single {
        false => Method::Find,
        true if options.contains(&one) => {
            options.retain(|option| *option != one);
            Method::FindOne
        }
        true => return None,
    };
    Some(Step::new(method, vec![Argument::read(filter)], options))
}

fn aggregate(mut fields: Fields<'_>, on_collection: bool) -> Option<Step> {
    let pipeline = fields.documents("pipeline")??;
    let batch_size = match fields.take("cursor") {
        None => None,
        Some(Bson::Document(cursor)) => {
            let mut cursor = Fields::of(cursor);
            let size = cursor.options(&["batchSize"])?;
            size.into_iter().next()
        }
        Some(_) => return None,
    };
    let mut options = fields.options(fields::AGGREGATE)?;
    if let (true, Some((filter, counted))) = (on_collection, counts(&pipeline)) {
        let options = counted.into_iter().chain(options).collect();
        return Some(Step::new(Method::CountDocuments, vec![Argument::read(filter)], options));
    }
    options.extend(batch_size);
    let writes = pipeline.last().and_then(|stage| stage.keys().next());
    let writes = writes.is_some_and(|stage| ["$merge", "$out"].contains(&stage.as_str()));
    let pipeline = pipeline.into_iter().map(Bson::Document).collect::<Vec<_>>();
    let pipeline = if writes { Argument::stored(pipeline) } else { Argument::read(pipeline) };
    Some(Step::new(Method::Aggregate, vec![pipeline], options))
}

/// The filter and the options of the pipeline that every driver sends for `countDocuments`.
fn counts(pipeline: &[Document]) -> Option<(Document, Vec<(&'static str, Bson)>)> {
    let (first, rest) = pipeline.split_first()?;
    let (last, between) = rest.split_last()?;
    let filter = first.get_document("$match").ok()?.clone();
    let group = plain(&Bson::Document(last.clone()));
    if group != Bson::Document(bson::doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } }) {
        return None;
    }
    let mut options = Vec::new();
    for stage in between {
        let (stage, value) = stage.iter().next()?;
        match stage.as_str() {
            "$skip" => options.push(("skip", plain(value))),
            "$limit" => options.push(("limit", plain(value))),
            _ => return None,
        }
    }
    Some((filter, options))
}

fn distinct(mut fields: Fields<'_>) -> Option<Step> {
    let key = fields.take("key")?.as_str()?.to_owned();
    let filter = fields.document("query")?.unwrap_or_default();
    let options = fields.options(fields::DISTINCT)?;
    let arguments = vec![Argument::read(key), Argument::read(filter)];
    Some(Step::new(Method::Distinct, arguments, options))
}

/// Drivers dropped `count`: without a filter it lives on as `estimatedDocumentCount`, with one as `countDocuments`.
fn count(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("query")?.unwrap_or_default();
    let options = fields.options(fields::COUNT)?;
    let estimate = filter.is_empty()
        && options.iter().all(|(option, _)| ["maxTimeMS", "comment"].contains(option));
    Some(match estimate {
        true => Step::new(Method::EstimatedDocumentCount, Vec::new(), options),
        false => Step::new(Method::CountDocuments, vec![Argument::read(filter)], options),
    })
}

fn create_indexes(mut fields: Fields<'_>) -> Option<(Step, Vec<Step>)> {
    let indexes = fields.documents("indexes")??;
    let options = fields.options(&[])?;
    let steps = indexes.iter().map(|index| {
        let mut fields = Fields::of(index);
        let keys = plain(&Bson::Document(fields.document("key")??));
        let mut options = fields.options(fields::INDEX)?;
        let usual = Bson::String(index_name(keys.as_document()?));
        options.retain(|(option, value)| *option != "name" || *value != usual);
        options.retain(|(_, value)| *value != Bson::Boolean(false));
        Some(Step::new(Method::CreateIndex, vec![Argument::read(keys)], options))
    });
    let mut steps = steps.collect::<Option<Vec<_>>>()?;
    match steps.len() {
        0 => None,
        1 => Some((steps.pop()?, Vec::new())),
        _ => Some((Step::new(Method::CreateIndexes, Vec::new(), options), steps)),
    }
}

/// The name that every driver gives an index that is given none.
fn index_name(keys: &Document) -> String {
    let parts = keys.iter().map(|(key, direction)| match direction {
        Bson::Int32(direction) => format!("{key}_{direction}"),
        Bson::String(kind) => format!("{key}_{kind}"),
        _ => key.clone(),
    });
    parts.collect::<Vec<_>>().join("_")
}

fn drop_indexes(mut fields: Fields<'_>) -> Option<Step> {
    let index = fields.take("index")?.clone();
    fields.options(&[])?;
    match index {
        Bson::String(all) if all == "*" => {
            Some(Step::new(Method::DropIndexes, Vec::new(), Vec::new()))
        }
        Bson::String(name) => {
            Some(Step::new(Method::DropIndex, vec![Argument::read(name)], Vec::new()))
        }
        Bson::Document(keys) => {
            let keys = plain(&Bson::Document(keys));
            let name = index_name(keys.as_document()?);
            Some(Step::new(Method::DropIndex, vec![Argument::read(name)], Vec::new()))
        }
        _ => None,
    }
}

fn list_collections(mut fields: Fields<'_>) -> Option<Step> {
    let filter = fields.document("filter")?.unwrap_or_default();
    let names = fields.flag("nameOnly")?;
    // What every driver sends anyway.
    fields.take("authorizedCollections");
    fields.take("cursor");
    fields.options(&[])?;
    let method = if names { Method::ListCollectionNames } else { Method::ListCollections };
    let arguments = if filter.is_empty() { Vec::new() } else { vec![Argument::read(filter)] };
    Some(Step::new(method, arguments, Vec::new()))
}

/// A method without arguments and options.
fn simple(mut fields: Fields<'_>, method: Method) -> Option<Step> {
    fields.take("cursor");
    fields.options(&[])?;
    Some(Step::new(method, Vec::new(), Vec::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::doc;

    fn step(command: Document) -> (Step, Vec<Step>) {
        let call = Call::parse("test", &command);
        (call.step, call.steps)
    }

    #[test]
    fn a_find_and_modify_is_one_of_three_methods() {
        let (update, _) = step(doc! {
            "findAndModify": "c", "query": { "_id": 1.0 }, "update": { "$inc": { "n": 1.0 } },
            "new": true, "upsert": true, "fields": { "n": 1.0 },
        });
        assert_eq!(update.method, Method::FindOneAndUpdate);
        assert_eq!(update.arguments[0].value, Bson::Document(doc! { "_id": 1.0 }), "upserted");
        assert_eq!(update.arguments[1].value, Bson::Document(doc! { "$inc": { "n": 1.0 } }));
        assert_eq!(update.option("projection"), Some(&Bson::Document(doc! { "n": 1 })));
        assert_eq!(update.option("returnDocument"), Some(&Bson::String("after".into())));
        assert!(update.is("upsert"));
        let (replace, _) = step(doc! { "findAndModify": "c", "query": {}, "update": { "n": 1 } });
        assert_eq!(replace.method, Method::FindOneAndReplace);
        let (delete, _) = step(doc! {
            "findandmodify": "c", "query": { "n": 2.0 }, "sort": { "n": -1.0 }, "remove": true,
        });
        assert_eq!(delete.method, Method::FindOneAndDelete);
        assert_eq!(delete.arguments[0].value, Bson::Document(doc! { "n": 2 }));
        let refused = doc! { "findAndModify": "c", "remove": true, "update": { "n": 1 } };
        assert_eq!(step(refused).0.method, Method::RunCommand);
    }

    #[test]
    fn one_statement_is_a_method_and_several_are_a_bulk_write() {
        let one = doc! { "q": { "a": 1 }, "u": { "$set": { "b": 1.0 } }, "multi": true };
        let (update, _) = step(doc! { "update": "c", "updates": [one], "ordered": true });
        assert_eq!((update.method, update.options.len()), (Method::UpdateMany, 0));
        let deletes = vec![doc! { "q": {}, "limit": 0 }, doc! { "q": { "a": 1 }, "limit": 1 }];
        let (bulk, steps) = step(doc! { "delete": "c", "deletes": deletes, "ordered": false });
        assert_eq!(bulk.method, Method::BulkWrite);
        assert_eq!(bulk.option("ordered"), Some(&Bson::Boolean(false)));
        assert_eq!(steps[0].method, Method::DeleteMany);
        assert_eq!(steps[1].method, Method::DeleteOne);
    }

    #[test]
    fn what_a_driver_sends_for_a_count_is_a_count() {
        let group = doc! { "$group": { "_id": 1, "n": { "$sum": 1 } } };
        let (count, _) = step(doc! {
            "aggregate": "c", "pipeline": [{ "$match": { "a": 1 } }, { "$limit": 5 }, group],
            "cursor": {},
        });
        assert_eq!(count.method, Method::CountDocuments);
        assert_eq!(count.options, [("limit", Bson::Int32(5))]);
        let (estimate, _) = step(doc! { "count": "c", "query": {} });
        assert_eq!(estimate.method, Method::EstimatedDocumentCount);
    }

    #[test]
    fn an_index_with_its_usual_name_is_not_named() {
        let index = doc! { "key": { "a": 1.0, "b": -1.0 }, "name": "a_1_b_-1", "unique": true };
        let (create, _) = step(doc! { "createIndexes": "c", "indexes": [index] });
        assert_eq!(create.method, Method::CreateIndex);
        assert_eq!(create.options, [("unique", Bson::Boolean(true))]);
    }

    #[test]
    fn a_field_that_no_option_stands_for_makes_it_a_command() {
        let odd = doc! { "find": "c", "filter": {}, "term": 1_i64 };
        assert_eq!(step(odd).0.method, Method::RunCommand);
        let wrong = doc! { "find": "c", "filter": {}, "sort": "a" };
        assert_eq!(step(wrong).0.method, Method::RunCommand);
        assert_eq!(step(doc! { "ping": 1.0 }).0.arguments[0].document(), doc! { "ping": 1 });
        assert_eq!(step(Document::new()).0.method, Method::RunCommand);
    }

    #[test]
    fn the_first_of_a_find_is_a_find_one() {
        let (first, _) = step(doc! { "find": "c", "filter": {}, "limit": 1, "singleBatch": true });
        assert_eq!((first.method, first.options.len()), (Method::FindOne, 0));
    }
}
