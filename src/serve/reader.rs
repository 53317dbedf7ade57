//! Messages as they come in, in pieces or several at once.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use super::memory::{Memory, Share};
use super::wire::{Header, Malformed};

/// How long a message that has begun may make no progress.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// What is read at once, and kept for the next message.
const ROOM: usize = 8 * 1024;

/// The most bytes that are taken in while a command runs.
const AHEAD: usize = 64 * 1024;

/// What came in and was not taken yet.
#[derive(Default)]
pub(super) struct Reader {
    bytes: Vec<u8>,
}

/// Why there is no further message.
#[derive(Debug)]
pub(super) enum Ended {
    /// The client has gone, or the network is in the way.
    Gone,
    /// What it sent is no message.
    Malformed(Malformed),
    /// It stopped in the middle of a message.
    Stalled,
    /// There is no memory for its messages or answers.
    Crowded,
}

impl Reader {
    /// Waits until there is a whole message, which has this header and this share of the memory.
    pub(super) async fn next<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        memory: &Memory,
    ) -> Result<(Header, Share), Ended> {
        let mut share = Share::default();
        loop {
            let header = Header::parse(&self.bytes).map_err(Ended::Malformed)?;
            if let Some(header) = header
                && header.length <= self.bytes.len()
            {
                return Ok((header, share));
            }
            let read = match self.is_empty() {
                // Between messages a client may be silent for ever.
                true => self.more(stream).await,
                false => timeout(PATIENCE, self.more(stream)).await.map_err(|_| Ended::Stalled)?,
            };
            match read {
                Ok(0) | Err(_) => return Err(Ended::Gone),
                Ok(_) if !memory.grow(&mut share, self.bytes.len()).await => {
                    return Err(Ended::Crowded);
                }
                Ok(_) => {}
            }
        }
    }

    /// Reads what there is; 0 bytes at the end.
    pub(super) async fn more<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
    ) -> std::io::Result<usize> {
        // The room grows with what really came, not with what a header promises.
        if self.bytes.capacity() - self.bytes.len() < ROOM / 2 {
            self.bytes.reserve(ROOM.max(self.bytes.len()));
        }
        stream.read_buf(&mut self.bytes).await
    }

    /// Whether nothing is waiting.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether so much is waiting that it is enough for now.
    pub(super) fn is_ahead(&self) -> bool {
        self.bytes.len() >= AHEAD
    }

    /// The first bytes.
    pub(super) fn first(&self, length: usize) -> &[u8] {
        &self.bytes[..length]
    }

    /// Forgets the first bytes.
    pub(super) fn forget(&mut self, length: usize) {
        self.bytes.drain(..length);
        if self.bytes.is_empty() && self.bytes.capacity() > 2 * ROOM {
            self.bytes = Vec::new();
        }
    }

    /// Takes the first bytes out.
    pub(super) fn take(&mut self, length: usize) -> Vec<u8> {
        let rest = self.bytes.split_off(length);
        std::mem::replace(&mut self.bytes, rest)
    }
}
