//! Field paths of expressions (`$a.b`): checked names, and how they reach through documents and arrays.
//!
//! Unlike a query's path, an expression's path never takes a number for an array index and never matches implicitly:
//! over an array it yields the array of what its elements have.

use std::borrow::Cow;

use bson::{Bson, Document};

use super::Value;
use crate::error::{Code, Error, Result};
use crate::value::path::{self, Path};

/// Field names from the outside in; never empty.
#[derive(Clone, Debug)]
pub(crate) struct FieldPath {
    path: Path,
}

impl FieldPath {
    /// Splits and checks `a.b.c`.
    ///
    /// # Errors
    /// The server's codes for empty, dollar-prefixed and otherwise impossible names.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::command(
                Code(40352),
                "FieldPath cannot be constructed with empty string",
            ));
        }
        if text.ends_with('.') {
            return Err(Error::command(Code(40353), "FieldPath must not end with a '.'."));
        }
        let path = Path::new(text);
        for part in path.parts() {
            check_field_name(&part.name)?;
        }
        if path.parts().len() > 200 {
            return Err(Error::command(Code::OVERFLOW, "FieldPath is too long"));
        }
        Ok(Self { path })
    }

    /// What a document has at this path; `None` when missing.
    pub(crate) fn of<'a>(&self, document: &'a Document) -> Value<'a> {
        path::map(document, self.path.parts())
    }

    /// What an owned or borrowed value has at this path.
    pub(crate) fn of_value<'a>(&self, value: Cow<'a, Bson>) -> Value<'a> {
        match value {
            Cow::Borrowed(value) => path::map_value(value, self.path.parts()),
            Cow::Owned(value) => path::map_value(&value, self.path.parts())
                .map(|found| Cow::Owned(found.into_owned())),
        }
    }
}

/// Refuses a name that cannot stand in a field path or as a key of an object expression.
pub(crate) fn check_field_name(name: &str) -> Result<()> {
    let (code, message) = if name.is_empty() {
        (15998, "FieldPath field names may not be empty strings.")
    } else if name.starts_with('$') {
        (
            16410,
            "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
        )
    } else if name.contains('\0') {
        (16411, "FieldPath field names may not contain '\\0'.")
    } else if name.contains('.') {
        (16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
    } else {
        return Ok(());
    };
    Err(Error::command(Code(code), message))
}

/// Refuses a variable name that the language cannot have, for reading (`$$NAME`) when `read`, else for binding.
pub(crate) fn check_variable_name(name: &str, read: bool) -> Result<()> {
    let refuse = |message: String| Err(Error::command(Code::FAILED_TO_PARSE, message));
    let Some(first) = name.chars().next() else {
        return refuse("empty variable names are not allowed".to_owned());
    };
    if !read && name == "CURRENT" {
        return Ok(());
    }
    if !(first.is_ascii_lowercase() || !first.is_ascii() || read && first.is_ascii_uppercase()) {
        return refuse(format!(
            "'{name}' starts with an invalid character for a user variable name"
        ));
    }
    match name.chars().find(|c| c.is_ascii() && !c.is_ascii_alphanumeric() && *c != '_') {
        Some(bad) => {
            refuse(format!("'{name}' contains an invalid character for a variable name: '{bad}'"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use bson::{bson, doc};

    use super::*;

    fn at(path: &str, document: &Document) -> Option<Bson> {
        FieldPath::parse(path).unwrap().of(document).map(Cow::into_owned)
    }

    #[test]
    fn a_path_maps_over_arrays_and_never_indexes() {
        let document =
            doc! { "a": [{ "b": 1 }, { "c": 2 }, 3, [{ "b": 4 }], { "b": 5 }], "s": { "t": "x" } };
        assert_eq!(at("a.b", &document), Some(bson!([1, 5])));
        assert_eq!(at("a.0", &document), Some(bson!([])));
        assert_eq!(at("s.t", &document), Some(bson!("x")));
        assert_eq!(at("s.t.u", &document), None);
        assert_eq!(at("zz", &document), None);
    }

    #[test]
    fn impossible_paths_have_the_servers_codes() {
        let code = |path: &str| FieldPath::parse(path).unwrap_err().code().unwrap().0;
        assert_eq!(code(""), 40352);
        assert_eq!(code("a."), 40353);
        assert_eq!(code("a..b"), 15998);
        assert_eq!(code("a.$b"), 16410);
    }

    #[test]
    fn variable_names_for_reading_and_for_binding() {
        let message = |name: &str, read| check_variable_name(name, read).map_err(|e| e.to_string());
        assert_eq!(
            message("$s", true),
            Err("'$s' starts with an invalid character for a user variable name".into())
        );
        assert_eq!(message("", true), Err("empty variable names are not allowed".into()));
        assert_eq!(message("ROOT", true), Ok(()));
        assert!(message("Up", false).is_err());
        assert_eq!(message("CURRENT", false), Ok(()));
        assert_eq!(
            message("a-b", false),
            Err("'a-b' contains an invalid character for a variable name: '-'".into())
        );
    }
}
