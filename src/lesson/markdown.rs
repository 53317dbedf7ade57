//! As much Markdown as a page needs: headings, paragraphs, lists and fenced code.

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// `# Title`: how many `#`, and the text.
    Heading(usize, String),
    /// Lines of text, joined.
    Paragraph(String),
    /// An item of a list: its marker (`-`, `1.`) and its text.
    Item(String, String),
    /// Fenced code: what stands behind the opening fence, and the lines.
    Code(String, String),
}

/// The blocks of a text, each with the line it begins at, counted from 1.
///
/// A fence that is never closed reaches to the end of the text.
pub(super) fn blocks(text: &str) -> Vec<(usize, Block)> {
    let mut blocks: Vec<(usize, Block)> = Vec::new();
    let mut lines = text.lines().zip(1..);
    // Whether the next line of text goes on with the last block.
    let mut open = false;
    while let Some((line, at)) = lines.next() {
        let line = line.trim_end();
        let content = line.trim_start();
        if let Some(fence) = fence(content) {
            let info = content[fence.len()..].trim().to_owned();
            let mut code = String::new();
            for (line, _) in lines.by_ref() {
                let closing = line.trim();
                if closing.len() >= fence.len() && closing.chars().all(|c| fence.starts_with(c)) {
                    break;
                }
                code.push_str(line.trim_end());
                code.push('\n');
            }
            blocks.push((at, Block::Code(info, code.trim_end().to_owned())));
            open = false;
        } else if content.is_empty() {
            open = false;
        } else if let Some((level, title)) = heading(line) {
            blocks.push((at, Block::Heading(level, title.to_owned())));
            open = false;
        } else if let Some((marker, text)) = item(content) {
            blocks.push((at, Block::Item(marker.to_owned(), text.to_owned())));
            open = true;
        } else {
            match blocks.last_mut() {
                Some((_, Block::Paragraph(text) | Block::Item(_, text))) if open => {
                    text.push(' ');
                    text.push_str(content);
                }
                _ => blocks.push((at, Block::Paragraph(content.to_owned()))),
            }
            open = true;
        }
    }
    blocks
}

/// The fence at the start of a line: three or more backticks or tildes.
fn fence(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.chars().take_while(|c| *c == mark).count();
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line[level..].strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (level, title.trim()))
}

fn item(line: &str) -> Option<(&str, &str)> {
    let (marker, text) = line.split_once(' ')?;
    let number = marker.strip_suffix('.').is_some_and(|number| number.parse::<u32>().is_ok());
    (number || matches!(marker, "-" | "*" | "+")).then(|| (marker, text.trim_start()))
}

/// A stretch of running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Span<'a> {
    /// Plain text; emphasis counts as plain.
    Text(&'a str),
    /// `` `code` ``.
    Code(&'a str),
}

/// The stretches of a paragraph: code apart, marks of emphasis dropped.
pub(super) fn spans(text: &str) -> Vec<Span<'_>> {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('`') {
        plain(before, &mut spans);
        match after.split_once('`') {
            Some((code, after)) => {
                spans.push(Span::Code(code));
                rest = after;
            }
            None => {
                spans.push(Span::Text(&rest[before.len()..]));
                rest = "";
            }
        }
    }
    plain(rest, &mut spans);
    spans
}

/// Text without its marks of emphasis. A lone asterisk between blanks is one.
fn plain<'a>(text: &'a str, spans: &mut Vec<Span<'a>>) {
    let mut rest = text;
    while let Some(at) = rest.find('*') {
        let length = rest[at..].bytes().take_while(|byte| *byte == b'*').count();
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let after = &rest[at + length..];
        let lone = blank(rest[..at].chars().next_back()) && blank(after.chars().next());
        let end = if lone { at + length } else { at };
        if end > 0 {
            spans.push(Span::Text(&rest[..end]));
        }
        rest = after;
    }
    if !rest.is_empty() {
        spans.push(Span::Text(rest));
    }
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
    fn a_fence_that_is_not_closed_is_code_to_the_end() {
        assert_eq!(blocks("~~~\na"), [(1, Block::Code(String::new(), "a".to_owned()))]);
        assert_eq!(blocks("```a``` b").len(), 1);
        assert_eq!(blocks("#no\n#######"), [(1, Block::Paragraph("#no #######".to_owned()))]);
    }

    #[test]
    fn code_stands_apart_and_emphasis_is_dropped() {
        use Span::{Code, Text};
        assert_eq!(spans("a `b*c` d"), [Text("a "), Code("b*c"), Text(" d")]);
        assert_eq!(
            spans("*a* **b** 2 * 3"),
            [Text("a"), Text(" "), Text("b"), Text(" 2 *"), Text(" 3")]
        );
        assert_eq!(spans("it`s"), [Text("it"), Text("`s")]);
        assert_eq!(spans(""), []);
    }
}
