//! Window functions of a series of numbers: its slope, its area, its smoothed mean, its gaps.

use bson::{Bson, Document};

use super::bounds::Bounds;
use super::function::{Column, Values, evaluated};
use super::{Frame, failed, refuse};
use crate::engine::expr::{Expression, Scope};
use crate::error::Result;
use crate::value::number::{self, Number, Overflow};
use crate::value::{kind, text};

/// `$covariancePop` and `$covarianceSamp`.
#[derive(Debug)]
struct Covariance {
    sample: bool,
    left: Expression,
    right: Expression,
    bounds: Bounds,
}

pub(super) fn covariance(
    name: &'static str,
    argument: &Bson,
    bounds: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    let Some([left, right]) = argument.as_array().map(Vec::as_slice) else {
        return Err(failed(format!("{name} requires an array of exactly two expressions")));
    };
    Ok(Box::new(Covariance {
        sample: name == "$covarianceSamp",
        left: Expression::parse(left, scope)?,
        right: Expression::parse(right, scope)?,
        bounds,
    }))
}

impl Values for Covariance {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let left = evaluated(&self.left, frame)?;
        let right = evaluated(&self.right, frame)?;
        let number = |value: &Option<Bson>| value.as_ref().and_then(Number::of).map(Number::to_f64);
        let mut column = Vec::with_capacity(left.len());
        for at in 0..left.len() {
            let seen = self.bounds.of(frame.partition, at)?;
            // Only pairs of two numbers count.
            let pairs = left[seen.clone()].iter().zip(&right[seen]);
            let (mut count, mut mean, mut mean_right, mut moment) = (0.0, 0.0, 0.0, 0.0);
            for (left, right) in pairs.filter_map(|(left, right)| number(left).zip(number(right))) {
                frame.context.interrupt.check()?;
                count += 1.0;
                let before = left - mean;
                mean += before / count;
                mean_right += (right - mean_right) / count;
                moment += before * (right - mean_right);
            }
            let degrees = if self.sample { count - 1.0 } else { count };
            column.push(Some(if degrees > 0.0 {
                Bson::Double(moment / degrees)
            } else {
                Bson::Null
            }));
        }
        Ok(column)
    }
}

/// What `$derivative` and `$integral` have in common.
#[derive(Debug)]
struct Change {
    input: Expression,
    /// The milliseconds of a unit, for dates.
    unit: Option<f64>,
    name: &'static str,
    bounds: Bounds,
}

impl Change {
    fn parse(name: &'static str, argument: &Bson, bounds: Bounds, scope: &Scope) -> Result<Self> {
        let Bson::Document(argument) = argument else {
            return Err(failed(format!(
                "Argument to {name} must be an object, but found type: {}",
                kind::name(argument)
            )));
        };
        if let Some(unknown) =
            argument.keys().find(|name| !["input", "unit"].contains(&name.as_str()))
        {
            return Err(failed(format!("{name} got unexpected argument: {unknown}")));
        }
        let Some(input) = argument.get("input") else {
            return Err(failed(format!("{name} requires an 'input' expression")));
        };
        let unit = match argument.get("unit") {
            None => None,
            Some(Bson::String(unit)) => Some(match unit.as_str() {
                "week" => 604_800_000.0,
                "day" => 86_400_000.0,
                "hour" => 3_600_000.0,
                "minute" => 60_000.0,
                "second" => 1_000.0,
                "millisecond" => 1.0,
                "year" | "quarter" | "month" => {
                    return Err(refuse(5_490_704, "unit must be 'week' or smaller"));
                }
                other => return Err(failed(format!("unknown time unit value: {other}"))),
            }),
            Some(_) => return Err(failed(format!("{name} 'unit' must be a string"))),
        };
        Ok(Self { input: Expression::parse(input, scope)?, unit, name, bounds })
    }

    /// Where a document is on the axis it is sorted by.
    fn place(&self, frame: Frame<'_>, at: usize) -> Result<f64> {
        let name = self.name;
        match (&frame.partition.keys[at][0], self.unit) {
            (Bson::DateTime(date), Some(unit)) => Ok(date.timestamp_millis() as f64 / unit),
            (Bson::DateTime(_), None) => Err(refuse(
                5_624_901,
                format!("{name} where the sortBy is a Date requires an 'unit'"),
            )),
            (_, Some(_)) => Err(refuse(
                5_624_900,
                format!("{name} with 'unit' expects the sortBy field to be a Date"),
            )),
            (other, None) => Number::of(other).map(Number::to_f64).ok_or_else(|| {
                refuse(5_624_902, format!("{name} expects the sortBy field to be numeric"))
            }),
        }
    }

