//! Arithmetic on BSON numbers: promotion, overflow and Decimal128 are decided here and nowhere else.
//!
//! The wider of two types wins: int32, int64, double, decimal. An int32 result that does not fit becomes an int64; an
//! int64 result that does not fit is refused for updates and becomes a double in expressions ([`Overflow`]).

use std::cmp::Ordering;

use bson::Bson;

use super::decimal;
pub use super::decimal::{Decimal, Rounding};

/// A number of one of BSON's four numeric types.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A 32-bit integer.
    Int32(i32),
    /// A 64-bit integer.
    Int64(i64),
    /// A double.
    Double(f64),
    /// A Decimal128.
    Decimal(Decimal),
}

/// What becomes of an int64 result that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overflow {
    /// There is no result; updates answer with an error and leave the document.
    Refused,
    /// The result is a double, as in aggregation expressions.
    Double,
}

/// Two numbers brought to their common type.
enum Pair {
    Int32(i32, i32),
    Int64(i64, i64),
    Double(f64, f64),
    Decimal(Decimal, Decimal),
}

impl Number {
    /// The number in a value; `None` if it is not one.
    pub fn of(value: &Bson) -> Option<Self> {
        match value {
            Bson::Int32(number) => Some(Self::Int32(*number)),
            Bson::Int64(number) => Some(Self::Int64(*number)),
            Bson::Double(number) => Some(Self::Double(*number)),
            Bson::Decimal128(number) => Some(Self::Decimal(Decimal::decode(*number))),
            _ => None,
        }
    }

    /// The smallest integer type that holds `value`.
    pub fn from_i64(value: i64) -> Self {
        i32::try_from(value).map_or(Self::Int64(value), Self::Int32)
    }

    /// The integer part, toward zero; `None` outside of int64, for infinities and NaN.
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Self::Int32(number) => Some(i64::from(number)),
            Self::Int64(number) => Some(number),
            // 2^63 itself is a double and no int64; every double between the bounds has an int64 as integer part.
            Self::Double(number) => (-TWO_63..TWO_63).contains(&number).then_some(number as i64),
            Self::Decimal(number) => number.to_i64(),
        }
    }

    /// The integer part, toward zero; `None` outside of int32, for infinities and NaN.
    pub fn to_i32(self) -> Option<i32> {
        self.to_i64().and_then(|number| i32::try_from(number).ok())
    }

    /// The integer this is exactly; `None` with a fraction, outside of int64, for infinities and NaN.
    pub fn integral(self) -> Option<i64> {
        match self {
            Self::Double(number) if number.fract() != 0.0 => None,
            Self::Decimal(number) if !number.is_integral() => None,
            number => number.to_i64(),
        }
    }

    /// The integer part clamped to int64; NaN is 0. Bit tests, limits and `$slice` counts read numbers so.
    pub fn clamped(self) -> i64 {
        self.to_i64().unwrap_or_else(|| {
            if self.is_nan() {
                0
            } else if self.is_negative() {
                i64::MIN
            } else {
                i64::MAX
            }
        })
    }

    /// The nearest double.
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int32(number) => f64::from(number),
            Self::Int64(number) => number as f64,
            Self::Double(number) => number,
            Self::Decimal(number) => number.to_double(),
        }
    }

    /// As a decimal; a double in fifteen significant digits.
    pub fn to_decimal(self) -> Decimal {
        match self {
            Self::Int32(number) => Decimal::new(i64::from(number), 0),
            Self::Int64(number) => Decimal::new(number, 0),
            Self::Double(number) => Decimal::from_double(number),
            Self::Decimal(number) => number,
        }
    }

    /// Whether it is not a number.
    pub fn is_nan(self) -> bool {
        match self {
            Self::Int32(_) | Self::Int64(_) => false,
            Self::Double(number) => number.is_nan(),
            Self::Decimal(number) => number == Decimal::NaN,
        }
    }

    /// Whether it is neither infinite nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            Self::Int32(_) | Self::Int64(_) => true,
            Self::Double(number) => number.is_finite(),
            Self::Decimal(number) => matches!(number, Decimal::Finite { .. }),
        }
    }

    /// Whether it is less than zero.
    pub fn is_negative(self) -> bool {
        match self {
            Self::Int32(number) => number < 0,
            Self::Int64(number) => number < 0,
            Self::Double(number) => number < 0.0,
            Self::Decimal(number) => number.is_negative() && !number.is_zero(),
        }
    }

    /// Whether it is zero of either sign.
    pub fn is_zero(self) -> bool {
        match self {
            Self::Int32(number) => number == 0,
            Self::Int64(number) => number == 0,
            Self::Double(number) => number == 0.0,
            Self::Decimal(number) => number.is_zero(),
        }
    }

    /// Zero of the same type.
    #[must_use]
    pub fn zero(self) -> Self {
        match self {
            Self::Int32(_) => Self::Int32(0),
            Self::Int64(_) => Self::Int64(0),
            Self::Double(_) => Self::Double(0.0),
            Self::Decimal(_) => Self::Decimal(Decimal::ZERO),
        }
    }

    fn pair(self, other: Self) -> Pair {
        match (self, other) {
            (Self::Decimal(_), _) | (_, Self::Decimal(_)) => {
                Pair::Decimal(self.to_decimal(), other.to_decimal())
            }
            (Self::Double(_), _) | (_, Self::Double(_)) => {
                Pair::Double(self.to_f64(), other.to_f64())
            }
            (Self::Int32(left), Self::Int32(right)) => Pair::Int32(left, right),
            (Self::Int64(left), Self::Int64(right)) => Pair::Int64(left, right),
            (Self::Int32(left), Self::Int64(right)) => Pair::Int64(i64::from(left), right),
            (Self::Int64(left), Self::Int32(right)) => Pair::Int64(left, i64::from(right)),
        }
    }
}

