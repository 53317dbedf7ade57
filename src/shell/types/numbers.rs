//! `NumberInt`, `NumberLong` and `NumberDecimal`.

use bson::{RawBson, rawdoc};

use super::{text, this};
use crate::error::{Error, Result};
use crate::shell::command::whole;
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::{native, prelude};
use crate::shell::{Call, Class, Emulate, Reply, Shells};
use crate::value::decimal::Decimal;
use crate::value::number::double_text;

/// `NumberInt(5)`.
pub(in crate::shell) const NUMBER_INT: Class = Class::instances(
    "NumberInt",
    "NumberInt",
    "an integer of 32 bits",
    &[
        native("constructor", "(number or text)", "an integer of 32 bits", int),
        native("toJSON", "()", "what JSON.stringify writes", int_value),
        native("toNumber", "()", "the number", int_value),
        native("toString", "()", "its text", int_text),
        native("tojson", "()", "its text", int_text).only(Shells::Mongo),
        native("value", "", "the number", int_value).only(Shells::Mongosh),
        native("valueOf", "()", "the number", int_value),
    ],
)
.modern("Int32");

/// `NumberLong("5")`.
pub(in crate::shell) const NUMBER_LONG: Class = Class::instances(
    "NumberLong",
    "NumberLong",
    "an integer of 64 bits",
    &[
        native("add", "(other)", "the exact sum", add),
        native("and", "(other)", "the bits that both have", and).only(Shells::Mongosh),
        native("bottom", "", "the low 32 bits", low_unsigned).only(Shells::Mongo),
        native("comp", "(other)", "-1, 0 or 1", compare).only(Shells::Mongosh),
        native("compare", "(other)", "-1, 0 or 1", compare),
        native("constructor", "(number or text)", "an integer of 64 bits", long),
        native("div", "(other)", "the quotient without its fraction", divide).only(Shells::Mongosh),
        native("divide", "(other)", "the quotient without its fraction", divide),
        native("eq", "(other)", "whether both are the same number", equals).only(Shells::Mongosh),
        native("equals", "(other)", "whether both are the same number", equals),
        native("exactValueString", "", "its digits, where a number would round it", exact)
            .only(Shells::Mongo),
        native("floatApprox", "", "the nearest number", to_number).only(Shells::Mongo),
        native("greaterThan", "(other)", "whether it is the greater", greater)
            .only(Shells::Mongosh),
        native("greaterThanOrEqual", "(other)", "whether it is not the lesser", greater_or_equal)
            .only(Shells::Mongosh),
        native("gt", "(other)", "whether it is the greater", greater).only(Shells::Mongosh),
        native("gte", "(other)", "whether it is not the lesser", greater_or_equal)
            .only(Shells::Mongosh),
        native("high", "", "the high 32 bits", high).only(Shells::Mongosh),
        native("isEven", "()", "whether it is even", is_even).only(Shells::Mongosh),
        native("isNegative", "()", "whether it is below 0", is_negative).only(Shells::Mongosh),
        native("isOdd", "()", "whether it is odd", is_odd).only(Shells::Mongosh),
        native("isPositive", "()", "whether it is 0 or above", is_positive).only(Shells::Mongosh),
        native("isZero", "()", "whether it is 0", is_zero).only(Shells::Mongosh),
        native("lessThan", "(other)", "whether it is the lesser", less).only(Shells::Mongosh),
        native("lessThanOrEqual", "(other)", "whether it is not the greater", less_or_equal)
            .only(Shells::Mongosh),
        native("low", "", "the low 32 bits", low).only(Shells::Mongosh),
        native("lt", "(other)", "whether it is the lesser", less).only(Shells::Mongosh),
        native("lte", "(other)", "whether it is not the greater", less_or_equal)
            .only(Shells::Mongosh),
        native("mod", "(other)", "the rest of the division", modulo).only(Shells::Mongosh),
        native("modulo", "(other)", "the rest of the division", modulo).only(Shells::Mongosh),
        native("mul", "(other)", "the exact product", multiply).only(Shells::Mongosh),
        native("multiply", "(other)", "the exact product", multiply),
        native("ne", "(other)", "whether they are different numbers", not_equals)
            .only(Shells::Mongosh),
        native("negate", "()", "the number with the other sign", negate).only(Shells::Mongosh),
        native("not", "()", "the bits that it does not have", not).only(Shells::Mongosh),
        native("notEquals", "(other)", "whether they are different numbers", not_equals)
            .only(Shells::Mongosh),
        native("or", "(other)", "the bits that one of both has", or).only(Shells::Mongosh),
        native("rem", "(other)", "the rest of the division", modulo).only(Shells::Mongosh),
        native("shiftLeft", "(bits)", "its bits moved up", shift_left).only(Shells::Mongosh),
        native("shiftRight", "(bits)", "its bits moved down", shift_right).only(Shells::Mongosh),
        native("sub", "(other)", "the exact difference", subtract),
        native("subtract", "(other)", "the exact difference", subtract),
        prelude("toBigInt", "()", "the number as a BigInt").only(Shells::Mongosh),
        native("toInt", "()", "its low 32 bits", low).only(Shells::Mongosh),
        native("toJSON", "()", "what JSON.stringify writes", long_json),
        native("toNumber", "()", "the nearest number", to_number),
        native("toString", "(base)", "its text", long_text),
        native("tojson", "()", "its text", long_text).only(Shells::Mongo),
        native("top", "", "the high 32 bits", high).only(Shells::Mongo),
        native("valueOf", "()", "the nearest number", to_number).only(Shells::Mongo),
        native("xor", "(other)", "the bits that only one of both has", xor).only(Shells::Mongosh),
    ],
)
.modern("Long");

