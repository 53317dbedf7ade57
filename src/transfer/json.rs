//! Documents out of a text of extended JSON: one a line, one after the other, or the elements of an array.
//!
//! A scanner finds where each document ends, by its brackets, and `extended_json` reads it. Where the first document
//! stands on one line all are taken to, so that a document which is cut short spoils its own line and no other.

use std::io::{self, BufRead, Read};

use bson::RawBson;

use super::source::{Documents, Fault, Found, Place, Source, Trouble, unread};
use crate::error::{Error, Result};
use crate::value::extended_json::{self, Form};

/// The longest text of one document. A document of 16 MB may take a few times as much as JSON.
const LONGEST: usize = 128 * 1024 * 1024;

/// The largest document that MongoDB stores.
pub(super) const LARGEST: usize = 16 * 1024 * 1024;

/// The documents of a source. With `array` it must hold one array.
///
/// # Errors
/// When the source cannot be read.
pub(super) fn documents(mut source: Source, array: bool) -> Result<Documents> {
    source.skip_mark()?;
    let scanner = Scanner { source, line: 1, column: 1 };
    Ok(Box::new(Json { scanner, layout: Layout::Unknown { array }, ended: false }))
}

struct Json {
    scanner: Scanner,
    layout: Layout,
    ended: bool,
}

/// How the documents of a text stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    /// Nothing was read yet.
    Unknown {
        /// It must be an array.
        array: bool,
    },
    /// One a line.
    Lines,
    /// One after the other, with any space in and between them.
    Stream,
    /// In an array; `first` before the first of them.
    Array {
        /// No element was read yet.
        first: bool,
    },
    /// The array is closed.
    Closed,
}

impl Iterator for Json {
    type Item = std::result::Result<Found, Trouble>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = match &next {
            None | Some(Err(Trouble::Failed(_))) => true,
            Some(Err(Trouble::Fault(fault))) => fault.last,
            Some(Ok(_)) => false,
        };
        next
    }
}

impl Json {
    fn advance(&mut self) -> std::result::Result<Option<Found>, Trouble> {
        let next = self.scanner.skip_space()?;
        let place = self.scanner.place();
        let wrong = |reason: &str| Err(last(place, reason));
        if let Layout::Unknown { array } = self.layout {
            match next {
                None if array => return wrong("there is no array"),
                None => return Ok(None),
                Some(b'[') => {
                    self.scanner.take();
                    self.layout = Layout::Array { first: true };
                    return self.advance();
                }
                Some(_) if array => return wrong("an array begins with ["),
                Some(b'{') => {}
                Some(_) => return self.bad_start(place),
            }
        }
        match (self.layout, next) {
            (Layout::Array { .. }, None) => wrong("the array is not closed: a ] is missing"),
            (Layout::Unknown { .. } | Layout::Lines | Layout::Stream | Layout::Closed, None) => {
                Ok(None)
            }
            (Layout::Closed, Some(_)) => wrong("something follows the array"),
            (Layout::Array { .. }, Some(b']')) => {
                self.scanner.take();
                self.layout = Layout::Closed;
                self.advance()
            }
            (Layout::Array { first: false }, Some(b',')) => {
                self.scanner.take();
                self.layout = Layout::Array { first: true };
                self.advance()
            }
            (Layout::Array { first: false }, Some(_)) => {
                wrong("a comma is missing between the documents of the array")
            }
            (_, Some(b'{')) => {
                let document = self.document(place);
                if matches!(self.layout, Layout::Array { .. }) {
                    self.layout = Layout::Array { first: false };
                }
                document.map(Some)
            }
            (Layout::Array { first: true }, Some(_)) => {
                wrong("the element of the array is no document: a document begins with {")
            }
            (Layout::Unknown { .. } | Layout::Lines | Layout::Stream, Some(_)) => {
                self.bad_start(place)
            }
        }
    }

    /// Something stands where a document begins. Its line is no document.
    fn bad_start(&mut self, place: Place) -> std::result::Result<Option<Found>, Trouble> {
        let reason = "a document begins with {".to_owned();
        if self.layout == Layout::Stream {
            return Err(last(place, &reason));
        }
        self.layout = Layout::Lines;
        self.scanner.skip_line()?;
        Err(Trouble::Fault(Fault { place, reason, last: false }))
    }

