//! Arrays element by element: `$map`, `$filter`, `$reduce`, with a variable for the element, and `$sortArray`.

use std::borrow::Cow;

use bson::{Bson, Document};

use super::expression::truth;
use super::named::{kind, parameters, refused, required, shown};
use super::{Form, Node, Operator, Parse, Parser, Place, Value, check_variable_name};
use crate::engine::query::Sort;
use crate::error::{Code, Error, Result};
use crate::value::compare;
use crate::value::number::Number;
use crate::value::text;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$filter",
        arguments: (1, 1),
        help: "the elements for which a condition holds: {input, as, cond, limit}",
        parse: Parse::Form(parse_filter),
    },
    Operator {
        name: "$map",
        arguments: (1, 1),
        help: "an expression's value for each element: {input, as, in}",
        parse: Parse::Form(parse_map),
    },
    Operator {
        name: "$reduce",
        arguments: (1, 1),
        help: "one value from all elements: {input, initialValue, in}, with $$value and $$this",
        parse: Parse::Form(parse_reduce),
    },
    Operator {
        name: "$sortArray",
        arguments: (1, 1),
        help: "the elements in order: {input, sortBy}",
        parse: Parse::Form(parse_sort),
    },
];

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn null<'a>() -> Result<Value<'a>> {
    Ok(Some(Cow::Owned(Bson::Null)))
}

/// The elements of an evaluated input; `None` for null, an error of this code and these words for what is no array.
fn elements(value: Option<Bson>, code: i32, words: &str) -> Result<Option<Vec<Bson>>> {
    match value {
        None | Some(Bson::Null | Bson::Undefined) => Ok(None),
        Some(Bson::Array(elements)) => Ok(Some(elements)),
        Some(other) => Err(refused((code, words), kind(Some(&other)))),
    }
}

/// The name of the element's variable: `as`, or `this`.
fn variable(name: Option<&Bson>) -> Result<&str> {
    match name {
        None => Ok("this"),
        Some(Bson::String(name)) => check_variable_name(name, false).map(|()| name.as_str()),
        Some(other) => {
            let message =
                format!("Expected field \"as\" to be a string, but found: {}", kind(Some(other)));
            Err(Error::command(Code::TYPE_MISMATCH, message))
        }
    }
}

fn parse_map(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (16878, "$map only supports an object as its argument");
    let unknown = (16879, "Unrecognized parameter to $map: {}");
    let [input, name, body] = parameters(argument, ["input", "as", "in"], not_document, unknown)?;
    let input = required(input, 16880, "Missing 'input' parameter to $map")?;
    let body = required(body, 16882, "Missing 'in' parameter to $map")?;
    let input = parser.parse(input)?;
    let bound = parser.bind(variable(name)?);
    let body = parser.within(&bound).deeper()?.parse(body)?;
    Ok(Node::Form(Box::new(Map { input, body })))
}

/// `$map`.
#[derive(Debug)]
struct Map {
    input: Node,
    body: Node,
}

impl Form for Map {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let words = "input to $map must be an array not {}";
        let Some(elements) = elements(self.input.value(place)?, 16883, words)? else {
            return null();
        };
        let mut mapped = Vec::with_capacity(elements.len());
        for element in elements {
            place.scope.interrupt.check()?;
            let frame = place.bind(Some(Cow::Owned(element)));
            mapped.push(self.body.value(&place.within(&frame))?.unwrap_or(Bson::Null));
        }
        Ok(Some(Cow::Owned(Bson::Array(mapped))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input, &mut self.body]
    }
}

fn parse_filter(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (28646, "$filter only supports an object as its argument");
    let unknown = (28647, "Unrecognized parameter to $filter: {}");
    let names = ["input", "as", "cond", "limit"];
    let [input, name, condition, limit] = parameters(argument, names, not_document, unknown)?;
    let input = required(input, 28648, "Missing 'input' parameter to $filter")?;
    let condition = required(condition, 28650, "Missing 'cond' parameter to $filter")?;
    let input = parser.parse(input)?;
    let limit = limit.map(|limit| parser.parse(limit)).transpose()?;
    let bound = parser.bind(variable(name)?);
    let condition = parser.within(&bound).deeper()?.parse(condition)?;
    Ok(Node::Form(Box::new(Filter { input, condition, limit })))
}

/// `$filter`.
#[derive(Debug)]
struct Filter {
    input: Node,
    condition: Node,
    limit: Option<Node>,
}

