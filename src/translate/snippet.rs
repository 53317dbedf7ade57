//! A piece of code for one driver: a comment that names what it needs, then the code.

use std::collections::BTreeSet;

use bson::Bson;

use super::call::Call;
use super::layout::Layout;
use super::literal;

/// What code needs around it, gathered while it is written.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// Names to import.
    imports: BTreeSet<String>,
    /// Statements that must stand before the code.
    before: Vec<String>,
    /// What the code cannot say.
    notes: BTreeSet<String>,
}

impl Needs {
    /// The name is used: it must be imported. Gives it back.
    pub(super) fn import<'a>(&mut self, name: &'a str) -> &'a str {
        self.imports.insert(name.to_owned());
        name
    }

    /// The names to import, sorted.
    pub(super) fn imports(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str)
    }

    /// The sorted names with commas between them.
    pub(super) fn listed(&self) -> String {
        self.imports().collect::<Vec<_>>().join(", ")
    }

    /// A statement that must stand before the code.
    pub(super) fn before(&mut self, statement: String) {
        self.before.push(statement);
    }

    /// How many such statements there are.
    pub(super) fn statements(&self) -> usize {
        self.before.len()
    }

    /// What stands for a value of a type that drivers read but do not write any more, with a note about it.
    pub(super) fn stand_in(&mut self, value: &Bson) -> Bson {
        let note = match value {
            Bson::Symbol(_) => "a symbol, which drivers no longer write, is a string here",
            Bson::DbPointer(_) => "a DBPointer, which drivers no longer write, is a DBRef here",
            _ => "undefined, which drivers no longer write, is null here",
        };
        self.notes.insert(note.to_owned());
        literal::stand_in(value)
    }
}

/// Code that was written, with what it needs.
pub(super) struct Written {
    /// The code.
    pub code: Layout,
    /// What it needs.
    pub needs: Needs,
}

impl Written {
    /// Writes a call with `write`; what has no method or option there is written as a `runCommand`.
    pub(super) fn of(call: &Call, write: impl Fn(&Call, &mut Needs) -> Option<Layout>) -> Self {
        let mut needs = Needs::default();
        if let Some(code) = write(call, &mut needs) {
            return Self { code, needs };
        }
        let mut needs = Needs::default();
        let code = write(&call.raw(), &mut needs);
        Self { code: code.expect("every driver can run a command"), needs }
    }

    /// The whole text: the comment with the driver's name and the context, notes, then the code.
    pub(super) fn text(
        &self,
        comment: &str,
        driver: &str,
        context: &[String],
        step: &str,
    ) -> String {
        let context = context.iter().filter(|part| !part.is_empty()).map(String::as_str);
        let context = context.collect::<Vec<_>>().join("; ");
        let mut lines = vec![format!("{comment} {driver}: {context}")];
        lines.extend(self.needs.notes.iter().map(|note| format!("{comment} {note}")));
        lines.extend(self.needs.before.iter().cloned());
        lines.push(self.code.print(step));
        lines.join("\n")
    }
}
