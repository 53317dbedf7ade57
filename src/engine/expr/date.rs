//! Dates read as text and written as text, and what counts as a date.

use bson::{Bson, DateTime};

use super::named::kind;
use super::zone::{UTC, Zone};
use crate::error::{Code, Error, Result};
use crate::value::calendar::{self, Parts};

/// The date as ISO 8601 with milliseconds, in UTC: `2024-01-31T12:00:00.000Z`.
pub(super) fn iso_text(date: DateTime) -> String {
    write(date.timestamp_millis(), UTC, "%Y-%m-%dT%H:%M:%S.%LZ").unwrap_or_default()
}

/// The milliseconds of a date, a timestamp or an ObjectId.
///
/// # Errors
/// 16006 for anything else.
pub(super) fn millis(value: &Bson) -> Result<i64> {
    try_millis(value).ok_or_else(|| {
        let found = kind(Some(value));
        Error::command(Code(16006), format!("can't convert from BSON type {found} to Date"))
    })
}

/// As [`millis`], `None` for anything else.
pub(super) fn try_millis(value: &Bson) -> Option<i64> {
    match value {
        Bson::DateTime(date) => Some(date.timestamp_millis()),
        Bson::Timestamp(timestamp) => Some(i64::from(timestamp.time) * 1_000),
        Bson::ObjectId(id) => Some(id.timestamp().timestamp_millis()),
        _ => None,
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Refuses a format that [`write()`] could not follow.
pub(super) fn check_format(format: &str, reading: bool) -> Result<()> {
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            continue;
        }
        let Some(directive) = characters.next() else {
            return Err(Error::command(Code(18535), "Unmatched '%' at end of format string"));
        };
        let known = if reading { "dGHjLmMSuVYzZbB%" } else { "dGHjLmMSuUVwYzZbB%" };
        if !known.contains(directive) {
            let message = format!("Invalid format character '%{directive}' in format string");
            return Err(Error::command(Code(18536), message));
        }
    }
    Ok(())
}

/// Writes a moment in a checked format.
///
/// # Errors
/// 18537 for a year that has no four digits.
pub(super) fn write(millis: i64, zone: Zone, format: &str) -> Result<String> {
    let local = zone.local(millis);
    let parts = calendar::parts_of(local);
    let (iso_year, iso_week) = calendar::iso_week(local);
    let minutes = zone.offset(millis) / 60_000;
    let sign = if minutes < 0 { '-' } else { '+' };
    let mut out = String::new();
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        let Some(directive) = characters.next() else { break };
        let month = || MONTHS.get((parts.month - 1) as usize).copied().unwrap_or_default();
        let text = match directive {
            'Y' => four_digits(parts.year)?,
            'G' => four_digits(iso_year)?,
            'm' => format!("{:02}", parts.month),
            'd' => format!("{:02}", parts.day),
            'H' => format!("{:02}", parts.hour),
            'M' => format!("{:02}", parts.minute),
            'S' => format!("{:02}", parts.second),
            'L' => format!("{:03}", parts.millisecond),
            'j' => format!("{:03}", calendar::day_of_year(local)),
            'u' => calendar::iso_weekday(local).to_string(),
            'w' => (calendar::iso_weekday(local) % 7 + 1).to_string(),
            'U' => format!("{:02}", calendar::week(local)),
            'V' => format!("{iso_week:02}"),
            'b' => month().chars().take(3).collect(),
            'B' => month().to_owned(),
            'z' => format!("{sign}{:02}{:02}", minutes.abs() / 60, minutes.abs() % 60),
            'Z' => format!("{sign}{:03}", minutes.abs()),
            other => other.to_string(),
        };
        out.push_str(&text);
    }
    Ok(out)
}

fn four_digits(year: i64) -> Result<String> {
    if !(0..=9999).contains(&year) {
        let message =
            format!("$dateToString is only defined on year 0-9999, tried to use year {year}");
        return Err(Error::command(Code(18537), message));
    }
    Ok(format!("{year:04}"))
}

/// A text being read from its front.
struct Cursor<'t> {
    rest: &'t str,
}

impl Cursor<'_> {
    /// A number of `least` to `most` digits.
    fn number(&mut self, least: usize, most: usize) -> Option<i64> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
        if digits < least {
            return None;
        }
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number.parse().ok()
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn spaces(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }

    fn month_name(&mut self, whole: bool) -> Option<i64> {
        let at = MONTHS.iter().position(|name| {
            let name = if whole { name } else { &name[..3] };
            self.rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        })?;
        self.rest = &self.rest[if whole { MONTHS[at].len() } else { 3 }..];
        Some(at as i64 + 1)
    }

    /// An offset or a name of UTC, up to the end or a space.
    fn zone(&mut self) -> Option<Zone> {
        let end = self.rest.find(' ').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let zone = Zone::parse(&name.to_ascii_uppercase()).ok()?;
        self.rest = rest;
        Some(zone)
    }
}

