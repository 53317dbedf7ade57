"""Logs in, and with a wrong password does not."""

import sys

from pymongo import MongoClient, errors

address = sys.argv[1]
print(MongoClient(address).shop.t.count_documents({}))
try:
    MongoClient(address.replace("s3cret", "wrong")).shop.t.count_documents({})
except errors.OperationFailure as error:
    print(type(error).__name__, error.code)
