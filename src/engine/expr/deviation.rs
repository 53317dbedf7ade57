//! Standard deviations in one pass, by Welford's recurrence.

use bson::Bson;

use crate::value::number::Number;

/// A running deviation of the numbers taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Deviation {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Deviation {
    /// Takes one more value, if it is a number.
    pub(super) fn take(&mut self, value: &Bson) {
        let Some(number) = Number::of(value) else { return };
        let value = number.to_f64();
        self.count += 1;
        let before = value - self.mean;
        self.mean += before / self.count as f64;
        self.squares += before * (value - self.mean);
    }

    /// The deviation, of a sample or of the population; null for too few numbers.
    pub(super) fn result(&self, sample: bool) -> Bson {
        let degrees = if sample { self.count.saturating_sub(1) } else { self.count };
        if degrees == 0 { Bson::Null } else { Bson::Double((self.squares / degrees as f64).sqrt()) }
    }
}
