//! Text that remembers which parts of it deserve a colour, and the paint that applies it last.
//!
//! Layout counts characters, so colour codes may not be in the text while it is laid out: an [`Inked`] holds plain text
//! and marks beside it. Without colour no mark is ever made.

use std::ops::Range;

use colored::Color;
use unicode_width::UnicodeWidthChar;

/// What a stretch of text is; the paint decides how that looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// A string.
    Text,
    /// A number, boolean or BigInt.
    Number,
    /// `null` and `undefined`.
    Nothing,
    /// A BSON value with a constructor: ObjectId, date, `NumberLong`.
    Special,
    /// A function, an accessor, a reference to an ancestor.
    Function,
    /// A regular expression.
    Regex,
    /// An error.
    Error,
    /// A key word of the language or a shell word.
    Keyword,
    /// A comment or a hint.
    Comment,
}

/// Whether and how inks become colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Paint {
    /// No colour at all.
    #[default]
    Plain,
    /// The terminal's own sixteen colours, chosen for a dark background.
    Terminal,
    /// The same, chosen for a light one.
    Light,
}

impl Paint {
    /// Colour where it was asked for: `terminal` is whether the stream is one, `no_color` the environment's `NO_COLOR`.
    /// `colours` is its `COLORFGBG`, by which some terminals say what their background is.
    pub fn choose(terminal: bool, no_color: Option<&str>, colours: Option<&str>) -> Self {
        // no-color.org: present and not empty, whatever its value.
        match no_color {
            Some(value) if !value.is_empty() => Self::Plain,
            _ if terminal => Self::Terminal.suited(colours.is_some_and(is_light)),
            _ => Self::Plain,
        }
    }

    /// The same for a light background, or a dark one.
    #[must_use]
    pub fn suited(self, light: bool) -> Self {
        match (self, light) {
            (Self::Plain, _) => Self::Plain,
            (Self::Terminal | Self::Light, true) => Self::Light,
            (Self::Terminal | Self::Light, false) => Self::Terminal,
        }
    }

    /// `text` in the colour of `ink`, ready for the terminal.
    pub fn brush(self, text: &str, ink: Ink) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Terminal => format!("\x1b[{}m{text}\x1b[0m", color(ink).to_fg_str()),
            Self::Light => format!("\x1b[{}m{text}\x1b[0m", on_light(ink).to_fg_str()),
        }
    }
}

/// Whether `COLORFGBG` (`0;15`, `0;default;15`) tells a light background: its last number is white or light grey.
fn is_light(colours: &str) -> bool {
    matches!(colours.rsplit(';').next(), Some("7" | "15"))
}

/// Yellow and cyan are hard to read on white.
fn on_light(ink: Ink) -> Color {
    match ink {
        Ink::Number => Color::Blue,
        Ink::Function | Ink::Keyword => Color::Magenta,
        Ink::Text | Ink::Nothing | Ink::Comment | Ink::Special | Ink::Regex | Ink::Error => {
            color(ink)
        }
    }
}

fn color(ink: Ink) -> Color {
    match ink {
        Ink::Text => Color::Green,
        Ink::Number => Color::Yellow,
        Ink::Nothing | Ink::Comment => Color::BrightBlack,
        Ink::Special => Color::Magenta,
        Ink::Function => Color::Cyan,
        Ink::Regex | Ink::Error => Color::Red,
        Ink::Keyword => Color::Blue,
    }
}

/// Plain text with marks for colour.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inked {
    text: String,
    marks: Vec<(Range<usize>, Ink)>,
}

