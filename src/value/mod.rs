//! BSON algebra, pure: how values compare, how numbers combine, how dotted paths resolve.
//!
//! Nothing here knows of commands, storage or JavaScript. Each delicate rule has one home: ordering in [`compare`],
//! number arithmetic in [`number`], dotted paths in [`path`], index keys in [`key`].

pub mod compare;
pub mod key;
pub mod number;
pub mod path;
