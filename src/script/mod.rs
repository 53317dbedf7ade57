//! JavaScript: QuickJS behind one native door, and BSON in and out of it.
//!
//! A [`Script`] is one JavaScript world with the shell's classes in it. It runs on the thread that made it, which needs
//! the stack that its [`Limits`] promise. Only this room names `rquickjs`.
//!
//! - `classes` makes prototypes and globals of the class table: one native function a row.
//! - `door` is what such a function does: convert the arguments, borrow the shell, run the row, convert the reply.
//! - `convert` is the one home of BSON <-> JavaScript; `show` turns any value into a [`Shown`], `datum` into data.
//! - `ask` is how a tutor looks into the user's world without leaving a trace.
//! - `prelude` holds what is better said in JavaScript, a file a class.
//! - `errors`, `thrown` and `sources` tell exceptions in the positions of the text that the user wrote.
//! - `functions` runs those of commands, for the engine.
//! - `workers` runs functions in threads with worlds of their own.
//! - `files` reads scripts and modules, `pasted` those that are no JavaScript as they stand; `jobs` waits for promises,
//!   `timers` runs what is to run later.
//! - `node` is what scripts use of Node.

mod ask;
mod callee;
mod classes;
mod convert;
mod datum;
mod door;
mod errors;
mod files;
mod functions;
mod jobs;
mod limits;
mod native;
mod node;
mod pasted;
mod prelude;
mod realm;
mod setup;
mod show;
mod sources;
#[cfg(test)]
mod tests;
mod thrown;
mod timers;
mod workers;

use std::cell::RefMut;
use std::path::Path;
use std::rc::Rc;

use rquickjs::allocator::RustAllocator;
use rquickjs::{Array, Context, Ctx, Persistent, Runtime, Value};

pub use datum::Datum;
pub use functions::ServerFunctions;
pub use limits::Limits;

use crate::dialect::Code;
use crate::error::{Error, Result};
use crate::print::{Printer, Shown};
use crate::shell::{self, Shell};
use native::Held;
use realm::{Realm, State, realm};
use sources::Written;

/// One JavaScript world.
pub struct Script {
    state: Rc<State>,
    context: Context,
}

/// A JavaScript value that an input answered with.
#[derive(Clone)]
pub struct Answer {
    value: Persistent<Value<'static>>,
    /// A promise of the input was rejected without anybody minding it.
    unheard: Option<Error>,
    // Keeps the world of the value alive; dropped after it.
    _world: Context,
}

impl Answer {
    /// The end of the input: the error of a promise that was rejected without anybody minding it, which is told behind
    /// the answer.
    ///
    /// # Errors
    /// [`Error::Thrown`] if there is one.
    pub fn end(self) -> Result<()> {
        self.unheard.map_or(Ok(()), Err)
    }
}

