//! The names of BSON types as server messages and `$type` spell them.

use bson::Bson;

/// One BSON type: its alias, and its number in the BSON specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The alias, e.g. `objectId`.
    pub name: &'static str,
    /// The number, e.g. 7; -1 for `minKey`.
    pub code: i32,
}

/// Every type, sorted by alias.
pub const KINDS: &[Kind] = &[
    Kind { name: "array", code: 4 },
    Kind { name: "binData", code: 5 },
    Kind { name: "bool", code: 8 },
    Kind { name: "date", code: 9 },
    Kind { name: "dbPointer", code: 12 },
    Kind { name: "decimal", code: 19 },
    Kind { name: "double", code: 1 },
    Kind { name: "int", code: 16 },
    Kind { name: "javascript", code: 13 },
    Kind { name: "javascriptWithScope", code: 15 },
    Kind { name: "long", code: 18 },
    Kind { name: "maxKey", code: 127 },
    Kind { name: "minKey", code: -1 },
    Kind { name: "null", code: 10 },
    Kind { name: "object", code: 3 },
    Kind { name: "objectId", code: 7 },
    Kind { name: "regex", code: 11 },
    Kind { name: "string", code: 2 },
    Kind { name: "symbol", code: 14 },
    Kind { name: "timestamp", code: 17 },
    Kind { name: "undefined", code: 6 },
];

/// The name of a value's type, as messages and the `$type` expression say it.
pub fn name(value: &Bson) -> &'static str {
    match value {
        Bson::Array(_) => "array",
        Bson::Binary(_) => "binData",
        Bson::Boolean(_) => "bool",
        Bson::DateTime(_) => "date",
        Bson::DbPointer(_) => "dbPointer",
        Bson::Decimal128(_) => "decimal",
        Bson::Double(_) => "double",
        Bson::Int32(_) => "int",
        Bson::JavaScriptCode(_) => "javascript",
        Bson::JavaScriptCodeWithScope(_) => "javascriptWithScope",
        Bson::Int64(_) => "long",
        Bson::MaxKey => "maxKey",
        Bson::MinKey => "minKey",
        Bson::Null => "null",
        Bson::Document(_) => "object",
        Bson::ObjectId(_) => "objectId",
        Bson::RegularExpression(_) => "regex",
        Bson::String(_) => "string",
        Bson::Symbol(_) => "symbol",
        Bson::Timestamp(_) => "timestamp",
        Bson::Undefined => "undefined",
    }
}

/// The name of a value's type, `missing` where there is none.
pub fn name_or_missing(value: Option<&Bson>) -> &'static str {
    value.map_or("missing", name)
}

/// The type with this alias.
pub fn by_name(alias: &str) -> Option<Kind> {
    KINDS.binary_search_by_key(&alias, |kind| kind.name).ok().map(|at| KINDS[at])
}

/// The type with this number.
pub fn by_code(code: i64) -> Option<Kind> {
    KINDS.iter().find(|kind| i64::from(kind.code) == code).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_and_numbers_find_their_type() {
        assert!(KINDS.is_sorted_by_key(|kind| kind.name));
        assert_eq!(by_name("objectId").map(|kind| kind.code), Some(7));
        assert_eq!(by_code(-1).map(|kind| kind.name), Some("minKey"));
        assert_eq!(by_name("number"), None);
        assert_eq!(name(&Bson::Int64(1)), "long");
        assert_eq!(name_or_missing(None), "missing");
    }
}
