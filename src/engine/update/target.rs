//! The path of an update, checked and split into steps.

use crate::bad_value;
use crate::error::Result;
use crate::refuse;

/// The most components a path may have; documents nest no deeper.
const MAX_STEPS: usize = 200;

/// One component of an update's path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A field's name, or a position.
    Field(String),
    /// `$`: the element the query matched through.
    Matched,
    /// `$[id]`: the elements the array filter of that name matches; `$[]` with the empty name: all.
    Elements(String),
}

/// Checks a path and splits it.
///
/// # Errors
/// 56 for an empty name, 52 for a name with a dollar, 2 for a misplaced `$`.
pub(super) fn parse(path: &str) -> Result<Vec<Step>> {
    if path.is_empty() {
        return Err(refuse!(EMPTY_FIELD_NAME, "An empty update path is not valid."));
    }
    let mut steps = Vec::new();
    for name in path.split('.') {
        steps.push(match name {
            "" => {
                return Err(refuse!(
                    EMPTY_FIELD_NAME,
                    "The update path '{path}' contains an empty field name, which is not allowed."
                ));
            }
            "$" => Step::Matched,
            name => match name.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')) {
                Some(identifier) => Step::Elements(identifier.to_owned()),
                None if name.starts_with('$') && !matches!(name, "$ref" | "$id" | "$db") => {
                    return Err(refuse!(
                        DOLLAR_PREFIXED_FIELD_NAME,
                        "The dollar ($) prefixed field '{name}' in '{path}' is not valid for storage."
                    ));
                }
                None => Step::Field(name.to_owned()),
            },
        });
    }
    match steps.first() {
        Some(Step::Matched) => {
            return Err(bad_value!(
                "Cannot have positional (i.e. '$') element in the first position in path '{path}'"
            ));
        }
        Some(Step::Elements(_)) => {
            return Err(bad_value!(
                "Cannot have array filter identifier (i.e. '$[<id>]') element in the first position in path '{path}'"
            ));
        }
        Some(Step::Field(_)) | None => {}
    }
    if steps.iter().filter(|step| **step == Step::Matched).count() > 1 {
        return Err(bad_value!("Too many positional (i.e. '$') elements found in path '{path}'"));
    }
    if steps.len() > MAX_STEPS {
        return Err(refuse!(OVERFLOW, "FieldPath is too long"));
    }
    Ok(steps)
}
