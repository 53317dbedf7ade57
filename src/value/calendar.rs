//! The calendar: from milliseconds to year, month, day and week, and back; the proleptic Gregorian one, without leap seconds.

/// Milliseconds of a day.
pub const DAY: i64 = 86_400_000;

/// A moment taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The year; 0 is 1 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to 31.
    pub day: i64,
    /// 0 to 23.
    pub hour: i64,
    /// 0 to 59.
    pub minute: i64,
    /// 0 to 59.
    pub second: i64,
    /// 0 to 999.
    pub millisecond: i64,
}

/// Days from 1970-01-01 to the first of a month, which may be out of 1 to 12 and then counts on; `None` where int64 ends.
pub fn first_of_month(year: i64, month: i64) -> Option<i64> {
    let months = year.checked_mul(12)?.checked_add(month.checked_sub(1)?)?;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
    // Years are counted from March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let day_of_year = (153 * month + 2) / 5;
    let day_of_era = of_era * 365 + of_era / 4 - of_era / 100 + day_of_year;
    era.checked_mul(146_097)?.checked_add(day_of_era)?.checked_sub(719_468)
}

/// The milliseconds of a date and time, every part of which may be out of its range and then counts on; `None` where
/// int64 ends.
pub fn millis_of(parts: Parts) -> Option<i64> {
    let days = first_of_month(parts.year, parts.month)?.checked_add(parts.day.checked_sub(1)?)?;
    days.checked_mul(DAY)?
        .checked_add(parts.hour.checked_mul(3_600_000)?)?
        .checked_add(parts.minute.checked_mul(60_000)?)?
        .checked_add(parts.second.checked_mul(1_000)?)?
        .checked_add(parts.millisecond)
}

/// The parts of a moment.
pub fn parts_of(millis: i64) -> Parts {
    let (days, rest) = (millis.div_euclid(DAY), millis.rem_euclid(DAY));
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    Parts {
        year: year_of_era + era * 400 + i64::from(month <= 2),
        month,
        day: day_of_year - (153 * from_march + 2) / 5 + 1,
        hour: rest / 3_600_000,
        minute: rest / 60_000 % 60,
        second: rest / 1_000 % 60,
        millisecond: rest % 1_000,
    }
}

/// The day of the week, 1 for Monday to 7 for Sunday.
pub fn iso_weekday(millis: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    (millis.div_euclid(DAY) + 3).rem_euclid(7) + 1
}

/// The day of the year, from 1.
pub fn day_of_year(millis: i64) -> i64 {
    let first = first_of_month(parts_of(millis).year, 1).unwrap_or(0);
    millis.div_euclid(DAY) - first + 1
}

/// The week of the year from 0, weeks beginning on Sundays and week 1 with the first of them.
pub fn week(millis: i64) -> i64 {
    (day_of_year(millis) + 6 - iso_weekday(millis) % 7) / 7
}

/// The year and week of ISO 8601: weeks begin on Mondays and belong to the year that has their Thursday.
pub fn iso_week(millis: i64) -> (i64, i64) {
    let thursday = millis.saturating_add((4 - iso_weekday(millis)) * DAY);
    (parts_of(thursday).year, (day_of_year(thursday) - 1) / 7 + 1)
}

/// The milliseconds of an ISO week date; parts out of range count on.
pub fn millis_of_iso(year: i64, week: i64, day: i64) -> Option<i64> {
    // The fourth of January is always in week 1.
    let fourth = first_of_month(year, 1)?.checked_add(3)?.checked_mul(DAY)?;
    let monday = fourth - (iso_weekday(fourth) - 1) * DAY;
    let days = week.checked_sub(1)?.checked_mul(7)?.checked_add(day.checked_sub(1)?)?;
    monday.checked_add(days.checked_mul(DAY)?)
}

/// How many days the month has.
pub fn days_in_month(year: i64, month: i64) -> i64 {
    match (first_of_month(year, month), first_of_month(year, month + 1)) {
        (Some(first), Some(next)) => next - first,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(year: i64, month: i64, day: i64) -> i64 {
        millis_of(Parts { year, month, day, hour: 0, minute: 0, second: 0, millisecond: 0 })
            .unwrap()
    }

    #[test]
    fn moments_come_apart_and_together() {
        assert_eq!(at(1970, 1, 1), 0);
        assert_eq!(at(2000, 3, 1), 951_868_800_000);
        assert_eq!(at(1900, 1, 1), -2_208_988_800_000);
        for millis in
            [-1, 0, 1_700_000_000_123, -62_135_596_800_000, 253_402_300_799_999, 951_782_400_000]
        {
            assert_eq!(millis_of(parts_of(millis)), Some(millis));
        }
        assert_eq!(at(2023, 14, 1), at(2024, 2, 1));
        assert_eq!(at(2024, 3, 0), at(2024, 2, 29));
        assert_eq!(millis_of(Parts { year: i64::MAX, ..parts_of(0) }), None);
        let _ = (
            parts_of(i64::MIN),
            parts_of(i64::MAX),
            iso_week(i64::MAX),
            iso_week(i64::MIN),
            week(i64::MIN),
        );
    }

    #[test]
    fn weeks_of_the_year() {
        // The manual's example: 2016-01-01 is a Friday in ISO week 53 of 2015.
        assert_eq!(iso_weekday(at(2016, 1, 1)), 5);
        assert_eq!(iso_week(at(2016, 1, 1)), (2015, 53));
        assert_eq!(iso_week(at(2018, 12, 31)), (2019, 1));
        assert_eq!(week(at(2016, 1, 1)), 0);
        assert_eq!(week(at(2016, 1, 3)), 1);
        assert_eq!(day_of_year(at(2016, 12, 31)), 366);
        assert_eq!(millis_of_iso(2015, 53, 5), Some(at(2016, 1, 1)));
        assert_eq!(days_in_month(2024, 2), 29);
    }
}
