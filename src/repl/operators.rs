//! Which operators can stand at a place: those of filters, of updates, of pipelines, or of the expressions in them.

use crate::engine::{aggregate, expr, query, update};

/// A kind of place where operators stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spot {
    /// In place of a field of a filter: `$and`.
    Filter,
    /// Under a field of a filter: `$gt`.
    Field,
    /// In place of a field of an update: `$set`.
    Update,
    /// Beside `$each` of `$push` or `$addToSet`.
    Push,
    /// The name of a stage: `$match`.
    Stage,
    /// In an expression: `$add`.
    Expression,
    /// Under a field of `$group` and its like: `$sum`.
    Accumulator,
    /// In a projection of `find`.
    Projection,
    /// Nobody knows.
    Any,
}

/// What `$push` can be told beside the values.
const PUSH: &[&str] = &["$each", "$position", "$slice", "$sort"];

/// What stands under a field of a projection and nowhere else.
const PROJECTION: &[&str] = &["$elemMatch", "$meta", "$slice"];

/// The operators that can stand in argument number `argument` of a call (`db`, `users`, `find`), under these keys.
pub(super) fn operators(call: &[String], argument: usize, path: &[String]) -> Vec<&'static str> {
    let method = call.last().map_or("", String::as_str);
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let spot = match (method, argument) {
        ("aggregate" | "watch", 0) => pipeline(&path),
        ("find" | "findOne" | "count" | "countDocuments" | "remove" | "deleteOne", 0)
        | ("deleteMany" | "findOneAndDelete" | "replaceOne" | "findOneAndReplace", 0)
        | ("update" | "updateOne" | "updateMany" | "findOneAndUpdate", 0)
        | ("distinct", 1)
        | ("$match", _) => filter(&path),
        ("find" | "findOne", 1) => match path.split_last() {
            None => Spot::Any,
            Some((last, _)) if last.starts_with('$') => Spot::Expression,
            Some(_) => Spot::Projection,
        },
        ("update" | "updateOne" | "updateMany" | "findOneAndUpdate", 1) => change(&path),
        ("findAndModify", 0) => match path.split_first() {
            Some((&"query", rest)) => filter(rest),
            Some((&"update", rest)) => change(rest),
            _ => Spot::Any,
        },
        _ => Spot::Any,
    };
    named(spot)
}

fn filter(path: &[&str]) -> Spot {
    match path.last() {
        _ if path.contains(&"$expr") => Spot::Expression,
        None | Some(&("$and" | "$or" | "$nor")) => Spot::Filter,
        // A field of documents in an array, or the operator on its elements themselves.
        Some(&"$elemMatch") => Spot::Field,
        Some(_) => Spot::Field,
    }
}

fn change(path: &[&str]) -> Spot {
    match path {
        [] => Spot::Update,
        ["$push" | "$addToSet", _] => Spot::Push,
        ["$pull", ..] => Spot::Field,
        // An update may be a pipeline.
        ["$set" | "$addFields" | "$project" | "$replaceWith" | "$replaceRoot", ..] => {
            Spot::Expression
        }
        _ => Spot::Any,
    }
}

fn pipeline(path: &[&str]) -> Spot {
    match path {
        [] => Spot::Stage,
        ["$match", rest @ ..] => filter(rest),
        ["$facet", _] => Spot::Stage,
        ["$facet", _, rest @ ..] => pipeline(rest),
        ["$lookup" | "$unionWith" | "$graphLookup", "pipeline"] => Spot::Stage,
        ["$lookup" | "$unionWith", "pipeline", rest @ ..] => pipeline(rest),
        ["$graphLookup", "restrictSearchWithMatch", rest @ ..] => filter(rest),
        ["$group", field] if *field != "_id" => Spot::Accumulator,
        ["$bucket" | "$bucketAuto" | "$setWindowFields", "output", _] => Spot::Accumulator,
        [_, ..] => Spot::Expression,
    }
}

fn named(spot: Spot) -> Vec<&'static str> {
    let filter = |top| {
        let fit = move |row: &&'static query::Operator| row.is_top() == top;
        query::operators().filter(fit).map(|row| row.name)
    };
    let updates = update::operators().map(|row| row.name);
    let expressions = expr::operators().map(|row| row.name);
    let accumulators = expr::ACCUMULATORS.iter().map(|row| row.name);
    let stages = aggregate::stages().map(|row| row.name);
    match spot {
        Spot::Filter => filter(true).collect(),
        Spot::Field => filter(false).collect(),
        Spot::Update => updates.collect(),
        Spot::Push => PUSH.to_vec(),
        Spot::Stage => stages.collect(),
        Spot::Expression => expressions.collect(),
        Spot::Accumulator => accumulators.collect(),
        Spot::Projection => PROJECTION.iter().copied().chain(expressions).collect(),
        Spot::Any => {
            let queries = query::operators().map(|row| row.name);
            queries.chain(updates).chain(expressions).chain(accumulators).chain(stages).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether an operator is offered in a call, under these keys.
    fn offers(method: &str, argument: usize, path: &[&str], name: &str) -> bool {
        let call = ["db", "users", method].map(str::to_owned);
        let path: Vec<String> = path.iter().map(|key| (*key).to_owned()).collect();
        operators(&call, argument, &path).contains(&name)
    }

    #[test]
    fn operators_are_offered_where_a_server_takes_them() {
        for (method, argument, path, yes, no) in [
            ("find", 0, &[][..], "$or", "$gt"),
            ("find", 0, &["age"], "$gt", "$set"),
            ("find", 0, &["$or"], "$and", "$gt"),
            ("find", 0, &["$or", "age"], "$gte", "$or"),
            ("find", 0, &["$expr"], "$add", "$set"),
            ("find", 1, &["tags"], "$slice", "$gtx"),
            ("updateOne", 0, &["a"], "$in", "$inc"),
            ("updateOne", 1, &[], "$inc", "$gt"),
            ("updateOne", 1, &["$push", "tags"], "$each", "$inc"),
            ("updateOne", 1, &["$pull", "tags"], "$in", "$push"),
            ("findAndModify", 0, &["update"], "$inc", "$gt"),
            ("findAndModify", 0, &["query", "a"], "$gt", "$inc"),
            ("aggregate", 0, &[], "$match", "$gt"),
            ("aggregate", 0, &["$match", "a"], "$gt", "$group"),
            ("aggregate", 0, &["$group", "n"], "$sum", "$match"),
            ("aggregate", 0, &["$group", "_id"], "$year", "$match"),
            ("aggregate", 0, &["$project", "x"], "$concat", "$match"),
            ("aggregate", 0, &["$lookup", "pipeline"], "$match", "$gt"),
            ("aggregate", 0, &["$facet", "a", "$match"], "$or", "$group"),
        ] {
            assert!(offers(method, argument, path, yes), "{method} {path:?}: {yes}");
            assert!(!offers(method, argument, path, no), "{method} {path:?}: {no}");
        }
        assert!(offers("save", 0, &[], "$gt") && offers("save", 0, &[], "$match"));
    }
}
