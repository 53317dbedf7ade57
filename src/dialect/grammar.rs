//! The parser that pest derives from `grammar/shell.pest`, and the verbs that the grammar lists.
//!
//! pest documents the rules of a grammar in the code that it derives, hence the allowance.
#![allow(missing_docs)]

use pest_derive::Parser;

/// The derived parser.
#[derive(Parser)]
#[grammar = "grammar/shell.pest"]
pub(super) struct Shell;

/// The verbs of shell words that the grammar knows, sorted. A verb that is missing here is JavaScript.
pub const VERBS: &[&str] = &[
    "back",
    "bye",
    "challenge",
    "check",
    "cls",
    "edit",
    "exit",
    "help",
    "hint",
    "it",
    "learn",
    "next",
    "play",
    "quit",
    "reset",
    "set",
    "show",
    "skip",
    "trace",
    "translate",
    "use",
];
