//! `explain`: how a command would find its documents, and what that costs when it does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bson::{Bson, Document, RawBsonRef, RawDocument, RawDocumentBuf, doc};

use super::aggregate::{Cost, Run, number};
use super::context::Context;
use super::fields::{Fields, decode};
use super::read::{Find, encode};
use super::scan::{Flow, Scan};
use super::search::Search;
use super::{Command, command, name};
use crate::engine::index::{self, Access, Plan};
use crate::engine::storage::{self, Collection, Index, Shape};
use crate::error::{Error, Result};
use crate::refuse;

pub(super) const COMMANDS: &[Command] = &[Command {
    name: "explain",
    aliases: &[],
    help: "how a command finds its documents",
    admin_only: false,
    run: explain,
}];

/// How much is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Verbosity {
    /// The plan.
    Planner,
    /// The plan, and what running it costs.
    Execution,
    /// The same, with the trials of other plans, of which there are none.
    AllPlans,
}

/// A search and what is done with what it finds.
struct Explained {
    namespace: String,
    collection: Option<Arc<Collection>>,
    search: Search,
    given: Document,
    skip: u64,
    limit: Option<u64>,
    projected: bool,
    /// The stage on top, of commands that count or write.
    top: Option<&'static str>,
}

fn explain(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let fields = Fields::command("explain", context.body)?;
    let body = match fields.present("explain") {
        Some(RawBsonRef::Document(body)) => body,
        Some(other) => return Err(fields.wrong("explain", other, "object")),
        None => return Err(refuse!(FAILED_TO_PARSE, "explain command requires a nested object")),
    };
    let verbosity = match fields.text("verbosity")? {
        Some("executionStats") => Verbosity::Execution,
        None | Some("allPlansExecution") => Verbosity::AllPlans,
        Some("queryPlanner") => Verbosity::Planner,
        Some(other) => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "verbosity string must be one of {{'queryPlanner', 'executionStats', 'allPlansExecution'}}, not '{other}'"
            ));
        }
    };
    fields.finish()?;
    let Some(Ok((verb, _))) = body.iter().next() else {
        return Err(refuse!(FAILED_TO_PARSE, "explain command requires a nested object"));
    };
    let row = command(verb.as_str()).ok_or_else(|| {
        refuse!(COMMAND_NOT_FOUND, "Explain failed due to unknown command: {}", verb.as_str())
    })?;
    let inner = Context { body, interrupt: context.interrupt.clone(), retried: None, ..*context };
    let explained = match row.name {
        "find" => of_find(&inner)?,
        "aggregate" => {
            let mut whole = decode(body)?;
            whole.insert("explain", true);
            let whole = encode(&whole)?;
            let inner = Context {
                body: &whole,
                interrupt: context.interrupt.clone(),
                retried: None,
                ..*context
            };
            return super::aggregate::answer(&inner, verbosity);
        }
        "count" => of_query(&inner, "query", None, Some("COUNT"))?,
        "distinct" => of_query(&inner, "query", None, None)?,
        "update" => of_operation(&inner, "updates", "UPDATE")?,
        "delete" => of_operation(&inner, "deletes", "DELETE")?,
        "findAndModify" => {
            let removes = matches!(body.get("remove"), Ok(Some(value)) if super::fields::truth(value) == Some(true));
            of_query(
                &inner,
                "query",
                Some("sort"),
                Some(if removes { "DELETE" } else { "UPDATE" }),
            )?
        }
        other => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Explain is not supported for the command: {other}"
            ));
        }
    };
    reply(context, &explained, verbosity, body, None)
}

fn of_find(context: &Context<'_>) -> Result<Explained> {
    let name = context.collection_name()?;
    let find = Find::parse(context)?;
    Ok(Explained {
        namespace: context.namespace(name),
        collection: context.collection(name),
        given: document(context.body, "filter")?,
        skip: find.skip,
        limit: find.limit,
        projected: find.projection.is_some(),
        search: find.search,
        top: None,
    })
}

