//! Markdown at a terminal: wrapped to its width, code set off, no box art; colour only where there is paint.

use unicode_width::UnicodeWidthStr;

use super::markdown::{Block, Span, spans};
use crate::print::{Ink, Paint};

/// Lines longer than this are hard to read, however wide the terminal is.
const WIDEST: usize = 96;

/// Narrower terminals get lines of this width all the same.
const NARROWEST: usize = 20;

/// What stands before code.
const INDENT: &str = "    ";

/// How texts are laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    width: usize,
    paint: Paint,
}

impl Layout {
    /// A layout for a terminal with that many columns.
    pub(super) fn new(columns: usize, paint: Paint) -> Self {
        // The last column stays free: some terminals break the line behind a character in it.
        Self { width: columns.saturating_sub(1).clamp(NARROWEST, WIDEST), paint }
    }

    /// Blocks one below the other, with an empty line between two that are not items of one list.
    pub(super) fn blocks(&self, blocks: &[Block]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut before: Option<&Block> = None;
        for block in blocks {
            let list = matches!((before, block), (Some(Block::Item(..)), Block::Item(..)));
            if before.is_some() && !list {
                lines.push(String::new());
            }
            match block {
                Block::Heading(_, title) => lines.push(self.bold(title)),
                Block::Paragraph(text) => self.wrap(text, "", &mut lines),
                Block::Item(marker, text) => self.wrap(text, &format!("{marker} "), &mut lines),
                Block::Code(_, code) => lines.extend(self.code(code)),
            }
            before = Some(block);
        }
        lines
    }

    /// A paragraph.
    pub(super) fn text(&self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        self.wrap(text, "", &mut lines);
        lines
    }

    /// Code, as it stands.
    pub(super) fn code(&self, code: &str) -> Vec<String> {
        code.lines().map(|line| format!("{INDENT}{line}").trim_end().to_owned()).collect()
    }

    /// A line that stands out.
    pub(super) fn bold(&self, text: &str) -> String {
        self.paint.brush(text, Ink::Keyword)
    }

    /// Words in lines; `lead` stands before the first, blanks of its width before the others. Code is not broken.
    fn wrap(&self, text: &str, lead: &str, lines: &mut Vec<String>) {
        let margin = " ".repeat(lead.width());
        let mut line = lead.to_owned();
        let mut used = lead.width();
        let mut empty = true;
        for (word, width) in self.words(text) {
            if !empty && used + 1 + width > self.width {
                lines.push(std::mem::replace(&mut line, margin.clone()));
                used = margin.width();
                empty = true;
            }
            if !empty {
                line.push(' ');
                used += 1;
            }
            line.push_str(&word);
            used += width;
            empty = false;
        }
        lines.push(line);
    }

    /// The words of a text as they are shown, each with the columns it takes.
    fn words(&self, text: &str) -> Vec<(String, usize)> {
        let mut words = vec![(String::new(), 0)];
        let mut push = |shown: &str, width: usize, new: bool| {
            if new {
                words.push((String::new(), 0));
            }
            if let Some((word, columns)) = words.last_mut() {
                word.push_str(shown);
                *columns += width;
            }
        };
        for span in spans(text) {
            match span {
                Span::Text(text) => {
                    for (at, word) in text.split(char::is_whitespace).enumerate() {
                        push(word, word.width(), at > 0);
                    }
                }
                // Without colour the backticks stay, so that it is seen where code begins and ends.
                Span::Code(code) => match self.paint {
                    Paint::Plain => push(&format!("`{code}`"), code.width() + 2, false),
                    Paint::Terminal | Paint::Light => {
                        push(&self.paint.brush(&code, Ink::Function), code.width(), false);
                    }
                },
            }
        }
        words.retain(|(word, _)| !word.is_empty());
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::markdown::blocks;

    fn laid_out(columns: usize, text: &str) -> Vec<String> {
        let blocks: Vec<_> = blocks(text).into_iter().map(|(_, block)| block).collect();
        Layout::new(columns, Paint::Plain).blocks(&blocks)
    }

    #[test]
    fn text_is_wrapped_and_code_is_not() {
        assert_eq!(
            laid_out(
                21,
                "one two three four `a b c` five\n\n- item of a long list\n- x\n\n```js\nf( 1 )\n```"
            ),
            [
                "one two three four",
                "`a b c` five",
                "",
                "- item of a long",
                "  list",
                "- x",
                "",
                "    f( 1 )",
            ]
        );
        assert_eq!(laid_out(0, "日本語日本語日本語 日本語"), ["日本語日本語日本語", "日本語"]);
    }

    #[test]
    fn colour_takes_no_columns() {
        let painted = Layout::new(21, Paint::Terminal).text("aaaa `bbbbbbbbbb` cccc");
        assert_eq!(painted, ["aaaa \x1b[36mbbbbbbbbbb\x1b[0m cccc"]);
    }
}
