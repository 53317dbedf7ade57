//! What every native call needs at hand: the shell, the prototypes, a few functions of JavaScript's own.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use rquickjs::function::Constructor;
use rquickjs::{Atom, Class, Ctx, Function, JsLifetime, Object, Value};

use super::files::Loaded;
use super::limits::Limits;
use super::native::{self, Handle, Held, Number, Place, Released, Via};
use super::prelude;
use super::sources::Sources;
use super::timers::Timers;
use super::workers::Workers;
use crate::error::Error;
use crate::interrupt::Interrupt;
use crate::print::{self, Data, Printer, Style};
use crate::shell::{self, Emulate, Shell};

/// The Rust side of a script: no JavaScript value in it, so it may outlive the engine.
pub(super) struct State {
    /// Borrowed only inside a call through the door, never when JavaScript runs.
    pub(super) shell: RefCell<Shell>,
    /// The emulated shell.
    pub(super) emulate: Emulate,
    /// What lays out what scripts print.
    pub(super) printer: Printer,
    /// What scripts may use.
    pub(super) limits: Limits,
    /// Ctrl-C.
    pub(super) interrupt: Interrupt,
    /// Why everything has to unwind, apart from Ctrl-C.
    pub(super) halt: RefCell<Option<Error>>,
    /// Whether `halt` holds something; what the interrupt handler looks at.
    pub(super) halted: Rc<Cell<bool>>,
    /// Handles whose objects were collected.
    pub(super) released: Released,
    /// The numbers of handles, while an object has them.
    pub(super) numbers: RefCell<HashMap<u32, Weak<Number>>>,
    /// The files that were loaded.
    pub(super) loaded: RefCell<Loaded>,
    /// The texts that were evaluated, for positions.
    pub(super) sources: RefCell<Sources>,
    /// The workers that were started, and what this script was given if it is one's.
    pub(super) workers: Workers,
}

impl State {
    /// The form that data is printed in, where that was asked for.
    pub(super) fn data(&self) -> Option<Data> {
        match self.printer {
            Printer::Data(data) => Some(data),
            Printer::Shell(_) => None,
        }
    }

    /// How a shell shows values.
    pub(super) fn style(&self) -> &'static dyn Style {
        match self.printer {
            Printer::Shell(style) => style,
            Printer::Data(_) => print::emulated(self.emulate),
        }
    }

    /// Whether nothing may go on: Ctrl-C, `quit()`, a reader that is gone.
    pub(super) fn is_stopped(&self) -> bool {
        self.halted.get() || self.interrupt.is_raised()
    }

    /// A number of the shell's for an object: the one that other objects share, if there are any.
    pub(super) fn number(&self, number: u32) -> Rc<Number> {
        let mut numbers = self.numbers.borrow_mut();
        if let Some(shared) = numbers.get(&number).and_then(Weak::upgrade) {
            return shared;
        }
        let made = Rc::new(Number { number, released: self.released.clone() });
        numbers.insert(number, Rc::downgrade(&made));
        made
    }

    /// Makes everything unwind and end with `error`.
    pub(super) fn stop_with(&self, error: Error) {
        self.halted.set(true);
        self.halt.borrow_mut().get_or_insert(error);
    }
}

