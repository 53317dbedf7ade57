//! Time units: dates moved by them, counted in them, and cut down to them.

use bson::{Bson, DateTime};

use super::date;
use super::date_parts::zone;
use super::named::{kind, parameters, required, shown};
use super::zone::{UTC, Zone};
use super::{Arguments, Node, Operator, Parse, Parser};
use crate::error::{Code, Error, Result};
use crate::value::calendar::{self, DAY, Parts};
use crate::value::number::Number;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$dateAdd",
        arguments: (1, 1),
        help: "a date moved on: {startDate, unit, amount, timezone}",
        parse: Parse::Form(parse_move),
    },
    Operator {
        name: "$dateDiff",
        arguments: (1, 1),
        help: "how many unit boundaries lie between dates: {startDate, endDate, unit, timezone, startOfWeek}",
        parse: Parse::Form(parse_difference),
    },
    Operator {
        name: "$dateSubtract",
        arguments: (1, 1),
        help: "a date moved back: {startDate, unit, amount, timezone}",
        parse: Parse::Form(parse_move),
    },
    Operator {
        name: "$dateTrunc",
        arguments: (1, 1),
        help: "the beginning of a unit: {date, unit, binSize, timezone, startOfWeek}",
        parse: Parse::Form(parse_truncation),
    },
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn overflow(name: &str) -> Error {
    Error::command(Code::OVERFLOW, format!("date overflow in {name}"))
}

/// A unit of time: so many months, or so many milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// Months, quarters and years.
    Months(i64),
    /// Weeks.
    Week,
    /// Days, which begin at midnight where the clock is.
    Day,
    /// Hours and less.
    Millis(i64),
}

impl Unit {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "year" => Self::Months(12),
            "quarter" => Self::Months(3),
            "month" => Self::Months(1),
            "week" => Self::Week,
            "day" => Self::Day,
            "hour" => Self::Millis(3_600_000),
            "minute" => Self::Millis(60_000),
            "second" => Self::Millis(1_000),
            "millisecond" => Self::Millis(1),
            _ => return None,
        })
    }
}

/// The unit argument of `$dateDiff` and `$dateTrunc`.
fn unit(arguments: &Arguments<'_>, value: &Bson) -> Result<Unit> {
    let name = arguments.name;
    let Bson::String(text) = value else {
        return Err(refuse(
            5439013,
            format!("{name} requires 'unit' to be a string, but got {}", kind(Some(value))),
        ));
    };
    Unit::of(text).ok_or_else(|| {
        refuse(
            5439014,
            format!("{name} parameter 'unit' value cannot be recognized as a time unit: {text}"),
        )
    })
}

/// The first day of the week, 1 for Monday to 7 for Sunday, which is the default.
fn start_of_week(arguments: &Arguments<'_>, written: bool, value: Option<&Bson>) -> Result<i64> {
    const DAYS: [&str; 7] =
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let name = arguments.name;
    let text = match value {
        _ if !written => return Ok(7),
        Some(Bson::String(text)) => text.to_ascii_lowercase(),
        other => {
            let message =
                format!("{name} requires 'startOfWeek' to be a string, but got {}", kind(other));
            return Err(refuse(5439015, message));
        }
    };
    let found =
        DAYS.iter().position(|day| *day == text || text.len() == 3 && day.starts_with(&text));
    found.map(|at| at as i64 + 1).ok_or_else(|| {
        refuse(5439016, format!("{name} parameter 'startOfWeek' value cannot be recognized as a day of a week: {text}"))
    })
}

/// The arguments in their order; `None` stands for one that was not written, [`Node::Remove`] being its place.
fn compile(
    operator: &'static Operator,
    function: super::Function,
    values: &[Option<&Bson>],
    parser: &Parser<'_>,
) -> Result<Node> {
    let mut arguments = Vec::with_capacity(values.len() * 2);
    for value in values {
        arguments.push(value.map_or(Ok(Node::Remove), |value| parser.parse(value))?);
    }
    // Behind the values, whether each was written.
    arguments.extend(values.iter().map(|value| Node::Constant(Bson::Boolean(value.is_some()))));
    Ok(Node::Call { operator, function, arguments })
}

fn was_written(arguments: &Arguments<'_>, index: usize) -> bool {
    matches!(arguments.get(arguments.len() / 2 + index), Some(Bson::Boolean(true)))
}

