//! Values as they stand, variables, and what needs neither: `$literal`, `$let`, `$rand`.

use std::borrow::Cow;

use bson::Bson;

use super::named::{parameters, required};
use super::{Form, Node, Operator, Parse, Parser, Place, Value, check_variable_name};
use crate::error::{Code, Error, Result};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$const",
        arguments: (1, 1),
        help: "the value as it stands; the same as $literal",
        parse: Parse::Form(parse_literal),
    },
    Operator {
        name: "$let",
        arguments: (1, 1),
        help: "an expression with variables: {vars: {name: expression}, in}",
        parse: Parse::Form(parse_let),
    },
    Operator {
        name: "$literal",
        arguments: (1, 1),
        help: "the value as it stands, dollars and all",
        parse: Parse::Form(parse_literal),
    },
    Operator {
        name: "$meta",
        arguments: (1, 1),
        help: "what a text or geographic search found out about the document",
        parse: Parse::Form(parse_meta),
    },
    Operator {
        name: "$rand",
        arguments: (0, 0),
        help: "a random number from 0 to 1",
        parse: Parse::Form(parse_rand),
    },
];

fn parse_literal(_: &'static Operator, argument: &Bson, _: &Parser<'_>) -> Result<Node> {
    Ok(Node::Constant(argument.clone()))
}

/// No search of this engine leaves metadata, so every `$meta` is refused as the server refuses one without its search.
fn parse_meta(_: &'static Operator, argument: &Bson, _: &Parser<'_>) -> Result<Node> {
    let Bson::String(name) = argument else {
        return Err(Error::command(Code(17307), "$meta only supports string arguments"));
    };
    let title = match name.as_str() {
        "textScore" => "text score",
        "searchScore" => "$searchScore",
        "searchHighlights" => "$searchHighlights",
        "geoNearDistance" => "$geoNear distance",
        "geoNearPoint" => "$geoNear point",
        "indexKey" => "index key",
        "recordId" => "record ID",
        "randVal" => "$sample random value",
        other => {
            return Err(Error::command(
                Code(17308),
                format!("Unsupported argument to $meta: {other}"),
            ));
        }
    };
    Err(Error::command(
        Code(40218),
        format!("query requires {title} metadata, but it is not available"),
    ))
}

fn parse_let(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (16874, "$let only supports an object as its argument");
    let unknown = (16875, "Unrecognized parameter to $let: {}");
    let [variables, body] = parameters(argument, ["vars", "in"], not_document, unknown)?;
    let variables = required(variables, 16876, "Missing 'vars' parameter to $let")?;
    let body = required(body, 16877, "Missing 'in' parameter to $let")?;
    let Bson::Document(variables) = variables else {
        return Err(Error::command(Code(10065), "invalid parameter: expected an object (vars)"));
    };
    // The variables do not see each other: all are evaluated outside.
    let mut values = Vec::with_capacity(variables.len());
    for (name, value) in variables {
        check_variable_name(name, false)?;
        values.push(parser.parse(value)?);
    }
    let names: Vec<&str> = variables.keys().map(String::as_str).collect();
    let body = parse_within(&names, body, parser)?;
    Ok(Node::Form(Box::new(Let { values, body })))
}

fn parse_within(names: &[&str], body: &Bson, parser: &Parser<'_>) -> Result<Node> {
    match names.split_first() {
        None => parser.deeper()?.parse(body),
        Some((first, rest)) => {
            let bound = parser.bind(first);
            parse_within(rest, body, &parser.within(&bound))
        }
    }
}

/// `$let`: the values, bound one inside the other in their order, and what is evaluated under them.
#[derive(Debug)]
struct Let {
    values: Vec<Node>,
    body: Node,
}

impl Form for Let {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let values =
            self.values.iter().map(|value| value.evaluate(place)).collect::<Result<Vec<_>>>()?;
        evaluate_within(values.into_iter(), &self.body, place).map(|value| value.map(Cow::Owned))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        self.values.iter_mut().chain([&mut self.body]).collect()
    }
}

fn evaluate_within<'a>(
    mut values: std::vec::IntoIter<Value<'a>>,
    body: &'a Node,
    place: &Place<'a>,
) -> Result<Option<Bson>> {
    match values.next() {
        None => body.value(place),
        Some(value) => {
            let frame = place.bind(value);
            evaluate_within(values, body, &place.within(&frame))
        }
    }
}

fn parse_rand(_: &'static Operator, argument: &Bson, _: &Parser<'_>) -> Result<Node> {
    match argument {
        Bson::Document(document) if document.is_empty() => Ok(Node::Form(Box::new(Random))),
        Bson::Array(elements) if elements.is_empty() => Ok(Node::Form(Box::new(Random))),
        _ => Err(Error::command(Code(3040501), "$rand does not currently accept arguments")),
    }
}

/// `$rand`.
#[derive(Debug)]
struct Random;

impl Form for Random {
    fn evaluate<'a>(&'a self, _: &Place<'a>) -> Result<Value<'a>> {
        Ok(Some(Cow::Owned(Bson::Double(random()))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        Vec::new()
    }

    fn is_pure(&self) -> bool {
        false
    }
}

/// A random number, at least 0 and less than 1.
pub(crate) fn random() -> f64 {
    // The low 64 bits of a random UUID hold 62 random bits; a double takes 53.
    let (_, low) = uuid::Uuid::new_v4().as_u64_pair();
    (low & ((1 << 53) - 1)) as f64 / (1u64 << 53) as f64
}
