//! A pipeline: its stages, compiled in order and chained.

use bson::{Bson, Document, doc};

use super::{Context, Documents, Place, Row, Stage, row};
use crate::engine::expr::Scope;
use crate::error::{Code, Error, Result};

/// A compiled pipeline.
#[derive(Debug)]
pub struct Pipeline {
    stages: Vec<(&'static Row, Box<dyn Stage>)>,
    leading: Option<Document>,
    covered: usize,
}

impl Pipeline {
    /// Compiles a pipeline: each element a document of one field, the stage's name.
    ///
    /// # Errors
    /// Whatever is wrong with it, in the server's words; what fails without any document has
    /// `Failed to optimize pipeline :: caused by :: ` in front.
    pub fn parse(stages: &[Bson], scope: &Scope) -> Result<Self> {
        Self::parse_where(stages, scope, |_, _| Ok(()))
    }

    /// Compiles the pipeline of an update, which may hold `$set`, `$unset`, `$replaceRoot` and their synonyms only.
    ///
    /// # Errors
    /// As [`Pipeline::parse`], and 72 for another stage.
    pub fn parse_for_update(stages: &[Bson], scope: &Scope) -> Result<Self> {
        Self::parse_where(stages, scope, |row, _| {
            if row.place == Place::Update {
                return Ok(());
            }
            let message = format!("{} is not allowed to be used within an update", row.name);
            Err(Error::command(Code::INVALID_OPTIONS, message))
        })
    }

    /// Compiles one of the pipelines of a `$facet`.
    ///
    /// # Errors
    /// As [`Pipeline::parse`], and 40600 for a stage that may not stand there.
    pub(super) fn parse_for_facet(stages: &[Bson], scope: &Scope) -> Result<Self> {
        Self::parse_where(stages, scope, |row, _| {
            if matches!(row.place, Place::Update | Place::Anywhere) {
                return Ok(());
            }
            let message = format!("{} is not allowed to be used within a $facet stage", row.name);
            Err(Error::command(Code(40600), message))
        })
    }

    /// Compiles the pipeline inside another stage.
    ///
    /// # Errors
    /// As [`Pipeline::parse`], and 51047 for a stage that writes.
    pub(super) fn parse_inner(stages: &[Bson], scope: &Scope, outer: &str) -> Result<Self> {
        let names = stages.iter().filter_map(|stage| stage.as_document()?.keys().next());
        if let Some(name) =
            names.into_iter().find(|name| matches!(name.as_str(), "$out" | "$merge"))
        {
            let message = format!("{name} is not allowed within a {outer}'s sub-pipeline");
            return Err(Error::command(Code(51047), message));
        }
        Self::parse(stages, scope)
    }

    fn parse_where(
        stages: &[Bson],
        scope: &Scope,
        allow: impl Fn(&Row, usize) -> Result<()>,
    ) -> Result<Self> {
        if stages.len() > 1000 {
            let message = "Pipeline length must be no longer than 1000 stages";
            return Err(Error::command(Code(7749501), message));
        }
        let mut compiled = Vec::with_capacity(stages.len());
        let mut matches = Vec::new();
        for (at, stage) in stages.iter().enumerate() {
            let Bson::Document(stage) = stage else {
                let message = "Each element of the 'pipeline' array must be an object";
                return Err(Error::command(Code::TYPE_MISMATCH, message));
            };
            let (Some((name, argument)), 1) = (stage.iter().next(), stage.len()) else {
                let message =
                    "A pipeline stage specification object must contain exactly one field.";
                return Err(Error::command(Code(40323), message));
            };
            let Some(row) = row(name) else {
                // Whoever runs the pipeline takes these from its beginning.
                if matches!(
                    name.as_str(),
                    "$collStats"
                        | "$currentOp"
                        | "$documents"
                        | "$indexStats"
                        | "$listLocalSessions"
                        | "$planCacheStats"
                ) {
                    let message = format!("{name} is only valid as the first stage in a pipeline");
                    return Err(Error::command(Code(40602), message));
                }
                return Err(unknown(name));
            };
            allow(row, at)?;
            if row.place == Place::First && at > 0 {
                let message = format!("{name} is only valid as the first stage in a pipeline");
                return Err(Error::command(Code(40602), message));
            }
            if let ("$match", Bson::Document(filter), true) =
                (name.as_str(), argument, matches.len() == at)
            {
                matches.push(Bson::Document(filter.clone()));
            }
            compiled.push((row, (row.parse)(argument, scope)?));
        }
        for (_, stage) in &mut compiled {
            stage
                .fold(scope)
                .map_err(|error| error.prefixed("Failed to optimize pipeline :: caused by :: "))?;
        }
        limit_sorts(&mut compiled);
        let covered = matches.len();
        let leading = match matches.pop() {
            Some(Bson::Document(filter)) if covered == 1 => Some(filter),
            Some(last) => {
                matches.push(last);
                Some(doc! { "$and": matches })
            }
            None => None,
        };
        Ok(Self { stages: compiled, leading, covered })
    }

