//! Index keys: an encoding of any list of BSON values whose byte order is the comparison order.
//!
//! Every encoding delimits itself, so encodings may follow each other: a compound key is the encodings of its fields, one
//! after the other, and no encoding is a prefix of another. The first byte is the value's place in the order of types
//! ([`compare::bracket`]); what follows orders the values of one type:
//!
//! | values | bytes |
//! |---|---|
//! | numbers | the greatest double not above the value, its bits turned so that they sort; then `0`, or `1` and the exact decimal digits where no double is equal (int64 beyond 2^53, most decimals) |
//! | strings, symbols, code | UTF-8 with NUL as `00 FF`, ended by `00 00` |
//! | documents | for each field its type, its name and its value's bytes; ended by `00` |
//! | arrays | each element's encoding; ended by `00` |
//! | binary | length, subtype, bytes |
//! | the others | their parts, big-endian, signs turned |

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::compare;

/// Ends a document or an array: below every type's byte.
const END: u8 = 0;

/// Appends the encoding of one value: byte order of encodings equals [`super::compare::compare`] of the values, equal
/// numbers of different types give equal bytes. `descending` inverts every byte, for `-1` fields of a compound index.
pub fn encode(value: &Bson, descending: bool, key: &mut Vec<u8>) {
    let start = key.len();
    encode_value(value, key);
    if descending {
        invert(&mut key[start..]);
    }
}

/// Appends what the encodings of all strings that begin with `text` begin with, and no others.
pub fn encode_prefix(text: &str, descending: bool, key: &mut Vec<u8>) {
    let start = key.len();
    key.push(compare::bracket(&Bson::String(String::new())));
    encode_text(text, key);
    key.truncate(key.len() - 2);
    if descending {
        invert(&mut key[start..]);
    }
}

/// The bytes that stand in front of every value of `value`'s type and of no other, for bounds that keep to one type.
pub fn bracket_byte(value: &Bson, descending: bool) -> u8 {
    let byte = compare::bracket(value);
    if descending { !byte } else { byte }
}

fn invert(bytes: &mut [u8]) {
    for byte in bytes {
        *byte = !*byte;
    }
}

fn encode_value(value: &Bson, key: &mut Vec<u8>) {
    key.push(compare::bracket(value));
    encode_body(value, key);
}

/// What follows the type's byte.
fn encode_body(value: &Bson, key: &mut Vec<u8>) {
    match value {
        Bson::MinKey | Bson::MaxKey | Bson::Null | Bson::Undefined => {}
        Bson::Double(number) => encode_double(*number, key),
        Bson::Int32(number) => encode_double(f64::from(*number), key),
        Bson::Int64(number) => encode_long(*number, key),
        Bson::Decimal128(_) => encode_decimal(value, key),
        Bson::String(text) | Bson::Symbol(text) | Bson::JavaScriptCode(text) => {
            encode_text(text, key)
        }
        Bson::Document(document) => encode_document(document, key),
        Bson::Array(elements) => {
            for element in elements {
                encode_value(element, key);
            }
            key.push(END);
        }
        Bson::Binary(binary) => {
            // No document is longer than 16 MB, so the length fits.
            key.extend_from_slice(
                &u32::try_from(binary.bytes.len()).unwrap_or(u32::MAX).to_be_bytes(),
            );
            key.push(binary.subtype.into());
            key.extend_from_slice(&binary.bytes);
        }
        Bson::ObjectId(id) => key.extend_from_slice(&id.bytes()),
        Bson::Boolean(flag) => key.push(u8::from(*flag)),
        Bson::DateTime(date) => key.extend_from_slice(&sortable_long(date.timestamp_millis())),
        Bson::Timestamp(stamp) => {
            key.extend_from_slice(&stamp.time.to_be_bytes());
            key.extend_from_slice(&stamp.increment.to_be_bytes());
        }
        Bson::RegularExpression(regex) => {
            encode_text(regex.pattern.as_str(), key);
            encode_text(regex.options.as_str(), key);
        }
        Bson::JavaScriptCodeWithScope(code) => {
            encode_text(&code.code, key);
            encode_document(&code.scope, key);
        }
        Bson::DbPointer(_) => {
            let bytes = stored(value);
            key.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
            key.extend_from_slice(&bytes);
        }
    }
}