/// `NumberDecimal("1.5")`.
pub(in crate::shell) const NUMBER_DECIMAL: Class = Class::instances(
    "NumberDecimal",
    "NumberDecimal",
    "a decimal number of 34 digits",
    &[
        native("constructor", "(text)", "a decimal number", decimal),
        native("equals", "(other)", "whether both are written the same", decimal_equals),
        native("toJSON", "()", "what JSON.stringify writes", decimal_json),
        native("toString", "()", "its text", decimal_text),
        native("tojson", "()", "its text", decimal_text).only(Shells::Mongo),
    ],
)
.modern("Decimal128");

/// A double as JavaScript's ToInt32 has it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]
fn to_int32(number: f64) -> i32 {
    if !number.is_finite() {
        return 0;
    }
    (number.trunc().rem_euclid(4_294_967_296.0) as u64 as u32) as i32
}

pub(super) fn int(call: &mut Call<'_>) -> Result<Reply> {
    let number = match call.value(0) {
        None => 0,
        Some(RawBson::Int32(number)) => *number,
        Some(RawBson::Double(number)) => to_int32(*number),
        #[allow(clippy::cast_possible_truncation)]
        Some(RawBson::Int64(number)) => *number as i32,
        Some(RawBson::Boolean(value)) => i32::from(*value),
        Some(RawBson::String(digits)) => match (digits.trim().parse::<f64>(), call.shell.emulate) {
            (Ok(number), _) => to_int32(number),
            (Err(_), Emulate::Mongosh) => 0,
            (Err(_), Emulate::Mongo) => return Err(usage("could not convert string to integer")),
        },
        Some(RawBson::Decimal128(number)) => {
            to_int32(number.to_string().parse().unwrap_or(f64::NAN))
        }
        Some(_) => return Err(usage("NumberInt needs a number or a text of digits")),
    };
    Ok(Reply::Typed(RawBson::Int32(number)))
}

fn own_int(call: &Call<'_>) -> Result<i32> {
    match this(call)? {
        RawBson::Int32(number) => Ok(*number),
        _ => Err(usage(format!("{} must be called on a NumberInt", call.method))),
    }
}

fn int_value(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Int32(own_int(call)?)))
}

fn int_text(call: &mut Call<'_>) -> Result<Reply> {
    let number = own_int(call)?;
    Ok(text(match call.shell.emulate {
        Emulate::Mongo => format!("NumberInt({number})"),
        Emulate::Mongosh => number.to_string(),
    }))
}

const DECIMAL_WARNING: &str = "Warning: NumberDecimal: specifying a number as argument is deprecated and may lead to loss of precision, pass a string instead";

const WARNING: &str = "Warning: NumberLong: specifying a number as argument is deprecated and may lead to loss of precision, pass a string instead";

