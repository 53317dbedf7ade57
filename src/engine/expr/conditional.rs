//! Choices: only the branch that is taken is evaluated.

use bson::Bson;

use super::expression::truth;
use super::named::{parameters, refused, required};
use super::{Form, MANY, Node, Operator, Parse, Parser, Place, Value};
use crate::error::{Code, Error, Result};
use crate::value::kind::name as type_name;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$cond",
        arguments: (3, 3),
        help: "one of two values: {if, then, else} or [if, then, else]",
        parse: Parse::Form(parse_cond),
    },
    Operator {
        name: "$ifNull",
        arguments: (2, MANY),
        help: "the first value that is neither null nor missing, else the last",
        parse: Parse::Form(parse_if_null),
    },
    Operator {
        name: "$switch",
        arguments: (1, 1),
        help: "the value of the first true case: {branches: [{case, then}], default}",
        parse: Parse::Form(parse_switch),
    },
];

fn parse_cond(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let mut operands = if let Bson::Document(_) = argument {
        let not_document = (0, "");
        let unknown = (17083, "Unrecognized parameter to $cond: {}");
        let [condition, then, otherwise] =
            parameters(argument, ["if", "then", "else"], not_document, unknown)?;
        vec![
            parser.parse(required(condition, 17080, "Missing 'if' parameter to $cond")?)?,
            parser.parse(required(then, 17081, "Missing 'then' parameter to $cond")?)?,
            parser.parse(required(otherwise, 17082, "Missing 'else' parameter to $cond")?)?,
        ]
    } else {
        parser.arguments(operator, argument)?
    };
    let otherwise = operands.pop();
    let then = operands.pop();
    let branches = operands.pop().zip(then).into_iter().collect();
    Ok(Node::Form(Box::new(Choice { branches, otherwise })))
}

fn parse_switch(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (40060, "$switch requires an object as an argument, found: {}");
    let unknown = (40067, "$switch found an unknown argument: {}");
    let [list, default] = parameters(argument, ["branches", "default"], not_document, unknown)?;
    let mut branches = Vec::new();
    if let Some(list) = list {
        let Bson::Array(list) = list else {
            return Err(refused(
                (40061, "$switch expected an array for 'branches', found: {}"),
                type_name(list),
            ));
        };
        for branch in list {
            let not_document = (40062, "$switch expected each branch to be an object, found: {}");
            let unknown = (40063, "$switch found an unknown argument to a branch: {}");
            let [case, then] = parameters(branch, ["case", "then"], not_document, unknown)?;
            let case =
                required(case, 40064, "$switch requires each branch have a 'case' expression")?;
            let then =
                required(then, 40065, "$switch requires each branch have a 'then' expression.")?;
            branches.push((parser.parse(case)?, parser.parse(then)?));
        }
    }
    if branches.is_empty() {
        return Err(Error::command(Code(40068), "$switch requires at least one branch."));
    }
    let otherwise = default.map(|default| parser.parse(default)).transpose()?;
    Ok(Node::Form(Box::new(Choice { branches, otherwise })))
}

/// `$cond` and `$switch`: the first branch whose condition holds.
#[derive(Debug)]
struct Choice {
    branches: Vec<(Node, Node)>,
    otherwise: Option<Node>,
}

impl Form for Choice {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        for (condition, value) in &self.branches {
            if truth(condition.evaluate(place)?.as_deref()) {
                return value.evaluate(place);
            }
        }
        match &self.otherwise {
            Some(otherwise) => otherwise.evaluate(place),
            None => Err(Error::command(
                Code(40066),
                "$switch could not find a matching branch for an input, and no default was specified.",
            )),
        }
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        let branches = self.branches.iter_mut().flat_map(|(condition, value)| [condition, value]);
        branches.chain(self.otherwise.as_mut()).collect()
    }
}

fn parse_if_null(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let operands = parser.list("$ifNull", (0, MANY), argument)?;
    if operands.len() < 2 {
        let message = format!("$ifNull needs at least two arguments, had: {}", operands.len());
        return Err(Error::command(Code(1257300), message));
    }
    Ok(Node::Form(Box::new(FirstPresent { operands })))
}

/// `$ifNull`.
#[derive(Debug)]
struct FirstPresent {
    operands: Vec<Node>,
}

impl Form for FirstPresent {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let mut value = None;
        for operand in &self.operands {
            value = operand.evaluate(place)?;
            if !matches!(value.as_deref(), None | Some(Bson::Null | Bson::Undefined)) {
                break;
            }
        }
        Ok(value)
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        self.operands.iter_mut().collect()
    }
}
