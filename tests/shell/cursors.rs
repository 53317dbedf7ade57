//! Cursors: lazy, chained, shown page by page.

use super::{mongo, mongosh};

const SEED: &str = "for (var i = 1; i <= 25; i++) db.t.insert({_id: i}); 0";

#[test]
fn chained_methods_build_one_query() {
    let mut shell = mongo();
    shell.says(SEED);
    shell.talks(&[
        ("db.t.find({_id: {$gt: 3}}).sort({_id: -1}).skip(1).limit(2)", "{ \"_id\" : 24 }\n{ \"_id\" : 23 }"),
        ("db.t.find().sort({_id: -1}).limit(1)[0]._id + 1", "26"),
        ("db.t.find().limit(5).count() + ' ' + db.t.find().limit(5).size() + ' ' + db.t.find().limit(5).itcount() + ' ' + db.t.find().limit(5).length()", "25 5 5 5"),
        ("db.t.find().limit(3).map(d => d._id)", "[ 1, 2, 3 ]"),
        ("var n = 0; db.t.find().forEach(d => { n += d._id }); n", "325"),
        ("var ids = []; for (const d of db.t.find().limit(2)) ids.push(d._id); ids", "[ 1, 2 ]"),
        ("var c = db.t.find().limit(1); [c.hasNext(), c.next()._id, c.hasNext()].join()", "true,1,false"),
        ("c.next()", "Error: error hasNext: false"),
        ("c.sort({a: 1})", "Error: query already executed"),
        ("db.t.find({}, {_id: 0}).limit(1)", "{  }"),
        ("db.t.find().limit(1).pretty()", "{ \"_id\" : 1 }"),
        ("db.t.find({_id: 99})", ""),
        ("db.t.findOne({_id: 99})", "null"),
        ("db.t.find().toArray().length", "25"),
        ("db.t.find().batchSize(2).toArray().length", "25"),
        ("db.t.aggregate([{$match: {_id: {$lt: 3}}}])", "{ \"_id\" : 1 }\n{ \"_id\" : 2 }"),
        ("db.t.aggregate({$match: {_id: 1}}, {$project: {x: '$_id', _id: 0}}).toArray()", "[ { \"x\" : 1 } ]"),
        ("db.t.countDocuments({_id: {$gt: 20}}) + db.t.countDocuments()", "30"),
        ("db.t.distinct('_id', {_id: {$lt: 3}})", "[ 1, 2 ]"),
    ]);
}

#[test]
fn a_thrown_callback_leaves_the_rest_to_read() {
    let mut shell = mongo();
    shell.says(SEED);
    shell.talks(&[
        ("var c = db.t.find(); try { c.forEach(d => { if (d._id === 3) throw 1 }) } catch (e) {} c.next()._id", "4"),
        ("c.objsLeftInBatch()", "21"),
    ]);
}

#[test]
fn pages_follow_one_another() {
    let mut shell = mongo();
    shell.says(SEED);
    let first = shell.says("db.t.find()");
    assert!(
        first.starts_with("{ \"_id\" : 1 }\n")
            && first.ends_with("{ \"_id\" : 20 }\nType \"it\" for more"),
        "{first}"
    );
    assert!(shell.says("it").ends_with("{ \"_id\" : 25 }"));
    shell.talks(&[("it", "no cursor"), ("DBQuery.shellBatchSize = 2", "2")]);
    assert_eq!(
        shell.says("var c = db.t.find(); c"),
        "{ \"_id\" : 1 }\n{ \"_id\" : 2 }\nType \"it\" for more"
    );
    // The classic shell goes on each time a cursor is shown.
    assert_eq!(shell.says("c"), "{ \"_id\" : 3 }\n{ \"_id\" : 4 }\nType \"it\" for more");
}

#[test]
fn mongosh_shows_the_same_page_again_and_ends_with_null() {
    mongosh().talks(&[
        ("db.t.insertMany([{_id: 1}, {_id: 2}]).acknowledged", "true"),
        ("const c = db.t.find(); c", "[ { _id: 1 }, { _id: 2 } ]"),
        ("c", "[ { _id: 1 }, { _id: 2 } ]"),
        ("c.next()", "null"),
        ("db.t.find().map(d => d._id).toArray()", "[ 1, 2 ]"),
    ]);
}

#[test]
fn a_bad_query_is_told_in_each_shells_words() {
    let mut shell = mongo();
    let said = shell.says("db.t.find({$foo: 1}).toArray()");
    assert!(
        said.starts_with(
            "Error: error: {\n\t\"ok\" : 0,\n\t\"errmsg\" : \"unknown top level operator: $foo"
        ),
        "{said}"
    );
    let said = shell.says("db.t.aggregate([{$nope: 1}])");
    assert!(
        said.starts_with("Error: command failed: {") && said.ends_with("} : aggregate failed"),
        "{said}"
    );
    shell.talks(&[
        (
            "try { db.t.count({$foo: 1}) } catch (e) { print(e.code, e.message.split('\\n')[0]) }",
            "2 count failed: {",
        ),
        (
            "db.t.distinct(5)",
            "Error: The first argument to the distinct command must be a string but was a number",
        ),
    ]);
}

#[test]
fn a_text_or_an_id_stands_for_a_filter() {
    mongo().talks(&[
        ("db.t.insert({_id: ObjectId('507f1f77bcf86cd799439011'), a: 1}); db.t.find('507f1f77bcf86cd799439011').count()", "1"),
        ("db.t.findOne(ObjectId('507f1f77bcf86cd799439011')).a", "1"),
        ("db.t.find(5)", "Error: don't know how to massage : number"),
    ]);
}
