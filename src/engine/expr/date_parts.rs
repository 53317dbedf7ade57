//! Parts of dates, dates from parts, and dates as text.

use std::borrow::Cow;

use bson::{Bson, DateTime, doc};

use super::date;
use super::named::{kind, parameters, required, shown};
use super::zone::{UTC, Zone};
use super::{Arguments, Form, Node, Operator, Parse, Parser, Place, Value};
use crate::error::{Code, Error, Result};
use crate::value::calendar::{self, Parts};
use crate::value::number::Number;

/// The row of an operator that takes one part of a date.
const fn part(name: &'static str, help: &'static str) -> Operator {
    Operator { name, arguments: (1, 1), help, parse: Parse::Form(parse_part) }
}

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$dateFromParts",
        arguments: (1, 1),
        help: "a date from its parts: {year, month, day, hour, minute, second, millisecond, timezone}",
        parse: Parse::Form(parse_from_parts),
    },
    Operator {
        name: "$dateFromString",
        arguments: (1, 1),
        help: "a date from text: {dateString, format, timezone, onError, onNull}",
        parse: Parse::Form(parse_from_string),
    },
    Operator {
        name: "$dateToParts",
        arguments: (1, 1),
        help: "a document of a date's parts: {date, timezone, iso8601}",
        parse: Parse::Form(parse_to_parts),
    },
    Operator {
        name: "$dateToString",
        arguments: (1, 1),
        help: "a date as text: {date, format, timezone, onNull}",
        parse: Parse::Form(parse_to_string),
    },
    part("$dayOfMonth", "the day of the month, 1 to 31"),
    part("$dayOfWeek", "the day of the week, 1 (Sunday) to 7"),
    part("$dayOfYear", "the day of the year, 1 to 366"),
    part("$hour", "the hour, 0 to 23"),
    part("$isoDayOfWeek", "the day of the ISO week, 1 (Monday) to 7"),
    part("$isoWeek", "the ISO week, 1 to 53"),
    part("$isoWeekYear", "the year that the ISO week belongs to"),
    part("$millisecond", "the millisecond, 0 to 999"),
    part("$minute", "the minute, 0 to 59"),
    part("$month", "the month, 1 to 12"),
    part("$second", "the second, 0 to 59"),
    Operator {
        name: "$tsIncrement",
        arguments: (1, 1),
        help: "the counter of a timestamp",
        parse: Parse::Call(timestamp_increment),
    },
    Operator {
        name: "$tsSecond",
        arguments: (1, 1),
        help: "the seconds of a timestamp",
        parse: Parse::Call(timestamp_second),
    },
    part("$week", "the week of the year from 0, weeks beginning on Sunday"),
    part("$year", "the year"),
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn is_nullish(value: Option<&Bson>) -> bool {
    matches!(value, None | Some(Bson::Null | Bson::Undefined))
}

fn int(number: i64) -> Bson {
    Number::from_i64(number).into()
}

/// An optional `timezone` argument: UTC when it was not written, `None` when it is null.
pub(super) fn zone(written: bool, value: Option<&Bson>) -> Result<Option<Zone>> {
    match value {
        _ if !written => Ok(Some(UTC)),
        None | Some(Bson::Null | Bson::Undefined) => Ok(None),
        Some(Bson::String(name)) => Zone::parse(name).map(Some),
        other => {
            Err(refuse(40517, format!("timezone must evaluate to a string, found {}", kind(other))))
        }
    }
}