/// The moment in a text of ISO 8601: a date, perhaps a time, perhaps an offset. Without an offset it is UTC.
pub(super) fn parse_text(text: &str) -> std::result::Result<DateTime, String> {
    let (local, zone) = parse_local(text)?;
    Ok(DateTime::from_millis(zone.unwrap_or(UTC).utc(local)))
}

/// As [`parse_text`], with the clock's reading and the offset apart.
pub(super) fn parse_local(text: &str) -> std::result::Result<(i64, Option<Zone>), String> {
    if text.is_empty() {
        return Err("an empty date string".to_owned());
    }
    let mut cursor = Cursor { rest: text };
    let read = read_iso(&mut cursor);
    match read {
        Some(found) if cursor.rest.trim().is_empty() => Ok(found),
        _ => {
            let at = text.len() - cursor.rest.len();
            let found = cursor.rest.chars().next().map(String::from).unwrap_or_default();
            Err(format!("{at}: Unexpected character \"{found}\""))
        }
    }
}

fn read_iso(cursor: &mut Cursor<'_>) -> Option<(i64, Option<Zone>)> {
    cursor.spaces();
    let year = cursor.number(4, 4)?;
    let dashed = cursor.take("-");
    let month = cursor.number(if dashed { 1 } else { 2 }, 2)?;
    if dashed && !cursor.take("-") {
        return checked(Parts { month, ..midnight(year) }).map(|local| (local, None));
    }
    let day = cursor.number(if dashed { 1 } else { 2 }, 2)?;
    let mut parts = Parts { month, day, ..midnight(year) };
    let mut zone = None;
    if cursor.take("T") || cursor.take("t") || cursor.take(" ") {
        cursor.spaces();
        parts.hour = cursor.number(1, 2)?;
        if cursor.take(":") {
            parts.minute = cursor.number(2, 2)?;
            if cursor.take(":") {
                parts.second = cursor.number(2, 2)?;
                if cursor.take(".") || cursor.take(",") {
                    parts.millisecond = fraction(cursor)?;
                }
            }
        }
        cursor.spaces();
    }
    if !cursor.rest.trim().is_empty() {
        zone = Some(cursor.zone()?);
    }
    checked(parts).map(|local| (local, zone))
}

fn midnight(year: i64) -> Parts {
    Parts { year, month: 1, day: 1, hour: 0, minute: 0, second: 0, millisecond: 0 }
}

/// Digits after the seconds, cut off after the third.
fn fraction(cursor: &mut Cursor<'_>) -> Option<i64> {
    let digits = cursor.rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = cursor.rest.split_at(digits);
    cursor.rest = rest;
    (digits > 0).then(|| {
        number
            .bytes()
            .chain(*b"00")
            .take(3)
            .fold(0, |sum, digit| sum * 10 + i64::from(digit - b'0'))
    })
}

/// The clock's reading, if every part is in its range.
fn checked(parts: Parts) -> Option<i64> {
    let fits = (1..=12).contains(&parts.month)
        && (1..=calendar::days_in_month(parts.year, parts.month)).contains(&parts.day)
        && (0..=24).contains(&parts.hour)
        && (0..60).contains(&parts.minute)
        && (0..60).contains(&parts.second);
    fits.then(|| calendar::millis_of(parts)).flatten()
}

