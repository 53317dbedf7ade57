//! What writes answer and throw.

use super::{mongo, mongosh};

#[test]
fn a_classic_write_answers_with_a_result_failed_or_not() {
    mongo().talks(&[
        ("db.t.insert({_id: 1})", "WriteResult({ \"nInserted\" : 1 })"),
        (
            "db.t.insert({_id: 1})",
            "WriteResult({\n\t\"nInserted\" : 0,\n\t\"writeError\" : {\n\t\t\"code\" : 11000,\n\t\t\"errmsg\" : \"E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1.0 }\"\n\t}\n})",
        ),
        ("var r = db.t.insert({_id: 1}); r.hasWriteError() + ' ' + r.writeError.code + ' ' + r.nInserted + ' ' + r.nMatched", "true 11000 0 0"),
        ("db.t.insert({_id: 2}).getWriteError()", ""),
        ("db.t.update({_id: 1}, {$set: {a: 1}})", "WriteResult({ \"nMatched\" : 1, \"nUpserted\" : 0, \"nModified\" : 1 })"),
        ("db.t.update({_id: 77}, {$set: {a: 1}})", "WriteResult({ \"nMatched\" : 0, \"nUpserted\" : 0, \"nModified\" : 0 })"),
        ("db.t.update({_id: 99}, {$set: {a: 1}}, {upsert: true})", "WriteResult({ \"nMatched\" : 0, \"nUpserted\" : 1, \"nModified\" : 0, \"_id\" : 99 })"),
        ("db.t.update({}, {$set: {b: 1}}, false, true).nModified", "3"),
        ("db.t.save({_id: 7, x: 1})", "WriteResult({ \"nMatched\" : 0, \"nUpserted\" : 1, \"nModified\" : 0, \"_id\" : 7 })"),
        ("db.t.save({x: 1})", "WriteResult({ \"nInserted\" : 1 })"),
        ("db.t.remove({x: 1}, true)", "WriteResult({ \"nRemoved\" : 1 })"),
        ("db.t.remove({x: 1}, {justOne: true})", "WriteResult({ \"nRemoved\" : 1 })"),
        ("db.t.count()", "3"),
    ]);
}

#[test]
fn a_classic_crud_function_answers_with_a_document_or_throws() {
    mongo().talks(&[
        ("db.t.insertOne({_id: 1})", "{ \"acknowledged\" : true, \"insertedId\" : 1 }"),
        ("db.t.insertMany([{_id: 5}, {_id: 6}])", "{ \"acknowledged\" : true, \"insertedIds\" : [ 5, 6 ] }"),
        ("db.t.updateOne({_id: 1}, {$set: {a: 1}})", "{ \"acknowledged\" : true, \"matchedCount\" : 1, \"modifiedCount\" : 1 }"),
        ("db.t.replaceOne({_id: 8}, {a: 1}, {upsert: true}).upsertedId", "8"),
        ("db.t.deleteMany({})", "{ \"acknowledged\" : true, \"deletedCount\" : 4 }"),
        ("db.t.insertOne({_id: 1}); try { db.t.insertOne({_id: 1}) } catch (e) { print(e.code, e.name, e instanceof WriteError, e.index) }", "11000 WriteError true 0"),
        (
            "db.t.insertOne({_id: 1})",
            "WriteError({\n\t\"index\" : 0,\n\t\"code\" : 11000,\n\t\"errmsg\" : \"E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1.0 }\",\n\t\"op\" : {\n\t\t\"_id\" : 1\n\t}\n})",
        ),
        ("try { db.t.insertMany([{_id: 1}, {_id: 2}]) } catch (e) { print(e.message, e.code, e.writeErrors.length, e.nInserted) }", "write error at item 0 in bulk operation 11000 1 0"),
        ("try { db.t.insertMany([{_id: 1}, {_id: 3}, {_id: 1}], {ordered: false}) } catch (e) { print(e.message, e.nInserted) }", "2 write errors in bulk operation 1"),
        ("db.t.updateOne({}, {a: 1})", "Error: the update operation document must contain atomic operators"),
        ("db.t.updateOne({}, {})", "Error: the update operation document must contain at least one atomic operator"),
        ("db.t.replaceOne({}, {$set: {a: 1}})", "Error: the replace operation document must not contain atomic operators"),
        ("db.t.insert()", "Error: no object passed to insert!"),
        ("db.t.remove()", "Error: remove needs a query"),
        ("db.t.update()", "Error: need a query"),
        ("db.t.update({})", "Error: need an update object or pipeline"),
        ("db.t.deleteOne()", "Error: find() requires query criteria"),
    ]);
}

#[test]
fn an_array_and_a_bulk_answer_with_all_counts() {
    let result = "BulkWriteResult({\n\t\"writeErrors\" : [ ],\n\t\"writeConcernErrors\" : [ ],\n\t\"nInserted\" : 2,\n\t\"nUpserted\" : 0,\n\t\"nMatched\" : 0,\n\t\"nModified\" : 0,\n\t\"nRemoved\" : 0,\n\t\"upserted\" : [ ]\n})";
    mongo().talks(&[
        ("db.t.insert([{_id: 1}, {_id: 2}])", result),
        ("var b = db.t.initializeUnorderedBulkOp(); b.insert({_id: 7}); b.find({_id: 8}).upsert().updateOne({$inc: {n: 1}}); b.find({_id: 1}).remove(); b", "{ \"nInsertOps\" : 1, \"nUpdateOps\" : 1, \"nRemoveOps\" : 1, \"nBatches\" : 3 }"),
        ("var r = b.execute(); [r.nInserted, r.nUpserted, r.nRemoved, r.hasWriteErrors(), r.getUpsertedIds()[0]._id].join()", "1,1,1,false,8"),
        ("b.execute()", "Error: A bulk operation cannot be re-executed"),
        ("db.t.bulkWrite([{insertOne: {document: {_id: 20}}}, {updateOne: {filter: {_id: 20}, update: {$set: {a: 1}}}}, {deleteOne: {filter: {_id: 20}}}]).deletedCount", "1"),
        ("db.t.bulkWrite([{insertOne: {}}])", "Error: insertOne bulkWrite operation expects the document field"),
    ]);
}