fn parse_part(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let name = operator.name;
    let mut arguments = Vec::with_capacity(2);
    match argument {
        Bson::Document(document)
            if !document.keys().next().is_some_and(|first| first.starts_with('$')) =>
        {
            let unknown = format!("unrecognized option to {name}: \"{{}}\"");
            let [moment, timezone] =
                parameters(argument, ["date", "timezone"], (40539, ""), (40535, &unknown))?;
            let missing = format!(
                "missing 'date' argument to {name}, provided: {}",
                crate::value::text::document(document)
            );
            arguments.push(parser.parse(required(moment, 40539, &missing)?)?);
            if let Some(timezone) = timezone {
                arguments.push(parser.parse(timezone)?);
            }
        }
        Bson::Array(elements) if elements.len() != 1 => {
            let message = format!(
                "{name} accepts exactly one argument if given an array, but was given {}",
                elements.len()
            );
            return Err(refuse(40536, message));
        }
        Bson::Array(elements) => {
            for element in elements {
                arguments.push(parser.parse(element)?);
            }
        }
        single => arguments.push(parser.parse(single)?),
    }
    Ok(Node::Call { operator, function: take_part, arguments })
}

fn take_part(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(moment) = arguments.present(0) else { return NULL };
    let millis = date::millis(moment)?;
    let Some(zone) = zone(arguments.len() > 1, arguments.get(1))? else { return NULL };
    let local = zone.local(millis);
    let parts = calendar::parts_of(local);
    Ok(Some(int(match arguments.name {
        "$dayOfMonth" => parts.day,
        "$dayOfWeek" => calendar::iso_weekday(local) % 7 + 1,
        "$dayOfYear" => calendar::day_of_year(local),
        "$hour" => parts.hour,
        "$isoDayOfWeek" => calendar::iso_weekday(local),
        "$isoWeek" => calendar::iso_week(local).1,
        // The server has a long here, and an int for every other part.
        "$isoWeekYear" => return Ok(Some(Bson::Int64(calendar::iso_week(local).0))),
        "$millisecond" => parts.millisecond,
        "$minute" => parts.minute,
        "$month" => parts.month,
        "$second" => parts.second,
        "$week" => calendar::week(local),
        _ => parts.year,
    })))
}

fn timestamp(arguments: &Arguments<'_>, code: i32) -> Result<Option<bson::Timestamp>> {
    match arguments.present(0) {
        None => Ok(None),
        Some(Bson::Timestamp(timestamp)) => Ok(Some(*timestamp)),
        other => {
            let (name, found) = (arguments.name, kind(other));
            Err(refuse(code, format!(" Argument to {name} must be a timestamp, but is {found}")))
        }
    }
}

fn timestamp_second(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(
        timestamp(arguments, 5687301)?.map_or(Bson::Null, |stamp| Bson::Int64(stamp.time.into())),
    ))
}

fn timestamp_increment(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(
        timestamp(arguments, 5687302)?
            .map_or(Bson::Null, |stamp| Bson::Int64(stamp.increment.into())),
    ))
}

fn parse_to_string(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (18629, "$dateToString only supports an object as its argument");
    let unknown = (18534, "Unrecognized argument to $dateToString: {}");
    let names = ["date", "format", "timezone", "onNull"];
    let [moment, format, timezone, on_null] = parameters(argument, names, not_document, unknown)?;
    let moment =
        parser.parse(required(moment, 18628, "Missing 'date' parameter to $dateToString")?)?;
    if let Some(Bson::String(format)) = format.filter(|format| !is_reference(format)) {
        date::check_format(format, false)?;
    }
    let optional = |value: Option<&Bson>| value.map(|value| parser.parse(value)).transpose();
    let form = ToString {
        moment,
        format: optional(format)?,
        timezone: optional(timezone)?,
        on_null: optional(on_null)?,
    };
    Ok(Node::Form(Box::new(form)))
}

fn is_reference(value: &Bson) -> bool {
    value.as_str().is_some_and(|text| text.starts_with('$'))
}

/// `$dateToString`.
#[derive(Debug)]
struct ToString {
    moment: Node,
    format: Option<Node>,
    timezone: Option<Node>,
    on_null: Option<Node>,
}

/// The value of an optional expression.
fn optional(node: Option<&Node>, place: &Place<'_>) -> Result<Option<Bson>> {
    node.map_or(Ok(None), |node| node.value(place))
}

