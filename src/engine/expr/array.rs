//! Arrays: elements by position, parts, joins, and what needs no variable of its own.

use bson::Bson;

use super::comparison::compare_values;
use super::named::{kind, parameters, required, shown};
use super::string::position;
use super::{Arguments, MANY, Node, Operator, Parse, Parser};
use crate::error::{Code, Error, Result};
use crate::value::compare;
use crate::value::number::Number;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$arrayElemAt",
        arguments: (2, 2),
        help: "the element at a position; negative counts from the end",
        parse: Parse::Call(element_at),
    },
    Operator {
        name: "$concatArrays",
        arguments: (0, MANY),
        help: "arrays joined",
        parse: Parse::Call(concat_arrays),
    },
    Operator {
        name: "$first",
        arguments: (1, 1),
        help: "the first element",
        parse: Parse::Call(first),
    },
    Operator {
        name: "$firstN",
        arguments: (1, 1),
        help: "the first elements: {n, input}",
        parse: Parse::Form(parse_some),
    },
    Operator {
        name: "$in",
        arguments: (2, 2),
        help: "whether an array holds a value",
        parse: Parse::Call(is_in),
    },
    Operator {
        name: "$indexOfArray",
        arguments: (2, 4),
        help: "where an array holds a value: [array, value, start, end]",
        parse: Parse::Call(index_of),
    },
    Operator {
        name: "$isArray",
        arguments: (1, 1),
        help: "whether it is an array",
        parse: Parse::Call(is_array),
    },
    Operator {
        name: "$last",
        arguments: (1, 1),
        help: "the last element",
        parse: Parse::Call(last),
    },
    Operator {
        name: "$lastN",
        arguments: (1, 1),
        help: "the last elements: {n, input}",
        parse: Parse::Form(parse_some),
    },
    Operator {
        name: "$maxN",
        arguments: (1, 1),
        help: "the greatest elements: {n, input}",
        parse: Parse::Form(parse_some),
    },
    Operator {
        name: "$minN",
        arguments: (1, 1),
        help: "the least elements: {n, input}",
        parse: Parse::Form(parse_some),
    },
    Operator {
        name: "$range",
        arguments: (2, 3),
        help: "integers from a start up to an end: [start, end, step]",
        parse: Parse::Call(range),
    },
    Operator {
        name: "$reverseArray",
        arguments: (1, 1),
        help: "the elements from the last to the first",
        parse: Parse::Call(reverse),
    },
    Operator {
        name: "$size",
        arguments: (1, 1),
        help: "the number of elements",
        parse: Parse::Call(size),
    },
    Operator {
        name: "$slice",
        arguments: (2, 3),
        help: "a part: [array, count] or [array, start, count]",
        parse: Parse::Call(slice),
    },
    Operator {
        name: "$zip",
        arguments: (1, 1),
        help: "arrays side by side: {inputs, useLongestLength, defaults}",
        parse: Parse::Form(parse_zip),
    },
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn int32(value: Option<&Bson>) -> Option<i32> {
    value.and_then(Number::of)?.integral().and_then(|integer| i32::try_from(integer).ok())
}

fn is_number(value: Option<&Bson>) -> bool {
    value.and_then(Number::of).is_some()
}

/// A 32-bit integer, or the first error for no number and the second for another one.
fn count(value: Option<&Bson>, not_number: (i32, &str), not_int: (i32, &str)) -> Result<i32> {
    if !is_number(value) {
        return Err(refuse(not_number.0, format!("{}{}", not_number.1, kind(value))));
    }
    int32(value).ok_or_else(|| refuse(not_int.0, format!("{}{}", not_int.1, shown(value))))
}

fn element_at(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    if arguments.present(0).is_none() || arguments.present(1).is_none() {
        return NULL;
    }
    let Some(Bson::Array(elements)) = arguments.get(0) else {
        let found = kind(arguments.get(0));
        return Err(refuse(
            28689,
            format!("$arrayElemAt's first argument must be an array, but is {found}"),
        ));
    };
    let words = "$arrayElemAt's second argument must be ";
    let at = count(
        arguments.get(1),
        (28690, &format!("{words}a numeric value, but is ")),
        (28691, &format!("{words}representable as a 32-bit integer: ")),
    )?;
    Ok(match usize::try_from(at) {
        Ok(at) => elements.get(at).cloned(),
        Err(_) => elements
            .len()
            .checked_sub(at.unsigned_abs() as usize)
            .and_then(|at| elements.get(at))
            .cloned(),
    })
}

fn end<'b>(arguments: &'b Arguments<'_>) -> Result<Option<&'b Vec<Bson>>> {
    match arguments.present(0) {
        None => Ok(None),
        Some(Bson::Array(elements)) => Ok(Some(elements)),
        other => {
            let (name, found) = (arguments.name, kind(other));
            Err(refuse(28689, format!("{name}'s argument must be an array, but is {found}")))
        }
    }
}

fn first(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(end(arguments)?.map_or(Some(Bson::Null), |elements| elements.first().cloned()))
}

fn last(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(end(arguments)?.map_or(Some(Bson::Null), |elements| elements.last().cloned()))
}