fn of_query(
    context: &Context<'_>,
    query: &str,
    sort: Option<&str>,
    top: Option<&'static str>,
) -> Result<Explained> {
    let name = context.collection_name()?;
    let given = document(context.body, query)?;
    let sort = sort.map_or(Ok(Document::new()), |sort| document(context.body, sort))?;
    let hint = context.body.get("hint").ok().flatten();
    let search = Search::new(&given, &sort, hint, &context.scope(None)?)?;
    let writes = matches!(top, Some("UPDATE" | "DELETE"));
    Ok(Explained {
        namespace: context.namespace(name),
        collection: context.collection(name),
        search,
        given,
        skip: 0,
        limit: writes.then_some(1),
        projected: false,
        top,
    })
}

/// The first operation of `update` or `delete`; a server explains no more either.
fn of_operation(context: &Context<'_>, list: &'static str, top: &'static str) -> Result<Explained> {
    let name = context.collection_name()?;
    name::check_readable(context.database, name)?;
    let operation = match context.body.get_array(list).ok().and_then(|list| list.into_iter().next())
    {
        Some(Ok(RawBsonRef::Document(operation))) => operation,
        _ => {
            return Err(Error::command(
                crate::error::Code::INVALID_LENGTH,
                format!("explained write batches must be of size 1, `{list}` is not"),
            ));
        }
    };
    let given = document(operation, "q")?;
    let hint = operation.get("hint").ok().flatten();
    let flag = |name: &str| operation.get(name).ok().flatten().and_then(super::fields::integer);
    let many = match list {
        "deletes" => flag("limit") == Some(0),
        _ => matches!(operation.get("multi"), Ok(Some(RawBsonRef::Boolean(true)))),
    };
    Ok(Explained {
        namespace: context.namespace(name),
        collection: context.collection(name),
        search: Search::new(&given, &Document::new(), hint, &context.scope(None)?)?,
        given,
        skip: 0,
        limit: (!many).then_some(1),
        projected: false,
        top: Some(top),
    })
}

fn document(body: &RawDocument, field: &str) -> Result<Document> {
    match body.get(field) {
        Ok(Some(RawBsonRef::Document(document))) => decode(document),
        _ => Ok(Document::new()),
    }
}

/// The explanation of an aggregation.
pub(super) fn pipeline(
    context: &Context<'_>,
    namespace: &str,
    run: &Run,
    verbosity: Verbosity,
    cost: Option<&Cost>,
) -> Result<RawDocumentBuf> {
    let (collection, search) = match run.search() {
        Some((collection, _, search)) => (Some(Arc::clone(collection)), search.clone()),
        None => {
            (None, Search::new(&Document::new(), &Document::new(), None, &context.scope(None)?)?)
        }
    };
    let given = run.pipeline.leading_match().map(|(filter, _)| filter.clone()).unwrap_or_default();
    let explained = Explained {
        namespace: namespace.to_owned(),
        collection,
        search,
        given,
        skip: 0,
        limit: None,
        projected: false,
        top: None,
    };
    let mut stages: Vec<Document> = run.written[run.covered()..]
        .iter()
        .filter_map(|stage| stage.as_document().cloned())
        .collect();
    let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let stats = cost.map(|cost| {
        if let Some(last) = stages.last_mut() {
            last.insert("nReturned", number(load(&cost.returned)));
        }
        let matched = load(&cost.matched);
        Stats {
            returned: matched,
            matched,
            keys: load(&cost.keys),
            documents: load(&cost.documents),
            ..Stats::default()
        }
    });
    reply(context, &explained, verbosity, context.body, Some((stages, stats)))
}