impl Form for ToString {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let null = || match &self.on_null {
            Some(node) => node.evaluate(place),
            None => Ok(Some(Cow::Owned(Bson::Null))),
        };
        let format = optional(self.format.as_ref(), place)?;
        let zone =
            zone(self.timezone.is_some(), optional(self.timezone.as_ref(), place)?.as_ref())?;
        let moment = self.moment.value(place)?;
        if self.format.is_some() && is_nullish(format.as_ref()) {
            return Ok(Some(Cow::Owned(Bson::Null)));
        }
        let format = match &format {
            None if zone.is_none_or(|zone| zone == UTC) => "%Y-%m-%dT%H:%M:%S.%LZ",
            None => "%Y-%m-%dT%H:%M:%S.%L",
            Some(Bson::String(format)) => format.as_str(),
            other => {
                let (found, value) = (kind(other.as_ref()), shown(other.as_ref()));
                let message = format!(
                    "$dateToString requires that 'format' be a string, found: {found} with value {value}"
                );
                return Err(refuse(18533, message));
            }
        };
        date::check_format(format, false)?;
        let Some(zone) = zone else { return Ok(Some(Cow::Owned(Bson::Null))) };
        let Some(moment) = moment.filter(|moment| !is_nullish(Some(moment))) else { return null() };
        Ok(Some(Cow::Owned(Bson::String(date::write(date::millis(&moment)?, zone, format)?))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        let others = [self.format.as_mut(), self.timezone.as_mut(), self.on_null.as_mut()];
        std::iter::once(&mut self.moment).chain(others.into_iter().flatten()).collect()
    }
}

fn parse_from_string(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (40540, "$dateFromString only supports an object as an argument, found: {}");
    let unknown = (40541, "Unrecognized argument to $dateFromString: {}");
    let names = ["dateString", "format", "timezone", "onError", "onNull"];
    let [text, format, timezone, on_error, on_null] =
        parameters(argument, names, not_document, unknown)?;
    let text = parser.parse(required(
        text,
        40542,
        "Missing 'dateString' parameter to $dateFromString",
    )?)?;
    if let Some(Bson::String(format)) = format.filter(|format| !is_reference(format)) {
        date::check_format(format, true)?;
    }
    let optional = |value: Option<&Bson>| value.map(|value| parser.parse(value)).transpose();
    let (format, timezone) = (optional(format)?, optional(timezone)?);
    let (on_error, on_null) = (optional(on_error)?, optional(on_null)?);
    Ok(Node::Form(Box::new(FromString { text, format, timezone, on_error, on_null })))
}

/// `$dateFromString`.
#[derive(Debug)]
struct FromString {
    text: Node,
    format: Option<Node>,
    timezone: Option<Node>,
    on_error: Option<Node>,
    on_null: Option<Node>,
}

impl FromString {
    /// The date; `None` where null is to be given.
    fn read(&self, text: &Bson, place: &Place<'_>) -> Result<Option<DateTime>> {
        let format = optional(self.format.as_ref(), place)?;
        if self.format.is_some() && is_nullish(format.as_ref()) {
            return Ok(None);
        }
        let zone =
            zone(self.timezone.is_some(), optional(self.timezone.as_ref(), place)?.as_ref())?;
        let Some(zone) = zone else { return Ok(None) };
        let Bson::String(text) = text else {
            let (found, value) = (kind(Some(text)), shown(Some(text)));
            let message = format!(
                "$dateFromString requires that 'dateString' be a string, found: {found} with value {value}"
            );
            return Err(Error::command(Code::CONVERSION_FAILURE, message));
        };
        let read = match &format {
            None => date::parse_local(text),
            Some(Bson::String(format)) => {
                date::check_format(format, true)?;
                date::parse_format(text, format)
            }
            other => {
                let (found, value) = (kind(other.as_ref()), shown(other.as_ref()));
                let message = format!(
                    "$dateFromString requires that 'format' be a string, found: {found} with value {value}"
                );
                return Err(refuse(40684, message));
            }
        };
        let failed = |reason| {
            Error::command(
                Code::CONVERSION_FAILURE,
                format!("Error parsing date string '{text}'; {reason}"),
            )
        };
        match read.map_err(failed)? {
            (_, Some(_)) if self.timezone.is_some() && zone != UTC => Err(Error::command(
                Code::CONVERSION_FAILURE,
                "you cannot pass in a date/time string with time zone information ('Z' or an offset) together with a timezone \
                 argument",
            )),
            (local, found) => Ok(Some(DateTime::from_millis(found.unwrap_or(zone).utc(local)))),
        }
    }
}

impl Form for FromString {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let Some(text) = self.text.value(place)?.filter(|text| !is_nullish(Some(text))) else {
            return match &self.on_null {
                Some(node) => node.evaluate(place),
                None => Ok(Some(Cow::Owned(Bson::Null))),
            };
        };
        match (self.read(&text, place), &self.on_error) {
            (Err(error), Some(node)) if error.code() == Some(Code::CONVERSION_FAILURE) => {
                node.evaluate(place)
            }
            (read, _) => Ok(Some(Cow::Owned(read?.map_or(Bson::Null, Bson::DateTime)))),
        }
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        let others = [
            self.format.as_mut(),
            self.timezone.as_mut(),
            self.on_error.as_mut(),
            self.on_null.as_mut(),
        ];
        std::iter::once(&mut self.text).chain(others.into_iter().flatten()).collect()
    }
}

