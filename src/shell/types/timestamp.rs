//! `Timestamp`.

use bson::{RawBson, Timestamp, rawdoc};

use super::{text, this};
use crate::error::Result;
use crate::shell::command::{field, whole};
use crate::shell::refusal::usage;
use crate::shell::rows::native;
use crate::shell::{Call, Class, Emulate, Reply, Shells};

/// `Timestamp(1, 2)`.
pub(in crate::shell) const TIMESTAMP: Class = Class::instances(
    "Timestamp",
    "Timestamp",
    "seconds and a count within the second",
    &[
        native("constructor", "(seconds, count)", "a timestamp", construct),
        native("getHighBits", "()", "the seconds", seconds).only(Shells::Mongosh),
        native("getInc", "()", "the count", count).only(Shells::Mongo),
        native("getLowBits", "()", "the count", count).only(Shells::Mongosh),
        native("getTime", "()", "the seconds", seconds).only(Shells::Mongo),
        native("i", "", "the count", count),
        native("t", "", "the seconds", seconds),
        native("toJSON", "()", "what JSON.stringify writes", to_json),
        native("toString", "()", "its text", to_string),
        native("tojson", "()", "its text", to_string).only(Shells::Mongo),
    ],
);

fn construct(call: &mut Call<'_>) -> Result<Reply> {
    let part = |value: Option<bson::RawBsonRef<'_>>, name: &str| match value {
        None => Ok(0),
        Some(value) => {
            whole(value).and_then(|number| u32::try_from(number).ok()).ok_or_else(|| {
                usage(format!("Timestamp {name} must be a number from 0 to 4294967295"))
            })
        }
    };
    let (time, increment) = match call.value(0) {
        Some(RawBson::Timestamp(timestamp)) => (timestamp.time, timestamp.increment),
        Some(RawBson::Document(parts)) => {
            (part(field(parts, "t"), "time")?, part(field(parts, "i"), "increment")?)
        }
        // One long is both halves.
        Some(RawBson::Int64(both)) if call.value(1).is_none() => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let halves = ((*both as u64 >> 32) as u32, *both as u32);
            halves
        }
        time => {
            let time = time.map(RawBson::as_raw_bson_ref);
            let increment = call.value(1).map(RawBson::as_raw_bson_ref);
            (part(time, "time")?, part(increment, "increment")?)
        }
    };
    Ok(Reply::Typed(RawBson::Timestamp(Timestamp { time, increment })))
}

fn own(call: &Call<'_>) -> Result<Timestamp> {
    match this(call)? {
        RawBson::Timestamp(timestamp) => Ok(*timestamp),
        _ => Err(usage(format!("{} must be called on a Timestamp", call.method))),
    }
}

fn seconds(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Double(f64::from(own(call)?.time))))
}

fn count(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Double(f64::from(own(call)?.increment))))
}

fn to_json(call: &mut Call<'_>) -> Result<Reply> {
    let Timestamp { time, increment } = own(call)?;
    Ok(Reply::Value(RawBson::Document(match call.shell.emulate {
        Emulate::Mongo => rawdoc! {
            "$timestamp": { "t": f64::from(time), "i": f64::from(increment) }
        },
        Emulate::Mongosh => rawdoc! { "$timestamp": both(time, increment) },
    })))
}

/// The 64 bits in decimal digits.
fn both(time: u32, increment: u32) -> String {
    (u64::from(time) << 32 | u64::from(increment)).to_string()
}

fn to_string(call: &mut Call<'_>) -> Result<Reply> {
    let Timestamp { time, increment } = own(call)?;
    Ok(text(match call.shell.emulate {
        Emulate::Mongo => format!("Timestamp({time}, {increment})"),
        Emulate::Mongosh => both(time, increment),
    }))
}
