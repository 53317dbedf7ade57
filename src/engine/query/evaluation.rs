//! `$comment`, `$expr`, `$mod`, `$regex` with `$options`, `$sampleRate`, `$where`.

use std::sync::Arc;

use bson::Bson;

use crate::bad_value;
use crate::engine::expr::Expression;
use crate::error::Result;
use crate::value::number::Number;
use crate::value::path::Path;

use super::node::{Node, Test};
use super::parse::Reader;
use super::pattern::Pattern;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$comment",
        help: "a remark for whoever reads the query",
        parse: Parse::Top(comment),
    },
    Operator {
        name: "$comment",
        help: "a remark for whoever reads the query",
        parse: Parse::Field(field_comment),
    },
    Operator { name: "$expr", help: "an aggregation expression is true", parse: Parse::Top(expr) },
    Operator {
        name: "$mod",
        help: "divided by the first number leaves the second",
        parse: Parse::Field(modulo),
    },
    Operator { name: "$options", help: "flags of $regex: i m s u x", parse: Parse::Field(options) },
    Operator {
        name: "$regex",
        help: "the string matches a regular expression",
        parse: Parse::Field(regex),
    },
    Operator {
        name: "$sampleRate",
        help: "matches this share of the documents, at random",
        parse: Parse::Top(sample_rate),
    },
    Operator {
        name: "$where",
        help: "a JavaScript function answers true",
        parse: Parse::Top(javascript),
    },
];

fn comment(_: &Bson, _: &Reader<'_>) -> Result<Node> {
    Ok(Node::Always(true))
}

fn field_comment(_: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    Ok(Node::Always(true))
}

fn expr(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    if reader.inside_element() {
        return Err(bad_value!("$expr can only be applied to the top-level document"));
    }
    let expression = Expression::parse(value, reader.scope())?;
    let expression = Box::new(expression);
    let source = bson::doc! { "$expr": value.clone() };
    Ok(Node::Expression { source, expression, scope: Arc::clone(reader.scope()) })
}

/// A comparison of `$rand` with the rate; a rate of 0 or 1 leaves nothing to chance.
fn sample_rate(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    let Some(rate) = Number::of(value).map(Number::to_f64) else {
        return Err(bad_value!("argument to $sampleRate must be a numeric type"));
    };
    if !(0.0..=1.0).contains(&rate) {
        return Err(bad_value!("numeric argument to $sampleRate must be in [0, 1]"));
    }
    if rate == 0.0 || rate == 1.0 {
        return Ok(Node::Always(rate == 1.0));
    }
    expr(&bson::bson!({ "$lt": [{ "$rand": {} }, rate] }), reader)
}

fn javascript(value: &Bson, reader: &Reader<'_>) -> Result<Node> {
    if reader.inside_element() {
        return Err(bad_value!("$where can only be applied to the top-level document"));
    }
    let (Bson::String(text) | Bson::JavaScriptCode(text)) = value else {
        return Err(bad_value!("$where got bad type"));
    };
    // The words of a server that was started without JavaScript.
    let expression = Expression::javascript(text, reader.scope())
        .ok_or_else(|| bad_value!("no globalScriptEngine in $where parsing"))?;
    let source = bson::doc! { "$where": Bson::JavaScriptCode(text.clone()) };
    let (expression, scope) = (Box::new(expression), Arc::clone(reader.scope()));
    Ok(Node::Expression { source, expression, scope })
}

fn modulo(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let Bson::Array(values) = operand.value else {
        return Err(bad_value!("malformed mod, needs to be an array"));
    };
    let (divisor, remainder) = match values.as_slice() {
        [] | [_] => return Err(bad_value!("malformed mod, not enough elements")),
        [divisor, remainder] => (divisor, remainder),
        _ => return Err(bad_value!("malformed mod, too many elements")),
    };
    let divisor = whole("divisor", divisor)?;
    let remainder = whole("remainder", remainder)?;
    if divisor == 0 {
        return Err(bad_value!("divisor cannot be 0"));
    }
    Ok(Node::Field(Path::new(operand.path), Test::Modulo { divisor, remainder }))
}

/// The integer part of one of the two numbers of `$mod`.
fn whole(what: &str, value: &Bson) -> Result<i64> {
    let Some(number) = Number::of(value) else {
        return Err(bad_value!("malformed mod, {what} not a number"));
    };
    number.to_i64().ok_or_else(|| {
        let why =
            if number.is_finite() { "Out of bounds coercing" } else { "Unable to coerce NaN/Inf" };
        bad_value!("malformed mod, {what} value is invalid :: caused by :: {why} to integral type")
    })
}

fn regex(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    let options = match operand.siblings.get("$options") {
        None => None,
        Some(Bson::String(options)) => Some(options.as_str()),
        Some(_) => return Err(bad_value!("$options has to be a string")),
    };
    let pattern = match operand.value {
        Bson::String(pattern) | Bson::Symbol(pattern) => {
            Pattern::new(pattern, options.unwrap_or(""))?
        }
        Bson::RegularExpression(regex) => {
            let own = regex.options.as_str();
            if options.is_some() && !own.is_empty() {
                return Err(crate::Error::command(
                    crate::error::Code(51075),
                    "options set in both $regex and $options",
                ));
            }
            Pattern::new(regex.pattern.as_str(), options.unwrap_or(own))?
        }
        _ => return Err(bad_value!("$regex has to be a string")),
    };
    Ok(Node::Field(Path::new(operand.path), Test::Matches(pattern)))
}

fn options(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    match (operand.siblings.contains_key("$regex"), operand.value) {
        (false, _) => Err(bad_value!("$options needs a $regex")),
        (true, Bson::String(_)) => Ok(Node::Always(true)),
        (true, _) => Err(bad_value!("$options has to be a string")),
    }
}
