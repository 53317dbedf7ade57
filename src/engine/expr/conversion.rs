//! Types: what a value is, and what it is as another type.

use bson::{Bson, DateTime, oid::ObjectId};

use super::date;
use super::expression::truth;
use super::named::{kind, parameters, required};
use super::{Arguments, Form, Node, Operator, Parse, Parser, Place, Value};
use crate::error::{Code, Error, Result};
use crate::value::kind::{Kind, by_code, by_name};
use crate::value::number::{self, Decimal, Number, Rounding};
use crate::value::{size, text};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$binarySize",
        arguments: (1, 1),
        help: "the bytes of a string or of binary data",
        parse: Parse::Call(binary_size),
    },
    Operator {
        name: "$bsonSize",
        arguments: (1, 1),
        help: "the bytes of a document",
        parse: Parse::Call(bson_size),
    },
    Operator {
        name: "$convert",
        arguments: (1, 1),
        help: "as another type: {input, to, onError, onNull}",
        parse: Parse::Form(parse_convert),
    },
    Operator {
        name: "$isNumber",
        arguments: (1, 1),
        help: "whether it is a number",
        parse: Parse::Call(is_number),
    },
    Operator {
        name: "$toBool",
        arguments: (1, 1),
        help: "as a boolean",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toDate",
        arguments: (1, 1),
        help: "as a date",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toDecimal",
        arguments: (1, 1),
        help: "as a decimal",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toDouble",
        arguments: (1, 1),
        help: "as a double",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toInt",
        arguments: (1, 1),
        help: "as a 32-bit integer",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toLong",
        arguments: (1, 1),
        help: "as a 64-bit integer",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toObjectId",
        arguments: (1, 1),
        help: "as an ObjectId",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$toString",
        arguments: (1, 1),
        help: "as a string",
        parse: Parse::Call(shorthand),
    },
    Operator {
        name: "$type",
        arguments: (1, 1),
        help: "the name of its type",
        parse: Parse::Call(type_of),
    },
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn type_of(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(Bson::String(kind(arguments.get(0)).to_owned())))
}

fn is_number(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(Bson::Boolean(arguments.get(0).and_then(Number::of).is_some())))
}

fn binary_size(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let bytes = match arguments.present(0) {
        None => return NULL,
        Some(Bson::String(text)) => text.len(),
        Some(Bson::Binary(binary)) => binary.bytes.len(),
        other => {
            let found = kind(other);
            return Err(Error::command(
                Code(51276),
                format!("$binarySize requires a string or BinData argument, found: {found}"),
            ));
        }
    };
    Ok(Some(Number::from_i64(bytes as i64).into()))
}

fn bson_size(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.present(0) {
        None => NULL,
        Some(Bson::Document(document)) => {
            Ok(Some(Number::from_i64(size::of_document(document) as i64).into()))
        }
        other => {
            let found = kind(other);
            Err(Error::command(
                Code(31393),
                format!("$bsonSize requires a document input, found: {found}"),
            ))
        }
    }
}

/// What a value is converted to.
const TARGETS: &[(&str, &str)] = &[
    ("$toBool", "bool"),
    ("$toDate", "date"),
    ("$toDecimal", "decimal"),
    ("$toDouble", "double"),
    ("$toInt", "int"),
    ("$toLong", "long"),
    ("$toObjectId", "objectId"),
    ("$toString", "string"),
];

fn shorthand(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(value) = arguments.present(0) else { return NULL };
    let target = TARGETS
        .iter()
        .find(|(name, _)| *name == arguments.name)
        .and_then(|(_, target)| by_name(target));
    target.map_or(NULL, |target| convert(value, target).map(Some))
}

fn parse_convert(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (9, "$convert expects an object of named arguments but found: {}");
    let unknown = (9, "$convert found an unknown argument: {}");
    let names = ["input", "to", "onError", "onNull"];
    let [input, to, on_error, on_null] = parameters(argument, names, not_document, unknown)?;
    let input = parser.parse(required(input, 9, "Missing 'input' parameter to $convert")?)?;
    let to = parser.parse(required(to, 9, "Missing 'to' parameter to $convert")?)?;
    let on_error = on_error.map(|value| parser.parse(value)).transpose()?;
    let on_null = on_null.map(|value| parser.parse(value)).transpose()?;
    Ok(Node::Form(Box::new(Convert { input, to, on_error, on_null })))
}

