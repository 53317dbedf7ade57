//! What an uncaught error looks like: its words as the emulated shell says them, then where, then the line and a caret.

use crate::dialect::Lines;
use crate::error::{Error, Frame, SyntaxError, Thrown, ThrownKind};
use crate::print::mongo;
use crate::shell::Emulate;

/// Lines longer than this are cut around the caret, so that a minified file does not flood the screen.
const WIDEST: usize = 120;

/// The whole report on an error that ended an input; with `whole`, what mongosh tells of it at the prompt only.
pub(super) fn uncaught(error: &Error, emulate: Emulate, whole: bool) -> String {
    let class = match error {
        Error::Thrown(thrown) => {
            return match emulate {
                Emulate::Mongo => classic(thrown),
                Emulate::Mongosh => modern(thrown, whole),
            };
        }
        Error::Interrupted => return "interrupted".to_owned(),
        Error::Raised(raised) => raised.class,
        Error::Command(error) if emulate == Emulate::Mongosh => {
            return format!("MongoServerError[{}]: {}", error.code.name(), error.message);
        }
        Error::Command(_)
        | Error::Syntax(_)
        | Error::Connection(_)
        | Error::Storage(_)
        | Error::Held(_)
        | Error::Usage(_)
        | Error::Exit(_) => "Error",
    };
    match emulate {
        Emulate::Mongo => format!("uncaught exception: {class}: {} :", text(error)),
        Emulate::Mongosh => format!("{class}: {}", text(error)),
    }
}

/// The words of an error, documents in them laid out as `tojson` does.
pub(super) fn text(error: &Error) -> String {
    match error {
        Error::Raised(raised) => raised.text(mongo::quote),
        error => error.to_string(),
    }
}

/// The old shell's first line, then its stack, then the place.
fn classic(thrown: &Thrown) -> String {
    let text = &thrown.text;
    match thrown.kind {
        ThrownKind::Primitive => format!("uncaught exception: {text}"),
        // The old shell looked for a stack where there was none, and printed what it found.
        ThrownKind::Object => format!("uncaught exception: {text} :\nundefined"),
        ThrownKind::Error => {
            let mut report = format!("uncaught exception: {text} :");
            for frame in &thrown.frames {
                report.push_str(&format!("\n{}", frame.classic()));
            }
            report.push_str(&place(&thrown.frames));
            report
        }
    }
}

/// mongosh's first line, then the stack as Node writes it, then the place.
fn modern(thrown: &Thrown, whole: bool) -> String {
    let code_name = thrown.cause.as_ref().map(|cause| cause.code.name());
    let mut report = match (thrown.kind, code_name) {
        (ThrownKind::Error, Some(code)) if thrown.name == "MongoServerError" => {
            format!("MongoServerError[{code}]: {}", thrown.message)
        }
        (ThrownKind::Error, _) if thrown.message.is_empty() => thrown.name.clone(),
        (ThrownKind::Error, _) => format!("{}: {}", thrown.name, thrown.message),
        // A thrown value that is no error is told as if it were one.
        (ThrownKind::Object | ThrownKind::Primitive, _) => format!("Error: {}", thrown.message),
    };
    if let Some(more) = thrown.more.as_ref().filter(|_| whole) {
        report.push_str(&format!("\n{more}"));
    }
    for frame in &thrown.frames {
        report.push_str(&format!("\n    {}", frame.modern()));
    }
    report.push_str(&place(&thrown.frames));
    report
}

/// The source line of the innermost frame that has one, with a caret under the column.
fn place(frames: &[Frame]) -> String {
    let known = frames.iter().find_map(|frame| frame.source.as_ref().map(|text| (frame, text)));
    let Some((frame, text)) = known else { return String::new() };
    let column = (frame.column.max(1) - 1) as usize;
    let characters: Vec<char> = text.chars().collect();
    let from = if characters.len() > WIDEST { column.saturating_sub(WIDEST / 2) } else { 0 };
    let shown: String = characters.iter().skip(from).take(WIDEST).collect();
    // Tabs stay tabs, so that the caret stands below its character wherever the terminal's tab stops are.
    let margin = characters.iter().skip(from).take(column - from);
    let margin: String =
        margin.map(|character| if *character == '\t' { '\t' } else { ' ' }).collect();
    format!("\n{shown}\n{margin}^")
}

