//! Time zones: offsets from UTC as `+05:30`, `-0800`, `+03`, and names as `Europe/Berlin`.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::error::{Code, Error, Result};
use crate::value::calendar;

/// A time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// Always so many minutes east of UTC.
    Fixed(i64),
    /// A zone with rules.
    Named(&'static TimeZone),
}

/// Universal time.
pub(super) const UTC: Zone = Zone::Fixed(0);

impl Zone {
    /// Reads an identifier.
    ///
    /// # Errors
    /// 40485 for one that is not known.
    pub(super) fn parse(text: &str) -> Result<Self> {
        Self::known(text).or_else(|| named(text).map(Self::Named)).ok_or_else(|| {
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
        Some(Self::Fixed(sign * (number(hours)? * 60 + number(minutes)?)))
    }

    /// Milliseconds east of UTC at a moment.
    pub(super) fn offset(self, millis: i64) -> i64 {
        match self {
            Self::Fixed(minutes) => minutes * 60_000,
            Self::Named(zone) => {
                let moment = Timestamp::from_millisecond(millis).unwrap_or_default();
                i64::from(zone.to_offset(moment).seconds()) * 1_000
            }
        }
    }

    /// What a clock of this zone shows, as if it were UTC.
    pub(super) fn local(self, millis: i64) -> i64 {
        millis.saturating_add(self.offset(millis))
    }

    /// The moment at which a clock of this zone shows `local`: the first of two when it is set back, and where it is set
    /// forward over `local`, as if it had not been yet.
    pub(super) fn utc(self, local: i64) -> i64 {
        let offset = match self {
            Self::Fixed(minutes) => minutes * 60_000,
            Self::Named(zone) => {
                let moment = shown(local).and_then(|clock| zone.to_timestamp(clock).ok());
                return moment
                    .map_or(local, |moment| moment.as_millisecond() + local.rem_euclid(1_000));
            }
        };
        local.saturating_sub(offset)
    }
}

/// A clock's reading, to the second; `None` beyond the years that named zones have rules for.
fn shown(local: i64) -> Option<DateTime> {
    let parts = calendar::parts_of(local);
    let small = |part: i64| i8::try_from(part).ok();
    DateTime::new(
        i16::try_from(parts.year).ok()?,
        small(parts.month)?,
        small(parts.day)?,
        small(parts.hour)?,
        small(parts.minute)?,
        small(parts.second)?,
        0,
    )
    .ok()
}

/// The zone of that name, in the database that comes with the program. Each is read once and kept; there are some
/// hundreds.
fn named(name: &str) -> Option<&'static TimeZone> {
    static ZONES: LazyLock<Mutex<HashMap<String, &'static TimeZone>>> =
        LazyLock::new(Mutex::default);
    let mut zones = ZONES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(zone) = zones.get(name) {
        return Some(zone);
    }
    let zone = TimeZone::get(name).ok()?;
    // Kept under its own name, so that other spellings of it do not add up.
    let own = zone.iana_name()?.to_owned();
    Some(zones.entry(own).or_insert_with(|| Box::leak(Box::new(zone))))
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

    #[test]
    fn named_zones_keep_summer_time_and_go_there_and_back() {
        const HOUR: i64 = 3_600_000;
        let zone = Zone::parse("Europe/Berlin").unwrap();
        // 2024-01-01 and 2024-07-01, at noon UTC, and a quarter of a second.
        for (moment, hours) in [(1_704_110_400_250, 1), (1_719_835_200_250, 2)] {
            assert_eq!(zone.offset(moment), hours * HOUR);
            assert_eq!(zone.utc(zone.local(moment)), moment);
        }
        // 02:30 on the day the clock goes forward, and on the day it goes back.
        assert_eq!(zone.utc(1_711_852_200_000), 1_711_852_200_000 - HOUR);
        assert_eq!(zone.utc(1_729_996_200_000), 1_729_996_200_000 - 2 * HOUR);
        assert!(zone.local(i64::MAX) >= i64::MAX - HOUR && zone.utc(i64::MIN) == i64::MIN);
    }
}