fn parse_move(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let name = operator.name;
    let not_document = format!("{name} expects an object as its argument.found :{{}}");
    let unknown = format!(
        "Unrecognized argument to {name}: {{}}. Expected arguments are startDate, unit, amount, and optionally timezone."
    );
    let names = ["startDate", "unit", "amount", "timezone"];
    let found = parameters(argument, names, (5166400, &not_document), (5166401, &unknown))?;
    let missing = format!("{name} requires startDate, unit, and amount to be present");
    for value in &found[..3] {
        required(*value, 5166402, &missing)?;
    }
    compile(operator, moved, &found, parser)
}

fn moved(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let name = arguments.name;
    let Some(zone) = zone(was_written(arguments, 3), arguments.get(3))? else { return NULL };
    let (Some(start), Some(unit), Some(amount)) =
        (arguments.present(0), arguments.present(1), arguments.present(2))
    else {
        return NULL;
    };
    let Some(start) = date::try_millis(start) else {
        return Err(refuse(
            5166403,
            format!("{name} requires startDate to be convertible to a date"),
        ));
    };
    let Bson::String(unit) = unit else {
        return Err(refuse(5166404, format!("{name} expects string defining the time unit")));
    };
    let unknown =
        || Error::command(Code::FAILED_TO_PARSE, format!("unknown time unit value: {unit}"));
    let unit = Unit::of(unit).ok_or_else(unknown)?;
    let Some(amount) = Number::of(amount).and_then(Number::integral) else {
        return Err(refuse(5166405, format!("{name} expects integer amount of time units")));
    };
    let amount = if name == "$dateSubtract" { amount.checked_neg() } else { Some(amount) };
    let moved = amount.and_then(|amount| shift(start, unit, amount, zone));
    Ok(Some(Bson::DateTime(DateTime::from_millis(moved.ok_or_else(|| overflow(name))?))))
}

/// A moment, in milliseconds, so many units of this name later, in universal time; `None` for an unknown unit and where
/// the dates end.
pub(crate) fn move_date(millis: i64, unit: &str, amount: i64) -> Option<i64> {
    shift(millis, Unit::of(unit)?, amount, UTC)
}

/// A moment so many units later.
fn shift(start: i64, unit: Unit, amount: i64, zone: Zone) -> Option<i64> {
    let local = zone.local(start);
    match unit {
        Unit::Millis(size) => start.checked_add(amount.checked_mul(size)?),
        Unit::Day => Some(zone.utc(local.checked_add(amount.checked_mul(DAY)?)?)),
        Unit::Week => Some(zone.utc(local.checked_add(amount.checked_mul(7 * DAY)?)?)),
        Unit::Months(size) => {
            let parts = calendar::parts_of(local);
            let months = parts
                .year
                .checked_mul(12)?
                .checked_add(parts.month - 1)?
                .checked_add(amount.checked_mul(size)?)?;
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
            // The 31st of a shorter month is its last day.
            let day = parts.day.min(calendar::days_in_month(year, month));
            Some(zone.utc(calendar::millis_of(Parts { year, month, day, ..parts })?))
        }
    }
}

fn parse_difference(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (5166301, "$dateDiff only supports an object as its argument");
    let unknown = (5166302, "Unrecognized argument to $dateDiff: {}");
    let names = ["startDate", "endDate", "unit", "timezone", "startOfWeek"];
    let found = parameters(argument, names, not_document, unknown)?;
    required(found[0], 5166303, "Missing 'startDate' parameter to $dateDiff")?;
    required(found[1], 5166304, "Missing 'endDate' parameter to $dateDiff")?;
    required(found[2], 5166305, "Missing 'unit' parameter to $dateDiff")?;
    compile(operator, difference, &found, parser)
}

