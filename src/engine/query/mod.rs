//! Filters: a query document compiled once, then asked about many documents.