impl From<Number> for Bson {
    fn from(number: Number) -> Self {
        match number {
            Number::Int32(number) => Self::Int32(number),
            Number::Int64(number) => Self::Int64(number),
            Number::Double(number) => Self::Double(number),
            Number::Decimal(number) => Self::Decimal128(number.encode()),
        }
    }
}

/// 2^63: the least double above every int64.
const TWO_63: f64 = 9_223_372_036_854_775_808.0;

/// The sum; `None` only where `overflow` refuses it.
pub fn add(left: Number, right: Number, overflow: Overflow) -> Option<Number> {
    let wide =
        |left, right| integer(i64::checked_add(left, right), left as f64 + right as f64, overflow);
    match left.pair(right) {
        Pair::Int32(left, right) => Some(narrow(i64::from(left) + i64::from(right))),
        Pair::Int64(left, right) => wide(left, right),
        Pair::Double(left, right) => Some(Number::Double(left + right)),
        Pair::Decimal(left, right) => Some(Number::Decimal(left.plus(right))),
    }
}

/// The difference; `None` only where `overflow` refuses it.
pub fn subtract(left: Number, right: Number, overflow: Overflow) -> Option<Number> {
    let wide =
        |left, right| integer(i64::checked_sub(left, right), left as f64 - right as f64, overflow);
    match left.pair(right) {
        Pair::Int32(left, right) => Some(narrow(i64::from(left) - i64::from(right))),
        Pair::Int64(left, right) => wide(left, right),
        Pair::Double(left, right) => Some(Number::Double(left - right)),
        Pair::Decimal(left, right) => Some(Number::Decimal(left.subtract(right))),
    }
}

/// The product; `None` only where `overflow` refuses it.
pub fn multiply(left: Number, right: Number, overflow: Overflow) -> Option<Number> {
    let wide =
        |left, right| integer(i64::checked_mul(left, right), left as f64 * right as f64, overflow);
    match left.pair(right) {
        Pair::Int32(left, right) => Some(narrow(i64::from(left) * i64::from(right))),
        Pair::Int64(left, right) => wide(left, right),
        Pair::Double(left, right) => Some(Number::Double(left * right)),
        Pair::Decimal(left, right) => Some(Number::Decimal(left.multiply(right))),
    }
}

/// The quotient, a double or a decimal; `None` for a zero divisor.
pub fn divide(left: Number, right: Number) -> Option<Number> {
    if right.is_zero() {
        return None;
    }
    Some(match left.pair(right) {
        Pair::Decimal(left, right) => Number::Decimal(left.divide(right)),
        Pair::Int32(..) | Pair::Int64(..) | Pair::Double(..) => {
            Number::Double(left.to_f64() / right.to_f64())
        }
    })
}

/// The remainder of a division that truncates, with the sign of the dividend; `None` for a zero divisor.
pub fn remainder(left: Number, right: Number) -> Option<Number> {
    if right.is_zero() {
        return None;
    }
    Some(match left.pair(right) {
        Pair::Int32(left, right) => Number::Int32(left.wrapping_rem(right)),
        Pair::Int64(left, right) => Number::Int64(left.wrapping_rem(right)),
        Pair::Double(left, right) => Number::Double(left % right),
        Pair::Decimal(left, right) => Number::Decimal(left.remainder(right)),
    })
}

