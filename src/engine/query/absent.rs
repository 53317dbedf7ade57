//! Operators of searches that this engine does not have, so that they are refused by name: geometry and words.

use bson::Bson;

use crate::error::Result;
use crate::refuse;

use super::node::Node;
use super::parse::Reader;
use super::{Operand, Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$geoIntersects",
        help: "geometries that meet another; not supported by the embedded engine",
        parse: Parse::Field(geometry),
    },
    Operator {
        name: "$geoWithin",
        help: "geometries within another; not supported by the embedded engine",
        parse: Parse::Field(geometry),
    },
    Operator {
        name: "$near",
        help: "places in the order of their distance; not supported by the embedded engine",
        parse: Parse::Field(geometry),
    },
    Operator {
        name: "$nearSphere",
        help: "places in the order of their distance on a sphere; not supported by the embedded engine",
        parse: Parse::Field(geometry),
    },
    Operator {
        name: "$text",
        help: "a search for words; not supported by the embedded engine",
        parse: Parse::Top(words),
    },
    Operator {
        name: "$within",
        help: "the old name of $geoWithin; not supported by the embedded engine",
        parse: Parse::Field(geometry),
    },
];

fn geometry(operand: &Operand<'_>, _: &Reader<'_>) -> Result<Node> {
    Err(refuse!(COMMAND_NOT_SUPPORTED, "{} is not supported by the embedded engine", operand.name))
}

fn words(_: &Bson, _: &Reader<'_>) -> Result<Node> {
    Err(refuse!(COMMAND_NOT_SUPPORTED, "$text is not supported by the embedded engine"))
}
