//! The methods that send a query and take its documents.

use std::time::Instant;

use bson::raw::cstr;
use bson::{RawArrayBuf, RawBson, RawDocumentBuf, rawdoc};

use super::Stream;
use super::chain::query;
use crate::error::{Error, Result};
use crate::shell::command::{self, Command, field, number, whole};
use crate::shell::held::Held;
use crate::shell::refusal::{invalid_input, usage};
use crate::shell::{Call, Emulate, Reply, Shell};

/// What a prompt shows of a cursor at once.
#[derive(Debug, PartialEq)]
pub struct Page {
    /// The documents.
    pub documents: Vec<RawDocumentBuf>,
    /// There are more: `it` shows them.
    pub more: bool,
    /// Each document over several lines.
    pub pretty: bool,
}

/// Sends a command that answers with a cursor.
pub(in crate::shell) fn open_stream(
    shell: &Shell,
    db: &str,
    body: RawDocumentBuf,
) -> Result<Stream> {
    shell.stream(db, body).map(Stream::new)
}

/// The documents behind `handle`; a query that was not sent yet is sent now.
fn stream(shell: &mut Shell, handle: u32) -> Result<&mut Stream> {
    shell.interrupt.check()?;
    let unsent = match shell.held.get_mut(handle) {
        Some(Held::Query(query)) if query.stream.is_none() => {
            query.pretty |= query.explained.is_some();
            let body = match query.explained {
                None => query.streamed(),
                Some(_) => query.command(),
            };
            Some((query.db.clone(), body, query.explained.clone()))
        }
        _ => None,
    };
    if let Some((db, body, explained)) = unsent {
        let here = shell.held.road.clone();
        shell.set_out(handle)?;
        let opened = match explained {
            None => open_stream(shell, &db, body),
            Some(verbosity) => {
                let reply = shell.run(&db, explain_command(body, verbosity));
                reply.map(|reply| Stream::of(vec![reply]))
            }
        };
        shell.held.road = here;
        let opened = opened.map_err(|error| shell.refused(error, "error: ", ""));
        query(shell, handle)?.stream = Some(opened?);
    }
    let stream = match shell.held.get_mut(handle) {
        Some(Held::Query(query)) => query.stream.as_mut(),
        Some(Held::Command(cursor)) => Some(&mut cursor.stream),
        _ => None,
    };
    stream.ok_or_else(|| usage("this cursor was closed"))
}

/// Takes from the stream; a batch that cannot be fetched is the error of either shell.
fn take<T>(call: &mut Call<'_>, from: impl FnOnce(&mut Stream) -> Result<T>) -> Result<T> {
    let handle = call.handle()?;
    let taken = from(stream(call.shell, handle)?);
    taken.map_err(|error| match error {
        Error::Command(_) => call.shell.refused(error, "getMore command failed: ", ""),
        error => error,
    })
}

fn document(document: Option<RawDocumentBuf>) -> Option<Reply> {
    document.map(|document| Reply::Served(RawBson::Document(document)))
}

pub(super) fn has_next(call: &mut Call<'_>) -> Result<Reply> {
    take(call, Stream::has_next).map(|more| Reply::Value(RawBson::Boolean(more)))
}

/// As [`has_next`], for a change stream of mongosh's: it waits until there is one.
pub(super) fn has_next_change(call: &mut Call<'_>) -> Result<Reply> {
    await_change(call)?;
    has_next(call)
}

/// As [`next`], for a change stream of mongosh's: it waits until there is one.
pub(super) fn next_change(call: &mut Call<'_>) -> Result<Reply> {
    await_change(call)?;
    next(call)
}

/// Waits for the next change, or the end of the stream. Each round is one wait at the server.
fn await_change(call: &mut Call<'_>) -> Result<()> {
    while !take(call, |stream| Ok(stream.has_next()? || stream.is_closed()))? {
        call.shell.interrupt.check()?;
    }
    Ok(())
}

/// `getResumeToken()`: the place behind the last change that was handed out.
pub(super) fn resume_token(call: &mut Call<'_>) -> Result<Reply> {
    let token = take(call, |stream| Ok(stream.resume_token()))?;
    Ok(token.map_or(Reply::Nothing, |token| Reply::Served(RawBson::Document(token))))
}

/// What mongosh shows of a change stream.
pub(super) fn shown_changes(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let on = match call.shell.held.get_mut(handle) {
        Some(Held::Command(cursor)) => cursor.on.clone(),
        _ => String::new(),
    };
    Ok(Reply::Value(RawBson::String(format!("ChangeStreamCursor on {on}"))))
}

/// mongosh: what its change streams do not offer.
pub(super) fn no_exhaustion(_: &mut Call<'_>) -> Result<Reply> {
    Err(invalid_input(
        "isExhausted is not implemented for ChangeStreams because after closing a cursor, the remaining documents in the \
         batch are no longer accessible. If you want to see if the cursor is closed use isClosed. If you want to see if \
         there are documents left in the batch, use tryNext.",
    ))
}

