"""What a script does with pymongo 3.11 and 4: a sequence, a bulk of documents, cursors, indexes, errors, sessions."""

import sys
import threading

from pymongo import ASCENDING, MongoClient, ReturnDocument, UpdateOne, errors

address, compressors = sys.argv[1], sys.argv[2]
options = {} if compressors == "none" else {"compressors": compressors}
client = MongoClient(address, **options)
db = client["basics"]


def counter(name):
    document = db.counters.find_one_and_update(
        {"_id": name}, {"$inc": {"next": 1}}, upsert=True, return_document=ReturnDocument.AFTER
    )
    return document["next"]


print(counter("users"), counter("users"), counter("posts"))

taken = []


def take():
    taken.extend(counter("race") for _ in range(50))


threads = [threading.Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(sorted(taken) == list(range(1, 201)))

result = db.t.insert_many({"_id": n, "even": n % 2 == 0, "text": "x" * 100} for n in range(1000))
print(len(result.inserted_ids), db.t.count_documents({"even": True}), db.t.estimated_document_count())
print(sum(document["_id"] for document in db.t.find().batch_size(7)))
print(db.t.distinct("even"), db.t.find_one({"_id": 500}, {"text": 0}))
print(db.t.create_index([("even", ASCENDING), ("_id", ASCENDING)]), sorted(db.t.index_information()))
update = db.t.bulk_write([UpdateOne({"_id": n}, {"$set": {"new": True}}) for n in range(10)])
print(update.modified_count, db.t.delete_many({"_id": {"$gte": 900}}).deleted_count)
pipeline = [{"$group": {"_id": "$even", "n": {"$sum": 1}}}, {"$sort": {"_id": 1}}]
print(list(db.t.aggregate(pipeline)))
try:
    db.t.insert_one({"_id": 1})
except errors.DuplicateKeyError as error:
    print(error.code)
try:
    db.command("frobnicate")
except errors.OperationFailure as error:
    print(error.code, error.details["codeName"])
try:
    db.t.insert_many([{"_id": 5000}, {"_id": 1}, {"_id": 5001}], ordered=False)
except errors.BulkWriteError as error:
    print(error.details["nInserted"], [one["index"] for one in error.details["writeErrors"]])
with client.start_session() as session:
    print(db.t.find_one({"_id": 7}, {"_id": 1}, session=session))
cursor = db.t.find({}, {"_id": 1}).batch_size(2)
print(next(cursor)["_id"], cursor.alive)
cursor.close()
with_zero = db.t.with_options(write_concern=__import__("pymongo").WriteConcern(w=0))
with_zero.insert_one({"_id": "unasked"})
print(sorted(name for name in client.list_database_names() if name == "basics"), sorted(db.list_collection_names()))
print(client.server_info()["version"].split(".")[0], client.admin.command("ping"))
client.drop_database("basics")
print(db.list_collection_names())
client.close()
