//! tally's integration tests: one binary, a module for each topic.
//!
//! Whatever a test expects was worked out by hand from what MongoDB's manual and the shells say, never recorded.
#![allow(clippy::unwrap_used, unreachable_pub)]

mod abuse;
mod cli;
mod crash;
mod dialect;
mod engine;
mod engine_commands;
mod engine_damage;
mod engine_laws;
mod engine_once;
mod engine_storage;
mod formats;
mod house;
mod jstests;
mod lessons;
mod mongosh_compare;
mod node;
mod options;
mod print;
mod program;
mod remote;
mod reports;
mod seeds;
mod serve;
mod shell;
mod snippets;
mod terminal;
mod transcript;
mod transcripts;
mod transfer;
mod translate;
mod workers;