fn difference(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(zone) = zone(was_written(arguments, 3), arguments.get(3))? else { return NULL };
    let (Some(start), Some(end), Some(of)) =
        (arguments.present(0), arguments.present(1), arguments.present(2))
    else {
        return NULL;
    };
    let unit = unit(arguments, of)?;
    let moment = |value: &Bson, which| {
        date::try_millis(value).ok_or_else(|| {
            let found = kind(Some(value));
            refuse(5166307, format!("$dateDiff requires '{which}' to be a date, but got {found}"))
        })
    };
    let (start, end) =
        (zone.local(moment(start, "startDate")?), zone.local(moment(end, "endDate")?));
    let first = match unit {
        Unit::Week if was_written(arguments, 4) && arguments.present(4).is_none() => return NULL,
        Unit::Week => start_of_week(arguments, was_written(arguments, 4), arguments.get(4))?,
        _ => 7,
    };
    let months = |local| {
        let parts = calendar::parts_of(local);
        parts.year * 12 + parts.month - 1
    };
    let index = |local: i64| match unit {
        Unit::Months(size) => months(local).div_euclid(size),
        // 1970-01-01, day 0, was a Thursday, the fourth day.
        Unit::Week => (local.div_euclid(DAY) + 4 - first).div_euclid(7),
        Unit::Day => local.div_euclid(DAY),
        Unit::Millis(size) => local.div_euclid(size),
    };
    let difference = index(end).checked_sub(index(start)).ok_or_else(|| overflow("$dateDiff"))?;
    Ok(Some(Bson::Int64(difference)))
}

fn parse_truncation(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (5439007, "$dateTrunc only supports an object as its argument");
    let unknown = (5439008, "Unrecognized argument to $dateTrunc: {}");
    let names = ["date", "unit", "binSize", "timezone", "startOfWeek"];
    let found = parameters(argument, names, not_document, unknown)?;
    required(found[0], 5439009, "Missing 'date' parameter to $dateTrunc")?;
    required(found[1], 5439010, "Missing 'unit' parameter to $dateTrunc")?;
    compile(operator, truncate, &found, parser)
}

/// 2000-01-01, from which bins of several units are counted.
const REFERENCE: i64 = 946_684_800_000;

fn truncate(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(zone) = zone(was_written(arguments, 3), arguments.get(3))? else { return NULL };
    let (Some(moment), Some(of)) = (arguments.present(0), arguments.present(1)) else {
        return NULL;
    };
    let unit = unit(arguments, of)?;
    let size = match (was_written(arguments, 2), arguments.present(2)) {
        (false, _) => 1,
        (true, None) => return NULL,
        (true, Some(value)) => {
            let Some(size) = Number::of(value).and_then(Number::integral) else {
                let (found, value) = (kind(Some(value)), shown(Some(value)));
                let message = format!(
                    "$dateTrunc requires 'binSize' to be a 64-bit integer, but got value '{value}' of type {found}"
                );
                return Err(refuse(5439017, message));
            };
            if size <= 0 {
                let message = format!(
                    "$dateTrunc requires 'binSize' to be greater than 0, but got value {size}"
                );
                return Err(refuse(5439018, message));
            }
            size
        }
    };
    let first = match unit {
        Unit::Week if was_written(arguments, 4) && arguments.present(4).is_none() => return NULL,
        Unit::Week => start_of_week(arguments, was_written(arguments, 4), arguments.get(4))?,
        _ => 7,
    };
    let Some(millis) = date::try_millis(moment) else {
        let found = kind(Some(moment));
        return Err(refuse(
            5439012,
            format!("$dateTrunc requires 'date' to be a date, but got {found}"),
        ));
    };
    let local = zone.local(millis);
    let floor = |value: i64, bin: Option<i64>, from: i64| {
        let bin = bin?;
        value.checked_sub(from)?.div_euclid(bin).checked_mul(bin)?.checked_add(from)
    };
    let truncated = match unit {
        Unit::Months(months) => {
            let parts = calendar::parts_of(local);
            let bin = months.checked_mul(size);
            floor(parts.year * 12 + parts.month - 1, bin, 2000 * 12).and_then(|months| {
                let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
                calendar::millis_of(Parts {
                    year,
                    month,
                    day: 1,
                    hour: 0,
                    minute: 0,
                    second: 0,
                    millisecond: 0,
                })
            })
        }
        Unit::Week => {
            // The first such day of the week from 2000-01-01, a Saturday, on.
            let from = REFERENCE + (first - 6).rem_euclid(7) * DAY;
            floor(local, size.checked_mul(7 * DAY), from)
        }
        Unit::Day => floor(local, size.checked_mul(DAY), REFERENCE),
        Unit::Millis(unit) => floor(local, size.checked_mul(unit), REFERENCE),
    };
    let truncated = truncated.ok_or_else(|| overflow("$dateTrunc"))?;
    Ok(Some(Bson::DateTime(DateTime::from_millis(zone.utc(truncated)))))
}

