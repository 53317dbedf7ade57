//! `aggregate`: a pipeline over a collection, a view, or documents that a first stage makes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::{Bson, DateTime, Document, RawBsonRef, RawDocumentBuf, doc};

use super::Command;
use super::context::{Context, count as tick};
use super::cursor::{Cursor, Feed};
use super::definition::{batch_size, size_on_disk};
use super::explain::Verbosity;
use super::fields::{Fields, decode};
use super::output::Output;
use super::read::encode;
use super::scan::{Flow, Scan};
use super::search::Search;
use super::spool::{Spool, Unspooled};
use super::{explain, name};
use crate::engine::Shared;
use crate::engine::aggregate::{self, Collections, Documents, Pipeline};
use crate::engine::expr::Scope;
use crate::engine::index::check_collation;
use crate::engine::query::Filter;
use crate::engine::storage::{self, Collection, Kind, Reading};
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use crate::refuse;

pub(super) const COMMANDS: &[Command] = &[Command {
    name: "aggregate",
    aliases: &[],
    help: "documents sent through the stages of a pipeline",
    admin_only: false,
    run: aggregate,
}];

/// What stands in front of an error that a document raises.
const RUNNING: &str = "PlanExecutor error during aggregation :: caused by :: ";

/// How deep views may stand on views.
const DEEPEST_VIEW: usize = 20;

/// Documents fetched from storage at once.
const CHUNK: usize = 256;

fn aggregate(context: &Context<'_>) -> Result<RawDocumentBuf> {
    answer(context, Verbosity::Planner)
}

/// Runs the command, or explains it, so fully, where it says `explain`.
pub(super) fn answer(context: &Context<'_>, verbosity: Verbosity) -> Result<RawDocumentBuf> {
    tick(&context.shared.tally.command);
    let name = match context.body.iter().next() {
        Some(Ok((_, RawBsonRef::String(_)))) => Some(context.collection_name()?),
        Some(Ok((_, value))) if super::fields::integer(value) == Some(1) => None,
        _ => {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Invalid command format: the 'aggregate' field must specify a collection name or 1"
            ));
        }
    };
    let fields = Fields::command("aggregate", context.body)?;
    let stages = match fields.value("pipeline") {
        Some(RawBsonRef::Array(stages)) => stages
            .into_iter()
            .map(|stage| match stage.map_err(|error| refuse!(INVALID_BSON, "{error}"))? {
                RawBsonRef::Document(stage) => Ok(Bson::Document(decode(stage)?)),
                _ => Err(refuse!(
                    TYPE_MISMATCH,
                    "Each element of the 'pipeline' array must be an object"
                )),
            })
            .collect::<Result<Vec<_>>>()?,
        Some(_) => {
            return Err(refuse!(TYPE_MISMATCH, "'pipeline' option must be specified as an array"));
        }
        None => fields.required("pipeline", None)?,
    };
    let explained = fields.loose_flag("explain")?;
    let has_cursor = fields.value("cursor").is_some();
    let size = batch_size(&fields)?;
    let disk = fields.flag("allowDiskUse")?.unwrap_or(true);
    let hint = fields.value("hint");
    let variables = fields.raw_document("let")?;
    let bypass = fields.loose_flag("bypassDocumentValidation")?;
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.ignore(&["exchange", "fromMongos", "needsMerge", "isMapReduceCommand"]);
    fields.finish()?;
    if !has_cursor && !explained {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "The 'cursor' option is required, except for aggregate with the explain argument"
        ));
    }
    let scope = context.scope(variables)?;
    let target = name.unwrap_or("$cmd.aggregate");
    let namespace = context.namespace(target);
    let run = Run::compile(context, name, stages, &scope, hint)?;
    if explained {
        let cost = match verbosity {
            Verbosity::Planner => None,
            Verbosity::Execution | Verbosity::AllPlans => {
                Some(run.cost(context, &surroundings(context, scope))?)
            }
        };
        return explain::pipeline(context, &namespace, &run, verbosity, cost.as_deref());
    }
    let mut surroundings = surroundings(context, scope);
    surroundings.allow_disk_use = disk;
    let mut documents = Spool::default();
    run.execute(context, &surroundings, bypass, &mut |document| {
        documents.push(&encode(&document)?)
    })?;
    let feed = Feed::Spool(documents.finish()?);
    Cursor { namespace, feed, skip: 0, limit: None, keep: false, tailable: false }
        .open(context, size, false)
}

