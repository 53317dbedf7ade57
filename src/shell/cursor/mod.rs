//! Cursors: a query that is built by chained methods and sent at its first fetch, and the cursor of a command.
//!
//! Methods that take a function are code of the prelude over `__batch`, which hands out about a hundred documents a
//! door call, or all that are left through `__rest`; documents that a thrown callback has not seen go back through
//! `__unread`.

mod chain;
mod fetch;
mod query;
mod resumed;
mod stream;

pub use fetch::Page;
pub(super) use fetch::{open_stream, verbosity};
pub(super) use query::Query;
pub(super) use resumed::resumed;
pub(super) use stream::Stream;

use super::rows::{native, prelude};
use super::{Class, Shells};

/// `db.c.find()`.
pub(super) const CURSOR: Class = Class::instances(
    "Cursor",
    "DBQuery",
    "the documents of a query, fetched as they are asked for",
    &[
        prelude("[Symbol.iterator]", "()", "").only(Shells::Both),
        native("__batch", "(most)", "", fetch::batch),
        native("__namespace", "()", "", fetch::namespace),
        native("__page", "()", "", fetch::shown),
        native("__rest", "()", "", fetch::rest),
        native("__unread", "(documents)", "", fetch::unread),
        native("addOption", "(flags)", "sets wire protocol flags", chain::add_option),
        native("allowDiskUse", "(allow)", "lets a big sort use the disk", chain::allow_disk_use),
        native("allowPartialResults", "()", "goes on when shards are down", chain::allow_partial),
        prelude("arrayAccess", "(index)", "the document at a place"),
        native(
            "batchSize",
            "(count)",
            "how many documents the server sends at once",
            chain::batch_size,
        ),
        native("clone", "()", "the same query, not run yet", fetch::clone),
        native("close", "()", "closes the cursor", fetch::close),
        native(
            "collation",
            "(collation)",
            "compares texts by the rules of a language",
            chain::collation,
        ),
        native("comment", "(comment)", "a remark for the server's log", chain::comment),
        prelude(
            "constructor",
            "(mongo, db, collection, namespace, query, fields, limit, skip)",
            "a query, as its own parts",
        ),
        native("count", "(applySkipLimit)", "how many documents match", fetch::count),
        native("countReturn", "()", "how many documents match, at most the limit", fetch::size),
        prelude("csv", "()", "the documents as comma-separated values"),
        native("explain", "(verbosity)", "how the server runs the query", fetch::explain),
        native("finish", "()", "the plan of a query under db.c.explain()", fetch::finish),
        prelude("forEach", "(function)", "calls a function with each document"),
        native("getId", "()", "the server's cursor id", fetch::id),
        native("hasNext", "()", "whether there is another document", fetch::has_next),
        native("help", "()", "this list", super::help::cursor),
        native("hint", "(index)", "makes the server use an index", chain::hint),
        native("isClosed", "()", "whether the cursor is closed at the server", fetch::is_closed),
        native("isExhausted", "()", "closed, and nothing left here", fetch::is_exhausted),
        native("itcount", "()", "how many documents are left, reading them all", fetch::itcount),
        prelude("length", "()", "how many documents there are, keeping them"),
        native("limit", "(count)", "at most so many documents", chain::limit),
        prelude("map", "(function)", "what a function makes of each document"),
        native("max", "(bounds)", "an upper bound of index keys, exclusive", chain::max),
        native("maxAwaitTimeMS", "(ms)", "how long to wait for new documents", chain::max_await),
        native("maxTimeMS", "(ms)", "gives up after that time", chain::max_time),
        native("min", "(bounds)", "a lower bound of index keys", chain::min),
        native("modifiers", "()", "the options so far", fetch::modifiers),
        native("next", "()", "the next document", fetch::next),
        native("noCursorTimeout", "()", "keeps an idle cursor open", chain::no_timeout),
        native("objsLeftInBatch", "()", "how many documents have arrived already", fetch::left),
        native("pretty", "()", "shows each document over several lines", chain::pretty),
        native("projection", "(projection)", "which fields to return", chain::projection),
        native("readConcern", "(level)", "how safe what is read must be", chain::read_concern),
        native("readPref", "(mode, tagSet)", "which members to read from", chain::read_pref),
        native("returnKey", "(enable)", "returns index keys only", chain::return_key),
        prelude("shellPrint", "()", "prints the next documents as the prompt does"),
        native("showDiskLoc", "()", "adds the record number", chain::show_record_id),
        native("showRecordId", "(enable)", "adds the record number", chain::show_record_id),
        native("size", "()", "how many documents there are, skip and limit applied", fetch::size),
        native("skip", "(count)", "leaves so many documents out", chain::skip),
        native("sort", "(keys)", "orders the documents", chain::sort),
        prelude("table", "()", "the documents as aligned columns"),
        native(
            "tailable",
            "(awaitData)",
            "stays open at the end of a capped collection",
            chain::tailable,
        ),
        prelude("toArray", "()", "all documents as an array"),
        prelude("toString", "()", "what print shows of the cursor").only(Shells::Mongo),
        native("tryNext", "()", "the next document, or null", fetch::try_next),
    ],
);

