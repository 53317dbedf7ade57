//! The memory that a collecting stage may take.

use super::Context;
use crate::error::{Code, Error, Result};

/// The server's limit of a collecting stage, in bytes.
const LIMIT: usize = 100 * 1024 * 1024;

/// Counts the bytes that a stage keeps.
#[derive(Debug)]
pub(super) struct Memory {
    used: usize,
    limited: bool,
    words: &'static str,
}

impl Memory {
    /// The memory of a stage; `words` are the server's when it is too much.
    pub(super) fn new(context: &Context, words: &'static str) -> Self {
        Self { used: 0, limited: !context.allow_disk_use, words }
    }

    /// Takes so many bytes more.
    ///
    /// # Errors
    /// 292 over the limit, unless the disk may be used.
    pub(super) fn take(&mut self, bytes: usize) -> Result<()> {
        self.used += bytes;
        if self.limited && self.used > LIMIT {
            return Err(Error::command(
                Code::QUERY_EXCEEDED_MEMORY_LIMIT_NO_DISK_USE_ALLOWED,
                self.words,
            ));
        }
        Ok(())
    }

    /// Gives back so many bytes.
    pub(super) fn free(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }
}

/// What `$group` says over the limit.
pub(super) const GROUP: &str = "Exceeded memory limit for $group, but didn't allow external sort. Pass allowDiskUse:true to opt in.";

/// What a sort says over the limit.
pub(super) const SORT: &str =
    "Sort exceeded memory limit of 104857600 bytes, but did not opt in to external sorting.";

/// What `$setWindowFields` and `$densify` say over the limit.
pub(super) const WINDOWS: &str = "Exceeded memory limit in DocumentSourceSetWindowFields";
