//! Which neighbours of a document a window function sees: by position, or by the distance of what they are sorted by.

use std::ops::Range;

use bson::{Bson, DateTime, Document};

use super::{Partition, failed, refuse};
use crate::engine::expr::move_date;
use crate::engine::query::Sort;
use crate::error::{Code, Error, Result};
use crate::value::compare::compare;
use crate::value::number::{self, Number, Overflow};
use crate::value::{kind, text};

/// The window of one function.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bounds {
    /// By position.
    Documents(Bound<i64>, Bound<i64>),
    /// By value; in this unit of time for dates.
    Range(Box<(Bound<Bson>, Bound<Bson>)>, Option<String>),
}

/// One end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound<T> {
    /// The partition's.
    Unbounded,
    /// The document itself.
    Current,
    /// So far from it.
    By(T),
}

impl Bounds {
    /// The whole partition.
    pub(super) const WHOLE: Self = Self::Documents(Bound::Unbounded, Bound::Unbounded);

    /// Compiles a `window`.
    pub(super) fn parse(window: &Document, sort: &Sort) -> Result<Self> {
        let known = |name: &&String| !["documents", "range", "unit"].contains(&name.as_str());
        if let Some(name) = window.keys().find(known) {
            return Err(failed(format!(
                "'window' field can only contain 'documents' as the only argument or 'range' with an optional \
                 'unit' field. Found: {name}"
            )));
        }
        let (documents, range) = (window.get("documents"), window.get("range"));
        let unit = window.get("unit").map(|unit| match unit {
            Bson::String(unit) => Ok(unit.clone()),
            _ => Err(failed("'unit' must be a string")),
        });
        let unit = unit.transpose()?;
        match (documents, range) {
            (Some(_), Some(_)) => {
                Err(failed("Window bounds can specify either 'documents' or 'range', not both."))
            }
            (Some(_), None) if unit.is_some() => {
                Err(failed("Window bounds can only specify 'unit' with range-based bounds."))
            }
            (Some(ends), None) => Self::by_position(ends, sort),
            (None, Some(ends)) => Self::by_value(ends, unit, sort),
            (None, None) if unit.is_some() => {
                Err(failed("Window bounds can only specify 'unit' with range-based bounds."))
            }
            (None, None) => Ok(Self::WHOLE),
        }
    }

    fn by_position(ends: &Bson, sort: &Sort) -> Result<Self> {
        let read = |end: &Bson| {
            let words = || {
                failed(format!(
                    "Numeric document-based bounds must be an integer. Found: {}",
                    text::value(end)
                ))
            };
            let number = Number::of(end).ok_or_else(words)?;
            number.to_i64().ok_or_else(words)
        };
        let (lower, upper) = pair(ends, "documents", read)?;
        if let (Bound::By(low), Bound::By(high)) = (lower, upper)
            && low > high
        {
            return Err(refuse(5_339_900, "Lower bound must not exceed upper bound"));
        }
        if (lower, upper) != (Bound::Unbounded, Bound::Unbounded) && sort.is_empty() {
            return Err(refuse(5_339_901, "Document-based bounds require a sortBy"));
        }
        Ok(Self::Documents(lower, upper))
    }

    fn by_value(ends: &Bson, unit: Option<String>, sort: &Sort) -> Result<Self> {
        let read = |end: &Bson| match Number::of(end) {
            Some(number) if unit.is_none() || number.to_i64().is_some() => Ok(end.clone()),
            Some(_) => Err(failed("With 'unit', range-based bounds must be an integer")),
            None => Err(failed("Range-based bounds expression must be a number")),
        };
        let (lower, upper) = pair(ends, "range", read)?;
        if let (Bound::By(low), Bound::By(high)) = (&lower, &upper)
            && compare(low, high).is_gt()
        {
            return Err(refuse(5_339_900, "Lower bound must not exceed upper bound"));
        }
        if sort.keys().len() != 1 {
            return Err(refuse(5_339_902, "Range-based window require sortBy a single field"));
        }
        if sort.keys().iter().any(|key| key.descending) {
            return Err(refuse(8_947_400, "Range-based bounds require an ascending sortBy"));
        }
        if let Some(unit) = unit.as_deref().filter(|unit| move_date(0, unit, 0).is_none()) {
            return Err(failed(format!("unknown time unit value: {unit}")));
        }
        Ok(Self::Range(Box::new((lower, upper)), unit))
    }