/// The JavaScript side, kept by the engine itself.
#[derive(JsLifetime)]
pub(super) struct Realm<'js> {
    /// The Rust side.
    pub(super) state: Rc<State>,
    /// The prototype of each class, in the order of the class table.
    pub(super) prototypes: Vec<Object<'js>>,
    /// `Object.prototype`.
    pub(super) object: Object<'js>,
    /// The prototype of native objects whose class the table does not have.
    pub(super) other: Object<'js>,
    /// `Date.prototype`.
    pub(super) date_prototype: Object<'js>,
    /// `Date.prototype.getTime`, as it was at the start.
    pub(super) get_time: Function<'js>,
    /// `Date`.
    pub(super) date: Constructor<'js>,
    /// `RegExp`.
    pub(super) regexp: Constructor<'js>,
    /// `Error`.
    pub(super) error: Constructor<'js>,
    /// `TypeError`.
    pub(super) type_error: Constructor<'js>,
    /// The symbol under which a document keeps its [`Held::Origin`].
    pub(super) origin: Atom<'js>,
    /// The shared mark of documents that came from the server and have nothing to remember.
    pub(super) served: Value<'js>,
    /// The functions that the core of the prelude hands to Rust.
    pub(super) core: Object<'js>,
    /// How many of the core's further files were read.
    pub(super) read: Cell<usize>,
    /// The document that was shown last, if a script holds it.
    pub(super) viewed: RefCell<Option<Value<'js>>>,
    /// Promises that were rejected without anybody minding it.
    pub(super) rejected: RefCell<Vec<Value<'js>>>,
    /// What is to run later.
    pub(super) timers: RefCell<Timers<'js>>,
    /// The database objects made so far.
    pub(super) databases: RefCell<HashMap<String, Object<'js>>>,
    /// What the global `db` belongs to.
    pub(super) home: RefCell<Via>,
    /// The bodies of the prelude's rows, by class, once one of them was called.
    pub(super) bodies: RefCell<HashMap<usize, Object<'js>>>,
}

impl<'js> Realm<'js> {
    /// A function of the prelude's core.
    pub(super) fn core(&self, name: &str) -> rquickjs::Result<Function<'js>> {
        loop {
            let found: Value = self.core.get(name)?;
            if let Some(function) = found.into_function() {
                return Ok(function);
            }
            if !prelude::read_on(self.object.ctx(), self)? {
                return Err(rquickjs::Error::Unknown);
            }
        }
    }

    /// The object of a database; one for each name of the shell's own connection.
    pub(super) fn database(&self, name: &str, via: &Via) -> rquickjs::Result<Object<'js>> {
        if via.is_some() {
            return self.instance("Database", Held::Database(name.into(), via.clone()));
        }
        if let Some(object) = self.databases.borrow().get(name) {
            return Ok(object.clone());
        }
        let object = self.instance("Database", Held::Database(name.into(), None))?;
        self.databases.borrow_mut().insert(name.to_owned(), object.clone());
        Ok(object)
    }

    /// A new object of a collection.
    pub(super) fn collection(
        &self,
        db: &str,
        name: &str,
        via: &Via,
    ) -> rquickjs::Result<Object<'js>> {
        let prototype = self.prototype("Collection");
        let place = Place { db: db.into(), name: name.into(), via: via.clone() };
        Ok(Class::instance_proto(place, prototype)?.into_inner())
    }

    /// The object of something that the shell holds.
    pub(super) fn handle(&self, handle: Rc<Handle>) -> rquickjs::Result<Object<'js>> {
        self.instance(shell::classes()[handle.class].name, Held::Handle(handle))
    }

    /// A new native object of a class.
    pub(super) fn instance(&self, class: &str, held: Held) -> rquickjs::Result<Object<'js>> {
        Ok(Class::instance_proto(held, self.prototype(class))?.into_inner())
    }

    /// Whether what belongs to `via` belongs to the connection of the global `db`, in no session.
    pub(super) fn is_home(&self, via: &Via) -> bool {
        let session = |via: &Via| {
            via.as_ref().is_some_and(|via| shell::classes()[via.class].name == "Session")
        };
        let home = self.home.borrow();
        native::number(via) == native::number(&home) && !session(via)
    }

    /// The prototype of a class.
    pub(super) fn prototype(&self, class: &str) -> Object<'js> {
        class_index(class).map_or_else(|| self.other.clone(), |at| self.prototypes[at].clone())
    }
}

/// Where a class stands in the table.
pub(super) fn class_index(name: &str) -> Option<usize> {
    shell::classes().binary_search_by_key(&name, |class| class.name).ok()
}

/// The realm of a context; it is there from the setup to the end.
pub(super) fn realm<'a, 'js>(
    ctx: &'a Ctx<'js>,
) -> rquickjs::runtime::UserDataGuard<'a, Realm<'js>> {
    ctx.userdata::<Realm<'js>>().expect("the setup stores the realm before any script runs")
}
