//! A worker's thread: a world, what it is given, its calls, and how it ends.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use bson::{RawBson, RawDocumentBuf};
use rquickjs::function::Args;
use rquickjs::{Ctx, Value};

use super::super::limits::Limits;
use super::super::realm::{Realm, realm};
use super::super::{Script, convert, errors, jobs, pasted, thrown};
use super::Given;
use crate::dialect;
use crate::error::Error;
use crate::interrupt::{self, Interrupt};
use crate::shell::{LockStep, Shell};

/// How much stack a thread has for each byte that its script may use: the rest is for Rust below the door.
const STACK_RATIO: usize = 4;

/// The exit code of a classic shell whose script failed, as a process has it.
const SCRIPT_FAILED: i32 = 252;

/// The name of the text of a parallel shell, in stacks.
const PARALLEL_SHELL: &str = "(parallel shell)";

/// What several workers do.
pub(super) struct Job {
    limits: Limits,
    /// The globals that each is given.
    globals: Vec<(String, Given)>,
    task: Task,
    /// Their turns, in lock step.
    pub(super) turns: Option<Arc<LockStep>>,
}

/// What a worker runs.
pub(super) enum Task {
    /// A function, so many times.
    Call {
        /// The function.
        function: Given,
        /// What it is called with.
        arguments: Vec<Given>,
        /// How often.
        times: usize,
    },
    /// A text, as a file is run.
    Script(String),
}

/// What ended a worker, and the stack of it in the engine's words.
pub(super) struct Failure {
    pub(super) error: Error,
    pub(super) stack: String,
    /// The fields of the thrown error, such as its `code`.
    pub(super) fields: RawDocumentBuf,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, stack: String::new(), fields: RawDocumentBuf::new() }
    }
}

/// What the workers of one job share.
struct Together {
    /// The first that failed.
    first: Mutex<Option<(usize, Failure)>>,
    /// How many worlds are made: workers begin together.
    ready: Mutex<usize>,
    changed: Condvar,
    workers: usize,
    /// Ends them all.
    stop: Interrupt,
}

impl Together {
    /// A worker has failed; the others stop. What fails when they are stopping has nothing to tell.
    fn fail(&self, number: usize, failure: Failure) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.stop.is_raised() {
            *first = Some((number, failure));
            self.stop.raise();
        }
    }

    /// One more is ready. Comes back when all are, or one has failed.
    fn begin(&self) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        *ready += 1;
        self.changed.notify_all();
        while *ready < self.workers && !self.stop.is_raised() {
            let waited = self.changed.wait_timeout(ready, interrupt::LOOK);
            ready = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Tells the others that a worker has ended, however it did.
struct Leaving<'a> {
    job: &'a Job,
    together: &'a Together,
    at: usize,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let error = Error::Usage("it ended unexpectedly".to_owned());
            self.together.fail(self.at + 1, error.into());
        }
        if let Some(turns) = &self.job.turns {
            turns.leave(self.at);
        }
    }
}

/// Runs a job in a thread for each shell. Answers with the results of each, or with the number and the failure of the
/// first that failed; that one stops the others.
pub(super) fn run(
    job: &Arc<Job>,
    shells: Vec<Shell>,
    stop: &Interrupt,
) -> Result<Vec<Vec<RawBson>>, (usize, Failure)> {
    let together = Arc::new(Together {
        first: Mutex::default(),
        ready: Mutex::default(),
        changed: Condvar::new(),
        workers: shells.len(),
        stop: stop.clone(),
    });
    let mut threads = Vec::with_capacity(shells.len());
    for (at, shell) in shells.into_iter().enumerate() {
        let work = {
            let (job, together) = (Arc::clone(job), Arc::clone(&together));
            move || {
                let _leaving = Leaving { job: &job, together: &together, at };
                job.work(shell, at, Some(&together)).unwrap_or_else(|failure| {
                    together.fail(at + 1, failure);
                    Vec::new()
                })
            }
        };
        match job.thread(format!("worker {}", at + 1)).spawn(work) {
            Ok(thread) => threads.push(thread),
            Err(error) => {
                let error = Error::Usage(format!("no thread can be started: {error}"));
                together.fail(at + 1, error.into());
                break;
            }
        }
    }
    let results = threads.into_iter().map(|thread| thread.join().unwrap_or_default()).collect();
    let failure = together.first.lock().unwrap_or_else(PoisonError::into_inner).take();
    match failure {
        Some(failure) => Err(failure),
        None => Ok(results),
    }
}

