//! Pipelines: stages that turn one stream of documents into another.
