db.members.insertMany([{ _id: 1, name: "Ann" }, { _id: 2, name: "Ben" }])
db.members.find()
{ "_id" : 1, "name" : "Ann" }
{ "_id" : 2, "name" : "Ben" }
{
  _id : 1,
  name : "Ann"
}