pub(super) fn long(call: &mut Call<'_>) -> Result<Reply> {
    let classic = call.shell.classic();
    let number = match (call.value(0), call.value(1), call.value(2)) {
        (None, ..) => 0,
        // The parts of a NumberLong as the old shell shows them: approximation, high and low half.
        (Some(_), Some(top), Some(bottom)) => {
            let half = |value: &RawBson| whole(value.as_raw_bson_ref()).unwrap_or(0) & 0xffff_ffff;
            half(top) << 32 | half(bottom)
        }
        (Some(value), ..) => parse_long(value, classic)?,
    };
    if !classic && matches!(call.value(0), Some(RawBson::Int32(_) | RawBson::Double(_))) {
        call.shell.output.notice(WARNING);
    }
    Ok(Reply::Typed(RawBson::Int64(number)))
}

/// The integer that a value stands for.
fn parse_long(value: &RawBson, classic: bool) -> Result<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    match value {
        RawBson::Int32(number) => Ok(i64::from(*number)),
        RawBson::Int64(number) => Ok(*number),
        #[allow(clippy::cast_possible_truncation)]
        RawBson::Double(number) if (-BEYOND..BEYOND).contains(number) => Ok(*number as i64),
        RawBson::Double(_) if classic => {
            Err(usage("number passed to NumberLong must be representable as an int64_t"))
        }
        #[allow(clippy::cast_possible_truncation)]
        RawBson::Double(number) => Ok(*number as i64),
        RawBson::String(digits) if classic => {
            digits.parse().map_err(|_| usage("could not convert string to long long"))
        }
        RawBson::String(digits) => Ok(wrapping(digits)),
        _ => Err(usage("NumberLong needs a number or a text of digits")),
    }
}

/// The digits of a text modulo 2^64, as mongosh reads them; a text without digits is 0.
fn wrapping(digits: &str) -> i64 {
    let (negative, digits) = match digits.trim().strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, digits.trim()),
    };
    let mut number: i64 = 0;
    for digit in digits.bytes().take_while(u8::is_ascii_digit) {
        number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
    }
    if negative { number.wrapping_neg() } else { number }
}

fn own_long(call: &Call<'_>) -> Result<i64> {
    match this(call)? {
        RawBson::Int64(number) => Ok(*number),
        _ => Err(usage(format!("{} must be called on a NumberLong", call.method))),
    }
}

/// The receiver and the argument of an operation.
fn both(call: &Call<'_>) -> Result<(i64, i64)> {
    let Some(other) = call.value(0) else {
        return Err(usage(format!("{} needs another number", call.method)));
    };
    Ok((own_long(call)?, parse_long(other, true)?))
}

fn exactly(result: Option<i64>) -> Result<Reply> {
    match result {
        Some(number) => Ok(Reply::Typed(RawBson::Int64(number))),
        None => Err(usage("the result passes the end of 64-bit integers")),
    }
}

fn add(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(left.checked_add(right))
}

fn subtract(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(left.checked_sub(right))
}

fn multiply(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(left.checked_mul(right))
}

fn divide(call: &mut Call<'_>) -> Result<Reply> {
    match both(call)? {
        (_, 0) => Err(usage("division by zero")),
        (left, right) => exactly(left.checked_div(right)),
    }
}

fn modulo(call: &mut Call<'_>) -> Result<Reply> {
    match both(call)? {
        (_, 0) => Err(usage("division by zero")),
        (left, right) => exactly(Some(left.wrapping_rem(right))),
    }
}

fn negate(call: &mut Call<'_>) -> Result<Reply> {
    exactly(Some(own_long(call)?.wrapping_neg()))
}

fn and(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(Some(left & right))
}

fn or(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(Some(left | right))
}

fn xor(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    exactly(Some(left ^ right))
}

fn not(call: &mut Call<'_>) -> Result<Reply> {
    exactly(Some(!own_long(call)?))
}

/// The number of bits of a shift: the low six of the argument.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn shift(call: &Call<'_>) -> Result<(i64, u32)> {
    let (number, bits) = both(call)?;
    Ok((number, (bits & 63) as u32))
}

fn shift_left(call: &mut Call<'_>) -> Result<Reply> {
    let (number, bits) = shift(call)?;
    exactly(Some(number.wrapping_shl(bits)))
}

