//! Commands that read: `find`, `getMore`, `killCursors`, `count`, `distinct`.

use std::collections::{BTreeSet, VecDeque};

use bson::{Bson, Document, RawBsonRef, RawDocumentBuf, doc, rawdoc};

use super::context::{Context, count as tick};
use super::cursor::{Cursor, Feed, View};
use super::fields::{Fields, decode, integer};
use super::scan::{Flow, Scan};
use super::search::Search;
use super::spool::Unspooled;
use super::storable::LARGEST_DOCUMENT;
use super::{Command, aggregate};
use crate::engine::expr::Scope;
use crate::engine::index::{Access, check_collation};
use crate::engine::query::Projection;
use crate::engine::storage::{self, Bytes, Kind};
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::value::{key, path};

pub(super) const COMMANDS: &[Command] = &[
    Command {
        name: "count",
        aliases: &[],
        help: "how many documents match a query",
        admin_only: false,
        run: count,
    },
    Command {
        name: "distinct",
        aliases: &[],
        help: "the values that a field has",
        admin_only: false,
        run: distinct,
    },
    Command {
        name: "find",
        aliases: &[],
        help: "the documents that match a filter",
        admin_only: false,
        run: find,
    },
    Command {
        name: "getMore",
        aliases: &[],
        help: "the next batch of a cursor",
        admin_only: false,
        run: get_more,
    },
    Command {
        name: "killCursors",
        aliases: &[],
        help: "closes cursors",
        admin_only: false,
        run: kill_cursors,
    },
];

/// The most bytes that a sort may hold.
const SORT_MEMORY: usize = 100 * 1024 * 1024;

/// The command `find`, compiled.
pub(super) struct Find<'a> {
    name: &'a str,
    pub(super) search: Search,
    pub(super) projection: Option<Projection>,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    size: Option<u64>,
    single: bool,
    keep: bool,
    tailable: bool,
    /// Whether the number of its record is added to each document.
    numbered: bool,
    /// Whether a sort may go beyond the memory limit.
    disk: bool,
    scope: Scope,
    /// For the pipeline that it is on a view.
    given: (Document, Document, Document),
}

impl<'a> Find<'a> {
    pub(super) fn parse(context: &Context<'a>) -> Result<Self> {
        let name = context.collection_name()?;
        let fields = Fields::command("FindCommandRequest", context.body)?;
        let filter = fields.document("filter")?.unwrap_or_default();
        let sort = fields.document("sort")?.unwrap_or_default();
        let projection = fields.document("projection")?.unwrap_or_default();
        let skip = fields.count("skip")?.unwrap_or(0);
        let limit = fields.count("limit")?.filter(|limit| *limit > 0);
        let size = fields.count("batchSize")?;
        let single = fields.flag("singleBatch")?.unwrap_or(false);
        let hint = fields.value("hint");
        let keep = fields.flag("noCursorTimeout")?.unwrap_or(false);
        let tailable = fields.flag("tailable")?.unwrap_or(false);
        let variables = fields.raw_document("let")?;
        if let Some(collation) = fields.document("collation")? {
            check_collation(&Bson::Document(collation))?;
        }
        let (min, max) = (fields.document("min")?, fields.document("max")?);
        let numbered = fields.loose_flag("showRecordId")?;
        if fields.loose_flag("returnKey")? {
            return Err(super::unsupported("`returnKey` of find"));
        }
        if fields.flag("awaitData")?.unwrap_or(false) && !tailable {
            let words = "Cannot set 'awaitData' without also setting 'tailable'";
            return Err(refuse!(FAILED_TO_PARSE, "{words}"));
        }
        // 7.0 lets a sort use the disk where it is not told otherwise; here it stays in memory, which changes no result.
        let disk = fields.flag("allowDiskUse")?.unwrap_or(true);
        fields.ignore(&["oplogReplay", "allowPartialResults"]);
        fields.finish()?;
        let scope = context.scope(variables)?;
        let search = Search::new(&filter, &sort, hint, &scope)?
            .within(min.unwrap_or_default(), max.unwrap_or_default())?
            .showing(&projection);
        let compiled = if projection.is_empty() {
            None
        } else {
            Some(Projection::parse(&projection, &scope)?)
        };
        Ok(Self {
            name,
            search,
            projection: compiled,
            skip,
            limit,
            size,
            single,
            keep,
            tailable,
            numbered,
            disk,
            scope,
            given: (filter, sort, projection),
        })
    }

