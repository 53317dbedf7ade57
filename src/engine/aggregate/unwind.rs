//! `$unwind`: a document for each element of an array.

use bson::{Bson, Document};

use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Scope, check_path};
use crate::error::Result;
use crate::value::{kind, path};

pub(super) const STAGES: &[Row] = &[Row {
    name: "$unwind",
    help: "a document for each element of an array: path, or {path, includeArrayIndex, preserveNullAndEmptyArrays}",
    place: Place::Anywhere,
    parse: unwind,
}];

#[derive(Debug)]
struct Unwind {
    path: String,
    index: Option<String>,
    preserve: bool,
}

fn unwind(argument: &Bson, _: &Scope) -> Result<Box<dyn Stage>> {
    let mut path = None;
    let mut index = None;
    let mut preserve = false;
    match argument {
        Bson::String(text) => path = Some(text.as_str()),
        Bson::Document(options) => {
            for (name, value) in options {
                let found = kind::name(value);
                match (name.as_str(), value) {
                    ("path", Bson::String(text)) => path = Some(text),
                    ("path", _) => {
                        let message =
                            format!("expected a string as the path for $unwind stage, got {found}");
                        return Err(refuse(28808, message));
                    }
                    ("preserveNullAndEmptyArrays", Bson::Boolean(boolean)) => preserve = *boolean,
                    ("preserveNullAndEmptyArrays", _) => {
                        let words = "expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got";
                        return Err(refuse(28809, format!("{words} {found}")));
                    }
                    ("includeArrayIndex", Bson::String(text)) if !text.is_empty() => {
                        index = Some(text.as_str())
                    }
                    ("includeArrayIndex", _) => {
                        let words = "expected a non-empty string for the includeArrayIndex  option to $unwind stage, got";
                        return Err(refuse(28810, format!("{words} {found}")));
                    }
                    _ => {
                        return Err(refuse(
                            28811,
                            format!("unrecognized option to $unwind stage: {name}"),
                        ));
                    }
                }
            }
        }
        other => {
            let found = kind::name(other);
            let words =
                "expected either a string or an object as specification for $unwind stage, got";
            return Err(refuse(15981, format!("{words} {found}")));
        }
    }
    let path = path.ok_or_else(|| refuse(28812, "no path specified to $unwind stage"))?;
    let Some(path) = path.strip_prefix('$') else {
        return Err(refuse(
            28818,
            format!("path option to $unwind stage should be prefixed with a '$': {path}"),
        ));
    };
    if let Some(index) = index.filter(|index| index.starts_with('$')) {
        let words = "includeArrayIndex option to $unwind stage should not be prefixed with a '$':";
        return Err(refuse(28822, format!("{words} {index}")));
    }
    check_path(path)?;
    index.map_or(Ok(()), check_path)?;
    Ok(Box::new(Unwind { path: path.to_owned(), index: index.map(str::to_owned), preserve }))
}

impl Stage for Unwind {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        Box::new(input.flat_map(move |document| {
            let parts = match document {
                Ok(document) => self.parts(document),
                Err(error) => Box::new(std::iter::once(Err(error))),
            };
            parts.map(|part| context.interrupt.check().and(part))
        }))
    }
}

impl Unwind {
    fn parts<'a>(&'a self, mut document: Document) -> Documents<'a> {
        let elements = match path::resolve(&document, &self.path) {
            Some(Bson::Array(elements)) if !elements.is_empty() => {
                match place(&mut document, &self.path).map(std::mem::take) {
                    Some(Bson::Array(elements)) => elements,
                    _ => Vec::new(),
                }
            }
            Some(Bson::Array(_)) => {
                // Preserved without the field.
                remove(&mut document, &self.path);
                return self.whole(document, self.preserve);
            }
            None | Some(Bson::Null | Bson::Undefined) => {
                return self.whole(document, self.preserve);
            }
            Some(_) => return self.whole(document, true),
        };
        let last = elements.len() - 1;
        Box::new(elements.into_iter().enumerate().map(move |(at, element)| {
            let mut part =
                if at == last { std::mem::take(&mut document) } else { document.clone() };
            if let Some(place) = place(&mut part, &self.path) {
                *place = element;
            }
            self.number(&mut part, Bson::Int64(at as i64));
            Ok(part)
        }))
    }

    /// The document itself, when it has nothing to unwind.
    fn whole<'a>(&'a self, mut document: Document, kept: bool) -> Documents<'a> {
        if !kept {
            return Box::new(std::iter::empty());
        }
        self.number(&mut document, Bson::Null);
        Box::new(std::iter::once(Ok(document)))
    }

    fn number(&self, document: &mut Document, index: Bson) {
        if let Some(name) = &self.index {
            set(document, name, index);
        }
    }
}

/// The value at a path through documents.
fn place<'d>(document: &'d mut Document, path: &str) -> Option<&'d mut Bson> {
    match path.split_once('.') {
        None => document.get_mut(path),
        Some((name, rest)) => place(document.get_mut(name)?.as_document_mut()?, rest),
    }
}

fn remove(document: &mut Document, path: &str) {
    match path.split_once('.') {
        None => drop(document.remove(path)),
        Some((name, rest)) => {
            if let Some(Bson::Document(inner)) = document.get_mut(name) {
                remove(inner, rest);
            }
        }
    }
}

/// Sets a value at a path, making documents on the way.
pub(super) fn set(document: &mut Document, path: &str, value: Bson) {
    match path.split_once('.') {
        None => drop(document.insert(path, value)),
        Some((name, rest)) => {
            let inner = document.entry(name).or_insert_with(|| Bson::Document(Document::new()));
            if !matches!(inner, Bson::Document(_)) {
                *inner = Bson::Document(Document::new());
            }
            if let Bson::Document(inner) = inner {
                set(inner, rest, value);
            }
        }
    }
}
