//! Strings: by bytes or by code points, never by letters; upper and lower case are ASCII's.

use std::borrow::Cow;

use bson::Bson;

use super::named::{kind, parameters, required, shown};
use super::{Arguments, MANY, Node, Operator, Parse, Parser};
use crate::error::{Code, Error, Result};
use crate::value::number::{self, Number};

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$concat",
        arguments: (0, MANY),
        help: "strings joined",
        parse: Parse::Call(concat),
    },
    Operator {
        name: "$indexOfBytes",
        arguments: (2, 4),
        help: "where a string is found, in bytes: [string, part, start, end]",
        parse: Parse::Call(index_of_bytes),
    },
    Operator {
        name: "$indexOfCP",
        arguments: (2, 4),
        help: "where a string is found, in code points: [string, part, start, end]",
        parse: Parse::Call(index_of_code_points),
    },
    Operator {
        name: "$ltrim",
        arguments: (1, 1),
        help: "without white space or given characters at the start: {input, chars}",
        parse: Parse::Form(parse_trim),
    },
    Operator {
        name: "$replaceAll",
        arguments: (1, 1),
        help: "every occurrence replaced: {input, find, replacement}",
        parse: Parse::Form(parse_replace),
    },
    Operator {
        name: "$replaceOne",
        arguments: (1, 1),
        help: "the first occurrence replaced: {input, find, replacement}",
        parse: Parse::Form(parse_replace),
    },
    Operator {
        name: "$rtrim",
        arguments: (1, 1),
        help: "without white space or given characters at the end: {input, chars}",
        parse: Parse::Form(parse_trim),
    },
    Operator {
        name: "$split",
        arguments: (2, 2),
        help: "the parts between separators",
        parse: Parse::Call(split),
    },
    Operator {
        name: "$strLenBytes",
        arguments: (1, 1),
        help: "the length in UTF-8 bytes",
        parse: Parse::Call(length_in_bytes),
    },
    Operator {
        name: "$strLenCP",
        arguments: (1, 1),
        help: "the length in code points",
        parse: Parse::Call(length_in_code_points),
    },
    Operator {
        name: "$strcasecmp",
        arguments: (2, 2),
        help: "-1, 0 or 1: how strings compare, case aside",
        parse: Parse::Call(compare_caseless),
    },
    Operator {
        name: "$substr",
        arguments: (3, 3),
        help: "a part by bytes: [string, start, length]; the old name of $substrBytes",
        parse: Parse::Call(substring_bytes),
    },
    Operator {
        name: "$substrBytes",
        arguments: (3, 3),
        help: "a part by bytes: [string, start, length]",
        parse: Parse::Call(substring_bytes),
    },
    Operator {
        name: "$substrCP",
        arguments: (3, 3),
        help: "a part by code points: [string, start, length]",
        parse: Parse::Call(substring_code_points),
    },
    Operator {
        name: "$toLower",
        arguments: (1, 1),
        help: "in lower case",
        parse: Parse::Call(lower),
    },
    Operator {
        name: "$toUpper",
        arguments: (1, 1),
        help: "in upper case",
        parse: Parse::Call(upper),
    },
    Operator {
        name: "$trim",
        arguments: (1, 1),
        help: "without white space or given characters at both ends: {input, chars}",
        parse: Parse::Form(parse_trim),
    },
];

const NULL: Result<Option<Bson>> = Ok(Some(Bson::Null));

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

fn string(text: impl Into<String>) -> Result<Option<Bson>> {
    Ok(Some(Bson::String(text.into())))
}

fn integer(count: usize) -> Result<Option<Bson>> {
    Ok(Some(Number::from_i64(count as i64).into()))
}

