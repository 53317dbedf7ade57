//! The interactive prompt: reading lines, completing, highlighting, remembering.

mod complete;
mod history;
mod names;
mod secret;
