//! One input in, one printed reply out.
//!
//! A session is what the prompt, a pipe, `--eval` and script files share. It hands shell words to `shell`, JavaScript to
//! `script`, and what comes back to `print`; it decides which stream an error goes to, and nothing else.

mod advice;
mod data;
mod edit;
mod pager;
mod rc;
mod report;
mod terminal;
mod tutor;

use std::path::Path;
use std::time::{Duration, Instant};

pub use tutor::{Question, Tutor, Whereabouts};

use bson::{RawBson, RawDocumentBuf};

use crate::dialect::{self, Code, Entry, Input, Part, Source};
use crate::error::{Error, Result};
use crate::interrupt::{self, Interrupt};
use crate::print::{self, Data, Options, Printer, Shown, Style};
use crate::script::{Answer, Limits, Script};
use crate::shell::words::{self, Spoken};
use crate::shell::{Emulate, Page, Shell};
use crate::value::extended_json::Form;

/// The name of what is typed or piped, in stacks.
const TYPED: &str = "(shell)";
/// The name of what `--eval` runs.
const EVALUATED: &str = "(shell eval)";
/// Clears a terminal and puts the cursor in its first place (ECMA-48).
const CLEAR: &str = "\x1b[2J\x1b[H";

/// The width of a terminal that does not say, and of what is none.
const COLUMNS: usize = 80;
/// Its height.
const ROWS: usize = 24;

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran.
    Done,
    /// It failed, and the user was told.
    Failed,
    /// The session is over, with this exit code.
    Exit(i32),
}

/// How a session behaves.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// What scripts may use.
    pub limits: Limits,
    /// How results are laid out.
    pub options: Options,
    /// What `--json` asks for: values and errors as extended JSON.
    pub json: Option<Form>,
    /// A person sits at a terminal: errors belong among the results, and Ctrl-C ends the input, not the program.
    pub prompt: bool,
}

/// A conversation with one shell.
pub struct Session {
    script: Script,
    style: &'static dyn Style,
    /// The form that data is printed in, where that was asked for.
    data: Option<Data>,
    json: Option<Form>,
    /// A style was asked for by name: a cursor is shown whole where nobody can ask for more.
    whole: bool,
    emulate: Emulate,
    interrupt: Interrupt,
    options: Options,
    prompt: bool,
    /// Ctrl-C ended the last input.
    interrupted: bool,
    /// Who looks over the user's shoulder.
    tutor: Option<Box<dyn Tutor>>,
    /// The input was for the tutor.
    addressed: bool,
    /// What runs was typed or piped, as at mongosh's prompt.
    typed: bool,
    /// What the last input answered, where that is kept.
    last: Option<Answer>,
    keeps: bool,
    /// The terminal's width.
    columns: usize,
    /// Its height.
    rows: usize,
}

impl Session {
    /// A session over `shell`.
    ///
    /// # Errors
    /// When JavaScript cannot be set up within the limits.
    pub fn new(shell: Shell, settings: Settings) -> Result<Self> {
        let (emulate, interrupt) = (shell.emulate, shell.interrupt.clone());
        let Settings { limits, options, json, prompt } = settings;
        let whole = shell.given.format.is_some() && !prompt;
        let script = Script::new(shell, limits)?;
        let (style, data) = match script.printer() {
            Printer::Shell(style) => (style, None),
            Printer::Data(data) => (print::emulated(emulate), Some(data)),
        };
        Ok(Self {
            script,
            style,
            data,
            json,
            whole,
            emulate,
            interrupt,
            options,
            prompt,
            interrupted: false,
            tutor: None,
            addressed: false,
            typed: false,
            last: None,
            keeps: false,
            columns: COLUMNS,
            rows: ROWS,
        })
    }

    /// Runs one input as the prompt does, and prints its result.
    pub fn submit(&mut self, entry: &Entry) -> Outcome {
        if let Some(notice) = entry.left_out_notice() {
            self.notice(&notice);
        }
        self.addressed = false;
        self.typed = true;
        let start = Instant::now();
        let outcome = self.input(&entry.input, &entry.text, TYPED, Echo::Each);
        // On a pipe the next input does not wait for timers; a person sees an input end when they have run.
        let outcome = outcome.and_then(|()| self.script.run_timers(self.prompt));
        if self.script.shell().preferences.timing {
            self.script.shell().output.settle();
            self.notice(&took(start.elapsed()));
        }
        if self.tutor.is_none() {
            return self.settle(outcome);
        }
        let failed = outcome.as_ref().err().cloned();
        match (self.settle(outcome), self.interrupted) {
            (exit @ Outcome::Exit(_), _) | (exit, true) => exit,
            (ended, false) => match self.tutor_looks(&entry.text, failed.as_ref()) {
                Ok(()) => ended,
                looked @ Err(_) => self.settle(looked),
            },
        }
    }

