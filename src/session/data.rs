//! Results as data: `--format` for programs, and mongosh's `--json`.

use bson::{RawArrayBuf, RawBson, RawDocumentBuf};

use super::{Session, report};
use crate::error::{Error, Result, Thrown, ThrownKind};
use crate::print::{Data, Flow};
use crate::script::{Answer, Datum};
use crate::value::extended_json::{self, Form};

/// How many documents are taken at once.
const BATCH: usize = 1000;

/// The classes of what answers with documents one after another.
pub(super) const CURSORS: &[&str] = &["CommandCursor", "Cursor"];

/// What the real one says of a cursor, and what to do.
const CIRCULAR: &str =
    "Converting circular structure to EJSON: a cursor is no value; call .toArray() on it";

impl Session {
    /// Prints an answer as data.
    pub(super) fn data(&mut self, answer: &Answer, data: Data) -> Result<()> {
        if let Some((class, handle)) = self.script.handle(answer)
            && CURSORS.contains(&class)
        {
            return self.documents(handle, data);
        }
        let text = match self.script.datum(answer)? {
            Datum::Nothing => None,
            Datum::Json(text) => Some(text),
            Datum::Value(value) => data.value(value.as_raw_bson_ref())?,
        };
        self.lines(text.into_iter().collect())
    }

    /// Prints the documents of a cursor: a page at a prompt, else all there are.
    fn documents(&mut self, handle: u32, data: Data) -> Result<()> {
        if self.prompt {
            let page = self.script.shell().page(handle)?;
            return self.data_page(&page.documents, page.more, data);
        }
        let mut flow = Flow::new(data);
        let output = self.script.shell().output.clone();
        loop {
            let batch = self.script.shell().some(handle, BATCH)?;
            if batch.is_empty() {
                break;
            }
            for document in &batch {
                if let Some(lines) = flow.push(document)? {
                    output.line(&lines)?;
                }
            }
        }
        self.lines(flow.end()?.into_iter().collect())
    }

    /// Prints one page; that there is more is told beside it.
    pub(super) fn data_page(
        &mut self,
        documents: &[RawDocumentBuf],
        more: bool,
        data: Data,
    ) -> Result<()> {
        let mut flow = Flow::new(data);
        let mut lines = Vec::new();
        for document in documents {
            lines.extend(flow.push(document)?);
        }
        lines.extend(flow.end()?);
        self.lines(lines)?;
        if more {
            self.notice("Type \"it\" for more");
        }
        Ok(())
    }

    /// Prints what a shell word lists.
    pub(super) fn data_list(
        &mut self,
        values: impl IntoIterator<Item = RawBson>,
        data: Data,
    ) -> Result<()> {
        let values: RawArrayBuf = values.into_iter().collect();
        let text = data.value(RawBson::Array(values).as_raw_bson_ref())?;
        self.lines(text.into_iter().collect())
    }

    /// Prints an answer as `--json` does.
    pub(super) fn json(&mut self, answer: &Answer, form: Form) -> Result<()> {
        if self.script.handle(answer).is_some_and(|(class, _)| CURSORS.contains(&class)) {
            return Err(circular());
        }
        self.data(answer, Data::Json(form))
    }

    /// What `--json` prints for an error.
    pub(super) fn json_error(&self, error: &Error, form: Form) -> String {
        let stack = report::uncaught(error, self.emulate, false);
        let message = report::text(error);
        let mut document = RawDocumentBuf::new();
        let mut put = |name: &bson::raw::CStr, value: RawBson| document.append(name, value);
        use bson::raw::cstr;
        match error {
            Error::Thrown(thrown) => {
                put(cstr!("message"), RawBson::String(thrown.message.clone()));
                put(cstr!("stack"), RawBson::String(stack));
                let name = if thrown.name.is_empty() { "Error" } else { &thrown.name };
                put(cstr!("name"), RawBson::String(name.to_owned()));
                if let Some(cause) = &thrown.cause {
                    put(cstr!("code"), RawBson::Int32(cause.code.0));
                    put(cstr!("codeName"), RawBson::String(cause.code.name().to_owned()));
                }
            }
            Error::Command(command) => {
                put(cstr!("message"), RawBson::String(message));
                put(cstr!("stack"), RawBson::String(stack));
                put(cstr!("name"), RawBson::String("MongoServerError".to_owned()));
                put(cstr!("code"), RawBson::Int32(command.code.0));
                put(cstr!("codeName"), RawBson::String(command.code.name().to_owned()));
            }
            Error::Raised(_)
            | Error::Interrupted
            | Error::Syntax(_)
            | Error::Connection(_)
            | Error::Storage(_)
            | Error::Held(_)
            | Error::Usage(_)
            | Error::Exit(_) => {
                let name = match error {
                    Error::Raised(raised) => raised.class,
                    _ => "Error",
                };
                put(cstr!("message"), RawBson::String(message));
                put(cstr!("stack"), RawBson::String(stack));
                put(cstr!("name"), RawBson::String(name.to_owned()));
            }
        }
        let value = RawBson::Document(document);
        extended_json::text(value.as_raw_bson_ref(), form, "  ").unwrap_or_default()
    }
}

fn circular() -> Error {
    Error::Thrown(Box::new(Thrown {
        name: "TypeError".to_owned(),
        text: format!("TypeError: {CIRCULAR}"),
        message: CIRCULAR.to_owned(),
        frames: Vec::new(),
        cause: None,
        more: None,
        kind: ThrownKind::Error,
        early: false,
    }))
}
