//! The storage crate's journals, read without changing them: how far they are whole, and what they bring.
//!
//! The crate cuts a journal at the first place that makes no sense to it and goes on, whether that place is the torn end
//! of the last write or damage in the middle. So they are read here first. A journal is a row of batches:
//!
//! | entry | bytes |
//! |---|---|
//! | start | 1, number of items (u32), sequence number (u64) |
//! | item | 2, kind, compression, keyspace (u64), length of the key (u16), of the value (u32), of its bytes (u32), both |
//! | a keyspace cleared | 4, keyspace (u64) |
//! | end | 3, xxh3 of the items' bytes (u64), `FJL` and 3 |
//!
//! Numbers are little-endian. A new journal is 64 MB of zeros, which the batches replace.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::PathBuf;

use xxhash_rust::xxh3::Xxh3;

/// The keyspaces of the records and of the entries, by the crate's numbers.
pub(super) const KEYSPACES: [u64; 2] = [1, 2];

/// The keyspaces of every store: [`KEYSPACES`], and in front the crate's own.
pub(super) const ALL_KEYSPACES: [u64; 3] = [0, KEYSPACES[0], KEYSPACES[1]];

/// For each of [`KEYSPACES`] the sequence number after its last change; 0 when there is none.
pub(super) type Reached = [u64; KEYSPACES.len()];

const START: u8 = 1;
const ITEM: u8 = 2;
const END: u8 = 3;
const CLEAR: u8 = 4;
const TRAILER: &[u8; 4] = b"FJL\x03";

/// How much behind the last whole batch tells a torn end from zeros that were never written to.
const LOOK: usize = 4096;

/// What one journal file holds.
#[derive(Debug)]
pub(super) struct Survey {
    /// Its number: the highest is written to, those below are kept until their contents are in tables.
    pub(super) number: u64,
    /// Where it is.
    pub(super) path: PathBuf,
    /// Where its last whole batch ends.
    pub(super) whole: u64,
    /// Something that is no whole batch follows there.
    pub(super) torn: bool,
    /// How far its batches go.
    pub(super) reached: Reached,
}

impl Survey {
    /// Reads the journal with this number.
    pub(super) fn of((number, path): (u64, PathBuf)) -> io::Result<Self> {
        let mut reader = BufReader::with_capacity(256 * 1024, File::open(&path)?);
        let (mut whole, mut reached) = (0, Reached::default());
        while let Some(batch) = batch(&mut reader)? {
            whole += batch.bytes;
            for (reached, changed) in reached.iter_mut().zip(batch.changed) {
                if changed {
                    *reached = (*reached).max(batch.sequence.saturating_add(1));
                }
            }
        }
        let mut rest = Vec::with_capacity(LOOK);
        reader.seek(SeekFrom::Start(whole))?;
        reader.take(LOOK as u64).read_to_end(&mut rest)?;
        let torn = rest.iter().any(|byte| *byte != 0);
        Ok(Self { number, path, whole, torn, reached })
    }

    /// Cuts off what follows the last whole batch.
    pub(super) fn cut(&self) -> io::Result<()> {
        let file = File::options().write(true).open(&self.path)?;
        file.set_len(self.whole)?;
        file.sync_all()
    }
}

/// What matters of a whole batch.
struct Batch {
    bytes: u64,
    sequence: u64,
    /// Which of [`KEYSPACES`] it changes.
    changed: [bool; KEYSPACES.len()],
}

/// Reads one batch; `None` where none follows, or not a whole one.
fn batch(reader: &mut impl BufRead) -> io::Result<Option<Batch>> {
    match entries(reader) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        read => read,
    }
}

fn entries(reader: &mut impl BufRead) -> io::Result<Option<Batch>> {
    let [START] = bytes(reader)? else { return Ok(None) };
    let (items, sequence) =
        (u32::from_le_bytes(bytes(reader)?), u64::from_le_bytes(bytes(reader)?));
    let mut batch = Batch { bytes: 1 + 4 + 8, sequence, changed: Default::default() };
    let mut sum = Xxh3::new();
    for _ in 0..items {
        let [tag] = bytes(reader)?;
        sum.update(&[tag]);
        let (head, body) = match tag {
            ITEM => {
                let head: [u8; 20] = bytes(reader)?;
                sum.update(&head);
                batch.change(&head[2..10]);
                let key = u64::from(u16::from_le_bytes([head[10], head[11]]));
                let [a, b, c, d] = [head[16], head[17], head[18], head[19]];
                let value = u64::from(u32::from_le_bytes([a, b, c, d]));
                (20, key + value)
            }
            CLEAR => {
                let keyspace: [u8; 8] = bytes(reader)?;
                sum.update(&keyspace);
                batch.change(&keyspace);
                (8, 0)
            }
            _ => return Ok(None),
        };
        add(reader, body, &mut sum)?;
        batch.bytes += 1 + head + body;
    }
    let [END] = bytes(reader)? else { return Ok(None) };
    let expected = u64::from_le_bytes(bytes(reader)?);
    let trailer: [u8; TRAILER.len()] = bytes(reader)?;
    batch.bytes += 1 + 8 + TRAILER.len() as u64;
    Ok((expected == sum.digest() && trailer == *TRAILER).then_some(batch))
}

impl Batch {
    /// Notes a change of the keyspace with this number, eight bytes.
    fn change(&mut self, number: &[u8]) {
        for (changed, keyspace) in self.changed.iter_mut().zip(KEYSPACES) {
            *changed |= keyspace.to_le_bytes() == number;
        }
    }
}

fn bytes<const N: usize>(reader: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Adds the next `length` bytes to a checksum. A length that damage made holds no memory.
fn add(reader: &mut impl BufRead, mut length: u64, sum: &mut Xxh3) -> io::Result<()> {
    while length > 0 {
        let there = reader.fill_buf()?;
        if there.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let taken = there.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        sum.update(&there[..taken]);
        reader.consume(taken);
        length -= taken as u64;
    }
    Ok(())
}
