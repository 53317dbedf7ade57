//! One input in, one printed reply out.
