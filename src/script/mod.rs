//! JavaScript: QuickJS behind one native door, and BSON in and out of it.
//!
//! A [`Script`] is one JavaScript world with the shell's classes in it. It runs on the thread that made it, which needs
//! the stack that its [`Limits`] promise. Only this room names `rquickjs`.
//!
//! - `classes` makes prototypes and globals of the class table: one native function a row.
//! - `door` is what such a function does: convert the arguments, borrow the shell, run the row, convert the reply.
//! - `convert` is the one home of BSON <-> JavaScript; `show` turns any value into a [`crate::print::Shown`].
//! - `prelude` holds what is better said in JavaScript, a file a class.
//! - `errors` and `sources` tell exceptions in the positions of the text that the user wrote.

mod classes;
mod convert;
mod door;
mod errors;
mod limits;
mod native;
mod prelude;
mod realm;
mod setup;
mod show;
mod sources;
#[cfg(test)]
mod tests;

use std::cell::RefMut;
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{Context, Ctx, Persistent, Runtime, Value};

pub use limits::Limits;

use crate::dialect::Code;
use crate::error::{Error, Result};
use crate::shell::Shell;
use realm::{State, realm};

/// One JavaScript world.
pub struct Script {
    state: Rc<State>,
    context: Context,
}

/// A JavaScript value that an input answered with.
pub struct Answer {
    value: Persistent<Value<'static>>,
    // Keeps the world of the value alive; dropped after it.
    context: Context,
}

impl Script {
    /// A fresh world over `shell`, on this thread.
    ///
    /// # Errors
    /// When there is not even memory for the setup.
    pub fn new(shell: Shell, limits: Limits) -> Result<Self> {
        let failed =
            |error: rquickjs::Error| Error::Usage(format!("JavaScript cannot start: {error}"));
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(limits.memory);
        runtime.set_max_stack_size(limits.stack);
        let context = Context::full(&runtime).map_err(failed)?;
        let state = Rc::new(State::new(shell));
        let (interrupt, halted) = (state.interrupt.clone(), Rc::clone(&state.halted));
        let handler = move || halted.get() || interrupt.is_raised();
        runtime.set_interrupt_handler(Some(Box::new(handler)));
        context.with(|ctx| setup::install(&ctx, &state).map_err(|error| caught(&ctx, error)))?;
        Ok(Self { state, context })
    }

    /// The shell behind the classes. It must be given back before anything is evaluated.
    pub fn shell(&self) -> RefMut<'_, Shell> {
        self.state.shell.borrow_mut()
    }

    /// Runs a classic script: `code` made of `text`, which is known as `name` in stacks.
    ///
    /// # Errors
    /// [`Error::Thrown`] for an exception nobody caught, [`Error::Interrupted`], [`Error::Exit`].
    pub fn eval(&mut self, code: &Code, name: &str, text: &str) -> Result<Answer> {
        let name = self.state.sources.borrow_mut().add(name, text, code);
        self.context.with(|ctx| {
            let mut options = EvalOptions::default();
            options.strict = false;
            options.promise = code.awaits;
            options.filename = Some(name);
            let value = ctx.eval_with_options::<Value, _>(code.text.as_str(), options);
            match value {
                Ok(value) => Ok(Answer {
                    value: Persistent::save(&ctx, value),
                    context: self.context.clone(),
                }),
                Err(error) => Err(caught(&ctx, error)),
            }
        })
    }
}

/// What an error of the engine is to everybody else.
fn caught(ctx: &Ctx<'_>, error: rquickjs::Error) -> Error {
    let _ = realm(ctx);
    match error {
        rquickjs::Error::Exception => {
            let text = ctx.catch().get::<rquickjs::Coerced<String>>();
            Error::Usage(text.map_or_else(|_| "exception".to_owned(), |text| text.0))
        }
        other => Error::Usage(other.to_string()),
    }
}
