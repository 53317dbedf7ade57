//! The digits of a double as JavaScript writes them.

/// A double as JavaScript's `String(number)` writes it; minus zero is `0`.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    // Rust's exponent form has the shortest digits that read back equal, the digits JavaScript wants.
    let form = format!("{:e}", value.abs());
    let (mantissa, exponent) = form.split_once('e').expect("the exponent form has an e");
    let digits = nearest_even(mantissa.replace('.', ""), value);
    let exponent: i32 = exponent.parse().expect("the exponent is a small integer");
    let point = exponent + 1;
    let length = digits.len() as i32;
    let mut text = String::with_capacity(length as usize + 8);
    if value < 0.0 {
        text.push('-');
    }
    if length <= point && point <= 21 {
        text.push_str(&digits);
        text.extend(std::iter::repeat_n('0', (point - length) as usize));
    } else if 0 < point && point <= 21 {
        text.push_str(&digits[..point as usize]);
        text.push('.');
        text.push_str(&digits[point as usize..]);
    } else if -6 < point && point <= 0 {
        text.push_str("0.");
        text.extend(std::iter::repeat_n('0', -point as usize));
        text.push_str(&digits);
    } else {
        text.push_str(&digits[..1]);
        if length > 1 {
            text.push('.');
            text.push_str(&digits[1..]);
        }
        text.push('e');
        text.push(if exponent < 0 { '-' } else { '+' });
        text.push_str(&exponent.abs().to_string());
    }
    text
}

/// Of two shortest texts that are equally near to the number JavaScript takes the even one, Rust the greater.
fn nearest_even(digits: String, value: f64) -> String {
    // Only a number between two texts of 16 or 17 digits can be in the middle.
    if digits.len() < 16 || digits.as_bytes().last().is_none_or(|digit| digit % 2 == 0) {
        return digits;
    }
    let exact = format!("{:.40e}", value.abs()).replacen('.', "", 1);
    let (head, tail) = exact.split_at(digits.len());
    let halfway = tail.strip_prefix('5').is_some_and(|rest| {
        rest.split('e').next().is_some_and(|zeros| zeros.bytes().all(|digit| digit == b'0'))
    });
    if halfway { head.to_owned() } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_javascript_does() {
        for (value, text) in [
            (1.0, "1"),
            (1.5, "1.5"),
            (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (1.25e22, "1.25e+22"),
            (1e-7, "1e-7"),
            (1e-6, "0.000001"),
            (1.5e-7, "1.5e-7"),
            (0.1 + 0.2, "0.30000000000000004"),
            (-0.0, "0"),
            (-123.456, "-123.456"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (5e-324, "5e-324"),
            (21.815_872_192_382_812, "21.815872192382812"),
            (-21.815_872_192_382_812, "-21.815872192382812"),
            (f64::MAX, "1.7976931348623157e+308"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