    /// The filter that the pipeline begins with, for an index: all leading `$match` stages together, and how many they
    /// are. Running the pipeline checks them again, unless it is [run from there](Pipeline::run_from).
    pub fn leading_match(&self) -> Option<(&Document, usize)> {
        self.leading.as_ref().map(|filter| (filter, self.covered))
    }

    /// Whether no stage is left that does anything.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// The documents that come out when `input` goes in, made as they are asked for.
    pub fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        self.run_from(0, input, context)
    }

    /// As [`Pipeline::run`], without the first `skipped` stages.
    pub fn run_from<'a>(
        &'a self,
        skipped: usize,
        input: Documents<'a>,
        context: &'a Context,
    ) -> Documents<'a> {
        let stages = self.stages.iter().skip(skipped);
        let output = stages.fold(input, |documents, (_, stage)| stage.run(documents, context));
        Box::new(UntilError { documents: Some(output) })
    }

    /// What the pipeline of an update makes of one document.
    ///
    /// # Errors
    /// What its expressions fail with.
    pub fn transform(&self, document: Document, context: &Context) -> Result<Document> {
        let mut output = self.run(Box::new(std::iter::once(Ok(document))), context);
        output.next().unwrap_or_else(|| Ok(Document::new()))
    }
}

/// The error of a stage that this engine does not have, or that there is not.
fn unknown(name: &str) -> Error {
    match name {
        "$changeStream" | "$changeStreamSplitLargeEvent" => {
            let message = "The $changeStream stage is only supported on replica sets";
            Error::command(Code(40573), message)
        }
        "$search" | "$searchMeta" | "$vectorSearch" | "$listSearchIndexes" => {
            let message =
                format!("the stage {name} needs a search service, which there is none of");
            Error::command(Code(31082), message)
        }
        "$geoNear"
        | "$listSessions"
        | "$listSampledQueries"
        | "$queryStats"
        | "$shardedDataDistribution" => {
            let message = format!("{name} is not supported by the embedded engine");
            Error::command(Code::COMMAND_NOT_SUPPORTED, message)
        }
        _ => Error::command(Code(40324), format!("Unrecognized pipeline stage name: '{name}'")),
    }
}