impl Inked {
    /// Text without marks.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), marks: Vec::new() }
    }

    /// Text that is one mark as a whole, or plain when `paint` is.
    pub fn marked(text: impl Into<String>, ink: Ink, paint: Paint) -> Self {
        let text = text.into();
        let marks = match paint {
            Paint::Plain => Vec::new(),
            Paint::Terminal | Paint::Light => vec![(0..text.len(), ink)],
        };
        Self { text, marks }
    }

    /// The text without colour.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The text without colour, owned.
    pub fn into_string(self) -> String {
        self.text
    }

    /// Adds plain text.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds marked text.
    pub fn push_marked(&mut self, text: &str, ink: Ink, paint: Paint) {
        let start = self.text.len();
        self.text.push_str(text);
        if paint != Paint::Plain {
            self.marks.push((start..self.text.len(), ink));
        }
    }

    /// Adds another inked text.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.marks.extend(
            other.marks.iter().map(|(range, ink)| (range.start + start..range.end + start, *ink)),
        );
    }

    /// Its length as JavaScript counts it, in UTF-16 units.
    pub fn units(&self) -> usize {
        units(&self.text)
    }

    /// The columns it takes on a terminal.
    pub fn width(&self) -> usize {
        if self.text.is_ascii() {
            return self.text.len();
        }
        self.text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
    }

    /// Whether it has more than one line.
    pub fn is_multiline(&self) -> bool {
        self.text.contains('\n')
    }

    /// Rewrites the text piece by piece. `pieces` gives, in order, what to keep and what to put in place of what is
    /// between; marks move along.
    fn rewrite(
        &mut self,
        from: usize,
        mut next: impl FnMut(&str, usize) -> Option<(Range<usize>, String)>,
    ) {
        let mut text = self.text[..from].to_owned();
        let mut moved: Vec<(usize, usize, isize)> = Vec::new();
        let mut position = from;
        while let Some((range, replacement)) = next(&self.text, position) {
            text.push_str(&self.text[position..range.start]);
            text.push_str(&replacement);
            moved.push((range.start, range.end, replacement.len() as isize - range.len() as isize));
            position = range.end;
        }
        text.push_str(&self.text[position..]);
        for (mark, _) in &mut self.marks {
            *mark = shift(mark.start, &moved)..shift(mark.end, &moved);
        }
        self.text = text;
    }

    /// Replaces every run of tabs and line ends from byte `from` on by one blank.
    pub fn squeeze(&mut self, from: usize) {
        let blank = |letter: char| matches!(letter, '\t' | '\r' | '\n');
        if !self.text[from..].contains(blank) {
            return;
        }
        self.rewrite(from, |text, position| {
            let start = position + text[position..].find(blank)?;
            let rest = &text[start..];
            let length = rest.find(|letter| !blank(letter)).unwrap_or(rest.len());
            Some((start..start + length, " ".to_owned()))
        });
    }

    /// Puts `columns` blanks after every line end.
    pub fn indent(&mut self, columns: usize) {
        if columns == 0 || !self.is_multiline() {
            return;
        }
        let end = format!("\n{}", " ".repeat(columns));
        self.rewrite(0, |text, position| {
            let start = position + text[position..].find('\n')?;
            Some((start..start + 1, end.clone()))
        });
    }

    /// The text with its colours.
    pub fn paint(&self, paint: Paint) -> String {
        if paint == Paint::Plain || self.marks.is_empty() {
            return self.text.clone();
        }
        let mut painted = String::with_capacity(self.text.len() + 10 * self.marks.len());
        let mut position = 0;
        for (range, ink) in &self.marks {
            // A mark inside another one gives way to the outer.
            if range.start < position || range.is_empty() {
                continue;
            }
            painted.push_str(&self.text[position..range.start]);
            painted.push_str(&paint.brush(&self.text[range.clone()], *ink));
            position = range.end;
        }
        painted.push_str(&self.text[position..]);
        painted
    }
}

/// Where byte `position` is after the replacements `moved` (start, end, growth).
fn shift(position: usize, moved: &[(usize, usize, isize)]) -> usize {
    let growth: isize =
        moved.iter().take_while(|(_, end, _)| *end <= position).map(|(_, _, growth)| growth).sum();
    position.saturating_add_signed(growth)
}

/// The length of `text` as JavaScript counts it, in UTF-16 units.
pub fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_follow_the_text_they_belong_to() {
        let mut text = Inked::plain("{\n\t\"a\" : ");
        text.push_marked("1", Ink::Number, Paint::Terminal);
        text.push("\n}");
        text.squeeze(0);
        assert_eq!(text.as_str(), "{ \"a\" : 1 }");
        assert_eq!(text.paint(Paint::Terminal), "{ \"a\" : \x1b[33m1\x1b[0m }");
        assert_eq!(text.paint(Paint::Plain), "{ \"a\" : 1 }");
    }

    #[test]
    fn colour_only_at_a_terminal_that_did_not_decline() {
        assert_eq!(Paint::choose(true, None, None), Paint::Terminal);
        assert_eq!(Paint::choose(true, Some(""), Some("15;0")), Paint::Terminal);
        assert_eq!(Paint::choose(true, None, Some("0;default;15")), Paint::Light);
        assert_eq!(Paint::choose(true, Some("0"), Some("0;15")), Paint::Plain);
        assert_eq!(Paint::choose(false, None, Some("0;15")), Paint::Plain);
        assert_eq!(Paint::Plain.suited(true), Paint::Plain);
        assert_eq!(Paint::Terminal.suited(true).brush("1", Ink::Number), "\x1b[34m1\x1b[0m");
    }

    #[test]
    fn a_wide_letter_takes_two_columns_and_an_emoji_two_units() {
        assert_eq!(Inked::plain("日本").width(), 4);
        assert_eq!(units("日本"), 2);
        assert_eq!(units("😀"), 2);
    }
}