/// `$convert`.
#[derive(Debug)]
struct Convert {
    input: Node,
    to: Node,
    on_error: Option<Node>,
    on_null: Option<Node>,
}

impl Form for Convert {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let to = self.to.value(place)?;
        let target = target(to.as_ref())?;
        let input = self.input.value(place)?;
        let Some(input) = input.filter(|input| !matches!(input, Bson::Null | Bson::Undefined))
        else {
            return match &self.on_null {
                Some(node) => node.evaluate(place),
                None => Ok(Some(std::borrow::Cow::Owned(Bson::Null))),
            };
        };
        let Some(target) = target else { return Ok(Some(std::borrow::Cow::Owned(Bson::Null))) };
        match (convert(&input, target), &self.on_error) {
            (Err(error), Some(node)) if error.code() == Some(Code::CONVERSION_FAILURE) => {
                node.evaluate(place)
            }
            (converted, _) => converted.map(|value| Some(std::borrow::Cow::Owned(value))),
        }
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        [&mut self.input, &mut self.to]
            .into_iter()
            .chain(self.on_error.as_mut())
            .chain(self.on_null.as_mut())
            .collect()
    }
}

/// The type that `to` names, by alias or number; `None` for null.
fn target(to: Option<&Bson>) -> Result<Option<Kind>> {
    match to {
        None | Some(Bson::Null | Bson::Undefined) => Ok(None),
        Some(Bson::String(alias)) => match by_name(alias) {
            Some(kind) => Ok(Some(kind)),
            None => Err(Error::command(Code::BAD_VALUE, format!("Unknown type name: {alias}"))),
        },
        Some(other) => match Number::of(other) {
            Some(number) => match number.integral().and_then(by_code) {
                Some(kind) => Ok(Some(kind)),
                None => {
                    let message = format!(
                        "In $convert, numeric value for 'to' does not correspond to a BSON type: {}",
                        text::value(other)
                    );
                    Err(Error::command(Code::FAILED_TO_PARSE, message))
                }
            },
            None => {
                let found = kind(Some(other));
                let message =
                    format!("$convert's 'to' argument must be a string or number, but is {found}");
                Err(Error::command(Code::FAILED_TO_PARSE, message))
            }
        },
    }
}

fn failure(message: impl Into<String>) -> Error {
    Error::command(Code::CONVERSION_FAILURE, message)
}

fn unsupported(from: &Bson, to: Kind) -> Error {
    let from = kind(Some(from));
    failure(format!(
        "Unsupported conversion from {from} to {} in $convert with no onError value",
        to.name
    ))
}

fn not_parsed(text: &str, reason: &str) -> Error {
    failure(format!("Failed to parse number '{text}' in $convert with no onError value: {reason}"))
}

/// The value as a `target`.
fn convert(value: &Bson, target: Kind) -> Result<Bson> {
    match target.name {
        "double" => to_double(value, target),
        "string" => to_string(value, target),
        "objectId" => to_object_id(value, target),
        "bool" => Ok(Bson::Boolean(truth(Some(value)))),
        "date" => to_date(value, target),
        "int" | "long" => to_integer(value, target),
        "decimal" => to_decimal(value, target),
        _ => Err(unsupported(value, target)),
    }
}

fn to_double(value: &Bson, target: Kind) -> Result<Bson> {
    Ok(Bson::Double(match value {
        Bson::Double(double) => *double,
        Bson::Boolean(boolean) => f64::from(u8::from(*boolean)),
        Bson::DateTime(date) => date.timestamp_millis() as f64,
        Bson::String(text) => parse_double(text)?,
        Bson::Decimal128(_) => {
            let number = Number::of(value).map_or(f64::NAN, Number::to_f64);
            if number.is_infinite() && Number::of(value).is_some_and(Number::is_finite) {
                let shown = text::value(value);
                return Err(failure(format!(
                    "Conversion would overflow target type in $convert with no onError value: {shown}"
                )));
            }
            number
        }
        other => Number::of(other).ok_or_else(|| unsupported(value, target))?.to_f64(),
    }))
}

