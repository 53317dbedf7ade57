//! Documents as values: their fields by name, merged, taken apart and put together.

use bson::{Bson, Document, bson, doc};

use super::named::{kind, parameters, required};
use super::{Arguments, MANY, Node, Operator, Parse, Parser};
use crate::error::{Code, Error, Result};
use crate::value::kind::name as type_name;
use crate::value::text;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$arrayToObject",
        arguments: (1, 1),
        help: "a document from [key, value] pairs or {k, v} documents",
        parse: Parse::Call(array_to_object),
    },
    Operator {
        name: "$getField",
        arguments: (1, 1),
        help: "a field by its literal name: {field, input}",
        parse: Parse::Form(parse_get_field),
    },
    Operator {
        name: "$mergeObjects",
        arguments: (0, MANY),
        help: "documents merged into one; later fields win",
        parse: Parse::Call(merge_objects),
    },
    Operator {
        name: "$objectToArray",
        arguments: (1, 1),
        help: "a document's fields as {k, v} documents",
        parse: Parse::Call(object_to_array),
    },
    Operator {
        name: "$setField",
        arguments: (1, 1),
        help: "a document with a field set by its literal name: {field, input, value}",
        parse: Parse::Form(parse_set_field),
    },
    Operator {
        name: "$unsetField",
        arguments: (1, 1),
        help: "a document without a field: {field, input}",
        parse: Parse::Form(parse_unset_field),
    },
];

fn merge_objects(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut merged = Document::new();
    for index in 0..arguments.len() {
        match arguments.take(index) {
            None | Some(Bson::Null | Bson::Undefined) => {}
            Some(Bson::Document(document)) => merged.extend(document),
            // A single argument that is an array gives its elements, as in `$mergeObjects: "$list"`.
            Some(Bson::Array(elements)) if arguments.len() == 1 => {
                for element in elements {
                    match element {
                        Bson::Null | Bson::Undefined => {}
                        Bson::Document(document) => merged.extend(document),
                        other => return Err(not_mergeable(&other)),
                    }
                }
            }
            Some(other) => return Err(not_mergeable(&other)),
        }
    }
    Ok(Some(Bson::Document(merged)))
}

/// What `$mergeObjects` says to a value that is no document, as an operator and as an accumulator.
pub(crate) fn not_mergeable(value: &Bson) -> Error {
    let (shown, kind) = (text::value(value), type_name(value));
    Error::command(
        Code(40400),
        format!("$mergeObjects requires object inputs, but input {shown} is of type {kind}"),
    )
}

fn object_to_array(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    match arguments.take(0) {
        None | Some(Bson::Null | Bson::Undefined) => Ok(Some(Bson::Null)),
        Some(Bson::Document(document)) => Ok(Some(Bson::Array(
            document.into_iter().map(|(k, v)| bson!({ "k": k, "v": v })).collect(),
        ))),
        Some(other) => {
            let message =
                format!("$objectToArray requires a document input, found: {}", type_name(&other));
            Err(Error::command(Code(40390), message))
        }
    }
}

fn array_to_object(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let refuse = |code, message: String| Err(Error::command(Code(code), message));
    let elements = match arguments.take(0) {
        None | Some(Bson::Null | Bson::Undefined) => return Ok(Some(Bson::Null)),
        Some(Bson::Array(elements)) => elements,
        Some(other) => {
            let found = type_name(&other);
            return refuse(
                40386,
                format!("$arrayToObject requires an array input, found: {found}"),
            );
        }
    };
    let consistent = "$arrayToObject requires a consistent input format. Elements must all be arrays or all be objects.";
    let pairs = matches!(elements.first(), Some(Bson::Array(_)));
    let mut document = Document::new();
    for element in elements {
        let (key, value) = match (element, pairs) {
            (Bson::Array(pair), true) => {
                let count = pair.len();
                let Ok([key, value]) = <[Bson; 2]>::try_from(pair) else {
                    let words =
                        "$arrayToObject requires an array of size 2 arrays,found array of size: ";
                    return refuse(40397, format!("{words}{count}"));
                };
                let Bson::String(key) = key else {
                    let words = "$arrayToObject requires an array of key-value pairs, where the key must be of type string. \
                                 Found key type: ";
                    return refuse(40395, format!("{words}{}", type_name(&key)));
                };
                (key, value)
            }
            (Bson::Document(mut pair), false) => {
                if pair.len() != 2 {
                    let words = "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:";
                    return refuse(40392, format!("{words}{}", pair.len()));
                }
                let (Some(key), Some(value)) = (pair.remove("k"), pair.remove("v")) else {
                    let words = "$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: ";
                    return refuse(40393, format!("{words}{}", text::document(&pair)));
                };
                let Bson::String(key) = key else {
                    let words = "$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of \
                                 type string. Found type: ";
                    return refuse(40394, format!("{words}{}", type_name(&key)));
                };
                (key, value)
            }
            (other, true) => {
                let found = type_name(&other);
                return refuse(
                    40391,
                    format!("{consistent} Array was detected, now found: {found}"),
                );
            }
            (other, false) if document.is_empty() => {
                let words = "Unrecognised input type format for $arrayToObject: ";
                return refuse(40398, format!("{words}{}", type_name(&other)));
            }
            (other, false) => {
                let found = type_name(&other);
                return refuse(
                    40396,
                    format!("{consistent} Object was detected, now found: {found}"),
                );
            }
        };
        if key.contains('\0') {
            return refuse(4940400, "Key field cannot contain an embedded null byte".to_owned());
        }
        document.insert(key, value);
    }
    Ok(Some(Bson::Document(document)))
}