/// The number with the other sign. The least int32 becomes an int64; the least int64 has none.
pub fn negate(number: Number) -> Option<Number> {
    match number {
        Number::Int32(number) => Some(narrow(-i64::from(number))),
        Number::Int64(number) => number.checked_neg().map(Number::Int64),
        Number::Double(number) => Some(Number::Double(-number)),
        Number::Decimal(number) => Some(Number::Decimal(number.negate())),
    }
}

/// The distance from zero. The least int32 becomes an int64; the least int64 has none.
pub fn abs(number: Number) -> Option<Number> {
    match number {
        Number::Double(number) => Some(Number::Double(number.abs())),
        Number::Decimal(number) => Some(Number::Decimal(number.abs())),
        number if number.is_negative() => negate(number),
        number => Some(number),
    }
}

/// Rounds to `places` digits after the point (negative: before it), keeping the type; an int32 that outgrows its type
/// becomes an int64. `None` when an int64 would not fit any more.
pub fn round(number: Number, places: i32, rounding: Rounding) -> Option<Number> {
    match number {
        Number::Int32(_) | Number::Int64(_) if places >= 0 => Some(number),
        Number::Int32(whole) => round_integer(i64::from(whole), places, rounding).map(narrow),
        Number::Int64(whole) => round_integer(whole, places, rounding).map(Number::Int64),
        Number::Double(value) => Some(Number::Double(round_double(value, places, rounding))),
        Number::Decimal(value) => Some(Number::Decimal(value.round_at(places, rounding))),
    }
}

fn round_integer(whole: i64, places: i32, rounding: Rounding) -> Option<i64> {
    Decimal::new(whole, 0).round_at(places, rounding).to_i64()
}

fn round_double(value: f64, places: i32, rounding: Rounding) -> f64 {
    if !value.is_finite() || value == 0.0 {
        return value;
    }
    if places == 0 {
        return match rounding {
            Rounding::HalfEven => value.round_ties_even(),
            Rounding::Down => value.trunc(),
            Rounding::Floor => value.floor(),
            Rounding::Ceiling => value.ceil(),
        };
    }
    // The server rounds the decimal that has the double's own digits, so that 1.005 to two places is decided exactly.
    Decimal::truncate_double(value).0.round_at(places, rounding).to_double()
}

/// A real function of the number, computed in doubles; a decimal stays a decimal, to a double's precision.
pub fn real(number: Number, function: impl Fn(f64) -> f64) -> Number {
    match number {
        Number::Decimal(decimal) => {
            Number::Decimal(Decimal::from_double(function(decimal.to_double())))
        }
        Number::Int32(_) | Number::Int64(_) | Number::Double(_) => {
            Number::Double(function(number.to_f64()))
        }
    }
}

/// The power. Integers give an integer while it fits and the exponent is not negative, else a double.
pub fn power(base: Number, exponent: Number) -> Number {
    let whole =
        |left: i64, right: i64| u32::try_from(right).ok().and_then(|right| left.checked_pow(right));
    match base.pair(exponent) {
        Pair::Int32(left, right) => whole(left.into(), right.into()).map(narrow),
        Pair::Int64(left, right) => whole(left, right).map(Number::Int64),
        Pair::Double(..) => None,
        Pair::Decimal(left, right) => Some(decimal_power(left, right)),
    }
    .unwrap_or_else(|| Number::Double(base.to_f64().powf(exponent.to_f64())))
}

/// Exact by repeated squaring where the exponent is a small integer, else to a double's precision.
fn decimal_power(base: Decimal, exponent: Decimal) -> Number {
    let whole = exponent.is_integral().then(|| exponent.to_i64()).flatten();
    let Some(whole) = whole.filter(|whole| whole.unsigned_abs() <= 100_000) else {
        return Number::Decimal(Decimal::from_double(base.to_double().powf(exponent.to_double())));
    };
    let (mut rest, mut square, mut result) = (whole.unsigned_abs(), base, Decimal::new(1, 0));
    while rest > 0 {
        if rest & 1 == 1 {
            result = result.multiply(square);
        }
        square = square.multiply(square);
        rest >>= 1;
    }
    Number::Decimal(if whole < 0 { Decimal::new(1, 0).divide(result) } else { result })
}