/// The text of numbers, dates and the like where a string is wanted; nothing is the empty string.
fn coerced(value: Option<&Bson>) -> Result<Cow<'_, str>> {
    Ok(match value {
        None | Some(Bson::Null | Bson::Undefined) => Cow::Borrowed(""),
        Some(Bson::String(text) | Bson::Symbol(text) | Bson::JavaScriptCode(text)) => {
            Cow::Borrowed(text)
        }
        Some(Bson::Int32(int)) => Cow::Owned(int.to_string()),
        Some(Bson::Int64(long)) => Cow::Owned(long.to_string()),
        Some(Bson::Double(double)) => Cow::Owned(number::double_text(*double)),
        Some(Bson::Decimal128(decimal)) => Cow::Owned(decimal.to_string()),
        Some(Bson::DateTime(date)) => Cow::Owned(super::date::iso_text(*date)),
        Some(other) => {
            return Err(refuse(
                16007,
                format!("can't convert from BSON type {} to String", kind(Some(other))),
            ));
        }
    })
}

fn concat(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut joined = String::new();
    for value in arguments.iter() {
        match value {
            None | Some(Bson::Null | Bson::Undefined) => return NULL,
            Some(Bson::String(text)) => joined.push_str(text),
            Some(other) => {
                return Err(refuse(
                    16702,
                    format!("$concat only supports strings, not {}", kind(Some(other))),
                ));
            }
        }
    }
    string(joined)
}

fn lower(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    string(coerced(arguments.get(0))?.to_ascii_lowercase())
}

fn upper(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    string(coerced(arguments.get(0))?.to_ascii_uppercase())
}

fn compare_caseless(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let left = coerced(arguments.get(0))?.to_ascii_uppercase();
    let right = coerced(arguments.get(1))?.to_ascii_uppercase();
    Ok(Some(Bson::Int32(left.cmp(&right) as i32)))
}

fn length_in_bytes(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.get(0) {
        Some(Bson::String(text)) => integer(text.len()),
        other => Err(refuse(
            34473,
            format!("$strLenBytes requires a string argument, found: {}", kind(other)),
        )),
    }
}

fn length_in_code_points(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.get(0) {
        Some(Bson::String(text)) => integer(text.chars().count()),
        other => Err(refuse(
            34471,
            format!("$strLenCP requires a string argument, found: {}", kind(other)),
        )),
    }
}

fn substring_bytes(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let name = arguments.name;
    let text = coerced(arguments.get(0))?;
    let number = |index, code, what| {
        let value = arguments.get(index);
        value.and_then(Number::of).map(Number::clamped).ok_or_else(|| {
            refuse(
                code,
                format!("{name}:  {what} must be a numeric type (is BSON type {})", kind(value)),
            )
        })
    };
    let start = number(1, 16034, "starting index")?;
    let length = number(2, 16035, "length")?;
    let Ok(start) = usize::try_from(start) else {
        return Err(refuse(
            50752,
            format!("{name}:  starting index must be non-negative (got: {start})"),
        ));
    };
    // A negative length means all the rest.
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    if start >= text.len() {
        return string("");
    }
    if !text.is_char_boundary(start) {
        let message =
            format!("{name}:  Invalid range, starting index is a UTF-8 continuation byte.");
        return Err(refuse(28656, message));
    }
    let end = start.saturating_add(length).min(text.len());
    if !text.is_char_boundary(end) {
        let message =
            format!("{name}:  Invalid range, ending index is in the middle of a UTF-8 character.");
        return Err(refuse(28657, message));
    }
    string(&text[start..end])
}

fn substring_code_points(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let text = coerced(arguments.get(0))?;
    let number = |index, codes: (i32, i32), what| {
        let value = arguments.get(index);
        let Some(number) = value.and_then(Number::of) else {
            let message =
                format!("$substrCP: {what} must be a numeric type (is BSON type {})", kind(value));
            return Err(refuse(codes.0, message));
        };
        number.integral().and_then(|integer| i32::try_from(integer).ok()).ok_or_else(|| {
            let found = shown(value);
            refuse(
                codes.1,
                format!(
                    "$substrCP: {what} cannot be represented as a 32-bit integral value: {found}"
                ),
            )
        })
    };
    let start = number(1, (34450, 34451), "starting index")?;
    let length = number(2, (34452, 34453), "length")?;
    let length = usize::try_from(length)
        .map_err(|_| refuse(34454, "$substrCP: length must be a nonnegative integer."))?;
    let start = usize::try_from(start)
        .map_err(|_| refuse(34455, "$substrCP: the starting index must be nonnegative integer."))?;
    string(text.chars().skip(start).take(length).collect::<String>())
}

