//! The text of single values as JavaScript and both shells write it: numbers, dates, bytes, regular expressions.

use std::fmt::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::Binary;
use bson::spec::BinarySubtype;

use crate::value::calendar;
pub use crate::value::digits::number;

/// The largest distance from 1970 that a JavaScript date can have, in milliseconds.
const FARTHEST: i64 = 8_640_000_000_000_000;

/// A moment's parts in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The year; 0 is 1 BC.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 to 999.
    pub milli: u32,
    /// 0 is Sunday.
    pub weekday: u32,
}

impl Moment {
    /// The parts of a number of milliseconds since 1970, or `None` where JavaScript has no such date.
    pub fn from_millis(millis: i64) -> Option<Self> {
        if !(-FARTHEST..=FARTHEST).contains(&millis) {
            return None;
        }
        let parts = calendar::parts_of(millis);
        // Every part but the year is small and not negative.
        let small = |part: i64| u32::try_from(part).unwrap_or_default();
        Some(Self {
            year: parts.year,
            month: small(parts.month),
            day: small(parts.day),
            hour: small(parts.hour),
            minute: small(parts.minute),
            second: small(parts.second),
            milli: small(parts.millisecond),
            weekday: small(calendar::iso_weekday(millis) % 7),
        })
    }

    /// As the classic shell's `ISODate` has it: milliseconds only when there are some, and a negative year padded
    /// like any text (`00-1`).
    pub fn classic(&self) -> String {
        let mut text = format!("{:0>4}", self.year.to_string());
        let _ = write!(text, "-{:02}-{:02}T", self.month, self.day);
        let _ = write!(text, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second);
        if self.milli != 0 {
            let _ = write!(text, ".{:03}", self.milli);
        }
        text.push('Z');
        text
    }

    /// As JavaScript's `toISOString` has it: always milliseconds, six digits and a sign for far years.
    pub fn iso(&self) -> String {
        let year = match self.year {
            0..=9999 => format!("{:04}", self.year),
            year if year < 0 => format!("-{:06}", -year),
            year => format!("+{year:06}"),
        };
        format!(
            "{year}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
            self.month, self.day, self.hour, self.minute, self.second, self.milli
        )
    }

    /// As JavaScript's `Date.prototype.toString` has it where the local time is UTC.
    pub fn spoken(&self) -> String {
        const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let year =
            if self.year < 0 { format!("-{:06}", -self.year) } else { format!("{:04}", self.year) };
        format!(
            "{} {} {:02} {year} {:02}:{:02}:{:02} GMT+0000 (UTC)",
            DAYS[self.weekday as usize],
            MONTHS[self.month as usize - 1],
            self.day,
            self.hour,
            self.minute,
            self.second
        )
    }
}

/// Bytes in base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Bytes in lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The dashed form of a UUID: subtype 4 and sixteen bytes.
pub fn uuid(binary: &Binary) -> Option<String> {
    let bytes: [u8; 16] = match binary.subtype {
        BinarySubtype::Uuid => binary.bytes.as_slice().try_into().ok()?,
        _ => return None,
    };
    let text = hex(&bytes);
    Some(format!(
        "{}-{}-{}-{}-{}",
        &text[..8],
        &text[8..12],
        &text[12..16],
        &text[16..20],
        &text[20..]
    ))
}

/// A regular expression as a literal. A pattern that came from a server may hold bare slashes and line ends, which a
/// literal cannot; they are escaped as JavaScript's `RegExp.prototype.source` does.
pub fn regex(pattern: &str, options: &str) -> String {
    let mut text = String::with_capacity(pattern.len() + options.len() + 2);
    text.push('/');
    if pattern.is_empty() {
        text.push_str("(?:)");
    }
    let mut class = false;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                text.push('\\');
                match letters.next() {
                    Some('\n') => text.push('n'),
                    Some(escaped) => text.push(escaped),
                    None => text.push('\\'),
                }
                continue;
            }
            '[' => class = true,
            ']' => class = false,
            '/' if !class => text.push('\\'),
            '\n' => {
                text.push_str("\\n");
                continue;
            }
            '\r' => {
                text.push_str("\\r");
                continue;
            }
            _ => {}
        }
        text.push(letter);
    }
    text.push('/');
    text.push_str(options);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_far_and_near() {
        let moment = |millis| Moment::from_millis(millis).expect("in range");
        assert_eq!(moment(0).classic(), "1970-01-01T00:00:00Z");
        assert_eq!(moment(456).classic(), "1970-01-01T00:00:00.456Z");
        assert_eq!(moment(FARTHEST).classic(), "275760-09-13T00:00:00Z");
        assert_eq!(moment(FARTHEST).iso(), "+275760-09-13T00:00:00.000Z");
        assert_eq!(moment(-62_198_755_200_000).classic(), "00-1-01-01T00:00:00Z");
        assert_eq!(moment(-62_198_755_200_000).iso(), "-000001-01-01T00:00:00.000Z");
        assert_eq!(moment(-1).iso(), "1969-12-31T23:59:59.999Z");
        assert_eq!(moment(951_782_400_000).iso(), "2000-02-29T00:00:00.000Z");
        assert_eq!(moment(0).spoken(), "Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)");
        assert_eq!(Moment::from_millis(FARTHEST + 1), None);
        assert_eq!(Moment::from_millis(i64::MIN), None);
    }

    #[test]
    fn a_pattern_is_escaped_only_where_a_literal_needs_it() {
        assert_eq!(regex("ab/c", "i"), "/ab\\/c/i");
        assert_eq!(regex("ab\\/c", "gi"), "/ab\\/c/gi");
        assert_eq!(regex("[/]", ""), "/[/]/");
        assert_eq!(regex("", ""), "/(?:)/");
        assert_eq!(regex("a\nb", ""), "/a\\nb/");
    }
}
