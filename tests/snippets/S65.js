newObjectId = ObjectId("507f1f77bcf86cd799439011")
print(newObjectId.valueOf() == "507f1f77bcf86cd799439011", newObjectId.toString(), newObjectId.str)
// legacy: true and twice the hex string (mongosh: see the remark)
print(newObjectId.getTimestamp().toISOString())
// -> 2012-10-17T21:13:27.000Z
print(ObjectId().toString().length, new ObjectId() instanceof ObjectId)
// legacy toString is ObjectId("...") (34 characters); mongosh: 24
