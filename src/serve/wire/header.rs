//! The sixteen bytes in front of every message.

use super::{Malformed, malformed, number};

/// The length of a header.
pub const HEADER: usize = 16;

/// The most bytes of a message, its header included.
pub const LARGEST_MESSAGE: usize = 48_000_000;

/// What kind of message it is. The other kinds are gone from MongoDB since 6.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpCode {
    /// The answer to a [`OpCode::Query`].
    Reply = 1,
    /// A command as the oldest drivers send all, and most still send their greeting.
    Query = 2004,
    /// Another message, compressed.
    Compressed = 2012,
    /// A command, or its answer.
    Message = 2013,
}

impl OpCode {
    /// The kind of a message that a client sends.
    pub(super) fn of_request(number: i32) -> Result<Self, Malformed> {
        match number {
            2004 => Ok(Self::Query),
            2012 => Ok(Self::Compressed),
            2013 => Ok(Self::Message),
            other => Err(malformed!("messages of the kind {other} are not understood")),
        }
    }
}

/// What stands in front of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the message, these sixteen included.
    pub length: usize,
    /// The client's number for it, which the answer repeats.
    pub request: i32,
    /// What kind of message it is.
    pub code: OpCode,
}

impl Header {
    /// Reads the header of a client's message; `None` while it is not there as a whole.
    ///
    /// # Errors
    /// [`Malformed`] for a length that no message has, and for a kind that no client may send.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        if bytes.len() < HEADER {
            return Ok(None);
        }
        let (length, rest) = number(bytes)?;
        let (request, rest) = number(rest)?;
        let (_, rest) = number(rest)?;
        let (code, _) = number(rest)?;
        match usize::try_from(length) {
            Ok(length) if (HEADER..=LARGEST_MESSAGE).contains(&length) => {
                Ok(Some(Self { length, request, code: OpCode::of_request(code)? }))
            }
            _ => Err(malformed!("a message cannot have {length} bytes")),
        }
    }
}