/// Compares two numbers by exact value; `None` if either value is no number. NaN equals NaN and is the least.
pub fn compare(left: &Bson, right: &Bson) -> Option<Ordering> {
    Some(order(Number::of(left)?, Number::of(right)?))
}

/// Orders two numbers by exact value, whatever their types. NaN equals NaN and is the least; `-0` equals `0`.
pub fn order(left: Number, right: Number) -> Ordering {
    match (left, right) {
        (Number::Int32(left), Number::Int32(right)) => left.cmp(&right),
        (Number::Double(left), Number::Double(right)) => order_doubles(left, right),
        (Number::Decimal(left), Number::Decimal(right)) => decimal::compare(left, right),
        (Number::Int32(left), Number::Double(right)) => order_doubles(f64::from(left), right),
        (Number::Double(left), Number::Int32(right)) => order_doubles(left, f64::from(right)),
        (Number::Int32(_) | Number::Int64(_), Number::Int32(_) | Number::Int64(_)) => {
            left.to_i64().cmp(&right.to_i64())
        }
        (Number::Int64(left), Number::Double(right)) => order_long_double(left, right),
        (Number::Double(left), Number::Int64(right)) => order_long_double(right, left).reverse(),
        (Number::Decimal(left), Number::Int32(_) | Number::Int64(_)) => {
            decimal::compare(left, right.to_decimal())
        }
        (Number::Int32(_) | Number::Int64(_), Number::Decimal(right)) => {
            decimal::compare(left.to_decimal(), right)
        }
        (Number::Double(left), Number::Decimal(right)) => order_double_decimal(left, right),
        (Number::Decimal(left), Number::Double(right)) => {
            order_double_decimal(right, left).reverse()
        }
    }
}

fn order_doubles(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| right.is_nan().cmp(&left.is_nan()))
}

fn order_long_double(long: i64, double: f64) -> Ordering {
    if double.is_nan() || double < -TWO_63 {
        return Ordering::Greater;
    }
    if double >= TWO_63 {
        return Ordering::Less;
    }
    let whole = double.trunc();
    long.cmp(&(whole as i64)).then_with(|| order_doubles(whole, double))
}

fn order_double_decimal(double: f64, other: Decimal) -> Ordering {
    let (truncated, exact) = Decimal::truncate_double(double);
    // No decimal lies between the double and its first 34 digits, so only a tie needs the digits that were cut.
    decimal::compare(truncated, other).then(match (exact, double < 0.0) {
        (true, _) => Ordering::Equal,
        (false, true) => Ordering::Less,
        (false, false) => Ordering::Greater,
    })
}

fn narrow(value: i64) -> Number {
    Number::from_i64(value)
}

fn integer(exact: Option<i64>, rounded: f64, overflow: Overflow) -> Option<Number> {
    match (exact, overflow) {
        (Some(value), _) => Some(Number::Int64(value)),
        (None, Overflow::Refused) => None,
        (None, Overflow::Double) => Some(Number::Double(rounded)),
    }
}

/// A double as `%.16g` has it, with `Infinity` and `NaN` spelt out: what `$toString` answers.
pub fn double_text(value: f64) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-Infinity" } else { "Infinity" }.into();
    }
    if value == 0.0 {
        return if value.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let scientific = format!("{value:.15e}");
    let (mantissa, power) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    if (-4..16).contains(&power) {
        trim_zeros(&format!("{value:.*}", (15 - power).max(0) as usize)).to_owned()
    } else {
        let sign = if power < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim_zeros(mantissa), power.unsigned_abs())
    }
}

/// A double as server messages print it: `1.0`, `0.1`, `1e+20`.
pub fn double_message_text(value: f64) -> String {
    let mut text = double_text(value);
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        text.push_str(".0");
    }
    text
}

