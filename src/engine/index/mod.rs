//! Indexes: keys of a document, bounds of a filter, and the plan that joins the two.