impl Form for Filter {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let words = "input to $filter must be an array not {}";
        let Some(elements) = elements(self.input.value(place)?, 28651, words)? else {
            return null();
        };
        let limit = match &self.limit {
            None => usize::MAX,
            Some(limit) => most(limit.value(place)?)?,
        };
        let mut kept = Vec::new();
        for element in elements {
            place.scope.interrupt.check()?;
            let frame = place.bind(Some(Cow::Borrowed(&element)));
            let holds = truth(self.condition.evaluate(&place.within(&frame))?.as_deref());
            if holds {
                kept.push(element);
                if kept.len() == limit {
                    break;
                }
            }
        }
        Ok(Some(Cow::Owned(Bson::Array(kept))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        [&mut self.input, &mut self.condition].into_iter().chain(self.limit.as_mut()).collect()
    }
}

/// `$filter`'s limit; null is none.
fn most(limit: Option<Bson>) -> Result<usize> {
    if matches!(limit, None | Some(Bson::Null | Bson::Undefined)) {
        return Ok(usize::MAX);
    }
    let integer = limit.as_ref().and_then(Number::of).and_then(Number::integral);
    let Some(integer) = integer.and_then(|integer| i32::try_from(integer).ok()) else {
        let found = shown(limit.as_ref());
        return Err(refuse(
            327391,
            format!("$filter: limit must be represented as a 32-bit integral value: {found}"),
        ));
    };
    usize::try_from(integer)
        .ok()
        .filter(|limit| *limit > 0)
        .ok_or_else(|| refuse(327392, format!("$filter: limit must be greater than 0: {integer}")))
}

fn parse_reduce(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (40075, "$reduce requires an object as an argument, found: {}");
    let unknown = (40076, "$reduce found an unknown argument: {}");
    let names = ["input", "initialValue", "in"];
    let [input, initial, body] = parameters(argument, names, not_document, unknown)?;
    let input = required(input, 40077, "$reduce requires 'input' to be specified")?;
    let initial = required(initial, 40078, "$reduce requires 'initialValue' to be specified")?;
    let body = required(body, 40079, "$reduce requires 'in' to be specified")?;
    let (input, initial) = (parser.parse(input)?, parser.parse(initial)?);
    let this = parser.bind("this");
    let with_this = parser.within(&this);
    let value = with_this.bind("value");
    let body = with_this.within(&value).deeper()?.parse(body)?;
    Ok(Node::Form(Box::new(Reduce { input, initial, body })))
}

/// `$reduce`.
#[derive(Debug)]
struct Reduce {
    input: Node,
    initial: Node,
    body: Node,
}

impl Form for Reduce {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let input = self.input.value(place)?;
        if let Some(other) = input
            .as_ref()
            .filter(|value| !matches!(value, Bson::Array(_) | Bson::Null | Bson::Undefined))
        {
            let found = shown(Some(other));
            return Err(refuse(
                40080,
                format!("$reduce requires that 'input' be an array, found: {found}"),
            ));
        }
        let Some(Bson::Array(elements)) = input else { return null() };
        let mut value = self.initial.value(place)?;
        for element in elements {
            place.scope.interrupt.check()?;
            let this = place.bind(Some(Cow::Owned(element)));
            let with_this = place.within(&this);
            let so_far = with_this.bind(value.take().map(Cow::Owned));
            value = self.body.value(&with_this.within(&so_far))?;
        }
        Ok(value.map(Cow::Owned))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input, &mut self.initial, &mut self.body]
    }
}

fn parse_sort(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (2942500, "$sortArray requires an object as an argument, found: {}");
    let unknown = (2942501, "$sortArray found an unknown argument: {}");
    let [input, by] = parameters(argument, ["input", "sortBy"], not_document, unknown)?;
    let input = required(input, 2942502, "$sortArray requires 'input' to be specified")?;
    let by = required(by, 2942503, "$sortArray requires 'sortBy' to be specified")?;
    let order = match by {
        Bson::Document(pattern) => Order::Pattern(Sort::parse(pattern)?),
        other => match Number::of(other).and_then(Number::integral) {
            Some(1) => Order::Whole { descending: false },
            Some(-1) => Order::Whole { descending: true },
            _ => {
                let message =
                    format!("Illegal key in $sort specification: {}", text::element("", other));
                return Err(refuse(2942507, message));
            }
        },
    };
    Ok(Node::Form(Box::new(SortArray { input: parser.parse(input)?, order })))
}

/// `$sortArray`.
#[derive(Debug)]
struct SortArray {
    input: Node,
    order: Order,
}

