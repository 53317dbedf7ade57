//! The order of all BSON values: MongoDB's comparison order, exact across numeric types.

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::number;

/// Compares two values by type order, then by value. Total; NaN equals NaN and is the least number.
///
/// The order of types is the MongoDB manual's ("Comparison/Sort Order"); numbers of different types compare by their
/// exact mathematical value, strings by their UTF-8 bytes.
pub fn compare(left: &Bson, right: &Bson) -> Ordering {
    bracket(left).cmp(&bracket(right)).then_with(|| within_bracket(left, right))
}

/// Compares two documents field by field: type order, then name, then value.
pub fn compare_documents(left: &Document, right: &Document) -> Ordering {
    let mut others = right.iter();
    for (name, value) in left {
        let Some((other_name, other)) = others.next() else { return Ordering::Greater };
        let order = bracket(value)
            .cmp(&bracket(other))
            .then_with(|| name.as_bytes().cmp(other_name.as_bytes()))
            .then_with(|| within_bracket(value, other));
        if order.is_ne() {
            return order;
        }
    }
    if others.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

/// Compares two arrays element by element; a prefix comes first.
pub fn compare_arrays(left: &[Bson], right: &[Bson]) -> Ordering {
    left.iter()
        .zip(right)
        .map(|(left, right)| compare(left, right))
        .find(|order| order.is_ne())
        .unwrap_or_else(|| left.len().cmp(&right.len()))
}

/// Whether two values are equal in comparison order (`1 == 1.0 == NumberLong(1)`).
pub fn equal(left: &Bson, right: &Bson) -> bool {
    compare(left, right).is_eq()
}

/// Whether two values are the same BSON: type and bits, so `1` differs from `1.0` and `0.0` from `-0.0`.
///
/// An update that stores an identical value changes nothing; one that stores a merely equal value does.
pub fn identical(left: &Bson, right: &Bson) -> bool {
    match (left, right) {
        (Bson::Double(left), Bson::Double(right)) => left.to_bits() == right.to_bits(),
        (Bson::Array(left), Bson::Array(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| identical(left, right))
        }
        (Bson::Document(left), Bson::Document(right)) => identical_documents(left, right),
        (left, right) => left == right,
    }
}

/// Whether two documents are the same BSON, the order of fields included.
pub fn identical_documents(left: &Document, right: &Document) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right)
            .all(|((name, value), (other, others))| name == other && identical(value, others))
}

/// Where a value's type stands in the order of types. Values of one bracket compare by value.
///
/// `undefined` has a place of its own below null, where a sort and an index keep the empty array.
pub fn bracket(value: &Bson) -> u8 {
    match value {
        Bson::MinKey => 1,
        Bson::Undefined => 3,
        Bson::Null => 5,
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => 10,
        Bson::String(_) | Bson::Symbol(_) => 15,
        Bson::Document(_) => 20,
        Bson::Array(_) => 25,
        Bson::Binary(_) => 30,
        Bson::ObjectId(_) => 35,
        Bson::Boolean(_) => 40,
        Bson::DateTime(_) => 45,
        Bson::Timestamp(_) => 47,
        Bson::RegularExpression(_) => 50,
        Bson::DbPointer(_) => 55,
        Bson::JavaScriptCode(_) => 60,
        Bson::JavaScriptCodeWithScope(_) => 65,
        Bson::MaxKey => 127,
    }
}

