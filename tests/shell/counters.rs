//! `counter()` and `nextVal()`.

use super::{mongo, mongosh};

#[test]
fn a_counter_counts_from_one_and_stays_an_integer() {
    let mut shell = mongo();
    shell.talks(&[
        ("[counter('users'), counter('users'), counter('posts')]", "[ 1, 2, 1 ]"),
        ("db.counters.find({next: {$type: 'int'}}).count()", "2"),
        ("counter('users', {step: 10})", "12"),
        ("counter('big', {count: 100})", "{ \"first\" : 1, \"last\" : 100 }"),
        ("counter('big')", "101"),
        ("[counter('o@a', {start: 1, step: 2}), counter('o@b', {start: 2, step: 2}), counter('o@a', {start: 1, step: 2})]", "[ 1, 2, 3 ]"),
        ("counter('block', {start: 1000, step: 5, count: 3})", "{ \"first\" : 1000, \"last\" : 1010 }"),
        ("counter('block', {start: 1000, step: 5, count: 3})", "{ \"first\" : 1015, \"last\" : 1025 }"),
        ("counter('x', {collection: 'mine', field: 'a.b'}); db.mine.findOne()", "{ \"_id\" : \"x\", \"a\" : { \"b\" : 1 } }"),
        ("counter.peek('users')", "12"),
        ("counter.peek('nobody')", "null"),
        ("counter.reset('users', 5); counter('users')", "6"),
        ("db.t.insert([{_id: 3}, {_id: 41}]); counter.resetToMax('t', 't'); counter('t')", "42"),
        ("db.counters.insert({_id: 'l', next: NumberLong(4)}); counter('l')", "NumberLong(5)"),
    ]);
    assert_eq!(shell.noticed(), "");
}

#[test]
fn wrong_use_is_told_and_nothing_changes() {
    let missing = "Error: there is no sequence \"invoices\" in test.sequences. Create it: db.sequences.insert({_id: \"invoices\", seq: 0})  (or use counter(\"invoices\"), which creates its own); see: learn 3";
    mongo().talks(&[
        ("nextVal('invoices')", missing),
        ("db.sequences.count()", "0"),
        ("db.counters.insert({_id: 'users', next: '7'}); counter('users')", "Error: the counter \"users\" in test.counters holds a string in its field next (\"7\"); it was left as it is; see: learn 1"),
        ("db.counters.findOne().next", "7"),
        ("db.counters.insert({_id: 'end', next: NumberLong('9223372036854775807')}); counter('end')", "Error: sequence exhausted: the counter \"end\" in test.counters holds 9223372036854775807 in its field next, and +1 passes the end of 64-bit integers; it was left as it is; see: learn 6"),
        ("counter()", "Error: counter needs a name: counter(\"users\")"),
        ("counter('')", "Error: counter needs a name that is not empty"),
        ("counter('u', {step: 1.5})", "Error: counter: step must be a whole number, not 1.5"),
        ("counter('u', {step: 0})", "Error: counter: step must not be 0"),
        ("counter('u', {count: 0})", "Error: counter: count must be at least 1, not 0"),
        ("counter('u', {stpe: 1})", "Error: counter has no option stpe. Did you mean step?"),
        ("counter.peek('u')", "null"),
    ]);
}

#[test]
fn a_sequence_goes_on_where_its_document_stands() {
    mongo().talks(&[(
        "db.sequences.insert({_id: 'posts', seq: 0}); [nextVal('posts'), nextVal('posts')]",
        "[ 1, 2 ]",
    )]);
    let mut shell = mongo();
    shell.says("counter('users', {step: 42}); db.sequences.insert({_id: 'posts', seq: 7})");
    shell.talks(&[(
        "show counters",
        "users     42  counters.next   int\nposts      7  sequences.seq   double",
    )]);
}

#[test]
fn counters_follow_the_current_database_and_may_be_replaced() {
    mongo().talks(&[
        ("counter('a'); db = db.getSiblingDB('shop'); counter('a')", "1"),
        ("db.getSiblingDB('test').counters.findOne().next", "1"),
        ("function counter(name) { return 'mine ' + name }", ""),
        ("counter('a')", "mine a"),
    ]);
    mongosh()
        .talks(&[("counter('a')", "1"), ("counter('a', {count: 2})", "{ first: 2, last: 3 }")]);
}
