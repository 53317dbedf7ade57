//! The order of all BSON values: MongoDB's comparison order, exact across numeric types.

use std::cmp::Ordering;

use bson::{Bson, Document};

/// Compares two values by type order, then by value (engine.md 8.1-8.4). Total; NaN equals NaN and is the least number.
pub fn compare(left: &Bson, right: &Bson) -> Ordering {
    let _ = (left, right);
    unimplemented!()
}

/// Compares two documents field by field: type order, then name, then value.
pub fn compare_documents(left: &Document, right: &Document) -> Ordering {
    let _ = (left, right);
    unimplemented!()
}

/// Whether two values are equal in comparison order (`1 == 1.0 == NumberLong(1)`).
pub fn equal(left: &Bson, right: &Bson) -> bool {
    compare(left, right).is_eq()
}

/// Where a value's type stands in the order of types. Values of one bracket compare by value.
pub fn bracket(value: &Bson) -> u8 {
    let _ = value;
    unimplemented!()
}
