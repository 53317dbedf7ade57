//! Time zones: offsets from UTC as `+05:30`, `-0800`, `+03`, and the names of UTC itself.

use crate::error::{Code, Error, Result};

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    /// Minutes east of UTC.
    minutes: i64,
}

/// Universal time.
pub(super) const UTC: Zone = Zone { minutes: 0 };

impl Zone {
    /// Reads an identifier.
    ///
    /// # Errors
    /// 40485 for one that is not known.
    pub(super) fn parse(text: &str) -> Result<Self> {
        Self::known(text).ok_or_else(|| {
            Error::command(Code(40485), format!("unrecognized time zone identifier: \"{text}\""))
        })
    }

    fn known(text: &str) -> Option<Self> {
        if matches!(
            text,
            "UTC"
                | "GMT"
                | "Z"
                | "Etc/UTC"
                | "Etc/GMT"
                | "Zulu"
                | "Universal"
                | "Etc/Universal"
                | "UCT"
        ) {
            return Some(UTC);
        }
        let (sign, digits) = match text.as_bytes().first()? {
            b'+' => (1, &text[1..]),
            b'-' => (-1, &text[1..]),
            _ => return None,
        };
        let (hours, minutes) = match digits.len() {
            2 => (digits, "0"),
            4 if digits.is_ascii() => digits.split_at(2),
            5 => digits.split_once(':')?,
            _ => return None,
        };
        let number = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| text.parse::<i64>().ok())
                .flatten()
        };
        Some(Self { minutes: sign * (number(hours)? * 60 + number(minutes)?) })
    }

    /// Milliseconds east of UTC at a moment.
    pub(super) fn offset(self, _millis: i64) -> i64 {
        self.minutes * 60_000
    }

    /// What a clock of this zone shows, as if it were UTC.
    pub(super) fn local(self, millis: i64) -> i64 {
        millis.saturating_add(self.offset(millis))
    }

    /// The moment at which a clock of this zone shows `local`.
    pub(super) fn utc(self, local: i64) -> i64 {
        local.saturating_sub(self.minutes * 60_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_read_in_all_their_forms() {
        for text in ["+05:30", "+0530"] {
            assert_eq!(Zone::parse(text).unwrap().offset(0), 19_800_000);
        }
        assert_eq!(Zone::parse("-08").unwrap().local(0), -28_800_000);
        assert_eq!(Zone::parse("GMT"), Ok(UTC));
        for text in ["", "+", "+5", "05:30", "Mars/Olympus", "+0é"] {
            assert_eq!(Zone::parse(text).unwrap_err().code(), Some(Code(40485)), "{text}");
        }
    }
}
