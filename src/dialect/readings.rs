//! What a text may mean where QuickJS has refused what it seemed to mean.

use std::borrow::Cow;
use std::iter;

use super::{Input, Part, Source, Verdict, in_parentheses, repaired};

/// The readings of an input of the prompt, the likeliest first: as it stands, as the value between parentheses, and
/// after repairs. Whoever has them tries one after the other until QuickJS accepts one.
///
/// An unfinished text, and a broken one with shell words in it, cannot run as it stands. Broken JavaScript can: QuickJS
/// has the last word on what JavaScript is.
pub fn readings<'a>(input: &'a Input, text: &'a str) -> impl Iterator<Item = Cow<'a, Input>> {
    let runs = match input.verdict {
        Verdict::Complete => true,
        Verdict::Broken(_) => matches!(input.parts.as_slice(), [Part::Script(_)]),
        Verdict::Incomplete { .. } => false,
    };
    // Nothing is read again before the reading ahead of it was refused.
    let value = iter::once_with(|| in_parentheses(text)).flatten().map(|code| Input {
        verdict: Verdict::Complete,
        parts: vec![Part::Script(code)],
        notices: Vec::new(),
    });
    let mended = iter::once_with(|| repaired(text, Source::Prompt))
        .flatten()
        .filter(|input| input.verdict == Verdict::Complete);
    let as_it_stands = runs.then_some(Cow::Borrowed(input));
    as_it_stands.into_iter().chain(value.chain(mended).map(Cow::Owned))
}
