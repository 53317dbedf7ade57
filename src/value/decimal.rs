//! Decimal128: IEEE 754 decimal numbers of 34 digits, decoded, combined with round-half-even, and printed.
//!
//! This is the decimal half of [`super::number`], which alone decides when a value becomes a decimal. The `bson` crate
//! keeps the sixteen bytes and no arithmetic, so it is here, on `u128` coefficients.

use std::cmp::Ordering;
use std::fmt;

use bson::Decimal128;

/// The most digits a coefficient holds.
const DIGITS: u32 = 34;
/// The greatest coefficient.
const MAX_COEFFICIENT: u128 = 10u128.pow(DIGITS) - 1;
/// The least and the greatest exponent of a coefficient taken as an integer.
const MIN_EXPONENT: i32 = -6176;
const MAX_EXPONENT: i32 = 6111;
const BIAS: i32 = 6176;

/// A decoded Decimal128.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decimal {
    /// Not a number; the sign and payload of a stored one are not kept.
    NaN,
    /// Greater, or if negative less, than every finite number.
    Infinity {
        /// Whether it is the negative one.
        negative: bool,
    },
    /// `coefficient * 10^exponent`, with at most 34 digits.
    Finite {
        /// The sign; zero has one too.
        negative: bool,
        /// At most `10^34 - 1`.
        coefficient: u128,
        /// From -6176 to 6111.
        exponent: i32,
    },
}

use Decimal::{Finite, Infinity, NaN};

impl Decimal {
    /// Zero with exponent 0, `NumberDecimal("0")`.
    pub const ZERO: Self = Finite { negative: false, coefficient: 0, exponent: 0 };

    /// `units * 10^exponent`, rounded where the exponent is out of range.
    pub fn new(units: i64, exponent: i32) -> Self {
        finish(units < 0, u128::from(units.unsigned_abs()), i64::from(exponent), false)
    }

    /// Reads the sixteen stored bytes. Encodings the standard calls non-canonical are zero.
    pub fn decode(stored: Decimal128) -> Self {
        let bits = u128::from_le_bytes(stored.bytes());
        let negative = bits >> 127 == 1;
        match (bits >> 122) & 0x1f {
            0x1f => NaN,
            0x1e => Infinity { negative },
            combination if combination >> 3 == 3 => Finite {
                negative,
                coefficient: 0,
                exponent: ((bits >> 111) & 0x3fff) as i32 - BIAS,
            },
            _ => {
                let coefficient = bits & ((1 << 113) - 1);
                Finite {
                    negative,
                    coefficient: if coefficient > MAX_COEFFICIENT { 0 } else { coefficient },
                    exponent: ((bits >> 113) & 0x3fff) as i32 - BIAS,
                }
            }
        }
    }

    /// The sixteen bytes to store.
    pub fn encode(self) -> Decimal128 {
        let bits = match self {
            NaN => 0x1f << 122,
            Infinity { negative } => (u128::from(negative) << 127) | (0x1e << 122),
            Finite { negative, coefficient, exponent } => {
                (u128::from(negative) << 127) | (((exponent + BIAS) as u128) << 113) | coefficient
            }
        };
        Decimal128::from_bytes(bits.to_le_bytes())
    }

    /// The double in fifteen significant digits, as the server turns a double into a decimal (`0.1` is
    /// `0.100000000000000`).
    pub fn from_double(value: f64) -> Self {
        Self::from_double_digits(value, 15)
    }

    /// The double rounded to 34 significant digits toward zero, and whether that was exact.
    pub fn truncate_double(value: f64) -> (Self, bool) {
        if value.is_nan() {
            return (NaN, true);
        }
        if value.is_infinite() {
            return (Infinity { negative: value < 0.0 }, true);
        }
        // A double has at most 767 significant decimal digits, so this text is exact.
        let text = format!("{:.766e}", value.abs());
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let mut coefficient = 0u128;
        let mut exact = true;
        for (at, digit) in mantissa.bytes().filter(u8::is_ascii_digit).enumerate() {
            if at < DIGITS as usize {
                coefficient = coefficient * 10 + u128::from(digit - b'0');
            } else {
                exact &= digit == b'0';
            }
        }
        let exponent = power.parse::<i64>().unwrap_or(0) - i64::from(DIGITS - 1);
        (finish(value.is_sign_negative(), coefficient, exponent, false), exact)
    }

