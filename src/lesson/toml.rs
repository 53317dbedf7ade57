//! The little of TOML that progress and interface texts need: `key = value` lines under `[headings]`.

use std::fmt::Write as _;

/// A value of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// `"text"`.
    Text(String),
    /// `[1, 2, 3]`.
    Numbers(Vec<usize>),
}

/// One line that could be read: heading, key, value. What stands before the first heading has an empty one.
pub(super) type Entry = (String, String, Value);

/// The entries of a text. Lines that are none are passed over: a file that somebody has spoilt still says what it can.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut heading = String::new();
    let mut entries = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            heading = quoted(name.trim()).map_or_else(|| name.trim().to_owned(), |(name, _)| name);
        } else if let Some((key, value)) = entry(line) {
            entries.push((heading.clone(), key, value));
        }
    }
    entries
}

fn entry(line: &str) -> Option<(String, Value)> {
    let (key, rest) = match quoted(line) {
        Some((key, rest)) => (key, rest.trim_start().strip_prefix('=')?),
        None => {
            let (key, rest) = line.split_once('=')?;
            (key.trim().to_owned(), rest)
        }
    };
    let rest = rest.trim();
    let value = match rest.strip_prefix('[') {
        Some(list) => {
            let list = list.split(']').next().unwrap_or_default();
            Value::Numbers(
                list.split(',').filter_map(|number| number.trim().parse().ok()).collect(),
            )
        }
        None => Value::Text(quoted(rest)?.0),
    };
    (!key.is_empty() && !key.starts_with('#')).then_some((key, value))
}

/// A text in quotation marks at the start of `line`, and what follows it.
fn quoted(line: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut characters = line.strip_prefix('"')?.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((text, &line[at + 2..])),
            '\\' => text.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => text.push(other),
        }
    }
    None
}

/// Adds `key = value` to a text.
pub(super) fn write(text: &mut String, key: &str, value: &Value) {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let key = match !key.is_empty() && key.chars().all(bare) {
        true => key.to_owned(),
        false => in_quotes(key),
    };
    let value = match value {
        Value::Text(text) => in_quotes(text),
        Value::Numbers(numbers) => {
            let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            format!("[{}]", numbers.join(", "))
        }
    };
    let _ = writeln!(text, "{key} = {value}");
}

/// A text in quotation marks.
pub(super) fn in_quotes(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n").replace('\t', "\\t"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let values = [
            ("at", Value::Text("a \"b\" \\ ñ\n".to_owned())),
            ("01-x", Value::Numbers(vec![1, 2])),
            ("a b", Value::Numbers(Vec::new())),
        ];
        let mut text = "# comment\n[\"x/y\"]\n".to_owned();
        for (key, value) in &values {
            write(&mut text, key, value);
        }
        let expected: Vec<Entry> = values
            .into_iter()
            .map(|(key, value)| ("x/y".to_owned(), key.to_owned(), value))
            .collect();
        assert_eq!(entries(&text), expected);
    }

    #[test]
    fn spoilt_lines_are_passed_over() {
        let text = "a = \n= 1\nb = \"open\n[c\nd = [1, x, 3\n\u{0}\ne = \"well\" # said";
        assert_eq!(
            entries(text),
            [
                (String::new(), "d".to_owned(), Value::Numbers(vec![1, 3])),
                (String::new(), "e".to_owned(), Value::Text("well".to_owned())),
            ]
        );
    }
}
