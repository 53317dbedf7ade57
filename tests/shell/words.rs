//! Shell words and help.

use super::{mongo, mongosh};

#[test]
fn words_of_the_classic_shell() {
    mongo().talks(&[
        ("use shop", "switched to db shop"),
        ("db", "shop"),
        ("db.b.insert({}); db.a.insert({}); 1", "1"),
        ("show collections", "a\nb"),
        ("show tables", "a\nb"),
        ("show foo", "don't know how to show [foo]"),
        ("show collection", "don't know how to show [collection]. Did you mean collections?"),
        ("show profile", "db.system.profile is empty\nUse db.setProfilingLevel(2) will enable profiling\nUse db.system.profile.find() to show raw profile entries"),
        ("it", "no cursor"),
        ("help nothing-like-this", "unknown help option"),
        ("use('other'); db.getName()", "other"),
        ("show('collections')", ""),
    ]);
    let mut shell = mongo();
    shell.says("db.t.insert({})");
    let said = shell.says("show dbs");
    assert!(said.lines().any(|line| line.starts_with("test ") && line.ends_with("GB")), "{said}");
}

#[test]
fn words_of_mongosh() {
    mongosh().talks(&[
        ("use shop extra", "switched to db shop"),
        ("show foo", "[COMMON-10001] 'foo' is not a valid argument for \"show\"."),
    ]);
    let mut shell = mongosh();
    shell.says("db.createCollection('a'); db.createView('vw', 'a', [])");
    let said = shell.says("show collections");
    assert_eq!(said, "a\nvw  [view]");
}

#[test]
fn help_is_made_of_the_tables() {
    let mut shell = mongo();
    let help = shell.says("help");
    assert!(help.starts_with("\tdb.help()                    help on db methods\n"), "{help}");
    let db = shell.says("db.help()");
    assert!(db.starts_with("DB methods:\n\tdb.addUser(user) - "), "{db}");
    let collection = shell.says("db.users.help()");
    assert!(collection.starts_with("DBCollection help\n\tdb.users.find().help() - show DBCursor help\n\tdb.users.aggregate("), "{collection}");
    let departures = shell.says("help departures");
    assert!(departures.contains("countDocuments()"), "{departures}");
    let mongosh = mongosh().says("db.help()");
    assert!(mongosh.starts_with("\n  Database Class:\n\n    addUser"), "{mongosh}");
}

#[test]
fn the_catalog_is_told() {
    mongo().talks(&[
        ("db.b.insert({}); db.a.insert({}); db.getCollectionNames()", "[ \"a\", \"b\" ]"),
        ("db.getCollectionInfos({name: 'a'})[0].type", "collection"),
        ("db.a.createIndex({x: 1}).numIndexesAfter", "2"),
        ("db.a.getIndexes().map(i => i.name)", "[ \"_id_\", \"x_1\" ]"),
        ("db.nothing.getIndexes()", "[ ]"),
        ("db.a.dropIndex('nope').codeName", "IndexNotFound"),
        (
            "db.a.dropIndex('*')",
            "Error: To drop indexes in the collection using '*', use db.collection.dropIndexes()",
        ),
        ("db.a.drop()", "true"),
        ("db.a.drop()", "true"),
        ("db.createCollection('b', {capped: true, size: 1000}).codeName", "NamespaceExists"),
        ("db.b.renameCollection('c').ok", "1"),
        ("db.c.exists().name + db.c.isCapped()", "cfalse"),
        ("db.dropDatabase()", "{ \"dropped\" : \"test\", \"ok\" : 1 }"),
    ]);
    mongosh().talks(&[
        ("db.a.createIndex({x: 1})", "x_1"),
        ("db.a.createIndexes([{y: 1}, {z: -1}])", "[ 'y_1', 'z_-1' ]"),
        ("db.dropDatabase()", "{ ok: 1, dropped: 'test' }"),
    ]);
}
