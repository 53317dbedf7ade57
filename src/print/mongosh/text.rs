//! Strings and keys as Node's inspector quotes them.

use std::fmt::Write;

/// A string in the quotes that need the least escaping: single, else double, else backtick.
pub(super) fn quoted(text: &str) -> String {
    let quote = if !text.contains('\'') {
        '\''
    } else if !text.contains('"') {
        '"'
    } else if !text.contains('`') && !text.contains("${") {
        '`'
    } else {
        '\''
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push(quote);
    for letter in text.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            '\\' => quoted.push_str("\\\\"),
            control if is_control(control) => {
                let _ = write!(quoted, "\\x{:02X}", control as u32);
            }
            same if same == quote => {
                quoted.push('\\');
                quoted.push(same);
            }
            other => quoted.push(other),
        }
    }
    quoted.push(quote);
    quoted
}

/// Whether a string at the top level must be quoted because a terminal would obey it.
pub(super) fn is_dangerous(text: &str) -> bool {
    text.chars().any(|letter| is_control(letter) && !matches!(letter, '\t' | '\n'))
}

fn is_control(letter: char) -> bool {
    matches!(letter, '\0'..='\x1f' | '\x7f'..='\u{9f}')
}

/// A key stands bare when it is a plain ASCII identifier.
pub(super) fn is_bare(key: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let bytes = key.as_bytes();
    bytes.first().is_some_and(|&first| letter(first))
        && bytes.iter().all(|&byte| letter(byte) || byte.is_ascii_digit())
}

/// Where JavaScript keeps a key that is an array index: before all others, by number.
pub(super) fn index(key: &str) -> Option<u32> {
    let number: u32 = key.parse().ok()?;
    (number != u32::MAX && number.to_string() == key).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quotes_that_escape_least() {
        assert_eq!(quoted("it's"), "\"it's\"");
        assert_eq!(quoted("it's \"q\""), "`it's \"q\"`");
        assert_eq!(quoted("'\"`"), "'\\'\"`'");
        assert_eq!(quoted("a\u{7}b"), "'a\\x07b'");
        assert_eq!(quoted("\u{1b}[31m"), "'\\x1B[31m'");
        assert_eq!(quoted("\u{7f}\u{9f}"), "'\\x7F\\x9F'");
        assert_eq!(quoted("\n\t\u{8}\u{c}\r\\"), "'\\n\\t\\b\\f\\r\\\\'");
        assert_eq!(quoted("\u{2028}😀é"), "'\u{2028}😀é'");
    }

    #[test]
    fn bare_keys() {
        assert!(is_bare("_id"));
        assert!(is_bare("a1"));
        for key in ["$set", "a$", "é", "", "a.b", "1", "1a"] {
            assert!(!is_bare(key), "{key}");
        }
    }

    #[test]
    fn array_indexes() {
        assert_eq!(index("0"), Some(0));
        assert_eq!(index("4294967294"), Some(4_294_967_294));
        for key in ["4294967295", "01", "-1", "+1", "", "1.5"] {
            assert_eq!(index(key), None, "{key}");
        }
    }
}