/// Orders two values of one bracket.
fn within_bracket(left: &Bson, right: &Bson) -> Ordering {
    match (left, right) {
        (
            Bson::String(left) | Bson::Symbol(left) | Bson::JavaScriptCode(left),
            Bson::String(right) | Bson::Symbol(right) | Bson::JavaScriptCode(right),
        ) => left.as_bytes().cmp(right.as_bytes()),
        (Bson::Document(left), Bson::Document(right)) => compare_documents(left, right),
        (Bson::Array(left), Bson::Array(right)) => compare_arrays(left, right),
        (Bson::Binary(left), Bson::Binary(right)) => (left.bytes.len().cmp(&right.bytes.len()))
            .then_with(|| u8::from(left.subtype).cmp(&u8::from(right.subtype)))
            .then_with(|| left.bytes.cmp(&right.bytes)),
        (Bson::ObjectId(left), Bson::ObjectId(right)) => left.bytes().cmp(&right.bytes()),
        (Bson::Boolean(left), Bson::Boolean(right)) => left.cmp(right),
        (Bson::DateTime(left), Bson::DateTime(right)) => {
            left.timestamp_millis().cmp(&right.timestamp_millis())
        }
        (Bson::Timestamp(left), Bson::Timestamp(right)) => {
            (left.time, left.increment).cmp(&(right.time, right.increment))
        }
        (Bson::RegularExpression(left), Bson::RegularExpression(right)) => {
            (left.pattern.as_str(), left.options.as_str())
                .cmp(&(right.pattern.as_str(), right.options.as_str()))
        }
        (Bson::JavaScriptCodeWithScope(left), Bson::JavaScriptCodeWithScope(right)) => {
            (left.code.as_bytes())
                .cmp(right.code.as_bytes())
                .then_with(|| compare_documents(&left.scope, &right.scope))
        }
        (Bson::DbPointer(_), Bson::DbPointer(_)) => {
            let (left, right) = (encoding(left), encoding(right));
            left.len().cmp(&right.len()).then_with(|| left.cmp(&right))
        }
        (left, right) => number::compare(left, right).unwrap_or(Ordering::Equal),
    }
}

