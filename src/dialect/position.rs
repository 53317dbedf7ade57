//! Where things stand: lines and columns, and the way back from rewritten text to the user's.
//!
//! This is the one file of the dialect that looks at characters.

use std::borrow::Cow;
use std::ops::Range;

use super::{Code, Edit};

/// The lines of a text. Built once, it answers without the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The byte at which each line starts.
    starts: Vec<usize>,
    /// For each character of more than one byte: the byte after it, and how many bytes more than characters the text
    /// has up to there.
    wide: Vec<(usize, usize)>,
    /// How long the text is.
    length: usize,
}

impl Lines {
    /// The lines of `text`. A line ends at a line feed, as QuickJS counts.
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        let mut wide = Vec::new();
        if !text.is_ascii() {
            let mut extra = 0;
            for (at, character) in text.char_indices() {
                let bytes = character.len_utf8();
                if bytes > 1 {
                    extra += bytes - 1;
                    wide.push((at + bytes, extra));
                }
            }
        }
        Self { starts, wide, length: text.len() }
    }

    /// Line and column of a byte, both from 1, the column in characters. An offset past the end is the end.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let offset = offset.min(self.length);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let start = self.starts[line];
        let characters = (offset - start) - (self.extra(offset) - self.extra(start));
        (small(line + 1), small(characters + 1))
    }

    /// The byte of a line and column, both from 1. What lies outside the text is its nearest end.
    pub fn offset(&self, line: u32, column: u32) -> usize {
        let line = (line.max(1) as usize - 1).min(self.starts.len() - 1);
        let (start, end) =
            (self.starts[line], self.starts.get(line + 1).map_or(self.length, |next| next - 1));
        let mut offset = start + (column.max(1) as usize - 1);
        let base = self.extra(start);
        // Each wide character before the place moves it on; few are on one line.
        let mut at = self.wide.partition_point(|(after, _)| *after <= start);
        while let Some((after, extra)) = self.wide.get(at) {
            let before = at.checked_sub(1).map_or(0, |previous| self.wide[previous].1);
            let bytes = extra - before + 1;
            let character = after - bytes;
            if *after > end || character >= offset.saturating_add(before - base) {
                break;
            }
            at += 1;
        }
        let passed = at.checked_sub(1).map_or(0, |previous| self.wide[previous].1).max(base) - base;
        offset = offset.saturating_add(passed);
        offset.min(end)
    }

    /// How many lines there are, at least one.
    pub fn count(&self) -> usize {
        self.starts.len()
    }

    /// The bytes of a line (from 1) without its line end; of no such line, the end of the text.
    pub fn line(&self, line: u32, text: &str) -> Range<usize> {
        let index = line.max(1) as usize - 1;
        let Some(start) = self.starts.get(index).copied() else { return self.length..self.length };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.length);
        start..start + text[start..end].trim_end_matches(['\r', '\n']).len()
    }

    /// Bytes more than characters before a byte.
    fn extra(&self, offset: usize) -> usize {
        let passed = self.wide.partition_point(|(after, _)| *after <= offset);
        passed.checked_sub(1).map_or(0, |last| self.wide[last].1)
    }
}

impl Code {
    /// A piece of a text as it stands, without edits.
    pub fn plain(text: &str, span: Range<usize>) -> Self {
        let code = text[span.clone()].to_owned();
        Self { text: code, edits: Vec::new(), span, awaits: false, declares: None }
    }

    /// The byte of the user's text from which a byte of the rewritten text comes.
    ///
    /// What was put in or replaced as a whole answers with the place where that was done.
    pub fn source_offset(&self, output_offset: usize) -> usize {
        let passed = self.edits.partition_point(|edit| edit.output.start <= output_offset);
        let Some(edit) = passed.checked_sub(1).map(|last| &self.edits[last]) else {
            return (self.span.start + output_offset).min(self.span.end);
        };
        if output_offset < edit.output.end {
            return edit.source.start;
        }
        (edit.source.end + (output_offset - edit.output.end)).min(self.span.end)
    }

    /// The same code, run after `head`, which the user did not write.
    #[must_use]
    pub fn behind(&self, head: &str) -> Self {
        let start = self.span.start;
        let moved = self.edits.iter().map(|edit| Edit {
            source: edit.source.clone(),
            output: edit.output.start + head.len()..edit.output.end + head.len(),
        });
        let put_in = Edit { source: start..start, output: 0..head.len() };
        Self {
            text: format!("{head}{}", self.text),
            edits: std::iter::once(put_in).chain(moved).collect(),
            ..self.clone()
        }
    }