fn trim_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use Number::{Double, Int32, Int64};

    fn decimal(text: &str) -> Number {
        Number::Decimal(Decimal::parse(text).expect("a decimal"))
    }

    #[test]
    fn the_wider_type_wins() {
        let sum = |left, right| add(left, right, Overflow::Refused);
        assert_eq!(sum(Int32(1), Int32(2)), Some(Int32(3)));
        assert_eq!(sum(Int32(i32::MAX), Int32(1)), Some(Int64(2_147_483_648)));
        assert_eq!(sum(Int32(1), Int64(2)), Some(Int64(3)));
        assert_eq!(sum(Int64(1), Double(0.5)), Some(Double(1.5)));
        assert_eq!(sum(Int32(1), decimal("0.5")), Some(decimal("1.5")));
        assert_eq!(sum(Int64(i64::MAX), Int32(1)), None);
        assert_eq!(
            add(Int64(i64::MAX), Int32(1), Overflow::Double),
            Some(Double(9_223_372_036_854_775_808.0))
        );
        assert_eq!(
            multiply(Int32(65_536), Int32(65_536), Overflow::Refused),
            Some(Int64(4_294_967_296))
        );
        assert_eq!(multiply(Int64(i64::MIN), Int32(-1), Overflow::Refused), None);
        assert_eq!(
            subtract(Int32(i32::MIN), Int32(1), Overflow::Refused),
            Some(Int64(-2_147_483_649))
        );
    }

    #[test]
    fn division_and_remainder() {
        assert_eq!(divide(Int32(6), Int32(4)), Some(Double(1.5)));
        assert_eq!(divide(Int32(6), Double(-0.0)), None);
        assert_eq!(remainder(Int32(-7), Int32(3)), Some(Int32(-1)));
        assert_eq!(remainder(Int64(i64::MIN), Int64(-1)), Some(Int64(0)));
        assert_eq!(remainder(Double(7.5), Int32(2)), Some(Double(1.5)));
        assert_eq!(abs(Int32(i32::MIN)), Some(Int64(2_147_483_648)));
        assert_eq!(abs(Int64(i64::MIN)), None);
    }

    #[test]
    fn conversions_truncate_and_refuse() {
        assert_eq!(Double(1.9).to_i64(), Some(1));
        assert_eq!(Double(-1.9).to_i32(), Some(-1));
        assert_eq!(Double(9_223_372_036_854_775_808.0).to_i64(), None);
        assert_eq!(Double(f64::NAN).to_i64(), None);
        assert_eq!(Double(2.0).integral(), Some(2));
        assert_eq!(Double(2.5).integral(), None);
        assert_eq!(decimal("2.0").integral(), Some(2));
        assert_eq!(Double(f64::INFINITY).clamped(), i64::MAX);
    }

    #[test]
    fn rounding_keeps_the_type() {
        assert_eq!(round(Double(2.5), 0, Rounding::HalfEven), Some(Double(2.0)));
        assert_eq!(round(Double(1234.567), 2, Rounding::Down), Some(Double(1234.56)));
        assert_eq!(round(Int32(1250), -2, Rounding::HalfEven), Some(Int32(1200)));
        assert_eq!(round(Int32(i32::MAX), -1, Rounding::HalfEven), Some(Int64(2_147_483_650)));
    }

    #[test]
    fn doubles_print_as_in_messages() {
        for (value, plain, message) in [
            (1.0, "1", "1.0"),
            (-3.0, "-3", "-3.0"),
            (0.1, "0.1", "0.1"),
            (1.5e300, "1.5e+300", "1.5e+300"),
            (1e-7, "1e-07", "1e-07"),
            (123_456_789.25, "123456789.25", "123456789.25"),
            (1e15, "1000000000000000", "1000000000000000.0"),
            (f64::INFINITY, "Infinity", "Infinity"),
        ] {
            assert_eq!(double_text(value), plain);
            assert_eq!(double_message_text(value), message);
        }
    }

    fn numbers() -> impl Strategy<Value = Number> {
        prop_oneof![
            any::<i32>().prop_map(Int32),
            any::<i64>().prop_map(Int64),
            (-1e15..1e15f64).prop_map(Double),
            any::<i64>().prop_map(|units| Number::Decimal(Decimal::new(units, -3))),
        ]
    }

    proptest! {
        #[test]
        fn addition_and_multiplication_commute(a in numbers(), b in numbers()) {
            prop_assert_eq!(add(a, b, Overflow::Double), add(b, a, Overflow::Double));
            prop_assert_eq!(multiply(a, b, Overflow::Refused), multiply(b, a, Overflow::Refused));
        }

        #[test]
        fn nothing_panics(a in any::<f64>(), b in any::<i64>(), places in -400i32..400) {
            for number in [Double(a), Int64(b), Number::Decimal(Decimal::from_double(a))] {
                for rounding in [Rounding::HalfEven, Rounding::Down, Rounding::Floor, Rounding::Ceiling] {
                    let _ = round(number, places, rounding);
                }
                let _ = (divide(number, Double(a)), remainder(Int64(b), number), abs(number), negate(number));
                let _ = (double_text(a), number.integral(), number.clamped(), order(number, Int64(b)));
            }
        }
    }
}
