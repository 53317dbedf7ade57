//! Global functions.

use super::rows::{native, shows};
use super::{Class, Shells, Show, counter, mongo};

/// The globals.
pub(super) const GLOBAL: Class = Class::functions(
    "Global",
    "globalThis",
    "functions without an object",
    &[
        native("connect", "(address)", "the database at an address", mongo::connect_database),
        native(
            "counter",
            "(name, options)",
            "the next number of a counter, created by its first call",
            counter::counter,
        ),
        native("nextVal", "(name, options)", "the next number of a sequence", counter::next_val),
        shows("print", "(value, ...)", "prints values", Show::Print),
        shows("printjson", "(value, ...)", "prints a value as JSON", Show::PrintJson),
        shows(
            "printjsononeline",
            "(value)",
            "prints a value as JSON on one line",
            Show::PrintJsonOneLine,
        )
        .only(Shells::Mongo),
        shows("tojson", "(value, indent, nolint)", "a value as JSON text", Show::ToJson)
            .only(Shells::Mongo),
        shows("tojsononeline", "(value)", "a value as JSON text on one line", Show::ToJsonOneLine)
            .only(Shells::Mongo),
        shows("tostrictjson", "(value)", "a value as extended JSON text", Show::ToStrictJson)
            .only(Shells::Mongo),
    ],
);