/// By whole elements, or by fields of theirs.
#[derive(Debug)]
enum Order {
    Whole { descending: bool },
    Pattern(Sort),
}

impl Form for SortArray {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let words = "The input argument to $sortArray must be an array, but was of type: {}";
        let Some(mut elements) = elements(self.input.value(place)?, 2942504, words)? else {
            return null();
        };
        match &self.order {
            Order::Whole { descending: false } => elements.sort_by(compare::compare),
            Order::Whole { descending: true } => {
                elements.sort_by(|left, right| compare::compare(right, left))
            }
            Order::Pattern(sort) => {
                let nothing = Document::new();
                let mut keyed = Vec::with_capacity(elements.len());
                for element in elements {
                    // What is no document has none of the fields.
                    let key = sort.key(element.as_document().unwrap_or(&nothing))?;
                    keyed.push((key.into_iter().cloned().collect::<Vec<Bson>>(), element));
                }
                keyed.sort_by(|(left, _), (right, _)| sort.compare_keys(left, right));
                elements = keyed.into_iter().map(|(_, element)| element).collect();
            }
        }
        Ok(Some(Cow::Owned(Bson::Array(elements))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        vec![&mut self.input]
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson, doc};

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson, document: Document) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        Expression::parse(&expression, &scope)?.evaluate(&document, &scope)
    }

    #[test]
    fn elements_are_mapped_filtered_and_reduced() {
        let document = doc! { "list": [1, 2, 3], "k": 10 };
        let map =
            bson!({ "$map": { "input": "$list", "as": "e", "in": { "$add": ["$$e", "$k"] } } });
        assert_eq!(value(map, document.clone()), Ok(Some(bson!([11, 12, 13]))));
        let filter = bson!({ "$filter": { "input": "$list", "cond": { "$gte": ["$$this", 2] } } });
        assert_eq!(value(filter, document.clone()), Ok(Some(bson!([2, 3]))));
        let filter = bson!({ "$filter": { "input": "$list", "cond": true, "limit": 1 } });
        assert_eq!(value(filter, document.clone()), Ok(Some(bson!([1]))));
        let reduce = bson!({ "$reduce": { "input": "$list", "initialValue": "", "in": {
            "$concat": ["$$value", { "$toString": "$$this" }],
        } } });
        assert_eq!(value(reduce, document.clone()), Ok(Some(bson!("123"))));
        let nested = bson!({ "$map": { "input": [[1, 2], [3]], "as": "row", "in": {
            "$map": { "input": "$$row", "in": { "$multiply": ["$$this", { "$size": "$$row" }] } },
        } } });
        assert_eq!(value(nested, doc! {}), Ok(Some(bson!([[2, 4], [3]]))));
        assert_eq!(
            value(bson!({ "$map": { "input": "$zz", "in": 1 } }), document),
            Ok(Some(Bson::Null))
        );
        let bad = value(bson!({ "$map": { "input": 1, "in": 1 } }), doc! {}).unwrap_err();
        assert_eq!(
            (bad.code(), bad.to_string()),
            (Some(Code(16883)), "input to $map must be an array not int".into())
        );
    }

    #[test]
    fn an_interrupt_stops_a_long_loop() {
        let scope = Scope::new(DateTime::from_millis(0));
        scope.interrupt.raise();
        let map = bson!({ "$map": { "input": { "$range": [0, 9] }, "in": "$$this" } });
        let map = Expression::parse(&map, &scope).unwrap();
        assert_eq!(map.evaluate(&doc! {}, &scope), Err(Error::Interrupted));
    }

    #[test]
    fn arrays_are_sorted_by_value_or_by_field() {
        let sort = |by: Bson, input: Bson| {
            value(bson!({ "$sortArray": { "input": input, "sortBy": by } }), doc! {})
        };
        assert_eq!(
            sort(bson!(1), bson!([3, "a", 1.5, null])),
            Ok(Some(bson!([null, 1.5, 3, "a"])))
        );
        assert_eq!(sort(bson!(-1), bson!([1, 3, 2])), Ok(Some(bson!([3, 2, 1]))));
        let team = bson!([{ "n": "b", "age": 3 }, { "n": "a", "age": 3 }, { "n": "c", "age": 9 }]);
        let sorted =
            bson!([{ "n": "c", "age": 9 }, { "n": "a", "age": 3 }, { "n": "b", "age": 3 }]);
        assert_eq!(sort(bson!({ "age": -1, "n": 1 }), team), Ok(Some(sorted)));
    }
}
