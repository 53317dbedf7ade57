//! The dialect: every text a user may type, paste or run, and what becomes of it.

mod completion;
mod documents;
mod prompt;
mod reader;
mod verdicts;
mod words;

use tally::dialect::{
    Code, Input, Lines, Part, Reader, Source, Verdict, context, inputs, parse, tokens,
};

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

/// What holds of every text, whatever it is: nothing panics, spans lie in it, and positions map back into it.
fn holds(text: &str) {
    let lines = Lines::new(text);
    for source in [Source::Prompt, Source::Script, Source::Module] {
        let input = parse(text, source);
        match &input.verdict {
            Verdict::Incomplete { opener: Some(span) } => {
                assert!(text.get(span.clone()).is_some(), "{text:?}")
            }
            Verdict::Broken(error) => {
                assert!(text.get(error.span.clone()).is_some(), "{text:?}: {error:?}")
            }
            Verdict::Complete | Verdict::Incomplete { opener: None } => {}
        }
        for part in &input.parts {
            let Part::Script(code) = part else { continue };
            assert!(text.get(code.span.clone()).is_some(), "{text:?}");
            let mut at = 0;
            for edit in &code.edits {
                assert!(text.get(edit.source.clone()).is_some(), "{text:?}: {edit:?}");
                assert!(code.text.get(edit.output.clone()).is_some(), "{text:?}: {edit:?}");
                assert!(edit.output.start >= at, "{text:?}: {edit:?}");
                at = edit.output.end;
            }
            // What lies between the edits is the user's own.
            let mut from = (code.span.start, 0);
            for edit in &code.edits {
                assert_eq!(
                    text[from.0..edit.source.start],
                    code.text[from.1..edit.output.start],
                    "{text:?}"
                );
                from = (edit.source.end, edit.output.end);
            }
            assert_eq!(text[from.0..code.span.end], code.text[from.1..], "{text:?}");
            let (line, column) = Lines::new(&code.text).position(code.text.len());
            let (line, _) = code.position(&lines, line, column);
            assert!(line as usize <= lines.count());
        }
    }
    let mut at = 0;
    let blanks = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
    for token in tokens(text) {
        let between = text[at..token.span.start].replace(blanks, "");
        assert!(between.trim().is_empty(), "{text:?} misses {between:?} at {at}");
        assert!(token.span.start >= at && text.get(token.span.clone()).is_some(), "{text:?}");
        at = token.span.end;
    }
    for cursor in [0, text.len() / 2, text.len()] {
        let context = context(text, cursor);
        assert!(text.get(context.start..).is_some(), "{text:?}");
    }
    let mut reader = Reader::new();
    let mut piped: Vec<_> = text.lines().flat_map(|line| reader.push(line)).collect();
    piped.extend(reader.finish());
    assert!(!reader.pending());
    inputs(text);
}