pub(super) fn next(call: &mut Call<'_>) -> Result<Reply> {
    match document(take(call, Stream::next)?) {
        Some(reply) => Ok(reply),
        None => match call.shell.emulate {
            Emulate::Mongo => Err(usage("error hasNext: false")),
            Emulate::Mongosh => Ok(Reply::Value(RawBson::Null)),
        },
    }
}

/// The plan of a query under `db.c.explain()`; any other cursor has no such method to speak of.
pub(super) fn finish(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    if query(call.shell, handle)?.explained.is_none() {
        return Err(usage("finish() ends a chain that began with db.c.explain().find()"));
    }
    next(call)
}

pub(super) fn try_next(call: &mut Call<'_>) -> Result<Reply> {
    Ok(document(take(call, Stream::next)?).unwrap_or(Reply::Value(RawBson::Null)))
}

/// The primitive under `toArray`.
pub(super) fn rest(call: &mut Call<'_>) -> Result<Reply> {
    take(call, Stream::rest).map(Reply::Documents)
}

/// The primitive under `forEach` and its like: some documents, none at the end.
pub(super) fn batch(call: &mut Call<'_>) -> Result<Reply> {
    let most = call.value(0).and_then(|most| whole(most.as_raw_bson_ref()));
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(100).max(1);
    let (documents, read) = take(call, |stream| Ok((stream.some(most)?, stream.handed())))?;
    call.shell.output.progress(|| format!("{read} documents read"));
    Ok(Reply::Documents(documents))
}

/// Gives back what `__batch` handed out and no callback has seen.
pub(super) fn unread(call: &mut Call<'_>) -> Result<Reply> {
    let documents = match call.value(0) {
        Some(RawBson::Array(list)) => {
            let documents = list.into_iter().flatten().filter_map(|value| value.as_document());
            documents.map(ToOwned::to_owned).collect()
        }
        _ => Vec::new(),
    };
    take(call, |stream| {
        stream.unread(documents);
        Ok(())
    })?;
    Ok(Reply::Nothing)
}

/// The primitive under `toString`: where the documents are.
pub(super) fn namespace(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let query = query(call.shell, handle)?;
    Ok(Reply::Value(RawBson::String(format!("{}.{}", query.db, query.collection))))
}

pub(super) fn itcount(call: &mut Call<'_>) -> Result<Reply> {
    take(call, Stream::count).map(|count| Reply::Value(number(count)))
}

pub(super) fn left(call: &mut Call<'_>) -> Result<Reply> {
    let arrived = take(call, |stream| Ok(stream.arrived()))?;
    Ok(Reply::Value(number(i64::try_from(arrived).unwrap_or(i64::MAX))))
}

pub(super) fn close(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    match call.shell.held.get_mut(handle) {
        Some(Held::Query(query)) => {
            query.stream.get_or_insert_with(|| Stream::of(Vec::new())).close();
        }
        Some(Held::Command(cursor)) => cursor.stream.close(),
        _ => {}
    }
    Ok(Reply::Nothing)
}

pub(super) fn is_closed(call: &mut Call<'_>) -> Result<Reply> {
    take(call, |stream| Ok(stream.is_closed())).map(|closed| Reply::Value(RawBson::Boolean(closed)))
}

pub(super) fn is_exhausted(call: &mut Call<'_>) -> Result<Reply> {
    let exhausted = take(call, |stream| Ok(stream.is_closed() && stream.arrived() == 0))?;
    Ok(Reply::Value(RawBson::Boolean(exhausted)))
}

pub(super) fn id(call: &mut Call<'_>) -> Result<Reply> {
    take(call, |stream| Ok(stream.id())).map(|id| Reply::Value(RawBson::Int64(id)))
}

pub(super) fn clone(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let again = query(call.shell, handle)?.again();
    Ok(Reply::Handle("Cursor", call.shell.held.insert(Held::Query(Box::new(again)))))
}

/// The primitive under `shellPrint`: what a prompt shows of the cursor.
pub(super) fn shown(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let Page { documents, more, pretty } = call.shell.page(handle)?;
    let documents: RawArrayBuf = documents.into_iter().map(RawBson::Document).collect();
    let page = rawdoc! { "documents": documents, "more": more, "pretty": pretty };
    Ok(Reply::Served(RawBson::Document(page)))
}

pub(super) fn count(call: &mut Call<'_>) -> Result<Reply> {
    // The driver under mongosh minds limit and skip.
    let all = call.truthy(0) || !call.shell.classic();
    counted(call, all)
}

pub(super) fn size(call: &mut Call<'_>) -> Result<Reply> {
    counted(call, true)
}

fn counted(call: &mut Call<'_>, all: bool) -> Result<Reply> {
    let handle = call.handle()?;
    let query = query(call.shell, handle)?;
    let (db, body) = (query.db.clone(), query.count(all));
    let reply = call.shell.run(&db, body).map_err(|error| call.shell.failed(error, "count"))?;
    Ok(Reply::Value(number(command::count(&reply, "n"))))
}

