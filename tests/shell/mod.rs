//! What can be called, over a scratch engine: results, errors and texts of both shells.

mod api;
mod counters;
mod cursors;
mod globals;
mod help;
mod settings;
mod types;
mod words;
mod writes;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tally::backend::Embedded;
use tally::dialect::{Part, Source, parse};
use tally::engine::Location;
use tally::print::{Options, Shown, emulated};
use tally::script::{Limits, Script};
use tally::shell::words::{Spoken, run as speak};
use tally::shell::{Emulate, Output, Shell};
use tally::{Error, Interrupt, Result};

/// A stream that a test can read.
#[derive(Clone, Default)]
struct Stream(Arc<Mutex<Vec<u8>>>);

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

/// A shell over a scratch engine.
pub struct World {
    script: Script,
    emulate: Emulate,
    results: Stream,
    notices: Stream,
}

/// The classic shell.
pub fn mongo() -> World {
    World::new(Emulate::Mongo)
}

/// mongosh.
pub fn mongosh() -> World {
    World::new(Emulate::Mongosh)
}

impl World {
    fn new(emulate: Emulate) -> Self {
        let (results, notices) = (Stream::default(), Stream::default());
        let output = Output::new(results.clone(), notices.clone());
        let backend = Arc::new(Embedded::new(Location::Ephemeral));
        let shell = Shell::new(backend, Interrupt::new(), emulate, "test", output);
        let limits = Limits { memory: 256 << 20, stack: 1 << 20 };
        Self { script: Script::new(shell, limits).unwrap(), emulate, results, notices }
    }

    /// Runs one input and answers with what it prints, its value last; an error is its text.
    pub fn says(&mut self, input: &str) -> String {
        let parsed = parse(input, Source::Prompt);
        let mut ended = Ok(());
        for part in &parsed.parts {
            ended = match part {
                Part::Word { verb, arguments, .. } => self.word(verb, arguments),
                Part::Script(code) => self.run(code, input),
            };
            if ended.is_err() {
                break;
            }
        }
        self.script.shell().output.flush().unwrap();
        let mut said = self.results.take();
        if let Err(error) = ended {
            said.push_str(&match error {
                Error::Thrown(thrown) => thrown.text.clone(),
                other => other.to_string(),
            });
        }
        said.trim_end_matches('\n').to_owned()
    }

    /// Runs inputs one after another, each of which must say what stands beside it.
    #[track_caller]
    pub fn talks(&mut self, talk: &[(&str, &str)]) {
        for (input, expected) in talk {
            assert_eq!(self.says(input), *expected, "after {input}");
        }
    }

    /// What was written to the stream of notices.
    pub fn noticed(&self) -> String {
        self.notices.take()
    }

    fn run(&mut self, code: &tally::dialect::Code, text: &str) -> Result<()> {
        let answer = self.script.eval(code, "(shell)", text)?;
        let options = Options::default();
        let style = emulated(self.emulate);
        let text = match self.script.handle(&answer) {
            Some(("Cursor" | "CommandCursor", handle)) => {
                let page = self.script.shell().page(handle)?;
                let documents: Vec<_> = page
                    .documents
                    .iter()
                    .map(|document| Shown::from_raw_document(document))
                    .collect();
                let mut text = style.documents(&documents, page.pretty, &options);
                if page.more {
                    text = Some(text.unwrap_or_default() + "\nType \"it\" for more");
                }
                text
            }
            _ => {
                let shown = self.script.show(&answer)?;
                style.value(&shown, &options)
            }
        };
        match text {
            Some(text) => self.script.shell().output.line(&text),
            None => Ok(()),
        }
    }

    fn word(&mut self, verb: &str, arguments: &[String]) -> Result<()> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let spoken = speak(&mut self.script.shell(), verb, &arguments)?;
        let style = emulated(self.emulate);
        let shown = |document: &bson::RawDocumentBuf| Shown::from_raw_document(document);
        let lines = match spoken {
            Spoken::Lines(lines) => lines,
            Spoken::Page(page) => {
                let documents: Vec<_> = page.documents.iter().map(shown).collect();
                style.documents(&documents, page.pretty, &Options::default()).into_iter().collect()
            }
            Spoken::Documents(documents) => documents
                .iter()
                .map(|document| style.json(&shown(document), &Options::default()))
                .collect(),
            Spoken::Value(value) => {
                let shown = Shown::from_raw(value.as_raw_bson_ref());
                style.value(&shown, &Options::default()).into_iter().collect()
            }
            Spoken::Clear | Spoken::Edit(_) | Spoken::Learn(_) => Vec::new(),
        };
        let shell = self.script.shell();
        lines.iter().try_for_each(|line| shell.output.line(line))
    }
}
