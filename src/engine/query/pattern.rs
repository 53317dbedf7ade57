//! Regular expressions in the server's syntax (PCRE), compiled once with `fancy-regex`.
//!
//! The two dialects differ in small things; `translate` writes a pattern so that it means here what it means there:
//! `\d`, `\w`, `\s`, `\b` are ASCII, a `[` inside a class and a lone `{` are themselves, `\Q...\E` quotes.

use bson::Bson;
use fancy_regex::RegexBuilder;

use crate::error::{Code, Error, Result};

/// A compiled regular expression that remembers how it was written.
#[derive(Clone, Debug)]
pub struct Pattern {
    written: bson::Regex,
    regex: fancy_regex::Regex,
}

impl Pattern {
    /// Compiles a pattern with options out of `i m s u x`.
    ///
    /// # Errors
    /// 51091 for a pattern that is none, 51108 for another option, 51109 for a null byte.
    pub fn new(source: &str, options: &str) -> Result<Self> {
        if let Some(bad) = options.chars().find(|option| !"imsux".contains(*option)) {
            return Err(Error::command(
                Code(51108),
                format!(" invalid flag in regex options: {bad}"),
            ));
        }
        let null = |_| {
            Error::command(Code(51109), "Regular expression cannot contain an embedded null byte")
        };
        let written = bson::Regex {
            pattern: source.try_into().map_err(null)?,
            options: options.try_into().map_err(null)?,
        };
        let extended = options.contains('x');
        let regex = RegexBuilder::new(&translate(source, extended))
            .case_insensitive(options.contains('i'))
            .multi_line(options.contains('m'))
            .dot_matches_new_line(options.contains('s'))
            .ignore_whitespace(extended)
            .build()
            .map_err(|error| {
                Error::command(Code(51091), format!("Regular expression is invalid: {error}"))
            })?;
        Ok(Self { written, regex })
    }

    /// Compiles a stored regular expression.
    ///
    /// # Errors
    /// As [`Pattern::new`].
    pub fn of(regex: &bson::Regex) -> Result<Self> {
        Self::new(regex.pattern.as_str(), regex.options.as_str())
    }

    /// The pattern as it was written.
    pub fn source(&self) -> &str {
        self.written.pattern.as_str()
    }

    /// The options as they were written.
    pub fn options(&self) -> &str {
        self.written.options.as_str()
    }

    /// As a BSON value.
    pub fn as_regex(&self) -> &bson::Regex {
        &self.written
    }

    /// The compiled expression, for captures and positions.
    pub fn regex(&self) -> &fancy_regex::Regex {
        &self.regex
    }

    /// Whether a value is a string (or symbol) that matches, or this very regular expression.
    pub fn matches(&self, value: &Bson) -> bool {
        match value {
            Bson::String(text) | Bson::Symbol(text) => self.matches_text(text),
            Bson::RegularExpression(regex) => *regex == self.written,
            _ => false,
        }
    }

    /// Whether a text matches. One that exhausts the backtracking limit does not.
    pub fn matches_text(&self, text: &str) -> bool {
        self.regex.is_match(text).unwrap_or(false)
    }

    /// The literal text every match begins with, for index bounds: `^abc` without options. Empty if there is none.
    pub fn prefix(&self) -> &str {
        let anchored =
            self.source().strip_prefix('^').or_else(|| self.source().strip_prefix("\\A"));
        let Some(rest) = anchored
            .filter(|_| self.options().chars().all(|option| option == 's' || option == 'u'))
        else {
            return "";
        };
        if rest.contains('|') {
            return "";
        }
        let end = rest
            .find(|character: char| "\\^$.|?*+()[]{}".contains(character))
            .unwrap_or(rest.len());
        // A quantifier applies to the last character, which then need not be there.
        match rest[end..].chars().next() {
            Some('?' | '*' | '{' | '+') => {
                let last = rest[..end].char_indices().next_back().map_or(0, |(at, _)| at);
                &rest[..last]
            }
            _ => &rest[..end],
        }
    }
}

/// Characters that mean something to the compiler when they stand alone.
const SPECIAL: &str = "\\.+*?()|[]{}^$#&-~";

