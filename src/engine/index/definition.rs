//! What an index is: its fields, its options, and the specification it is listed with.

use bson::{Bson, Document, doc};

use crate::engine::expr::Scope;
use crate::engine::query::Filter;
use crate::error::{Code, Error, Result};
use crate::refuse;
use crate::value::text;

/// An index as it was asked for, ready to give keys.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// Whether two documents may not have one key.
    pub unique: bool,
    /// Whether documents without any of the fields are left out.
    pub sparse: bool,
    /// Which documents it holds, when not all.
    pub partial: Option<Filter>,
    /// Whether plans may not use it.
    pub hidden: bool,
    /// Whether it holds entries. Text and geographic indexes are only listed: no query here uses them.
    pub kept: bool,
    /// Everything it was given, as `listIndexes` shows it.
    pub spec: Document,
}

/// One field of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The dotted path.
    pub path: String,
    /// Whether greater values come first.
    pub descending: bool,
}

/// The options an index may have, beside `key`, `name` and `v`.
const OPTIONS: &[&str] = &[
    "2dsphereIndexVersion",
    "background",
    "bits",
    "bucketSize",
    "clustered",
    "collation",
    "default_language",
    "expireAfterSeconds",
    "hidden",
    "language_override",
    "max",
    "min",
    "ns",
    "partialFilterExpression",
    "prepareUnique",
    "sparse",
    "storageEngine",
    "textIndexVersion",
    "unique",
    "weights",
    "wildcardProjection",
];

/// Kinds of index beside ascending and descending; of these only `hashed` gives keys.
const PLUGINS: &[&str] = &["2d", "2dsphere", "hashed", "text"];

impl Definition {
    /// The index on `_id` that every collection has.
    pub fn id() -> Self {
        Self {
            name: "_id_".into(),
            fields: vec![Field { path: "_id".into(), descending: false }],
            unique: true,
            sparse: false,
            partial: None,
            hidden: false,
            kept: true,
            spec: doc! { "v": 2, "key": { "_id": 1 }, "name": "_id_" },
        }
    }

    /// Whether it is the index on `_id`.
    pub fn is_id(&self) -> bool {
        let only = |field: &Field| field.path == "_id" && !field.descending;
        self.fields.len() == 1 && only(&self.fields[0]) && self.kept && !self.is_hashed(0)
    }

    /// Whether a field's entries are in no order.
    pub fn is_hashed(&self, field: usize) -> bool {
        let order = self.spec.get_document("key").ok().and_then(|key| key.values().nth(field));
        matches!(order, Some(Bson::String(_)))
    }

    /// The key pattern.
    pub fn key(&self) -> Document {
        self.spec.get_document("key").cloned().unwrap_or_default()
    }

    /// Compiles a specification of `createIndexes`, or a listed one.
    ///
    /// # Errors
    /// The server's, with `Error in specification {...} :: caused by :: ` in front unless an option is at odds with the
    /// others.
    pub fn parse(given: &Document) -> Result<Self> {
        let definition = Self::parse_bare(given).map_err(|error| {
            error.prefixed(&format!(
                "Error in specification {} :: caused by :: ",
                text::document(given)
            ))
        })?;
        if definition.is_id() {
            check_id(given)?;
            return Ok(Self::id());
        }
        if definition.sparse && definition.partial.is_some() {
            return Err(refuse!(
                CANNOT_CREATE_INDEX,
                "cannot mix \"partialFilterExpression\" and \"sparse\" options"
            ));
        }
        Ok(definition)
    }

