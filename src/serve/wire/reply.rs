//! The server's messages: answers.

use bson::RawDocument;

use super::header::{HEADER, OpCode};
use super::message::{Answer, Message};

/// OP_REPLY: a cursor that waits is understood. Old drivers look for it.
const AWAIT_CAPABLE: i32 = 8;

/// The answer to a message, as it goes to the client; `None` where none is expected.
pub fn encode(message: &Message, id: i32, reply: &RawDocument) -> Option<Vec<u8>> {
    let code = match message.answer {
        Answer::None => return None,
        Answer::Message => OpCode::Message,
        Answer::Reply => OpCode::Reply,
    };
    let reply = reply.as_bytes();
    let mut bytes = Vec::with_capacity(HEADER + 20 + reply.len());
    bytes.resize(HEADER, 0);
    match message.answer {
        Answer::Reply => {
            bytes.extend_from_slice(&AWAIT_CAPABLE.to_le_bytes());
            // The cursor and the position in it; then one document.
            bytes.extend_from_slice(&[0; 12]);
            bytes.extend_from_slice(&1_i32.to_le_bytes());
        }
        Answer::Message | Answer::None => bytes.extend_from_slice(&[0; 5]),
    }
    bytes.extend_from_slice(reply);
    let (mut bytes, code) = match message.compressor.map(|how| (how, how.fold(&bytes[HEADER..]))) {
        Some((compressor, Ok(folded))) => {
            let mut outer = Vec::with_capacity(HEADER + 9 + folded.len());
            outer.resize(HEADER, 0);
            outer.extend_from_slice(&(code as i32).to_le_bytes());
            outer.extend_from_slice(&length(bytes.len() - HEADER));
            outer.push(compressor as u8);
            outer.extend_from_slice(&folded);
            (outer, OpCode::Compressed)
        }
        Some((_, Err(_))) | None => (bytes, code),
    };
    let size = length(bytes.len());
    bytes[0..4].copy_from_slice(&size);
    bytes[4..8].copy_from_slice(&id.to_le_bytes());
    bytes[8..12].copy_from_slice(&message.request.to_le_bytes());
    bytes[12..16].copy_from_slice(&(code as i32).to_le_bytes());
    Some(bytes)
}

/// A length as it is written. A reply has one document, and so never more bytes than a number can tell.
fn length(bytes: usize) -> [u8; 4] {
    i32::try_from(bytes).unwrap_or(i32::MAX).to_le_bytes()
}
