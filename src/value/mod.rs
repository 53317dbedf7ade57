//! BSON algebra, pure: how values compare, how numbers combine, how dotted paths resolve.
//!
//! Nothing here knows of commands, storage or JavaScript. Each delicate rule has one home: ordering in [`compare`],
//! number arithmetic in [`number`] (decimals in [`decimal`]), dotted paths in [`path`], index keys in [`key`], the
//! names of types in [`kind`], dates in [`calendar`] and [`iso_date`], the server's way of writing values in messages in
//! [`text`], JSON without loss in [`extended_json`], JavaScript's numbers in [`digits`]; [`raw`] makes room for documents.

pub mod brief;
pub mod calendar;
pub mod compare;
pub mod decimal;
pub mod digits;
pub mod extended_json;
pub mod iso_date;
pub mod key;
pub mod kind;
pub mod number;
pub mod path;
pub mod pointer;
pub mod raw;
pub mod size;
pub mod sum;
pub mod text;