fn parse_to_parts(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (40524, "$dateToParts only supports an object as its argument");
    let unknown = (40520, "Unrecognized argument to $dateToParts: {}");
    let [moment, timezone, iso] =
        parameters(argument, ["date", "timezone", "iso8601"], not_document, unknown)?;
    let moment =
        parser.parse(required(moment, 40522, "Missing 'date' parameter to $dateToParts")?)?;
    let timezone =
        timezone.map_or(Ok(Node::Constant("UTC".into())), |timezone| parser.parse(timezone))?;
    let iso = iso.map_or(Ok(Node::Constant(false.into())), |iso| parser.parse(iso))?;
    Ok(Node::Call { operator, function: to_parts, arguments: vec![moment, timezone, iso] })
}

fn to_parts(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(zone) = zone(true, arguments.get(1))? else { return NULL };
    let iso = match arguments.present(2) {
        None => return NULL,
        Some(Bson::Boolean(iso)) => *iso,
        other => {
            let message = format!("iso8601 must evaluate to a bool, found {}", kind(other));
            return Err(refuse(40521, message));
        }
    };
    let Some(moment) = arguments.present(0) else { return NULL };
    let local = zone.local(date::millis(moment)?);
    let parts = calendar::parts_of(local);
    let mut document = if iso {
        let (year, week) = calendar::iso_week(local);
        doc! { "isoWeekYear": int(year), "isoWeek": int(week), "isoDayOfWeek": int(calendar::iso_weekday(local)) }
    } else {
        doc! { "year": int(parts.year), "month": int(parts.month), "day": int(parts.day) }
    };
    for (name, part) in [
        ("hour", parts.hour),
        ("minute", parts.minute),
        ("second", parts.second),
        ("millisecond", parts.millisecond),
    ] {
        document.insert(name, int(part));
    }
    Ok(Some(Bson::Document(document)))
}

/// The parts of `$dateFromParts` in the order in which they are evaluated.
const PARTS: [&str; 11] = [
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "millisecond",
    "isoWeekYear",
    "isoWeek",
    "isoDayOfWeek",
    "timezone",
];