/// The error of a text that the dialect could not read, as if JavaScript had thrown it.
pub(super) fn syntax(error: &SyntaxError, text: &str, file: &str) -> Error {
    let lines = Lines::new(text);
    let (line, column) = lines.position(error.span.start);
    let source = Some(text[lines.line(line, text)].to_owned());
    Error::Thrown(Box::new(Thrown {
        name: "SyntaxError".to_owned(),
        text: format!("SyntaxError: {}", error.message),
        message: error.message.clone(),
        frames: vec![Frame {
            function: String::new(),
            file: file.to_owned(),
            line,
            column,
            source,
        }],
        cause: None,
        more: None,
        kind: ThrownKind::Error,
        early: true,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, line: u32, column: u32, source: Option<&str>) -> Frame {
        Frame {
            function: function.to_owned(),
            file: "file.js".to_owned(),
            line,
            column,
            source: source.map(ToOwned::to_owned),
        }
    }

    fn thrown(
        name: &str,
        text: &str,
        message: &str,
        kind: ThrownKind,
        frames: Vec<Frame>,
    ) -> Error {
        let (name, text, message) = (name.to_owned(), text.to_owned(), message.to_owned());
        Error::Thrown(Box::new(Thrown {
            name,
            text,
            message,
            frames,
            cause: None,
            more: None,
            kind,
            early: false,
        }))
    }

    fn boom() -> Error {
        let throwing = frame("f", 3, 9, Some("\tthrow new Error(\"boom\")"));
        let frames = vec![throwing, frame("", 7, 1, None)];
        thrown("Error", "Error: boom", "boom", ThrownKind::Error, frames)
    }

    #[test]
    fn the_old_shell_names_the_exception_then_the_stack_then_shows_the_line() {
        let report = "uncaught exception: Error: boom :\nf@file.js:3:9\n@file.js:7:1\n\
                      \tthrow new Error(\"boom\")\n\t       ^";
        assert_eq!(uncaught(&boom(), Emulate::Mongo, true), report);
    }

    #[test]
    fn mongosh_says_the_name_and_message_first() {
        let report = uncaught(&boom(), Emulate::Mongosh, true);
        let expected = "Error: boom\n    at f (file.js:3:9)\n    at file.js:7:1\n";
        assert!(report.starts_with(expected), "{report}");
    }

    #[test]
    fn a_refused_command_carries_its_code_name_in_mongosh() {
        let error = Error::command(crate::error::Code::BAD_VALUE, "unknown operator: $foo");
        let expected = "MongoServerError[BadValue]: unknown operator: $foo";
        assert_eq!(uncaught(&error, Emulate::Mongosh, true), expected);
    }

    #[test]
    fn a_thrown_string_has_no_stack() {
        let error = thrown("", "str", "str", ThrownKind::Primitive, Vec::new());
        assert_eq!(uncaught(&error, Emulate::Mongo, true), "uncaught exception: str");
        assert_eq!(uncaught(&error, Emulate::Mongosh, true), "Error: str");
    }

    #[test]
    fn a_minified_line_is_cut_around_the_caret() {
        let source = format!("{}X{}", "a".repeat(1000), "b".repeat(1000));
        let shown = place(&[frame("", 1, 1001, Some(&source))]);
        let mut lines = shown.lines().skip(1);
        let (line, caret) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        assert!(line.len() <= WIDEST);
        assert_eq!(line.chars().nth(caret.len() - 1), Some('X'));
    }
}
