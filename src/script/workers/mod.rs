//! Workers: threads, each with a JavaScript of its own and a session of its own on the same backend.
//!
//! `parallel`, `race` and `startParallelShell` are code of the prelude over the natives of this file. A worker's world is
//! made as every other is, by [`Script::new`](super::Script::new); then it is given what the script that started it has:
//! functions by their source, values by BSON (`given`). What a worker cannot be given is told by name (`locals`). The
//! natives that start workers hold no borrow of the shell while workers run.

mod given;
mod job;
mod locals;

use std::cell::RefCell;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use rquickjs::function::Func;
use rquickjs::{Array, Ctx, IntoJs, Object, Value};

pub(super) use given::Given;
use given::Piece;
use job::{Failure, Job, Task};

use super::convert::Decoder;
use super::realm::{Realm, realm};
use super::{errors, thrown};
use crate::error::{Error, ThrownKind};
use crate::interrupt::Interrupt;

type Result<T> = rquickjs::Result<T>;

/// What a script knows of workers.
#[derive(Default)]
pub(super) struct Workers {
    /// What this script was given, if it is a worker's itself.
    given: RefCell<Vec<(String, Given)>>,
    /// The parallel shells that were started, in order; those that were waited for are gone.
    started: RefCell<Vec<Option<Started>>>,
}

/// A parallel shell that runs.
struct Started {
    thread: JoinHandle<i32>,
    interrupt: Interrupt,
}

impl Workers {
    /// Makes this script a worker's, which is given all this.
    fn give(&self, given: &[(String, Given)]) {
        self.given.borrow_mut().extend_from_slice(given);
    }
}

impl Drop for Workers {
    /// Nobody waits for them any more.
    fn drop(&mut self) {
        for started in self.started.get_mut().drain(..).flatten() {
            started.interrupt.raise();
            // A panic of theirs has been told on stderr.
            let _ = started.thread.join();
        }
    }
}

/// Gives the core of the prelude its natives.
pub(super) fn install<'js>(natives: &Object<'js>) -> Result<()> {
    natives.set("identifiers", Func::from(|text: String| locals::names(&text)))?;
    natives.set("given", Func::from(given))?;
    natives.set("work", Func::from(work))?;
    natives.set("startWorker", Func::from(start))?;
    natives.set("awaitWorker", Func::from(await_worker))
}

/// What this worker was given under a number.
fn given<'js>(ctx: Ctx<'js>, at: u32) -> Result<Value<'js>> {
    let realm = realm(&ctx);
    let given = realm.state.workers.given.borrow().get(at as usize).map(|(_, given)| given.clone());
    match given {
        Some(given) => given.make(&ctx, &realm),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// Runs a function in several workers: `{workers, times, interleave, run, values, names, globals}` in, `{results,
/// millis}` out, a list of results for each worker.
fn work<'js>(ctx: Ctx<'js>, spec: Object<'js>) -> Result<Object<'js>> {
    let realm = realm(&ctx);
    let (workers, times): (f64, f64) = (spec.get("workers")?, spec.get("times")?);
    let (workers, times) = (workers as usize, times as usize);
    let interleave: bool = spec.get("interleave")?;
    let run: Value = spec.get("run")?;
    let function = Given::of(&ctx, &realm, "the function", &run)?;
    if let Given::Not(why) = &function {
        return Err(errors::type_error(&ctx, &realm, why));
    }
    let mut arguments = Vec::new();
    for (at, value) in spec.get::<_, Array>("values")?.iter().enumerate() {
        let given = Given::of(&ctx, &realm, &format!("argument {}", at + 1), &value?)?;
        if let Given::Not(why) = &given {
            return Err(errors::type_error(&ctx, &realm, why));
        }
        arguments.push(given);
    }
    let globals = globals(&ctx, &realm, &spec, &function, &arguments)?;
    let task = Task::Call { function, arguments, times };
    let job = Job::new(realm.state.limits, globals, task, interleave.then_some(workers));
    let stop = realm.state.interrupt.child();
    let shells = {
        let Ok(shell) = realm.state.shell.try_borrow() else {
            return Err(errors::type_error(&ctx, &realm, "the shell is busy"));
        };
        let name = |at: usize| if workers == 1 { String::new() } else { format!("worker {at} ") };
        let turns = |at: usize| job.turns.clone().map(|turns| (turns, at));
        (0..workers)
            .map(|at| shell.sibling(stop.clone(), name(at + 1), turns(at)))
            .collect::<Vec<_>>()
    };
    // The engine is not called back while they run, and its shell is not borrowed.
    let start = Instant::now();
    let ended = job::run(&Arc::new(job), shells, &stop);
    let millis = start.elapsed().as_secs_f64() * 1000.0;
    if realm.state.is_stopped() {
        return Err(errors::unwind(&ctx, &realm));
    }
    let ended = match ended {
        Ok(ended) => ended,
        Err((number, failure)) => return Err(failed(&ctx, &realm, number, failure)),
    };
    let results = Array::new(ctx.clone())?;
    let mut decoder = Decoder::served(&ctx, &realm);
    for (worker, values) in ended.into_iter().enumerate() {
        let list = Array::new(ctx.clone())?;
        for (at, value) in values.into_iter().enumerate() {
            list.set(at, decoder.value(value.as_raw_bson_ref())?)?;
        }
        results.set(worker, list)?;
    }
    let answer = Object::new(ctx.clone())?;
    answer.set("results", results)?;
    answer.set("millis", millis)?;
    Ok(answer)
}

/// Starts a parallel shell: `{run, values, names, globals}` in, where `run` may be a text; its number out.
fn start<'js>(ctx: Ctx<'js>, spec: Object<'js>) -> Result<u32> {
    let realm = realm(&ctx);
    let run: Value = spec.get("run")?;
    let values: Array = spec.get("values")?;
    let mut arguments = Vec::new();
    for (at, value) in values.iter().enumerate() {
        arguments.push(Given::of(&ctx, &realm, &format!("argument {}", at + 1), &value?)?);
    }
    let function = match run.as_string() {
        Some(_) => Given::Not(String::new()),
        None => Given::of(&ctx, &realm, "the function", &run)?,
    };
    let globals = globals(&ctx, &realm, &spec, &function, &arguments)?;
    let task = match run.as_string() {
        Some(code) => Task::Script(code.to_string()?),
        None => Task::Call { function, arguments, times: 1 },
    };
    let job = Job::new(realm.state.limits, globals, task, None);
    let interrupt = realm.state.interrupt.child();
    let shell = {
        let Ok(shell) = realm.state.shell.try_borrow() else {
            return Err(errors::type_error(&ctx, &realm, "the shell is busy"));
        };
        shell.sibling(interrupt.clone(), "parallel shell ".to_owned(), None)
    };
    match job::start(job, shell) {
        Ok(thread) => {
            let mut started = realm.state.workers.started.borrow_mut();
            started.push(Some(Started { thread, interrupt }));
            Ok(u32::try_from(started.len() - 1).unwrap_or(u32::MAX))
        }
        Err(error) => {
            let text = format!("no thread can be started: {error}");
            Err(errors::plain_error(&ctx, &realm, &text))
        }
    }
}

