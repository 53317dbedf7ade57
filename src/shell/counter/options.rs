//! The arguments of `counter()` and `nextVal()`: a name, and options that are checked before anything is sent.

use bson::{RawBson, RawBsonRef, RawDocument};

use crate::error::Result;
use crate::shell::refusal::usage;
use crate::shell::{Call, nearest};

/// Which of the two functions is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    /// `counter()`, which creates its counters.
    Counter,
    /// `nextVal()`, which does not.
    Sequence,
}

impl Sequence {
    /// The word for one of them.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Sequence => "sequence",
        }
    }

    /// The collection they live in, unless the options name another.
    pub(super) fn collection(self) -> &'static str {
        match self {
            Self::Counter => "counters",
            Self::Sequence => "sequences",
        }
    }

    /// The field that counts, unless the options name another.
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Counter => "next",
            Self::Sequence => "seq",
        }
    }
}

/// The options of a call.
pub(super) struct Options<'a> {
    /// Which function was called.
    pub(super) sequence: Sequence,
    /// Where the counters are.
    pub(super) collection: &'a str,
    /// The field that counts.
    pub(super) field: &'a str,
    /// The distance between two numbers.
    pub(super) step: i64,
    /// What is added: the step, as often as numbers are reserved.
    pub(super) amount: i64,
    /// The first number of a counter that is not there yet.
    pub(super) start: Option<i64>,
    /// A block of numbers was asked for: answer with its ends.
    pub(super) block: bool,
}

const NAMES: &[&str] = &["collection", "count", "field", "start", "step"];

/// The counter's name: any value that can be an `_id`.
pub(super) fn name_of<'a>(call: &'a Call<'_>) -> Result<&'a RawBson> {
    match call.value(0) {
        Some(RawBson::String(name)) if name.is_empty() => {
            Err(usage(format!("{} needs a name that is not empty", call.method)))
        }
        Some(RawBson::Array(_) | RawBson::RegularExpression(_) | RawBson::JavaScriptCode(_)) => {
            Err(usage(format!("{} needs a name, such as \"users\"", call.method)))
        }
        Some(name) => Ok(name),
        None => Err(usage(format!("{0} needs a name: {0}(\"users\")", call.method))),
    }
}

/// The options at `index`.
pub(super) fn options<'a>(
    call: &'a Call<'_>,
    index: usize,
    sequence: Sequence,
) -> Result<Options<'a>> {
    let mut options = Options {
        sequence,
        collection: sequence.collection(),
        field: sequence.field(),
        step: 1,
        amount: 1,
        start: None,
        block: false,
    };
    let given: &RawDocument = match call.value(index) {
        None => return Ok(options),
        Some(RawBson::Document(given)) => given,
        Some(_) => {
            return Err(usage(format!(
                "{}: options are an object such as {{step: 10}}",
                call.method
            )));
        }
    };
    let method = call.method;
    let mut count = 1;
    for (key, value) in given.iter().flatten() {
        if matches!(value, RawBsonRef::Undefined | RawBsonRef::Null) {
            continue;
        }
        match key.as_str() {
            "collection" => options.collection = text(method, "collection", value)?,
            "field" => options.field = field_name(method, value)?,
            "step" => {
                options.step = whole_number(method, "step", value)?;
                if options.step == 0 {
                    return Err(usage(format!("{method}: step must not be 0")));
                }
            }
            "start" => options.start = Some(whole_number(method, "start", value)?),
            "count" => {
                count = whole_number(method, "count", value)?;
                options.block = true;
                if count < 1 {
                    return Err(usage(format!("{method}: count must be at least 1, not {count}")));
                }
            }
            other => {
                let hint = match nearest(other, NAMES.iter().copied()) {
                    Some(near) => format!(". Did you mean {near}?"),
                    None => format!("; the options are {}", NAMES.join(", ")),
                };
                return Err(usage(format!("{method} has no option {other}{hint}")));
            }
        }
    }
    options.amount = options.step.checked_mul(count).ok_or_else(|| {
        usage(format!("{method}: step * count passes the end of 64-bit integers"))
    })?;
    Ok(options)
}

fn text<'a>(method: &str, name: &str, value: RawBsonRef<'a>) -> Result<&'a str> {
    match value {
        RawBsonRef::String(text) if !text.is_empty() => Ok(text),
        _ => Err(usage(format!("{method}: {name} must be a name"))),
    }
}

/// A field that `$inc` can take: no operator, not the counter's own name, no empty part.
fn field_name<'a>(method: &str, value: RawBsonRef<'a>) -> Result<&'a str> {
    let field = text(method, "field", value)?;
    let bad = |part: &str| part.is_empty() || part.starts_with('$') || part.contains('\0');
    if field == "_id" || field.starts_with("_id.") || field.split('.').any(bad) {
        return Err(usage(format!("{method}: {field:?} is no field that can count")));
    }
    Ok(field)
}

/// A whole number within 64 bits.
pub(super) fn whole_number(method: &str, name: &str, value: RawBsonRef<'_>) -> Result<i64> {
    match value {
        RawBsonRef::Int32(value) => Ok(i64::from(value)),
        RawBsonRef::Int64(value) => Ok(value),
        // Beyond 2^53 a double no longer says which whole number was meant.
        #[allow(clippy::cast_possible_truncation)]
        RawBsonRef::Double(value)
            if value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0 =>
        {
            Ok(value as i64)
        }
        RawBsonRef::Double(value) => {
            Err(usage(format!("{method}: {name} must be a whole number, not {value}")))
        }
        _ => Err(usage(format!("{method}: {name} must be a whole number"))),
    }
}
