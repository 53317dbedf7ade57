//! Arithmetic. Promotion and overflow are [`number`]'s; here stand what dates mean, and the server's refusals.

use bson::{Bson, DateTime};

use super::named::{kind, shown};
use super::{Arguments, MANY, Operator, Parse};
use crate::error::{Code, Error, Result};
use crate::value::number::{self, Number, Overflow, Rounding};
use crate::value::sum::Sum;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$abs",
        arguments: (1, 1),
        help: "distance from zero",
        parse: Parse::Call(abs),
    },
    Operator {
        name: "$add",
        arguments: (0, MANY),
        help: "the sum; a date plus milliseconds is a date",
        parse: Parse::Call(add),
    },
    Operator {
        name: "$ceil",
        arguments: (1, 1),
        help: "rounded up to an integer",
        parse: Parse::Call(ceil),
    },
    Operator {
        name: "$divide",
        arguments: (2, 2),
        help: "the quotient, a double unless one is a decimal",
        parse: Parse::Call(divide),
    },
    Operator {
        name: "$exp",
        arguments: (1, 1),
        help: "e raised to a power",
        parse: Parse::Call(exp),
    },
    Operator {
        name: "$floor",
        arguments: (1, 1),
        help: "rounded down to an integer",
        parse: Parse::Call(floor),
    },
    Operator {
        name: "$ln",
        arguments: (1, 1),
        help: "the natural logarithm",
        parse: Parse::Call(ln),
    },
    Operator {
        name: "$log",
        arguments: (2, 2),
        help: "the logarithm to a base",
        parse: Parse::Call(log),
    },
    Operator {
        name: "$log10",
        arguments: (1, 1),
        help: "the logarithm to base 10",
        parse: Parse::Call(log10),
    },
    Operator {
        name: "$mod",
        arguments: (2, 2),
        help: "the remainder, with the sign of the first",
        parse: Parse::Call(remainder),
    },
    Operator {
        name: "$multiply",
        arguments: (0, MANY),
        help: "the product",
        parse: Parse::Call(multiply),
    },
    Operator {
        name: "$pow",
        arguments: (2, 2),
        help: "a number raised to a power",
        parse: Parse::Call(pow),
    },
    Operator {
        name: "$round",
        arguments: (1, 2),
        help: "rounded to decimal places, ties to even",
        parse: Parse::Call(round),
    },
    Operator {
        name: "$sqrt",
        arguments: (1, 1),
        help: "the square root",
        parse: Parse::Call(sqrt),
    },
    Operator {
        name: "$subtract",
        arguments: (2, 2),
        help: "the difference; between dates in milliseconds",
        parse: Parse::Call(subtract),
    },
    Operator {
        name: "$trunc",
        arguments: (1, 2),
        help: "cut off after decimal places",
        parse: Parse::Call(trunc),
    },
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn is_nullish(value: Option<&Bson>) -> bool {
    matches!(value, None | Some(Bson::Null | Bson::Undefined))
}

/// A result that [`Overflow::Double`] never refuses.
fn answer(number: Option<Number>) -> Result<Option<Bson>> {
    Ok(Some(number.map_or(Bson::Null, Bson::from)))
}

/// A date some milliseconds away.
fn moved(date: DateTime, by: Number, back: bool, name: &str) -> Result<Option<Bson>> {
    let overflow = || Error::command(Code::OVERFLOW, format!("date overflow in {name}"));
    // Fractions of a millisecond are rounded to the nearest.
    let by =
        number::round(by, 0, Rounding::HalfEven).and_then(Number::to_i64).ok_or_else(overflow)?;
    let millis = date.timestamp_millis();
    let moved = if back { millis.checked_sub(by) } else { millis.checked_add(by) };
    Ok(Some(Bson::DateTime(DateTime::from_millis(moved.ok_or_else(overflow)?))))
}

fn add(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut sum = Number::Int32(0);
    let mut date = None;
    for value in arguments.iter() {
        match (value, value.and_then(Number::of)) {
            (_, Some(number)) => sum = number::add(sum, number, Overflow::Double).unwrap_or(number),
            (Some(Bson::DateTime(_)), None) if date.is_some() => {
                return Err(refuse(16612, "only one date allowed in an $add expression"));
            }
            (Some(Bson::DateTime(moment)), None) => date = Some(*moment),
            (value, None) if is_nullish(value) => return NULL,
            (value, None) => {
                let message =
                    format!("$add only supports numeric or date types, not {}", kind(value));
                return Err(Error::command(Code::TYPE_MISMATCH, message));
            }
        }
    }
    match date {
        Some(date) => moved(date, sum, false, "$add"),
        None => answer(Some(sum)),
    }
}

