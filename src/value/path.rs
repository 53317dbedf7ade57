//! Dotted paths into documents and arrays, as queries, projections and updates walk them.
