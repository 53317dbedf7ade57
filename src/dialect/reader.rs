//! From lines to inputs: what arrives at the prompt, on a pipe or in a paste, cut where each input ends.
//!
//! An input is known to be complete on its last line, without looking at the next, so a pipe runs as it arrives.
//! Where the next line is known, in a paste, a line that can only go on (`.sort({a: 1})`) joins the input before it.

use std::ops::Range;

use super::decoration::{self, Decoration};
use super::pending::Pending;
use super::position;
use super::{Input, Part, Source, Verdict, parse};

/// One input out of a stream of lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its text. List numbers, prompts and `... ` before its lines are blanks in it, so columns are the user's.
    pub text: String,
    /// What the dialect makes of it. Incomplete, if it was given up or the stream ended.
    pub input: Input,
    /// The number of its first line in the stream, from 1.
    pub line: usize,
    /// How many lines of pasted output were left out before it. At the end of a stream an entry without text may tell
    /// of the last ones.
    pub left_out: usize,
}

impl Entry {
    /// What is to be told of the lines that were left out.
    pub fn left_out_notice(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("1 line of pasted output left out".to_owned()),
            lines => Some(format!("{lines} lines of pasted output left out")),
        }
    }
}

/// Cuts a stream of lines into inputs and removes what was pasted along with them.
#[derive(Debug, Default)]
pub struct Reader {
    pending: Pending,
    /// Lines seen so far.
    lines: usize,
    /// The line on which the pending input began.
    first: usize,
    /// Empty lines at the end of the pending input.
    empty: usize,
    left_out: usize,
    /// The last list number that was taken off, and whether a point followed it. In a list all are of one kind: after
    /// `1)` a `2.` is a number of JavaScript.
    number: Option<(u32, bool)>,
    /// The pending input began with a list number.
    numbered: bool,
    /// A prompt was seen: what follows an input is output.
    prompted: bool,
    /// A line began a block of code, and none has ended it.
    fenced: bool,
}

impl Reader {
    /// A reader at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next line, without its line end, and gives the inputs that it completes.
    pub fn push(&mut self, line: &str) -> Vec<Entry> {
        self.take(line, None)
    }

    /// The same where the line after it is already known: if that one can only go on with this input (`.sort()`,
    /// `else`), the input waits for it.
    pub fn push_before(&mut self, line: &str, next: &str) -> Vec<Entry> {
        self.take(line, Some(next))
    }

    /// Ends the stream, or the paste: an unfinished input comes out as it is.
    pub fn finish(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        if !self.pending.is_empty() {
            let input = parse(self.pending.text(), Source::Prompt);
            entries.push(self.entry(input));
        }
        if self.left_out > 0 {
            let input =
                Input { verdict: Verdict::Complete, parts: Vec::new(), notices: Vec::new() };
            self.first = self.lines;
            entries.push(self.entry(input));
        }
        self.number = None;
        self.prompted = false;
        self.fenced = false;
        entries
    }

    /// Whether an input is unfinished.
    pub fn pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The unfinished input so far.
    pub fn pending_text(&self) -> &str {
        self.pending.text()
    }

    /// Gives the unfinished input up, as Ctrl-C does.
    pub fn cancel(&mut self) {
        self.pending = Pending::default();
        self.empty = 0;
    }

    fn take(&mut self, line: &str, next: Option<&str>) -> Vec<Entry> {
        self.lines += 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        let blank = line.trim().is_empty();
        if self.pending.is_empty() {
            if blank {
                return Vec::new();
            }
            self.first = self.lines;
            self.empty = 0;
            match self.begin(line) {
                Some(line) => self.pending.add(&line),
                None => return Vec::new(),
            }
        } else {
            let line = self.go_on(line);
            self.pending.add(&line);
            self.empty = if blank { self.empty + 1 } else { 0 };
        }
        self.decide(next)
    }

