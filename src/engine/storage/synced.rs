//! How much of the data was handed to the disk, noted beside it, so that a loss is told from a write that was cut short.
//!
//! The storage crate opens what it finds: a journal that breaks off in the middle, or is all zeros, is a short one to it.
//! So `SYNCED` in the data directory says, each time the journal was handed to the disk, up to which sequence number it
//! was:
//!
//! ```text
//! tally synced 1
//! reached 1042            everything below this number
//! tables 980              everything below this one is in tables
//! before 7: 310           everything below that one, before journal 7 was begun
//! check 5f0c…             xxh3 of the lines above
//! ```
//!
//! Behind the number stands a beat: a row that is written anew each time, in both keyspaces. It is there as long as the
//! data is, in the journal or in tables, which forget the numbers of what was removed. So before the crate opens a store,
//! [`inspect`] reads its journals and asks whether each keyspace still comes as far. What is missing behind the mark is
//! the torn end that a killed process or a power failure leaves: it is cut off. What is missing before it is damage, and
//! nothing is touched. The mark is written after the disk has the data and never itself waits for the disk, so it can be
//! too old but not too new. One that is missing or makes no sense vouches for nothing: the store opens as far as it is
//! whole.

use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use fjall::AbstractTree;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::directory::Directory;
use super::journal;
use super::reading::tree_key;
use super::store::{CATALOG, Open, lock};
use super::survey::{ALL_KEYSPACES, KEYSPACES, Reached, Survey};
use crate::error::Result;

/// The file's name in a data directory.
const FILE: &str = "SYNCED";

const FIRST_LINE: &str = "tally synced 1";

/// Its length: one disk sector holds it, so that it is the old one or the new one after a power failure.
const LENGTH: usize = 512;

/// The key of the beat, in the tree 0 of both keyspaces.
const BEAT: &[u8] = b"b";

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Mark {
    reached: u64,
    /// How far the tables alone are, at least.
    tables: u64,
    /// For each journal that there is, how far the data was before it was begun.
    before: Vec<(u64, u64)>,
}

/// The mark of an open store, kept up to date.
pub(super) struct Synced {
    store: PathBuf,
    /// The file and what it says; none for scratch data, and where it cannot be written: it only guards against damage.
    kept: Mutex<Option<(File, Mark)>>,
}

impl Synced {
    /// Keeps the mark of `directory`, whose store was inspected.
    pub(super) fn keep(directory: &Directory) -> Self {
        let kept = (!directory.is_scratch()).then(|| {
            let path = directory.path().join(FILE);
            let mark = read(&path).unwrap_or_default();
            let file = File::options().create(true).truncate(false).write(true).open(path).ok()?;
            Some((file, mark))
        });
        Self { store: directory.store(), kept: Mutex::new(kept.flatten()) }
    }

    /// Writes the beat. Answers what to [`Synced::note`] once the disk has it.
    pub(super) fn beat(&self, open: &Open) -> fjall::Result<u64> {
        if lock(&self.kept).is_none() {
            return Ok(0);
        }
        // The beat gets this number or a later one, and is behind everything that has an earlier one.
        let number = open.database.seqno();
        let mut batch = open.database.batch();
        for keyspace in [&open.records, &open.entries] {
            batch.insert(keyspace, tree_key(CATALOG, BEAT), number.to_be_bytes());
        }
        batch.commit()?;
        Ok(number + 1)
    }

    /// Notes that the disk has everything up to here.
    pub(super) fn note(&self, reached: u64) {
        let mut kept = lock(&self.kept);
        let Some((file, mark)) = &mut *kept else { return };
        if reached <= mark.reached {
            return;
        }
        let Ok(journals) = journal::files(&self.store) else { return };
        let mut next = Mark { reached, tables: mark.tables, before: Vec::new() };
        for (number, _) in journals.into_iter().skip(1) {
            let known = mark.before.iter().find(|(known, _)| *known == number);
            next.before.push(known.copied().unwrap_or((number, mark.reached)));
        }
        write(file, mark, next);
    }

