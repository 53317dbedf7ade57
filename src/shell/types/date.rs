//! `ISODate`: a date from the forms of ISO 8601 that the shells read.

use bson::{DateTime, RawBson};

use crate::error::{Error, Result};
use crate::shell::refusal::{invalid_input, usage};
use crate::shell::{Call, Emulate, Reply};
use crate::value::iso_date::{Fields, read};

/// `ISODate(text)`; without a text, now.
pub(in crate::shell) fn iso_date(call: &mut Call<'_>) -> Result<Reply> {
    // The classic shell lets fields run over; mongosh lets only days do so.
    let fields = if call.shell.classic() { Fields::Loose } else { Fields::Strict };
    let millis = match call.value(0) {
        None => return Ok(Reply::Typed(RawBson::DateTime(DateTime::now()))),
        Some(RawBson::String(text)) if text.is_empty() && call.shell.classic() => {
            return Ok(Reply::Typed(RawBson::DateTime(DateTime::now())));
        }
        Some(RawBson::DateTime(date)) => date.timestamp_millis(),
        Some(RawBson::String(text)) => {
            read(text.trim(), fields).ok_or_else(|| refused(call, text))?
        }
        // Neither shell says no to a number; its digits are read like any text, save milliseconds since 1970.
        #[allow(clippy::cast_possible_truncation)]
        Some(RawBson::Double(millis)) if millis.is_finite() => *millis as i64,
        Some(RawBson::Int32(millis)) => i64::from(*millis),
        Some(_) => return Err(refused(call, "")),
    };
    Ok(Reply::Typed(RawBson::DateTime(DateTime::from_millis(millis))))
}

fn refused(call: &Call<'_>, text: &str) -> Error {
    match call.shell.emulate {
        Emulate::Mongo => usage(format!("invalid ISO date: {text}")),
        Emulate::Mongosh => invalid_input(format!("\"{text}\" is not a valid ISODate")),
    }
}