/// A number's text: digits, a point, an exponent, `Infinity`, `NaN`; nothing around it, and no base but ten.
fn parse_double(text: &str) -> Result<f64> {
    let plain = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    if text.is_empty() {
        return Err(not_parsed(text, "Empty string"));
    }
    if text.starts_with(char::is_whitespace) {
        return Err(not_parsed(text, "Leading whitespace"));
    }
    if plain.starts_with("0x") {
        return Err(failure(format!(
            "Illegal hexadecimal input in $convert with no onError value: {text}"
        )));
    }
    text.parse::<f64>()
        .ok()
        .filter(|double| double.is_finite() || plain.starts_with(['i', 'n']))
        .ok_or_else(|| match text.parse::<f64>() {
            Ok(_) => not_parsed(text, "Out of range"),
            Err(_) => not_parsed(text, "Did not consume whole string."),
        })
}

fn to_decimal(value: &Bson, target: Kind) -> Result<Bson> {
    let decimal = match value {
        Bson::Decimal128(_) => return Ok(value.clone()),
        Bson::Boolean(boolean) => Decimal::new(i64::from(*boolean), 0),
        Bson::DateTime(date) => Decimal::new(date.timestamp_millis(), 0),
        Bson::String(text) => Decimal::parse(text)
            .ok_or_else(|| not_parsed(text, "Failed to parse string to decimal"))?,
        other => Number::of(other).ok_or_else(|| unsupported(value, target))?.to_decimal(),
    };
    Ok(Bson::Decimal128(decimal.encode()))
}

fn to_integer(value: &Bson, target: Kind) -> Result<Bson> {
    let int = target.name == "int";
    let number = match value {
        Bson::Boolean(boolean) => i64::from(*boolean),
        Bson::DateTime(date) if !int => date.timestamp_millis(),
        Bson::String(text) => {
            let reason =
                if text.is_empty() { "Empty string" } else { "Did not consume whole string." };
            let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(not_parsed(text, reason));
            }
            let number =
                text.parse::<i64>().ok().filter(|number| !int || i32::try_from(*number).is_ok());
            number.ok_or_else(|| not_parsed(text, "Overflow"))?
        }
        other => {
            let number = Number::of(other).ok_or_else(|| unsupported(value, target))?;
            if !number.is_finite() {
                return Err(failure(format!(
                    "Attempt to convert {} value to integer type in $convert with no onError value",
                    if number.is_nan() { "NaN" } else { "infinity" }
                )));
            }
            let fits = number.to_i64().filter(|number| !int || i32::try_from(*number).is_ok());
            fits.ok_or_else(|| {
                let shown = text::value(other);
                failure(format!("Conversion would overflow target type in $convert with no onError value: {shown}"))
            })?
        }
    };
    Ok(match i32::try_from(number) {
        Ok(number) if int => Bson::Int32(number),
        _ => Bson::Int64(number),
    })
}

fn to_string(value: &Bson, target: Kind) -> Result<Bson> {
    Ok(Bson::String(match value {
        Bson::String(text) | Bson::Symbol(text) => text.clone(),
        Bson::Boolean(boolean) => boolean.to_string(),
        Bson::Int32(int) => int.to_string(),
        Bson::Int64(long) => long.to_string(),
        Bson::Double(double) => number::double_text(*double),
        Bson::Decimal128(_) => text::value(value),
        Bson::ObjectId(id) => id.to_hex(),
        Bson::DateTime(moment) => date::iso_text(*moment),
        _ => return Err(unsupported(value, target)),
    }))
}

fn to_object_id(value: &Bson, target: Kind) -> Result<Bson> {
    match value {
        Bson::ObjectId(_) => Ok(value.clone()),
        Bson::String(text) => ObjectId::parse_str(text).map(Bson::ObjectId).map_err(|_| {
            let reason = if text.len() == 24 {
                "Invalid character found in hex string".to_owned()
            } else {
                format!(
                    "Invalid string length for parsing to OID, expected 24 but found {}",
                    text.len()
                )
            };
            failure(format!(
                "Failed to parse objectId '{text}' in $convert with no onError value: {reason}"
            ))
        }),
        _ => Err(unsupported(value, target)),
    }
}