    /// Notes that all of that is in tables, too, so that the journal may go.
    pub(super) fn note_tables(&self) {
        let mut kept = lock(&self.kept);
        let Some((file, mark)) = &mut *kept else { return };
        let next = Mark { tables: mark.reached, ..mark.clone() };
        write(file, mark, next);
    }
}

/// Replaces a mark by the next one. One that cannot be written stays what it was, or becomes none.
fn write(file: &mut File, mark: &mut Mark, next: Mark) {
    if file.rewind().and_then(|()| file.write_all(&text(&next))).is_ok() {
        *mark = next;
    }
}

/// Looks at a store before the storage crate does. Answers what was mended, if anything was. Scratch data is new.
///
/// # Errors
/// [`crate::Error::Storage`] naming the directory and what is spoilt. Nothing was changed then.
pub(super) fn inspect(directory: &Directory) -> Result<Option<String>> {
    if directory.is_scratch() {
        return Ok(None);
    }
    let store = directory.store();
    let damaged = |what: String| directory.damaged(what);
    let failed = |error: io::Error| directory.failure(format_args!("cannot be read: {error}"));
    for number in ALL_KEYSPACES {
        if !is_version_whole(&store.join("keyspaces").join(number.to_string())).map_err(failed)? {
            let what = format!("store/keyspaces/{number} has no valid list of its tables");
            return Err(damaged(what));
        }
    }
    let journals = journal::files(&store).map_err(failed)?.into_iter().map(Survey::of);
    let journals = journals.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    if let Some(mark) = read(&directory.path().join(FILE)) {
        let mut tables = Tables { store: &store, known: mark.tables, reached: None };
        for (number, reached) in &mark.before {
            let earlier = journals.iter().filter(|journal| journal.number < *number);
            if !tables.hold(*reached, earlier).map_err(damaged)? {
                return Err(damaged(lost(&journals, Some(*number))));
            }
        }
        if !tables.hold(mark.reached, journals.iter()).map_err(damaged)? {
            return Err(damaged(lost(&journals, None)));
        }
        let sealed = journals.len().saturating_sub(1);
        if let Some(journal) = journals[..sealed].iter().find(|journal| journal.torn) {
            return Err(damaged(spoilt(journal)));
        }
    }
    let mut mended = None;
    for journal in journals.iter().filter(|journal| journal.torn) {
        journal.cut().map_err(failed)?;
        mended = Some(format!(
            "the data directory {} was not closed properly: an unfinished write at the end of its journal was left out",
            directory.name()
        ));
    }
    Ok(mended)
}

/// What is wrong when data is missing that was written before the journal `number`, or at all.
fn lost(journals: &[Survey], number: Option<u64>) -> String {
    let earlier =
        journals.iter().filter(|journal| number.is_none_or(|number| journal.number < number));
    let earlier: Vec<_> = earlier.collect();
    let before = number.map(|number| number.saturating_sub(1));
    match (earlier.iter().find(|journal| journal.torn).or(earlier.last()), before) {
        (Some(journal), None) => spoilt(journal),
        (Some(journal), Some(before)) if journal.torn || journal.number == before => {
            spoilt(journal)
        }
        (_, Some(before)) => format!("store/{before}.jnl is missing"),
        (None, None) => "the journal of its store is missing".to_owned(),
    }
}

fn spoilt(journal: &Survey) -> String {
    format!(
        "store/{}.jnl is spoilt behind its first {} bytes. Restore a copy of the directory; or remove {FILE} from it to go \
         on without what is lost",
        journal.number, journal.whole
    )
}

/// How far the tables of a store are.
struct Tables<'a> {
    store: &'a Path,
    /// How far they are, by the mark.
    known: u64,
    /// Read when the journals alone do not tell.
    reached: Option<Reached>,
}