fn surroundings(context: &Context<'_>, scope: Scope) -> aggregate::Context {
    let others = Others {
        shared: Arc::clone(context.shared),
        database: context.database.to_owned(),
        interrupt: context.interrupt.clone(),
        depth: 0,
    };
    aggregate::Context::new(scope, context.interrupt.clone()).with_collections(Arc::new(others))
}

/// The documents of a view, sent through further stages.
pub(super) fn of_view(
    context: &Context<'_>,
    name: &str,
    stages: Vec<Bson>,
    scope: &Scope,
) -> Result<Unspooled> {
    let mut documents = Spool::default();
    each(context, name, stages, scope, &mut |document| documents.push(&encode(&document)?))?;
    documents.finish()
}

/// Gives what comes out when a collection or view is sent through stages.
pub(super) fn each(
    context: &Context<'_>,
    name: &str,
    stages: Vec<Bson>,
    scope: &Scope,
    give: &mut dyn FnMut(Document) -> Result<()>,
) -> Result<()> {
    let run = Run::compile(context, Some(name), stages, scope, None)?;
    run.execute(context, &surroundings(context, scope.clone()), false, give)
}

/// An aggregation, compiled: where documents come from, what they go through, where they end.
pub(super) struct Run {
    source: Source,
    /// Stages that the source has done already.
    covered: usize,
    pub(super) pipeline: Pipeline,
    /// The stages as they were written, those of views included.
    pub(super) written: Vec<Bson>,
    output: Option<Output>,
}

/// Where a pipeline's documents come from.
enum Source {
    /// Nowhere: the collection does not exist.
    Nothing,
    Collection(Arc<Collection>, String, Box<Search>),
    /// Made by a first stage.
    Made(Vec<Document>),
}

impl Run {
    fn compile(
        context: &Context<'_>,
        name: Option<&str>,
        mut stages: Vec<Bson>,
        scope: &Scope,
        hint: Option<RawBsonRef<'_>>,
    ) -> Result<Self> {
        let output = Output::take(context, &mut stages)?;
        let made = match first_stage(&stages) {
            Some((stage, argument)) => make(context, name, stage, argument, scope)?,
            None => None,
        };
        if let Some(made) = made {
            stages.remove(0);
            let pipeline = Pipeline::parse(&stages, scope)?;
            let (source, written) = (Source::Made(made), stages);
            return Ok(Self { source, covered: 0, pipeline, written, output });
        }
        let Some(name) = name else {
            let first = first_stage(&stages).map_or("", |(stage, _)| stage);
            return Err(refuse!(
                INVALID_NAMESPACE,
                "{{aggregate: 1}} is not valid for '{first}'; a collection is required."
            ));
        };
        let (name, stages) = through_views(context.shared, context.database, name, stages)?;
        let pipeline = Pipeline::parse(&stages, scope)?;
        let Some(collection) = context.collection(&name) else {
            let (source, written) = (Source::Nothing, stages);
            return Ok(Self { source, covered: 0, pipeline, written, output });
        };
        let (filter, covered) = match pipeline.leading_match() {
            Some((filter, covered)) => (filter.clone(), covered),
            None => (Document::new(), 0),
        };
        let sort = if covered == 0 { leading_sort(&stages) } else { Document::new() };
        let mut search = Search::new(&filter, &sort, hint, scope)?;
        let namespace = context.namespace(&name);
        // An index may spare the sort; when it does not, the stage sorts.
        if !sort.is_empty() && !search.plan(&namespace, &collection.shape())?.sorted {
            search = Search::new(&filter, &Document::new(), hint, scope)?;
        }
        search.plan(&namespace, &collection.shape())?;
        Ok(Self {
            source: Source::Collection(collection, namespace, Box::new(search)),
            covered,
            pipeline,
            written: stages,
            output,
        })
    }

    /// How many stages the search does.
    pub(super) fn covered(&self) -> usize {
        self.covered
    }

    /// The search that feeds it, with its namespace and collection.
    pub(super) fn search(&self) -> Option<(&Arc<Collection>, &str, &Search)> {
        match &self.source {
            Source::Collection(collection, namespace, search) => {
                Some((collection, namespace, search))
            }
            Source::Nothing | Source::Made(_) => None,
        }
    }

