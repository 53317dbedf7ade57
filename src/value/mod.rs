//! BSON algebra, pure: how values compare, how numbers combine, how dotted paths resolve.
//!
//! Nothing here knows of commands, storage or JavaScript. Each delicate rule has one home: ordering in [`compare`],
//! number arithmetic in [`number`], dotted paths in [`path`], index keys in [`key`], the
//! server's way of writing values in messages in [`text`].

pub mod compare;
pub mod key;
pub mod number;
pub mod path;
pub mod text;
