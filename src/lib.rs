//! tally: a mongo shell in one small binary.

// The parser that pest derives names it.
extern crate alloc;

pub mod backend;
pub mod cli;
pub mod dialect;
pub mod engine;
pub mod error;
pub mod interrupt;
pub mod print;
pub mod repl;
pub mod script;
pub mod session;
pub mod shell;
pub mod value;

pub use error::{Error, Result};
pub use interrupt::Interrupt;
