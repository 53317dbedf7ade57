//! JavaScript values into BSON bytes and back: the one home of number types, dates, regular expressions and field order.

mod bytes;
mod from_js;
mod names;
mod to_js;

pub(super) use from_js::{document, order, string, value};
pub(super) use to_js::{Decoder, Numbers};

/// How deep documents may nest, in both directions: the limit of BSON at the server.
const DEPTH: usize = 200;