fn parse_from_parts(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (40519, "$dateFromParts only supports an object as its argument");
    let unknown = (40518, "Unrecognized argument to $dateFromParts: {}");
    let found = parameters(argument, PARTS, not_document, unknown)?;
    let written = |names: &[&str]| {
        PARTS.iter().zip(&found).any(|(name, value)| value.is_some() && names.contains(name))
    };
    if !written(&["year", "isoWeekYear"]) {
        return Err(refuse(
            40516,
            "$dateFromParts requires either 'year' or 'isoWeekYear' to be present",
        ));
    }
    if written(&["year", "month", "day"]) && written(&["isoWeekYear", "isoWeek", "isoDayOfWeek"]) {
        let message = "$dateFromParts does not allow mixing natural dates with ISO dates";
        return Err(refuse(if written(&["year"]) { 40489 } else { 40525 }, message));
    }
    let defaults = PARTS.iter().map(|name| match *name {
        "year" | "isoWeekYear" => Node::Remove,
        "month" | "day" | "isoWeek" | "isoDayOfWeek" => Node::Constant(Bson::Int32(1)),
        "timezone" => Node::Constant("UTC".into()),
        _ => Node::Constant(Bson::Int32(0)),
    });
    let arguments = found
        .iter()
        .zip(defaults)
        .map(|(value, default)| value.map_or(Ok(default), |value| parser.parse(value)));
    let arguments = arguments.collect::<Result<Vec<_>>>()?;
    let function = if written(&["isoWeekYear"]) { from_iso_parts } else { from_parts };
    Ok(Node::Call { operator, function, arguments })
}

/// The integer parts at these places; `None` when one is null.
fn integers<const N: usize>(
    arguments: &Arguments<'_>,
    places: [usize; N],
) -> Result<Option<[i64; N]>> {
    let mut integers = [0; N];
    for (integer, at) in integers.iter_mut().zip(places) {
        let Some(value) = arguments.present(at) else { return Ok(None) };
        let name = PARTS[at];
        let Some(number) = Number::of(value).and_then(Number::integral) else {
            let (found, value) = (kind(Some(value)), shown(Some(value)));
            return Err(refuse(
                40515,
                format!("'{name}' must evaluate to an integer, found {found} with value {value}"),
            ));
        };
        let (least, most) =
            if name == "year" || name == "isoWeekYear" { (1, 9999) } else { (-32768, 32767) };
        let wide = matches!(name, "second" | "millisecond");
        if !wide && !(least..=most).contains(&number) {
            let message = format!(
                "'{name}' must evaluate to a value in the range [{least}, {most}], found {number}"
            );
            return Err(refuse(if least == 1 { 40523 } else { 31034 }, message));
        }
        *integer = number;
    }
    Ok(Some(integers))
}

fn from_local(local: Option<i64>, arguments: &Arguments<'_>) -> Result<Option<Bson>> {
    let Some(zone) = zone(true, arguments.get(10))? else { return NULL };
    let local =
        local.ok_or_else(|| Error::command(Code::OVERFLOW, "date overflow in $dateFromParts"))?;
    Ok(Some(Bson::DateTime(DateTime::from_millis(zone.utc(local)))))
}

fn from_parts(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some([year, month, day, hour, minute, second, millisecond]) =
        integers(arguments, [0, 1, 2, 3, 4, 5, 6])?
    else {
        return NULL;
    };
    from_local(
        calendar::millis_of(Parts { year, month, day, hour, minute, second, millisecond }),
        arguments,
    )
}

fn from_iso_parts(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some([year, week, day, hour, minute, second, millisecond]) =
        integers(arguments, [7, 8, 9, 3, 4, 5, 6])?
    else {
        return NULL;
    };
    let time = calendar::millis_of(Parts {
        year: 1970,
        month: 1,
        day: 1,
        hour,
        minute,
        second,
        millisecond,
    });
    let date = calendar::millis_of_iso(year, week, day);
    from_local(date.zip(time).and_then(|(date, time)| date.checked_add(time)), arguments)
}

