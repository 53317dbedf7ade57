//! The wire protocol as pure functions over bytes: no socket, no engine, nothing that waits.
//!
//! A message arrives whole ([`Header`] says how long it is), becomes a [`Message`] by [`decode`], and is answered by
//! [`encode`]. Whatever a client sends, [`decode`] answers with a message or a [`Malformed`]; it allocates no more than the
//! message's own bytes, and what a compressed one may unfold to, which [`unfolded`] tells beforehand.

mod checksum;
mod compression;
mod header;
mod message;
mod reply;
#[cfg(test)]
mod tests;

pub use compression::Compressor;
pub use header::{HEADER, Header, LARGEST_MESSAGE, OpCode};
pub use message::{Answer, Message, decode, is_unanswered, unfolded};
pub use reply::encode;

use std::fmt;

/// What makes a message none. The connection it came from is closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Shorthand for a [`Malformed`] with a formatted text.
macro_rules! malformed {
    ($($argument:tt)*) => { $crate::serve::wire::Malformed(format!($($argument)*)) };
}
use malformed;

/// The little-endian number at the start of `bytes`, and what follows it.
fn number(bytes: &[u8]) -> Result<(i32, &[u8]), Malformed> {
    let (number, rest) =
        bytes.split_first_chunk().ok_or_else(|| malformed!("the message breaks off"))?;
    Ok((i32::from_le_bytes(*number), rest))
}
