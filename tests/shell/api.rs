//! The whole API of both shells: each name of the manuals is a row of its class, with help.

use tally::shell;

/// Classes and what each has in either shell: MongoDB's manual of `mongo` 4.4, mongosh's reference of methods.
const API: &[(&str, &str)] = &[
    (
        "Cursor",
        "addOption allowDiskUse allowPartialResults arrayAccess batchSize clone close collation comment count \
         countReturn explain forEach getId hasNext help hint isClosed isExhausted itcount length limit map max \
         maxAwaitTimeMS maxTimeMS min modifiers next noCursorTimeout objsLeftInBatch pretty projection readConcern \
         readPref returnKey showDiskLoc showRecordId size skip sort tailable toArray tryNext",
    ),
    (
        "CommandCursor",
        "close forEach hasNext help isExhausted itcount map next objsLeftInBatch pretty toArray tryNext",
    ),
    (
        "Collection",
        "aggregate analyzeShardKey bulkWrite convertToCapped count countDocuments createIndex createIndexes \
         createSearchIndex createSearchIndexes dataSize deleteMany deleteOne distinct drop dropIndex dropIndexes \
         dropSearchIndex ensureIndex estimatedDocumentCount exists explain find findAndModify findOne findOneAndDelete \
         findOneAndReplace findOneAndUpdate getCollection getDB getFullName getIndexKeys getIndexSpecs getIndexes \
         getIndices getMongo getName getPlanCache getSearchIndexes getShardDistribution getShardVersion \
         getSplitKeysForChunks getWriteConcern hashAllDocs help hideIndex initializeOrderedBulkOp \
         initializeUnorderedBulkOp insert insertMany insertOne isCapped latencyStats mapReduce reIndex remove \
         renameCollection replaceOne runCommand save setSlaveOk setWriteConcern stats storageSize totalIndexSize \
         totalSize unhideIndex unsetWriteConcern update updateMany updateOne updateSearchIndex validate watch",
    ),
    (
        "Database",
        "adminCommand aggregate auth changeUserPassword cloneDatabase commandHelp copyDatabase createCollection \
         createRole createUser createView currentOp disableFreeMonitoring dropAllRoles dropAllUsers dropDatabase \
         dropRole dropUser enableFreeMonitoring eval fsyncLock fsyncUnlock getCollection getCollectionInfos \
         getCollectionNames getFreeMonitoringStatus getLastError getLastErrorObj getLogComponents getMongo getName \
         getProfilingLevel getProfilingStatus getReplicationInfo getRole getRoles getSiblingDB getSisterDB getUser \
         getUsers grantPrivilegesToRole grantRolesToRole grantRolesToUser hello help hostInfo isMaster killOp \
         listCommands loadServerScripts logout printCollectionStats printReplicationInfo \
         printSecondaryReplicationInfo printShardingStatus printSlaveReplicationInfo removeUser resetError \
         revokePrivilegesFromRole revokeRolesFromRole revokeRolesFromUser rotateCertificates runCommand \
         serverBuildInfo serverCmdLineOpts serverStatus setLogLevel setProfilingLevel shutdownServer \
         stats updateRole updateUser version watch",
    ),
    (
        "Mongo",
        "adminCommand close getCollection getDB getDBNames getDBs getReadPref getReadPrefMode \
         getReadPrefTagSet getURI getWriteConcern setReadPref setSecondaryOk setSlaveOk \
         setWriteConcern startSession",
    ),
    ("Bulk", "execute find getOperations insert toJSON toString tojson"),
    (
        "BulkFind",
        "arrayFilters collation delete deleteOne hint remove removeOne replaceOne update updateOne upsert",
    ),
    (
        "ReplicaSet",
        "add addArb conf config freeze hello help initiate isMaster printReplicationInfo \
         printSecondaryReplicationInfo printSlaveReplicationInfo reconfig remove secondaryOk slaveOk status stepDown \
         syncFrom",
    ),
    (
        "Sharding",
        "addShard addShardTag addShardToZone addTagRange disableAutoSplit disableBalancing enableAutoSplit \
         enableBalancing enableSharding getBalancerState help isBalancerRunning moveChunk removeRangeFromZone \
         removeShardFromZone removeShardTag removeTagRange setBalancerState shardCollection splitAt splitFind \
         startBalancer status stopBalancer updateZoneKeyRange waitForBalancer",
    ),
    (
        "Global",
        "HexData ISODate MD5 UUID bsonWoCompare bsonsize buildInfo cat cd cls compare compareOn connect copyFile \
         doassert exit fileExists friendlyEqual gc getBuildInfo getHostName getMemInfo help hex_md5 hostname \
         interpreterVersion isInteractive isNumber isObject isString it jsTestLog listFiles load ls md5sumFile mkdir \
         passwordPrompt print printStackTrace printjson printjsononeline pwd quit removeFile sleep tojson \
         tojsononeline tostrictjson use version writeFile",
    ),
    (
        "Assert",
        "automsg between close commandFailed commandFailedWithCode commandWorked contains docEq doesNotThrow eq gt gte \
         hasFields includes isnull lt lte neq retry sameMembers setEq soon soonNoExcept throws time writeError writeOK",
    ),
    (
        "Node",
        "Buffer clearTimeout process require setImmediate setInterval setTimeout structuredClone",
    ),
    ("Console", "debug error info log table warn"),
    ("Config", "get reset set"),
    ("EJSON", "deserialize parse serialize stringify"),
    ("NumberLong", "add compare divide equals multiply subtract toNumber toString"),
    ("LongFunctions", "MAX_VALUE MIN_VALUE ONE ZERO fromBits fromInt fromNumber fromString isLong"),
    ("ObjectId", "equals getTimestamp str toHexString toString valueOf"),
    ("ObjectIdFunctions", "createFromHexString createFromTime fromDate isValid"),
    ("BinaryFunctions", "createFromBase64 createFromHexString"),
];

#[test]
fn every_method_of_both_shells_is_there_with_help() {
    let mut missing = Vec::new();
    for (name, methods) in API {
        let class = shell::class(name).or_else(|| {
            let globals = [("ReplicaSet", "rs"), ("Sharding", "sh")];
            let (_, global) = globals.iter().find(|(known, _)| known == name)?;
            shell::classes().iter().find(|class| class.global == *global)
        });
        let Some(class) = class else {
            missing.push(format!("class {name}"));
            continue;
        };
        for method in methods.split_whitespace() {
            match class.method(method) {
                Some(row) if !row.help.is_empty() => {}
                Some(_) => missing.push(format!("the help of {name}.{method}")),
                None => missing.push(format!("{name}.{method}")),
            }
        }
    }
    assert!(missing.is_empty(), "missing: {}", missing.join(", "));
}
