//! Sums of many numbers, without the error that a plain sum of doubles gathers.

use super::number::{self, Decimal, Number, Overflow};

/// A running sum. Its type is the widest that was taken; doubles are summed with the lost low part kept aside, so that
/// ten times 0.1 is 1.
#[derive(Clone, Debug)]
pub struct Sum {
    whole: Number,
    doubles: Option<Compensated>,
    decimals: Option<Decimal>,
}

/// A sum of doubles as an unevaluated pair.
#[derive(Clone, Copy, Debug, Default)]
struct Compensated {
    high: f64,
    low: f64,
    /// What a plain sum gives: the answer once infinities or NaN are in it.
    plain: f64,
}

impl Compensated {
    fn take(&mut self, value: f64) {
        self.plain += value;
        // Knuth's exact sum of two doubles.
        let high = self.high + value;
        let part = high - self.high;
        self.low += (self.high - (high - part)) + (value - part);
        self.high = high;
    }

    fn total(self) -> f64 {
        let total = self.high + self.low;
        if total.is_finite() { total } else { self.plain }
    }
}

impl Default for Sum {
    fn default() -> Self {
        Self { whole: Number::Int32(0), doubles: None, decimals: None }
    }
}

impl Sum {
    /// Adds one number.
    pub fn take(&mut self, value: Number) {
        match value {
            Number::Int32(_) | Number::Int64(_) => {
                match number::add(self.whole, value, Overflow::Refused) {
                    Some(whole) => self.whole = whole,
                    // What int64 cannot hold goes over to the doubles.
                    None => {
                        let doubles = self.doubles.get_or_insert_default();
                        doubles.take(self.whole.to_f64());
                        self.whole = value;
                    }
                }
            }
            Number::Double(double) => self.doubles.get_or_insert_default().take(double),
            Number::Decimal(decimal) => {
                self.decimals = Some(self.decimals.map_or(decimal, |sum| sum.plus(decimal)));
            }
        }
    }

    /// The sum so far; int32 zero for none.
    pub fn total(&self) -> Number {
        let binary = match self.doubles {
            None => self.whole,
            Some(mut doubles) => {
                doubles.take(self.whole.to_f64());
                Number::Double(doubles.total())
            }
        };
        match self.decimals {
            None => binary,
            Some(decimals) => Number::Decimal(decimals.plus(binary.to_decimal())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[Number]) -> Number {
        let mut sum = Sum::default();
        numbers.iter().for_each(|number| sum.take(*number));
        sum.total()
    }

    #[test]
    fn doubles_do_not_drift() {
        assert_eq!(sum(&[Number::Double(0.1); 10]), Number::Double(1.0));
        assert_eq!(
            sum(&[Number::Double(f64::INFINITY), Number::Int32(1)]),
            Number::Double(f64::INFINITY)
        );
    }

    #[test]
    fn the_type_is_the_widest() {
        assert_eq!(sum(&[]), Number::Int32(0));
        assert_eq!(sum(&[Number::Int32(i32::MAX), Number::Int32(1)]), Number::Int64(1 << 31));
        assert_eq!(sum(&[Number::Int32(1), Number::Double(2.0)]), Number::Double(3.0));
        assert_eq!(
            sum(&[Number::Int64(i64::MAX), Number::Int64(1)]),
            Number::Double(9_223_372_036_854_775_808.0)
        );
        assert!(matches!(
            sum(&[Number::Decimal(Decimal::new(1, 0)), Number::Int32(1)]),
            Number::Decimal(_)
        ));
    }
}
