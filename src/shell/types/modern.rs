//! What mongosh has beside the classes of the old shell: `Double`, `BSONSymbol`, and functions on the globals of numbers.

use bson::RawBson;

use super::{text, this};
use crate::error::Result;
use crate::shell::command::whole;
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::native;
use crate::shell::{Call, Class, Reply, Shells};
use crate::value::number::double_text;

/// `Double(5)`.
pub(in crate::shell) const DOUBLE: Class = Class::instances(
    "Double",
    "Double",
    "a floating-point number, whole or not",
    &[
        native("constructor", "(number or text)", "a floating-point number", double),
        native("toJSON", "()", "what JSON.stringify writes", double_value),
        native("toNumber", "()", "the number", double_value),
        native("toString", "()", "its text", double_string),
        native("value", "", "the number", double_value),
        native("valueOf", "()", "the number", double_value),
    ],
)
.only(Shells::Mongosh);

/// Functions on `Double` itself.
pub(in crate::shell) const DOUBLE_FUNCTIONS: Class = Class::functions(
    "DoubleFunctions",
    "Double",
    "ways to make a Double",
    &[native("fromString", "(text)", "the number that a text says", double)],
)
.only(Shells::Mongosh);

/// `BSONSymbol("text")`.
pub(in crate::shell) const BSON_SYMBOL: Class = Class::instances(
    "BSONSymbol",
    "BSONSymbol",
    "a text of the old type symbol",
    &[
        native("constructor", "(text)", "a text of the old type symbol", symbol),
        native("toJSON", "()", "what JSON.stringify writes", symbol_text),
        native("toString", "()", "its text", symbol_text),
        native("value", "", "its text", symbol_text),
        native("valueOf", "()", "its text", symbol_text),
    ],
)
.only(Shells::Mongosh);

/// Functions on `Int32` itself.
pub(in crate::shell) const INT_FUNCTIONS: Class = Class::functions(
    "Int32Functions",
    "Int32",
    "ways to make an Int32",
    &[native("fromString", "(text)", "the number that a text says", int_from_text)],
)
.only(Shells::Mongosh);

/// Functions on `Long` itself.
pub(in crate::shell) const LONG_FUNCTIONS: Class = Class::functions(
    "LongFunctions",
    "Long",
    "ways to make a Long",
    &[
        native("MAX_VALUE", "", "the highest one", highest),
        native("MIN_VALUE", "", "the lowest one", lowest),
        native("NEG_ONE", "", "-1", minus_one),
        native("ONE", "", "1", one),
        native("ZERO", "", "0", zero),
        native("fromBigInt", "(number)", "the one of a BigInt", from_number),
        native("fromBits", "(low, high)", "the one of two halves of 32 bits", from_bits),
        native("fromInt", "(number)", "the one of a number", from_number),
        native("fromNumber", "(number)", "the one of a number", from_number),
        native("fromString", "(digits)", "the one of a text of digits", super::numbers::long),
        native("isLong", "(value)", "whether a value is one", is_long),
    ],
)
.only(Shells::Mongosh);

/// Functions on `Decimal128` itself.
pub(in crate::shell) const DECIMAL_FUNCTIONS: Class = Class::functions(
    "DecimalFunctions",
    "Decimal128",
    "ways to make a Decimal128",
    &[
        native("fromString", "(digits)", "the number that a text says", super::numbers::decimal),
        native(
            "fromStringWithRounding",
            "(digits)",
            "the number nearest to what a text says",
            super::numbers::decimal,
        ),
    ],
)
.only(Shells::Mongosh);

#[allow(clippy::cast_precision_loss)]
fn double(call: &mut Call<'_>) -> Result<Reply> {
    let number = match call.value(0) {
        None => 0.0,
        Some(RawBson::Double(number)) => *number,
        Some(RawBson::Int32(number)) => f64::from(*number),
        Some(RawBson::Int64(number)) => *number as f64,
        Some(RawBson::Decimal128(number)) => number.to_string().parse().unwrap_or(f64::NAN),
        Some(RawBson::Boolean(value)) => f64::from(u8::from(*value)),
        Some(RawBson::String(digits)) => digits.trim().parse().unwrap_or(f64::NAN),
        Some(_) => return Err(usage("Double needs a number or a text of digits")),
    };
    Ok(Reply::Typed(RawBson::Double(number)))
}

/// mongosh's `Int32.fromString`: digits and nothing else.
fn int_from_text(call: &mut Call<'_>) -> Result<Reply> {
    let given = call.text(0, "text")?.unwrap_or_default();
    let digits = given.strip_prefix('+').unwrap_or(given);
    match digits.parse::<i32>() {
        Ok(number) => Ok(Reply::Typed(RawBson::Int32(number))),
        Err(_) => Err(raised("BSONError", format!("Input: '{given}' is not a safe integer"))),
    }
}

fn own_double(call: &Call<'_>) -> Result<f64> {
    match this(call)? {
        RawBson::Double(number) => Ok(*number),
        _ => Err(usage(format!("{} must be called on a Double", call.method))),
    }
}

fn double_value(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Double(own_double(call)?)))
}

fn double_string(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(double_text(own_double(call)?)))
}

fn symbol(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Typed(RawBson::Symbol(call.text(0, "text")?.unwrap_or_default().to_owned())))
}

fn symbol_text(call: &mut Call<'_>) -> Result<Reply> {
    match this(call)? {
        RawBson::Symbol(symbol) => Ok(text(symbol.clone())),
        _ => Err(usage(format!("{} must be called on a BSONSymbol", call.method))),
    }
}

fn long(number: i64) -> Reply {
    Reply::Typed(RawBson::Int64(number))
}

fn highest(_: &mut Call<'_>) -> Result<Reply> {
    Ok(long(i64::MAX))
}

fn lowest(_: &mut Call<'_>) -> Result<Reply> {
    Ok(long(i64::MIN))
}

fn minus_one(_: &mut Call<'_>) -> Result<Reply> {
    Ok(long(-1))
}

fn one(_: &mut Call<'_>) -> Result<Reply> {
    Ok(long(1))
}

fn zero(_: &mut Call<'_>) -> Result<Reply> {
    Ok(long(0))
}

fn number_at(call: &Call<'_>, at: usize) -> i64 {
    call.value(at).and_then(|value| whole(value.as_raw_bson_ref())).unwrap_or(0)
}

fn from_bits(call: &mut Call<'_>) -> Result<Reply> {
    Ok(long(number_at(call, 1) << 32 | number_at(call, 0) & 0xffff_ffff))
}

fn from_number(call: &mut Call<'_>) -> Result<Reply> {
    Ok(long(number_at(call, 0)))
}

fn is_long(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(matches!(call.value(0), Some(RawBson::Int64(_))))))
}