    /// What goes into the pipeline; `cost` counts what is read for it.
    fn input(&self, context: &Context<'_>, cost: Option<&Arc<Cost>>) -> Result<Documents<'_>> {
        Ok(match &self.source {
            Source::Nothing => Box::new(std::iter::empty()),
            Source::Made(documents) => Box::new(documents.iter().cloned().map(Ok)),
            Source::Collection(collection, namespace, search) => {
                let (scan, _) = search.scan(namespace, collection)?;
                let reading = context.storage().reading()?;
                let (filter, interrupt) = (search.filter.clone(), context.interrupt.clone());
                let mut stream = Stream::new(reading, scan, filter, interrupt);
                stream.cost = cost.map(Arc::clone);
                Box::new(stream)
            }
        })
    }

    /// Runs it without writing anything and counts.
    fn cost(&self, context: &Context<'_>, surroundings: &aggregate::Context) -> Result<Arc<Cost>> {
        let cost = Arc::new(Cost::default());
        let input = self.input(context, Some(&cost))?;
        for document in self.pipeline.run_from(self.covered, input, surroundings) {
            document?;
            cost.returned.fetch_add(1, Ordering::Relaxed);
        }
        Ok(cost)
    }

    /// Runs it and gives what comes out.
    fn execute(
        &self,
        context: &Context<'_>,
        surroundings: &aggregate::Context,
        bypass: bool,
        give: &mut dyn FnMut(Document) -> Result<()>,
    ) -> Result<()> {
        let running = |error: Error| match error.code() {
            Some(Code::MAX_TIME_MS_EXPIRED) => error,
            _ => error.prefixed(RUNNING),
        };
        let input = self.input(context, None)?;
        let documents = self.pipeline.run_from(self.covered, input, surroundings);
        match &self.output {
            None => {
                for document in documents {
                    give(document.map_err(running)?)?;
                }
            }
            Some(output) => output.write(
                context,
                documents.map(|document| document.map_err(running)),
                bypass,
            )?,
        }
        Ok(())
    }
}

/// Name and argument of the first stage.
fn first_stage(stages: &[Bson]) -> Option<(&str, &Bson)> {
    let stage = stages.first()?.as_document()?;
    stage.iter().next().map(|(name, argument)| (name.as_str(), argument))
}

/// The order that a pipeline begins with.
fn leading_sort(stages: &[Bson]) -> Document {
    match first_stage(stages) {
        Some(("$sort", Bson::Document(sort)))
            if !sort.values().any(|order| matches!(order, Bson::Document(_))) =>
        {
            sort.clone()
        }
        _ => Document::new(),
    }
}

/// The documents of a stage that needs no input; `None` for another stage.
fn make(
    context: &Context<'_>,
    name: Option<&str>,
    stage: &str,
    argument: &Bson,
    scope: &Scope,
) -> Result<Option<Vec<Document>>> {
    let object = || match argument {
        Bson::Document(argument) => Ok(argument),
        other => Err(refuse!(
            FAILED_TO_PARSE,
            "{stage} must take an object, but found: {}",
            crate::value::text::value(other)
        )),
    };
    let collection = || {
        let name = name.unwrap_or_default();
        context.collection(name).ok_or_else(|| {
            refuse!(NAMESPACE_NOT_FOUND, "Collection [{}] not found.", context.namespace(name))
        })
    };
    match stage {
        "$documents" => {
            let expression = crate::engine::expr::Expression::parse(argument, scope)?;
            let value = expression.evaluate(&Document::new(), scope)?;
            let refused = || {
                Error::command(
                    Code(5858203),
                    "an array is expected, but found something else in $documents",
                )
            };
            let Some(Bson::Array(elements)) = value else { return Err(refused()) };
            let documents = elements.into_iter().map(|element| match element {
                Bson::Document(document) => Ok(document),
                _ => Err(refused()),
            });
            documents.collect::<Result<Vec<_>>>().map(Some)
        }
        "$collStats" => {
            let (wanted, collection) = (object()?, collection()?);
            let mut found = doc! {
                "ns": context.namespace(name.unwrap_or_default()),
                "host": super::information::host(),
                "localTime": DateTime::now(),
            };
            if wanted.contains_key("storageStats") {
                found.insert("storageStats", storage_stats(&collection));
            }
            if wanted.contains_key("count") {
                found.insert("count", number(collection.documents()));
            }
            Ok(Some(vec![found]))
        }
        "$currentOp" => {
            object()?;
            if name.is_some() || context.database != "admin" {
                return Err(refuse!(
                    INVALID_NAMESPACE,
                    "$currentOp must be run against the 'admin' database with {{aggregate: 1}}"
                ));
            }
            Ok(Some(vec![super::administration::this_operation(context)?]))
        }
        "$listLocalSessions" => {
            object()?;
            if name.is_some() {
                return Err(refuse!(
                    INVALID_NAMESPACE,
                    "$listLocalSessions must be run against the database with {{aggregate: 1}}, not a collection"
                ));
            }
            Ok(Some(Vec::new()))
        }
        // Plans are chosen anew for each query.
        "$planCacheStats" => {
            if !object()?.is_empty() {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "$planCacheStats parameters object must be empty or contain only a 'allHosts' boolean"
                ));
            }
            Ok(Some(Vec::new()))
        }
        "$indexStats" => {
            object()?;
            let collection = collection()?;
            let shape = collection.shape();
            let age = context.shared.tally.started.elapsed().as_millis();
            let age = i64::try_from(age).unwrap_or(i64::MAX);
            let now = DateTime::now().timestamp_millis();
            let since = DateTime::from_millis(now.saturating_sub(age));
            let found = shape.indexes.iter().map(|index| {
                doc! {
                    "name": &index.definition.name,
                    "key": index.definition.key(),
                    "host": super::information::host(),
                    "accesses": { "ops": index.uses().cast_signed(), "since": since },
                    "spec": index.definition.spec.clone(),
                }
            });
            Ok(Some(found.collect()))
        }
        _ => Ok(None),
    }
}

