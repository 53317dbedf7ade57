//! Rows of the class tables in one line each.

use super::{Call, Class, Kind, Method, Reply, Run, Shells, Show};
use crate::error::Result;

/// A row that runs Rust behind the door.
pub(super) const fn native(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    run: fn(&mut Call<'_>) -> Result<Reply>,
) -> Method {
    Method { name, usage, help, shells: Shells::Both, run: Run::Native(run) }
}

/// A row whose body is code of the prelude, under the same class and name.
pub(super) const fn prelude(name: &'static str, usage: &'static str, help: &'static str) -> Method {
    Method { name, usage, help, shells: Shells::Both, run: Run::Prelude }
}

/// A row that shows any JavaScript values.
pub(super) const fn shows(
    name: &'static str,
    usage: &'static str,
    help: &'static str,
    show: Show,
) -> Method {
    Method { name, usage, help, shells: Shells::Both, run: Run::Show(show) }
}

impl Method {
    /// The row, in one emulated shell only.
    pub(super) const fn only(mut self, shells: Shells) -> Self {
        self.shells = shells;
        self
    }
}

impl Class {
    /// A class whose rows are methods of a prototype, in both emulated shells.
    pub(super) const fn instances(
        name: &'static str,
        global: &'static str,
        help: &'static str,
        methods: &'static [Method],
    ) -> Self {
        Self {
            name,
            global,
            modern: "",
            kind: Kind::Instances,
            shells: Shells::Both,
            help,
            methods,
        }
    }

    /// A class whose rows are functions on a global, in both emulated shells.
    pub(super) const fn functions(
        name: &'static str,
        global: &'static str,
        help: &'static str,
        methods: &'static [Method],
    ) -> Self {
        Self { kind: Kind::Functions, ..Self::instances(name, global, help, methods) }
    }

    /// The class with another name of its global in mongosh.
    pub(super) const fn modern(mut self, name: &'static str) -> Self {
        self.modern = name;
        self
    }

    /// The class with rows of another kind.
    pub(super) const fn of(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The class, in one emulated shell only.
    pub(super) const fn only(mut self, shells: Shells) -> Self {
        self.shells = shells;
        self
    }
}
