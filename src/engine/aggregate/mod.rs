//! Pipelines: stages that turn one stream of documents into another.
//!
//! A stage is a row of its family's table and a compiled struct. Documents flow through one by one; only stages that must
//! see everything first ($group, $sort, $sample, $bucketAuto, $facet) collect, within a memory limit.

mod bucket;
mod context;
mod densify;
mod facet;
mod fill;
mod flow;
mod graph;
mod group;
mod joined;
mod lookup;
mod memory;
mod pipeline;
mod redact;
mod shape;
mod sort;
mod unwind;
mod window;

use std::fmt::Debug;

use bson::{Bson, Document};

use crate::engine::expr::Scope;
use crate::error::{Code, Error, Result};

pub use context::{Collections, Context};
pub(crate) use flow::asks_javascript;
pub use pipeline::Pipeline;
pub use window::{FUNCTIONS, FunctionRow};

/// The refusal of a stage by its number, which has no name.
fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

/// Documents on their way through a pipeline.
pub type Documents<'a> = Box<dyn Iterator<Item = Result<Document>> + 'a>;

/// One stage of the language.
#[derive(Debug)]
pub struct Row {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// One line for a user.
    pub help: &'static str,
    /// Where it may stand.
    pub(crate) place: Place,
    parse: fn(&Bson, &Scope) -> Result<Box<dyn Stage>>,
}

/// Where a stage may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Anywhere, updates included.
    Update,
    /// Anywhere in a query.
    Anywhere,
    /// Not within `$facet`.
    Outside,
    /// Only at the beginning.
    First,
}

/// A compiled stage.
pub(crate) trait Stage: Debug + Send + Sync {
    /// What comes out when `input` goes in.
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a>;

    /// Evaluates what needs no document.
    fn fold(&mut self, scope: &Scope) -> Result<()> {
        let _ = scope;
        Ok(())
    }

    /// Tells the stage that only its first `count` documents are wanted.
    fn wants(&mut self, count: usize) {
        let _ = count;
    }

    /// How many documents pass at most, and how many are left out before them.
    fn window(&self) -> Option<(usize, usize)> {
        None
    }
}

/// The families, each sorted by name.
const FAMILIES: &[&[Row]] = &[
    bucket::STAGES,
    densify::STAGES,
    facet::STAGES,
    fill::STAGES,
    flow::STAGES,
    graph::STAGES,
    group::STAGES,
    lookup::STAGES,
    redact::STAGES,
    shape::STAGES,
    sort::STAGES,
    unwind::STAGES,
    window::STAGES,
];

/// Every stage, family by family.
pub fn stages() -> impl Iterator<Item = &'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

fn row(name: &str) -> Option<&'static Row> {
    stages().find(|row| row.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn families_are_sorted_and_names_are_unique() {
        let mut seen = HashSet::new();
        for family in FAMILIES {
            assert!(family.is_sorted_by_key(|row| row.name));
        }
        for row in stages() {
            assert!(
                seen.insert(row.name) && row.name.starts_with('$') && !row.help.is_empty(),
                "{}",
                row.name
            );
        }
    }
}
