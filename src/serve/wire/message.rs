//! Clients' messages: OP_MSG with its sections, OP_QUERY, and either of them compressed.

use bson::{RawDocument, RawDocumentBuf};

use super::checksum::crc32c;
use super::compression::Compressor;
use super::header::{HEADER, Header, OpCode};
use super::{Malformed, malformed, number};
use crate::value::raw;

/// OP_MSG: the last four bytes are a checksum.
const CHECKSUM_PRESENT: u32 = 1;
/// OP_MSG: the client expects no answer.
const MORE_TO_COME: u32 = 1 << 1;
/// OP_MSG: the flags that have to be understood.
const REQUIRED: u32 = 0xffff;

/// The most document sequences of a message. No command has more than two.
const MOST_SEQUENCES: usize = 8;

/// What comes behind the header of OP_COMPRESSED: the kind of the message, its size, the compressor.
const COMPRESSED_HEADER: usize = 9;

/// A command from a client.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// The client's number for it.
    pub request: i32,
    /// The command, with its document sequences merged into it as arrays.
    pub body: RawDocumentBuf,
    /// The database in the name of the collection of an OP_QUERY; an OP_MSG has it in its body.
    pub database: Option<String>,
    /// How it is to be answered.
    pub answer: Answer,
    /// How it was compressed, and the answer is to be.
    pub compressor: Option<Compressor>,
}

/// How a command is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Not at all.
    None,
    /// By an OP_MSG.
    Message,
    /// By an OP_REPLY.
    Reply,
}

/// Whether a message that begins like this says that no answer is expected. Of a compressed one that is not known yet.
pub fn is_unanswered(header: &Header, bytes: &[u8]) -> bool {
    let flags = bytes.get(HEADER..).and_then(|rest| number(rest).ok());
    header.code == OpCode::Message
        && flags.is_some_and(|(flags, _)| flags.cast_unsigned() & MORE_TO_COME != 0)
}

/// How many bytes a message unfolds to, as far as it says so itself.
pub fn unfolded(header: &Header, bytes: &[u8]) -> usize {
    let size = match header.code {
        OpCode::Compressed => bytes.get(HEADER + 4..).and_then(|rest| number(rest).ok()),
        OpCode::Reply | OpCode::Query | OpCode::Message => None,
    };
    size.and_then(|(size, _)| usize::try_from(size).ok()).unwrap_or(0)
}

/// Reads a whole message, its header included.
///
/// # Errors
/// [`Malformed`] for anything that is no message of a client.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let header = Header::parse(bytes)?.ok_or_else(|| malformed!("the message breaks off"))?;
    if header.length != bytes.len() {
        return Err(malformed!("it has {} bytes and says {}", bytes.len(), header.length));
    }
    let content = &bytes[HEADER..];
    match header.code {
        OpCode::Message => sections(&header, content, Some(bytes)),
        OpCode::Query => query(&header, content),
        OpCode::Compressed => compressed(&header, content),
        OpCode::Reply => Err(malformed!("clients send no replies")),
    }
}

fn compressed(header: &Header, content: &[u8]) -> Result<Message, Malformed> {
    let (code, rest) = number(content)?;
    let (size, rest) = number(rest)?;
    let (compressor, folded) =
        rest.split_first().ok_or_else(|| malformed!("the message breaks off"))?;
    debug_assert_eq!(content.len() - folded.len(), COMPRESSED_HEADER);
    let size = usize::try_from(size).map_err(|_| malformed!("it unfolds to {size} bytes"))?;
    let compressor = Compressor::numbered(*compressor)?;
    let mut unfolded = Vec::new();
    compressor.unfold(folded, size, &mut unfolded)?;
    let mut message = match OpCode::of_request(code)? {
        OpCode::Message => sections(header, &unfolded, None)?,
        OpCode::Query => query(header, &unfolded)?,
        OpCode::Compressed | OpCode::Reply => {
            return Err(malformed!("it is compressed more than once"));
        }
    };
    message.compressor = Some(compressor);
    Ok(message)
}

