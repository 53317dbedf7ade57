function insertNumbered(doc, coll) {
    while (1) {
        var cursor = coll.find( {}, { _id: 1 } ).sort( { _id: -1 } ).limit(1);
        var seq = cursor.hasNext() ? cursor.next()._id + 1 : 1;
        doc._id = seq;
        var res = coll.insert(doc);
        if (res.hasWriteError()) {
            if (res.writeError.code == 11000 /* duplicate */)
                continue;
            else
                print("unexpected error: " + tojson(res));
        }
        break;
    }
}
insertNumbered({ n: "x" }, db.people2);
insertNumbered({ n: "y" }, db.people2);
print(db.people2.find().sort({ _id: 1 }).map(function (d) { return d._id; }));
// -> 1,2
