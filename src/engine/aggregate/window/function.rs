//! The functions of windows: accumulators over a frame, and those that only a window has.

use bson::{Bson, Document};

use super::bounds::{Bound, Bounds};
use super::{Frame, failed, rank, refuse, series};
use crate::engine::expr::{Accumulator, Expression, Scope};
use crate::engine::query::Sort;
use crate::error::Result;
use crate::value::text;

/// What a function makes of each document of a partition; `None` leaves the field out.
pub(super) type Column = Vec<Option<Bson>>;

/// A function of its own, compiled.
pub(super) trait Values: std::fmt::Debug + Send + Sync {
    /// One value for each document of the partition.
    fn values(&self, frame: Frame<'_>) -> Result<Column>;
}

/// One window function that is no accumulator.
#[derive(Debug)]
pub struct Row {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// One line for a user.
    pub help: &'static str,
    /// Whether it may have a `window`.
    pub(super) windowed: bool,
    /// How many keys its `sortBy` needs.
    pub(super) sorted: Sorted,
    pub(super) parse: Parse,
}

/// Compiles the argument of a function over a window.
type Parse = fn(&'static str, &Bson, Bounds, &Scope) -> Result<Box<dyn Values>>;

/// What a function asks of the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sorted {
    /// Nothing.
    Any,
    /// That there is one.
    Some,
    /// That it is by exactly one field.
    One,
}

/// The functions that only windows have, sorted by name.
pub const FUNCTIONS: &[Row] = &[
    Row {
        name: "$covariancePop",
        help: "the covariance of two values over a whole population: [a, b]",
        windowed: true,
        sorted: Sorted::Any,
        parse: series::covariance,
    },
    Row {
        name: "$covarianceSamp",
        help: "the covariance of two values estimated from a sample: [a, b]",
        windowed: true,
        sorted: Sorted::Any,
        parse: series::covariance,
    },
    Row {
        name: "$denseRank",
        help: "the place in the order; ties share one and none is left out",
        windowed: false,
        sorted: Sorted::One,
        parse: rank::dense,
    },
    Row {
        name: "$derivative",
        help: "the change from first to last by what they are sorted by: {input, unit}",
        windowed: true,
        sorted: Sorted::One,
        parse: series::derivative,
    },
    Row {
        name: "$documentNumber",
        help: "the place in the order, counted",
        windowed: false,
        sorted: Sorted::One,
        parse: rank::number,
    },
    Row {
        name: "$expMovingAvg",
        help: "the mean in which older values count less: {input, N or alpha}",
        windowed: false,
        sorted: Sorted::Some,
        parse: series::moving,
    },
    Row {
        name: "$integral",
        help: "the area under the values: {input, unit}",
        windowed: true,
        sorted: Sorted::One,
        parse: series::integral,
    },
    Row {
        name: "$linearFill",
        help: "null and missing values filled on the line between their neighbours",
        windowed: false,
        sorted: Sorted::One,
        parse: series::linear_fill,
    },
    Row {
        name: "$locf",
        help: "null and missing values filled with the last one before",
        windowed: false,
        sorted: Sorted::Some,
        parse: series::carry,
    },
    Row {
        name: "$rank",
        help: "the place in the order; ties share one and the next is left out",
        windowed: false,
        sorted: Sorted::One,
        parse: rank::rank,
    },
    Row {
        name: "$shift",
        help: "the value of the document so many places on: {output, by, default}",
        windowed: false,
        sorted: Sorted::Some,
        parse: rank::shift,
    },
];

/// Accumulators that no window has.
const NOT_HERE: &[&str] = &["$mergeObjects"];

/// One compiled function.
#[derive(Debug)]
pub(super) enum Function {
    /// An accumulator, over its window.
    Accumulated(Box<Accumulator>, Bounds),
    /// One of [`FUNCTIONS`].
    Own(Box<dyn Values>),
}

impl Function {
    /// Compiles `{$function: argument, window: {...}}`.
    pub(super) fn parse(specification: &Document, sort: &Sort, scope: &Scope) -> Result<Self> {
        let mut named = None;
        let mut window = None;
        for (name, value) in specification {
            match name.as_str() {
                "window" => match value {
                    Bson::Document(value) => window = Some(value),
                    _ => return Err(failed("'window' field must be an object")),
                },
                _ if named.is_some() => {
                    return Err(failed(format!(
                        "Cannot specify two functions in window function spec: {}",
                        text::document(specification)
                    )));
                }
                _ => named = Some((name.as_str(), value)),
            }
        }
        let Some((name, argument)) = named.filter(|(name, _)| name.starts_with('$')) else {
            return Err(failed("Expected a $-prefixed window function"));
        };
        let bounds = window.map(|window| Bounds::parse(window, sort)).transpose()?;
        if let Some(row) = FUNCTIONS.iter().find(|row| row.name == name) {
            let keys = sort.keys().len();
            match row.sorted {
                Sorted::One if keys != 1 => {
                    return Err(refuse(
                        5_371_602,
                        format!(
                            "{name} must be specified with a top level sortBy expression with exactly one element"
                        ),
                    ));
                }
                Sorted::Some if keys == 0 => {
                    return Err(refuse(5_371_602, format!("{name} requires a sortBy")));
                }
                Sorted::Any | Sorted::Some | Sorted::One => {}
            }
            if !row.windowed && bounds.is_some() {
                return Err(refuse(5_371_601, format!("{name} does not accept a 'window' field")));
            }
            let bounds = bounds.unwrap_or(Bounds::WHOLE);
            return Ok(Self::Own((row.parse)(row.name, argument, bounds, scope)?));
        }
        let known = crate::engine::expr::ACCUMULATORS.iter().any(|row| row.name == name);
        if !known || NOT_HERE.contains(&name) {
            return Err(failed(format!("Unrecognized window function, {name}")));
        }
        let accumulator = Accumulator::parse(name, argument, scope)?;
        Ok(Self::Accumulated(Box::new(accumulator), bounds.unwrap_or(Bounds::WHOLE)))
    }