/// Writes a PCRE pattern in the syntax of `fancy-regex`.
fn translate(source: &str, extended: bool) -> String {
    let mut out = String::with_capacity(source.len() + 8);
    let mut rest = source;
    // The verbs at the start choose encodings that are fixed here.
    for verb in ["(*UTF8)", "(*UTF)", "(*UCP)"] {
        rest = rest.strip_prefix(verb).unwrap_or(rest);
    }
    let mut in_class = false;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match character {
            '\\' if after.starts_with('Q') => quote(&after[1..], &mut out),
            '\\' => escape(after, in_class, &mut out),
            '[' if in_class => {
                if let Some(end) = posix_class(rest) {
                    out.push_str(&rest[..end]);
                    &rest[end..]
                } else {
                    out.push_str("\\[");
                    after
                }
            }
            '[' => {
                in_class = true;
                open_class(after, &mut out)
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
                after
            }
            '&' | '~' | '-' if in_class && after.starts_with(character) => {
                out.push('\\');
                out.push(character);
                after
            }
            '#' | ' ' if in_class && extended => {
                out.push('\\');
                out.push(character);
                after
            }
            '{' if !in_class && !is_quantifier(rest) => {
                out.push_str("\\{");
                after
            }
            '}' if !in_class && !ends_quantifier(&out) => {
                out.push_str("\\}");
                after
            }
            other => {
                out.push(other);
                after
            }
        };
    }
    out
}

/// Opens a class with its negation; a `]` that comes first is itself.
fn open_class<'a>(after: &'a str, out: &mut String) -> &'a str {
    out.push('[');
    let mut rest = after;
    if let Some(negated) = rest.strip_prefix('^') {
        out.push('^');
        rest = negated;
    }
    if let Some(closed) = rest.strip_prefix(']') {
        out.push_str("\\]");
        rest = closed;
    }
    rest
}

/// The length of `[:alpha:]` at the start of `text`.
fn posix_class(text: &str) -> Option<usize> {
    let name = text.strip_prefix("[:")?;
    let end = name.find(":]")?;
    let letters = name[..end].strip_prefix('^').unwrap_or(&name[..end]);
    letters.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(end + 4)
}

/// Copies what stands between `\Q` and `\E` as itself.
fn quote<'a>(after: &'a str, out: &mut String) -> &'a str {
    let (quoted, rest) = after.split_once("\\E").unwrap_or((after, ""));
    for character in quoted.chars() {
        literal(character, out);
    }
    rest
}

/// Writes one character so that it stands for itself, in extended mode too.
fn literal(character: char, out: &mut String) {
    if character.is_whitespace() {
        out.push_str(&format!("\\x{{{:x}}}", u32::from(character)));
        return;
    }
    if SPECIAL.contains(character) {
        out.push('\\');
    }
    out.push(character);
}

/// Translates what follows a backslash and answers with the rest.
fn escape<'a>(after: &'a str, in_class: bool, out: &mut String) -> &'a str {
    let Some(character) = after.chars().next() else {
        out.push('\\');
        return after;
    };
    let rest = &after[character.len_utf8()..];
    let class = match character {
        'd' => Some("0-9"),
        'w' => Some("0-9A-Za-z_"),
        's' => Some("\\t\\n\\x0B\\f\\r\\x20"),
        'h' => Some("\\t\\x20\\u{a0}"),
        'v' => Some("\\n\\x0B\\f\\r\\u{85}\\u{2028}\\u{2029}"),
        _ => None,
    };
    let negated = match character {
        'D' => Some("0-9"),
        'W' => Some("0-9A-Za-z_"),
        'S' => Some("\\t\\n\\x0B\\f\\r\\x20"),
        'H' => Some("\\t\\x20\\u{a0}"),
        'V' => Some("\\n\\x0B\\f\\r\\u{85}\\u{2028}\\u{2029}"),
        'N' => Some("\\n"),
        _ => None,
    };
    match (character, class, negated) {
        (_, Some(class), _) if in_class => out.push_str(class),
        (_, Some(class), _) => out.push_str(&format!("[{class}]")),
        (_, _, Some(class)) => out.push_str(&format!("[^{class}]")),
        ('b', ..) if in_class => out.push_str("\\x08"),
        ('b', ..) => {
            out.push_str("(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))")
        }
        ('B', ..) => {
            out.push_str("(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))")
        }
        ('R', ..) => out.push_str("(?>\\r\\n|[\\n\\x0B\\f\\r\\u{85}\\u{2028}\\u{2029}])"),
        ('Z', ..) => out.push_str("(?=\\n?\\z)"),
        ('e', ..) => out.push_str("\\x1B"),
        ('E', ..) => {}
        ('0', ..) => {
            let digits =
                rest.bytes().take(2).take_while(|byte| (b'0'..b'8').contains(byte)).count();
            let value = u32::from_str_radix(&rest[..digits], 8).unwrap_or(0);
            out.push_str(&format!("\\x{{{value:x}}}"));
            return &rest[digits..];
        }
        ('c', ..) => {
            let control = rest.bytes().next().filter(u8::is_ascii_graphic);
            let value =
                control.map_or(0x1c, |control| u32::from(control.to_ascii_uppercase() ^ 0x40));
            out.push_str(&format!("\\x{{{value:x}}}"));
            return &rest[usize::from(control.is_some())..];
        }
        (letter, ..) if letter.is_ascii_alphanumeric() => {
            out.push('\\');
            out.push(letter);
            // `\x{41}`, `\p{Lu}`, `\k{name}`, `\g{1}`: the braces belong to the escape.
            if "xpPkgu".contains(letter)
                && let Some(end) = rest.strip_prefix('{').and_then(|inside| inside.find('}'))
            {
                out.push_str(&rest[..end + 2]);
                return &rest[end + 2..];
            }
        }
        (other, ..) => literal(other, out),
    }
    rest
}