/// A number as the server sends it: int32 while that is enough.
pub(super) fn number(value: u64) -> Bson {
    i32::try_from(value).map_or_else(|_| Bson::Int64(value.cast_signed()), Bson::Int32)
}

/// What `collStats` and `$collStats` tell of a collection.
pub(super) fn storage_stats(collection: &Collection) -> Document {
    let shape = collection.shape();
    let (documents, bytes) = (collection.documents(), collection.bytes());
    let sizes: Document = shape
        .indexes
        .iter()
        .map(|index| (index.definition.name.clone(), number(size_on_disk(0))))
        .collect();
    let mut stats = doc! {
        "size": number(bytes),
        "count": number(documents),
        "storageSize": number(size_on_disk(bytes)),
        "totalIndexSize": number(size_on_disk(0) * shape.indexes.len() as u64),
        "totalSize": number(size_on_disk(bytes) + size_on_disk(0) * shape.indexes.len() as u64),
        "indexSizes": sizes,
        "nindexes": number(shape.indexes.len() as u64),
        "capped": shape.options.contains_key("capped"),
    };
    if let Some(average) = bytes.checked_div(documents) {
        stats.insert("avgObjSize", number(average));
    }
    for (listed, option) in [("max", "max"), ("maxSize", "size")] {
        if let Some(value) = shape.options.get(option) {
            stats.insert(listed, value.clone());
        }
    }
    stats
}

/// The collection under a name that may be a view's, and the stages with those of the views in front.
pub(super) fn through_views(
    shared: &Shared,
    database: &str,
    name: &str,
    mut stages: Vec<Bson>,
) -> Result<(String, Vec<Bson>)> {
    let mut name = name.to_owned();
    for _ in 0..DEEPEST_VIEW {
        let Some(collection) = shared.storage.collection(database, &name) else {
            return Ok((name, stages));
        };
        let shape = collection.shape();
        if shape.kind() == Kind::Collection {
            return Ok((name, stages));
        }
        let mut whole = shape.options.get_array("pipeline").cloned().unwrap_or_default();
        whole.append(&mut stages);
        stages = whole;
        name = shape.options.get_str("viewOn").unwrap_or_default().to_owned();
        name::check_readable(database, &name)?;
    }
    Err(Error::command(
        Code(165),
        format!("View depth limit exceeded; maximum depth is {DEEPEST_VIEW}"),
    ))
}

