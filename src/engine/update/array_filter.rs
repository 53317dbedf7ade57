//! `arrayFilters`: which elements a `$[id]` in a path stands for.

use std::collections::BTreeMap;

use bson::{Bson, Document};

use crate::engine::expr::Scope;
use crate::engine::query::Filter;
use crate::error::{Code, Error, Result};
use crate::{bad_value, refuse};

/// One array filter.
#[derive(Clone, Debug)]
pub(super) struct ArrayFilter {
    identifier: String,
    filter: Filter,
}

/// Compiles the array filters of an update.
///
/// # Errors
/// 9 where a filter has no or several top-level names or a name is given twice, 2 for a name that is none.
pub(super) fn parse(filters: &[Document], scope: &Scope) -> Result<BTreeMap<String, ArrayFilter>> {
    let mut all = BTreeMap::new();
    for document in filters {
        let refused = |error: Error| error.prefixed("Error parsing array filter :: caused by :: ");
        let filter = Filter::parse(document, scope).map_err(refused)?;
        let mut name = None;
        collect_name(document, &mut name).map_err(refused)?;
        let Some(identifier) = name else {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Cannot use an expression without a top-level field name in arrayFilters"
            ));
        };
        if !is_identifier(&identifier) {
            return Err(refused(bad_value!(
                "The top-level field name must be an alphanumeric string beginning with a lowercase letter, found \
                 '{identifier}'"
            )));
        }
        let entry = ArrayFilter { identifier: identifier.clone(), filter };
        if all.insert(identifier.clone(), entry).is_some() {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Found multiple array filters with the same top-level field name {identifier}"
            ));
        }
    }
    Ok(all)
}

/// Finds the one name all paths of a filter begin with.
fn collect_name(document: &Document, name: &mut Option<String>) -> Result<()> {
    for (path, value) in document {
        if path.starts_with('$') {
            // The filter has been compiled: these are lists of documents, or hold no paths.
            for branch in value.as_array().into_iter().flatten().filter_map(Bson::as_document) {
                collect_name(branch, name)?;
            }
            continue;
        }
        let first = path.split('.').next().unwrap_or(path);
        match name {
            None => *name = Some(first.to_owned()),
            Some(other) if other == first => {}
            Some(other) => {
                return Err(Error::command(
                    Code::FAILED_TO_PARSE,
                    format!(
                        "Expected a single top-level field name, found '{other}' and '{first}'"
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn is_identifier(name: &str) -> bool {
    name.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

impl ArrayFilter {
    /// Whether an element of an array is meant.
    pub(super) fn matches(&self, element: &Bson) -> Result<bool> {
        let mut document = Document::new();
        document.insert(self.identifier.clone(), element.clone());
        self.filter.matches(&document)
    }
}