fn reply(
    context: &Context<'_>,
    explained: &Explained,
    verbosity: Verbosity,
    body: &RawDocument,
    pipeline: Option<(Vec<Document>, Option<Stats>)>,
) -> Result<RawDocumentBuf> {
    let shape = explained.collection.as_ref().map(|collection| collection.shape());
    let plan = match &shape {
        Some(shape) => explained.search.plan(&explained.namespace, shape)?,
        None => Plan { access: Access::Nothing, sorted: true },
    };
    let (stages, measured) = pipeline.unzip();
    let stats = match (verbosity, measured, &explained.collection, &shape) {
        (_, Some(measured), ..) => measured,
        (Verbosity::Planner, ..) => None,
        (_, None, Some(collection), Some(shape)) => {
            Some(run(context, explained, collection, shape, &plan)?)
        }
        (_, None, ..) => Some(Stats::default()),
    };
    let mut told = doc! {
        "queryPlanner": {
            "namespace": &explained.namespace,
            "indexFilterSet": false,
            "parsedQuery": parsed(&explained.given),
            "maxIndexedOrSolutionsReached": false,
            "maxIndexedAndSolutionsReached": false,
            "maxScansToExplodeReached": false,
            "winningPlan": tree(explained, shape.as_deref(), &plan, None),
            "rejectedPlans": [],
        },
    };
    if let Some(stats) = stats {
        let mut execution = doc! {
            "executionSuccess": true,
            "nReturned": number(stats.returned),
            "executionTimeMillis": number(stats.millis),
            "totalKeysExamined": number(stats.keys),
            "totalDocsExamined": number(stats.documents),
            "executionStages": tree(explained, shape.as_deref(), &plan, Some(&stats)),
        };
        if verbosity == Verbosity::AllPlans {
            execution.insert("allPlansExecution", Bson::Array(Vec::new()));
        }
        told.insert("executionStats", execution);
    }
    let mut found = doc! { "explainVersion": "1" };
    match stages {
        Some(stages) if !stages.is_empty() => {
            let mut list = vec![doc! { "$cursor": told }];
            list.extend(stages);
            found.insert("stages", list);
        }
        _ => found.extend(told),
    }
    let mut command = decode(body)?;
    command.insert("$db", context.database);
    found.insert("command", command);
    found.insert(
        "serverInfo",
        doc! {
            "host": super::information::host(),
            "port": 27017,
            "version": super::information::VERSION,
            "gitVersion": "0000000000000000000000000000000000000000",
        },
    );
    found.insert("ok", 1.0);
    encode(&found)
}

/// What running a search cost.
#[derive(Default)]
struct Stats {
    /// Keys, for each part of a union.
    branches: Vec<u64>,
    returned: u64,
    matched: u64,
    keys: u64,
    documents: u64,
    millis: u64,
}

/// Runs the search and counts. Nothing is written.
fn run(
    context: &Context<'_>,
    explained: &Explained,
    collection: &Arc<Collection>,
    shape: &Shape,
    plan: &Plan,
) -> Result<Stats> {
    let begin = Instant::now();
    let mut stats = Stats::default();
    if explained.top == Some("COUNT")
        && explained.search.filter.is_all()
        && matches!(plan.access, Access::Scan { .. })
    {
        // The count is kept; nothing is looked at.
        return Ok(stats);
    }
    let mut scan = Scan::new(collection, shape, plan);
    let counted = explained.counts_keys(plan, shape);
    if counted {
        scan = scan.without_documents();
    }
    let reading = context.storage().reading()?;
    let (all, filter) = (counted || explained.search.filter.is_all(), &explained.search.filter);
    let enough =
        explained.limit.filter(|_| plan.sorted).map(|limit| limit.saturating_add(explained.skip));
    scan.run(&reading, &context.interrupt, &mut |_, bytes| {
        if all || filter.matches(&decode(storage::document(bytes)?)?)? {
            stats.matched += 1;
        }
        Ok(if Some(stats.matched) == enough { Flow::Stop } else { Flow::On })
    })?;
    stats.keys = scan.keys_examined;
    stats.documents = scan.documents_examined;
    stats.branches = scan.keys_of_branches;
    let returned =
        stats.matched.saturating_sub(explained.skip).min(explained.limit.unwrap_or(u64::MAX));
    stats.returned = if explained.top.is_some() { 0 } else { returned };
    stats.millis = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(stats)
}

