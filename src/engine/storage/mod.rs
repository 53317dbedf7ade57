//! What is on the disk: catalog, records, index entries, and the batch that changes them together.
