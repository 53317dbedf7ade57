//! JavaScript inside commands: what `$where`, `$function`, `$accumulator` and `mapReduce` ask of whoever can run it.
//!
//! The engine knows no JavaScript. Without a [`Functions`] these operators are refused in the words of a server that was
//! built without it.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bson::{Bson, Document};

use crate::error::Result;
use crate::interrupt::Interrupt;

/// Whoever runs the functions of commands.
pub trait Functions: Debug + Send + Sync {
    /// Runs one function once.
    ///
    /// # Errors
    /// Code 139 when its text is no function or it throws; what its interrupt says.
    fn call(&self, call: &Call<'_>) -> Result<Outcome>;
}

/// One call of one function.
#[derive(Debug)]
pub struct Call<'a> {
    /// The command it belongs to: what a function leaves behind is seen by others of the same command, and no further.
    pub command: u64,
    /// The variables that are there from the beginning, the same for all calls of a command.
    pub globals: &'a Document,
    /// The text: a function, an expression, or statements with a `return`.
    pub text: &'a str,
    /// What `this` is.
    pub this: Option<&'a Document>,
    /// The arguments.
    pub arguments: &'a [Bson],
    /// Whether only the truth of the answer is wanted, as JavaScript sees it.
    pub test: bool,
    /// Ends it.
    pub interrupt: &'a Interrupt,
}

/// What a call came to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What it answered.
    pub value: Bson,
    /// What it gave to `emit`: keys and values.
    pub emitted: Vec<(Bson, Bson)>,
}

/// The functions of one command.
#[derive(Clone, Debug)]
pub struct Hook {
    functions: Arc<dyn Functions>,
    command: u64,
    globals: Arc<Document>,
}

impl Hook {
    /// For a new command.
    pub(crate) fn new(functions: &Arc<dyn Functions>) -> Self {
        static COMMANDS: AtomicU64 = AtomicU64::new(0);
        let command = COMMANDS.fetch_add(1, Ordering::Relaxed);
        Self { functions: Arc::clone(functions), command, globals: Arc::default() }
    }

    /// The same with variables, those of mapReduce's `scope`.
    #[must_use]
    pub(crate) fn with_globals(self, globals: Document) -> Self {
        Self { globals: Arc::new(globals), ..self }
    }

    /// Calls a function.
    ///
    /// # Errors
    /// As [`Functions::call`].
    pub(crate) fn call(
        &self,
        text: &str,
        this: Option<&Document>,
        arguments: &[Bson],
        interrupt: &Interrupt,
    ) -> Result<Outcome> {
        let (command, globals) = (self.command, &*self.globals);
        let call = Call { command, globals, text, this, arguments, test: false, interrupt };
        self.functions.call(&call)
    }

    /// Whether a function answers with something that JavaScript takes for true.
    ///
    /// # Errors
    /// As [`Functions::call`].
    pub(crate) fn holds(&self, text: &str, this: &Document, interrupt: &Interrupt) -> Result<bool> {
        let (command, globals) = (self.command, &*self.globals);
        let this = Some(this);
        let call = Call { command, globals, text, this, arguments: &[], test: true, interrupt };
        Ok(self.functions.call(&call)?.value == Bson::Boolean(true))
    }
}
