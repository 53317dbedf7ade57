//! The dialect: every text a user may type, paste or run, and what becomes of it.

mod completion;
mod documents;
mod reader;
mod words;

use tally::dialect::{Code, Input, Part, Source, Verdict, parse};

/// The one script of a text.
fn code(text: &str, source: Source) -> Code {
    let input = parse(text, source);
    match input.parts.as_slice() {
        [Part::Script(code)] => code.clone(),
        parts => panic!("{text:?} is no single script: {parts:?}"),
    }
}

/// What a text becomes in a file.
#[track_caller]
fn becomes(text: &str, expected: &str) {
    let input = parse(text, Source::Script);
    assert_eq!(input.verdict, Verdict::Complete, "{text:?}");
    assert_eq!(code(text, Source::Script).text, expected, "{text:?}");
}

/// That a text is JavaScript: it passes byte for byte, in a file and at the prompt.
#[track_caller]
fn unchanged(text: &str) {
    becomes(text, text);
    let code = code(text, Source::Prompt);
    assert_eq!(&code.text, text);
    assert_eq!(code.edits, [], "{text:?}");
}

/// What a text is as a whole, in a word: `complete`, `incomplete (` with the opener, `broken: ...` with the caret.
fn verdict(text: &str) -> String {
    word(text, &parse(text, Source::Prompt))
}

fn word(text: &str, input: &Input) -> String {
    match &input.verdict {
        Verdict::Complete => "complete".into(),
        Verdict::Incomplete { opener: None } => "incomplete".into(),
        Verdict::Incomplete { opener: Some(span) } => {
            format!("incomplete {} at {}", &text[span.clone()], span.start)
        }
        Verdict::Broken(error) => format!("broken at {}: {}", error.span.start, error.message),
    }
}
