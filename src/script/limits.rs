//! How much memory and stack a script may use.

use std::fs;

/// The limits of a script. Exceeding one is an error that the script can catch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The heap in bytes; 0 is no limit.
    pub memory: usize,
    /// The stack in bytes, 16 MB at most; it must lie well inside that of the thread.
    pub stack: usize,
}

/// The most stack that a script gets: a quarter of a thread of 64 MB. The rest is for Rust below the door; and the
/// engine takes any more for no limit at all.
pub(super) const STACK: usize = 16 << 20;

impl Default for Limits {
    fn default() -> Self {
        Self { memory: machine_memory() / 2, stack: STACK }
    }
}

/// The memory of the machine or of the control group that this process may use, whichever is less; 0 when unknown.
fn machine_memory() -> usize {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<usize>().ok();
    let total = fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? * 1024)
    });
    let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    groups.into_iter().filter_map(number).chain(total).min().unwrap_or(0)
}

/// The most memory that this process ever had, where the system tells.
pub(super) fn peak_memory() -> Option<usize> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? * 1024)
}
