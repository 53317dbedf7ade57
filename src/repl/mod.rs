//! The interactive prompt: reading lines, completing, highlighting, remembering.