/// The BSON bytes of a value whose parts the `bson` crate keeps to itself. Shorter encodings come first.
fn encoding(value: &Bson) -> Vec<u8> {
    let mut document = Document::new();
    document.insert("", value.clone());
    document.to_vec().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use bson::oid::ObjectId;
    use bson::spec::BinarySubtype;
    use bson::{Binary, DateTime, Regex, Timestamp, bson, doc};
    use proptest::prelude::*;

    use super::*;

    fn binary(subtype: BinarySubtype, bytes: &[u8]) -> Bson {
        Bson::Binary(Binary { subtype, bytes: bytes.to_vec() })
    }

    #[test]
    fn types_stand_in_the_manuals_order() {
        let ascending = [
            Bson::MinKey,
            Bson::Undefined,
            Bson::Null,
            Bson::Double(f64::NAN),
            Bson::Int32(7),
            Bson::String("a".into()),
            Bson::Document(doc! {}),
            Bson::Array(vec![]),
            binary(BinarySubtype::Generic, b""),
            Bson::ObjectId(ObjectId::from_bytes([0; 12])),
            Bson::Boolean(false),
            Bson::Boolean(true),
            Bson::DateTime(DateTime::from_millis(i64::MIN)),
            Bson::Timestamp(Timestamp { time: 0, increment: 0 }),
            Bson::RegularExpression(Regex {
                pattern: "a".try_into().unwrap(),
                options: "".try_into().unwrap(),
            }),
            Bson::JavaScriptCode("f".into()),
            Bson::MaxKey,
        ];
        for pair in ascending.windows(2) {
            assert_eq!(
                compare(&pair[0], &pair[1]),
                Ordering::Less,
                "{:?} < {:?}",
                pair[0],
                pair[1]
            );
        }
    }

    #[test]
    fn numbers_compare_by_exact_value() {
        let decimal = |text: &str| Bson::Decimal128(number::Decimal::parse(text).unwrap().encode());
        assert!(equal(&Bson::Int32(1), &Bson::Double(1.0)));
        assert!(equal(&Bson::Int64(1), &decimal("1.00")));
        assert!(equal(&Bson::Double(-0.0), &Bson::Int32(0)));
        assert!(equal(&Bson::Double(f64::NAN), &decimal("NaN")));
        // 2^53 + 1 is no double, and the least integer above 2^53.
        let two53 = 9_007_199_254_740_992_i64;
        assert_eq!(
            compare(&Bson::Int64(two53 + 1), &Bson::Double(two53 as f64)),
            Ordering::Greater
        );
        assert_eq!(
            compare(&Bson::Int64(i64::MAX), &Bson::Double(9_223_372_036_854_775_808.0)),
            Ordering::Less
        );
        assert_eq!(
            compare(&Bson::Int64(i64::MIN), &Bson::Double(-9_223_372_036_854_775_808.0)),
            Ordering::Equal
        );
        // The double 0.1 is a little more than a tenth; 0.5 is exact.
        assert_eq!(compare(&Bson::Double(0.1), &decimal("0.1")), Ordering::Greater);
        assert_eq!(compare(&Bson::Double(-0.1), &decimal("-0.1")), Ordering::Less);
        assert_eq!(compare(&Bson::Double(0.5), &decimal("0.50")), Ordering::Equal);
        assert_eq!(compare(&Bson::Double(f64::INFINITY), &decimal("1E+6000")), Ordering::Greater);
        assert_eq!(
            compare(&Bson::Double(f64::NEG_INFINITY), &Bson::Double(f64::NAN)),
            Ordering::Greater
        );
    }

    #[test]
    fn objects_compare_type_then_name_then_value() {
        assert_eq!(
            compare_documents(&doc! {"a": 1, "b": 2}, &doc! {"b": 2, "a": 1}),
            Ordering::Less
        );
        assert_eq!(compare_documents(&doc! {"b": 1}, &doc! {"a": "x"}), Ordering::Less);
        assert_eq!(compare_documents(&doc! {"a": 1}, &doc! {"a": 1.0}), Ordering::Equal);
        assert_eq!(compare_documents(&doc! {"a": 1}, &doc! {"a": 1, "b": 1}), Ordering::Less);
        assert_eq!(compare(&bson!([1, 2]), &bson!([1, 3])), Ordering::Less);
        assert_eq!(compare(&bson!([2]), &bson!([1, 3])), Ordering::Greater);
        assert_eq!(compare(&bson!([1]), &bson!([1, 3])), Ordering::Less);
    }

    #[test]
    fn strings_by_bytes_and_binaries_by_length_first() {
        assert_eq!(compare(&bson!("Z"), &bson!("a")), Ordering::Less);
        assert_eq!(compare(&bson!("\u{ff5e}"), &bson!("\u{1f600}")), Ordering::Less);
        assert_eq!(compare(&Bson::Symbol("a".into()), &bson!("a")), Ordering::Equal);
        assert_eq!(
            compare(
                &binary(BinarySubtype::Generic, b"zz"),
                &binary(BinarySubtype::Generic, b"abc")
            ),
            Ordering::Less
        );
        assert_eq!(
            compare(&binary(BinarySubtype::Md5, b"aa"), &binary(BinarySubtype::Generic, b"zz")),
            Ordering::Greater
        );
    }

    fn numbers() -> impl Strategy<Value = Bson> {
        prop_oneof![
            any::<i32>().prop_map(Bson::Int32),
            any::<i64>().prop_map(Bson::Int64),
            any::<f64>().prop_map(Bson::Double),
            (-3i64..4).prop_map(Bson::Int64),
            (-6i32..7).prop_map(|half| Bson::Double(f64::from(half) / 2.0)),
            (any::<i64>(), -20i32..20).prop_map(|(units, power)| Bson::Decimal128(
                number::Decimal::new(units, power).encode()
            )),
            (-30i64..31, -1i32..1).prop_map(|(units, power)| Bson::Decimal128(
                number::Decimal::new(units, power).encode()
            )),
        ]
    }

    fn values() -> impl Strategy<Value = Bson> {
        let leaf = prop_oneof![
            4 => numbers(),
            1 => "[a-c]{0,3}".prop_map(Bson::String),
            1 => any::<bool>().prop_map(Bson::Boolean),
            1 => Just(Bson::Null),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Bson::Array),
                proptest::collection::vec(("[ab]", inner), 0..3)
                    .prop_map(|fields| Bson::Document(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in values(), b in values(), c in values()) {
            prop_assert_eq!(compare(&a, &a), Ordering::Equal);
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }

        #[test]
        fn numbers_are_totally_ordered(a in numbers(), b in numbers(), c in numbers()) {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }
}