/// The clock's reading and offset in a text of a given format, or what is wrong.
pub(super) fn parse_format(
    text: &str,
    format: &str,
) -> std::result::Result<(i64, Option<Zone>), String> {
    let mut cursor = Cursor { rest: text };
    let mut parts = midnight(0);
    let mut year = None;
    let mut zone = None;
    let mut day_of_year = None;
    let mut iso: [Option<i64>; 3] = [None; 3];
    let mut characters = format.chars();
    while let Some(character) = characters.next() {
        let wrong = |cursor: &Cursor<'_>| {
            let at = text.len() - cursor.rest.len();
            format!("{at}: Trailing data or a mismatch with the format")
        };
        let read = match (character, if character == '%' { characters.next() } else { None }) {
            ('%', Some('Y')) => cursor.number(4, 4).map(|number| year = Some(number)),
            ('%', Some('m')) => cursor.number(1, 2).map(|number| parts.month = number),
            ('%', Some('d')) => cursor.number(1, 2).map(|number| parts.day = number),
            ('%', Some('H')) => cursor.number(1, 2).map(|number| parts.hour = number),
            ('%', Some('M')) => cursor.number(1, 2).map(|number| parts.minute = number),
            ('%', Some('S')) => cursor.number(1, 2).map(|number| parts.second = number),
            ('%', Some('L')) => cursor.number(1, 3).map(|number| parts.millisecond = number),
            ('%', Some('j')) => cursor.number(1, 3).map(|number| day_of_year = Some(number)),
            ('%', Some('b')) => cursor.month_name(false).map(|number| parts.month = number),
            ('%', Some('B')) => cursor.month_name(true).map(|number| parts.month = number),
            ('%', Some('G')) => cursor.number(4, 4).map(|number| iso[0] = Some(number)),
            ('%', Some('V')) => cursor.number(1, 2).map(|number| iso[1] = Some(number)),
            ('%', Some('u')) => cursor.number(1, 1).map(|number| iso[2] = Some(number)),
            ('%', Some('z')) => cursor.zone().map(|found| zone = Some(found)),
            ('%', Some('Z')) => {
                let back = cursor.rest.starts_with('-');
                let _ = cursor.take("+") || cursor.take("-");
                cursor.number(1, 4).and_then(|minutes| {
                    let sign = if back { '-' } else { '+' };
                    zone =
                        Zone::parse(&format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)).ok();
                    zone.map(|_| ())
                })
            }
            ('%', Some(other)) => cursor.take(&other.to_string()).then_some(()),
            (other, _) => cursor.take(&other.to_string()).then_some(()),
        };
        read.ok_or_else(|| wrong(&cursor))?;
    }
    if !cursor.rest.is_empty() {
        return Err(format!("{}: Trailing data", text.len() - cursor.rest.len()));
    }
    let local = match (iso, year) {
        ([Some(iso_year), week, day], None) => {
            let date = calendar::millis_of_iso(iso_year, week.unwrap_or(1), day.unwrap_or(1));
            let time = calendar::millis_of(Parts { month: 1, day: 1, year: 1970, ..parts });
            date.zip(time).and_then(|(date, time)| date.checked_add(time))
        }
        (_, year) => match day_of_year {
            Some(day) => {
                calendar::millis_of(Parts { year: year.unwrap_or(1970), month: 1, day, ..parts })
            }
            None => checked(Parts { year: year.unwrap_or(1970), ..parts }),
        },
    };
    local.map(|local| (local, zone)).ok_or_else(|| "0: The parsed date was invalid".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> std::result::Result<String, String> {
        parse_text(text).map(iso_text)
    }

    #[test]
    fn iso_texts_are_read_and_written() {
        assert_eq!(read("2017-02-08T12:10:40.787Z"), Ok("2017-02-08T12:10:40.787Z".into()));
        assert_eq!(read("2017-02-08"), Ok("2017-02-08T00:00:00.000Z".into()));
        assert_eq!(read("2017-02-08 12:10+02:00"), Ok("2017-02-08T10:10:00.000Z".into()));
        assert!(read("20170208T121040.7877Z").is_err());
        assert!(
            read("2017-13-01").is_err()
                && read("2017-02-30").is_err()
                && read("soon").is_err()
                && read("").is_err()
        );
        assert!(read("2017-02-08T12:10:40 nowhere").is_err());
    }

    #[test]
    fn formats_are_read_and_written() {
        let millis = parse_text("2014-01-01T08:15:39.736Z").unwrap().timestamp_millis();
        // The manual's examples for $dateToString.
        assert_eq!(write(millis, UTC, "%Y-%m-%d"), Ok("2014-01-01".into()));
        let zone = Zone::parse("-05:00").unwrap();
        assert_eq!(write(millis, zone, "%H:%M:%S:%L%z"), Ok("03:15:39:736-0500".into()));
        assert_eq!(write(millis, zone, "minutes %Z"), Ok("minutes -300".into()));
        assert_eq!(
            write(millis, UTC, "%j-%U-%u %w %G %V %b %B %%"),
            Ok("001-00-3 4 2014 01 Jan January %".into())
        );
        let back = |text, format| {
            parse_format(text, format).map(|(local, _)| iso_text(DateTime::from_millis(local)))
        };
        assert_eq!(back("06-15-2018", "%m-%d-%Y"), Ok("2018-06-15T00:00:00.000Z".into()));
        assert_eq!(back("2016 53 7", "%G %V %u").unwrap(), "2017-01-08T00:00:00.000Z");
        assert!(back("15/06", "%m/%d").is_err());
        assert_eq!(check_format("%Y%", false).unwrap_err().code(), Some(Code(18535)));
        assert_eq!(
            check_format("%Q", false).unwrap_err().to_string(),
            "Invalid format character '%Q' in format string"
        );
    }
}