#[test]
fn mongosh_has_shapes_and_errors_of_its_own() {
    let mut shell = mongosh();
    shell.talks(&[
        ("db.t.insert({_id: 2})", "{ acknowledged: true, insertedIds: { '0': 2 } }"),
        ("db.t.insertOne({_id: 1})", "{ acknowledged: true, insertedId: 1 }"),
        ("db.t.insertMany([{_id: 5}, {_id: 6}])", "{ acknowledged: true, insertedIds: { '0': 5, '1': 6 } }"),
        ("db.t.updateOne({_id: 1}, {$set: {a: 1}})", "{\n  acknowledged: true,\n  insertedId: null,\n  matchedCount: 1,\n  modifiedCount: 1,\n  upsertedCount: 0\n}"),
        ("db.t.deleteOne({_id: 5})", "{ acknowledged: true, deletedCount: 1 }"),
        ("db.t.insertOne({_id: 1})", "MongoServerError: E11000 duplicate key error collection: test.t index: _id_ dup key: { _id: 1 }"),
        ("try { db.t.insertOne({_id: 1}) } catch ({ code, name }) { print(code, name) }", "11000 MongoServerError"),
        ("try { db.t.insertMany([{_id: 1}]) } catch (e) { print(e.name, e.code, e.writeErrors.length, e.result.insertedCount) }", "MongoBulkWriteError 11000 1 0"),
        ("db.t.updateOne({}, {a: 1})", "MongoInvalidArgumentError: Update document requires atomic operators"),
        ("db.t.deleteMany()", "MongoshInvalidInputError: [COMMON-10001] Missing required argument at position 0 (Collection.deleteMany)"),
        ("db.t.insertMany({})", "MongoInvalidArgumentError: Argument \"docs\" must be an array of documents"),
        ("db.t.find('x')", "MongoInvalidArgumentError: Query filter must be a plain object or ObjectId"),
    ]);
    assert_eq!(
        shell.noticed(),
        "DeprecationWarning: Collection.insert() is deprecated. Use insertOne, insertMany, or bulkWrite.\n"
    );
}

#[test]
fn the_users_own_document_is_left_alone() {
    mongo().talks(&[
        ("var d = {a: 1}; db.t.insert(d); Object.keys(d).join()", "a"),
        ("Object.keys(db.t.findOne()).join()", "_id,a"),
        ("db.t.findOne()._id instanceof ObjectId", "true"),
    ]);
}

#[test]
fn find_and_modify_answers_with_the_document() {
    mongo().talks(&[
        ("db.c.findAndModify({query: {_id: 'a'}, update: {$inc: {n: 1}}})", "null"),
        ("db.c.findAndModify({query: {_id: 'a'}, update: {$inc: {n: 1}}, upsert: true})", "null"),
        ("db.c.findAndModify({query: {_id: 'a'}, update: {$inc: {n: 1}}, new: true})", "{ \"_id\" : \"a\", \"n\" : 2 }"),
        ("db.c.findAndModify({query: {_id: 'a'}, update: {$inc: {n: 1}}, new: true, fields: {n: 1, _id: 0}})", "{ \"n\" : 3 }"),
        ("db.c.findOneAndUpdate({_id: 'a'}, {$inc: {n: 1}}).n", "3"),
        ("db.c.findOneAndUpdate({_id: 'a'}, {$inc: {n: 1}}, {returnNewDocument: true}).n", "5"),
        ("db.c.findOneAndUpdate({_id: 'a'}, {$inc: {n: 1}}, {returnOriginal: false}).n", "6"),
        ("db.c.findOneAndUpdate({_id: 'a'}, {$inc: {n: 1}}, {returnDocument: 'after'}).n", "7"),
        ("db.c.findOneAndReplace({_id: 'a'}, {m: 1}, {returnNewDocument: true})", "{ \"_id\" : \"a\", \"m\" : 1 }"),
        ("db.c.findOneAndDelete({_id: 'a'})", "{ \"_id\" : \"a\", \"m\" : 1 }"),
        ("db.c.findAndModify({query: {}, remove: true})", "null"),
        ("db.runCommand({findandmodify: 'c', query: {_id: 'b'}, update: {$inc: {n: 1}}, new: true, upsert: true}).value.n", "1"),
        ("try { db.c.findAndModify({query: {}}) } catch (e) { print(e.code, e.message.split('\\n')[0]) }", "9 findAndModifyFailed failed: {"),
    ]);
}

#[test]
fn a_refused_command_is_an_answer_in_the_classic_shell_and_thrown_in_mongosh() {
    mongo().talks(&[
        ("db.runCommand({nope: 1}).codeName", "CommandNotFound"),
        ("db.runCommand({nope: 1})", "{\n\t\"ok\" : 0,\n\t\"errmsg\" : \"no such command: 'nope'\",\n\t\"code\" : 59,\n\t\"codeName\" : \"CommandNotFound\"\n}"),
        ("db.runCommand('ping')", "{ \"ok\" : 1 }"),
    ]);
    mongosh().talks(&[
        ("try { db.runCommand({nope: 1}) } catch (e) { print(e.name, e.code, e.codeName, e.message) }", "MongoServerError 59 CommandNotFound no such command: 'nope'"),
    ]);
}