/// `db.c.watch()` in mongosh.
pub(super) const CHANGE_STREAM: Class = Class::instances(
    "ChangeStream",
    "ChangeStreamCursor",
    "changes as they happen",
    &[
        prelude("[Symbol.iterator]", "()", ""),
        native("close", "()", "closes the stream", fetch::close),
        prelude("forEach", "(function)", "calls a function with each change, without an end"),
        native(
            "getResumeToken",
            "()",
            "the place to go on from (resumeAfter)",
            fetch::resume_token,
        ),
        native("hasNext", "()", "waits for the next change", fetch::has_next_change),
        native("help", "()", "this list", super::help::change_stream),
        native("isClosed", "()", "whether the stream is closed", fetch::is_closed),
        native("isExhausted", "()", "refused: isClosed and tryNext tell", fetch::no_exhaustion),
        native("itcount", "()", "how many changes have arrived, reading them", fetch::itcount),
        native("next", "()", "the next change, waiting for it", fetch::next_change),
        native("pretty", "()", "nothing: it shows no documents", chain::pretty),
        native("shellPrint", "()", "what the prompt shows of it", fetch::shown_changes),
        native("toString", "()", "what it follows", fetch::shown_changes),
        native("tryNext", "()", "the next change, or null", fetch::try_next),
    ],
)
.only(Shells::Mongosh);

/// `db.c.aggregate()`.
pub(super) const COMMAND_CURSOR: Class = Class::instances(
    "CommandCursor",
    "DBCommandCursor",
    "the documents of an aggregation, fetched as they are asked for",
    &[
        prelude("[Symbol.iterator]", "()", ""),
        native("__batch", "(most)", "", fetch::batch),
        native("__page", "()", "", fetch::shown),
        native("__rest", "()", "", fetch::rest),
        native("__unread", "(documents)", "", fetch::unread),
        native(
            "batchSize",
            "(count)",
            "how many documents the server sends at once",
            chain::later_batch_size,
        ),
        native("close", "()", "closes the cursor", fetch::close),
        prelude(
            "constructor",
            "(db, reply, batchSize)",
            "goes on with the cursor of a reply that a script has",
        ),
        prelude("csv", "()", "the documents as comma-separated values"),
        prelude("forEach", "(function)", "calls a function with each document"),
        native("getId", "()", "the server's cursor id", fetch::id),
        native(
            "getResumeToken",
            "()",
            "of watch(), the place to go on from (resumeAfter)",
            fetch::resume_token,
        )
        .only(Shells::Mongo),
        native("hasNext", "()", "whether there is another document", fetch::has_next),
        native("help", "()", "this list", super::help::command_cursor),
        native("isClosed", "()", "whether the cursor is closed at the server", fetch::is_closed),
        native("isExhausted", "()", "closed, and nothing left here", fetch::is_exhausted),
        native("itcount", "()", "how many documents are left, reading them all", fetch::itcount),
        prelude("map", "(function)", "what a function makes of each document"),
        native("next", "()", "the next document", fetch::next),
        native("objsLeftInBatch", "()", "how many documents have arrived already", fetch::left),
        native("pretty", "()", "shows each document over several lines", chain::pretty),
        prelude("shellPrint", "()", "prints the next documents as the prompt does"),
        prelude("table", "()", "the documents as aligned columns"),
        prelude("toArray", "()", "all documents as an array"),
        prelude("toString", "()", "what print shows of the cursor").only(Shells::Mongo),
        native("tryNext", "()", "the next document, or null", fetch::try_next),
    ],
);