/// Waits for a parallel shell and answers with its exit code, which it remembers.
fn await_worker<'js>(ctx: Ctx<'js>, number: u32) -> Result<Value<'js>> {
    let realm = realm(&ctx);
    let started =
        realm.state.workers.started.borrow_mut().get_mut(number as usize).and_then(Option::take);
    let Some(started) = started else { return Ok(Value::new_undefined(ctx.clone())) };
    // A panic of its has been told on stderr.
    let code = started.thread.join().unwrap_or(1);
    if realm.state.is_stopped() {
        return Err(errors::unwind(&ctx, &realm));
    }
    code.into_js(&ctx)
}

/// What a worker is given beside its function: the user's globals and, where the text of a function tells, the reason why
/// a name in it is not known to a worker.
fn globals<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    spec: &Object<'js>,
    function: &Given,
    arguments: &[Given],
) -> Result<Vec<(String, Given)>> {
    let (names, values): (Array, Array) = (spec.get("names")?, spec.get("globals")?);
    let mut globals = Vec::with_capacity(names.len());
    for (name, value) in names.iter::<String>().zip(values.iter::<Value>()) {
        let name = name?;
        let given = Given::of(ctx, realm, &name, &value?)?;
        globals.push((name, given));
    }
    let mut waiting: Vec<(Piece, bool)> = Vec::new();
    functions(function, &mut |written| waiting.push((written.clone(), true)));
    for given in arguments.iter().chain(globals.iter().map(|(_, given)| given)) {
        functions(given, &mut |written| waiting.push((written.clone(), false)));
    }
    while let Some((written, main)) = waiting.pop() {
        for (name, given) in written.unseen() {
            match globals.iter_mut().find(|(known, _)| *known == name) {
                // What the function itself calls so is not the global of that name.
                Some((_, known)) if main => {
                    functions(&given, &mut |written| waiting.push((written.clone(), false)));
                    *known = given;
                }
                Some(_) => {}
                None => {
                    functions(&given, &mut |written| waiting.push((written.clone(), false)));
                    globals.push((name, given));
                }
            }
        }
    }
    Ok(globals)
}

/// Every function of the user's in something that is given.
fn functions(given: &Given, found: &mut dyn FnMut(&Piece)) {
    match given {
        Given::Function(written) => found(written),
        Given::Object(fields) => fields.iter().for_each(|(_, given)| functions(given, found)),
        Given::Value(_)
        | Given::Database(_)
        | Given::Collection(..)
        | Given::Own(_)
        | Given::Not(_) => {}
    }
}

/// Throws what ended a worker, with its number and the stack of both.
fn failed<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    number: usize,
    failure: Failure,
) -> rquickjs::Error {
    let Failure { error, stack, fields } = failure;
    if error.stops() {
        return errors::throw(ctx, realm, error);
    }
    let (text, cause) = match &error {
        Error::Thrown(thrown) => {
            let plain = thrown.kind != ThrownKind::Error || thrown.name == "Error";
            (if plain { &thrown.message } else { &thrown.text }.clone(), thrown.cause.clone())
        }
        error => (error.to_string(), None),
    };
    let text = format!("worker {number}: {text}");
    let made = match &cause {
        Some(cause) => errors::command(ctx, realm, cause),
        None => realm.error.construct::<_, Object>(("",)),
    };
    let thrown = made.and_then(|made| {
        Decoder::served(ctx, realm).fields(&fields, &made)?;
        errors::hide(&made, "message", text)?;
        let own = thrown::stack(realm, &made);
        realm.core("settle")?.call::<_, ()>((made.clone(), format!("{stack}{own}")))?;
        Ok(made)
    });
    match thrown {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}