    /// Runs a pasted text: one input after another, each with its result.
    pub fn paste(&mut self, text: &str) -> Outcome {
        let mut last = Outcome::Done;
        for entry in &dialect::inputs(text) {
            last = self.submit(entry);
            if matches!(last, Outcome::Exit(_)) || self.interrupted {
                break;
            }
        }
        last
    }

    /// Runs the code of one `--eval`; with `show` its value is printed.
    pub fn evaluate(&mut self, code: &str, show: bool) -> Outcome {
        self.typed = false;
        let input = dialect::parse(code, Source::Prompt);
        let echo = if show { Echo::Last } else { Echo::None };
        let outcome = self.input(&input, code, EVALUATED, echo);
        let outcome = outcome.and_then(|()| self.script.run_timers(true));
        let failed = outcome.as_ref().is_err_and(Error::is_early);
        let ended = self.settle(outcome);
        self.advise_on_quotes(code, failed);
        ended
    }

    /// Runs a script file: a module if its name ends in `.mjs`. It prints what it prints, and no value.
    pub fn load(&mut self, path: &Path) -> Outcome {
        self.typed = false;
        let outcome = self.script.run_file(path).and_then(Answer::end);
        let outcome = outcome.and_then(|()| self.script.run_timers(true));
        self.settle(outcome)
    }

    /// The end of all inputs: what is to run later is waited for.
    pub fn finish(&mut self) -> Outcome {
        let outcome = self.script.run_timers(true);
        self.settle(outcome)
    }

    /// Tells of an error that ended something outside JavaScript, such as a pipe that cannot be read.
    pub fn fail(&mut self, error: &Error) -> Outcome {
        self.settle(Err(error.clone()))
    }

    /// Says something on stderr.
    pub fn notice(&mut self, text: &str) {
        self.script.shell().output.notice(text);
    }

    /// Whether Ctrl-C ended the last input: what was pasted behind it is not wanted either.
    pub fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// The JavaScript world, for completion and the prompt.
    pub fn script(&mut self) -> &mut Script {
        &mut self.script
    }

    /// The emulated shell.
    pub fn emulate(&self) -> Emulate {
        self.emulate
    }

    /// How many write errors stood in results that scripts were given instead of an error.
    pub fn write_errors(&self) -> usize {
        self.script.shell().write_errors()
    }

    /// The end of the session: everything written is handed over. Answers with the exit code.
    pub fn close(mut self, outcome: Outcome) -> i32 {
        let code = match outcome {
            Outcome::Exit(code) => code,
            Outcome::Failed => 1,
            Outcome::Done => 0,
        };
        let code = match self.script.leave(code) {
            Ok(code) => code,
            Err(Error::Exit(code)) => code,
            Err(error) => {
                self.settle(Err(error));
                1
            }
        };
        let flushed = self.script.shell().output.flush();
        match flushed {
            Err(Error::Exit(code)) => code,
            Err(_) if code == 0 => 1,
            Ok(()) | Err(_) => code,
        }
    }

