//! What a world does, seen through its door: values in and out, errors, unwinding.

use std::io;
use std::sync::Arc;

use bson::RawDocumentBuf;

use super::*;
use crate::backend::{Backend, Cursor, Request, Topology};
use crate::dialect::Code;
use crate::interrupt::Interrupt;
use crate::shell::{Emulate, Kind, Output, Run, Shell, classes};

/// A backend that nobody may call.
struct Nowhere;

impl Backend for Nowhere {
    fn describe(&self) -> Topology {
        Topology::Embedded { directory: None }
    }

    fn run(&self, _: Request) -> Result<RawDocumentBuf> {
        Err(Error::Connection("nowhere".to_owned()))
    }

    fn stream(&self, _: Request) -> Result<Box<dyn Cursor>> {
        Err(Error::Connection("nowhere".to_owned()))
    }
}

/// A world over no database.
fn world(emulate: Emulate) -> Script {
    let output = Output::new(io::sink(), io::sink());
    let shell = Shell::new(Arc::new(Nowhere), Interrupt::new(), emulate, "test", output);
    Script::new(shell, Limits { memory: 64 << 20, stack: 1 << 20 }).unwrap()
}

/// A text that is code as it stands.
fn code(text: &str) -> Code {
    Code {
        text: text.to_owned(),
        edits: Vec::new(),
        span: 0..text.len(),
        awaits: false,
        declares: None,
    }
}

#[test]
fn every_prelude_row_has_a_body_and_every_body_a_row() {
    let script = world(Emulate::Mongo);
    let mut complaints = Vec::new();
    script.context.with(|ctx| {
        for class in classes() {
            let bodies = prelude::bodies(&ctx, &realm(&ctx), class.name).unwrap();
            for method in class.methods {
                let found = bodies.contains_key(method.name).unwrap();
                // Every object has a `constructor`; only an own one is a body.
                let own = bodies.own_keys::<String>(rquickjs::Filter::new().string());
                let own = own.flatten().any(|name| name == method.name);
                if matches!(method.run, Run::Prelude) != (found && own) {
                    complaints.push(format!("{}.{}", class.name, method.name));
                }
            }
            for name in bodies.own_keys::<String>(rquickjs::Filter::new().string()).flatten() {
                if class.method(&name).is_none() {
                    complaints.push(format!("{}.{name} has no row", class.name));
                }
            }
        }
        for class in prelude::classes() {
            if crate::shell::class(class).is_none() {
                complaints.push(format!("{class} is no class"));
            }
        }
    });
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
fn globals_that_classes_extend_exist() {
    let script = world(Emulate::Mongo);
    script.context.with(|ctx| {
        for class in classes().iter().filter(|class| class.kind == Kind::Extensions) {
            assert!(ctx.globals().contains_key(class.global).unwrap(), "{}", class.global);
        }
    });
}

#[test]
fn plain_javascript_runs_and_keeps_its_globals() {
    let mut script = world(Emulate::Mongo);
    script.eval(&code("var a = 40; function f() { return a + 2; }"), "(shell)", "").unwrap();
    script.eval(&code("if (f() !== 42) throw new Error(f())"), "(shell)", "").unwrap();
}