impl Tables<'_> {
    /// Whether tables and journals together hold everything up to `needed` in each keyspace.
    fn hold<'a>(
        &mut self,
        needed: u64,
        journals: impl Iterator<Item = &'a Survey>,
    ) -> std::result::Result<bool, String> {
        let mut there = Reached::default();
        for journal in journals {
            for (there, reached) in there.iter_mut().zip(journal.reached) {
                *there = (*there).max(reached);
            }
        }
        if there.iter().all(|there| self.known.max(*there) >= needed) {
            return Ok(true);
        }
        let tables = match self.reached {
            Some(tables) => tables,
            None => {
                let mut tables = Reached::default();
                for (tables, keyspace) in tables.iter_mut().zip(KEYSPACES) {
                    *tables = tables_of(&self.store.join("keyspaces").join(keyspace.to_string()))?;
                }
                *self.reached.insert(tables)
            }
        };
        Ok(there.iter().zip(tables).all(|(there, tables)| *there.max(&tables) >= needed))
    }
}

/// How far the tables of one keyspace are.
fn tables_of(keyspace: &Path) -> std::result::Result<u64, String> {
    let (sequence, visible) = (lsm_tree::SequenceNumberCounter::default(), Default::default());
    let tree = lsm_tree::Config::new(keyspace, sequence, visible).open();
    let tree = tree.map_err(|error| format!("{error:?}"))?;
    Ok(tree.get_highest_persisted_seqno().map_or(0, |number| number + 1))
}

/// Whether a keyspace's `current` names a list of tables that is what was written.
///
/// The crate takes the number in it for granted, and removes every table that the list does not have.
fn is_version_whole(keyspace: &Path) -> io::Result<bool> {
    let current = fs::read(keyspace.join("current"))?;
    let Some((number, sum)) = current.split_first_chunk::<8>() else { return Ok(false) };
    let Some((sum, [0])) = sum.split_first_chunk::<16>() else { return Ok(false) };
    match fs::read(keyspace.join(format!("v{}", u64::from_le_bytes(*number)))) {
        Ok(version) => Ok(xxh3_128(&version) == u128::from_le_bytes(*sum)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The text of a mark, padded to its length.
fn text(mark: &Mark) -> Vec<u8> {
    let mut text = format!("{FIRST_LINE}\nreached {}\ntables {}\n", mark.reached, mark.tables);
    for (number, reached) in &mark.before {
        let line = format!("before {number}: {reached}\n");
        // More journals than have room are more than the storage crate ever keeps.
        if text.len() + line.len() + 32 < LENGTH {
            text.push_str(&line);
        }
    }
    text.push_str(&format!("check {:016x}", xxh3_64(text.as_bytes())));
    let mut bytes = text.into_bytes();
    bytes.resize(LENGTH, b'\n');
    bytes
}

/// Reads a mark; `None` where there is none, or it is not what was written.
fn read(path: &Path) -> Option<Mark> {
    let text = fs::read_to_string(path).ok()?;
    let (body, check) = text.trim_end().rsplit_once("check ")?;
    if u64::from_str_radix(check, 16).ok()? != xxh3_64(body.as_bytes()) {
        return None;
    }
    let mut lines = body.lines();
    if lines.next()? != FIRST_LINE {
        return None;
    }
    let reached = lines.next()?.strip_prefix("reached ")?.parse().ok()?;
    let tables = lines.next()?.strip_prefix("tables ")?.parse().ok()?;
    let before = lines.map(|line| {
        let (number, reached) = line.strip_prefix("before ")?.split_once(": ")?;
        Some((number.parse().ok()?, reached.parse().ok()?))
    });
    Some(Mark { reached, tables, before: before.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_reads_back_and_one_flipped_bit_makes_it_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let mark = Mark { reached: u64::MAX, tables: 3, before: vec![(4, 1), (5, 6)] };
        let bytes = text(&mark);
        assert_eq!(bytes.len(), LENGTH);
        fs::write(&path, &bytes).unwrap();
        assert_eq!(read(&path), Some(mark));
        for at in 0..bytes.trim_ascii_end().len() {
            let mut spoilt = bytes.clone();
            spoilt[at] ^= 2;
            fs::write(&path, spoilt).unwrap();
            assert_eq!(read(&path), None, "byte {at}");
        }
    }
}
