//! Indexes: keys of a document, bounds of a filter, and the plan that joins the two.

mod bounds;
mod definition;
mod keys;
mod plan;

pub use bounds::{Range, describe, describe_branch};
pub use definition::{Definition, Field, check_collation, default_name};
pub use keys::{Keys, LONG_KEYS, LONGEST, shorten};
pub use plan::{Access, Candidate, Hint, Plan, answers, id_of, plan};