    /// The value of a document, a number or a date.
    fn value(&self, value: Option<&Bson>) -> Result<f64> {
        match value {
            Some(Bson::DateTime(date)) => Ok(date.timestamp_millis() as f64),
            Some(value) if Number::of(value).is_some() => {
                Ok(Number::of(value).map_or(0.0, Number::to_f64))
            }
            _ => Err(refuse(5_624_903, format!("{} expects the input to be numeric", self.name))),
        }
    }
}

#[derive(Debug)]
struct Derivative(Change);

pub(super) fn derivative(
    name: &'static str,
    argument: &Bson,
    bounds: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    Ok(Box::new(Derivative(Change::parse(name, argument, bounds, scope)?)))
}

impl Values for Derivative {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let values = evaluated(&self.0.input, frame)?;
        let mut column = Vec::with_capacity(values.len());
        for at in 0..values.len() {
            let seen = self.0.bounds.of(frame.partition, at)?;
            if seen.len() < 2 {
                column.push(Some(Bson::Null));
                continue;
            }
            let (first, last) = (seen.start, seen.end - 1);
            let run = self.0.place(frame, last)? - self.0.place(frame, first)?;
            let rise =
                self.0.value(values[last].as_ref())? - self.0.value(values[first].as_ref())?;
            column.push(Some(if run == 0.0 { Bson::Null } else { Bson::Double(rise / run) }));
        }
        Ok(column)
    }
}

#[derive(Debug)]
struct Integral(Change);

pub(super) fn integral(
    name: &'static str,
    argument: &Bson,
    bounds: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    Ok(Box::new(Integral(Change::parse(name, argument, bounds, scope)?)))
}

impl Values for Integral {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let values = evaluated(&self.0.input, frame)?;
        // The area up to each document; a window's is a difference.
        let mut areas = vec![0.0];
        for at in 1..values.len() {
            let width = self.0.place(frame, at)? - self.0.place(frame, at - 1)?;
            let height =
                self.0.value(values[at - 1].as_ref())? + self.0.value(values[at].as_ref())?;
            areas.push(areas[at - 1] + width * height / 2.0);
        }
        let column = (0..values.len()).map(|at| {
            let seen = self.0.bounds.of(frame.partition, at)?;
            Ok(Some(match seen.len() {
                0 => Bson::Null,
                1 => Bson::Int32(0),
                _ => Bson::Double(areas[seen.end - 1] - areas[seen.start]),
            }))
        });
        column.collect()
    }
}

#[derive(Debug)]
struct Moving {
    input: Expression,
    /// The weight of the newest value, a decimal.
    alpha: Number,
}

pub(super) fn moving(
    _: &'static str,
    argument: &Bson,
    _: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    let wrong = || {
        failed(
            "$expMovingAvg sub object must have exactly two fields: An 'input' field, and either an 'N' field or an \
             'alpha' field",
        )
    };
    let Bson::Document(argument) = argument else {
        return Err(failed("$expMovingAvg must have exactly one argument that is an object"));
    };
    let given = |name: &str| argument.get(name).filter(|_| argument.len() == 2);
    let input = given("input").ok_or_else(wrong)?;
    let alpha = match (given("N"), given("alpha")) {
        (Some(n), None) => {
            let words =
                "'N' field must be an integer, but found a value that is not representable as long";
            let n = Number::of(n).and_then(Number::to_i64).ok_or_else(|| failed(words))?;
            if n <= 0 {
                return Err(failed(format!("'N' must be greater than zero. Got {n}")));
            }
            let parts = Number::from_i64(n.saturating_add(1)).to_decimal();
            number::divide(Number::Int32(2), Number::Decimal(parts)).ok_or_else(wrong)?
        }
        (None, Some(alpha)) => {
            let given = Number::of(alpha).ok_or_else(wrong)?;
            let value = given.to_f64();
            if value.is_nan() || value <= 0.0 || value >= 1.0 {
                return Err(failed(format!(
                    "'alpha' must be between 0 and 1 (exclusive), found alpha: {}",
                    text::value(alpha)
                )));
            }
            Number::Decimal(given.to_decimal())
        }
        _ => return Err(wrong()),
    };
    Ok(Box::new(Moving { input: Expression::parse(input, scope)?, alpha }))
}

