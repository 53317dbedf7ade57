//! What is copied along with code: list numbers, fences, prompts, continuation dots and printed results.

use std::ops::Range;

use super::grammar::Rule;
use super::tree::Tree;

/// What a line of a paste begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Decoration {
    /// A list number.
    Number {
        /// The number.
        ordinal: u32,
        /// Whether a point follows it, as in `1.`, or a parenthesis.
        pointed: bool,
        /// Bytes up to the end of the number and its point.
        span: Range<usize>,
        /// The line can be no JavaScript as it stands.
        certain: bool,
    },
    /// A prompt.
    Prompt {
        /// Bytes up to the end of the prompt.
        span: Range<usize>,
        /// The line can be no JavaScript, or reads as some that nobody writes (`test> db.a.find()`).
        certain: bool,
    },
    /// The line begins or ends a block of code on a Markdown page.
    Fence {
        /// It names the language, so it begins one.
        begins: bool,
    },
}

/// The decoration before a line.
pub(super) fn of(line: &str) -> Option<Decoration> {
    if let Some(fence) = Tree::of(Rule::fence, line) {
        return Some(Decoration::Fence { begins: fence.first(Rule::info).is_some() });
    }
    let tree = Tree::of(Rule::pasted, line)?;
    let free = tree.first(Rule::free).is_some();
    let digit = tree.first(Rule::digit).is_some();
    let bound = tree.first(Rule::bound).is_some();
    if let Some(number) = tree.first(Rule::list_number) {
        let ordinal = tree.text_of(tree.first(Rule::ordinal)?).parse().ok()?;
        // `1.` is a number, and `1. + x` and `1. [x]` go on with it; `1)` is nothing else.
        let pointed = !tree.text_of(number).ends_with(')');
        let certain = free || digit || !pointed;
        return Some(Decoration::Number {
            ordinal,
            pointed,
            span: 0..number.end as usize,
            certain,
        });
    }
    let prompt = tree.first(Rule::prompt)?;
    // `x> 5` reads as a comparison.
    let certain = free || !(digit || bound) || tree.first(Rule::named_prompt).is_none();
    Some(Decoration::Prompt { span: 0..prompt.end as usize, certain })
}

/// The bytes of the continuation dots before a line, `... `.
pub(super) fn dots(line: &str) -> Option<Range<usize>> {
    let tree = Tree::of(Rule::dots, line)?;
    Some(0..tree.first(Rule::more_dots)?.end as usize)
}

/// Whether a line can only go on with the statement before it (`.sort({a: 1})`, `else {`).
pub(super) fn goes_on(line: &str) -> bool {
    Tree::of(Rule::continuation, line).is_some()
}

/// Whether a text is what the shell prints: `{ "_id" : 1 }`, `WriteResult({ "nInserted" : 1 })`.
pub(super) fn is_printed(text: &str) -> bool {
    Tree::of(Rule::printed, text).is_some()
}
