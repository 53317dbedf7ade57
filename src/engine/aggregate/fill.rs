//! `$fill`: null and missing fields filled with a value, the last one before, or the line between neighbours.

use bson::{Bson, Document, doc};

use super::window::{Windows, filling};
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::Scope;
use crate::engine::query::Projection;
use crate::error::{Code, Error, Result};
use crate::value::kind;

pub(super) const STAGES: &[Row] = &[Row {
    name: "$fill",
    help: "gaps filled: {partitionBy or partitionByFields, sortBy, output: {field: {value} or {method}}}",
    place: Place::Anywhere,
    parse,
}];

/// The compiled stage: first the methods, then the values.
#[derive(Debug)]
struct Fill {
    windows: Option<Windows>,
    values: Option<Projection>,
}

fn wrong_type(field: &str, value: &Bson, expected: &str) -> Error {
    let found = kind::name(value);
    Error::command(
        Code::TYPE_MISMATCH,
        format!("BSON field '{field}' is the wrong type '{found}', expected type '{expected}'"),
    )
}

fn parse(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(Error::command(
            Code::FAILED_TO_PARSE,
            format!(
                "The $fill stage specification must be an object, found {}",
                kind::name(argument)
            ),
        ));
    };
    let known = ["partitionBy", "partitionByFields", "sortBy", "output"];
    if let Some(name) = specification.keys().find(|name| !known.contains(&name.as_str())) {
        return Err(refuse(40415, format!("BSON field '$fill.{name}' is an unknown field.")));
    }
    let sort = match specification.get("sortBy") {
        None => None,
        Some(Bson::Document(sort)) => Some(sort),
        Some(other) => return Err(wrong_type("$fill.sortBy", other, "object")),
    };
    let output = match specification.get("output") {
        None => {
            return Err(refuse(40414, "BSON field '$fill.output' is missing but a required field"));
        }
        Some(Bson::Document(output)) => output,
        Some(other) => return Err(wrong_type("$fill.output", other, "object")),
    };
    let by = partition(specification)?;
    let (mut methods, mut values) = (Document::new(), Document::new());
    for (field, filler) in output {
        let Bson::Document(filler) = filler else {
            return Err(wrong_type(&format!("$fill.output.{field}"), filler, "object"));
        };
        match (filler.get("value"), filler.get("method"), filler.len()) {
            (Some(value), None, 1) => {
                let either = doc! { "$ifNull": [format!("${field}"), value.clone()] };
                values.insert(field.as_str(), either);
            }
            (None, Some(Bson::String(method)), 1) => {
                let function = filling(field, method)
                    .ok_or_else(|| refuse(6_050_202, "Method must be either locf or linear"))?;
                methods.insert(field.as_str(), function);
            }
            (None, Some(other), 1) => {
                return Err(wrong_type("$fill.output.method", other, "string"));
            }
            _ => {
                return Err(refuse(
                    6_050_200,
                    "Fill spec must contain exactly one of 'value' or 'method' for each output",
                ));
            }
        }
    }
    let windows = if methods.is_empty() {
        None
    } else {
        Some(Windows::new(by.as_ref(), sort, &methods, scope)?)
    };
    let values = if values.is_empty() {
        None
    } else {
        let added = Projection::parse_addition(&values, scope);
        Some(added.map_err(|error| error.prefixed("Invalid $fill :: caused by :: "))?)
    };
    Ok(Box::new(Fill { windows, values }))
}

/// What the documents are partitioned by, as an expression.
fn partition(specification: &Document) -> Result<Option<Bson>> {
    let by = specification.get("partitionBy");
    let Some(fields) = specification.get("partitionByFields") else { return Ok(by.cloned()) };
    if by.is_some() {
        let words =
            "Maximum one of 'partitionBy' and 'partitionByFields' can be specified in '$fill'";
        return Err(refuse(6_050_204, words));
    }
    let Bson::Array(fields) = fields else {
        return Err(wrong_type("$fill.partitionByFields", fields, "array"));
    };
    let mut parts = Document::new();
    for (at, field) in fields.iter().enumerate() {
        let Bson::String(field) = field else {
            return Err(wrong_type(&format!("$fill.partitionByFields.{at}"), field, "string"));
        };
        if field.starts_with('$') {
            return Err(refuse(
                6_050_205,
                "Each element of the 'partitionByFields' array must not start with a '$'",
            ));
        }
        // Names with dots are paths; a part's own name does not matter.
        parts.insert(format!("p{at}"), format!("${field}"));
    }
    Ok(Some(Bson::Document(parts)))
}

impl Stage for Fill {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        let filled = match &self.windows {
            None => input,
            Some(windows) => windows.run(input, context),
        };
        match &self.values {
            None => filled,
            Some(values) => Box::new(
                filled.map(move |document| values.apply_owned(document?, None, &context.scope)),
            ),
        }
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.windows.iter_mut().try_for_each(|windows| windows.fold(scope))?;
        self.values.iter_mut().try_for_each(|values| values.fold(scope))
    }
}