    /// The first line of an input without its decoration; `None` if it is output or a lone prompt.
    fn begin(&mut self, line: &str) -> Option<String> {
        let decoration = decoration::of(line);
        self.numbered = false;
        match decoration {
            Some(Decoration::Fence { begins }) => {
                self.fenced = begins || !self.fenced;
                // The next block of a page need not have prompts as well; what stands between is no code of one.
                if self.fenced {
                    self.number = None;
                    self.prompted = false;
                }
                return None;
            }
            Some(Decoration::Prompt { span, certain }) if certain || self.prompted => {
                self.prompted = true;
                let line = without(line, span);
                return (!line.trim().is_empty()).then_some(line);
            }
            _ if self.prompted => {
                self.left_out += 1;
                return None;
            }
            Some(Decoration::Number { ordinal, pointed, span, certain }) => {
                // A list goes on with the next number or begins again, even where that reads as JavaScript (`2. (a())`).
                let due = self.number.is_some_and(|(last, kind)| {
                    kind == pointed && (ordinal == 1 || Some(ordinal) == last.checked_add(1))
                });
                if due || certain {
                    self.number = Some((ordinal, pointed));
                    self.numbered = true;
                    let line = without(line, span);
                    return (!line.trim().is_empty()).then_some(line);
                }
            }
            Some(Decoration::Prompt { .. }) | None => {}
        }
        Some(line.to_owned())
    }

    /// A further line of an input without its decoration.
    fn go_on(&mut self, line: &str) -> String {
        let Some(span) = self.further(line) else { return line.to_owned() };
        if self.numbered {
            self.number = self.number.map(|(last, pointed)| (last + 1, pointed));
        }
        // In a template the blanks would be part of its text.
        if self.pending.in_template() { line[span.end..].to_owned() } else { without(line, span) }
    }

    /// The decoration before a further line of an input: `... ` after a prompt, the next number in a list.
    fn further(&self, line: &str) -> Option<Range<usize>> {
        if self.prompted {
            return decoration::dots(line);
        }
        let (last, kind) = self.number.filter(|_| self.numbered)?;
        let due = last.checked_add(1)?;
        match decoration::of(line)? {
            Decoration::Number { ordinal, pointed, span, .. } => {
                (ordinal == due && pointed == kind).then_some(span)
            }
            Decoration::Prompt { .. } | Decoration::Fence { .. } => None,
        }
    }

    fn decide(&mut self, next: Option<&str>) -> Vec<Entry> {
        let given_up = self.empty >= 2 && next.is_none() && !self.pending.in_text();
        if self.pending.is_open() && !given_up {
            return Vec::new();
        }
        let input = parse(self.pending.text(), Source::Prompt);
        let script = matches!(input.parts.last(), Some(Part::Script(_)));
        if input.verdict == Verdict::Complete && script && next.is_some_and(|next| self.joins(next))
        {
            return Vec::new();
        }
        if matches!(input.verdict, Verdict::Incomplete { .. }) && !given_up {
            self.pending.distrust();
            return Vec::new();
        }
        if decoration::is_printed(self.pending.text()) {
            self.left_out += self.lines + 1 - self.first;
            self.cancel();
            return Vec::new();
        }
        vec![self.entry(input)]
    }

    /// Whether the next line belongs to the input that could end here.
    fn joins(&self, next: &str) -> bool {
        match self.further(next) {
            Some(span) => self.prompted || decoration::goes_on(&next[span.end..]),
            None => decoration::goes_on(next),
        }
    }

    /// The pending text as an entry; the reader is then empty.
    fn entry(&mut self, input: Input) -> Entry {
        let text = std::mem::take(&mut self.pending).into_text();
        self.empty = 0;
        Entry { text, input, line: self.first, left_out: std::mem::take(&mut self.left_out) }
    }
}

/// The inputs of a text that is known as a whole: what was typed with its continuation lines, or a paste.
///
/// Empty lines do not cut an input here.
pub fn inputs(text: &str) -> Vec<Entry> {
    let mut reader = Reader::new();
    let mut entries = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let next = lines.peek().copied().unwrap_or_default();
        entries.extend(reader.push_before(line, next));
    }
    entries.extend(reader.finish());
    entries
}

/// A line with blanks in the place of its decoration.
fn without(line: &str, span: Range<usize>) -> String {
    format!("{}{}", position::blanks(&line[span.clone()]), &line[span.end..])
}
