//! Dates.

use bson::DateTime;

/// The date as ISO 8601 with milliseconds, in UTC.
pub(super) fn iso_text(date: DateTime) -> String {
    date.try_to_rfc3339_string().unwrap_or_default()
}
