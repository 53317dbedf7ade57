//! What the languages share when they write values: escapes, numbers, dates, bytes, names.

use std::fmt::Write;

use bson::oid::ObjectId;
use bson::spec::BinarySubtype;
use bson::{Binary, Bson, DateTime, Document, RawDocumentBuf, doc};

/// `text` between two `quote`s, with a backslash before them and before backslashes; `special` spells other characters
/// that cannot stand as they are.
pub(super) fn quoted(text: &str, quote: char, special: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            character if character == quote => {
                out.push('\\');
                out.push(character);
            }
            character => match special(character) {
                Some(escape) => out.push_str(&escape),
                None => out.push(character),
            },
        }
    }
    out.push(quote);
    out
}

/// Whether a character is not seen, or moves others about: controls, line separators, direction marks, the mark of an
/// encoding. In source text such a one is written as an escape.
pub(super) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(character, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// `\u` and four digits, for languages whose strings are UTF-16: all hidden characters are below 65536.
pub(super) fn four_digits(character: char) -> Option<String> {
    is_hidden(character).then(|| format!("\\u{:04x}", u32::from(character)))
}

/// A double as most languages write it: with a point or an exponent. What is no number is the caller's.
pub(super) fn double(value: f64) -> String {
    format!("{value:?}")
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The text of a UUID, where a binary value is one: subtype 4 and 16 bytes.
pub(super) fn uuid(binary: &Binary) -> Option<String> {
    if binary.subtype != BinarySubtype::Uuid || binary.bytes.len() != 16 {
        return None;
    }
    let hex = hex(&binary.bytes);
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Some(parts.join("-"))
}

/// A date in UTC, its parts as every calendar has them.
pub(super) struct Moment {
    /// Year, month, day, hour, minute, second.
    pub parts: [u32; 6],
    /// The part of the last second, in milliseconds.
    pub milliseconds: u32,
}

impl Moment {
    /// The parts of a date; `None` outside the years 1 to 9999, which not every language's dates reach.
    pub(super) fn of(date: DateTime) -> Option<Self> {
        let text = date.try_to_rfc3339_string().ok()?;
        let mut numbers = text.split(|c: char| !c.is_ascii_digit()).map(str::parse::<u32>);
        let mut parts = [0; 6];
        for part in &mut parts {
            *part = numbers.next()?.ok()?;
        }
        let milliseconds = date.timestamp_millis().rem_euclid(1000);
        (parts[0] >= 1).then_some(Self { parts, milliseconds: u32::try_from(milliseconds).ok()? })
    }

    /// The date in ISO 8601, with milliseconds where there are some.
    pub(super) fn iso(&self) -> String {
        let [year, month, day, hour, minute, second] = self.parts;
        let date = format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}");
        match self.milliseconds {
            0 => format!("{date}Z"),
            milliseconds => format!("{date}.{milliseconds:03}Z"),
        }
    }

    /// The parts with commas; the seconds, minutes and hours only down to the last that is not zero.
    pub(super) fn short(&self) -> String {
        let mut parts = &self.parts[..];
        while let [rest @ .., 0] = parts
            && rest.len() >= 3
        {
            parts = rest;
        }
        listed(parts)
    }

    /// All parts with commas.
    pub(super) fn long(&self) -> String {
        listed(&self.parts)
    }
}

fn listed(parts: &[u32]) -> String {
    parts.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// What stands for a value of a type that the drivers cannot write any more: a symbol is a string, `undefined` is null, a
/// pointer is a reference document.
pub(super) fn stand_in(value: &Bson) -> Bson {
    match value {
        Bson::Symbol(text) => Bson::String(text.clone()),
        Bson::DbPointer(_) => pointer(value).map_or(Bson::Null, Bson::Document),
        _ => Bson::Null,
    }
}

/// A pointer as a reference, read from its bytes: length, type, name, then the length of the namespace, the namespace
/// with its NUL, the id.
fn pointer(value: &Bson) -> Option<Document> {
    let raw = RawDocumentBuf::try_from(&doc! { "": value.clone() }).ok()?;
    let text = raw.as_bytes().get(10..raw.as_bytes().len() - 1)?;
    let (namespace, id) = text.split_at_checked(text.len().checked_sub(12)?)?;
    let namespace = std::str::from_utf8(namespace.strip_suffix(b"\0")?).ok()?;
    let id = ObjectId::from_bytes(id.try_into().ok()?);
    Some(doc! { "$ref": namespace, "$id": id })
}

/// Whether a double is one that an integer literal of the language would turn into an int32.
pub(super) fn looks_whole(value: f64) -> bool {
    value.fract() == 0.0 && !(value == 0.0 && value.is_sign_negative())
}

/// Whether every character of a name is a letter, digit or underscore of ASCII and the first is no digit.
pub(super) fn is_name(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// `find_one` of `findOne`.
pub(super) fn snake(name: &str) -> String {
    let mut text = String::new();
    let mut before = '_';
    for character in name.chars() {
        if character.is_ascii_uppercase() && !before.is_ascii_uppercase() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
        before = character;
    }
    text
}

/// `FindOne` of `findOne`.
pub(super) fn pascal(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_their_case() {
        assert_eq!(snake("maxTimeMS"), "max_time_ms");
        assert_eq!(snake("findOneAndUpdate"), "find_one_and_update");
        assert_eq!(pascal("maxTimeMS"), "MaxTimeMS");
    }

    #[test]
    fn dates_have_their_parts() {
        let moment = Moment::of(DateTime::from_millis(1_704_067_200_123)).expect("in range");
        assert_eq!(moment.iso(), "2024-01-01T00:00:00.123Z");
        assert_eq!(moment.short(), "2024, 1, 1");
        let before = Moment::of(DateTime::from_millis(-1)).expect("in range");
        assert_eq!(before.iso(), "1969-12-31T23:59:59.999Z");
        assert_eq!(before.short(), "1969, 12, 31, 23, 59, 59");
        assert!(Moment::of(DateTime::from_millis(i64::MIN)).is_none());
    }

    #[test]
    fn hidden_characters_are_escaped() {
        assert_eq!(quoted("a\"\\\n\0\u{2028}é", '"', four_digits), r#""a\"\\\n\u0000\u2028é""#);
    }

    #[test]
    fn a_uuid_has_sixteen_bytes() {
        let mut binary = Binary { subtype: BinarySubtype::Uuid, bytes: (0..16).collect() };
        assert_eq!(uuid(&binary).as_deref(), Some("00010203-0405-0607-0809-0a0b0c0d0e0f"));
        binary.bytes.pop();
        assert_eq!(uuid(&binary), None);
    }
}