    /// The pipeline that gives the same documents.
    fn pipeline(&self) -> Vec<Bson> {
        let (filter, sort, projection) = &self.given;
        let mut stages = Vec::new();
        let mut add =
            |stage: &str, argument: Bson| stages.push(Bson::Document(doc! { stage: argument }));
        if !filter.is_empty() {
            add("$match", filter.clone().into());
        }
        if !sort.is_empty() {
            add("$sort", sort.clone().into());
        }
        if self.skip > 0 {
            add("$skip", self.skip.cast_signed().into());
        }
        if let Some(limit) = self.limit {
            add("$limit", limit.cast_signed().into());
        }
        if !projection.is_empty() {
            add("$project", projection.clone().into());
        }
        stages
    }
}

fn find(context: &Context<'_>) -> Result<RawDocumentBuf> {
    tick(&context.shared.tally.query);
    let find = Find::parse(context)?;
    let namespace = context.namespace(find.name);
    let Some(collection) = context.collection(find.name) else {
        let feed = Feed::Spool(VecDeque::new().into());
        return Cursor { namespace, feed, skip: 0, limit: None, keep: false, tailable: false }
            .open(context, None, true);
    };
    let shape = collection.shape();
    if shape.kind() == Kind::View {
        let feed =
            Feed::Spool(aggregate::of_view(context, find.name, find.pipeline(), &find.scope)?);
        return Cursor { namespace, feed, skip: 0, limit: None, keep: find.keep, tailable: false }
            .open(context, find.size, find.single);
    }
    if find.tailable && !shape.options.contains_key("capped") {
        return Err(find
            .search
            .refused(&namespace, "tailable cursor requested on non capped collection"));
    }
    // A cursor has no end to wait at before there is a first document.
    let tailable = find.tailable && collection.documents() > 0;
    let Find { search, projection, skip, limit, size, single, keep, numbered, disk, scope, .. } =
        find;
    let (mut scan, plan) = search.scan(&namespace, &collection)?;
    let wanted = limit.map(|limit| limit.saturating_add(skip));
    let sorted =
        if plan.sorted { None } else { Some(sorted(context, &mut scan, &search, wanted, disk)?) };
    let positional = projection.as_ref().is_some_and(Projection::is_positional);
    let asked = !search.filter.is_all() && (sorted.is_none() || positional);
    let view =
        Box::new(View { filter: asked.then_some(search.filter), projection, scope, numbered });
    let feed = match sorted {
        None => Feed::Scan(Box::new(scan), view),
        Some(documents) => Feed::Sorted(documents, view),
    };
    Cursor { namespace, feed, skip, limit, keep, tailable }.open(context, size, single)
}

/// The documents a scan leads to, sorted; the first `limit` of them.
fn sorted(
    context: &Context<'_>,
    scan: &mut Scan,
    search: &Search,
    limit: Option<u64>,
    disk: bool,
) -> Result<VecDeque<(u64, Bytes)>> {
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut rows: Vec<(Vec<u8>, u64, Bytes)> = Vec::new();
    let mut memory = 0;
    let reading = context.storage().reading()?;
    let all = search.filter.is_all();
    scan.run(&reading, &context.interrupt, &mut |record, bytes| {
        let document = decode(storage::document(bytes)?)?;
        if !all && !search.filter.matches(&document)? {
            return Ok(Flow::On);
        }
        let mut encoded = Vec::new();
        for (value, key) in search.sort.key(&document)?.into_iter().zip(search.sort.keys()) {
            key::encode(value, key.descending, &mut encoded);
        }
        memory += encoded.len() + bytes.len() + 64;
        rows.push((encoded, record, bytes.clone()));
        // Keeps twice what is wanted, then the better half: a heap's work without a heap.
        if rows.len() >= limit.saturating_mul(2).max(1024) {
            rows.sort_unstable_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
            rows.truncate(limit);
            memory = rows.iter().map(|(key, _, bytes)| key.len() + bytes.len() + 64).sum();
        }
        if memory > SORT_MEMORY && !disk {
            return Err(refuse!(
                QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED,
                "Executor error during find command :: caused by :: Sort exceeded memory limit of {SORT_MEMORY} bytes, but \
                 did not opt in to external sorting."
            ));
        }
        Ok(Flow::On)
    })?;
    // Ties keep their natural order.
    rows.sort_unstable_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
    rows.truncate(limit);
    Ok(rows.into_iter().map(|(_, record, bytes)| (record, bytes)).collect())
}