fn to_date(value: &Bson, target: Kind) -> Result<Bson> {
    let millis = match value {
        Bson::DateTime(_) => return Ok(value.clone()),
        Bson::ObjectId(id) => id.timestamp().timestamp_millis(),
        Bson::Timestamp(timestamp) => i64::from(timestamp.time) * 1000,
        Bson::String(text) => {
            return date::parse_text(text).map(Bson::DateTime).map_err(|reason| {
                failure(format!("Error parsing date string '{text}'; {reason}"))
            });
        }
        // An int32 is too short for milliseconds, and refused.
        Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => {
            let number =
                Number::of(value).and_then(|number| number::round(number, 0, Rounding::Down));
            let overflow = || {
                let shown = text::value(value);
                failure(format!(
                    "Conversion would overflow target type in $convert with no onError value: {shown}"
                ))
            };
            number.and_then(Number::to_i64).ok_or_else(overflow)?
        }
        _ => return Err(unsupported(value, target)),
    };
    Ok(Bson::DateTime(DateTime::from_millis(millis)))
}

#[cfg(test)]
mod tests {
    use bson::{Document, bson, doc};

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        Expression::parse(&expression, &scope)?.evaluate(&Document::new(), &scope)
    }

    fn fails(expression: Bson, words: &str) {
        let error = value(expression.clone()).expect_err("a failed conversion");
        assert_eq!(
            (error.code(), error.to_string()),
            (Some(Code::CONVERSION_FAILURE), words.to_owned()),
            "{expression}"
        );
    }

    #[test]
    fn values_become_other_types() {
        for (expression, expected) in [
            (bson!({ "$toInt": 1.9 }), bson!(1)),
            (bson!({ "$toInt": "-5" }), bson!(-5)),
            (bson!({ "$toInt": true }), bson!(1)),
            (bson!({ "$toLong": "123456789012" }), bson!(123_456_789_012_i64)),
            (bson!({ "$toDouble": "-5.5" }), bson!(-5.5)),
            (bson!({ "$toString": 1.0 }), bson!("1")),
            (bson!({ "$toString": 2.5 }), bson!("2.5")),
            (bson!({ "$toString": true }), bson!("true")),
            (bson!({ "$toBool": "" }), bson!(true)),
            (bson!({ "$toBool": 0 }), bson!(false)),
            (
                bson!({ "$toDate": 120_000_000_000.5 }),
                Bson::DateTime(DateTime::from_millis(120_000_000_000)),
            ),
            (
                bson!({ "$toDate": "2018-03-03" }),
                Bson::DateTime(DateTime::from_millis(1_520_035_200_000)),
            ),
            (
                bson!({ "$toString": { "$toDate": "2018-03-03" } }),
                bson!("2018-03-03T00:00:00.000Z"),
            ),
            (bson!({ "$toInt": "$zz" }), Bson::Null),
            (bson!({ "$type": "$zz" }), bson!("missing")),
            (bson!({ "$type": [[1]] }), bson!("array")),
            (bson!({ "$isNumber": 1.5 }), bson!(true)),
            (bson!({ "$convert": { "input": "x", "to": "int", "onError": "bad" } }), bson!("bad")),
            (bson!({ "$convert": { "input": null, "to": "int", "onNull": 0 } }), bson!(0)),
            (bson!({ "$convert": { "input": 1, "to": 2 } }), bson!("1")),
            (bson!({ "$bsonSize": { "$literal": doc! { "a": 1 } } }), bson!(12)),
        ] {
            assert_eq!(value(expression.clone()), Ok(Some(expected)), "{expression}");
        }
        let id = "5ab9cbfa31c2ab715d42129e";
        assert_eq!(value(bson!({ "$toString": { "$toObjectId": id } })), Ok(Some(bson!(id))));
    }

    #[test]
    fn failures_have_the_servers_words() {
        fails(
            bson!({ "$toInt": "1.5" }),
            "Failed to parse number '1.5' in $convert with no onError value: Did not consume whole string.",
        );
        fails(
            bson!({ "$toInt": 3e9 }),
            "Conversion would overflow target type in $convert with no onError value: 3000000000.0",
        );
        fails(
            bson!({ "$toInt": f64::NAN }),
            "Attempt to convert NaN value to integer type in $convert with no onError value",
        );
        fails(
            bson!({ "$toDate": 5 }),
            "Unsupported conversion from int to date in $convert with no onError value",
        );
        fails(
            bson!({ "$toString": [[1]] }),
            "Unsupported conversion from array to string in $convert with no onError value",
        );
        fails(
            bson!({ "$toObjectId": "abc" }),
            "Failed to parse objectId 'abc' in $convert with no onError value: Invalid string length for parsing to OID, \
             expected 24 but found 3",
        );
    }
}
