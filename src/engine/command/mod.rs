//! The database commands: one row each, compiled from a document and then run.