fn shift_right(call: &mut Call<'_>) -> Result<Reply> {
    let (number, bits) = shift(call)?;
    exactly(Some(number.wrapping_shr(bits)))
}

fn answered(holds: bool) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(holds)))
}

fn is_zero(call: &mut Call<'_>) -> Result<Reply> {
    answered(own_long(call)? == 0)
}

fn is_negative(call: &mut Call<'_>) -> Result<Reply> {
    answered(own_long(call)? < 0)
}

fn is_positive(call: &mut Call<'_>) -> Result<Reply> {
    answered(own_long(call)? >= 0)
}

fn is_odd(call: &mut Call<'_>) -> Result<Reply> {
    answered(own_long(call)? & 1 == 1)
}

fn is_even(call: &mut Call<'_>) -> Result<Reply> {
    answered(own_long(call)? & 1 == 0)
}

fn less(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    answered(left < right)
}

fn less_or_equal(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    answered(left <= right)
}

fn greater(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    answered(left > right)
}

fn greater_or_equal(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    answered(left >= right)
}

fn not_equals(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    answered(left != right)
}

/// The digits of a number to a base from 2 to 36.
fn to_base(number: i64, base: u64) -> String {
    let mut rest = number.unsigned_abs();
    let mut digits = Vec::new();
    loop {
        #[allow(clippy::cast_possible_truncation)]
        let digit = char::from_digit((rest % base) as u32, 36);
        digits.extend(digit);
        rest /= base;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        digits.push('-');
    }
    digits.into_iter().rev().collect()
}

fn compare(call: &mut Call<'_>) -> Result<Reply> {
    let (left, right) = both(call)?;
    Ok(Reply::Value(RawBson::Int32(left.cmp(&right) as i32)))
}

fn equals(call: &mut Call<'_>) -> Result<Reply> {
    let same = match call.value(0) {
        Some(other) => parse_long(other, true).is_ok_and(|other| Ok(other) == own_long(call)),
        None => false,
    };
    Ok(Reply::Value(RawBson::Boolean(same)))
}

#[allow(clippy::cast_precision_loss)]
fn to_number(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Double(own_long(call)? as f64)))
}

/// The digits, where the nearest double is not the number itself.
#[allow(clippy::cast_precision_loss)]
fn exact(call: &mut Call<'_>) -> Result<Reply> {
    let number = own_long(call)?;
    let exact = (number as f64) as i128 == i128::from(number);
    Ok(if exact { Reply::Nothing } else { text(number.to_string()) })
}

#[allow(clippy::cast_possible_truncation)]
fn high(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Int32((own_long(call)? >> 32) as i32)))
}

#[allow(clippy::cast_possible_truncation)]
fn low(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Int32(own_long(call)? as i32)))
}

fn low_unsigned(call: &mut Call<'_>) -> Result<Reply> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let low = own_long(call)? as u32;
    Ok(Reply::Value(RawBson::Double(f64::from(low))))
}

#[allow(clippy::cast_possible_truncation)]
fn long_json(call: &mut Call<'_>) -> Result<Reply> {
    let number = own_long(call)?;
    Ok(Reply::Value(RawBson::Document(match call.shell.emulate {
        Emulate::Mongo => rawdoc! { "$numberLong": number.to_string() },
        Emulate::Mongosh => {
            rawdoc! { "high": (number >> 32) as i32, "low": number as i32, "unsigned": false }
        }
    })))
}

fn long_text(call: &mut Call<'_>) -> Result<Reply> {
    let number = own_long(call)?;
    if let Some(base) = call.value(0).and_then(|base| whole(base.as_raw_bson_ref()))
        && !call.shell.classic()
    {
        return match u64::try_from(base).ok().filter(|base| (2..=36).contains(base)) {
            Some(base) => Ok(text(to_base(number, base))),
            None => Err(raised("BSONError", "radix")),
        };
    }
    Ok(text(match call.shell.emulate {
        // In quotes from 2^31 up, -2^31 among them.
        Emulate::Mongo if number.unsigned_abs() < 1 << 31 => format!("NumberLong({number})"),
        Emulate::Mongo => format!("NumberLong(\"{number}\")"),
        Emulate::Mongosh => number.to_string(),
    }))
}