    /// The document that begins here.
    fn document(&mut self, place: Place) -> std::result::Result<Found, Trouble> {
        let lines = self.layout == Layout::Lines;
        let mut text = Vec::new();
        let mut end = self.scanner.brackets(lines, &mut text)?;
        if matches!(self.layout, Layout::Unknown { .. }) {
            let next = text.windows(2).position(|pair| pair == b"\n{");
            self.layout = match (end, next) {
                (End::Closed, _) if !text.contains(&b'\n') => Layout::Lines,
                (End::Closed, _) | (_, None) => Layout::Stream,
                // The first line is cut short, and others begin as documents do.
                (End::Line | End::Input | End::TooLong, Some(next)) => {
                    let rest = text.split_off(next + 1);
                    self.scanner.give_back(rest, place, &text);
                    end = End::Line;
                    Layout::Lines
                }
            };
        }
        match end {
            End::Closed => read(&text, place).map_err(Trouble::Fault),
            End::Line => {
                // What is wrong within the line says more than that it ends too early.
                let fault =
                    read(text.trim_ascii_end(), place).err().filter(|fault| !is_early_end(fault));
                let reason = "the line ends before the document does".to_owned();
                let place = self.scanner.before(&text, place);
                Err(Trouble::Fault(fault.unwrap_or(Fault { place, reason, last: false })))
            }
            End::Input => {
                let fault = read(&text, place).err().filter(|fault| !is_early_end(fault));
                let early = || Fault {
                    place,
                    reason: "the document that begins here is cut off".to_owned(),
                    last: true,
                };
                Err(Trouble::Fault(Fault { last: true, ..fault.unwrap_or_else(early) }))
            }
            End::TooLong => Err(last(place, "the document that begins here has no end in 128 MB")),
        }
    }
}

fn last(place: Place, reason: &str) -> Trouble {
    Trouble::Fault(Fault { place, reason: reason.to_owned(), last: true })
}

/// Whether serde's complaint is that the text is over.
fn is_early_end(fault: &Fault) -> bool {
    fault.reason.starts_with("EOF ")
}

/// The document that a text tells.
fn read(bytes: &[u8], place: Place) -> std::result::Result<Found, Fault> {
    let fault = |place, reason: String| Fault { place, reason, last: false };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        fault(moved(place, &good), "this is no UTF-8".to_owned())
    })?;
    let value = extended_json::parse(text, Form::Canonical).map_err(|refusal| {
        let at = match refusal.position {
            Some((line, column)) => moved(place, before(text, line, column)),
            None => place,
        };
        fault(at, extended_json::Refusal { position: None, ..refusal }.to_string())
    })?;
    let RawBson::Document(document) = value else {
        return Err(fault(place, "this tells a single value, not a document".to_owned()));
    };
    if document.as_bytes().len() > LARGEST {
        let size = document.as_bytes().len();
        let reason = format!("the document has {size} bytes; MongoDB stores up to 16777216");
        return Err(fault(place, reason));
    }
    Ok(Found { place, document })
}

/// What stands before a line and column of bytes, both from 1.
fn before(text: &str, line: usize, column: usize) -> &str {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut end = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// The place behind a text that begins at `place`.
fn moved(place: Place, text: &str) -> Place {
    let Place::Line { line, column } = place else { return place };
    let characters = |text: &str| text.chars().count() as u64;
    match text.rsplit_once('\n') {
        None => Place::Line { line, column: column + characters(text) },
        Some((lines, rest)) => {
            let line = line + 1 + lines.matches('\n').count() as u64;
            Place::Line { line, column: 1 + characters(rest) }
        }
    }
}

/// How a document ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With its last bracket.
    Closed,
    /// With its line, where it must not.
    Line,
    /// With all there is to read.
    Input,
    /// Nowhere near.
    TooLong,
}

/// The bytes of a source, and where in the text they stand.
struct Scanner {
    source: Source,
    line: u64,
    column: u64,
}

impl Scanner {
    fn place(&self) -> Place {
        Place::Line { line: self.line, column: self.column }
    }

