//! What values look like: the classic shell's text and mongosh's, to the character.

mod mongo;
mod mongosh;

use bson::Bson;
use tally::print::{Object, Origin, Shown};

/// A value as a script would have built it: its numbers are JavaScript's.
fn script(value: impl Into<Bson>) -> Shown {
    built(value.into(), Origin::Script)
}

/// A value as a server would have sent it.
fn served(value: impl Into<Bson>) -> Shown {
    built(value.into(), Origin::Server)
}

fn built(value: Bson, origin: Origin) -> Shown {
    match value {
        Bson::Int32(number) => Shown::Number(f64::from(number)),
        Bson::Double(number) => Shown::Number(number),
        Bson::Undefined => Shown::Undefined,
        Bson::Array(elements) => Shown::Array(
            elements.into_iter().map(|element| built(element, origin)).collect(),
            origin,
        ),
        Bson::Document(document) => Shown::Object(Object {
            name: None,
            fields: document.into_iter().map(|(key, value)| (key, built(value, origin))).collect(),
            origin,
        }),
        other => Shown::Value(other),
    }
}

fn text(text: &str) -> Shown {
    Shown::Value(Bson::String(text.to_owned()))
}

fn object(fields: Vec<(&str, Shown)>) -> Shown {
    named("", fields)
}

fn named(name: &str, fields: Vec<(&str, Shown)>) -> Shown {
    Shown::Object(Object {
        name: (!name.is_empty()).then(|| name.to_owned()),
        fields: fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        origin: Origin::Script,
    })
}

fn array(elements: Vec<Shown>) -> Shown {
    Shown::Array(elements, Origin::Script)
}

fn result(name: &str, fields: Vec<(&str, Shown)>) -> Shown {
    Shown::Result {
        name: name.to_owned(),
        fields: fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    }
}

fn error(text: &str) -> Shown {
    Shown::Error { text: text.to_owned(), stack: String::new(), fields: Vec::new() }
}
