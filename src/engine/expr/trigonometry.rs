//! Angles, and the bits of integers: mathematics that few pipelines need.

use bson::Bson;

use super::arithmetic::single;
use super::named::{kind, shown};
use super::{Arguments, MANY, Operator, Parse};
use crate::error::{Code, Error, Result};
use crate::value::number::{self, Number};

/// The row of a function of one number.
const fn function(name: &'static str, help: &'static str) -> Operator {
    Operator { name, arguments: (1, 1), help, parse: Parse::Call(apply) }
}

/// The row of an operator on the bits of integers.
const fn bits(name: &'static str, help: &'static str) -> Operator {
    Operator { name, arguments: (0, MANY), help, parse: Parse::Call(combine) }
}

pub(super) const OPERATORS: &[Operator] = &[
    function("$acos", "the arc cosine"),
    function("$acosh", "the inverse hyperbolic cosine"),
    function("$asin", "the arc sine"),
    function("$asinh", "the inverse hyperbolic sine"),
    function("$atan", "the arc tangent"),
    Operator {
        name: "$atan2",
        arguments: (2, 2),
        help: "the angle of y and x",
        parse: Parse::Call(atan2),
    },
    function("$atanh", "the inverse hyperbolic tangent"),
    bits("$bitAnd", "the bits that all integers have"),
    Operator {
        name: "$bitNot",
        arguments: (1, 1),
        help: "the bits that an integer has not",
        parse: Parse::Call(bit_not),
    },
    bits("$bitOr", "the bits that any integer has"),
    bits("$bitXor", "the bits that an odd number of integers has"),
    function("$cos", "the cosine"),
    function("$cosh", "the hyperbolic cosine"),
    function("$degreesToRadians", "an angle in radians"),
    function("$radiansToDegrees", "an angle in degrees"),
    function("$sin", "the sine"),
    function("$sinh", "the hyperbolic sine"),
    function("$tan", "the tangent"),
    function("$tanh", "the hyperbolic tangent"),
];

/// A function, and the least and greatest number that it takes.
type Rule = (fn(f64) -> f64, f64, f64);

fn rule(name: &str) -> Rule {
    const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);
    // Infinity is no angle.
    const FINITE: (f64, f64) = (f64::MIN, f64::MAX);
    let (function, (least, most)): (fn(f64) -> f64, (f64, f64)) = match name {
        "$acos" => (f64::acos, (-1.0, 1.0)),
        "$acosh" => (f64::acosh, (1.0, f64::INFINITY)),
        "$asin" => (f64::asin, (-1.0, 1.0)),
        "$asinh" => (f64::asinh, ALL),
        "$atan" => (f64::atan, ALL),
        "$atanh" => (f64::atanh, (-1.0, 1.0)),
        "$cos" => (f64::cos, FINITE),
        "$cosh" => (f64::cosh, ALL),
        "$degreesToRadians" => (f64::to_radians, ALL),
        "$radiansToDegrees" => (f64::to_degrees, ALL),
        "$sin" => (f64::sin, FINITE),
        "$sinh" => (f64::sinh, ALL),
        "$tan" => (f64::tan, FINITE),
        _ => (f64::tanh, ALL),
    };
    (function, least, most)
}

fn apply(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return Ok(Some(Bson::Null)) };
    let (function, least, most) = rule(arguments.name);
    let value = number.to_f64();
    if value < least || value > most {
        let (open, close) = if least == f64::MIN { ('(', ')') } else { ('[', ']') };
        let bound = |bound: f64| match bound {
            f64::MIN | f64::NEG_INFINITY => "-inf".to_owned(),
            f64::MAX | f64::INFINITY => "inf".to_owned(),
            number => number.to_string(),
        };
        let message = format!(
            "cannot apply {} to {}, value must be in {open}{},{}{close}",
            arguments.name,
            shown(arguments.get(0)),
            bound(least),
            bound(most)
        );
        return Err(Error::command(Code(50989), message));
    }
    Ok(Some(number::real(number, function).into()))
}

fn atan2(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let (Some(y), Some(x)) = (arguments.present(0), arguments.present(1)) else {
        return Ok(Some(Bson::Null));
    };
    let (Some(y), Some(x)) = (Number::of(y), Number::of(x)) else {
        let wrong = if Number::of(y).is_none() { y } else { x };
        let message = format!("$atan2 only supports numeric types, not {}", kind(Some(wrong)));
        return Err(Error::command(Code(51044), message));
    };
    let decimal = matches!(x, Number::Decimal(_)) || matches!(y, Number::Decimal(_));
    let angle = Number::Double(y.to_f64().atan2(x.to_f64()));
    Ok(Some(if decimal { Number::Decimal(angle.to_decimal()).into() } else { angle.into() }))
}

fn combine(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let name = arguments.name;
    let mut bits: i64 = if name == "$bitAnd" { -1 } else { 0 };
    let mut long = false;
    let mut null = false;
    for value in arguments.iter() {
        let next = match value {
            None | Some(Bson::Null | Bson::Undefined) => {
                null = true;
                continue;
            }
            Some(Bson::Int32(int)) => i64::from(*int),
            Some(Bson::Int64(number)) => {
                long = true;
                *number
            }
            Some(_) => {
                let message = format!("{name} only supports int and long operands.");
                return Err(Error::command(Code::TYPE_MISMATCH, message));
            }
        };
        match name {
            "$bitAnd" => bits &= next,
            "$bitOr" => bits |= next,
            _ => bits ^= next,
        }
    }
    Ok(Some(match i32::try_from(bits) {
        _ if null => Bson::Null,
        Ok(int) if !long => Bson::Int32(int),
        _ => Bson::Int64(bits),
    }))
}

fn bit_not(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.present(0) {
        None => Ok(Some(Bson::Null)),
        Some(Bson::Int32(int)) => Ok(Some(Bson::Int32(!int))),
        Some(Bson::Int64(long)) => Ok(Some(Bson::Int64(!long))),
        other => {
            let message = format!("$bitNot only supports int and long, not: {}.", kind(other));
            Err(Error::command(Code::TYPE_MISMATCH, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, Document, bson};

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        Expression::parse(&expression, &scope)?.evaluate(&Document::new(), &scope)
    }

    #[test]
    fn angles_and_bits() {
        assert_eq!(
            value(bson!({ "$degreesToRadians": 180 })),
            Ok(Some(bson!(std::f64::consts::PI)))
        );
        assert_eq!(value(bson!({ "$sin": null })), Ok(Some(Bson::Null)));
        assert_eq!(
            value(bson!({ "$acos": 3 })).unwrap_err().to_string(),
            "cannot apply $acos to 3, value must be in [-1,1]"
        );
        assert_eq!(value(bson!({ "$cos": f64::INFINITY })).unwrap_err().code(), Some(Code(50989)));
        assert_eq!(value(bson!({ "$bitAnd": [6, 3] })), Ok(Some(bson!(2))));
        assert_eq!(value(bson!({ "$bitXor": [6, 3_i64] })), Ok(Some(bson!(5_i64))));
        assert_eq!(value(bson!({ "$bitNot": 0 })), Ok(Some(bson!(-1))));
        assert_eq!(
            value(bson!({ "$bitOr": [1.0] })).unwrap_err().code(),
            Some(Code::TYPE_MISMATCH)
        );
    }
}