/// The name of a verbosity; `true` asks for everything, as the old shell has it.
pub(in crate::shell) fn verbosity(value: Option<&RawBson>) -> Result<String> {
    Ok(match value {
        None | Some(RawBson::Boolean(false)) => "queryPlanner".to_owned(),
        Some(RawBson::Boolean(true)) => "allPlansExecution".to_owned(),
        Some(RawBson::String(name)) => name.clone(),
        Some(RawBson::Document(options)) => match field(options, "verbosity") {
            Some(value) => value.as_str().unwrap_or("queryPlanner").to_owned(),
            None => "queryPlanner".to_owned(),
        },
        Some(_) => {
            return Err(usage(
                "explain verbosity must be one of {'queryPlanner','executionStats','allPlansExecution'}",
            ));
        }
    })
}

fn explain_command(command: RawDocumentBuf, verbosity: String) -> RawDocumentBuf {
    Command::new(cstr!("explain"), command).with(cstr!("verbosity"), verbosity).body()
}

pub(super) fn explain(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let verbosity = verbosity(call.value(0))?;
    let query = query(call.shell, handle)?;
    let db = query.db.clone();
    let body = explain_command(query.command(), verbosity);
    let reply = call.shell.run(&db, body);
    let reply = reply.map_err(|error| call.shell.failed(error, "explain"))?;
    Ok(Reply::Served(RawBson::Document(reply)))
}

/// The options so far, as the old shell called them.
pub(super) fn modifiers(call: &mut Call<'_>) -> Result<Reply> {
    let handle = call.handle()?;
    let query = query(call.shell, handle)?;
    let mut shown = RawDocumentBuf::new();
    shown.append(cstr!("query"), &query.filter);
    for (key, value) in &query.options {
        shown.append(key, value.as_raw_bson_ref());
    }
    Ok(Reply::Value(RawBson::Document(shown)))
}

impl Shell {
    /// What a prompt shows of the cursor that an input answered with, and from then on `it` goes on with that cursor.
    ///
    /// The classic shell shows the next documents each time; mongosh shows the same page again.
    ///
    /// # Errors
    /// What the query throws.
    pub fn page(&mut self, handle: u32) -> Result<Page> {
        if let Some(Held::Query(query)) = self.held.get_mut(handle)
            && let Some(documents) = query.page.clone()
        {
            let (pretty, arrived) = (query.pretty, query.stream.as_mut());
            let more = arrived.map_or(Ok(false), Stream::has_next)?;
            self.look_at_last(&documents);
            return Ok(Page { documents, more, pretty });
        }
        self.follow(handle);
        let start = Instant::now();
        let page = self.turn(handle);
        match &page {
            Ok(page) => self.tell_time("Fetched", page.documents.len(), "", start),
            Err(_) => self.follow(0),
        }
        page
    }

    /// The next page of the cursor that was shown last; `None` when there is nothing more to show.
    ///
    /// # Errors
    /// As [`Shell::page`].
    pub fn next_page(&mut self) -> Result<Option<Page>> {
        let Some(handle) = self.shown else { return Ok(None) };
        if !stream(self, handle)?.has_next()? {
            self.follow(0);
            return Ok(None);
        }
        let start = Instant::now();
        let page = self.turn(handle)?;
        self.tell_time("Fetched", page.documents.len(), "", start);
        Ok(Some(page))
    }

    /// The next documents of a cursor, at most `most`; none at its end.
    ///
    /// # Errors
    /// As [`Shell::page`].
    pub fn some(&mut self, handle: u32, most: usize) -> Result<Vec<RawDocumentBuf>> {
        let taken = stream(self, handle)?.some(most);
        taken.map_err(|error| match error {
            Error::Command(_) => self.refused(error, "getMore command failed: ", ""),
            error => error,
        })
    }

    /// Takes one page.
    fn turn(&mut self, handle: u32) -> Result<Page> {
        let size = self.batch_size.max(1);
        let remember = self.emulate == Emulate::Mongosh;
        let stream = stream(self, handle)?;
        let mut documents = Vec::new();
        while documents.len() < size {
            match stream.next()? {
                Some(document) => documents.push(document),
                None => break,
            }
        }
        let more = documents.len() == size && stream.has_next()?;
        self.look_at_last(&documents);
        let pretty = match self.held.get_mut(handle) {
            Some(Held::Query(query)) => {
                if remember {
                    query.page = Some(documents.clone());
                }
                query.pretty
            }
            Some(Held::Command(cursor)) => cursor.pretty,
            _ => false,
        };
        Ok(Page { documents, more, pretty })
    }

    /// Makes `it` go on with `handle` (0: with nothing), and forgets the cursor before if nobody else holds it.
    fn follow(&mut self, handle: u32) {
        let before = self.shown.take();
        if let Some(before) = before.filter(|before| *before != handle && self.orphaned) {
            self.held.remove(before);
        }
        if before != Some(handle) {
            self.orphaned = false;
        }
        self.shown = (handle != 0).then_some(handle);
    }
}