    fn from_double_digits(value: f64, digits: usize) -> Self {
        if value.is_nan() {
            return NaN;
        }
        if value.is_infinite() {
            return Infinity { negative: value < 0.0 };
        }
        if value == 0.0 {
            return Finite { negative: value.is_sign_negative(), coefficient: 0, exponent: 0 };
        }
        Self::parse(&format!("{:.*e}", digits - 1, value)).unwrap_or(NaN)
    }

    /// The nearest double.
    pub fn to_double(self) -> f64 {
        match self {
            NaN => f64::NAN,
            Infinity { negative: true } => f64::NEG_INFINITY,
            Infinity { negative: false } => f64::INFINITY,
            Finite { negative, coefficient, exponent } => {
                let magnitude: f64 = format!("{coefficient}e{exponent}").parse().unwrap_or(0.0);
                if negative { -magnitude } else { magnitude }
            }
        }
    }

    /// The integer part, toward zero; `None` outside of int64, for infinities and NaN.
    pub fn to_i64(self) -> Option<i64> {
        let Finite { negative, coefficient, exponent } = self.truncate() else { return None };
        let magnitude = if coefficient == 0 {
            0
        } else {
            coefficient.checked_mul(10u128.checked_pow(u32::try_from(exponent).ok()?)?)?
        };
        let magnitude = i128::try_from(magnitude).ok()?;
        i64::try_from(if negative { -magnitude } else { magnitude }).ok()
    }

    /// Whether there is nothing after the decimal point. False for infinities and NaN.
    pub fn is_integral(self) -> bool {
        matches!(self, Finite { .. }) && compare(self, self.truncate()).is_eq()
    }

    /// Whether this is a zero of either sign.
    pub fn is_zero(self) -> bool {
        matches!(self, Finite { coefficient: 0, .. })
    }

    /// Whether the sign is negative, `-0` included.
    pub fn is_negative(self) -> bool {
        match self {
            NaN => false,
            Infinity { negative } | Finite { negative, .. } => negative,
        }
    }

    /// The same magnitude with the other sign.
    #[must_use]
    pub fn negate(self) -> Self {
        match self {
            NaN => NaN,
            Infinity { negative } => Infinity { negative: !negative },
            Finite { negative, coefficient, exponent } => {
                Finite { negative: !negative, coefficient, exponent }
            }
        }
    }

    /// The distance from zero.
    #[must_use]
    pub fn abs(self) -> Self {
        if self.is_negative() { self.negate() } else { self }
    }

    /// The integer part, toward zero, with an exponent of at least 0.
    #[must_use]
    pub fn truncate(self) -> Self {
        self.round_at(0, Rounding::Down)
    }

    /// Rounds to `places` digits after the decimal point (negative: before it). A number with fewer digits is kept.
    #[must_use]
    pub fn round_at(self, places: i32, rounding: Rounding) -> Self {
        let Finite { negative, coefficient, exponent } = self else { return self };
        let drop = i64::from(-places) - i64::from(exponent);
        if drop <= 0 {
            return self;
        }
        let coefficient = shift_right(coefficient, drop, negative, rounding, false);
        finish(negative, coefficient, i64::from(-places), false)
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (Finite { .. }, Finite { .. }) = (self, other) else {
            return match (self, other) {
                (NaN, _) | (_, NaN) => NaN,
                (Infinity { negative: left }, Infinity { negative: right }) if left != right => NaN,
                (Infinity { .. }, _) => self,
                _ => other,
            };
        };
        add_finite(self, other)
    }

    /// The difference.
    #[must_use]
    pub fn subtract(self, other: Self) -> Self {
        self.plus(other.negate())
    }