impl Explained {
    /// Whether it only counts entries of an index.
    fn counts_keys(&self, plan: &Plan, shape: &Shape) -> bool {
        self.top == Some("COUNT") && self.search.answered(plan, shape)
    }
}

/// A stage that reads an index.
fn index_scan(
    stage: &str,
    index: &Index,
    bounds: Document,
    reverse: bool,
    keys: Option<u64>,
) -> Document {
    let definition = &index.definition;
    let mut scan = doc! { "stage": stage };
    if let Some(keys) = keys {
        scan.insert("nReturned", number(keys));
    }
    scan.extend(doc! {
        "keyPattern": definition.key(),
        "indexName": &definition.name,
        "isMultiKey": index.multikey() != 0,
        "isUnique": definition.unique,
        "isSparse": definition.sparse,
        "isPartial": definition.partial.is_some(),
        "indexVersion": 2,
        "direction": if reverse { "backward" } else { "forward" },
        "indexBounds": bounds,
    });
    if let Some(keys) = keys {
        scan.insert("keysExamined", number(keys));
    }
    scan
}

/// The stage that fetches what an index leads to, and asks what is left to ask.
fn fetch(filter: Document, input: Document, stats: Option<&Stats>) -> Document {
    let mut fetch = doc! { "stage": "FETCH" };
    if let Some(stats) = stats {
        fetch.insert("nReturned", number(stats.matched));
    }
    if !filter.is_empty() {
        fetch.insert("filter", filter);
    }
    if let Some(stats) = stats {
        fetch.insert("docsExamined", number(stats.documents));
    }
    fetch.insert("inputStage", input);
    fetch
}

