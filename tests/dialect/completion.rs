//! Colours and completion: the tokens of a text and what is being typed in it.

use tally::dialect::{Kind, Place, context, tokens};

/// The tokens of a text with their kinds.
fn painted(text: &str) -> Vec<(&str, Kind)> {
    tokens(text).into_iter().map(|token| (&text[token.span], token.kind)).collect()
}

#[test]
fn every_token_has_its_kind() {
    use Kind::*;
    assert_eq!(
        painted("if (db.a > 1) <k: “x”> // c"),
        [
            ("if", Keyword),
            ("(", Punctuation),
            ("db", Word),
            (".", Punctuation),
            ("a", Member),
            (">", Punctuation),
            ("1", Number),
            (")", Punctuation),
            ("<", Document),
            ("k", Key),
            (":", Document),
            ("“x”", String),
            (">", Document),
            ("// c", Comment),
        ]
    );
    assert_eq!(painted("use shop;"), [("use", Verb), ("shop", Argument), (";", Punctuation)]);
    assert_eq!(painted("it"), [("it", Verb)]);
    assert_eq!(
        painted("async function* f() { return /a/ }"),
        [
            ("async", Keyword),
            ("function", Keyword),
            ("*", Punctuation),
            ("f", Word),
            ("(", Punctuation),
            (")", Punctuation),
            ("{", Punctuation),
            ("return", Keyword),
            ("/a/", Regex),
            ("}", Punctuation),
        ]
    );
    assert_eq!(
        painted("`a${b}c`"),
        [
            ("`", Template),
            ("a", Template),
            ("${", Template),
            ("b", Word),
            ("}", Template),
            ("c", Template),
            ("`", Template),
        ]
    );
    assert_eq!(painted("x = null"), [("x", Word), ("=", Punctuation), ("null", Constant)]);
    // While it is typed.
    assert_eq!(painted("f(\"ab"), [("f", Word), ("(", Punctuation), ("\"ab", String)]);
    assert_eq!(painted("f(]"), [("f", Word), ("(", Punctuation), ("]", Broken)]);
}

#[test]
fn tokens_come_in_order_and_miss_only_blanks() {
    for text in [
        "let {a, b: [c]} = <d>, e = class extends F { #g = 1; static {} }",
        "for await (const x of y) { }",
    ] {
        let mut at = 0;
        for token in tokens(text) {
            assert!(text[at..token.span.start].trim().is_empty(), "{text:?} at {at}");
            assert!(token.span.start >= at && token.span.end > token.span.start);
            at = token.span.end;
        }
        assert!(text[at..].trim().is_empty(), "{text:?} at {at}");
    }
}

/// What is being typed at the end of a text, and its prefix.
fn typed(text: &str) -> (Place, String) {
    let context = context(text, text.len());
    assert_eq!(&text[context.start..], context.prefix);
    (context.place, context.prefix)
}

fn member(chain: &[&str]) -> Place {
    Place::Member { chain: chain.iter().map(|link| (*link).to_owned()).collect() }
}

fn key(call: &[&str], argument: usize, path: &[&str]) -> Place {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Place::Key { call: owned(call), argument, path: owned(path) }
}

fn argument(verb: &str, before: &[&str]) -> Place {
    Place::Argument {
        verb: verb.into(),
        before: before.iter().map(|text| (*text).to_owned()).collect(),
    }
}

#[test]
fn a_member_is_completed_after_its_chain() {
    assert_eq!(typed("db.users.ins"), (member(&["db", "users"]), "ins".into()));
    assert_eq!(typed("db."), (member(&["db"]), String::new()));
    assert_eq!(typed("x = db.us"), (member(&["db"]), "us".into()));
    assert_eq!(typed("f(1, db.users.find().so"), (member(&["db", "users", "find()"]), "so".into()));
    assert_eq!(
        typed("db.users\n  .find({a: 1})\n  .so"),
        (member(&["db", "users", "find()"]), "so".into())
    );
    assert_eq!(typed("db[\"my users\"].fi"), (member(&["db", "my users"]), "fi".into()));
    assert_eq!(typed("db?.users?.fi"), (member(&["db", "users"]), "fi".into()));
    assert_eq!(typed("db.a.insert(<x: db.b.co"), (member(&["db", "b"]), "co".into()));
    assert_eq!(typed("(a + b).le"), (member(&["()"]), "le".into()));
    assert_eq!(typed("`${db.us"), (member(&["db"]), "us".into()));
}

#[test]
fn a_key_is_completed_with_its_call() {
    let insert = ["db", "users", "insert"];
    assert_eq!(
        typed("db.users.insert(<_id: counter(\"users\"), na"),
        (key(&insert, 0, &[]), "na".into())
    );
    assert_eq!(typed("db.users.insert({"), (key(&insert, 0, &[]), String::new()));
    assert_eq!(typed("db.a.find({age: {$g"), (key(&["db", "a", "find"], 0, &["age"]), "$g".into()));
    assert_eq!(typed("db.a.find(<age: <$g"), (key(&["db", "a", "find"], 0, &["age"]), "$g".into()));
    assert_eq!(
        typed("db.a.update({a: 1}, {$set: {b: 1}, $"),
        (key(&["db", "a", "update"], 1, &[]), "$".into())
    );
    assert_eq!(
        typed("db.a.aggregate([{$match: {}}, {$gr"),
        (key(&["db", "a", "aggregate"], 0, &[]), "$gr".into())
    );
    assert_eq!(typed("x = {a: 1, b"), (key(&[], 0, &[]), "b".into()));
    // A value is a name.
    assert_eq!(
        typed("db.users.insert(<_id: cou"),
        (Place::Name { statement: false }, "cou".into())
    );
}

#[test]
fn a_shell_word_is_completed() {
    assert_eq!(typed("show d"), (argument("show", &[]), "d".into()));
    assert_eq!(typed("show "), (argument("show", &[]), String::new()));
    assert_eq!(typed("x = 1\nuse sh"), (argument("use", &[]), "sh".into()));
    assert_eq!(typed("show log "), (argument("show", &["log"]), String::new()));
    assert_eq!(typed("help "), (argument("help", &[]), String::new()));
    assert_eq!(typed("sho"), (Place::Name { statement: true }, "sho".into()));
    assert_eq!(typed(""), (Place::Name { statement: true }, String::new()));
    assert_eq!(typed("f(sho"), (Place::Name { statement: false }, "sho".into()));
}

#[test]
fn nothing_is_completed_inside_texts() {
    for text in ["f(\"db.", "// db.", "/* db.", "x = /db.", "`db.", "12", "f('a"] {
        assert_eq!(typed(text).0, Place::Nothing, "{text:?}");
    }
    // A cursor inside a character is the end; one past the end too.
    assert_eq!(context("ä", 1).prefix, "ä");
    assert_eq!(context("db.x", 99).prefix, "x");
}
