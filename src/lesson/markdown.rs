//! What a page's Markdown (CommonMark) comes to at a terminal: headings, paragraphs, lists and code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// `# Title`: how many `#`, and the text.
    Heading(usize, String),
    /// Lines of text, joined; [`spans`] tells their code.
    Paragraph(String),
    /// An item of a list: its marker (`-`, `1.`) and its text.
    Item(String, String),
    /// A block of code: what stands behind its opening fence, and the lines.
    Code(String, String),
}

/// The blocks of a text, each with the line it begins at, counted from 1.
pub(super) fn blocks(text: &str) -> Vec<(usize, Block)> {
    let mut pieces =
        Pieces { text, blocks: Vec::new(), lists: Vec::new(), item: false, loose: None };
    let mut events = Parser::new(text).into_offset_iter();
    while let Some((event, range)) = events.next() {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let title = text[range.clone()].lines().next().unwrap_or_default();
                let title = title.trim_start_matches('#').trim().to_owned();
                pieces.push(range.start, Block::Heading(level as usize, title));
                events.by_ref().find(|(event, _)| matches!(event, Event::End(TagEnd::Heading(_))));
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.trim().to_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                let mut code = String::new();
                while let Some((Event::Text(lines), _)) = events.next() {
                    code.push_str(&lines);
                }
                pieces.push(range.start, Block::Code(info, code.trim_end().to_owned()));
            }
            Event::Start(Tag::List(first)) => {
                pieces.flush();
                pieces.lists.push(first);
            }
            Event::End(TagEnd::List(_)) => {
                pieces.flush();
                pieces.lists.pop();
            }
            Event::Start(Tag::Item) => {
                let marker = pieces.marker();
                pieces.push(range.start, Block::Item(marker, String::new()));
                pieces.item = true;
            }
            Event::Start(Tag::Paragraph | Tag::HtmlBlock) => {
                pieces.flush();
                pieces.loose = Some(range);
            }
            Event::End(TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::Item) => pieces.flush(),
            Event::Rule => pieces.flush(),
            Event::Start(Tag::BlockQuote(_)) | Event::End(TagEnd::BlockQuote(_)) => pieces.flush(),
            _ => pieces.widen(range),
        }
    }
    pieces.blocks
}

/// The blocks of a text that is being read.
struct Pieces<'a> {
    text: &'a str,
    blocks: Vec<(usize, Block)>,
    /// The next number of each list that is open, of a numbered one.
    lists: Vec<Option<u64>>,
    /// The last block is an item that has no text yet.
    item: bool,
    /// Where the running text stands that is not in a block yet.
    loose: Option<Range<usize>>,
}

impl Pieces<'_> {
    fn push(&mut self, at: usize, block: Block) {
        self.flush();
        self.item = false;
        let line = self.text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
        self.blocks.push((line, block));
    }

    /// The marker of the next item.
    fn marker(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}.", *number - 1)
            }
            _ => "-".to_owned(),
        }
    }

    /// Text goes on: that of an item has no paragraph of its own.
    fn widen(&mut self, range: Range<usize>) {
        match &mut self.loose {
            Some(loose) => loose.end = loose.end.max(range.end),
            None => self.loose = Some(range),
        }
    }

    /// Makes a block of the running text.
    fn flush(&mut self) {
        let Some(range) = self.loose.take() else { return };
        let lines: Vec<&str> = self.text[range.clone()].lines().map(str::trim).collect();
        let joined = lines.join(" ").trim().to_owned();
        match self.blocks.last_mut() {
            Some((_, Block::Item(_, text))) if self.item => *text = joined,
            _ if joined.is_empty() => {}
            _ => self.push(range.start, Block::Paragraph(joined)),
        }
        self.item = false;
    }
}

/// A stretch of running text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Plain text; emphasis counts as plain.
    Text(String),
    /// `` `code` ``.
    Code(String),
}

/// The stretches of a paragraph: code apart, marks of emphasis and of links dropped.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    // As a heading, text is nothing but running text, whatever it begins with.
    for event in Parser::new(&format!("# {text}")) {
        match (event, spans.last_mut()) {
            (Event::Code(code), _) => spans.push(Span::Code(code.into_string())),
            (Event::Text(more) | Event::InlineHtml(more), Some(Span::Text(text))) => {
                text.push_str(&more);
            }
            (Event::Text(text) | Event::InlineHtml(text), _) => {
                spans.push(Span::Text(text.into_string()));
            }
            _ => {}
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_falls_into_blocks() {
        let text = "# A title\n\nOne\ntwo.\n- first\n  more\n- second\n\n```js check\n# no\n\n  x\n```\n1. x";
        let expected = [
            (1, Block::Heading(1, "A title".to_owned())),
            (3, Block::Paragraph("One two.".to_owned())),
            (5, Block::Item("-".to_owned(), "first more".to_owned())),
            (7, Block::Item("-".to_owned(), "second".to_owned())),
            (9, Block::Code("js check".to_owned(), "# no\n\n  x".to_owned())),
            (14, Block::Item("1.".to_owned(), "x".to_owned())),
        ];
        assert_eq!(blocks(text), expected);
    }

    #[test]
    fn items_may_be_far_apart_and_lists_in_lists() {
        let text = "2. a `b`\n\n   more\n\n3. *c*\n   - d\n\n    e\n\n<f: 1> g\n";
        let item = |marker: &str, text: &str| Block::Item(marker.to_owned(), text.to_owned());
        let expected = [
            (1, item("2.", "a `b`")),
            (3, Block::Paragraph("more".to_owned())),
            (5, item("3.", "*c*")),
            (6, item("-", "d")),
            (8, Block::Paragraph("e".to_owned())),
            (10, Block::Paragraph("<f: 1> g".to_owned())),
        ];
        assert_eq!(blocks(text), expected);
    }

    #[test]
    fn a_fence_that_is_not_closed_is_code_to_the_end() {
        assert_eq!(blocks("~~~\na"), [(1, Block::Code(String::new(), "a".to_owned()))]);
        assert_eq!(blocks("```a``` b").len(), 1);
        assert_eq!(blocks("#no\n#######"), [(1, Block::Paragraph("#no #######".to_owned()))]);
    }

    #[test]
    fn code_stands_apart_and_emphasis_is_dropped() {
        let text = |text: &str| Span::Text(text.to_owned());
        assert_eq!(spans("a `b*c` d"), [text("a "), Span::Code("b*c".to_owned()), text(" d")]);
        assert_eq!(spans("*a* **b** 2 * 3"), [text("a b 2 * 3")]);
        assert_eq!(spans("it`s [here](x)"), [text("it`s here")]);
        assert_eq!(spans("2010. <_id: 1> {a: [1]}"), [text("2010. <_id: 1> {a: [1]}")]);
        assert_eq!(spans(""), []);
    }
}
