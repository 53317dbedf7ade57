//! Aggregation expressions: compiled once, then evaluated on documents.