    /// One value for each document of the partition.
    pub(super) fn values(&self, frame: Frame<'_>) -> Result<Column> {
        match self {
            Self::Own(function) => function.values(frame),
            Self::Accumulated(accumulator, bounds) => accumulated(accumulator, bounds, frame),
        }
    }
}

fn accumulated(accumulator: &Accumulator, bounds: &Bounds, frame: Frame<'_>) -> Result<Column> {
    let Frame { partition, context, .. } = frame;
    let scope = &context.scope;
    let count = partition.documents.len();
    let start = || accumulator.start(&Bson::Null, scope);
    if *bounds == Bounds::WHOLE {
        let mut state = start()?;
        for document in &partition.documents {
            context.interrupt.check()?;
            accumulator.take(state.as_mut(), document, scope)?;
        }
        return Ok(vec![Some(state.finish()?); count]);
    }
    // A window that only grows is read once.
    let grows = match bounds {
        Bounds::Documents(lower, _) => *lower == Bound::Unbounded,
        Bounds::Range(ends, _) => ends.0 == Bound::Unbounded,
    };
    let mut column = Vec::with_capacity(count);
    let (mut state, mut taken) = (start()?, 0);
    for at in 0..count {
        let seen = bounds.of(partition, at)?;
        if !grows {
            (state, taken) = (start()?, seen.start);
        }
        while taken < seen.end {
            context.interrupt.check()?;
            accumulator.take(state.as_mut(), &partition.documents[taken], scope)?;
            taken += 1;
        }
        column.push(Some(if grows { state.value() } else { state.finish()? }));
    }
    Ok(column)
}

/// The value of an expression on every document of a partition; missing is `None`.
pub(super) fn evaluated(expression: &Expression, frame: Frame<'_>) -> Result<Column> {
    let documents = frame.partition.documents.iter();
    documents
        .map(|document| {
            frame.context.interrupt.check()?;
            expression.evaluate(document, &frame.context.scope)
        })
        .collect()
}
