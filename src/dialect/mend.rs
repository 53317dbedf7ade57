//! Repairs of a text that does not parse: HTML entities, full-width punctuation and dashes that a page left in its code.

use std::ops::Range;

use super::grammar::Rule;
use super::position::{self, Rewriting};
use super::tree::Tree;
use super::{Code, Edit, Input, Part, Source, Verdict};

/// A text after its repair.
struct Mended {
    /// The text, its edits against the user's, as code that could run.
    code: Code,
    /// What was repaired, for the user.
    notice: String,
}

/// Reads a text that does not parse, or that QuickJS refuses, once more after repairing it. `None` if there is
/// nothing to repair or the repair does not help.
///
/// Every position in the answer is one of the text as the user wrote it.
pub fn repaired(text: &str, source: Source) -> Option<Input> {
    let Mended { code, notice } = mend(text)?;
    let mut input = super::read(&code.text, source);
    match &mut input.verdict {
        Verdict::Broken(_) => return None,
        Verdict::Incomplete { opener } => {
            if let Some(span) = opener {
                *span = back(&code, span);
            }
        }
        Verdict::Complete => {}
    }
    for part in &mut input.parts {
        match part {
            Part::Word { span, .. } => *span = back(&code, span),
            Part::Script(script) => compose(script, &code),
        }
    }
    input.notices.insert(0, notice);
    Some(input)
}

fn mend(text: &str) -> Option<Mended> {
    if position::is_plain(text) {
        return None;
    }
    let tree = Tree::read(Rule::pieces, text);
    let mut rewriting = Rewriting::new(text, 0..text.len());
    let (mut entities, mut wide, mut printed) = (0, 0, 0);
    for node in &tree.nodes {
        let with = match node.rule {
            Rule::entity_quote => "\"",
            Rule::entity_tick => "'",
            Rule::bare_quote => "\\\"",
            Rule::bare_tick => "\\'",
            Rule::less => "<",
            Rule::greater => ">",
            Rule::ampersand => "&",
            Rule::space_entity => " ",
            Rule::wide => position::narrow(tree.text_of(node)),
            Rule::decrement => "--",
            Rule::dash => "-",
            Rule::ellipsis => "...",
            _ => continue,
        };
        match node.rule {
            Rule::wide => wide += 1,
            Rule::decrement | Rule::dash | Rule::ellipsis => printed += 1,
            Rule::bare_quote | Rule::bare_tick => {}
            _ => entities += 1,
        }
        rewriting.replace(node.span(), with);
    }
    let counted: Vec<String> = [
        (entities, "HTML entity", "HTML entities"),
        (wide, "full-width sign", "full-width signs"),
        (printed, "typographic sign", "typographic signs"),
    ]
    .iter()
    .filter(|(count, ..)| *count > 0)
    .map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many }))
    .collect();
    if counted.is_empty() {
        return None;
    }
    let (mended, edits) = rewriting.finish();
    let code = Code { text: mended, edits, span: 0..text.len(), awaits: false, declares: None };
    Some(Mended { code, notice: format!("repaired: {}", counted.join(", ")) })
}

/// Bytes of the mended text as bytes of the user's.
fn back(mended: &Code, span: &Range<usize>) -> Range<usize> {
    mended.source_offset(span.start)..mended.source_offset(span.end)
}

/// Makes the edits of a code that was read from a mended text edits of the user's text.
fn compose(code: &mut Code, mended: &Code) {
    // Both lists cut the mended text; where their cuts touch, they become one edit.
    let mut cuts: Vec<(Range<usize>, isize, isize)> = Vec::new();
    let growth = |from: &Range<usize>, to: &Range<usize>| to.len() as isize - from.len() as isize;
    for edit in mended
        .edits
        .iter()
        .filter(|edit| code.span.start <= edit.output.start && edit.output.end <= code.span.end)
    {
        cuts.push((edit.output.clone(), growth(&edit.output, &edit.source), 0));
    }
    for edit in &code.edits {
        cuts.push((edit.source.clone(), 0, growth(&edit.source, &edit.output)));
    }
    cuts.sort_by_key(|(span, ..)| (span.start, span.end));
    let base = code.span.start;
    let start = mended.source_offset(base);
    let mut edits: Vec<Edit> = Vec::new();
    // How far the user's and the rewritten text have moved against the mended one.
    let (mut source_shift, mut output_shift) = (start as isize - base as isize, -(base as isize));
    let mut at = 0;
    while at < cuts.len() {
        let (mut span, mut source_growth, mut output_growth) = cuts[at].clone();
        at += 1;
        while let Some((next, source, output)) =
            cuts.get(at).filter(|(next, ..)| next.start <= span.end)
        {
            span.end = span.end.max(next.end);
            source_growth += source;
            output_growth += output;
            at += 1;
        }
        let shifted = |offset: usize, shift: isize| offset.saturating_add_signed(shift);
        let source =
            shifted(span.start, source_shift)..shifted(span.end, source_shift + source_growth);
        let output =
            shifted(span.start, output_shift)..shifted(span.end, output_shift + output_growth);
        edits.push(Edit { source, output });
        source_shift += source_growth;
        output_shift += output_growth;
    }
    code.span = start..mended.source_offset(code.span.end);
    code.edits = edits;
}