fn concat_arrays(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut joined = Vec::new();
    for index in 0..arguments.len() {
        match arguments.take(index) {
            None | Some(Bson::Null | Bson::Undefined) => return NULL,
            Some(Bson::Array(mut elements)) => joined.append(&mut elements),
            other => {
                let found = kind(other.as_ref());
                return Err(refuse(
                    28664,
                    format!("$concatArrays only supports arrays, not {found}"),
                ));
            }
        }
    }
    Ok(Some(Bson::Array(joined)))
}

fn is_in(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(Bson::Array(elements)) = arguments.get(1) else {
        let found = kind(arguments.get(1));
        return Err(refuse(
            40081,
            format!("$in requires an array as a second argument, found: {found}"),
        ));
    };
    let value = arguments.get(0);
    Ok(Some(Bson::Boolean(
        elements.iter().any(|element| compare_values(Some(element), value).is_eq()),
    )))
}

fn index_of(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let elements = match arguments.present(0) {
        None => return NULL,
        Some(Bson::Array(elements)) => elements,
        other => {
            let found = kind(other);
            return Err(refuse(
                40090,
                format!("$indexOfArray requires an array as a first argument, found: {found}"),
            ));
        }
    };
    let start = position(arguments, 2, "starting")?.unwrap_or(0);
    let end = position(arguments, 3, "ending")?.unwrap_or(elements.len()).min(elements.len());
    let value = arguments.get(1);
    let found = (start..end).find(|at| compare_values(elements.get(*at), value).is_eq());
    Ok(Some(found.map_or(Bson::Int32(-1), |at| Number::from_i64(at as i64).into())))
}

fn is_array(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    Ok(Some(Bson::Boolean(matches!(arguments.get(0), Some(Bson::Array(_))))))
}

/// The most elements `$range` makes: as many as the server's memory limit for it has room for.
const RANGE: i64 = 64 * 1024 * 1024 / 16;

fn range(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let bound = |index, codes: (i32, i32), what: &str| {
        count(
            arguments.get(index),
            (codes.0, &format!("$range requires a numeric {what} value, found value of type: ")),
            (
                codes.1,
                &format!("$range requires a {what} value that can be represented as a 32-bit integer, found value: "),
            ),
        )
        .map(i64::from)
    };
    let start = bound(0, (34443, 34444), "starting")?;
    let end = bound(1, (34445, 34446), "ending")?;
    let step = if arguments.len() > 2 { bound(2, (34447, 34448), "step")? } else { 1 };
    if step == 0 {
        return Err(refuse(34449, "$range requires a non-zero step value"));
    }
    let distance = if step > 0 { end - start } else { start - end };
    let steps = if distance <= 0 { 0 } else { (distance - 1) / step.abs() + 1 };
    if steps > RANGE {
        let message = "$range would use too much memory (more than 64MB). You may need to use a larger step value";
        return Err(Error::command(Code::EXCEEDED_MEMORY_LIMIT, message));
    }
    Ok(Some(Bson::Array((0..steps).map(|at| Bson::Int32((start + at * step) as i32)).collect())))
}

fn reverse(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.take(0) {
        None | Some(Bson::Null | Bson::Undefined) => NULL,
        Some(Bson::Array(mut elements)) => {
            elements.reverse();
            Ok(Some(Bson::Array(elements)))
        }
        other => {
            let found = kind(other.as_ref());
            Err(refuse(
                34435,
                format!("The argument to $reverseArray must be an array, but was of type: {found}"),
            ))
        }
    }
}

fn size(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.get(0) {
        Some(Bson::Array(elements)) => Ok(Some(Number::from_i64(elements.len() as i64).into())),
        other => {
            let found = kind(other);
            Err(refuse(
                17124,
                format!("The argument to $size must be an array, but was of type: {found}"),
            ))
        }
    }
}

fn slice(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    if (0..arguments.len()).any(|index| arguments.present(index).is_none()) {
        return NULL;
    }
    let Some(Bson::Array(elements)) = arguments.get(0) else {
        let found = kind(arguments.get(0));
        return Err(refuse(
            28724,
            format!("First argument to $slice must be an array, but is of type: {found}"),
        ));
    };
    let bound = |index, codes: (i32, i32), which: &str| {
        count(
            arguments.get(index),
            (
                codes.0,
                &format!("{which} argument to $slice must be a numeric value, but is of type: "),
            ),
            (
                codes.1,
                &format!("{which} argument to $slice can't be represented as a 32-bit integer: "),
            ),
        )
    };
    let second = bound(1, (28725, 28726), "Second")?;
    let third = if arguments.len() > 2 {
        let third = bound(2, (28727, 28728), "Third")?;
        if third <= 0 {
            return Err(refuse(
                28729,
                format!("Third argument to $slice must be positive: {third}"),
            ));
        }
        Some(third)
    } else {
        None
    };
    Ok(Some(Bson::Array(part(elements, second, third).to_vec())))
}

