//! Index keys: an encoding of any list of BSON values whose byte order is the comparison order.

use bson::Bson;

/// Appends the encoding of one value: byte order of encodings equals [`super::compare::compare`] of the values, equal
/// numbers of different types give equal bytes. `descending` inverts every byte, for `-1` fields of a compound index.
pub fn encode(value: &Bson, descending: bool, key: &mut Vec<u8>) {
    let _ = (value, descending, key);
    unimplemented!()
}
