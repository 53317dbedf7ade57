//! The Rust values that JavaScript objects hold: BSON scalars, handles, databases, collections and rows of the table.
//!
//! They are the only classes QuickJS is taught. Everything else about a shell class is an ordinary prototype, so that
//! `instanceof`, user-made methods and subclasses behave as in any JavaScript.

use std::cell::RefCell;
use std::rc::Rc;

use bson::{RawBson, RawDocumentBuf};
use rquickjs::class::{ClassKind, JsCell, JsClass, Readable, Trace, Tracer};
use rquickjs::function::{Constructor, Params};
use rquickjs::{Ctx, Function, JsLifetime, Object, Value};

use super::{door, errors};

/// The handles whose objects were collected since the last call through the door.
pub(super) type Released = Rc<RefCell<Vec<u32>>>;

/// What a native object holds.
#[derive(JsLifetime)]
pub(super) enum Held {
    /// A BSON scalar that JavaScript has no value of its own for.
    Bson(RawBson),
    /// Something that the shell holds under a number, as an object of a class.
    Handle(Rc<Handle>),
    /// A database by name.
    Database(Rc<str>, Via),
    /// What a document looked like when it was read: its number types and the order of its fields. `None` marks a
    /// document as the server's, with nothing to remember.
    Origin(Option<RawDocumentBuf>),
}

/// The connection or session that an object belongs to; `None` is the shell's own connection.
pub(super) type Via = Option<Rc<Handle>>;

/// The number of a connection or session; 0 is the shell's own connection.
pub(super) fn number(via: &Via) -> u32 {
    via.as_ref().map_or(0, |handle| handle.number.number)
}

/// What stands for something that the shell holds. Several objects may stand for the same.
pub(super) struct Handle {
    /// The class, as an index of the class table.
    pub(super) class: usize,
    /// The number.
    pub(super) number: Rc<Number>,
    /// What it belongs to itself.
    pub(super) via: Via,
}

/// A number of the shell's; the shell is told when the last object with it is gone.
pub(super) struct Number {
    /// The number itself.
    pub(super) number: u32,
    /// Where to leave it in the end.
    pub(super) released: Released,
}

impl Drop for Number {
    fn drop(&mut self) {
        self.released.borrow_mut().push(self.number);
    }
}

impl<'js> Trace<'js> for Held {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Held {
    const NAME: &'static str = "Held";
    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> rquickjs::Result<Option<Constructor<'js>>> {
        Ok(None)
    }
}

/// A collection: callable, so that a mistyped method name is told from a collection in the error of its call.
#[derive(JsLifetime)]
pub(super) struct Place {
    /// The database's name.
    pub(super) db: Rc<str>,
    /// The collection's name within it.
    pub(super) name: Rc<str>,
    /// What it belongs to.
    pub(super) via: Via,
}

impl<'js> Trace<'js> for Place {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Place {
    const NAME: &'static str = "Place";
    const KIND: ClassKind = ClassKind::Callable;
    type Mutable = Readable;

    fn constructor(_: &Ctx<'js>) -> rquickjs::Result<Option<Constructor<'js>>> {
        Ok(None)
    }

    fn call<'a>(this: &JsCell<'js, Self>, params: Params<'a, 'js>) -> rquickjs::Result<Value<'js>> {
        Err(errors::not_a_function(params.ctx(), &this.borrow().name))
    }
}

/// The function that a row of a class became.
#[derive(JsLifetime)]
pub(super) struct Row {
    /// The class, as an index of the class table.
    pub(super) class: usize,
    /// The row in it; `None` for the global of a class that has no constructor.
    pub(super) row: Option<usize>,
}

impl<'js> Trace<'js> for Row {
    fn trace<'a>(&self, _: Tracer<'a, 'js>) {}
}

impl<'js> JsClass<'js> for Row {
    const NAME: &'static str = "Row";
    const KIND: ClassKind = ClassKind::Callable;
    type Mutable = Readable;

    fn prototype(ctx: &Ctx<'js>) -> rquickjs::Result<Option<Object<'js>>> {
        Ok(Some(Function::prototype(ctx.clone())))
    }

    fn constructor(_: &Ctx<'js>) -> rquickjs::Result<Option<Constructor<'js>>> {
        Ok(None)
    }

    fn call<'a>(this: &JsCell<'js, Self>, params: Params<'a, 'js>) -> rquickjs::Result<Value<'js>> {
        let row = this.borrow();
        door::call(&params, row.class, row.row)
    }
}