pub(super) fn decimal(call: &mut Call<'_>) -> Result<Reply> {
    if !call.shell.classic()
        && call.method == "constructor"
        && matches!(call.value(0), Some(RawBson::Int32(_) | RawBson::Double(_)))
    {
        call.shell.output.notice(DECIMAL_WARNING);
    }
    let digits = match call.value(0) {
        None => "0".to_owned(),
        Some(RawBson::Decimal128(number)) => return Ok(Reply::Typed(RawBson::Decimal128(*number))),
        Some(RawBson::Int32(number)) => number.to_string(),
        Some(RawBson::Int64(number)) => number.to_string(),
        // Fifteen digits are what every double keeps; with more, the text would pretend to know better.
        Some(RawBson::Double(number)) => {
            let digits = double_text(*number);
            let mantissa = digits.split('e').next().unwrap_or_default();
            let count = mantissa.bytes().filter(u8::is_ascii_digit).count();
            if number.is_finite() && count > 17 {
                return Err(usage(format!(
                    "Input out of range of Decimal128 value (inexact): {digits}"
                )));
            }
            digits
        }
        Some(RawBson::String(digits)) if digits.is_empty() && !call.shell.classic() => {
            return Err(raised("BSONError", "empty string"));
        }
        Some(RawBson::String(digits)) => digits.clone(),
        Some(_) => return Err(invalid_decimal(call, "it")),
    };
    let parsed = Decimal::parse(&digits).and_then(|_| digits.parse::<bson::Decimal128>().ok());
    match parsed {
        Some(number) => Ok(Reply::Typed(RawBson::Decimal128(number))),
        None => Err(invalid_decimal(call, &digits)),
    }
}

fn invalid_decimal(call: &Call<'_>, digits: &str) -> Error {
    let other = raised("BSONError", format!("{digits} not a valid Decimal128 string"));
    call.shell.wrong("Input is not a valid Decimal128 value.", other)
}

fn own_decimal(call: &Call<'_>) -> Result<bson::Decimal128> {
    match this(call)? {
        RawBson::Decimal128(number) => Ok(*number),
        _ => Err(usage(format!("{} must be called on a NumberDecimal", call.method))),
    }
}

fn decimal_equals(call: &mut Call<'_>) -> Result<Reply> {
    let number = own_decimal(call)?;
    let same = matches!(call.value(0), Some(RawBson::Decimal128(other)) if *other == number);
    Ok(Reply::Value(RawBson::Boolean(same)))
}

fn decimal_json(call: &mut Call<'_>) -> Result<Reply> {
    let digits = own_decimal(call)?.to_string();
    Ok(Reply::Value(RawBson::Document(rawdoc! { "$numberDecimal": digits })))
}

fn decimal_text(call: &mut Call<'_>) -> Result<Reply> {
    let digits = own_decimal(call)?.to_string();
    Ok(text(match call.shell.emulate {
        Emulate::Mongo => format!("NumberDecimal(\"{digits}\")"),
        Emulate::Mongosh => digits,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_to_any_base() {
        assert_eq!(to_base(255, 16), "ff");
        assert_eq!(to_base(-255, 2), "-11111111");
        assert_eq!(to_base(i64::MIN, 36), "-1y2p0ij32e8e8");
        assert_eq!(to_base(0, 10), "0");
    }

    #[test]
    fn integers_wrap_as_javascript_has_it() {
        assert_eq!(to_int32(5.9), 5);
        assert_eq!(to_int32(-5.9), -5);
        assert_eq!(to_int32(3_000_000_000.0), -1_294_967_296);
        assert_eq!(to_int32(f64::NAN), 0);
    }

    #[test]
    fn the_classic_shell_is_strict_about_texts_and_mongosh_wraps() {
        let text = |digits: &str| RawBson::String(digits.to_owned());
        assert_eq!(parse_long(&text("9223372036854775807"), true), Ok(i64::MAX));
        let refused = Err(usage("could not convert string to long long"));
        assert_eq!(parse_long(&text("abc"), true), refused);
        assert_eq!(parse_long(&text("9223372036854775808"), true), refused);
        assert_eq!(parse_long(&text("abc"), false), Ok(0));
        assert_eq!(parse_long(&text("9223372036854775808"), false), Ok(i64::MIN));
        assert!(parse_long(&RawBson::Double(1e19), true).is_err());
    }
}