#[cfg(test)]
mod tests {
    use bson::{Document, bson};

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        Expression::parse(&expression, &scope)?.evaluate(&Document::new(), &scope)
    }

    fn day(text: &str) -> Bson {
        Bson::DateTime(date::parse_text(text).unwrap())
    }

    #[test]
    fn dates_move_by_units_and_stay_in_the_month() {
        let add = |start: &str, unit: &str, amount: i32| {
            value(
                bson!({ "$dateAdd": { "startDate": day(start), "unit": unit, "amount": amount } }),
            )
        };
        assert_eq!(add("2020-10-31", "month", 1), Ok(Some(day("2020-11-30"))));
        assert_eq!(add("2020-02-29", "year", -1), Ok(Some(day("2019-02-28"))));
        assert_eq!(
            add("2020-12-31T12:00:00Z", "quarter", 2),
            Ok(Some(day("2021-06-30T12:00:00Z")))
        );
        assert_eq!(add("2020-12-31", "week", 1), Ok(Some(day("2021-01-07"))));
        assert_eq!(add("2020-12-31", "hour", 36), Ok(Some(day("2021-01-01T12:00:00Z"))));
        assert_eq!(
            add("2020-12-31", "eon", 1).unwrap_err().to_string(),
            "unknown time unit value: eon"
        );
        let back = value(
            bson!({ "$dateSubtract": { "startDate": day("2021-03-31"), "unit": "month", "amount": 1 } }),
        );
        assert_eq!(back, Ok(Some(day("2021-02-28"))));
        let far = value(
            bson!({ "$dateAdd": { "startDate": day("2021-03-31"), "unit": "year", "amount": i64::MAX } }),
        );
        assert_eq!(far.unwrap_err().code(), Some(Code::OVERFLOW));
    }

    #[test]
    fn differences_count_boundaries() {
        let between = |start: &str, end: &str, unit: &str| {
            value(
                bson!({ "$dateDiff": { "startDate": day(start), "endDate": day(end), "unit": unit } }),
            )
        };
        // The manual: one second apart, yet a year, a month and a day boundary is crossed.
        for unit in ["year", "quarter", "month", "day", "hour", "minute", "second"] {
            let found = between("2020-12-31T23:59:59Z", "2021-01-01T00:00:00Z", unit);
            assert_eq!(found, Ok(Some(Bson::Int64(1))), "{unit}");
        }
        assert_eq!(between("2021-01-02", "2021-01-03", "week"), Ok(Some(Bson::Int64(1))));
        assert_eq!(between("2021-01-03", "2021-01-09", "week"), Ok(Some(Bson::Int64(0))));
        assert_eq!(between("2021-03-01", "2021-02-01", "day"), Ok(Some(Bson::Int64(-28))));
        let monday = value(bson!({ "$dateDiff": {
            "startDate": day("2021-01-03"), "endDate": day("2021-01-04"), "unit": "week", "startOfWeek": "Monday",
        } }));
        assert_eq!(monday, Ok(Some(Bson::Int64(1))));
    }

    #[test]
    fn dates_are_cut_to_the_beginning_of_a_unit() {
        let trunc = |argument: Bson| value(bson!({ "$dateTrunc": argument }));
        let moment = day("2021-03-20T11:30:05Z");
        for (unit, expected) in [
            ("year", "2021-01-01"),
            ("quarter", "2021-01-01"),
            ("month", "2021-03-01"),
            ("week", "2021-03-14"),
            ("day", "2021-03-20"),
            ("hour", "2021-03-20T11:00:00Z"),
            ("minute", "2021-03-20T11:30:00Z"),
        ] {
            assert_eq!(
                trunc(bson!({ "date": moment.clone(), "unit": unit })),
                Ok(Some(day(expected))),
                "{unit}"
            );
        }
        // The manual's examples: two-hour bins, and weeks from Monday.
        let bins = bson!({ "date": moment.clone(), "unit": "hour", "binSize": 2 });
        assert_eq!(trunc(bins), Ok(Some(day("2021-03-20T10:00:00Z"))));
        let monday = bson!({ "date": moment.clone(), "unit": "week", "startOfWeek": "monday" });
        assert_eq!(trunc(monday), Ok(Some(day("2021-03-15"))));
        assert_eq!(
            trunc(bson!({ "date": moment, "unit": "day", "binSize": 0 })).unwrap_err().code(),
            Some(Code(5439018))
        );
    }
}
