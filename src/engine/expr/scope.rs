//! What an expression may refer to besides its document: the time of the command and the command's `let` variables.

use bson::{Bson, DateTime, Document};

use crate::engine::functions::Hook;
use crate::interrupt::Interrupt;

/// The variables of one command. Made once a command, borrowed by everything that parses or evaluates.
#[derive(Clone, Debug)]
pub struct Scope {
    /// `$$NOW`: one moment for the whole command.
    pub now: DateTime,
    /// The values of the command's `let`, and of `$lookup`'s.
    pub variables: Document,
    /// Stops long loops inside an expression.
    pub interrupt: Interrupt,
    /// Who runs the JavaScript of the command.
    pub functions: Option<Hook>,
}

impl Scope {
    /// A scope without `let` variables.
    pub fn new(now: DateTime) -> Self {
        Self { now, variables: Document::new(), interrupt: Interrupt::new(), functions: None }
    }

    /// The same moment with these variables in place of the old ones.
    #[must_use]
    pub fn with_variables(mut self, variables: Document) -> Self {
        self.variables = variables;
        self
    }

    /// The same variables, stopped by this interrupt.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: Interrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// The same with JavaScript, where there is somebody to run it.
    #[must_use]
    pub fn with_functions(mut self, functions: Option<Hook>) -> Self {
        self.functions = functions;
        self
    }

    /// Whether `name` (without `$$`) has a value here.
    pub(super) fn knows(&self, name: &str) -> bool {
        name == "NOW" || self.variables.contains_key(name)
    }

    /// The value of a variable that [`Scope::knows`].
    pub(super) fn value(&self, name: &str) -> Option<Bson> {
        match name {
            "NOW" => Some(Bson::DateTime(self.now)),
            _ => self.variables.get(name).cloned(),
        }
    }
}
