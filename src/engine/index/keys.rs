//! The keys of a document in an index: one for each element of an array that a field leads to.

use bson::{Bson, Document};

use super::Definition;
use crate::error::Result;
use crate::refuse;
use crate::value::key;

/// Encoded keys longer than this keep their beginning and a digest of the whole.
///
/// The storage crate takes keys of up to 64 KB. Such keys are found by equality and lie in the right neighbourhood, yet
/// not in order among themselves: whoever wants an order from an index must know that it has none of them.
pub const LONGEST: usize = 8 * 1024;

/// In [`Keys::multikey`]: the index has shortened keys.
pub const LONG_KEYS: u64 = 1 << 63;

/// The keys of one document.
#[derive(Debug, Default)]
pub struct Keys {
    /// Encoded, sorted, each once.
    pub encoded: Vec<Vec<u8>>,
    /// A bit for each field that led through an array, and [`LONG_KEYS`].
    pub multikey: u64,
}

/// A field on its way to its value.
#[derive(Clone, Copy)]
enum Slot<'a> {
    /// Arrived; `None` when the field is missing.
    At(Option<&'a Bson>),
    /// Further to go into a document.
    Within(&'a Document, &'a str),
    /// Held up by an array called by the name, with the rest of the path still to go.
    Array(&'a [Bson], &'a str, Option<&'a str>),
}

impl Definition {
    /// The keys of `document`; none when the index leaves it out.
    ///
    /// # Errors
    /// 171 when two fields lead through different arrays.
    pub fn keys(&self, document: &Document) -> Result<Keys> {
        let mut keys = Keys::default();
        self.each_key(document, &mut |values, multikey| {
            let key = self.encode(values);
            keys.multikey |= multikey | if key.len() > LONGEST { LONG_KEYS } else { 0 };
            keys.encoded.push(key);
        })?;
        keys.encoded.sort_unstable();
        keys.encoded.dedup();
        Ok(keys)
    }

    /// The values behind the encoded key `wanted` of `document`, for messages.
    pub fn key_values(&self, document: &Document, wanted: &[u8]) -> Document {
        let mut found = Document::new();
        // The keys were made before, so they can be made again.
        let _ = self.each_key(document, &mut |values, _| {
            if found.is_empty() && self.encode(values) == wanted {
                let named = self.fields.iter().zip(values);
                found = named.map(|(field, value)| (field.path.clone(), value.clone())).collect();
            }
        });
        found
    }

    /// The encoding of one value for each field.
    pub fn encode(&self, values: &[Bson]) -> Vec<u8> {
        let mut encoded = Vec::with_capacity(32);
        for (field, value) in self.fields.iter().zip(values) {
            key::encode(value, field.descending, &mut encoded);
        }
        shorten(encoded)
    }

    fn each_key(&self, document: &Document, found: &mut dyn FnMut(&[Bson], u64)) -> Result<()> {
        // A partial expression has no `$expr`, so it cannot fail.
        if !self.kept
            || self
                .partial
                .as_ref()
                .is_some_and(|partial| !partial.matches(document).unwrap_or(false))
        {
            return Ok(());
        }
        let slots: Vec<_> =
            self.fields.iter().map(|field| Slot::Within(document, field.path.as_str())).collect();
        self.expand(slots, 0, found)
    }

    /// Walks all slots on, and over the elements of the array that holds some of them up.
    fn expand<'a>(
        &'a self,
        mut slots: Vec<Slot<'a>>,
        multikey: u64,
        found: &mut dyn FnMut(&[Bson], u64),
    ) -> Result<()> {
        let mut array: Option<(&'a [Bson], &'a str)> = None;
        for slot in &mut slots {
            *slot = advance(*slot);
            if let Slot::Array(elements, name, _) = *slot {
                match array {
                    Some((first, other)) if name != other || !std::ptr::eq(first, elements) => {
                        return Err(refuse!(
                            CANNOT_INDEX_PARALLEL_ARRAYS,
                            "cannot index parallel arrays [{name}] [{other}]"
                        ));
                    }
                    _ => array = Some((elements, name)),
                }
            }
        }
        let Some((elements, _)) = array else {
            let present = slots.iter().any(|slot| matches!(slot, Slot::At(Some(_))));
            if present || !self.sparse {
                // A missing field is indexed as null.
                let values: Vec<_> = slots
                    .iter()
                    .map(|slot| match slot {
                        Slot::At(Some(value)) => (*value).clone(),
                        _ => Bson::Null,
                    })
                    .collect();
                found(&values, multikey);
            }
            return Ok(());
        };
        let mut through = multikey;
        for (at, slot) in slots.iter().enumerate() {
            if matches!(slot, Slot::Array(..)) {
                through |= 1 << at.min(62);
            }
        }
        if elements.is_empty() {
            // An empty array is indexed as undefined, what would be in its documents as missing.
            let slots = slots.iter().map(|slot| match slot {
                Slot::Array(_, _, None) => Slot::At(Some(&Bson::Undefined)),
                Slot::Array(_, _, Some(_)) => Slot::At(None),
                other => *other,
            });
            return self.expand(slots.collect(), through, found);
        }
        for element in elements {
            let slots = slots.iter().map(|slot| match slot {
                Slot::Array(_, _, None) => Slot::At(Some(element)),
                Slot::Array(_, _, Some(rest)) => match element {
                    Bson::Document(document) => Slot::Within(document, rest),
                    // An array directly in an array is not looked into.
                    _ => Slot::At(None),
                },
                other => *other,
            });
            self.expand(slots.collect(), through, found)?;
        }
        Ok(())
    }
}

/// Follows a path through documents until it ends or an array is in the way.
fn advance(slot: Slot<'_>) -> Slot<'_> {
    let Slot::Within(mut document, mut path) = slot else { return slot };
    loop {
        let (name, mut rest) = match path.split_once('.') {
            Some((name, rest)) => (name, Some(rest)),
            None => (path, None),
        };
        let Some(mut value) = document.get(name) else { return Slot::At(None) };
        // `a.0` is an element when `a` is an array.
        while let (Bson::Array(elements), Some(further)) = (value, rest) {
            let (head, tail) = match further.split_once('.') {
                Some((head, tail)) => (head, Some(tail)),
                None => (further, None),
            };
            let Ok(position) = head.parse::<usize>() else { break };
            match elements.get(position) {
                Some(element) => (value, rest) = (element, tail),
                None => return Slot::At(None),
            }
        }
        match (value, rest) {
            (Bson::Array(elements), rest) => return Slot::Array(elements, name, rest),
            (value, None) => return Slot::At(Some(value)),
            (Bson::Document(inner), Some(rest)) => (document, path) = (inner, rest),
            (_, Some(_)) => return Slot::At(None),
        }
    }
}

/// Cuts an overlong key to its beginning and a digest.
pub fn shorten(mut encoded: Vec<u8>) -> Vec<u8> {
    if encoded.len() > LONGEST {
        // FNV-1a, 128 bits: part of the format of data directories.
        let digest =
            encoded.iter().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
                (hash ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
            });
        encoded.truncate(LONGEST);
        encoded.extend_from_slice(&digest.to_be_bytes());
    }
    encoded
}