    fn parse_bare(given: &Document) -> Result<Self> {
        let key = match given.get("key") {
            None => {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "The 'key' field is a required property of an index specification"
                ));
            }
            Some(Bson::Document(key)) => key,
            Some(other) => return Err(wrong_type("key", other, "object")),
        };
        let (fields, kept) = parse_key(key)?;
        let name = match given.get("name") {
            None => default_name(key),
            Some(Bson::String(name)) if name.is_empty() => {
                return Err(refuse!(CANNOT_CREATE_INDEX, "index name cannot be empty"));
            }
            Some(Bson::String(name)) if name == "*" => {
                return Err(refuse!(BAD_VALUE, "The index name '*' is not valid."));
            }
            Some(Bson::String(name)) => name.clone(),
            Some(other) => return Err(wrong_type("name", other, "string")),
        };
        let mut definition = Self {
            name: name.clone(),
            fields,
            unique: false,
            sparse: false,
            partial: None,
            hidden: false,
            kept,
            spec: doc! { "v": 2, "key": key.clone(), "name": name },
        };
        for (option, value) in given {
            match option.as_str() {
                "key" | "name" | "ns" => continue,
                "v" => {
                    if !matches!(whole(value), Some(1 | 2)) {
                        return Err(refuse!(
                            CANNOT_CREATE_INDEX,
                            "Invalid index specification {}; cannot create an index with v={}",
                            text::document(given),
                            text::value(value)
                        ));
                    }
                    continue;
                }
                "unique" => definition.unique = flag(option, value)?,
                "sparse" => definition.sparse = flag(option, value)?,
                "hidden" => definition.hidden = flag(option, value)?,
                "background" => drop(flag(option, value)?),
                "expireAfterSeconds" => check_expiry(key, value)?,
                "collation" => check_collation(value)?,
                "partialFilterExpression" => definition.partial = Some(parse_partial(value)?),
                known if OPTIONS.contains(&known) => {}
                unknown => {
                    return Err(refuse!(
                        INVALID_INDEX_SPECIFICATION_OPTION,
                        "The field '{unknown}' is not valid for an index specification. Specification: {}",
                        text::document(given)
                    ));
                }
            }
            if option == "collation" {
                continue;
            }
            definition.spec.insert(option.clone(), value.clone());
        }
        if !definition.hidden {
            definition.spec.remove("hidden");
        }
        Ok(definition)
    }
}

/// The index on `_id` is what it is: it takes hardly any option.
fn check_id(given: &Document) -> Result<()> {
    let free = ["background", "collation", "key", "name", "ns", "v"];
    match given.keys().find(|option| !free.contains(&option.as_str())) {
        None => Ok(()),
        Some(option) => Err(refuse!(
            INVALID_INDEX_SPECIFICATION_OPTION,
            "The field '{option}' is not valid for an _id index specification. Specification: {}",
            text::document(given)
        )),
    }
}

/// Compiles a `partialFilterExpression`, which takes fewer operators than a query.
fn parse_partial(value: &Bson) -> Result<Filter> {
    let Bson::Document(expression) = value else {
        return Err(wrong_type("partialFilterExpression", value, "object"));
    };
    check_partial(expression)?;
    // It may not refer to variables or the time.
    Filter::parse(expression, &Scope::new(bson::DateTime::from_millis(0)))
}

fn check_partial(expression: &Document) -> Result<()> {
    let unsupported = |name: &str, value: &Bson| {
        refuse!(
            CANNOT_CREATE_INDEX,
            "unsupported expression in partial index: {}",
            text::element(name, value)
        )
    };
    for (name, value) in expression {
        match (name.as_str(), value) {
            ("$and" | "$or", Bson::Array(branches)) => {
                for branch in branches.iter().filter_map(Bson::as_document) {
                    check_partial(branch)?;
                }
            }
            (operator, value) if operator.starts_with('$') => {
                return Err(unsupported(operator, value));
            }
            (field, Bson::Document(operators))
                if operators.keys().any(|name| name.starts_with('$')) =>
            {
                for (operator, value) in operators {
                    let known = match operator.as_str() {
                        "$eq" | "$gt" | "$gte" | "$lt" | "$lte" | "$in" | "$type" => true,
                        "$exists" => !matches!(
                            value,
                            Bson::Boolean(false) | Bson::Int32(0) | Bson::Int64(0) | Bson::Null
                        ),
                        _ => false,
                    };
                    if !known {
                        return Err(unsupported(field, &Bson::Document(operators.clone())));
                    }
                }
            }
            (_, Bson::RegularExpression(_)) => return Err(unsupported(name, value)),
            _ => {}
        }
    }
    Ok(())
}

fn parse_key(key: &Document) -> Result<(Vec<Field>, bool)> {
    if key.is_empty() {
        return Err(refuse!(CANNOT_CREATE_INDEX, "Index keys cannot be empty."));
    }
    let (mut fields, mut kept) = (Vec::with_capacity(key.len()), true);
    for (path, order) in key {
        if path.is_empty() || path.split('.').any(str::is_empty) {
            return Err(refuse!(CANNOT_CREATE_INDEX, "Index keys cannot be an empty field."));
        }
        if path == "$**" || path.ends_with(".$**") {
            kept = false;
        } else if path
            .split('.')
            .any(|name| name.starts_with('$') && !matches!(name, "$id" | "$ref" | "$db"))
        {
            return Err(refuse!(
                CANNOT_CREATE_INDEX,
                "Index key contains an illegal field name: field name starts with '$'."
            ));
        }
        let descending = match (order, direction(order)) {
            (_, Some(descending)) => descending,
            (Bson::String(plugin), _) if PLUGINS.contains(&plugin.as_str()) => {
                kept &= plugin == "hashed";
                false
            }
            (Bson::String(plugin), _) => {
                return Err(refuse!(CANNOT_CREATE_INDEX, "Unknown index plugin '{plugin}'"));
            }
            (Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_), _) => {
                return Err(refuse!(
                    CANNOT_CREATE_INDEX,
                    "Values in the index key pattern cannot be 0."
                ));
            }
            (other, _) => {
                return Err(refuse!(
                    CANNOT_CREATE_INDEX,
                    "Values in v:2 index key pattern cannot be of type {}. Only numbers > 0, numbers < 0, and strings are \
                     allowed.",
                    text::type_name(other)
                ));
            }
        };
        fields.push(Field { path: path.clone(), descending });
    }
    Ok((fields, kept))
}