/// The BSON bytes of a value whose parts the `bson` crate keeps to itself.
fn stored(value: &Bson) -> Vec<u8> {
    let mut document = Document::new();
    document.insert("", value.clone());
    document.to_vec().unwrap_or_default()
}

fn encode_document(document: &Document, key: &mut Vec<u8>) {
    for (name, value) in document {
        // Type before name before value, as documents are compared.
        key.push(compare::bracket(value));
        encode_text(name, key);
        encode_body(value, key);
    }
    key.push(END);
}

fn encode_text(text: &str, key: &mut Vec<u8>) {
    for (at, piece) in text.as_bytes().split(|byte| *byte == 0).enumerate() {
        if at > 0 {
            key.extend_from_slice(&[0, 0xFF]);
        }
        key.extend_from_slice(piece);
    }
    key.extend_from_slice(&[0, 0]);
}

fn sortable_long(number: i64) -> [u8; 8] {
    (number.cast_unsigned() ^ (1 << 63)).to_be_bytes()
}

/// The bits of a double as an integer that sorts as the doubles do; NaN is 0, below minus infinity.
fn sortable_double(number: f64) -> [u8; 8] {
    let sign = 1 << 63;
    let bits = match number {
        number if number.is_nan() => 0,
        // -0.0 equals 0.0.
        0.0 => sign,
        number if number.to_bits() & sign != 0 => !number.to_bits(),
        number => number.to_bits() ^ sign,
    };
    bits.to_be_bytes()
}

fn encode_double(number: f64, key: &mut Vec<u8>) {
    key.extend_from_slice(&sortable_double(number));
    key.push(0);
}

fn encode_long(number: i64, key: &mut Vec<u8>) {
    let near = number as f64;
    // Exact: every double of this size is an integer that fits an i128.
    match (near as i128).cmp(&i128::from(number)) {
        Ordering::Equal => encode_double(near, key),
        Ordering::Less => {
            encode_between(near, number < 0, &number.unsigned_abs().to_string(), 0, key)
        }
        Ordering::Greater => {
            encode_between(near.next_down(), number < 0, &number.unsigned_abs().to_string(), 0, key)
        }
    }
}