    /// Line and column in the user's text of a position that QuickJS reports for the rewritten text.
    pub fn position(
        &self,
        lines_of_user_text: &Lines,
        output_line: u32,
        output_column: u32,
    ) -> (u32, u32) {
        let offset = Lines::new(&self.text).offset(output_line, output_column);
        lines_of_user_text.position(self.source_offset(offset))
    }
}

/// The text with single carriage returns turned into line feeds, which JavaScript knows as line ends but the grammar,
/// for speed, does not. No byte moves.
pub(super) fn plain_line_ends(text: &str) -> Cow<'_, str> {
    let lone = |at: usize| text.as_bytes().get(at + 1) != Some(&b'\n');
    if !text.match_indices('\r').any(|(at, _)| lone(at)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        plain.push(if character == '\r' && lone(at) { '\n' } else { character });
    }
    Cow::Owned(plain)
}

/// The value that JavaScript gives a whole number, in full; `None` if that is infinite.
pub(super) fn nearest_double(digits: &str) -> Option<String> {
    let value: f64 = digits.parse().ok()?;
    value.is_finite().then(|| format!("{value:.0}"))
}

/// Whether a text holds nothing that could be an HTML entity or a full-width sign.
pub(super) fn is_plain(text: &str) -> bool {
    text.is_ascii() && !text.contains('&')
}

/// The ASCII sign that a full-width one stands for.
pub(super) fn narrow(wide: &str) -> &'static str {
    const SIGNS: &str = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    let at = match wide.chars().next() {
        Some('、') => return ",",
        Some('。') => return ".",
        Some('【') => return "[",
        Some('】') => return "]",
        Some(sign) => (sign as usize).wrapping_sub(0xff01),
        None => return "",
    };
    SIGNS.get(at..at.saturating_add(1)).unwrap_or("")
}

/// The length of the first character of a text, in bytes.
pub(super) fn first_character(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// The length of the last character of a text, in bytes.
pub(super) fn last_character(text: &str) -> usize {
    text.chars().next_back().map_or(0, char::len_utf8)
}

/// The content of a string literal that ran between typographic quotes, as the content of one between `quote`s: a
/// bare `quote` inside is escaped.
pub(super) fn escape_quotes(content: &str, quote: char) -> String {
    let mut escaped = String::with_capacity(content.len());
    let mut after_backslash = false;
    for character in content.chars() {
        if character == quote && !after_backslash {
            escaped.push('\\');
        }
        escaped.push(character);
        after_backslash = character == '\\' && !after_backslash;
    }
    escaped
}

/// A JavaScript string literal of a text that holds no line end.
pub(super) fn literal(text: &str) -> String {
    let mut literal = String::from('"');
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            literal.push('\\');
        }
        literal.push(character);
    }
    literal.push('"');
    literal
}

/// As many blanks as a text has characters.
pub(super) fn blanks(text: &str) -> String {
    " ".repeat(text.chars().count())
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The text that results from replacing, and the edits that were made.
pub(super) struct Rewriting<'a> {
    text: &'a str,
    span: Range<usize>,
    output: String,
    edits: Vec<Edit>,
    copied: usize,
}

impl<'a> Rewriting<'a> {
    /// Begins with the bytes `span` of `text`.
    pub(super) fn new(text: &'a str, span: Range<usize>) -> Self {
        let output = String::with_capacity(span.len() + span.len() / 64);
        Self { text, copied: span.start, span, output, edits: Vec::new() }
    }

    /// Replaces bytes of the text. Replacements come in order and do not overlap; an empty one inserts.
    pub(super) fn replace(&mut self, source: Range<usize>, with: &str) {
        self.output.push_str(&self.text[self.copied..source.start]);
        let start = self.output.len();
        self.output.push_str(with);
        self.copied = source.end;
        self.edits.push(Edit { source, output: start..self.output.len() });
    }

    /// The rewritten text and its edits.
    pub(super) fn finish(mut self) -> (String, Vec<Edit>) {
        self.output.push_str(&self.text[self.copied..self.span.end]);
        (self.output, self.edits)
    }
}