/// Whether `{n}`, `{n,}` or `{n,m}` stands at the start of `text`.
fn is_quantifier(text: &str) -> bool {
    let Some((inside, _)) = text[1..].split_once('}') else { return false };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    !least.is_empty()
        && least.bytes().all(|byte| byte.is_ascii_digit())
        && most.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether `out` ends inside the `{` of a quantifier.
fn ends_quantifier(out: &str) -> bool {
    let Some(open) = out.rfind('{') else { return false };
    !out[open..].contains('}') && !out[..open].ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(source: &str, options: &str, text: &str) -> bool {
        Pattern::new(source, options)
            .unwrap_or_else(|error| panic!("{source}: {error}"))
            .matches_text(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_pcre() {
        assert!(matches("^a.c$", "", "abc"));
        assert!(matches("(?i)ABC", "", "xabcx"));
        assert!(matches("b$", "m", "b\nc") && !matches("b$", "", "b\nc"));
        assert!(matches("a.b", "s", "a\nb") && !matches("a.b", "", "a\nb"));
        assert!(matches("a b # tail", "x", "ab"));
        assert!(matches("(?<=x)y", "", "xy") && matches("x(?!z)", "", "xy"));
        assert!(matches(r"(\w)\1", "", "book"));
        // Digits and words are ASCII there.
        assert!(matches(r"^\d+$", "", "12") && !matches(r"^\d+$", "", "١٢"));
        assert!(!matches(r"\w", "", "é") && matches(r"\W", "", "é"));
        assert!(matches(r"\bcat\b", "", "a cat!") && !matches(r"\bcat\b", "", "concat"));
        // Braces and brackets that open nothing are themselves.
        assert!(
            matches("a{b}", "", "a{b}")
                && matches("x{,2}", "", "x{,2}")
                && matches("a{2}", "", "aa")
        );
        assert!(
            matches("^[[]$", "", "[")
                && matches("^[]a]+$", "", "]a")
                && matches("^[a&&b]+$", "", "&")
        );
        assert!(matches("^[[:alpha:]]+$", "", "abc") && matches(r"^[\d.]+$", "", "1.5"));
        assert!(matches(r"\Qa.b\E+", "", "a.b") && !matches(r"\Qa.b\E", "", "axb"));
        assert!(
            matches(r"a\/b", "", "a/b")
                && matches(r"\<b\>", "", "<b>")
                && matches(r"\x{41}", "", "A")
        );
        assert!(matches(r"user\@host", "", "user@host") && matches(r"^caf\x{e9}$", "i", "CAFÉ"));
        assert!(
            matches(r"\p{Lu}", "", "É")
                && matches(r"^a\sb$", "", "a b")
                && matches(r"\-\_", "", "-_")
        );
    }

    #[test]
    fn bad_patterns_and_flags_are_refused() {
        assert_eq!(
            Pattern::new("(", "").map(|_| ()).map_err(|error| error.code()),
            Err(Some(Code(51091)))
        );
        assert_eq!(
            Pattern::new("a", "g").map(|_| ()).map_err(|error| error.to_string()),
            Err(" invalid flag in regex options: g".into())
        );
    }

    #[test]
    fn a_prefix_is_what_every_match_begins_with() {
        let prefix = |source: &str, options: &str| {
            Pattern::new(source, options).unwrap().prefix().to_owned()
        };
        assert_eq!(prefix("^abc", ""), "abc");
        assert_eq!(prefix("^abc.*", ""), "abc");
        assert_eq!(prefix("^abc?", ""), "ab");
        assert_eq!(prefix("^abc|x", ""), "");
        assert_eq!(prefix("^abc", "i"), "");
        assert_eq!(prefix("abc", ""), "");
        assert_eq!(prefix(r"^a\.b", ""), "a");
    }
}