/// The documents of a scan that match a filter, fetched chunk by chunk.
pub(super) struct Stream {
    reading: Reading,
    scan: Scan,
    filter: Filter,
    interrupt: Interrupt,
    chunk: std::vec::IntoIter<Document>,
    failed: bool,
    /// Where it is counted, for `explain`.
    cost: Option<Arc<Cost>>,
}

/// What running a pipeline cost.
#[derive(Default)]
pub(super) struct Cost {
    pub(super) keys: AtomicU64,
    pub(super) documents: AtomicU64,
    /// What the first stages were given.
    pub(super) matched: AtomicU64,
    /// What came out of the last one.
    pub(super) returned: AtomicU64,
}

impl Stream {
    pub(super) fn new(reading: Reading, scan: Scan, filter: Filter, interrupt: Interrupt) -> Self {
        let chunk = Vec::new().into_iter();
        Self { reading, scan, filter, interrupt, chunk, failed: false, cost: None }
    }
}

impl Iterator for Stream {
    type Item = Result<Document>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(document) = self.chunk.next() {
                return Some(Ok(document));
            }
            if self.failed || self.scan.is_done() {
                return None;
            }
            let mut chunk = Vec::with_capacity(CHUNK);
            let (filter, all) = (&self.filter, self.filter.is_all());
            let outcome = self.scan.run(&self.reading, &self.interrupt, &mut |_, bytes| {
                let document = decode(storage::document(bytes)?)?;
                if all || filter.matches(&document)? {
                    chunk.push(document);
                }
                Ok(if chunk.len() == CHUNK { Flow::Stop } else { Flow::On })
            });
            if let Some(cost) = &self.cost {
                cost.keys.store(self.scan.keys_examined, Ordering::Relaxed);
                cost.documents.store(self.scan.documents_examined, Ordering::Relaxed);
                cost.matched.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            }
            self.chunk = chunk.into_iter();
            if let Err(error) = outcome {
                self.failed = true;
                return Some(Err(error));
            }
        }
    }
}

/// The other collections of a database, for `$lookup` and its kin.
struct Others {
    shared: Arc<Shared>,
    database: String,
    interrupt: Interrupt,
    depth: usize,
}

impl fmt::Debug for Others {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Others").field("database", &self.database).finish_non_exhaustive()
    }
}

impl Collections for Others {
    fn scan(&self, name: &str, filter: &Document) -> Result<Documents<'_>> {
        let scope = Scope::new(DateTime::now()).with_functions(self.shared.hook());
        let (base, stages) = through_views(&self.shared, &self.database, name, Vec::new())?;
        let Some(collection) = self.shared.storage.collection(&self.database, &base) else {
            return Ok(Box::new(std::iter::empty()));
        };
        let namespace = format!("{}.{base}", self.database);
        let reading = self.shared.storage.reading()?;
        if stages.is_empty() {
            let search = Search::new(filter, &Document::new(), None, &scope)?;
            let (scan, _) = search.scan(&namespace, &collection)?;
            return Ok(Box::new(Stream::new(reading, scan, search.filter, self.interrupt.clone())));
        }
        if self.depth == DEEPEST_VIEW {
            return Err(Error::command(
                Code(165),
                format!("View depth limit exceeded; maximum depth is {DEEPEST_VIEW}"),
            ));
        }
        // A view's documents are gathered: what its pipeline is made of ends with this call.
        let search = Search::new(&Document::new(), &Document::new(), None, &scope)?;
        let (scan, _) = search.scan(&namespace, &collection)?;
        let pipeline = Pipeline::parse(&stages, &scope)?;
        let others = Self {
            shared: Arc::clone(&self.shared),
            database: self.database.clone(),
            interrupt: self.interrupt.clone(),
            depth: self.depth + 1,
        };
        let surroundings = aggregate::Context::new(scope.clone(), self.interrupt.clone())
            .with_collections(Arc::new(others));
        let stream = Stream::new(reading, scan, search.filter, self.interrupt.clone());
        let filter = Filter::parse(filter, &scope)?;
        let mut found = Vec::new();
        for document in pipeline.run(Box::new(stream), &surroundings) {
            let document = document?;
            if filter.matches(&document)? {
                found.push(Ok(document));
            }
        }
        Ok(Box::new(found.into_iter()))
    }
}