    /// Which documents of its partition the document at `at` sees.
    pub(super) fn of(&self, partition: &Partition, at: usize) -> Result<Range<usize>> {
        let count = partition.documents.len();
        match self {
            Self::Documents(lower, upper) => {
                let place = |distance: i64| (at as i64).saturating_add(distance);
                let first = match lower {
                    Bound::Unbounded => 0,
                    Bound::Current => at as i64,
                    Bound::By(distance) => place(*distance),
                };
                let end = match upper {
                    Bound::Unbounded => count as i64,
                    Bound::Current => at as i64 + 1,
                    Bound::By(distance) => place(*distance).saturating_add(1),
                };
                let clamp = |place: i64| place.clamp(0, count as i64) as usize;
                Ok(clamp(first)..clamp(end).max(clamp(first)))
            }
            Self::Range(ends, unit) => {
                let (lower, upper) = ends.as_ref();
                let key = |at: usize| &partition.keys[at][0];
                let edge = |bound: &Bound<Bson>| match bound {
                    Bound::Unbounded => Ok(None),
                    Bound::Current => distant(key(at), &Bson::Int32(0), unit.as_deref()).map(Some),
                    Bound::By(distance) => distant(key(at), distance, unit.as_deref()).map(Some),
                };
                let keys = &partition.keys;
                let first = edge(lower)?
                    .map_or(0, |low| keys.partition_point(|key| compare(&key[0], &low).is_lt()));
                // Without an upper bound, what is no number or date is seen as well.
                let end = edge(upper)?.map_or(count, |high| {
                    keys.partition_point(|key| compare(&key[0], &high).is_le())
                });
                Ok(first..end.max(first))
            }
        }
    }
}

/// The two ends of a window.
fn pair<T>(
    ends: &Bson,
    name: &str,
    read: impl Fn(&Bson) -> Result<T>,
) -> Result<(Bound<T>, Bound<T>)> {
    let Some([lower, upper]) = ends.as_array().map(Vec::as_slice) else {
        return Err(failed(format!(
            "Window bounds must be a 2-element array: {name}: {}",
            text::value(ends)
        )));
    };
    let bound = |end: &Bson| match end {
        Bson::String(word) if word == "unbounded" => Ok(Bound::Unbounded),
        Bson::String(word) if word == "current" => Ok(Bound::Current),
        Bson::String(_) => {
            Err(failed("Window bounds must be 'unbounded', 'current', or a number."))
        }
        number => read(number).map(Bound::By),
    };
    Ok((bound(lower)?, bound(upper)?))
}

/// A value so far from another.
fn distant(value: &Bson, distance: &Bson, unit: Option<&str>) -> Result<Bson> {
    match (value, unit) {
        (Bson::DateTime(date), Some(unit)) => {
            let amount = Number::of(distance).map_or(0, Number::clamped);
            move_date(date.timestamp_millis(), unit, amount)
                .map(|millis| Bson::DateTime(DateTime::from_millis(millis)))
                .ok_or_else(|| Error::command(Code::OVERFLOW, "date overflow in a window's range"))
        }
        (Bson::DateTime(_), None) => Err(refuse(
            5_429_513,
            "Expected the sortBy field to be a number, but it was date; a range of dates needs a 'unit'",
        )),
        (other, Some(_)) => Err(refuse(
            5_429_513,
            format!("Expected the sortBy field to be a date, but it was {}", kind::name(other)),
        )),
        (other, None) => {
            let sum = Number::of(other)
                .zip(Number::of(distance))
                .and_then(|(value, distance)| number::add(value, distance, Overflow::Double));
            sum.map(Bson::from).ok_or_else(|| {
                let found = kind::name(other);
                refuse(
                    5_429_414,
                    format!("Expected the sortBy field to be a number, but it was {found}"),
                )
            })
        }
    }
}