    /// The place of the line's end behind `text`.
    fn before(&self, text: &[u8], start: Place) -> Place {
        moved(start, String::from_utf8_lossy(text).trim_end())
    }

    /// Takes back what was read behind `text`, which begins at `start`.
    fn give_back(&mut self, rest: Vec<u8>, start: Place, text: &[u8]) {
        let reader = std::mem::replace(&mut self.source.reader, Box::new(io::empty()));
        self.source.reader = Box::new(io::Cursor::new(rest).chain(reader));
        if let Place::Line { line, column } = moved(start, &String::from_utf8_lossy(text)) {
            (self.line, self.column) = (line, column);
        }
    }

    fn fill(&mut self) -> std::result::Result<&[u8], Trouble> {
        let name = &self.source.name;
        self.source.reader.fill_buf().map_err(|error| Trouble::Failed(unread(name, error)))
    }

    /// Goes over space; answers with the byte behind it.
    fn skip_space(&mut self) -> std::result::Result<Option<u8>, Trouble> {
        loop {
            match self.fill()?.first() {
                Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) => {
                    let byte = *byte;
                    self.pass(&[byte]);
                    self.source.reader.consume(1);
                }
                other => return Ok(other.copied()),
            }
        }
    }

    /// Goes over the byte that was seen.
    fn take(&mut self) {
        self.column += 1;
        self.source.reader.consume(1);
    }

    /// Goes to the beginning of the next line.
    fn skip_line(&mut self) -> std::result::Result<(), Trouble> {
        loop {
            let chunk = self.fill()?;
            let length = chunk.len();
            let end = chunk.iter().position(|byte| *byte == b'\n');
            self.source.reader.consume(end.map_or(length, |end| end + 1));
            if end.is_some() {
                (self.line, self.column) = (self.line + 1, 1);
            }
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }

    /// Counts lines and columns in what is passed.
    fn pass(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match byte {
                b'\n' => (self.line, self.column) = (self.line + 1, 1),
                // The bytes of a character after its first.
                0x80..0xc0 => {}
                _ => self.column += 1,
            }
        }
    }

    /// Takes everything from an opening bracket to the one that closes it. With `lines` the line's end ends it, too.
    fn brackets(&mut self, lines: bool, text: &mut Vec<u8>) -> std::result::Result<End, Trouble> {
        let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
        loop {
            let chunk = self.fill()?;
            if chunk.is_empty() {
                return Ok(End::Input);
            }
            let mut end = None;
            let mut taken = chunk.len();
            for (at, byte) in chunk.iter().enumerate() {
                match byte {
                    b'\n' if lines => end = Some(End::Line),
                    _ if escaped => escaped = false,
                    b'\\' if quoted => escaped = true,
                    b'"' => quoted = !quoted,
                    b'{' | b'[' if !quoted => depth += 1,
                    b'}' | b']' if !quoted => {
                        depth -= 1;
                        if depth == 0 {
                            end = Some(End::Closed);
                        }
                    }
                    _ => {}
                }
                if end.is_some() {
                    taken = at + 1;
                    break;
                }
            }
            let passed = text.len();
            text.extend_from_slice(&chunk[..taken]);
            self.source.reader.consume(taken);
            self.pass(&text[passed..]);
            match end {
                Some(end) => return Ok(end),
                None if text.len() > LONGEST => return Ok(End::TooLong),
                None => {}
            }
        }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

#[cfg(test)]
mod tests {
    use bson::rawdoc;

    use super::*;

    fn all(text: &str, array: bool) -> Vec<std::result::Result<Found, Trouble>> {
        let source = Source::of(text.as_bytes().to_vec());
        documents(source, array).expect("memory can be read").collect()
    }

    /// What was read, in short: `1:1 {...}`, or `! 2:3 reason`, with `!!` where it is the last.
    fn told(text: &str) -> Vec<String> {
        let place = |place: &Place| match place {
            Place::Line { line, column } => format!("{line}:{column}"),
            Place::Document { .. } => unreachable!("a text has lines"),
        };
        let told = all(text, false).into_iter().map(|read| match read {
            Ok(Found { place: at, document }) => {
                let value = bson::RawBsonRef::Document(&document);
                let json = extended_json::text(value, Form::Canonical, "").expect("JSON");
                format!("{} {json}", place(&at))
            }
            Err(Trouble::Fault(Fault { place: at, reason, last })) => {
                format!("{} {} {reason}", if last { "!!" } else { "!" }, place(&at))
            }
            Err(Trouble::Failed(error)) => error.to_string(),
        });
        told.collect()
    }

    const ONE: &str = r#"{"a":{"$numberInt":"1"}}"#;

    #[test]
    fn documents_stand_one_a_line_or_one_after_the_other_or_in_an_array() {
        let at = |place: &str| format!("{place} {ONE}");
        assert_eq!(told("{\"a\":1}\n\r\n  {\"a\":1}\n"), [at("1:1"), at("3:3")]);
        assert_eq!(told("\u{feff}{\"a\":1} {\"a\":1}"), [at("1:1"), at("1:9")]);
        assert_eq!(
            told("{\n  \"a\": 1\n}\n{\n\"a\": 1}{\"a\":1}"),
            [at("1:1"), at("4:1"), at("5:8")]
        );
        assert_eq!(told(" [ {\"a\":1},\n{\"a\":1} ]\n"), [at("1:4"), at("2:1")]);
        assert_eq!(told(r#"{"a":"}\"{"}"#), [r#"1:1 {"a":"}\"{"}"#]);
        assert!(told("").is_empty() && told("[]").is_empty() && told("\n \n").is_empty());
    }

    #[test]
    fn a_bad_line_is_named_and_the_next_one_is_read() {
        let text = "{\"a\":1}\n{\"a\":1,\n{\"a\":1}\n{\"é\":x}\nnonsense\n{\"a\":1}";
        assert_eq!(
            told(text),
            [
                format!("1:1 {ONE}"),
                "! 2:8 the line ends before the document does".to_owned(),
                format!("3:1 {ONE}"),
                "! 4:6 expected value".to_owned(),
                "! 5:1 a document begins with {".to_owned(),
                format!("6:1 {ONE}"),
            ]
        );
        let first = told("{\"a\": \"1\n{\"a\":1}\n");
        assert_eq!(first[1], format!("2:1 {ONE}"));
        assert!(first[0].starts_with("! 1:"), "{first:?}");
        let typed = told("{\"a\":1}\n{\"b\":{\"c\":{\"$oid\":\"12\"}}}\n");
        assert!(typed[1].starts_with("! 2:1 ") && typed[1].ends_with(" (in b.c)"), "{typed:?}");
    }

    #[test]
    fn what_has_no_end_says_where_it_began() {
        assert_eq!(told("{\n \"a\": 1"), ["!! 1:1 the document that begins here is cut off"]);
        assert_eq!(
            told("[{\"a\":1}"),
            [format!("1:2 {ONE}"), "!! 1:9 the array is not closed: a ] is missing".to_owned()]
        );
        assert_eq!(
            told("[1]"),
            ["!! 1:2 the element of the array is no document: a document begins with {"]
        );
        assert_eq!(
            told("[{\"a\":1} {\"a\":1}]")[1],
            "!! 1:10 a comma is missing between the documents of the array"
        );
        assert_eq!(told("[] x"), ["!! 1:4 something follows the array"]);
        assert!(matches!(&all("{}", true)[..], [Err(Trouble::Fault(Fault { last: true, .. }))]));
        let id = rawdoc! { "_id": 5_i64 };
        let long = all(r#"{"_id": {"$numberLong": "5"}}"#, false);
        assert_eq!(long, [Ok(Found { place: Place::Line { line: 1, column: 1 }, document: id })]);
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_named_by_their_column() {
        let source = Source::of(b"{\"a\":1}\n{\"\xc3\xa9\":\"\xff\"}\n".to_vec());
        let last = documents(source, false).expect("memory can be read").last();
        let place = Place::Line { line: 2, column: 7 };
        let reason = "this is no UTF-8".to_owned();
        assert_eq!(last, Some(Err(Trouble::Fault(Fault { place, reason, last: false }))));
    }
}
