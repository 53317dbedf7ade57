//! The interactive prompt: reading lines, completing, highlighting, remembering.

mod history;
mod secret;
