//! The engine's JavaScript: functions of commands, run in worlds without a shell, one in each thread that asks.
//!
//! A world lives as long as its command: what one leaves behind, no other sees.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use bson::{Bson, RawBson, RawDocumentBuf};
use rquickjs::context::EvalOptions;
use rquickjs::{Array, Context, Ctx, Function, Persistent, Value};

use super::Script;
use super::convert::{self, Decoder};
use super::limits::Limits;
use super::realm::Realm;
use super::sources::INTERNAL;
use crate::backend::Embedded;
use crate::engine::Location;
use crate::engine::functions::{Call, Functions, Outcome};
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use crate::shell::{Emulate, Output, Shell};

/// What makes a bare world of a shell's.
const SOURCE: &str = include_str!("prelude/functions.js");

/// The stack of a function: well inside the smallest thread that runs commands.
const STACK: usize = 512 << 10;

/// The most memory of a world: the limit that a server has at first.
const MEMORY: usize = 1100 << 20;

/// What a world keeps of the shell's globals: the types, and what the server's own functions have besides.
const KEPT: &[&str] = &[
    "BinData",
    "Code",
    "DBPointer",
    "DBRef",
    "HexData",
    "ISODate",
    "MD5",
    "MaxKey",
    "MinKey",
    "NumberDecimal",
    "NumberInt",
    "NumberLong",
    "ObjectId",
    "Timestamp",
    "UUID",
    "assert",
    "bsonWoCompare",
    "doassert",
    "friendlyEqual",
    "hex_md5",
    "isNumber",
    "isObject",
    "isString",
    "tojson",
    "tojsonObject",
    "tojsononeline",
];

thread_local! {
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// QuickJS as what runs the functions of commands.
#[derive(Clone, Copy, Debug, Default)]
pub struct ServerFunctions;

impl Functions for ServerFunctions {
    fn call(&self, call: &Call<'_>) -> Result<Outcome> {
        WORLD.with(|world| {
            let mut held = world.try_borrow_mut().map_err(|_| {
                Error::command(JS_FAILED, "a function of a command cannot run commands")
            })?;
            let world = match held.take() {
                Some(world) if world.command == call.command => held.insert(world),
                // The old world goes before the new one comes.
                _ => held.insert(World::new(call)?),
            };
            world.call(call)
        })
    }
}

/// What the server answers when a function throws.
const JS_FAILED: Code = Code::JS_INTERPRETER_FAILURE;

/// The world of one command.
struct World {
    command: u64,
    // Dropped before the world that it is of.
    run: Persistent<Function<'static>>,
    script: Script,
    /// What ends the call that is running.
    interrupt: Rc<RefCell<Interrupt>>,
}

impl World {
    fn new(call: &Call<'_>) -> Result<Self> {
        // Nothing can be asked of it: the world has neither `db` nor anything that leads to one.
        let backend = Arc::new(Embedded::new(Location::Ephemeral));
        let output = Output::new(io::sink(), io::sink());
        let shell = Shell::new(backend, Interrupt::new(), Emulate::Mongo, "", output);
        let memory = match Limits::default().memory {
            0 => MEMORY,
            machine => machine.min(MEMORY),
        };
        let mut script = Script::new(shell, Limits { memory, stack: STACK })?;
        let interrupt = Rc::new(RefCell::new(call.interrupt.clone()));
        let asked = Rc::clone(&interrupt);
        let handler = move || asked.borrow().check().is_err();
        script.context.runtime().set_interrupt_handler(Some(Box::new(handler)));
        let bare = Context::full(script.context.runtime())
            .map_err(|error| Error::command(JS_FAILED, error.to_string()))?;
        let mut kept: Vec<String> = bare.with(|ctx| {
            ctx.globals()
                .own_keys::<String>(rquickjs::object::Filter::new().string())
                .collect::<rquickjs::Result<_>>()
                .unwrap_or_default()
        });
        kept.extend(KEPT.iter().map(|name| (*name).to_owned()));
        let run = script.enter(|ctx, realm| {
            let mut options = EvalOptions::default();
            options.filename = Some(format!("{INTERNAL}functions"));
            options.strict = false;
            let make: Function = ctx.eval_with_options(SOURCE, options)?;
            let globals = raw(call.globals)?;
            let globals = Decoder::built(ctx, realm).value(globals.as_raw_bson_ref())?;
            let run: Function = make.call((kept, globals))?;
            Ok(Persistent::save(ctx, run))
        })?;
        Ok(Self { command: call.command, run, script, interrupt })
    }

    fn call(&mut self, call: &Call<'_>) -> Result<Outcome> {
        *self.interrupt.borrow_mut() = call.interrupt.clone();
        let run = self.run.clone();
        let answer = self.script.enter(|ctx, realm| {
            let value = called(ctx, realm, run.restore(ctx)?, call)?;
            convert::value(ctx, realm, &value)
        });
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                call.interrupt.check()?;
                return Err(failure(error));
            }
        };
        let answer = Bson::try_from(answer);
        let answer = answer.map_err(|error| Error::command(JS_FAILED, error.to_string()))?;
        let Bson::Array(answer) = answer else { return Ok(Outcome::default()) };
        let mut answer = answer.into_iter();
        let value = answer.next().unwrap_or(Bson::Undefined);
        let emitted = match answer.next() {
            Some(Bson::Array(pairs)) => pairs,
            _ => Vec::new(),
        };
        let pairs = emitted.into_iter().filter_map(|pair| {
            let Bson::Array(pair) = pair else { return None };
            let mut pair = pair.into_iter();
            pair.next().zip(pair.next())
        });
        Ok(Outcome { value, emitted: pairs.collect() })
    }
}

fn called<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    run: Function<'js>,
    call: &Call<'_>,
) -> rquickjs::Result<Value<'js>> {
    let mut decoder = Decoder::served(ctx, realm);
    let this = match call.this {
        Some(document) => decoder.value(raw(document)?.as_raw_bson_ref())?,
        None => Value::new_undefined(ctx.clone()),
    };
    let arguments = Array::new(ctx.clone())?;
    for (at, argument) in call.arguments.iter().enumerate() {
        let argument = RawBson::try_from(argument.clone()).map_err(|_| rquickjs::Error::Unknown)?;
        arguments.set(at, decoder.value(argument.as_raw_bson_ref())?)?;
    }
    run.call((call.text, this, arguments, call.test))
}

fn raw(document: &bson::Document) -> rquickjs::Result<RawBson> {
    let raw = RawDocumentBuf::try_from(document).map_err(|_| rquickjs::Error::Unknown)?;
    Ok(RawBson::Document(raw))
}

/// What a function threw, in the server's form.
fn failure(error: Error) -> Error {
    match error {
        Error::Thrown(thrown) => Error::command(JS_FAILED, thrown.text),
        Error::Usage(words) => Error::command(JS_FAILED, words),
        other => other,
    }
}