/// The part of an array that `$slice` names: the first or, negative, last `second`; or `third` elements from `second` on.
pub(crate) fn part(elements: &[Bson], second: i32, third: Option<i32>) -> &[Bson] {
    let size = elements.len();
    let magnitude = second.unsigned_abs() as usize;
    let (start, end) = match third {
        None if second < 0 => (size.saturating_sub(magnitude), size),
        None => (0, magnitude.min(size)),
        Some(third) => {
            let start =
                if second < 0 { size.saturating_sub(magnitude) } else { magnitude.min(size) };
            (start, start.saturating_add(third.unsigned_abs() as usize).min(size))
        }
    };
    &elements[start..end]
}

fn parse_some(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let Bson::Document(_) = argument else {
        let found = crate::value::text::value(argument);
        return Err(refuse(
            5787801,
            format!("specification must be an object; found {}: {found}", operator.name),
        ));
    };
    let unknown = (5787901, "Unknown argument for 'n' operator: {}");
    let [n, input] = parameters(argument, ["n", "input"], (5787801, ""), unknown)?;
    let n = required(n, 5787906, "Missing value for 'n'")?;
    let input = required(input, 5787907, "Missing value for 'input'")?;
    Ok(Node::Call {
        operator,
        function: some,
        arguments: vec![parser.parse(n)?, parser.parse(input)?],
    })
}

/// How many `$firstN` and its kin take.
///
/// # Errors
/// For anything but a positive integer.
pub(crate) fn amount(n: Option<&Bson>) -> Result<usize> {
    let integral = n.and_then(Number::of).and_then(Number::integral);
    let Some(integral) = integral else {
        let found = shown(n);
        return Err(refuse(
            5787902,
            format!("Value for 'n' must be of integral type, but found {found}"),
        ));
    };
    usize::try_from(integral)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| refuse(5787908, format!("'n' must be greater than 0, found {integral}")))
}

fn some(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let n = amount(arguments.get(0))?;
    let Some(Bson::Array(mut elements)) = arguments.take(1) else {
        return Err(refuse(5788200, "Input must be an array"));
    };
    match arguments.name {
        "$firstN" => elements.truncate(n),
        "$lastN" => drop(elements.drain(..elements.len().saturating_sub(n))),
        name => {
            elements.retain(|element| !matches!(element, Bson::Null | Bson::Undefined));
            elements.sort_by(compare::compare);
            if name == "$maxN" {
                elements.reverse();
            }
            elements.truncate(n);
        }
    }
    Ok(Some(Bson::Array(elements)))
}

fn parse_zip(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let not_document = (34460, "$zip only supports an object as an argument, found {}");
    let unknown = (34464, "$zip found an unknown argument: {}");
    let names = ["inputs", "useLongestLength", "defaults"];
    let [inputs, longest, defaults] = parameters(argument, names, not_document, unknown)?;
    let list = |value: Option<&Bson>, code, name: &str| match value {
        None => Ok(Vec::new()),
        Some(Bson::Array(elements)) => {
            elements.iter().map(|element| parser.parse(element)).collect()
        }
        other => Err(refuse(
            code,
            format!("{name} must be an array of expressions, found {}", kind(other)),
        )),
    };
    let inputs = list(inputs, 34461, "inputs")?;
    let defaults = list(defaults, 34462, "defaults")?;
    let longest = match longest {
        None => false,
        Some(Bson::Boolean(longest)) => *longest,
        other => {
            return Err(refuse(
                34463,
                format!("useLongestLength must be a bool, found {}", kind(other)),
            ));
        }
    };
    if inputs.is_empty() {
        return Err(refuse(34465, "$zip requires at least one input array"));
    }
    if !longest && !defaults.is_empty() {
        return Err(refuse(34466, "cannot specify defaults unless useLongestLength is true"));
    }
    if !defaults.is_empty() && defaults.len() != inputs.len() {
        return Err(refuse(34467, "defaults and inputs must have the same length"));
    }
    let arguments =
        vec![Node::Array(inputs), Node::Constant(Bson::Boolean(longest)), Node::Array(defaults)];
    Ok(Node::Call { operator, function: zip, arguments })
}

fn zip(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let longest = matches!(arguments.get(1), Some(Bson::Boolean(true)));
    let (Some(Bson::Array(inputs)), Some(Bson::Array(defaults))) =
        (arguments.get(0), arguments.get(2))
    else {
        return NULL;
    };
    let mut rows: Vec<&[Bson]> = Vec::with_capacity(inputs.len());
    for input in inputs {
        match input {
            Bson::Null | Bson::Undefined => return NULL,
            Bson::Array(elements) => rows.push(elements),
            other => {
                return Err(refuse(
                    34468,
                    format!("$zip found a non-array expression in input: {}", shown(Some(other))),
                ));
            }
        }
    }
    let lengths = rows.iter().map(|row| row.len());
    let length = if longest { lengths.max() } else { lengths.min() }.unwrap_or(0);
    let column = |at: usize| {
        let cell = |(which, row): (usize, &&[Bson])| {
            row.get(at).or_else(|| defaults.get(which)).cloned().unwrap_or(Bson::Null)
        };
        Bson::Array(rows.iter().enumerate().map(cell).collect())
    };
    Ok(Some(Bson::Array((0..length).map(column).collect())))
}