/// Reads an OP_MSG. `whole` is what its checksum is about; that of one that was compressed is about nothing that is left.
fn sections(header: &Header, content: &[u8], whole: Option<&[u8]>) -> Result<Message, Malformed> {
    let (flags, mut rest) = number(content)?;
    let flags = flags.cast_unsigned();
    if flags & REQUIRED & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(malformed!("it has unknown flags: {flags:#x}"));
    }
    if flags & CHECKSUM_PRESENT != 0 {
        let (sections, sum) =
            rest.split_last_chunk::<4>().ok_or_else(|| malformed!("it has no checksum"))?;
        let sum = u32::from_le_bytes(*sum);
        if whole.is_some_and(|whole| crc32c(&whole[..whole.len() - 4]) != sum) {
            return Err(malformed!("its checksum is wrong"));
        }
        rest = sections;
    }
    let mut body = None;
    let mut sequences: Vec<Sequence<'_>> = Vec::new();
    while let Some((kind, content)) = rest.split_first() {
        match kind {
            0 => {
                let (document, after) = document(content)?;
                if body.replace(document).is_some() {
                    return Err(malformed!("it has more than one body"));
                }
                rest = after;
            }
            1 => {
                let (sequence, after) = Sequence::read(content)?;
                if sequences.len() == MOST_SEQUENCES
                    || sequences.iter().any(|other| other.name == sequence.name)
                {
                    return Err(malformed!("it has too many document sequences"));
                }
                sequences.push(sequence);
                rest = after;
            }
            other => return Err(malformed!("there is no section of the kind {other}")),
        }
    }
    let body = body.ok_or_else(|| malformed!("it has no body"))?;
    Ok(Message {
        request: header.request,
        body: merged(body, &sequences)?,
        database: None,
        answer: if flags & MORE_TO_COME != 0 { Answer::None } else { Answer::Message },
        compressor: None,
    })
}

/// A section of documents that belong into the body as an array.
struct Sequence<'a> {
    name: &'a str,
    /// The documents, one behind the other.
    documents: &'a [u8],
}

impl<'a> Sequence<'a> {
    fn read(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Malformed> {
        let (size, _) = number(bytes)?;
        let section = usize::try_from(size).ok().filter(|size| (4..=bytes.len()).contains(size));
        let section = section.ok_or_else(|| malformed!("a section cannot have {size} bytes"))?;
        let (section, after) = bytes.split_at(section);
        let (name, documents) = text(&section[4..])?;
        Ok((Self { name, documents }, after))
    }

    /// Puts the array behind the other elements of a document.
    fn append(&self, bytes: &mut Vec<u8>) -> Result<(), Malformed> {
        bytes.push(bson::spec::ElementType::Array as u8);
        bytes.extend_from_slice(self.name.as_bytes());
        bytes.push(0);
        let start = bytes.len();
        bytes.extend_from_slice(&[0; 4]);
        let mut rest = self.documents;
        for at in 0.. {
            if rest.is_empty() {
                break;
            }
            let (document, after) = document(rest)?;
            raw::push_element(bytes, at, document.as_bytes());
            rest = after;
        }
        raw::close(bytes, start);
        Ok(())
    }
}

/// The body with all sequences in it.
fn merged(body: &RawDocument, sequences: &[Sequence<'_>]) -> Result<RawDocumentBuf, Malformed> {
    if sequences.is_empty() {
        return Ok(body.to_owned());
    }
    let body = body.as_bytes();
    let room: usize = sequences.iter().map(|sequence| sequence.documents.len()).sum();
    // An element of an array has a type, a number and a zero in front of each document.
    let mut bytes = Vec::with_capacity(body.len() + room + room / 8 + 64);
    bytes.extend_from_slice(&body[..body.len() - 1]);
    for sequence in sequences {
        sequence.append(&mut bytes)?;
    }
    raw::close(&mut bytes, 0);
    RawDocumentBuf::from_bytes(bytes).map_err(|error| malformed!("its body is damaged: {error}"))
}

fn query(header: &Header, content: &[u8]) -> Result<Message, Malformed> {
    let (_, rest) = number(content)?;
    let (namespace, rest) = text(rest)?;
    let Some(database) = namespace.strip_suffix(".$cmd") else {
        return Err(malformed!("it is an OP_QUERY for {namespace:?}, which is no command"));
    };
    let (_, rest) = number(rest)?;
    let (_, rest) = number(rest)?;
    let (document, _) = document(rest)?;
    // The oldest drivers put a command beside the options of the query.
    let body = document.get_document("$query").unwrap_or(document);
    Ok(Message {
        request: header.request,
        body: body.to_owned(),
        database: Some(database.to_owned()),
        answer: Answer::Reply,
        compressor: None,
    })
}

/// The document at the start of `bytes`, and what follows it. Its length is right; its elements may be wrong.
fn document(bytes: &[u8]) -> Result<(&RawDocument, &[u8]), Malformed> {
    let (size, _) = number(bytes)?;
    let end = usize::try_from(size).ok().filter(|end| *end <= bytes.len());
    let end = end.ok_or_else(|| malformed!("a document of {size} bytes has no room in it"))?;
    let (document, after) = bytes.split_at(end);
    let document = RawDocument::from_bytes(document);
    Ok((document.map_err(|error| malformed!("it holds no document: {error}"))?, after))
}

/// The text up to a zero at the start of `bytes`, and what follows that.
fn text(bytes: &[u8]) -> Result<(&str, &[u8]), Malformed> {
    let end = bytes.iter().position(|byte| *byte == 0);
    let end = end.ok_or_else(|| malformed!("a name in it does not end"))?;
    let text = str::from_utf8(&bytes[..end]).map_err(|_| malformed!("a name in it is no text"))?;
    Ok((text, &bytes[end + 1..]))
}
