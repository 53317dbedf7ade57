//! The `tally` program.

fn main() {}
