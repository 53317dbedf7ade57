//! The names of BSON types as server messages and `$type` spell them.

use bson::Bson;
use bson::spec::ElementType;

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
    of(value.element_type())
}

/// The name of a type.
pub fn of(element: ElementType) -> &'static str {
    match element {
        ElementType::Array => "array",
        ElementType::Binary => "binData",
        ElementType::Boolean => "bool",
        ElementType::DateTime => "date",
        ElementType::DbPointer => "dbPointer",
        ElementType::Decimal128 => "decimal",
        ElementType::Double => "double",
        ElementType::Int32 => "int",
        ElementType::JavaScriptCode => "javascript",
        ElementType::JavaScriptCodeWithScope => "javascriptWithScope",
        ElementType::Int64 => "long",
        ElementType::MaxKey => "maxKey",
        ElementType::MinKey => "minKey",
        ElementType::Null => "null",
        ElementType::EmbeddedDocument => "object",
        ElementType::ObjectId => "objectId",
        ElementType::RegularExpression => "regex",
        ElementType::String => "string",
        ElementType::Symbol => "symbol",
        ElementType::Timestamp => "timestamp",
        ElementType::Undefined => "undefined",
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
        assert_eq!(of(ElementType::MinKey), "minKey");
        assert_eq!(name_or_missing(None), "missing");
    }
}
