//! Database calls as code: every call and every value in every language, against golden text, and read by the
//! languages' own tools.

mod calls;
mod drivers;
mod golden;
mod tools;

use bson::{Bson, Document, RawDocumentBuf, doc};
use tally::translate::{self, Language};

/// The code of a command for one language.
fn code(command: &Document, language: &Language) -> String {
    let command = RawDocumentBuf::try_from(command).unwrap();
    translate::code("test", &command, [language]).unwrap().join("\n")
}

/// A command that stores a value.
fn insert(value: Bson) -> Document {
    doc! { "insert": "c", "documents": [{ "v": value }], "ordered": true }
}

#[test]
fn what_cannot_be_written_any_more_is_told() {
    let node = translate::language("node").unwrap();
    let symbol = code(&insert(Bson::Symbol("s".into())), node);
    assert!(symbol.contains("// a symbol, which drivers no longer write, is a string here\n"));
    assert!(symbol.contains("{ v: \"s\" }"));
    let undefined = code(&insert(Bson::Undefined), node);
    assert!(undefined.contains("// undefined,") && undefined.contains("{ v: null }"));
}

#[test]
fn no_command_breaks_the_translator() {
    let odd = [
        doc! {},
        doc! { "": "" },
        doc! { "findAndModify": "c" },
        doc! { "findAndModify": 1, "query": [] },
        doc! { "find": "c", "filter": 1, "limit": f64::NAN },
        doc! { "find": "", "filter": {}, "limit": -1 },
        doc! { "update": "c", "updates": [] },
        doc! { "update": "c", "updates": [1] },
        doc! { "update": "c", "updates": [{ "q": {}, "u": [], "multi": true }] },
        doc! { "insert": "c", "documents": [] },
        doc! { "createIndexes": "c", "indexes": [{ "key": {}, "name": "" }] },
        doc! { "dropIndexes": "c", "index": ["a"] },
        doc! { "aggregate": "c", "pipeline": [] , "cursor": { "batchSize": i64::MIN } },
        doc! { "distinct": "c", "key": 1 },
        doc! { "find": "c", "filter": {}, "collation": { "strength": 9, "locale": 1 } },
        doc! { "find": "c", "filter": {}, "sort": { "s": { "$meta": "textScore" } } },
        doc! { "drop": "odd name\n\"'$#{x}\\" },
    ];
    for command in odd {
        for language in translate::LANGUAGES {
            assert!(code(&command, language).lines().count() >= 2, "{command}");
        }
    }
    let mut deep = doc! {};
    for _ in 0..190 {
        deep = doc! { "a": [deep] };
    }
    for language in translate::LANGUAGES {
        assert!(code(&insert(Bson::Document(deep.clone())), language).matches("a").count() > 180);
    }
}