impl Script {
    /// A fresh world over `shell`, on this thread.
    ///
    /// # Errors
    /// When there is not even memory for the setup.
    pub fn new(shell: Shell, limits: Limits) -> Result<Self> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::Usage(format!("JavaScript cannot start: {error}"))
        };
        let runtime = Runtime::new_with_alloc(RustAllocator).map_err(|error| failed(&error))?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack.min(limits::STACK));
        let context = Context::full(&runtime).map_err(|error| failed(&error))?;
        let state = Rc::new(State::new(shell, limits));
        context.with(|ctx| {
            setup::install(&ctx, &state).map_err(|error| match error {
                rquickjs::Error::Exception => {
                    let text = ctx.catch().get::<rquickjs::Coerced<String>>();
                    failed(&text.map_or_else(|error| error.to_string(), |text| text.0))
                }
                other => failed(&other),
            })
        })?;
        let (interrupt, halted) = (state.interrupt.clone(), Rc::clone(&state.halted));
        let handler = move || halted.get() || interrupt.is_raised();
        runtime.set_interrupt_handler(Some(Box::new(handler)));
        runtime.set_host_promise_rejection_tracker(Some(Box::new(jobs::track)));
        runtime.set_loader(files::Files(Rc::clone(&state)), files::Files(Rc::clone(&state)));
        Ok(Self { state, context })
    }

    /// The shell behind the classes. It must be given back before anything is evaluated.
    pub fn shell(&self) -> RefMut<'_, Shell> {
        self.state.shell.borrow_mut()
    }

    /// Runs a classic script: `code` made of `text`, which is known as `name` in stacks. Top-level `await` and, in
    /// mongosh, a promise that the input answers with are waited for.
    ///
    /// # Errors
    /// [`Error::Thrown`] for an exception nobody caught, the rejection of a promise that the input answers with included;
    /// [`Error::Interrupted`]; [`Error::Exit`].
    pub fn eval(&mut self, code: &Code, name: &str, text: &str) -> Result<Answer> {
        self.run(|ctx, realm| {
            let value = files::evaluate(ctx, realm, code, Written { name, text, line: 1 })?;
            jobs::answer(ctx, realm, value)
        })
    }

    /// What is wrong with `code`, if JavaScript refuses it. Nothing of it runs.
    ///
    /// # Errors
    /// The [`Error::Thrown`] that running it would be.
    pub fn check(&mut self, code: &Code, name: &str, text: &str) -> Result<()> {
        const STOP: &str = "throw 0;";
        if self.enter(|_, realm| pasted::is_readable(realm, code)).unwrap_or(true) {
            return Ok(());
        }
        match self.eval(&code.behind(STOP), name, text) {
            Err(error) if error.is_early() => Err(error),
            _ => Ok(()),
        }
    }

    /// Runs a file: an ES module when its name ends in `.mjs`, else a classic script, in the global scope.
    ///
    /// # Errors
    /// As [`Script::eval`]; [`Error::Thrown`] too for a file that cannot be read.
    pub fn run_file(&mut self, path: &Path) -> Result<Answer> {
        self.run(|ctx, realm| {
            let value = files::run(ctx, realm, path)?;
            jobs::answer(ctx, realm, value)
        })
    }

    /// Runs what is to run later and is due. With `waits` the rest is waited for, until nothing is left to run.
    ///
    /// # Errors
    /// As [`Script::eval`], of the first of them that fails.
    pub fn run_timers(&mut self, waits: bool) -> Result<()> {
        self.enter(|ctx, realm| jobs::run_timers(ctx, realm, waits))
    }

    /// The end of a script that would end with `code`: what it asked to be told of that is told (`process.on("exit")`).
    /// Answers with the code to end with.
    ///
    /// # Errors
    /// As [`Script::eval`].
    pub fn leave(&mut self, code: i32) -> Result<i32> {
        self.enter(|_, realm| {
            let leave: Value = realm.core.get("leave")?;
            leave.as_function().map_or(Ok(code), |leave| leave.call((code,)))
        })
    }

    /// What is shown for an answer. A `shellPrint`, `tojson` or `toString` of the user's own runs for it.
    ///
    /// # Errors
    /// As [`Script::eval`].
    pub fn show(&mut self, answer: &Answer) -> Result<Shown> {
        let value = answer.value.clone();
        self.enter(|ctx, realm| show::answer(ctx, realm, &value.restore(ctx)?))
    }

    /// What an answer is as data, for programs.
    ///
    /// # Errors
    /// As [`Script::eval`]; for what JSON refuses, too.
    pub fn datum(&mut self, answer: &Answer) -> Result<Datum> {
        let value = answer.value.clone();
        self.enter(|ctx, realm| datum::datum(ctx, realm, &value.restore(ctx)?))
    }

    /// What lays out what is printed.
    pub fn printer(&self) -> Printer {
        self.state.printer
    }

    /// Hands the document that was shown last over to the shell, which tells of its types.
    ///
    /// # Errors
    /// When it is none that could be stored.
    pub fn recall(&mut self) -> Result<()> {
        self.enter(show::recall)
    }

    /// The class and number of an answer that stands for something the shell holds, such as a cursor.
    pub fn handle(&self, answer: &Answer) -> Option<(&'static str, u32)> {
        self.context.with(|ctx| {
            let value = answer.value.clone().restore(&ctx).ok()?;
            let object = value.as_object().filter(|object| !object.is_function())?;
            match &*object.as_class::<Held>()?.borrow() {
                Held::Handle(handle) => {
                    Some((shell::classes()[handle.class].name, handle.number.number))
                }
                Held::Bson(_) | Held::Database(..) | Held::Origin(_) => None,
            }
        })
    }

    /// Makes `db` the current database again, should a script have made it something else, as `use` does.
    pub fn reclaim_db(&mut self) {
        // It fails only where a script has frozen it, which is the script's own wish.
        let _ = self.enter(|ctx, _| setup::give_db(ctx));
    }

    /// Makes the shell's own connection the one of the global `db` again.
    pub fn leave_connection(&mut self) {
        self.context.with(|ctx| realm(&ctx).home.take());
        self.shell().settle(0);
    }

    /// Whether a global of that name is the user's: declared by a script, or a global of the shell's made another.
    pub fn defines(&mut self, name: &str) -> bool {
        self.enter(|_, realm| realm.core("defines")?.call((name,))).unwrap_or(false)
    }

    /// The names of all globals.
    pub fn globals(&mut self) -> Vec<String> {
        self.members(&[])
    }

    /// The names that can follow `path`, for completion: `["db", "users"]` gives the methods of a collection. No getter
    /// is called, and nothing is run.
    pub fn members(&mut self, path: &[&str]) -> Vec<String> {
        let names = self.enter(|ctx, realm| {
            let names = Array::new(ctx.clone())?;
            for (at, name) in path.iter().enumerate() {
                names.set(at, *name)?;
            }
            realm.core("members")?.call::<_, Vec<String>>((names,))
        });
        names.unwrap_or_default()
    }

    fn run(
        &mut self,
        work: impl for<'js> FnOnce(&Ctx<'js>, &Realm<'js>) -> rquickjs::Result<Value<'js>>,
    ) -> Result<Answer> {
        let world = self.context.clone();
        self.enter(|ctx, realm| {
            // What an input that failed has left is not this one's.
            realm.rejected.take();
            let value = work(ctx, realm)?;
            let unheard = jobs::unheard(realm).map(|error| thrown::caught(ctx, realm, error));
            Ok(Answer { value: Persistent::save(ctx, value), unheard, _world: world })
        })
    }

    fn enter<T>(
        &mut self,
        work: impl for<'js> FnOnce(&Ctx<'js>, &Realm<'js>) -> rquickjs::Result<T>,
    ) -> Result<T> {
        self.context.with(|ctx| {
            let realm = realm(&ctx);
            match work(&ctx, &realm) {
                Ok(_) if realm.state.halted.get() => {
                    Err(thrown::stopped(&realm).unwrap_or(Error::Interrupted))
                }
                Ok(value) => Ok(value),
                Err(error) => {
                    let error = thrown::caught(&ctx, &realm, error);
                    if error.stops() {
                        // Nor does anything run later.
                        realm.timers.borrow_mut().clear();
                    }
                    Err(error)
                }
            }
        })
    }
}
