//! What the standard and the server's documentation say about decimals, and the laws that hold.

use proptest::prelude::*;

use super::*;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect("a decimal")
}

#[test]
fn texts_read_and_print_as_the_standard_has_them() {
    // The strings of the BSON Decimal128 specification's own tests.
    for text in [
        "0",
        "-0",
        "1",
        "0.1",
        "1.5",
        "1E+3",
        "1.05E+3",
        "0.001234",
        "0.000001",
        "1E-7",
        "1.234E-7",
        "9.999999999999999999999999999999999E+6144",
        "1E-6176",
        "Infinity",
        "-Infinity",
        "NaN",
        "1.000000000000000000000000000000000E+6144",
        "0E-6176",
        "0E+6111",
        "12345678901234567",
        "0.10",
    ] {
        assert_eq!(decimal(text).to_string(), text);
        assert_eq!(Decimal::decode(decimal(text).encode()), decimal(text), "{text}");
        let stored: Decimal128 = text.parse().expect("the bson crate reads it too");
        assert_eq!(Decimal::decode(stored), decimal(text), "{text}");
    }
    assert_eq!(decimal("1e6144").to_string(), "1.000000000000000000000000000000000E+6144");
    assert_eq!(decimal("1e6145").to_string(), "Infinity");
    assert_eq!(decimal("1e-6177").to_string(), "0E-6176");
    assert_eq!(
        decimal("12345678901234567890123456789012345").to_string(),
        "1.234567890123456789012345678901234E+34"
    );
    assert_eq!(
        decimal("123456789012345678901234567890123450000000000000001").to_string(),
        "1.234567890123456789012345678901235E+50"
    );
    for text in ["", "-", ".", "1.2.3", "1e", "1e+", "0x1", " 1", "1 ", "--1", "Infinit"] {
        assert_eq!(Decimal::parse(text), None, "{text:?}");
    }
}

#[test]
fn arithmetic_rounds_half_to_even_at_34_digits() {
    assert_eq!(decimal("0.1").plus(decimal("0.2")), decimal("0.3"));
    assert_eq!(decimal("1.10").plus(decimal("2")), decimal("3.10"));
    assert_eq!(
        decimal("1E+40").plus(decimal("1")).to_string(),
        "1.000000000000000000000000000000000E+40"
    );
    assert_eq!(
        decimal("1E+40").subtract(decimal("1E-40")).to_string(),
        "1.000000000000000000000000000000000E+40"
    );
    assert_eq!(
        decimal("9999999999999999999999999999999999").plus(decimal("1")).to_string(),
        "1.000000000000000000000000000000000E+34"
    );
    assert_eq!(decimal("1.5").multiply(decimal("-2")), decimal("-3.0"));
    assert_eq!(
        decimal("1234567890123456789012345678901234")
            .multiply(decimal("10000000000000001"))
            .to_string(),
        "1.234567890123456912469134691246913E+49"
    );
    assert_eq!(
        decimal("1").divide(decimal("3")).to_string(),
        "0.3333333333333333333333333333333333"
    );
    assert_eq!(
        decimal("2").divide(decimal("3")).to_string(),
        "0.6666666666666666666666666666666667"
    );
    assert_eq!(decimal("6").divide(decimal("2")).to_string(), "3");
    assert_eq!(decimal("1").divide(decimal("0")), Infinity { negative: false });
    assert_eq!(decimal("7.5").remainder(decimal("-2")), decimal("1.5"));
    assert_eq!(decimal("-1E+20").remainder(decimal("7")), decimal("-2"));
    assert_eq!(decimal("2").square_root().to_string(), "1.414213562373095048801688724209698");
    assert_eq!(decimal("4").square_root().to_string(), "2");
}

#[test]
fn rounding_at_a_place() {
    assert_eq!(decimal("2.5").round_at(0, Rounding::HalfEven), decimal("2"));
    assert_eq!(decimal("3.5").round_at(0, Rounding::HalfEven), decimal("4"));
    assert_eq!(decimal("-2.5").round_at(0, Rounding::Floor), decimal("-3"));
    assert_eq!(decimal("-2.5").round_at(0, Rounding::Ceiling), decimal("-2"));
    assert_eq!(decimal("1234").round_at(-2, Rounding::HalfEven).to_string(), "1.2E+3");
    assert_eq!(decimal("0.0001").round_at(0, Rounding::Ceiling), decimal("1"));
}

#[test]
fn doubles_become_decimals_of_fifteen_digits() {
    assert_eq!(Decimal::from_double(0.1).to_string(), "0.100000000000000");
    assert_eq!(Decimal::from_double(5.5).to_string(), "5.50000000000000");
    assert_eq!(Decimal::from_double(0.0).to_string(), "0");
    assert_eq!(decimal("0.1").to_double(), 0.1);
    assert_eq!(decimal("1E+400").to_double(), f64::INFINITY);
    assert_eq!(decimal("1.9").to_i64(), Some(1));
    assert_eq!(decimal("-9223372036854775808").to_i64(), Some(i64::MIN));
    assert_eq!(decimal("9223372036854775808").to_i64(), None);
    assert_eq!(decimal("1E+6000").to_i64(), None);
}

fn decimals() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        9 => (any::<bool>(), 0u128..=MAX_COEFFICIENT, 0u32..34, MIN_EXPONENT..=MAX_EXPONENT).prop_map(
            |(negative, coefficient, fewer, exponent)| Finite {
                negative,
                coefficient: coefficient / 10u128.pow(fewer),
                exponent,
            }
        ),
        9 => (any::<i64>(), -40i32..40).prop_map(|(units, exponent)| Decimal::new(units, exponent)),
        1 => Just(NaN),
        1 => any::<bool>().prop_map(|negative| Infinity { negative }),
    ]
}

proptest! {
    #[test]
    fn printing_then_reading_gives_the_same_number(number in decimals()) {
        prop_assert_eq!(Decimal::parse(&number.to_string()), Some(number));
        prop_assert_eq!(Decimal::decode(number.encode()), number);
    }

    #[test]
    fn sums_and_products_commute(a in decimals(), b in decimals()) {
        prop_assert_eq!(a.plus(b), b.plus(a));
        prop_assert_eq!(a.multiply(b), b.multiply(a));
        prop_assert_eq!(compare(a, b), compare(b, a).reverse());
    }

    #[test]
    fn small_integers_are_exact(a in -1_000_000_000i64..1_000_000_000, b in -1_000_000_000i64..1_000_000_000) {
        prop_assert_eq!(Decimal::new(a, 0).plus(Decimal::new(b, 0)), Decimal::new(a + b, 0));
        prop_assert_eq!(Decimal::new(a, 0).multiply(Decimal::new(b, 0)).to_i64(), Some(a * b));
        if b != 0 {
            prop_assert_eq!(Decimal::new(a, 0).remainder(Decimal::new(b, 0)).to_i64(), Some(a % b));
        }
    }

    #[test]
    fn a_truncated_double_is_no_further_from_zero(value in any::<f64>()) {
        let (decimal, exact) = Decimal::truncate_double(value);
        if value.is_finite() && value.abs() > 1e-200 {
            prop_assert_eq!(decimal.to_double(), value);
            if exact {
                prop_assert!(compare(decimal.subtract(decimal), Decimal::ZERO).is_eq());
            }
        }
    }
}