fn split(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let (input, separator) = (arguments.get(0), arguments.get(1));
    let (Some(input), Some(separator)) =
        (arguments.present(0).and(input), arguments.present(1).and(separator))
    else {
        return NULL;
    };
    let words = "$split requires an expression that evaluates to a string as a";
    let Bson::String(input) = input else {
        return Err(refuse(40085, format!("{words} first argument, found: {}", kind(Some(input)))));
    };
    let Bson::String(separator) = separator else {
        return Err(refuse(
            40086,
            format!("{words} second argument, found: {}", kind(Some(separator))),
        ));
    };
    if separator.is_empty() {
        return Err(refuse(40087, "$split requires a non-empty separator"));
    }
    Ok(Some(Bson::Array(input.split(separator.as_str()).map(Bson::from).collect())))
}

/// An optional position argument: a nonnegative integer.
pub(super) fn position(
    arguments: &Arguments<'_>,
    index: usize,
    what: &str,
) -> Result<Option<usize>> {
    if index >= arguments.len() {
        return Ok(None);
    }
    let name = arguments.name;
    let value = arguments.get(index);
    let integer =
        value.and_then(Number::of).and_then(Number::integral).and_then(|n| i32::try_from(n).ok());
    let Some(integer) = integer else {
        let (kind, shown) = (kind(value), shown(value));
        let message = format!(
            "{name} requires an integral {what} index, found a value of type: {kind}, with value: {shown}"
        );
        return Err(refuse(40096, message));
    };
    usize::try_from(integer).map(Some).map_err(|_| {
        refuse(40097, format!("{name} requires a nonnegative {what} index, found: {integer}"))
    })
}

/// The string, the part and the range of an `$indexOf...`; `None` when the string is null.
type Search<'b> = Option<(&'b str, &'b str, usize, Option<usize>)>;

fn search<'b>(arguments: &'b Arguments<'_>, codes: (i32, i32)) -> Result<Search<'b>> {
    let name = arguments.name;
    let Some(input) = arguments.present(0) else { return Ok(None) };
    let Bson::String(input) = input else {
        let found = kind(Some(input));
        return Err(refuse(
            codes.0,
            format!("{name} requires a string as the first argument, found: {found}"),
        ));
    };
    let Some(Bson::String(part)) = arguments.get(1) else {
        let found = kind(arguments.get(1));
        return Err(refuse(
            codes.1,
            format!("{name} requires a string as the second argument, found: {found}"),
        ));
    };
    let start = position(arguments, 2, "starting")?.unwrap_or(0);
    Ok(Some((input, part, start, position(arguments, 3, "ending")?)))
}

const NOT_FOUND: Result<Option<Bson>> = Ok(Some(Bson::Int32(-1)));

fn index_of_bytes(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some((input, part, start, end)) = search(arguments, (40091, 40092))? else { return NULL };
    let end = end.unwrap_or(input.len()).min(input.len());
    if start > end {
        return NOT_FOUND;
    }
    let (haystack, needle) = (&input.as_bytes()[start..end], part.as_bytes());
    if needle.is_empty() {
        return integer(start);
    }
    match haystack.windows(needle.len()).position(|window| window == needle) {
        Some(at) => integer(start + at),
        None => NOT_FOUND,
    }
}

