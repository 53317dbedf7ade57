//! Stages that read other collections: `$lookup`, `$unionWith`.

use super::Row;

pub(super) const STAGES: &[Row] = &[];
