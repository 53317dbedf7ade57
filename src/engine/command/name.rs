//! Names of databases and collections, and what may not be one.

use bson::{RawBsonRef, RawDocument};

use super::fields::type_name;
use crate::error::Result;
use crate::refuse;

/// The most bytes of `database.collection`.
const LONGEST_NAMESPACE: usize = 255;

/// The most characters of a database's name.
const LONGEST_DATABASE: usize = 63;

/// Refuses what cannot name a database.
pub(super) fn check_database(name: &str) -> Result<()> {
    if name.len() > LONGEST_DATABASE {
        return Err(refuse!(
            INVALID_NAMESPACE,
            "db name must be at most {LONGEST_DATABASE} characters, found: {}",
            name.len()
        ));
    }
    if name.is_empty()
        || name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?', '\0'])
    {
        return Err(refuse!(INVALID_NAMESPACE, "Invalid database name: '{name}'"));
    }
    Ok(())
}

/// The collection that a command's first field names.
pub(super) fn collection<'a>(database: &str, body: &'a RawDocument) -> Result<&'a str> {
    let Some(Ok((_, value))) = body.iter().next() else {
        return Err(refuse!(FAILED_TO_PARSE, "the command is empty"));
    };
    let RawBsonRef::String(name) = value else {
        return Err(refuse!(
            INVALID_NAMESPACE,
            "collection name has invalid type {}",
            type_name(value)
        ));
    };
    check_readable(database, name)?;
    Ok(name)
}

/// Refuses what no command can name.
pub(super) fn check_readable(database: &str, name: &str) -> Result<()> {
    if name.is_empty() || name.starts_with('.') || name.contains('\0') {
        return Err(refuse!(INVALID_NAMESPACE, "Invalid namespace specified '{database}.{name}'"));
    }
    Ok(())
}

/// Refuses what cannot name a new collection.
pub(super) fn check_creatable(database: &str, name: &str) -> Result<()> {
    check_readable(database, name)?;
    if name.contains('$') || name.ends_with('.') {
        return Err(refuse!(INVALID_NAMESPACE, "Invalid collection name: {name}"));
    }
    if name.starts_with("system.")
        && !matches!(name, "system.js" | "system.profile" | "system.views" | "system.users")
    {
        return Err(refuse!(INVALID_NAMESPACE, "Invalid system namespace: {database}.{name}"));
    }
    let length = database.len() + 1 + name.len();
    if length > LONGEST_NAMESPACE {
        return Err(refuse!(
            INVALID_NAMESPACE,
            "Fully qualified namespace is too long. Namespace: {database}.{name} Max: {LONGEST_NAMESPACE}"
        ));
    }
    Ok(())
}