    /// Runs a text that was read; where QuickJS refuses it, what else it may have meant.
    fn input(&mut self, input: &Input, text: &str, name: &str, echo: Echo) -> Result<()> {
        let mut refused = input.verdict.error(text).map(|error| report::syntax(&error, text, name));
        for reading in dialect::readings(input, text) {
            match self.parts(&reading, text, name, echo) {
                // What QuickJS refuses has not begun to run.
                Err(error) if error.is_early() => {
                    refused.get_or_insert(error);
                }
                outcome => return outcome,
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Runs the parts of an input in order; the first that fails ends it.
    fn parts(&mut self, input: &Input, text: &str, name: &str, echo: Echo) -> Result<()> {
        for notice in &input.notices {
            self.notice(notice);
        }
        // What JavaScript refuses is refused before anything of the input runs.
        if input.parts.len() > 1 {
            for part in &input.parts {
                if let Part::Script(code) = part {
                    self.script.check(code, name, text)?;
                }
            }
        }
        for (at, part) in input.parts.iter().enumerate() {
            let show = echo == Echo::Each || (echo == Echo::Last && at + 1 == input.parts.len());
            match part {
                Part::Word { verb, alone: true, span, .. }
                    if verb != "exit" && self.script.defines(verb) =>
                {
                    self.run(&Code::plain(text, span.clone()), text, name, show)?;
                }
                Part::Word { verb, alone: true, .. } if self.is_tutors(verb) => {
                    self.tutor_obeys(&[verb])?;
                }
                // A word of the tutor's is a name like any other where there is no lesson.
                Part::Word { verb, alone: true, span, .. } if words::word(verb).is_none() => {
                    self.run(&Code::plain(text, span.clone()), text, name, show)?;
                }
                Part::Word { verb, arguments, .. } => self.word(verb, arguments)?,
                Part::Script(code) => self.run(code, text, name, show)?,
            }
        }
        Ok(())
    }

    /// Runs JavaScript and prints its value.
    fn run(&mut self, code: &Code, text: &str, name: &str, show: bool) -> Result<()> {
        self.last = None;
        let answer = self.script.eval(code, name, text)?;
        self.remember(&answer);
        if show {
            match (&code.declares, self.emulate) {
                (Some(declared), Emulate::Mongosh) => {
                    let named = Code::plain(declared, 0..declared.len());
                    let declared = self.script.eval(&named, name, declared)?;
                    self.show(&declared, name)?;
                }
                _ => self.show(&answer, name)?,
            }
        }
        answer.end()
    }

    /// Prints the value of an input: a page of a cursor, or the value as it is.
    fn show(&mut self, answer: &Answer, name: &str) -> Result<()> {
        if let Some(form) = self.json {
            return self.json(answer, form);
        }
        if let Some(data) = self.data {
            return self.data(answer, data);
        }
        let options = self.options.set(self.script.shell().inspection);
        let options = if name == EVALUATED { options.whole() } else { options };
        match self.script.handle(answer) {
            Some(("Cursor" | "CommandCursor", handle)) => {
                let page = self.script.shell().page(handle);
                match page {
                    Ok(page) if self.whole => self.pages(page, &options),
                    Ok(page) => self.page(&page, &options),
                    // The old shell catches what a query throws while it is shown, and goes on.
                    Err(error @ Error::Raised(_)) if self.emulate == Emulate::Mongo => {
                        self.tell(&format!("Error: {}", report::text(&error)))
                    }
                    Err(error) => Err(error),
                }
            }
            _ => {
                let shown = self.script.show(answer)?;
                match self.style.value(&shown, &options) {
                    Some(text) => self.result(&text),
                    None => Ok(()),
                }
            }
        }
    }

    /// Prints a cursor from its first page to its last.
    fn pages(&mut self, mut page: Page, options: &Options) -> Result<()> {
        loop {
            let more = std::mem::take(&mut page.more);
            if more && !self.style.pages_add_up() {
                while let Some(next) = self.script.shell().next_page()? {
                    page.documents.extend(next.documents);
                }
                return self.page(&page, options);
            }
            self.page(&page, options)?;
            match more {
                true => match self.script.shell().next_page()? {
                    Some(next) => page = next,
                    None => return Ok(()),
                },
                false => return Ok(()),
            }
        }
    }

    fn page(&mut self, page: &Page, options: &Options) -> Result<()> {
        if let Some(data) = self.data {
            return self.data_page(&page.documents, page.more, data);
        }
        let documents: Vec<Shown> =
            page.documents.iter().map(|document| Shown::from_raw_document(document)).collect();
        let text = self.style.documents(&documents, page.pretty, &options.whole());
        let more = page.more.then(|| "Type \"it\" for more".to_owned());
        let parts: Vec<String> = text.into_iter().chain(more).collect();
        if parts.is_empty() { Ok(()) } else { self.result(&parts.join("\n")) }
    }

    /// Runs a shell word and prints what it says.
    fn word(&mut self, verb: &str, arguments: &[String]) -> Result<()> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if (verb, arguments.first()) == ("show", Some(&"types")) {
            self.script.recall()?;
        }
        let spoken = words::run(&mut self.script.shell(), verb, &arguments)?;
        let light = self.script.shell().preferences.light;
        match (verb, light) {
            ("use", _) => self.script.reclaim_db(),
            ("set", Some(light)) => self.options.paint = self.options.paint.suited(light),
            _ => {}
        }
        match spoken {
            Spoken::Lines(lines) => match self.data {
                Some(data) if verb == "show" => {
                    self.data_list(lines.into_iter().map(RawBson::String), data)
                }
                Some(_) => {
                    lines.iter().for_each(|line| self.notice(line));
                    Ok(())
                }
                None => self.lines(lines),
            },
            Spoken::Documents(documents) => {
                if let Some(data) = self.data {
                    return self.data_list(documents.into_iter().map(RawBson::Document), data);
                }
                let json = |document: &RawDocumentBuf| {
                    self.style.json(&Shown::from_raw_document(document), &self.options)
                };
                self.lines(documents.iter().map(json).collect())
            }
            Spoken::Value(value) => {
                if let Some(data) = self.data {
                    let text = data.value(value.as_raw_bson_ref())?;
                    return self.lines(text.into_iter().collect());
                }
                let shown = Shown::from_raw(value.as_raw_bson_ref());
                self.lines(self.style.value(&shown, &self.options).into_iter().collect())
            }
            Spoken::Page(page) => self.page(&page, &self.options.whole()),
            Spoken::Clear if self.prompt => self.lines(vec![CLEAR.to_owned()]),
            Spoken::Clear => Ok(()),
            Spoken::Edit(name) => self.edit(&name),
            Spoken::Learn(words) => {
                self.tutor_obeys(&words.iter().map(String::as_str).collect::<Vec<_>>())
            }
        }
    }

    fn lines(&mut self, lines: Vec<String>) -> Result<()> {
        if lines.is_empty() { Ok(()) } else { self.result(&lines.join("\n")) }
    }

    /// Tells of what ended an input, and says how it ended.
    fn settle(&mut self, outcome: Result<()>) -> Outcome {
        self.script.shell().output.settle();
        let remarks = self.script.shell().server().remarks();
        remarks.iter().for_each(|remark| self.notice(remark));
        let flushed = self.script.shell().output.flush();
        let outcome = outcome.and(flushed);
        self.interrupted = outcome == Err(Error::Interrupted);
        if let (Some(form), Err(error)) = (self.json, &outcome)
            && !matches!(error, Error::Exit(_) | Error::Interrupted)
        {
            let text = self.json_error(error, form);
            return match self.lines(vec![text]) {
                Err(Error::Exit(code)) => Outcome::Exit(code),
                Ok(()) | Err(_) => Outcome::Failed,
            };
        }
        let outcome = match outcome {
            Ok(()) => return Outcome::Done,
            Err(Error::Exit(code)) => return Outcome::Exit(code),
            Err(Error::Interrupted) if !self.prompt => return Outcome::Exit(interrupt::EXIT_CODE),
            // The terminal has echoed `^C` and stands behind it.
            Err(error @ Error::Interrupted) => {
                self.tell(&format!("\n{}", report::uncaught(&error, self.emulate, self.typed)))
            }
            Err(error) => {
                let told = self.tell(&report::uncaught(&error, self.emulate, self.typed));
                self.advise(&error);
                told
            }
        };
        self.interrupt.clear();
        match outcome {
            Ok(()) => Outcome::Failed,
            Err(Error::Exit(code)) => Outcome::Exit(code),
            Err(_) => Outcome::Failed,
        }
    }

    /// An error goes among the results at a terminal, to stderr everywhere else.
    fn tell(&mut self, text: &str) -> Result<()> {
        let output = self.script.shell().output.clone();
        if self.prompt {
            output.line(text).and_then(|()| output.flush())
        } else {
            output.notice(text);
            Ok(())
        }
    }
}

/// A time, as precisely as it matters.
fn took(time: Duration) -> String {
    match time.as_micros() {
        micros @ 0..10_000 => format!("took {micros} \u{b5}s"),
        micros @ 10_000..10_000_000 => format!("took {} ms", micros / 1000),
        _ => format!("took {:.1} s", time.as_secs_f64()),
    }
}

/// Which values of an input are printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Echo {
    /// Each part's, as at the prompt.
    Each,
    /// The last part's.
    Last,
    /// None.
    None,
}