/// Starts a parallel shell. Its thread answers with the exit code.
pub(super) fn start(job: Job, shell: Shell) -> std::io::Result<JoinHandle<i32>> {
    let output = shell.output.clone();
    let work = move |job: &Job| match job.work(shell, 0, None) {
        Ok(_) => 0,
        Err(Failure { error: Error::Exit(code), .. }) => code & 0xff,
        Err(Failure { error: Error::Interrupted, .. }) => interrupt::EXIT_CODE,
        Err(Failure { error, .. }) => {
            let text = match &error {
                Error::Thrown(thrown) => thrown.text.clone(),
                error => error.to_string(),
            };
            output.notice(&format!("parallel shell: {text}"));
            SCRIPT_FAILED
        }
    };
    job.thread("parallel shell".to_owned()).spawn(move || work(&job))
}

impl Job {
    /// A job; in lock step for so many workers.
    pub(super) fn new(
        limits: Limits,
        globals: Vec<(String, Given)>,
        task: Task,
        lock_step: Option<usize>,
    ) -> Self {
        let turns = lock_step.map(|workers| Arc::new(LockStep::new(workers)));
        Self { limits, globals, task, turns }
    }

    fn thread(&self, name: String) -> thread::Builder {
        thread::Builder::new().name(name).stack_size(self.limits.stack * STACK_RATIO)
    }

    /// What a worker does from its beginning to its end.
    fn work(
        &self,
        shell: Shell,
        at: usize,
        together: Option<&Together>,
    ) -> Result<Vec<RawBson>, Failure> {
        let script = Script::new(shell, self.limits)?;
        script.context.with(|ctx| {
            let realm = realm(&ctx);
            match self.calls(&ctx, &realm, at, together) {
                Ok(results) => match thrown::stopped(&realm) {
                    Some(error) => Err(error.into()),
                    None => Ok(results),
                },
                Err(error) => {
                    let (mut stack, mut fields) = (String::new(), RawDocumentBuf::new());
                    if matches!(error, rquickjs::Error::Exception) && !realm.state.is_stopped() {
                        let value = ctx.catch();
                        if let Some(error) = value.as_object().filter(|object| object.is_error()) {
                            stack = thrown::stack(&realm, error);
                            fields = convert::document(&ctx, &realm, error).unwrap_or_default();
                            // A field that cannot be copied is no news.
                            ctx.catch();
                        }
                        ctx.throw(value);
                    }
                    Err(Failure { error: thrown::caught(&ctx, &realm, error), stack, fields })
                }
            }
        })
    }

    fn calls<'js>(
        &self,
        ctx: &Ctx<'js>,
        realm: &Realm<'js>,
        at: usize,
        together: Option<&Together>,
    ) -> rquickjs::Result<Vec<RawBson>> {
        realm.state.workers.give(&self.globals);
        let names: Vec<&str> = self.globals.iter().map(|(name, _)| name.as_str()).collect();
        realm.core("furnish")?.call::<_, ()>((names, at + 1))?;
        let (function, arguments, times) = match &self.task {
            Task::Call { function, arguments, times } => (function, arguments, *times),
            Task::Script(text) => {
                let entries = pasted::inputs(realm, text)?;
                let entries = entries.unwrap_or_else(|| dialect::inputs(text));
                let value = pasted::run(ctx, realm, PARALLEL_SHELL, entries)?;
                jobs::settle(ctx, realm, value)?;
                return Ok(Vec::new());
            }
        };
        let made = function.make(ctx, realm)?;
        let Some(function) = made.as_function() else {
            return Err(errors::type_error(ctx, realm, "what a worker was given is no function"));
        };
        let values = arguments.iter().map(|given| given.make(ctx, realm));
        let values: Vec<Value> = values.collect::<rquickjs::Result<_>>()?;
        let nobody: Value = realm.core("nobody")?.call(())?;
        if let Some(together) = together {
            together.begin();
        }
        if let Some(turns) = &self.turns
            && let Err(error) = turns.begin(at, &realm.state.interrupt)
        {
            return Err(errors::throw(ctx, realm, error));
        }
        let mut results = Vec::with_capacity(times.min(1 << 16));
        for _ in 0..times {
            if realm.state.is_stopped() {
                return Err(errors::unwind(ctx, realm));
            }
            let mut args = Args::new(ctx.clone(), values.len());
            args.this(nobody.clone())?;
            for value in &values {
                args.push_arg(value.clone())?;
            }
            let value: Value = function.call_arg(args)?;
            let value = match value.as_promise() {
                Some(promise) => jobs::wait(ctx, realm, promise)?,
                None => value,
            };
            results.push(convert::value(ctx, realm, &value)?);
        }
        jobs::settle(ctx, realm, Value::new_undefined(ctx.clone()))?;
        Ok(results)
    }
}