/// A sort in front of a limit keeps only what the limit lets pass.
fn limit_sorts(stages: &mut [(&'static Row, Box<dyn Stage>)]) {
    for at in 0..stages.len() {
        let (before, after) = stages.split_at_mut(at + 1);
        let mut skipped = 0usize;
        for (_, stage) in after.iter() {
            match stage.window() {
                Some((skip, usize::MAX)) => skipped = skipped.saturating_add(skip),
                Some((_, limit)) => {
                    before[at].1.wants(skipped.saturating_add(limit));
                    break;
                }
                None => break,
            }
        }
    }
}

/// Ends after the first error: nothing sensible follows one.
struct UntilError<'a> {
    documents: Option<Documents<'a>>,
}

impl Iterator for UntilError<'_> {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.documents.as_mut()?.next();
        if !matches!(next, Some(Ok(_))) {
            self.documents = None;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson};

    use super::*;
    use crate::interrupt::Interrupt;

    fn scope() -> Scope {
        Scope::new(DateTime::from_millis(0))
    }

    fn array(value: Bson) -> Vec<Bson> {
        match value {
            Bson::Array(elements) => elements,
            other => panic!("{other} is no array"),
        }
    }

    fn documents(values: &Bson) -> impl Iterator<Item = Result<Document>> + 'static {
        array(values.clone()).into_iter().map(|value| match value {
            Bson::Document(document) => Ok(document),
            other => panic!("{other} is no document"),
        })
    }

    /// What comes out of a pipeline, or code and words of its error.
    fn run(stages: Bson, input: &Bson) -> std::result::Result<Bson, (i32, String)> {
        let context = Context::new(scope(), Interrupt::new());
        let told = |error: Error| (error.code().map_or(0, |code| code.0), error.to_string());
        let pipeline = Pipeline::parse(&array(stages), &context.scope).map_err(told)?;
        let output = pipeline.run(Box::new(documents(input)), &context);
        output
            .map(|document| document.map(Bson::Document))
            .collect::<Result<Vec<_>>>()
            .map(Bson::Array)
            .map_err(told)
    }

    fn gives(stages: Bson, input: &Bson, expected: Bson) {
        assert_eq!(run(stages.clone(), input), Ok(expected), "{stages}");
    }

    fn fails(stages: Bson, code: i32, words: &str) {
        let input = bson!([{ "_id": 1, "a": 1, "zero": 0 }]);
        assert_eq!(run(stages.clone(), &input), Err((code, words.to_owned())), "{stages}");
    }

    fn sales() -> Bson {
        bson!([
            { "_id": 1, "item": "abc", "price": 10, "quantity": 2 },
            { "_id": 2, "item": "jkl", "price": 20, "quantity": 1 },
            { "_id": 3, "item": "xyz", "price": 5, "quantity": 10 },
            { "_id": 4, "item": "abc", "price": 10, "quantity": 5 },
            { "_id": 5, "item": null, "price": 1.5 },
            { "_id": 6, "price": "?" },
        ])
    }

    #[test]
    fn groups_accumulate_and_null_is_missing() {
        gives(
            bson!([
                { "$group": { "_id": "$item", "n": { "$count": {} }, "q": { "$sum": "$quantity" }, "p": { "$push": "$quantity" } } },
                { "$sort": { "_id": 1 } },
            ]),
            &sales(),
            bson!([
                { "_id": null, "n": 2, "q": 0, "p": [] },
                { "_id": "abc", "n": 2, "q": 7, "p": [2, 5] },
                { "_id": "jkl", "n": 1, "q": 1, "p": [1] },
                { "_id": "xyz", "n": 1, "q": 10, "p": [10] },
            ]),
        );
        gives(
            bson!([{ "$group": {
                "_id": null,
                "avg": { "$avg": "$price" },
                "min": { "$min": "$price" },
                "max": { "$max": "$price" },
                "first": { "$first": "$item" },
                "last": { "$last": "$item" },
                "set": { "$addToSet": "$item" },
                "none": { "$avg": "$zz" },
            } }]),
            &sales(),
            bson!([{
                "_id": null, "avg": 9.3, "min": 1.5, "max": "?", "first": "abc", "last": null,
                "set": ["abc", "jkl", "xyz", null], "none": null,
            }]),
        );
        gives(
            bson!([{ "$group": { "_id": { "i": "$zz" } } }, { "$group": { "_id": { "$type": "$_id.i" } } }]),
            &sales(),
            bson!([{ "_id": "missing" }]),
        );
        gives(
            bson!([{ "$group": { "_id": "$v", "n": { "$sum": 1.0 } } }]),
            &bson!([{ "v": 1 }, { "v": 1.0 }, { "v": 1_i64 }]),
            bson!([{ "_id": 1, "n": 3.0 }]),
        );
    }

    #[test]
    fn ordered_accumulators_choose_by_the_sort() {
        gives(
            bson!([{ "$group": {
                "_id": null,
                "top": { "$top": { "sortBy": { "price": -1 }, "output": "$_id" } },
                "bottom": { "$bottom": { "sortBy": { "quantity": 1 }, "output": ["$_id", "$item"] } },
                "two": { "$topN": { "n": 2, "sortBy": { "_id": -1 }, "output": "$_id" } },
                "low": { "$bottomN": { "n": 2, "sortBy": { "_id": 1 }, "output": "$_id" } },
                "first": { "$firstN": { "n": 2, "input": "$_id" } },
                "last": { "$lastN": { "n": 2, "input": "$_id" } },
                "min": { "$minN": { "n": 2, "input": "$quantity" } },
                "max": { "$maxN": { "n": 2, "input": "$quantity" } },
                "dev": { "$stdDevPop": "$quantity" },
                "all": { "$mergeObjects": { "item": "$item" } },
            } }]),
            &sales(),
            bson!([{
                "_id": null, "top": 6, "bottom": [3, "xyz"], "two": [6, 5], "low": [5, 6], "first": [1, 2], "last": [5, 6],
                "min": [1, 2], "max": [10, 5], "dev": 3.5, "all": { "item": null },
            }]),
        );
    }

    #[test]
    fn stages_flow() {
        gives(
            bson!([{ "$match": { "price": { "$gt": 9 } } }, { "$count": "n" }]),
            &sales(),
            bson!([{ "n": 3 }]),
        );
        gives(bson!([{ "$match": { "price": 99 } }, { "$count": "n" }]), &sales(), bson!([]));
        gives(
            bson!([{ "$sort": { "price": -1, "_id": 1 } }, { "$skip": 1 }, { "$limit": 2 }, { "$project": { "price": 1 } }]),
            &sales(),
            bson!([{ "_id": 2, "price": 20 }, { "_id": 1, "price": 10 }]),
        );
        gives(
            bson!([{ "$sortByCount": "$item" }, { "$limit": 1 }]),
            &sales(),
            bson!([{ "_id": "abc", "count": 2 }]),
        );
        gives(
            bson!([{ "$set": { "total": { "$multiply": ["$price", 2] } } }, { "$unset": ["price", "zz"] }]),
            &bson!([{ "_id": 1, "price": 3 }]),
            bson!([{ "_id": 1, "total": 6 }]),
        );
        gives(
            bson!([{ "$replaceRoot": { "newRoot": { "$mergeObjects": [{ "x": 1 }, "$in"] } } }]),
            &bson!([{ "in": { "y": 2 } }]),
            bson!([{ "x": 1, "y": 2 }]),
        );
        gives(bson!([{ "$sample": { "size": 0 } }]), &sales(), bson!([]));
        gives(
            bson!([{ "$sample": { "size": 9 } }, { "$count": "n" }]),
            &sales(),
            bson!([{ "n": 6 }]),
        );
        gives(
            bson!([{ "$facet": { "n": [{ "$count": "n" }], "first": [{ "$limit": 1 }, { "$project": { "item": 1 } }] } }]),
            &sales(),
            bson!([{ "n": [{ "n": 6 }], "first": [{ "_id": 1, "item": "abc" }] }]),
        );
    }

    #[test]
    fn unwinding() {
        let input = bson!([
            { "_id": 1, "s": ["a", "b"] }, { "_id": 2, "s": [] }, { "_id": 3, "s": "m" }, { "_id": 4, "s": null }, { "_id": 5 },
        ]);
        gives(
            bson!([{ "$unwind": "$s" }]),
            &input,
            bson!([{ "_id": 1, "s": "a" }, { "_id": 1, "s": "b" }, { "_id": 3, "s": "m" }]),
        );
        gives(
            bson!([{ "$unwind": { "path": "$s", "includeArrayIndex": "i", "preserveNullAndEmptyArrays": true } }]),
            &input,
            bson!([
                { "_id": 1, "s": "a", "i": 0_i64 }, { "_id": 1, "s": "b", "i": 1_i64 }, { "_id": 2, "i": null },
                { "_id": 3, "s": "m", "i": null }, { "_id": 4, "s": null, "i": null }, { "_id": 5, "i": null },
            ]),
        );
        gives(
            bson!([{ "$unwind": "$a.b" }]),
            &bson!([{ "a": { "x": 1, "b": [1, 2] } }, { "a": [{ "b": [1] }] }]),
            bson!([{ "a": { "x": 1, "b": 1 } }, { "a": { "x": 1, "b": 2 } }]),
        );
    }

    #[test]
    fn redaction_descends_keeps_and_prunes() {
        // After the manual's example: access is granted where the tags hold one of the given.
        let granted = bson!({ "$gt": [{ "$size": { "$setIntersection": ["$tags", ["A"]] } }, 0] });
        gives(
            bson!([{ "$redact": { "$cond": { "if": granted, "then": "$$DESCEND", "else": "$$PRUNE" } } }]),
            &bson!([
                { "_id": 1, "tags": ["A"], "parts": [{ "n": 1, "tags": ["A", "B"] }, { "n": 2, "tags": ["B"] }] },
                { "_id": 2, "tags": ["B"] },
            ]),
            bson!([{ "_id": 1, "tags": ["A"], "parts": [{ "n": 1, "tags": ["A", "B"] }] }]),
        );
    }

    #[test]
    fn buckets() {
        let input = bson!([{ "v": 1 }, { "v": 5 }, { "v": 9 }, { "v": 25 }, { "v": "x" }]);
        gives(
            bson!([{ "$bucket": { "groupBy": "$v", "boundaries": [0, 5, 10], "default": "other" } }]),
            &input,
            bson!([{ "_id": 0, "count": 1 }, { "_id": 5, "count": 2 }, { "_id": "other", "count": 2 }]),
        );
        gives(
            bson!([{ "$bucketAuto": { "groupBy": "$v", "buckets": 2 } }]),
            &bson!([{ "v": 4 }, { "v": 1 }, { "v": 2 }, { "v": 3 }]),
            bson!([{ "_id": { "min": 1, "max": 3 }, "count": 2 }, { "_id": { "min": 3, "max": 4 }, "count": 2 }]),
        );
        fails(
            bson!([{ "$bucket": { "groupBy": "$a", "boundaries": [5, 6] } }]),
            40066,
            "$switch could not find a matching branch for an input, and no default was specified.",
        );
    }

    #[test]
    fn bad_pipelines_have_the_servers_words() {
        fails(bson!([{ "$unknown": {} }]), 40324, "Unrecognized pipeline stage name: '$unknown'");
        fails(
            bson!([{}]),
            40323,
            "A pipeline stage specification object must contain exactly one field.",
        );
        fails(bson!([1]), 14, "Each element of the 'pipeline' array must be an object");
        fails(bson!([{ "$group": {} }]), 15955, "a group specification must include an _id");
        fails(
            bson!([{ "$group": { "_id": 1, "v": { "$foo": 1 } } }]),
            15952,
            "unknown group operator '$foo'",
        );
        fails(
            bson!([{ "$group": { "_id": 1, "v": 1 } }]),
            40234,
            "The field 'v' must be an accumulator object",
        );
        fails(
            bson!([{ "$group": { "_id": 1, "v": { "$sum": [1, 2] } } }]),
            40237,
            "The $sum accumulator is a unary operator",
        );
        fails(
            bson!([{ "$group": { "_id": 1, "n": { "$sum": 1, "$max": 1 } } }]),
            40238,
            "The field 'n' must specify one accumulator",
        );
        fails(
            bson!([{ "$project": { "v": { "$foo": 1 } } }]),
            31325,
            "Invalid $project :: caused by :: Unknown expression $foo",
        );
        fails(
            bson!([{ "$project": { "v": { "$add": [{ "$foo": 1 }] } } }]),
            168,
            "Invalid $project :: caused by :: Unrecognized expression '$foo'",
        );
        fails(
            bson!([{ "$project": {} }]),
            51272,
            "Invalid $project :: caused by :: projection specification must have at least one field",
        );
        fails(
            bson!([{ "$project": { "v": { "$divide": [1, 0] } } }]),
            2,
            "Failed to optimize pipeline :: caused by :: can't $divide by zero",
        );
        fails(
            bson!([{ "$project": { "v": { "$divide": ["$a", "$zero"] } } }]),
            2,
            "can't $divide by zero",
        );
        fails(
            bson!([{ "$sort": { "asc": "123" } }]),
            15974,
            "Illegal key in $sort specification: asc: \"123\"",
        );
        fails(bson!([{ "$limit": 0 }]), 15958, "the limit must be positive");
        fails(
            bson!([{ "$skip": -1 }]),
            5107200,
            "invalid argument to $skip stage: Expected a non-negative number in: $skip: -1",
        );
        fails(
            bson!([{ "$replaceRoot": { "newRoot": "$a" } }]),
            40228,
            "'newRoot' expression  must evaluate to an object, but resulting value was: 1. Type of resulting value: 'int'. \
             Input document: { _id: 1, a: 1, zero: 0 }",
        );
        fails(
            bson!([{ "$unwind": "a" }]),
            28818,
            "path option to $unwind stage should be prefixed with a '$': a",
        );
        fails(bson!([{ "$count": "" }]), 40157, "the count field must be a non-empty string");
    }

    #[test]
    fn updates_may_only_reshape() {
        let stages = array(bson!([{ "$set": { "a": { "$add": ["$a", 1] } } }, { "$unset": "b" }]));
        let pipeline = Pipeline::parse_for_update(&stages, &scope()).unwrap();
        let context = Context::new(scope(), Interrupt::new());
        assert_eq!(
            pipeline.transform(doc! { "_id": 1, "a": 1, "b": 2 }, &context),
            Ok(doc! { "_id": 1, "a": 2 })
        );
        let refused =
            Pipeline::parse_for_update(&array(bson!([{ "$match": {} }])), &scope()).unwrap_err();
        assert_eq!(refused.code(), Some(Code::INVALID_OPTIONS));
        assert_eq!(refused.to_string(), "$match is not allowed to be used within an update");
    }

    #[test]
    fn leading_matches_are_shown_to_the_planner() {
        let parse = |stages: Bson| Pipeline::parse(&array(stages), &scope()).unwrap();
        let none = parse(bson!([{ "$limit": 1 }, { "$match": { "a": 1 } }]));
        assert!(none.leading_match().is_none());
        let one = parse(bson!([{ "$match": { "a": 1 } }, { "$limit": 1 }]));
        assert_eq!(one.leading_match(), Some((&doc! { "a": 1 }, 1)));
        let two = parse(bson!([{ "$match": { "a": 1 } }, { "$match": { "b": 2 } }]));
        assert_eq!(two.leading_match(), Some((&doc! { "$and": [{ "a": 1 }, { "b": 2 }] }, 2)));
    }

    #[test]
    fn documents_are_taken_one_by_one_and_an_interrupt_stops_collecting() {
        let context = Context::new(scope(), Interrupt::new());
        let stages = array(bson!([{ "$match": { "n": { "$gte": 2 } } }, { "$limit": 1 }]));
        let pipeline = Pipeline::parse(&stages, &context.scope).unwrap();
        let endless = (0..).map(|n: i32| Ok(doc! { "n": n }));
        assert_eq!(
            pipeline.run(Box::new(endless), &context).collect::<Vec<_>>(),
            [Ok(doc! { "n": 2 })]
        );
        let sort =
            Pipeline::parse(&array(bson!([{ "$sort": { "n": 1 } }])), &context.scope).unwrap();
        let interrupt = context.interrupt.clone();
        let endless = (0..).map(move |n: i32| {
            if n == 10 {
                interrupt.raise();
            }
            Ok(doc! { "n": n })
        });
        let output: Vec<_> = sort.run(Box::new(endless), &context).collect();
        assert_eq!(output, [Err(Error::Interrupted)]);
    }

    #[test]
    fn a_sort_keeps_within_its_memory() {
        let mut context = Context::new(scope(), Interrupt::new());
        context.allow_disk_use = false;
        let big = "x".repeat(1 << 20);
        let input = move || {
            (0..150).map({
                let big = big.clone();
                move |n: i32| Ok(doc! { "n": n, "s": big.as_str() })
            })
        };
        let sort =
            Pipeline::parse(&array(bson!([{ "$sort": { "n": 1 } }])), &context.scope).unwrap();
        let error = sort.run(Box::new(input()), &context).next().unwrap().unwrap_err();
        assert_eq!(error.code(), Some(Code::QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED));
    }
}