fn get_more(context: &Context<'_>) -> Result<RawDocumentBuf> {
    tick(&context.shared.tally.get_more);
    let fields = Fields::command("getMore", context.body)?;
    let id = match fields.present("getMore") {
        Some(RawBsonRef::Int64(id)) => id,
        Some(other) => return Err(fields.wrong("getMore", other, "long")),
        None => 0,
    };
    let collection = fields.text("collection")?;
    let collection = fields.required("collection", collection)?;
    let size = fields.count("batchSize")?;
    fields.ignore(&["term", "lastKnownCommittedOpTime"]);
    fields.finish()?;
    context.shared.cursors.more(context, id, &context.namespace(collection), size)
}

fn kill_cursors(context: &Context<'_>) -> Result<RawDocumentBuf> {
    context.collection_name()?;
    let fields = Fields::command("killCursors", context.body)?;
    let ids = fields.array("cursors")?;
    let ids = fields.required("cursors", ids)?;
    fields.finish()?;
    let (mut killed, mut missing) = (Vec::new(), Vec::new());
    for id in ids {
        let RawBsonRef::Int64(id) = id else {
            return Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'killCursors.cursors.0' is the wrong type '{}', expected type 'long'",
                super::fields::type_name(id)
            ));
        };
        if context.shared.cursors.kill(id) { killed.push(id) } else { missing.push(id) }
    }
    let none: Vec<i64> = Vec::new();
    let reply = doc! {
        "cursorsKilled": killed,
        "cursorsNotFound": missing,
        "cursorsAlive": none.clone(),
        "cursorsUnknown": none,
        "ok": 1.0,
    };
    encode(&reply)
}

fn count(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("count", context.body)?;
    let query = fields.document("query")?.unwrap_or_default();
    // A negative limit means its absolute value, as it always did for this command.
    let limit = match fields.value("limit") {
        None => None,
        Some(value) => match integer(value) {
            Some(limit) => Some(limit.unsigned_abs()).filter(|limit| *limit > 0),
            None => return Err(fields.wrong("limit", value, "long")),
        },
    };
    let skip = fields.count("skip")?.unwrap_or(0);
    let hint = fields.value("hint");
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.ignore(&["fields", "queryOptions"]);
    fields.finish()?;
    let search = Search::new(&query, &Document::new(), hint, &context.scope(None)?)?;
    let Some(collection) = context.collection(name) else {
        return Ok(rawdoc! { "n": 0, "ok": 1.0 });
    };
    if collection.shape().kind() == Kind::View {
        let mut documents = of_view(context, name, &query)?;
        let mut total = 0;
        while documents.peek()?.is_some() {
            documents.pop();
            total += 1;
        }
        return Ok(counted(total, skip, limit));
    }
    let (mut scan, plan) = search.scan(&context.namespace(name), &collection)?;
    let answered = search.answered(&plan, &collection.shape());
    if answered {
        scan = scan.without_documents();
    }
    let total = if search.filter.is_all() && matches!(plan.access, Access::Scan { .. }) {
        collection.documents()
    } else {
        let (mut total, enough) = (0, limit.map(|limit| limit.saturating_add(skip)));
        let (reading, all) = (context.storage().reading()?, answered || search.filter.is_all());
        scan.run(&reading, &context.interrupt, &mut |_, bytes| {
            total += u64::from(all || search.filter.matches(&decode(storage::document(bytes)?)?)?);
            Ok(if Some(total) == enough { Flow::Stop } else { Flow::On })
        })?;
        total
    };
    Ok(counted(total, skip, limit))
}