    /// The product.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (NaN, _) | (_, NaN) => NaN,
            (Infinity { .. }, number) | (number, Infinity { .. }) => {
                if number.is_zero() {
                    NaN
                } else {
                    Infinity { negative }
                }
            }
            (
                Finite { coefficient: left, exponent: left_exponent, .. },
                Finite { coefficient: right, exponent: right_exponent, .. },
            ) => {
                let exponent = i64::from(left_exponent) + i64::from(right_exponent);
                let (high, low) = wide_product(left, right);
                if high == 0 {
                    return finish(negative, low, exponent, false);
                }
                // Keep 36 digits and a sticky remainder; the final rounding sees both.
                let keep = 36 - digits(high).min(DIGITS);
                let keep = keep.min(DIGITS);
                let cut = 10u128.pow(DIGITS - keep);
                let coefficient = high * 10u128.pow(keep) + low / cut;
                finish(negative, coefficient, exponent + i64::from(DIGITS - keep), low % cut != 0)
            }
        }
    }

    /// The quotient; a division by zero is an infinity, zero by zero NaN.
    #[must_use]
    pub fn divide(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        match (self, other) {
            (NaN, _) | (_, NaN) | (Infinity { .. }, Infinity { .. }) => NaN,
            (Infinity { .. }, Finite { .. }) => Infinity { negative },
            (Finite { .. }, Infinity { .. }) => {
                Finite { negative, coefficient: 0, exponent: MIN_EXPONENT }
            }
            (
                Finite { coefficient: left, exponent: left_exponent, .. },
                Finite { coefficient: right, exponent: right_exponent, .. },
            ) => {
                let ideal = i64::from(left_exponent) - i64::from(right_exponent);
                if right == 0 {
                    return if left == 0 { NaN } else { Infinity { negative } };
                }
                if left == 0 {
                    return finish(negative, 0, ideal, false);
                }
                let (mut quotient, mut rest, mut exponent) = (left / right, left % right, ideal);
                while rest != 0 && digits(quotient) < DIGITS + 2 {
                    rest *= 10;
                    quotient = quotient * 10 + rest / right;
                    rest %= right;
                    exponent -= 1;
                }
                finish(negative, quotient, exponent, rest != 0)
            }
        }
    }

    /// The remainder of a division that truncates, with the sign of the dividend.
    #[must_use]
    pub fn remainder(self, other: Self) -> Self {
        let (
            Finite { negative, coefficient, exponent },
            Finite { coefficient: divisor, exponent: scale, .. },
        ) = (self, other)
        else {
            return match (self, other) {
                (Finite { .. }, Infinity { .. }) => self,
                _ => NaN,
            };
        };
        if divisor == 0 {
            return NaN;
        }
        if exponent >= scale {
            let mut rest = coefficient % divisor;
            for _ in scale..exponent {
                if rest == 0 {
                    break;
                }
                rest = rest * 10 % divisor;
            }
            return finish(negative, rest, i64::from(scale), false);
        }
        let shift = (scale - exponent) as u32;
        if digits(divisor) + shift > 38 {
            return self;
        }
        finish(negative, coefficient % (divisor * 10u128.pow(shift)), i64::from(exponent), false)
    }

    /// The square root, correctly rounded; NaN for negative numbers.
    #[must_use]
    pub fn square_root(self) -> Self {
        match self {
            NaN => NaN,
            Infinity { negative } => {
                if negative {
                    NaN
                } else {
                    self
                }
            }
            Finite { coefficient: 0, negative, exponent } => {
                Finite { negative, coefficient: 0, exponent: exponent.div_euclid(2) }
            }
            Finite { negative: true, .. } => NaN,
            Finite { coefficient, exponent, .. } => {
                // Newton's steps from the double's root; each doubles the correct digits.
                let mut root = Self::from_double_digits(
                    Finite { negative: false, coefficient, exponent: exponent.rem_euclid(2) }
                        .to_double()
                        .sqrt(),
                    17,
                );
                let scaled =
                    Finite { negative: false, coefficient, exponent: exponent.rem_euclid(2) };
                let two = Self::new(2, 0);
                for _ in 0..3 {
                    root = root.plus(scaled.divide(root)).divide(two);
                }
                let Finite { coefficient: digits, exponent: place, .. } = root else { return root };
                let half = i64::from(exponent.div_euclid(2));
                let root = finish(false, digits, i64::from(place) + half, false);
                root.strip_zeros(half.clamp(i64::from(MIN_EXPONENT), i64::from(MAX_EXPONENT)) as i32)
            }
        }
    }

    /// The same value with the exponent moved toward `ideal` as far as trailing zeros allow.
    fn strip_zeros(self, ideal: i32) -> Self {
        let Finite { negative, mut coefficient, mut exponent } = self else { return self };
        while exponent < ideal && coefficient != 0 && coefficient.is_multiple_of(10) {
            coefficient /= 10;
            exponent += 1;
        }
        Finite { negative, coefficient, exponent }
    }

    /// Reads a number as the server's decimal parser does: digits with an optional point and exponent, `Infinity`,
    /// `NaN`. More than 34 digits are rounded half to even. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if unsigned.eq_ignore_ascii_case("nan") {
            return Some(NaN);
        }
        if unsigned.eq_ignore_ascii_case("inf") || unsigned.eq_ignore_ascii_case("infinity") {
            return Some(Infinity { negative });
        }
        let (mantissa, power) = match unsigned.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, parse_power(power)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let (mut coefficient, mut exponent, mut sticky) = (0u128, power, false);
        for digit in whole.bytes() {
            take_digit(digit, &mut coefficient, &mut exponent, &mut sticky, 0)?;
        }
        for digit in fraction.bytes() {
            take_digit(digit, &mut coefficient, &mut exponent, &mut sticky, 1)?;
        }
        Some(finish(negative, coefficient, exponent, sticky))
    }
}