impl Moving {
    /// The next mean: the last one, moved towards the newest value.
    fn weighed(&self, number: Number, mean: Number) -> Number {
        let mean = Number::Decimal(mean.to_decimal());
        let step = number::subtract(number, mean, Overflow::Double)
            .and_then(|step| number::multiply(step, self.alpha, Overflow::Double));
        step.and_then(|step| number::add(mean, step, Overflow::Double)).unwrap_or(mean)
    }
}

impl Values for Moving {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        // Weighed as decimals; told as doubles unless a decimal was among the values.
        let mut mean: Option<Number> = None;
        let mut decimal = false;
        let values = evaluated(&self.input, frame)?.into_iter();
        let column = values.map(|value| {
            let Some(number) = value.as_ref().and_then(Number::of) else { return Some(Bson::Null) };
            decimal |= matches!(number, Number::Decimal(_));
            let (told, next) = match mean {
                None => (number, number),
                Some(mean) => {
                    let next = self.weighed(number, mean);
                    (if decimal { next } else { Number::Double(next.to_f64()) }, next)
                }
            };
            mean = Some(next);
            Some(told.into())
        });
        Ok(column.collect())
    }
}

fn is_gap(value: Option<&Bson>) -> bool {
    matches!(value, None | Some(Bson::Null | Bson::Undefined))
}

#[derive(Debug)]
struct Carry(Expression);

pub(super) fn carry(
    _: &'static str,
    argument: &Bson,
    _: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    Ok(Box::new(Carry(Expression::parse(argument, scope)?)))
}

impl Values for Carry {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let mut last = Bson::Null;
        let values = evaluated(&self.0, frame)?.into_iter();
        let column = values.map(|value| {
            if let Some(value) = value.filter(|value| !is_gap(Some(value))) {
                last = value;
            }
            Some(last.clone())
        });
        Ok(column.collect())
    }
}

#[derive(Debug)]
struct LinearFill(Change);

pub(super) fn linear_fill(
    name: &'static str,
    argument: &Bson,
    bounds: Bounds,
    scope: &Scope,
) -> Result<Box<dyn Values>> {
    let input = Expression::parse(argument, scope)?;
    Ok(Box::new(LinearFill(Change { input, unit: None, name, bounds })))
}

impl LinearFill {
    fn place(&self, frame: Frame<'_>, at: usize) -> Result<f64> {
        match &frame.partition.keys[at][0] {
            Bson::DateTime(date) => Ok(date.timestamp_millis() as f64),
            _ => self.0.place(frame, at),
        }
    }
}

impl Values for LinearFill {
    fn values(&self, frame: Frame<'_>) -> Result<Column> {
        let mut values = evaluated(&self.0.input, frame)?;
        for at in 1..values.len() {
            if self.place(frame, at - 1)? == self.place(frame, at)? {
                let words = "There can be no repeated values in the sort field";
                return Err(refuse(6_050_106, words));
            }
        }
        let known: Vec<usize> =
            (0..values.len()).filter(|at| !is_gap(values[*at].as_ref())).collect();
        for at in &known {
            self.0.value(values[*at].as_ref())?;
        }
        for pair in known.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let (low, high) =
                (self.0.value(values[left].as_ref())?, self.0.value(values[right].as_ref())?);
            let (from, to) = (self.place(frame, left)?, self.place(frame, right)?);
            for (at, value) in values.iter_mut().enumerate().take(right).skip(left + 1) {
                let share = (self.place(frame, at)? - from) / (to - from);
                *value = Some(Bson::Double(low + (high - low) * share));
            }
        }
        Ok(values.into_iter().map(|value| Some(value.unwrap_or(Bson::Null))).collect())
    }
}

/// The `output` of a `$fill` as that of a `$setWindowFields`: the gaps that a method fills.
pub(in crate::engine::aggregate) fn filling(field: &str, method: &str) -> Option<Document> {
    let function = match method {
        "linear" => "$linearFill",
        "locf" => "$locf",
        _ => return None,
    };
    let mut filled = Document::new();
    filled.insert(function, format!("${field}"));
    Some(filled)
}