/// The documents of a view that match a query.
fn of_view(context: &Context<'_>, name: &str, query: &Document) -> Result<Unspooled> {
    let stages = if query.is_empty() {
        Vec::new()
    } else {
        vec![Bson::Document(doc! { "$match": query.clone() })]
    };
    aggregate::of_view(context, name, stages, &context.scope(None)?)
}

fn counted(total: u64, skip: u64, limit: Option<u64>) -> RawDocumentBuf {
    let total = total.saturating_sub(skip).min(limit.unwrap_or(u64::MAX));
    match i32::try_from(total) {
        Ok(total) => rawdoc! { "n": total, "ok": 1.0 },
        Err(_) => rawdoc! { "n": total.cast_signed(), "ok": 1.0 },
    }
}

fn distinct(context: &Context<'_>) -> Result<RawDocumentBuf> {
    let name = context.collection_name()?;
    let fields = Fields::command("distinct", context.body)?;
    let field = fields.text("key")?;
    let field = fields.required("key", field)?;
    let query = fields.document("query")?.unwrap_or_default();
    let hint = fields.value("hint");
    if let Some(collation) = fields.document("collation")? {
        check_collation(&Bson::Document(collation))?;
    }
    fields.finish()?;
    if field.is_empty() {
        return Err(Error::command(
            Code(40352),
            "FieldPath cannot be constructed with empty string",
        ));
    }
    let search = Search::new(&query, &Document::new(), hint, &context.scope(None)?)?;
    let (mut values, mut seen, mut size) = (Vec::new(), BTreeSet::new(), 0);
    let field = path::Path::new(field);
    let mut take = |document: &Document| {
        for value in distinct_values(document, &field) {
            let mut encoded = Vec::new();
            key::encode(value, false, &mut encoded);
            let length = encoded.len();
            if seen.insert(encoded) {
                size += length;
                values.push(value.clone());
            }
        }
        if size > LARGEST_DOCUMENT {
            Err(Error::command(Code(17217), "distinct too big, 16mb cap"))
        } else {
            Ok(())
        }
    };
    match context.collection(name) {
        None => {}
        Some(collection) if collection.shape().kind() == Kind::View => {
            let mut documents = of_view(context, name, &query)?;
            while let Some(document) = documents.peek()? {
                take(&decode(document)?)?;
                documents.pop();
            }
        }
        Some(collection) => {
            let (mut scan, _) = search.scan(&context.namespace(name), &collection)?;
            let (reading, all) = (context.storage().reading()?, search.filter.is_all());
            scan.run(&reading, &context.interrupt, &mut |_, bytes| {
                let document = decode(storage::document(bytes)?)?;
                if all || search.filter.matches(&document)? {
                    take(&document)?;
                }
                Ok(Flow::On)
            })?;
        }
    }
    encode(&doc! { "values": values, "ok": 1.0 })
}

/// The values of a path; an array at its end counts by its elements.
fn distinct_values<'a>(document: &'a Document, field: &path::Path) -> Vec<&'a Bson> {
    fn walk<'a>(document: &'a Document, parts: &[&str], found: &mut Vec<&'a Bson>) {
        let Some((name, rest)) = parts.split_first() else { return };
        let Some(value) = document.get(name) else { return };
        end(value, rest, found);
    }
    fn end<'a>(value: &'a Bson, rest: &[&str], found: &mut Vec<&'a Bson>) {
        match (value, rest) {
            (Bson::Array(elements), []) => found.extend(elements),
            (value, []) => found.push(value),
            (Bson::Document(inner), rest) => walk(inner, rest, found),
            (Bson::Array(elements), rest) => {
                if let Some(element) = rest[0].parse::<usize>().ok().and_then(|at| elements.get(at))
                {
                    end(element, &rest[1..], found);
                }
                for element in elements {
                    if let Bson::Document(inner) = element {
                        walk(inner, rest, found);
                    }
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    walk(document, &field.text().split('.').collect::<Vec<_>>(), &mut found);
    found
}

/// A reply as bytes.
pub(super) fn encode(reply: &Document) -> Result<RawDocumentBuf> {
    RawDocumentBuf::try_from(reply).map_err(|error| refuse!(INVALID_BSON, "{error}"))
}