fn index_of_code_points(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some((input, part, start, end)) = search(arguments, (40093, 40094))? else { return NULL };
    let count = input.chars().count();
    let end = end.unwrap_or(count).min(count);
    if start > end {
        return NOT_FOUND;
    }
    let byte_of = |at: usize| input.char_indices().nth(at).map_or(input.len(), |(byte, _)| byte);
    let within = &input[byte_of(start)..byte_of(end)];
    match within.find(part) {
        Some(byte) => integer(start + within[..byte].chars().count()),
        None => NOT_FOUND,
    }
}

/// What `$trim` takes away when it is not told: null and the white space of the manual's table.
fn is_space(character: char) -> bool {
    matches!(character, '\0' | '\t'..='\r' | ' ' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}')
}

fn parse_trim(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let name = operator.name;
    let not_document =
        (50696, format!("{name} only supports an object as an argument, found {{}}"));
    let unknown = (50694, format!("{name} found an unknown argument: {{}}"));
    let [input, characters] = parameters(
        argument,
        ["input", "chars"],
        (not_document.0, &not_document.1),
        (unknown.0, &unknown.1),
    )?;
    let mut arguments = vec![parser.parse(required(
        input,
        50695,
        &format!("{name} requires an 'input' field"),
    )?)?];
    if let Some(characters) = characters {
        arguments.push(parser.parse(characters)?);
    }
    Ok(Node::Call { operator, function: trim, arguments })
}

fn trim(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let name = arguments.name;
    let Some(input) = arguments.present(0) else { return NULL };
    let Bson::String(input) = input else {
        let (shown, kind) = (shown(Some(input)), kind(Some(input)));
        return Err(refuse(
            50699,
            format!(
                "{name} requires its input to be a string, got {shown} (of type {kind}) instead."
            ),
        ));
    };
    let set: Option<Vec<char>> = if arguments.len() > 1 {
        match arguments.present(1) {
            None => return NULL,
            Some(Bson::String(characters)) => Some(characters.chars().collect()),
            other => {
                let (shown, kind) = (shown(other), kind(other));
                let message = format!(
                    "{name} requires 'chars' to be a string, got {shown} (of type {kind}) instead."
                );
                return Err(refuse(50700, message));
            }
        }
    } else {
        None
    };
    let unwanted = |character: char| {
        set.as_ref().map_or_else(|| is_space(character), |set| set.contains(&character))
    };
    string(match name {
        "$ltrim" => input.trim_start_matches(unwanted),
        "$rtrim" => input.trim_end_matches(unwanted),
        _ => input.trim_matches(unwanted),
    })
}

fn parse_replace(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let name = operator.name;
    let not_document = format!("{name} requires an object as an argument, found: {{}}");
    let unknown = format!("{name} found an unknown argument: {{}}");
    let found = parameters(
        argument,
        ["input", "find", "replacement"],
        (51751, &not_document),
        (51750, &unknown),
    )?;
    let mut arguments = Vec::new();
    for (value, (code, what)) in
        found.into_iter().zip([(51749, "input"), (51748, "find"), (51747, "replacement")])
    {
        arguments.push(parser.parse(required(
            value,
            code,
            &format!("{name} requires '{what}' to be specified"),
        )?)?);
    }
    Ok(Node::Call { operator, function: replace, arguments })
}

fn replace(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let name = arguments.name;
    let text = |index, code, what| match arguments.get(index) {
        Some(Bson::String(text)) => Ok(Some(text.as_str())),
        None | Some(Bson::Null | Bson::Undefined) => Ok(None),
        other => Err(refuse(
            code,
            format!("{name} requires that '{what}' be a string, found: {}", shown(other)),
        )),
    };
    let input = text(0, 51746, "input")?;
    let find = text(1, 51745, "find")?;
    let replacement = text(2, 51744, "replacement")?;
    let (Some(input), Some(find), Some(replacement)) = (input, find, replacement) else {
        return NULL;
    };
    string(match name {
        "$replaceOne" => input.replacen(find, replacement, 1),
        _ => input.replace(find, replacement),
    })
}
