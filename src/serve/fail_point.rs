//! `configureFailPoint`: failures on request, by which drivers test themselves. It is there with `--enable-test-commands`
//! only, and knows the one point that matters to clients, `failCommand`.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::connection::Client;
use crate::engine::Request;
use crate::error::{Code, CommandError, Error, Result};
use crate::{bad_value, refuse};

/// How often a blocked command looks whether it is to end.
const LOOK: Duration = Duration::from_millis(5);

/// `FailPointSetFailed`.
const NOT_SET: Code = Code(249);

/// The point, when it is armed.
#[derive(Default)]
pub(super) struct FailPoint {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    armed: Option<Armed>,
    /// How often it has struck.
    count: i32,
}

/// When it strikes, and what happens then.
#[derive(Clone)]
struct Armed {
    mode: Mode,
    commands: Vec<String>,
    /// Only clients that call themselves so.
    application: Option<String>,
    block: Option<Duration>,
    closes: bool,
    code: Option<Code>,
    labels: Vec<String>,
    concern: Option<Document>,
}

#[derive(Clone, Copy)]
enum Mode {
    Always,
    /// So many times more.
    Times(i64),
    /// Always, but not the next so many times.
    Skip(i64),
}

fn number(value: &Bson) -> Option<i64> {
    match value {
        Bson::Int32(number) => Some(i64::from(*number)),
        Bson::Int64(number) => Some(*number),
        #[allow(clippy::cast_possible_truncation)]
        Bson::Double(number) => Some(*number as i64),
        _ => None,
    }
}

/// How often it strikes, or does not.
fn count(field: &str, value: &Bson) -> Result<i64> {
    let count = number(value).filter(|count| *count >= 0);
    count.ok_or_else(|| bad_value!("field '{field}' must be a number that is not negative"))
}

impl Mode {
    /// The mode of a command; `None` is `off`.
    fn read(value: Option<&Bson>) -> Result<Option<Self>> {
        match value {
            Some(Bson::String(mode)) if mode == "alwaysOn" => Ok(Some(Self::Always)),
            Some(Bson::String(mode)) if mode == "off" => Ok(None),
            Some(Bson::Document(mode)) => match (mode.get("times"), mode.get("skip")) {
                (Some(times), None) => count("times", times).map(|times| Some(Self::Times(times))),
                (None, Some(skip)) => count("skip", skip).map(|skip| Some(Self::Skip(skip))),
                _ => {
                    Err(bad_value!("'mode' must be one of 'off', 'alwaysOn', 'times', and 'skip'"))
                }
            },
            _ => Err(bad_value!("'mode' must be a string or JSON object")),
        }
    }
}

impl Armed {
    fn read(mode: Mode, data: &Document) -> Self {
        let texts = |field: &str| {
            let texts = data.get_array(field).map(|texts| texts.iter().filter_map(Bson::as_str));
            texts.map(|texts| texts.map(str::to_owned).collect()).unwrap_or_default()
        };
        let is = |field: &str| data.get_bool(field).unwrap_or(false);
        let millis =
            data.get("blockTimeMS").and_then(number).and_then(|millis| u64::try_from(millis).ok());
        let code = data.get("errorCode").and_then(number).and_then(|code| i32::try_from(code).ok());
        Self {
            mode,
            commands: texts("failCommands"),
            application: data.get_str("appName").ok().map(str::to_owned),
            block: millis.filter(|_| is("blockConnection")).map(Duration::from_millis),
            closes: is("closeConnection"),
            code: code.map(Code),
            labels: texts("errorLabels"),
            concern: data.get_document("writeConcernError").ok().cloned(),
        }
    }

    fn is_about(&self, client: &Client, name: &str) -> bool {
        let application = client.application.get();
        self.commands.iter().any(|command| command == name)
            && self.application.as_ref().is_none_or(|wanted| application == Some(wanted))
    }
}

impl FailPoint {
    /// What strikes this command, if anything does.
    fn strike(&self, client: &Client, name: &str) -> Option<Armed> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let armed = state.armed.as_mut().filter(|armed| armed.is_about(client, name))?;
        match &mut armed.mode {
            Mode::Times(0) => return None,
            Mode::Times(times) => *times -= 1,
            Mode::Skip(skip) if *skip > 0 => {
                *skip -= 1;
                return None;
            }
            Mode::Skip(_) | Mode::Always => {}
        }
        let armed = armed.clone();
        state.count = state.count.saturating_add(1);
        Some(armed)
    }
}

/// The command `configureFailPoint`.
pub(super) fn configure(client: &Arc<Client>, request: &Request) -> Result<RawDocumentBuf> {
    let Some(point) = &client.server.fail_point else {
        return client.server.engine.run(request);
    };
    if request.db != "admin" {
        return Err(refuse!(
            UNAUTHORIZED,
            "configureFailPoint may only be run against the admin database."
        ));
    }
    let command = Document::try_from(&*request.body).map_err(|error| bad_value!("{error}"))?;
    match command.get_str("configureFailPoint") {
        Ok("failCommand") => {}
        Ok(other) => return Err(Error::command(NOT_SET, format!("failpoint not found: {other}"))),
        Err(_) => return Err(bad_value!("the name of a fail point is a string")),
    }
    let mode = Mode::read(command.get("mode"))?;
    let empty = Document::new();
    let data = command.get_document("data").unwrap_or(&empty);
    let mut state = point.state.lock().unwrap_or_else(PoisonError::into_inner);
    state.armed = mode.map(|mode| Armed::read(mode, data));
    let count = state.count;
    RawDocumentBuf::try_from(&doc! { "count": count, "ok": 1.0 })
        .map_err(|error| bad_value!("{error}"))
}

/// What happens to a command before it runs. Answers with the fields that its reply gets, mostly none.
///
/// # Errors
/// The error that was asked for; [`Error::Connection`] closes the connection.
pub(super) fn check(client: &Client, request: &Request, name: &str) -> Result<Document> {
    let struck = client.server.fail_point.as_ref().and_then(|point| point.strike(client, name));
    let Some(struck) = struck else { return Ok(Document::new()) };
    if let Some(block) = struck.block {
        let until = Instant::now() + block;
        while Instant::now() < until {
            request.interrupt.check()?;
            thread::sleep(LOOK);
        }
    }
    if struck.closes {
        return Err(Error::Connection("a fail point has closed it".to_owned()));
    }
    if let Some(code) = struck.code {
        return Err(Error::Command(Box::new(CommandError {
            code,
            message: "Failing command via 'failCommand' failpoint".to_owned(),
            details: Document::new(),
            labels: struck.labels,
        })));
    }
    let Some(concern) = struck.concern else { return Ok(Document::new()) };
    let mut fields = doc! { "writeConcernError": concern };
    if !struck.labels.is_empty() {
        fields.insert("errorLabels", struck.labels);
    }
    Ok(fields)
}
