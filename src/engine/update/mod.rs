//! Updates: an update document compiled once, then applied to documents.
