//! The compressors of OP_COMPRESSED.

use std::io::{self, Read, Write};

use super::{LARGEST_MESSAGE, Malformed, malformed};

/// How a message is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compressor {
    /// Not at all.
    Noop = 0,
    /// Snappy.
    Snappy = 1,
    /// Zlib.
    Zlib = 2,
    /// Zstandard.
    Zstd = 3,
}

/// The level of zlib and zstd: theirs by default.
const ZLIB_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// The largest window of zstd, in bits: as much as the largest message needs.
const ZSTD_WINDOW: u32 = 26;

impl Compressor {
    /// The compressor of this name in a greeting.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "snappy" => Some(Self::Snappy),
            "zlib" => Some(Self::Zlib),
            "zstd" => Some(Self::Zstd),
            _ => None,
        }
    }

    /// The compressor of this number in a message.
    pub(super) fn numbered(number: u8) -> Result<Self, Malformed> {
        match number {
            0 => Ok(Self::Noop),
            1 => Ok(Self::Snappy),
            2 => Ok(Self::Zlib),
            3 => Ok(Self::Zstd),
            other => Err(malformed!("there is no compressor {other}")),
        }
    }

    /// Puts the decompressed `bytes`, which have to be exactly `size` of them, behind `into`.
    pub(super) fn unfold(
        self,
        bytes: &[u8],
        size: usize,
        into: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        if size > LARGEST_MESSAGE {
            return Err(malformed!("a message cannot unfold to {size} bytes"));
        }
        let before = into.len();
        let failed =
            |error: &dyn std::fmt::Display| malformed!("it cannot be decompressed: {error}");
        match self {
            Self::Noop => into.extend_from_slice(bytes),
            Self::Snappy => {
                let told = snap::raw::decompress_len(bytes).map_err(|error| failed(&error))?;
                if told != size {
                    return Err(wrong_size(told, size));
                }
                into.resize(before + size, 0);
                let mut decoder = snap::raw::Decoder::new();
                let unfolded = decoder.decompress(bytes, &mut into[before..]);
                unfolded.map_err(|error| failed(&error))?;
            }
            Self::Zlib => {
                let decoder = flate2::bufread::ZlibDecoder::new(bytes);
                gather(decoder, size, into).map_err(|error| failed(&error))?;
            }
            Self::Zstd => {
                let decoder =
                    zstd::stream::read::Decoder::with_buffer(bytes).and_then(|mut decoder| {
                        decoder.window_log_max(ZSTD_WINDOW)?;
                        Ok(decoder)
                    });
                let decoder = decoder.map_err(|error| failed(&error))?;
                gather(decoder, size, into).map_err(|error| failed(&error))?;
            }
        }
        match into.len() - before {
            found if found == size => Ok(()),
            found => Err(wrong_size(found, size)),
        }
    }

    /// `bytes` compressed.
    pub(super) fn fold(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Noop => Ok(bytes.to_vec()),
            Self::Snappy => Ok(snap::raw::Encoder::new().compress_vec(bytes)?),
            Self::Zlib => {
                let level = flate2::Compression::new(ZLIB_LEVEL);
                let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
                encoder.write_all(bytes)?;
                encoder.finish()
            }
            Self::Zstd => zstd::stream::encode_all(bytes, ZSTD_LEVEL),
        }
    }
}

/// Reads what there is, but no more than one byte over `size`: that one tells that there is too much.
fn gather(from: impl Read, size: usize, into: &mut Vec<u8>) -> io::Result<()> {
    // Room once and for all: one that grows is moved, and has twice the size meanwhile.
    into.reserve_exact(size + 1);
    from.take(size as u64 + 1).read_to_end(into)?;
    Ok(())
}

fn wrong_size(found: usize, told: usize) -> Malformed {
    malformed!("it unfolds to {found} bytes or more, not to {told}")
}