/// Whether a key's value means descending; `None` when it is no order.
fn direction(order: &Bson) -> Option<bool> {
    let number = match order {
        Bson::Int32(number) => f64::from(*number),
        Bson::Int64(number) => *number as f64,
        Bson::Double(number) => *number,
        Bson::Decimal128(number) => number.to_string().parse().unwrap_or(0.0),
        _ => return None,
    };
    if number == 0.0 || number.is_nan() { None } else { Some(number < 0.0) }
}

/// `a_1_b_-1`, as an index without a name is called.
pub fn default_name(key: &Document) -> String {
    let parts = key.iter().map(|(path, order)| match order {
        Bson::String(plugin) => format!("{path}_{plugin}"),
        Bson::Double(number) => format!("{path}_{number}"),
        other => format!("{path}_{}", text::value(other)),
    });
    parts.collect::<Vec<_>>().join("_")
}

fn whole(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        Bson::Double(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
            Some(*number as i64)
        }
        _ => None,
    }
}

fn flag(option: &str, value: &Bson) -> Result<bool> {
    match value {
        Bson::Boolean(flag) => Ok(*flag),
        Bson::Int32(number) => Ok(*number != 0),
        Bson::Int64(number) => Ok(*number != 0),
        Bson::Double(number) => Ok(*number != 0.0),
        other => Err(wrong_type(option, other, "bool")),
    }
}

fn wrong_type(field: &str, found: &Bson, wanted: &str) -> Error {
    refuse!(
        TYPE_MISMATCH,
        "The field '{field}' must be a{} {wanted}, but got {}",
        if wanted.starts_with('o') { "n" } else { "" },
        text::type_name(found)
    )
}

fn check_expiry(key: &Document, value: &Bson) -> Result<()> {
    let seconds = match value {
        Bson::Int32(number) => f64::from(*number),
        Bson::Int64(number) => *number as f64,
        Bson::Double(number) => *number,
        other => {
            return Err(refuse!(
                CANNOT_CREATE_INDEX,
                "TTL index 'expireAfterSeconds' option must be numeric, but received a type of '{}'. Index spec: {}",
                text::type_name(other),
                text::document(key)
            ));
        }
    };
    if key.len() > 1 {
        return Err(refuse!(
            CANNOT_CREATE_INDEX,
            "TTL indexes are single-field indexes, compound indexes do not support TTL. Index spec: {}",
            text::document(key)
        ));
    }
    if !(0.0..=f64::from(i32::MAX)).contains(&seconds) {
        return Err(refuse!(
            CANNOT_CREATE_INDEX,
            "TTL index 'expireAfterSeconds' option must be within an acceptable range, try a different number. Index spec: {}",
            text::document(key)
        ));
    }
    Ok(())
}

/// Strings compare by their bytes here; a collation that asks for more is refused.
///
/// # Errors
/// [`Code::COMMAND_NOT_SUPPORTED`] naming the locale.
pub fn check_collation(value: &Bson) -> Result<()> {
    match value {
        Bson::Null => Ok(()),
        Bson::Document(collation) if collation.is_empty() => Ok(()),
        Bson::Document(collation) => match collation.get("locale") {
            Some(Bson::String(locale)) if locale == "simple" => Ok(()),
            Some(Bson::String(locale)) => Err(Error::command(
                Code::COMMAND_NOT_SUPPORTED,
                format!(
                    "the collation locale '{locale}' is not supported by the embedded engine; only 'simple' is"
                ),
            )),
            Some(other) => Err(refuse!(
                TYPE_MISMATCH,
                "BSON field 'collation.locale' is the wrong type '{}', expected type 'string'",
                text::type_name(other)
            )),
            None => Err(Error::command(
                Code(40414),
                "BSON field 'collation.locale' is missing but a required field",
            )),
        },
        other => Err(refuse!(
            TYPE_MISMATCH,
            "BSON field 'collation' is the wrong type '{}', expected type 'object'",
            text::type_name(other)
        )),
    }
}