/// How [`Decimal::round_at`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to the even digit.
    HalfEven,
    /// Toward zero.
    Down,
    /// Toward negative infinity.
    Floor,
    /// Toward positive infinity.
    Ceiling,
}

/// Compares by value; NaN equals NaN and is less than everything else; `-0` equals `0`.
pub fn compare(left: Decimal, right: Decimal) -> Ordering {
    match (left, right) {
        (NaN, NaN) => return Ordering::Equal,
        (NaN, _) => return Ordering::Less,
        (_, NaN) => return Ordering::Greater,
        _ => {}
    }
    let sign = |number: Decimal| match (number.is_zero(), number.is_negative()) {
        (true, _) => 0,
        (false, negative) => 1 - 2 * i32::from(negative),
    };
    let order = sign(left).cmp(&sign(right));
    if order.is_ne() || sign(left) == 0 {
        return order;
    }
    let magnitude = compare_magnitudes(left, right);
    if left.is_negative() { magnitude.reverse() } else { magnitude }
}

fn compare_magnitudes(left: Decimal, right: Decimal) -> Ordering {
    match (left, right) {
        (
            Finite { coefficient: a, exponent: i, .. },
            Finite { coefficient: b, exponent: j, .. },
        ) => {
            let (a_digits, b_digits) = (digits(a), digits(b));
            (i64::from(i) + i64::from(a_digits))
                .cmp(&(i64::from(j) + i64::from(b_digits)))
                .then_with(|| {
                    (a * 10u128.pow(DIGITS - a_digits)).cmp(&(b * 10u128.pow(DIGITS - b_digits)))
                })
        }
        (Infinity { .. }, Infinity { .. }) => Ordering::Equal,
        (Infinity { .. }, _) => Ordering::Greater,
        _ => Ordering::Less,
    }
}

impl fmt::Display for Decimal {
    /// The standard's scientific string: plain notation for exponents from `-6 - digits` to 0, else `1.5E+10`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finite { negative, coefficient, exponent } = *self else {
            return f.write_str(match self {
                NaN => "NaN",
                other if other.is_negative() => "-Infinity",
                _ => "Infinity",
            });
        };
        if negative {
            f.write_str("-")?;
        }
        let text = coefficient.to_string();
        let adjusted = exponent + text.len() as i32 - 1;
        if exponent > 0 || adjusted < -6 {
            f.write_str(&text[..1])?;
            if text.len() > 1 {
                write!(f, ".{}", &text[1..])?;
            }
            return write!(f, "E{adjusted:+}");
        }
        if exponent == 0 {
            return f.write_str(&text);
        }
        let point = text.len() as i32 + exponent;
        if point > 0 {
            write!(f, "{}.{}", &text[..point as usize], &text[point as usize..])
        } else {
            write!(f, "0.{}{text}", "0".repeat(point.unsigned_abs() as usize))
        }
    }
}

/// How many decimal digits a coefficient has; one for zero.
fn digits(coefficient: u128) -> u32 {
    coefficient.checked_ilog10().unwrap_or(0) + 1
}

/// Drops `count` digits, rounding; `sticky` says that something nonzero was already lost below.
fn shift_right(
    coefficient: u128,
    count: i64,
    negative: bool,
    rounding: Rounding,
    sticky: bool,
) -> u128 {
    let (quotient, against_half, lost) = if count > 38 {
        (0, Ordering::Less, coefficient != 0 || sticky)
    } else {
        let unit = 10u128.pow(count.max(0) as u32);
        let (quotient, rest) = (coefficient / unit, coefficient % unit);
        let order =
            rest.cmp(&(unit - rest)).then(if sticky { Ordering::Greater } else { Ordering::Equal });
        (quotient, order, rest != 0 || sticky)
    };
    let up = match rounding {
        Rounding::HalfEven => match against_half {
            Ordering::Greater => true,
            Ordering::Equal => quotient % 2 == 1,
            Ordering::Less => false,
        },
        Rounding::Down => false,
        Rounding::Floor => negative && lost,
        Rounding::Ceiling => !negative && lost,
    };
    quotient + u128::from(up)
}

