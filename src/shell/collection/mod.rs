//! Collections: the table of what can be called on `db.name`.

mod admin;
mod bulk_write;
mod index;
mod modify;
mod read;
mod write;

pub(super) use read::{aggregation, change_stream};
pub(super) use write::{
    deletion, filter, must_be_replacement, must_have_operators, statement, written,
};

use super::rows::{native, prelude};
use super::{Class, bulk, concern, help, plan_cache};

/// `db.name`.
pub(super) const COLLECTION: Class = Class::instances(
    "Collection",
    "DBCollection",
    "documents under a name",
    &[
        native(
            "aggregate",
            "(pipeline, options)",
            "runs documents through stages",
            read::aggregate,
        ),
        native(
            "analyzeShardKey",
            "(key, options)",
            "how good a shard key would be",
            admin::analyze_shard_key,
        ),
        native(
            "bulkWrite",
            "(operations, options)",
            "many writes in one go",
            bulk_write::bulk_write,
        ),
        native(
            "configureQueryAnalyzer",
            "(options)",
            "samples queries for a shard key",
            admin::configure_query_analyzer,
        ),
        native(
            "convertToCapped",
            "(bytes)",
            "makes the collection capped",
            admin::convert_to_capped,
        ),
        native("count", "(query, options)", "how many documents match", read::count),
        native(
            "countDocuments",
            "(filter, options)",
            "how many documents match, counted one by one",
            read::count_documents,
        ),
        native("createIndex", "(keys, options)", "builds an index", index::create_index),
        native(
            "createIndexes",
            "([keys, ...], options)",
            "builds several indexes",
            index::create_indexes,
        ),
        native(
            "createSearchIndex",
            "(name, definition)",
            "builds a search index",
            admin::create_search_index,
        ),
        native(
            "createSearchIndexes",
            "([{name, definition}, ...])",
            "builds search indexes",
            admin::create_search_indexes,
        ),
        native("dataSize", "()", "bytes of its documents", admin::data_size),
        native(
            "deleteMany",
            "(filter, options)",
            "deletes all documents that match",
            write::delete_many,
        ),
        native(
            "deleteOne",
            "(filter, options)",
            "deletes the first document that matches",
            write::delete_one,
        ),
        native(
            "distinct",
            "(key, query, options)",
            "the different values of a field",
            read::distinct,
        ),
        native("drop", "()", "drops the collection", admin::drop),
        native("dropIndex", "(index)", "drops an index by name or keys", index::drop_index),
        native(
            "dropIndexes",
            "(indexes)",
            "drops all indexes but _id's, or the named ones",
            index::drop_indexes,
        ),
        native("dropSearchIndex", "(name)", "drops a search index", admin::drop_search_index),
        native(
            "ensureIndex",
            "(keys, options)",
            "builds an index (old name of createIndex)",
            index::ensure_index,
        ),
        native(
            "estimatedDocumentCount",
            "(options)",
            "how many documents there are, from the catalog",
            read::estimated_document_count,
        ),
        native("exists", "()", "the catalog's entry, or null", admin::exists),
        native("explain", "(verbosity)", "how the server runs what follows", admin::explain),
        native("find", "(query, projection)", "a cursor over the documents that match", read::find),
        native(
            "findAndModify",
            "({query, sort, update, remove, new, fields, upsert})",
            "changes one document and returns it, in one step",
            modify::find_and_modify,
        ),
        native(
            "findOne",
            "(query, projection)",
            "the first document that matches, or null",
            read::find_one,
        ),
        native(
            "findOneAndDelete",
            "(filter, options)",
            "deletes one document and returns it",
            modify::find_one_and_delete,
        ),
        native(
            "findOneAndReplace",
            "(filter, replacement, options)",
            "replaces one document and returns it",
            modify::find_one_and_replace,
        ),
        native(
            "findOneAndUpdate",
            "(filter, update, options)",
            "updates one document and returns it",
            modify::find_one_and_update,
        ),
        native("getCollection", "(name)", "the collection name.sub", admin::get_collection),
        native("getDB", "()", "its database", admin::get_db),
        native("getFullName", "()", "database and name", admin::full_name),
        native("getIndexKeys", "()", "the keys of its indexes", index::get_index_keys),
        native("getIndexSpecs", "()", "its indexes", index::get_indexes),
        native("getIndexes", "()", "its indexes", index::get_indexes),
        native("getIndices", "()", "its indexes", index::get_indexes),
        native("getMongo", "()", "its connection", admin::get_mongo),
        native("getName", "()", "its name", admin::get_name),
        native("getPlanCache", "()", "the plans that the server remembers", plan_cache::start),
        native("getSearchIndexes", "(name)", "the search indexes", admin::search_indexes),
        native(
            "getShardDistribution",
            "()",
            "how it is spread over shards",
            admin::shard_distribution,
        ),
        native("getShardVersion", "()", "the version of its chunks", admin::shard_version),
        native(
            "getSlaveOk",
            "()",
            "whether secondaries may answer reads",
            crate::shell::mongo::is_secondary_ok,
        ),
        native(
            "getSplitKeysForChunks",
            "(bytes)",
            "where its chunks could be split",
            admin::split_keys,
        ),
        native("getWriteConcern", "()", "the write concern that was set for it", concern::get),
        native("hashAllDocs", "()", "a digest of all its documents", admin::hash),
        native("help", "()", "this list", help::collection),
        native("hideIndex", "(index)", "hides an index from queries", index::hide_index),
        native(
            "initializeOrderedBulkOp",
            "()",
            "collects writes that stop at the first error",
            bulk::ordered,
        ),
        native("initializeUnorderedBulkOp", "()", "collects writes in any order", bulk::unordered),
        native("insert", "(document or array)", "inserts documents", write::insert),
        native(
            "insertMany",
            "([document, ...], options)",
            "inserts several documents",
            write::insert_many,
        ),
        native("insertOne", "(document, options)", "inserts one document", write::insert_one),
        native("isCapped", "()", "whether it is capped", admin::is_capped),
        native("latencyStats", "(options)", "how long reads and writes took", admin::latency_stats),
        native("mapReduce", "(map, reduce, options)", "the old way to aggregate", read::map_reduce),
        native("reIndex", "()", "builds all indexes anew", index::re_index),
        native("remove", "(query, justOne)", "deletes documents", write::remove),
        native("renameCollection", "(name, dropTarget)", "gives it another name", admin::rename),
        native(
            "replaceOne",
            "(filter, replacement, options)",
            "replaces the first document that matches",
            write::replace_one,
        ),
        native(
            "runCommand",
            "(name or document, options)",
            "sends a command for this collection",
            admin::run_command,
        ),
        native("save", "(document)", "inserts, or replaces by _id", write::save),
        native(
            "setSecondaryOk",
            "(ok)",
            "lets secondaries answer reads",
            crate::shell::mongo::secondary_ok,
        ),
        native(
            "setSlaveOk",
            "(ok)",
            "lets secondaries answer reads (old name)",
            crate::shell::mongo::secondary_ok,
        ),
        native("setWriteConcern", "(concern)", "how safe its writes shall be", concern::set),
        native("stats", "(scale)", "sizes and counts", admin::stats),
        native("storageSize", "()", "bytes on disk", admin::storage_size),
        prelude("toString", "()", "database and name"),
        native("totalIndexSize", "()", "bytes of its indexes", admin::total_index_size),
        native("totalSize", "()", "bytes of documents and indexes", admin::total_size),
        native(
            "unhideIndex",
            "(index)",
            "shows a hidden index to queries again",
            index::unhide_index,
        ),
        native("unsetWriteConcern", "()", "its writes are as safe as any again", concern::unset),
        native("update", "(query, update, upsert, multi)", "updates documents", write::update),
        native(
            "updateMany",
            "(filter, update, options)",
            "updates all documents that match",
            write::update_many,
        ),
        native(
            "updateOne",
            "(filter, update, options)",
            "updates the first document that matches",
            write::update_one,
        ),
        native(
            "updateSearchIndex",
            "(name, definition)",
            "changes a search index",
            admin::update_search_index,
        ),
        native("validate", "(full)", "checks documents and indexes", admin::validate),
        native(
            "watch",
            "(pipeline, options)",
            "follows changes (needs a replica set)",
            read::watch,
        ),
    ],
);
