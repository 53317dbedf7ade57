//! Operators whose argument is a document of named parameters, such as `{$map: {input, as, in}}`.

use bson::Bson;

use crate::error::{Code, Error, Result};
use crate::value::kind::name;
pub(crate) use crate::value::kind::name_or_missing as kind;
use crate::value::text;

/// Picks the parameters called `names` out of a document, in that order.
///
/// `not_document` and `unknown` are the code and the words for an argument of another type and for a parameter that is
/// not in `names`; `{}` in the words stands for what was found.
///
/// # Errors
/// Those two.
pub(crate) fn parameters<'b, const N: usize>(
    argument: &'b Bson,
    names: [&str; N],
    not_document: (i32, &str),
    unknown: (i32, &str),
) -> Result<[Option<&'b Bson>; N]> {
    let Bson::Document(document) = argument else {
        return Err(refused(not_document, name(argument)));
    };
    let mut found = [None; N];
    for (name, value) in document {
        match names.iter().position(|known| known == name) {
            Some(at) => found[at] = Some(value),
            None => return Err(refused(unknown, name)),
        }
    }
    Ok(found)
}

/// A parameter that must be there.
///
/// # Errors
/// The code and words given.
pub(crate) fn required<'b>(
    parameter: Option<&'b Bson>,
    code: i32,
    message: &str,
) -> Result<&'b Bson> {
    parameter.ok_or_else(|| Error::command(Code(code), message))
}

/// An error with `{}` in its words replaced by what was found.
pub(crate) fn refused((code, words): (i32, &str), found: &str) -> Error {
    Error::command(Code(code), words.replacen("{}", found, 1))
}

/// A value as messages give it; `MISSING` when there is none.
pub(crate) fn shown(value: Option<&Bson>) -> String {
    value.map_or_else(|| "MISSING".to_owned(), text::value)
}
