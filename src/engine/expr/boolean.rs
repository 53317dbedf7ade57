//! Truth: `$and` and `$or` stop at the first argument that decides.

use std::borrow::Cow;

use bson::Bson;

use super::expression::truth;
use super::{Arguments, Form, MANY, Node, Operator, Parse, Parser, Place, Value};
use crate::error::Result;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$and",
        arguments: (0, MANY),
        help: "whether all are true",
        parse: Parse::Form(parse_and),
    },
    Operator {
        name: "$not",
        arguments: (1, 1),
        help: "whether the argument is false",
        parse: Parse::Call(not),
    },
    Operator {
        name: "$or",
        arguments: (0, MANY),
        help: "whether any is true",
        parse: Parse::Form(parse_or),
    },
];

fn not(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(Bson::Boolean(!truth(arguments.get(0)))))
}

fn parse_and(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    Ok(Node::Form(Box::new(Connective {
        decides: false,
        operands: parser.arguments(operator, argument)?,
    })))
}

fn parse_or(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    Ok(Node::Form(Box::new(Connective {
        decides: true,
        operands: parser.arguments(operator, argument)?,
    })))
}

/// `$and` is decided by a false operand, `$or` by a true one.
#[derive(Debug)]
struct Connective {
    decides: bool,
    operands: Vec<Node>,
}

impl Form for Connective {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        for operand in &self.operands {
            if truth(operand.evaluate(place)?.as_deref()) == self.decides {
                return Ok(Some(Cow::Owned(Bson::Boolean(self.decides))));
            }
        }
        Ok(Some(Cow::Owned(Bson::Boolean(!self.decides))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        self.operands.iter_mut().collect()
    }
}