fn subtract(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let (left, right) = (arguments.get(0), arguments.get(1));
    if is_nullish(left) || is_nullish(right) {
        return NULL;
    }
    match (left, left.and_then(Number::of), right, right.and_then(Number::of)) {
        (_, Some(left), _, Some(right)) => answer(number::subtract(left, right, Overflow::Double)),
        (Some(Bson::DateTime(left)), _, Some(Bson::DateTime(right)), _) => {
            let millis = left.timestamp_millis().checked_sub(right.timestamp_millis());
            let overflow = || Error::command(Code::OVERFLOW, "overflow in $subtract");
            Ok(Some(Bson::Int64(millis.ok_or_else(overflow)?)))
        }
        (Some(Bson::DateTime(left)), _, _, Some(right)) => moved(*left, right, true, "$subtract"),
        _ => {
            let message = format!("can't $subtract {} from {}", kind(right), kind(left));
            Err(Error::command(Code::TYPE_MISMATCH, message))
        }
    }
}

fn multiply(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut product = Number::Int32(1);
    let mut null = false;
    for value in arguments.iter() {
        match value.and_then(Number::of) {
            Some(number) => {
                product = number::multiply(product, number, Overflow::Double).unwrap_or(number)
            }
            None if is_nullish(value) => null = true,
            None => {
                let message = format!("$multiply only supports numeric types, not {}", kind(value));
                return Err(Error::command(Code::TYPE_MISMATCH, message));
            }
        }
        if null {
            return NULL;
        }
    }
    answer(Some(product))
}

/// Both numbers; `None` when one is null or missing.
fn pair(arguments: &Arguments<'_>, code: i32) -> Result<Option<(Number, Number)>> {
    let (left, right) = (arguments.get(0), arguments.get(1));
    match (left.and_then(Number::of), right.and_then(Number::of)) {
        (Some(left), Some(right)) => Ok(Some((left, right))),
        _ if is_nullish(left) || is_nullish(right) => Ok(None),
        _ => {
            let (name, left, right) = (arguments.name, kind(left), kind(right));
            Err(refuse(code, format!("{name} only supports numeric types, not {left} and {right}")))
        }
    }
}

fn divide(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some((left, right)) = pair(arguments, Code::TYPE_MISMATCH.0)? else { return NULL };
    let quotient = number::divide(left, right);
    answer(Some(quotient.ok_or_else(|| Error::command(Code::BAD_VALUE, "can't $divide by zero"))?))
}

fn remainder(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some((left, right)) = pair(arguments, 16611)? else { return NULL };
    let rest = number::remainder(left, right);
    answer(Some(rest.ok_or_else(|| refuse(16610, "can't $mod by zero"))?))
}

/// The one number; `None` when it is null or missing.
pub(super) fn single(arguments: &Arguments<'_>) -> Result<Option<Number>> {
    let value = arguments.get(0);
    match value.and_then(Number::of) {
        Some(number) => Ok(Some(number)),
        None if is_nullish(value) => Ok(None),
        None => Err(refuse(
            28765,
            format!("{} only supports numeric types, not {}", arguments.name, kind(value)),
        )),
    }
}

fn abs(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    answer(Some(
        number::abs(number).ok_or_else(|| refuse(28680, "can't take $abs of long long min"))?,
    ))
}

fn ceil(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    answer(number::round(number, 0, Rounding::Ceiling))
}

fn floor(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    answer(number::round(number, 0, Rounding::Floor))
}

fn exp(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    answer(Some(number::real(number, f64::exp)))
}

fn sqrt(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    if number.is_negative() && !number.is_zero() {
        return Err(refuse(28714, "$sqrt's argument must be greater than or equal to 0"));
    }
    answer(Some(match number {
        Number::Decimal(decimal) => Number::Decimal(decimal.square_root()),
        other => number::real(other, f64::sqrt),
    }))
}

fn positive(number: Number) -> bool {
    number.is_nan() || !(number.is_negative() || number.is_zero())
}

fn ln(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    logarithm(arguments, 28766, f64::ln)
}

fn log10(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    logarithm(arguments, 28761, f64::log10)
}