#[cfg(test)]
mod tests {
    use bson::bson;

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        // The manual's date for these operators: 2014-01-01T08:15:39.736Z.
        let document = doc! { "date": DateTime::from_millis(1_388_564_139_736) };
        Expression::parse(&expression, &scope)?.evaluate(&document, &scope)
    }

    #[test]
    fn parts_of_the_manuals_date() {
        for (name, expected) in [
            ("$year", 2014),
            ("$month", 1),
            ("$dayOfMonth", 1),
            ("$hour", 8),
            ("$minute", 15),
            ("$second", 39),
            ("$millisecond", 736),
            ("$dayOfYear", 1),
            ("$dayOfWeek", 4),
            ("$week", 0),
            ("$isoWeek", 1),
            ("$isoDayOfWeek", 3),
        ] {
            assert_eq!(value(bson!({ name: "$date" })), Ok(Some(bson!(expected))), "{name}");
        }
        assert_eq!(
            value(bson!({ "$hour": { "date": "$date", "timezone": "-08:30" } })),
            Ok(Some(bson!(23)))
        );
        assert_eq!(value(bson!({ "$hour": ["$zz"] })), Ok(Some(Bson::Null)));
        let bad = value(bson!({ "$year": "x" })).unwrap_err();
        assert_eq!(
            (bad.code(), bad.to_string()),
            (Some(Code(16006)), "can't convert from BSON type string to Date".into())
        );
    }

    #[test]
    fn dates_as_text_and_back() {
        let text = |argument: Bson| value(bson!({ "$dateToString": argument }));
        assert_eq!(text(bson!({ "date": "$date" })), Ok(Some(bson!("2014-01-01T08:15:39.736Z"))));
        assert_eq!(
            text(bson!({ "date": "$date", "format": "%d/%m/%Y" })),
            Ok(Some(bson!("01/01/2014")))
        );
        assert_eq!(
            text(bson!({ "date": "$date", "timezone": "+01" })),
            Ok(Some(bson!("2014-01-01T09:15:39.736")))
        );
        assert_eq!(text(bson!({ "date": "$zz", "onNull": "none" })), Ok(Some(bson!("none"))));
        assert_eq!(
            text(bson!({ "date": "$date", "format": "%" })).unwrap_err().code(),
            Some(Code(18535))
        );
        let read = |argument: Bson| value(bson!({ "$dateFromString": argument }));
        let date = Bson::DateTime(DateTime::from_millis(1_388_564_139_736));
        assert_eq!(read(bson!({ "dateString": "2014-01-01T08:15:39.736Z" })), Ok(Some(date)));
        let at_noon = Bson::DateTime(DateTime::from_millis(1_388_577_600_000));
        assert_eq!(
            read(bson!({ "dateString": "2014-01-01T13:00:00", "timezone": "+0100" })),
            Ok(Some(at_noon))
        );
        assert_eq!(read(bson!({ "dateString": "soon", "onError": "bad" })), Ok(Some(bson!("bad"))));
        assert_eq!(
            read(bson!({ "dateString": "soon" })).unwrap_err().code(),
            Some(Code::CONVERSION_FAILURE)
        );
    }

    #[test]
    fn dates_from_parts_and_into_parts() {
        let from = |argument: Bson| value(bson!({ "$dateFromParts": argument }));
        let date = |text| Ok(Some(Bson::DateTime(date::parse_text(text).unwrap())));
        assert_eq!(
            from(bson!({ "year": 2017, "month": 2, "day": 8, "hour": 12 })),
            date("2017-02-08T12:00:00Z")
        );
        assert_eq!(
            from(bson!({ "year": 2017, "month": 14, "day": 1, "hour": 12 })),
            date("2018-02-01T12:00:00Z")
        );
        assert_eq!(
            from(bson!({ "isoWeekYear": 2017, "isoWeek": 6, "isoDayOfWeek": 3 })),
            date("2017-02-08")
        );
        assert_eq!(from(bson!({ "year": "$zz" })), Ok(Some(Bson::Null)));
        assert_eq!(from(bson!({ "year": 0 })).unwrap_err().code(), Some(Code(40523)));
        assert_eq!(
            value(bson!({ "$dateToParts": { "date": "$date" } })),
            Ok(Some(
                bson!({ "year": 2014, "month": 1, "day": 1, "hour": 8, "minute": 15, "second": 39, "millisecond": 736 })
            ))
        );
    }
}