/// The `field` parameter, which must be known when the expression is parsed.
fn literal_name(name: &str, field: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let node = parser.parse(field)?;
    match node {
        Node::Constant(Bson::String(_)) => Ok(node),
        Node::Constant(other) => {
            let found = type_name(&other);
            let message =
                format!("{name} requires 'field' to evaluate to type String, but got {found}");
            Err(Error::command(Code(5654602), message))
        }
        _ => {
            let message = format!(
                "{name} requires 'field' to evaluate to a constant, but got a non-constant argument"
            );
            Err(Error::command(Code(5654601), message))
        }
    }
}

fn parse_get_field(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let short;
    let argument = match argument {
        Bson::Document(document)
            if !document.keys().next().is_some_and(|name| name.starts_with('$')) =>
        {
            argument
        }
        // `{$getField: "a"}` reads the field of the current document.
        name => {
            short = Bson::Document(doc! { "field": name.clone(), "input": "$$CURRENT" });
            &short
        }
    };
    let unknown = (3041701, "$getField found an unknown argument: {}");
    let [field, input] = parameters(argument, ["field", "input"], (3041701, ""), unknown)?;
    let field = required(field, 3041702, "$getField requires 'field' to be specified")?;
    let input = required(input, 3041703, "$getField requires 'input' to be specified")?;
    let arguments = vec![literal_name("$getField", field, parser)?, parser.parse(input)?];
    Ok(Node::Call { operator, function: get_field, arguments })
}

fn get_field(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(Bson::String(field)) = arguments.get(0) else { return Ok(None) };
    Ok(match arguments.get(1) {
        Some(Bson::Document(document)) => document.get(field).cloned(),
        Some(Bson::Null | Bson::Undefined) => Some(Bson::Null),
        _ => None,
    })
}

fn parse_set_field(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (4161100, "$setField only supports an object as its argument");
    let unknown = (4161101, "$setField found an unknown argument: {}");
    let [field, input, value] =
        parameters(argument, ["field", "input", "value"], not_document, unknown)?;
    let field = required(field, 4161102, "$setField requires 'field' to be specified")?;
    let value = required(value, 4161103, "$setField requires 'value' to be specified")?;
    let input = required(input, 4161109, "$setField requires 'input' to be specified")?;
    let arguments =
        vec![literal_name("$setField", field, parser)?, parser.parse(input)?, parser.parse(value)?];
    Ok(Node::Call { operator, function: set_field, arguments })
}

fn parse_unset_field(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let not_document = (4161100, "$unsetField only supports an object as its argument");
    let unknown = (4161101, "$unsetField found an unknown argument: {}");
    let [field, input] = parameters(argument, ["field", "input"], not_document, unknown)?;
    let field = required(field, 4161102, "$unsetField requires 'field' to be specified")?;
    let input = required(input, 4161109, "$unsetField requires 'input' to be specified")?;
    let arguments =
        vec![literal_name("$unsetField", field, parser)?, parser.parse(input)?, Node::Remove];
    Ok(Node::Call { operator, function: set_field, arguments })
}

/// `$setField`, and with a missing value `$unsetField`.
fn set_field(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut document = match arguments.take(1) {
        None | Some(Bson::Null | Bson::Undefined) => return Ok(Some(Bson::Null)),
        Some(Bson::Document(document)) => document,
        other => {
            let (name, found) = (arguments.name, kind(other.as_ref()));
            let message =
                format!("{name} requires 'input' to evaluate to type Object, but got {found}");
            return Err(Error::command(Code(4161105), message));
        }
    };
    let Some(Bson::String(field)) = arguments.take(0) else {
        return Ok(Some(Bson::Document(document)));
    };
    match arguments.take(2) {
        Some(value) => {
            document.insert(field, value);
        }
        None => {
            document.remove(field);
        }
    }
    Ok(Some(Bson::Document(document)))
}