fn encode_decimal(value: &Bson, key: &mut Vec<u8>) {
    let Bson::Decimal128(decimal) = value else { return };
    let text = decimal.to_string();
    // The nearest double, which may lie above; infinity for what no double reaches.
    let near: f64 = match text.as_str() {
        "Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        text => text.parse().unwrap_or(f64::NAN),
    };
    let below = match compare::compare(&Bson::Double(near), value) {
        Ordering::Equal => return encode_double(near, key),
        Ordering::Less => near,
        Ordering::Greater => near.next_down(),
    };
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.as_str()),
    };
    let (digits, exponent) = text.split_once('E').unwrap_or((text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let places = i32::try_from(fraction.len()).unwrap_or(0);
    encode_between(below, negative, &format!("{whole}{fraction}"), exponent - places, key);
}

/// Encodes `digits * 10^exponent`, which lies above the double `below` and under the next one.
fn encode_between(below: f64, negative: bool, digits: &str, exponent: i32, key: &mut Vec<u8>) {
    key.extend_from_slice(&sortable_double(below));
    key.push(1);
    let start = key.len();
    let digits = digits.trim_start_matches('0');
    let magnitude = exponent + i32::try_from(digits.len()).unwrap_or(0);
    key.extend_from_slice(&(magnitude.cast_unsigned() ^ (1 << 31)).to_be_bytes());
    key.extend_from_slice(digits.trim_end_matches('0').as_bytes());
    key.push(END);
    if negative {
        invert(&mut key[start..]);
    }
}

#[cfg(test)]
mod tests {
    use bson::oid::ObjectId;
    use bson::spec::BinarySubtype;
    use bson::{
        Binary, DateTime, Decimal128, JavaScriptCodeWithScope, Regex, Timestamp, bson, doc,
    };
    use proptest::prelude::*;

    use super::*;

    fn key(value: &Bson) -> Vec<u8> {
        let mut key = Vec::new();
        encode(value, false, &mut key);
        key
    }

    fn decimal(text: &str) -> Bson {
        Bson::Decimal128(text.parse::<Decimal128>().unwrap())
    }

    #[test]
    fn equal_numbers_of_different_types_have_one_key() {
        for equals in [
            vec![
                bson!(1),
                bson!(1.0),
                bson!(1_i64),
                decimal("1"),
                decimal("1.000"),
                decimal("10E-1"),
            ],
            vec![bson!(0), bson!(-0.0), decimal("-0E+20")],
            vec![Bson::Double(f64::NAN), decimal("NaN"), Bson::Double(-f64::NAN)],
            vec![Bson::Double(f64::INFINITY), decimal("Infinity")],
            vec![
                bson!(i64::MIN),
                bson!(-9_223_372_036_854_775_808.0),
                decimal("-9223372036854775808"),
            ],
            vec![
                bson!(9_007_199_254_740_993_i64),
                decimal("9007199254740993"),
                decimal("900719925474099300E-2"),
            ],
            vec![bson!(i64::MAX), decimal("9223372036854775807")],
        ] {
            for value in &equals {
                assert_eq!(key(value), key(&equals[0]), "{value:?}");
            }
        }
    }

    #[test]
    fn near_numbers_have_keys_in_order() {
        let ascending = [
            Bson::Double(f64::NAN),
            Bson::Double(f64::NEG_INFINITY),
            decimal("-1E+6000"),
            Bson::Double(f64::MIN),
            bson!(i64::MIN),
            bson!(i64::MIN + 1),
            decimal("-9007199254740993.5"),
            bson!(-9_007_199_254_740_993_i64),
            bson!(-9_007_199_254_740_992_i64),
            // The double 0.1 is a little further from zero than a tenth.
            bson!(-0.1),
            decimal("-0.1"),
            decimal("-1E-6000"),
            bson!(0),
            decimal("1E-6000"),
            decimal("2E-6000"),
            decimal("0.1"),
            bson!(0.1),
            bson!(9_007_199_254_740_992_i64),
            bson!(9_007_199_254_740_993_i64),
            decimal("9007199254740993.5"),
            bson!(9_007_199_254_740_994.0),
            bson!(i64::MAX),
            bson!(9_223_372_036_854_775_808.0),
            decimal("1E+6000"),
            Bson::Double(f64::INFINITY),
        ];
        for pair in ascending.windows(2) {
            assert!(key(&pair[0]) < key(&pair[1]), "{:?} < {:?}", pair[0], pair[1]);
        }
    }

    fn names() -> impl Strategy<Value = String> {
        prop_oneof!["[ab\u{1}\u{ff}]{0,2}", ".{0,4}"].prop_map(|name| name.replace('\0', "\u{1}"))
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof!["[ab\0\u{1}\u{ff}]{0,3}", ".{0,4}"]
    }

    fn numbers() -> impl Strategy<Value = Bson> {
        let near = 1_i64 << 53;
        prop_oneof![
            (-3..3_i32).prop_map(Bson::Int32),
            any::<i32>().prop_map(Bson::Int32),
            any::<i64>().prop_map(Bson::Int64),
            (-3..3_i64).prop_map(Bson::Int64),
            (near - 3..near + 9).prop_map(Bson::Int64),
            (near - 3..near + 9).prop_map(|number| Bson::Double(number as f64)),
            (near - 3..near + 9).prop_map(|number| decimal(&number.to_string())),
            (i64::MAX - 2..=i64::MAX).prop_map(Bson::Int64),
            any::<f64>().prop_map(Bson::Double),
            (-3..3_i8).prop_map(|number| Bson::Double(f64::from(number) / 2.0)),
            prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0])
                .prop_map(Bson::Double),
            (any::<i64>(), -40..40_i32)
                .prop_map(|(digits, exponent)| decimal(&format!("{digits}E{exponent}"))),
            (-20..20_i32, -2..2_i32)
                .prop_map(|(digits, exponent)| decimal(&format!("{digits}E{exponent}"))),
            (any::<i32>(), -6100..6100_i32)
                .prop_map(|(digits, exponent)| decimal(&format!("{digits}E{exponent}"))),
            any::<[u8; 16]>().prop_map(|bytes| Bson::Decimal128(Decimal128::from_bytes(bytes))),
        ]
    }

    fn values() -> impl Strategy<Value = Bson> {
        let bytes = prop::collection::vec(prop_oneof![0..3_u8, any::<u8>()], 0..4);
        let leaf = prop_oneof![
            8 => numbers(),
            1 => prop::sample::select(vec![Bson::MinKey, Bson::MaxKey, Bson::Null, Bson::Undefined]),
            2 => texts().prop_map(Bson::String),
            1 => texts().prop_map(Bson::Symbol),
            1 => texts().prop_map(Bson::JavaScriptCode),
            2 => (0..3_u8, bytes).prop_map(|(subtype, bytes)| {
                Bson::Binary(Binary { subtype: BinarySubtype::from(if subtype == 2 { 5 } else { subtype }), bytes })
            }),
            1 => any::<[u8; 12]>().prop_map(|bytes| Bson::ObjectId(ObjectId::from_bytes(bytes))),
            1 => any::<bool>().prop_map(Bson::Boolean),
            1 => any::<i64>().prop_map(|millis| Bson::DateTime(DateTime::from_millis(millis))),
            1 => (0..3_u32, any::<u32>()).prop_map(|(time, increment)| Bson::Timestamp(Timestamp { time, increment })),
            1 => ("[ab]{0,2}", "[im]{0,2}").prop_map(|(pattern, options)| {
                let pattern = pattern.as_str().try_into().unwrap();
                Bson::RegularExpression(Regex { pattern, options: options.as_str().try_into().unwrap() })
            }),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let documents = prop::collection::vec((names(), inner.clone()), 0..3)
                .prop_map(|fields| fields.into_iter().collect::<Document>())
                .boxed();
            prop_oneof![
                documents.clone().prop_map(Bson::Document),
                prop::collection::vec(inner, 0..3).prop_map(Bson::Array),
                (texts(), documents).prop_map(|(code, scope)| {
                    Bson::JavaScriptCodeWithScope(JavaScriptCodeWithScope { code, scope })
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn byte_order_is_comparison_order(left in values(), right in values()) {
            let order = compare::compare(&left, &right);
            prop_assert_eq!(key(&left).cmp(&key(&right)), order);
            let (mut down_left, mut down_right) = (Vec::new(), Vec::new());
            encode(&left, true, &mut down_left);
            encode(&right, true, &mut down_right);
            prop_assert_eq!(down_right.cmp(&down_left), order);
        }

        #[test]
        fn byte_order_of_numbers_is_comparison_order(left in numbers(), right in numbers()) {
            prop_assert_eq!(key(&left).cmp(&key(&right)), compare::compare(&left, &right));
        }

        #[test]
        fn a_compound_key_orders_by_its_first_field_then_its_second(
            left in (values(), values()), right in (values(), values()),
        ) {
            let compound = |(first, second): &(Bson, Bson)| {
                let mut key = Vec::new();
                encode(first, true, &mut key);
                encode(second, false, &mut key);
                key
            };
            let order = compare::compare(&right.0, &left.0).then(compare::compare(&left.1, &right.1));
            prop_assert_eq!(compound(&left).cmp(&compound(&right)), order);
        }
    }

    #[test]
    fn a_document_orders_its_fields_by_type_then_name() {
        assert!(key(&bson!({"b": 1})) < key(&bson!({"a": "x"})));
        assert!(key(&bson!({"a": 1})) < key(&bson!({"a": 1, "b": 1})));
        assert!(key(&Bson::Document(doc! {"a": 2})) < key(&Bson::Document(doc! {"b": 1})));
    }
}