/// The plan as a tree of stages, outermost first; with what they cost, if that is known.
fn tree(
    explained: &Explained,
    shape: Option<&Shape>,
    plan: &Plan,
    stats: Option<&Stats>,
) -> Document {
    let filter = parsed(&explained.given);
    let matched = stats.map(|stats| stats.matched);
    let returned = stats.map(|stats| {
        stats.matched.saturating_sub(explained.skip).min(explained.limit.unwrap_or(u64::MAX))
    });
    let with = |mut stage: Document, returned: Option<u64>| {
        if let Some(returned) = returned {
            stage.insert("nReturned", number(returned));
        }
        stage
    };
    let mut tree = match (&plan.access, shape) {
        (Access::Nothing, _) | (_, None) => with(doc! { "stage": "EOF" }, matched),
        (Access::Scan { reverse }, Some(_)) => {
            let mut stage = with(doc! { "stage": "COLLSCAN" }, matched);
            if !filter.is_empty() {
                stage.insert("filter", filter);
            }
            stage.insert("direction", if *reverse { "backward" } else { "forward" });
            if let Some(stats) = stats {
                stage.insert("docsExamined", number(stats.documents));
            }
            stage
        }
        (Access::Id(_), Some(_)) => {
            let mut stage = with(doc! { "stage": "IDHACK" }, matched);
            if let Some(stats) = stats {
                stage.insert("keysExamined", number(stats.keys));
                stage.insert("docsExamined", number(stats.documents));
            }
            stage
        }
        (Access::Index { at, reverse, .. }, Some(shape)) => {
            let index = &shape.indexes[*at];
            let (definition, multikey) = (&index.definition, index.multikey());
            let bounds = index::describe(definition, multikey, &explained.search.filter, *reverse);
            let counted = explained.counts_keys(plan, shape);
            let name = if counted { "COUNT_SCAN" } else { "IXSCAN" };
            let scan = index_scan(name, index, bounds, *reverse, stats.map(|stats| stats.keys));
            if counted {
                scan
            } else {
                let answered = explained.search.answered(plan, shape);
                let filter = if answered { Document::new() } else { filter };
                fetch(filter, scan, stats)
            }
        }
        (Access::Union(branches), Some(shape)) => {
            let scans = branches.iter().enumerate().map(|(branch, (at, _))| {
                let index = &shape.indexes[*at];
                let (definition, multikey) = (&index.definition, index.multikey());
                let filter = &explained.search.filter;
                let bounds = index::describe_branch(definition, multikey, filter, branch);
                let keys = stats.map(|stats| stats.branches.get(branch).copied().unwrap_or(0));
                index_scan("IXSCAN", index, bounds, false, keys)
            });
            let scans: Vec<_> = scans.collect();
            let mut or = with(doc! { "stage": "OR" }, stats.map(|stats| stats.documents));
            or.insert("inputStages", scans);
            let tree = fetch(filter.clone(), or, stats);
            if filter.len() == 1 && filter.contains_key("$or") {
                let mut whole = with(doc! { "stage": "SUBPLAN" }, matched);
                whole.insert("inputStage", tree);
                whole
            } else {
                tree
            }
        }
    };
    let mut wrap = |mut stage: Document, returned: Option<u64>| {
        stage = with(stage, returned);
        stage.insert("inputStage", std::mem::take(&mut tree));
        tree = stage;
    };
    if !plan.sorted {
        let pattern: Document = explained
            .search
            .sort
            .keys()
            .iter()
            .map(|key| {
                (key.path.text().to_owned(), Bson::Int32(if key.descending { -1 } else { 1 }))
            })
            .collect();
        wrap(
            doc! { "stage": "SORT", "sortPattern": pattern, "memLimit": 104_857_600, "type": "simple" },
            matched,
        );
    }
    if explained.skip > 0 {
        wrap(doc! { "stage": "SKIP", "skipAmount": number(explained.skip) }, returned);
    }
    if let (Some(limit), None) = (explained.limit, explained.top) {
        wrap(doc! { "stage": "LIMIT", "limitAmount": number(limit) }, returned);
    }
    if explained.projected {
        wrap(doc! { "stage": "PROJECTION_DEFAULT" }, returned);
    }
    if let Some(top) = explained.top {
        let kept = top == "COUNT"
            && explained.search.filter.is_all()
            && matches!(plan.access, Access::Scan { .. });
        if kept {
            return with(doc! { "stage": "RECORD_STORE_FAST_COUNT" }, stats.map(|_| 0));
        }
        let mut stage = doc! { "stage": top };
        if let Some(matched) = returned {
            match top {
                "COUNT" => stage.insert("nCounted", number(matched)),
                "DELETE" => stage.insert("nWouldDelete", number(matched)),
                _ => stage.insert("nMatched", number(matched)),
            };
        }
        wrap(stage, stats.map(|_| 0));
    }
    tree
}

/// A query as the planner writes it: each condition spelled out.
fn parsed(query: &Document) -> Document {
    let mut conditions = Vec::new();
    for (field, value) in query {
        match value {
            _ if field.starts_with('$') => conditions.push(doc! { field: value.clone() }),
            Bson::Document(operators)
                if operators.keys().next().is_some_and(|name| name.starts_with('$')) =>
            {
                conditions.extend(
                    operators
                        .iter()
                        .map(|(operator, value)| doc! { field: { operator: value.clone() } }),
                );
            }
            Bson::RegularExpression(regex) => {
                conditions.push(doc! { field: { "$regex": regex.pattern.as_str() } });
            }
            value => conditions.push(doc! { field: { "$eq": value.clone() } }),
        }
    }
    match conditions.len() {
        0 => Document::new(),
        1 => conditions.swap_remove(0),
        _ => doc! { "$and": conditions },
    }
}
