//! Dates as texts of ISO 8601, in the forms that shells read.

use super::calendar;

/// A text being read from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    /// The next `count` digits as a number.
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut number = 0;
        for digit in digits {
            if !digit.is_ascii_digit() {
                return None;
            }
            number = number * 10 + i64::from(digit - b'0');
        }
        self.0 = rest;
        Some(number)
    }

    /// Skips a character if it is the next one.
    fn skip(&mut self, character: u8) -> bool {
        match self.0.split_first() {
            Some((first, rest)) if *first == character => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn next_is_digit(&self) -> bool {
        self.0.first().is_some_and(u8::is_ascii_digit)
    }
}

/// What becomes of a field that is out of its range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// It counts on, as with JavaScript's `Date.UTC`: month 13 is the next year's first.
    Loose,
    /// The text is no date; only the day may be beyond its month's last.
    Strict,
}

/// Milliseconds since 1970 of `YYYY-MM-DDThh:mm:ss.sss±hh:mm`. Dashes and colons may be missing, and so may everything
/// from the time on; without a zone it is UTC.
pub fn read(text: &str, fields: Fields) -> Option<i64> {
    let mut reader = Reader(text.as_bytes());
    let year = reader.digits(4)?;
    reader.skip(b'-');
    let month = reader.digits(2)?;
    reader.skip(b'-');
    let day = reader.digits(2)?;
    let (mut hour, mut minute, mut second, mut fraction) = (0, 0, 0, 0);
    if reader.skip(b'T') || reader.skip(b' ') {
        hour = reader.digits(2)?;
        if reader.skip(b':') || reader.next_is_digit() {
            minute = reader.digits(2)?;
            if reader.skip(b':') || reader.next_is_digit() {
                second = reader.digits(2)?;
                if reader.skip(b'.') {
                    fraction = milliseconds(&mut reader)?;
                }
            }
        }
    }
    let offset = zone(&mut reader)?;
    if !reader.0.is_empty() {
        return None;
    }
    if fields == Fields::Strict
        && !((1..=12).contains(&month)
            && (1..=31).contains(&day)
            && hour <= 24
            && minute < 60
            && second < 60)
    {
        return None;
    }
    let days = calendar::first_of_month(year, month)? + day - 1;
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second;
    let millis = seconds * 1000 + fraction;
    // Years 0 to 9999.
    (-62_167_219_200_000..253_402_300_800_000).contains(&millis).then_some(millis)
}

/// The digits of a fraction of a second, to the millisecond; further ones are dropped.
fn milliseconds(reader: &mut Reader<'_>) -> Option<i64> {
    let mut millis = 0;
    let mut scale = 100;
    if !reader.next_is_digit() {
        return None;
    }
    while reader.next_is_digit() {
        millis += reader.digits(1)? * scale;
        scale /= 10;
    }
    Some(millis)
}

/// The minutes by which a zone is ahead of UTC: `Z`, `+hh`, `+hhmm`, `+hh:mm` or nothing.
fn zone(reader: &mut Reader<'_>) -> Option<i64> {
    if reader.skip(b'Z') || reader.0.is_empty() {
        return Some(0);
    }
    let sign = match () {
        () if reader.skip(b'+') => 1,
        () if reader.skip(b'-') => -1,
        () => return None,
    };
    let hours = reader.digits(2)?;
    reader.skip(b':');
    let minutes = if reader.next_is_digit() { reader.digits(2)? } else { 0 };
    Some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_date_are_read() {
        let read = |text| read(text, Fields::Loose);
        assert_eq!(read("1970-01-01"), Some(0));
        assert_eq!(read("1970-01-01T00:00:00.456Z"), Some(456));
        assert_eq!(read("20200101T101010Z"), Some(1_577_873_410_000));
        assert_eq!(read("2020-01-01 10:10"), Some(1_577_873_400_000));
        assert_eq!(read("2020-01-01T10:10:10+02:00"), Some(1_577_866_210_000));
        assert_eq!(read("2020-02-30"), read("2020-03-01"));
        assert_eq!(read("2020-1-1"), None);
        assert_eq!(read("nonsense"), None);
        assert_eq!(read("2020-01-01T10:10:10Zx"), None);
    }

    #[test]
    fn month_thirteen_is_next_year_or_no_month() {
        assert_eq!(read("2020-13-01", Fields::Loose), read("2021-01-01", Fields::Loose));
        assert_eq!(read("2020-13-01", Fields::Strict), None);
    }
}