/// Rounds to 34 digits and fits the exponent, once, half to even. `sticky`: the true value lies just above.
fn finish(negative: bool, coefficient: u128, exponent: i64, sticky: bool) -> Decimal {
    let (mut coefficient, mut exponent) = (coefficient, exponent);
    let surplus = i64::from(digits(coefficient)) - i64::from(DIGITS);
    let drop = surplus.max(i64::from(MIN_EXPONENT) - exponent);
    if drop > 0 {
        coefficient = shift_right(coefficient, drop, negative, Rounding::HalfEven, sticky);
        exponent += drop;
        if coefficient > MAX_COEFFICIENT {
            coefficient /= 10;
            exponent += 1;
        }
    }
    if coefficient == 0 {
        let exponent = exponent.clamp(i64::from(MIN_EXPONENT), i64::from(MAX_EXPONENT)) as i32;
        return Finite { negative, coefficient, exponent };
    }
    while exponent > i64::from(MAX_EXPONENT) && digits(coefficient) < DIGITS {
        coefficient *= 10;
        exponent -= 1;
    }
    if exponent > i64::from(MAX_EXPONENT) {
        return Infinity { negative };
    }
    Finite { negative, coefficient, exponent: exponent as i32 }
}

fn add_finite(left: Decimal, right: Decimal) -> Decimal {
    let (
        Finite { negative: left_sign, coefficient: left, exponent: i },
        Finite { negative: right_sign, coefficient: right, exponent: j },
    ) = (left, right)
    else {
        return NaN;
    };
    if i < j {
        return add_finite(
            Finite { negative: right_sign, coefficient: right, exponent: j },
            Finite { negative: left_sign, coefficient: left, exponent: i },
        );
    }
    let signed = |negative: bool, magnitude: u128| {
        if negative { -(magnitude as i128) } else { magnitude as i128 }
    };
    let gap = (i - j) as u32;
    // 37 digits fit an i128 with room for a carry.
    let (sum, exponent) = if left == 0 {
        (signed(right_sign, right), i64::from(j))
    } else if digits(left) + gap <= 37 {
        (signed(left_sign, left * 10u128.pow(gap)) + signed(right_sign, right), i64::from(j))
    } else {
        // The smaller number reaches below the 36 digits kept of the greater: what is cut becomes one sticky digit.
        let scale = 36 - digits(left);
        let cut = gap - scale;
        let unit = 10u128.checked_pow(cut);
        let (kept, lost) = unit.map_or((0, right != 0), |unit| (right / unit, right % unit != 0));
        (
            signed(left_sign, left * 10u128.pow(scale + 1))
                + signed(right_sign, kept * 10 + u128::from(lost)),
            i64::from(i) - i64::from(scale) - 1,
        )
    };
    // A sum of opposite numbers is +0, of two negative zeros -0.
    let negative = if sum == 0 { left_sign && right_sign } else { sum < 0 };
    finish(negative, sum.unsigned_abs(), exponent, false)
}

/// The product of two coefficients as `high * 10^34 + low`.
fn wide_product(left: u128, right: u128) -> (u128, u128) {
    const HALF: u128 = 10u128.pow(17);
    let (left_high, left_low) = (left / HALF, left % HALF);
    let (right_high, right_low) = (right / HALF, right % HALF);
    let middle = left_high * right_low + left_low * right_high;
    let low = left_low * right_low + (middle % HALF) * HALF;
    let base = MAX_COEFFICIENT + 1;
    (left_high * right_high + middle / HALF + low / base, low % base)
}

/// An exponent's digits with an optional sign; huge ones saturate.
fn parse_power(text: &str) -> Option<i64> {
    let (negative, unsigned) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if unsigned.is_empty() || !unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let power = unsigned
        .bytes()
        .fold(0i64, |power, digit| (power * 10 + i64::from(digit - b'0')).min(1_000_000_000));
    Some(if negative { -power } else { power })
}

/// Appends one digit; beyond 37 digits only their number and whether any was nonzero is kept.
fn take_digit(
    digit: u8,
    coefficient: &mut u128,
    exponent: &mut i64,
    sticky: &mut bool,
    after_point: i64,
) -> Option<()> {
    if !digit.is_ascii_digit() {
        return None;
    }
    let digit = u128::from(digit - b'0');
    if *coefficient < 10u128.pow(36) {
        *coefficient = *coefficient * 10 + digit;
        *exponent -= after_point;
    } else {
        *sticky |= digit != 0;
        *exponent += 1 - after_point;
    }
    Some(())
}

#[cfg(test)]
mod tests;