fn logarithm(
    arguments: &Arguments<'_>,
    code: i32,
    function: fn(f64) -> f64,
) -> Result<Option<Bson>> {
    let Some(number) = single(arguments)? else { return NULL };
    if !positive(number) {
        let (name, found) = (arguments.name, shown(arguments.get(0)));
        return Err(refuse(
            code,
            format!("{name}'s argument must be a positive number, but is {found}"),
        ));
    }
    answer(Some(number::real(number, function)))
}

fn log(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let (value, base) = (arguments.get(0), arguments.get(1));
    if is_nullish(value) || is_nullish(base) {
        return NULL;
    }
    let Some(number) = value.and_then(Number::of) else {
        return Err(refuse(28756, format!("$log's argument must be numeric, not {}", kind(value))));
    };
    let Some(root) = base.and_then(Number::of) else {
        return Err(refuse(28757, format!("$log's base must be numeric, not {}", kind(base))));
    };
    if !positive(number) {
        return Err(refuse(
            28758,
            format!("$log's argument must be a positive number, but is {}", shown(value)),
        ));
    }
    if !positive(root) || number::order(root, Number::Int32(1)).is_eq() {
        let message =
            format!("$log's base must be a positive number not equal to 1, but is {}", shown(base));
        return Err(refuse(28759, message));
    }
    answer(number::divide(number::real(number, f64::ln), number::real(root, f64::ln)))
}

fn pow(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let (base, exponent) = (arguments.get(0), arguments.get(1));
    if is_nullish(base) || is_nullish(exponent) {
        return NULL;
    }
    let Some(base) = base.and_then(Number::of) else {
        return Err(refuse(28762, format!("$pow's base must be numeric, not {}", kind(base))));
    };
    let Some(exponent) = exponent.and_then(Number::of) else {
        return Err(refuse(
            28763,
            format!("$pow's exponent must be numeric, not {}", kind(exponent)),
        ));
    };
    if base.is_zero() && exponent.is_negative() && !exponent.is_zero() {
        return Err(refuse(28764, "$pow cannot take a base of 0 and a negative exponent"));
    }
    answer(Some(number::power(base, exponent)))
}

fn round(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    rounded(arguments, Rounding::HalfEven)
}

fn trunc(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    rounded(arguments, Rounding::Down)
}

fn rounded(arguments: &Arguments<'_>, rounding: Rounding) -> Result<Option<Bson>> {
    let name = arguments.name;
    let value = arguments.get(0);
    if is_nullish(value) || arguments.len() > 1 && is_nullish(arguments.get(1)) {
        return NULL;
    }
    let Some(number) = value.and_then(Number::of) else {
        return Err(refuse(
            51081,
            format!("{name} only supports numeric types, not {}", kind(value)),
        ));
    };
    let mut places = 0;
    if arguments.len() > 1 {
        let written = arguments.get(1).and_then(Number::of).and_then(Number::integral);
        places = written.ok_or_else(|| {
            refuse(51082, format!("precision argument to  {name} must be a integral value"))
        })?;
        if !(-20..=100).contains(&places) {
            let message = format!(
                "cannot apply {name} with precision value {places} value must be in [-20, 100]"
            );
            return Err(refuse(51083, message));
        }
    }
    let overflow = || {
        refuse(
            51080,
            "invalid conversion from Decimal128 result in $round resulting from arguments",
        )
    };
    answer(Some(number::round(number, places as i32, rounding).ok_or_else(overflow)?))
}

/// Sums of many numbers, as `$sum` and `$avg` take them; everything else is passed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Total {
    sum: Sum,
    count: i64,
}

impl Total {
    /// Takes one more value, if it is a number.
    pub(crate) fn take(&mut self, value: &Bson) {
        if let Some(number) = Number::of(value) {
            self.sum.take(number);
            self.count += 1;
        }
    }

    /// The sum; 0 for none.
    pub(crate) fn sum(&self) -> Bson {
        self.sum.total().into()
    }

    /// The mean; null for none. A double unless a decimal was among the numbers.
    pub(crate) fn mean(&self) -> Bson {
        let total = match self.sum.total() {
            whole @ (Number::Int32(_) | Number::Int64(_)) => Number::Double(whole.to_f64()),
            other => other,
        };
        number::divide(total, Number::from_i64(self.count)).map_or(Bson::Null, Bson::from)
    }
}
