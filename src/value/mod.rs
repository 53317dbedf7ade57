//! BSON algebra, pure: how values compare, how numbers combine, how dotted paths resolve.
//!
//! Nothing here knows of commands, storage or JavaScript. Each delicate rule has one home: ordering in [`compare`],
//! number arithmetic in [`number`] (decimals in [`decimal`]), dotted paths in [`path`], index keys in [`key`], the
//! names of types in [`kind`], dates in [`calendar`], the server's way of writing values in messages in [`text`]; [`raw`]
//! makes room for documents.

pub mod brief;
pub mod calendar;
pub mod compare;
pub mod decimal;
pub mod key;
pub mod kind;
pub mod number;
pub mod path;
pub mod raw;
pub mod size;
pub mod sum;
pub mod text;
