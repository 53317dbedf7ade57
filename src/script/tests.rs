//! What a world does, seen through its door: values in and out, errors, unwinding.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use bson::{Bson, Document, RawDocumentBuf, doc};

use super::*;
use crate::backend::Embedded;
use crate::engine::Location;
use crate::error::ThrownKind;
use crate::interrupt::Interrupt;
use crate::print::{Options, emulated};
use crate::shell::{Emulate, Kind, Output, Run};

/// What was written.
#[derive(Clone, Default)]
struct Pages(Arc<Mutex<Vec<u8>>>);

impl Pages {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Pages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A world over no database, and what it prints.
pub(super) struct World {
    pub(super) script: Script,
    printed: Pages,
    told: Pages,
    interrupt: Interrupt,
}

pub(super) fn world(emulate: Emulate) -> World {
    let (printed, told, interrupt) = (Pages::default(), Pages::default(), Interrupt::new());
    let output = Output::new(printed.clone(), told.clone());
    let shell = Shell::new(
        Arc::new(Embedded::new(Location::Ephemeral)),
        interrupt.clone(),
        emulate,
        "test",
        output,
    );
    let stack = if std::thread::current().name().is_some() { 1 << 20 } else { 32 << 20 };
    let script = Script::new(shell, Limits { memory: 64 << 20, stack }).unwrap();
    World { script, printed, told, interrupt }
}

/// A text that is code as it stands.
pub(super) fn code(text: &str) -> Code {
    Code {
        text: text.to_owned(),
        edits: Vec::new(),
        span: 0..text.len(),
        awaits: text.contains("await"),
        declares: None,
    }
}

impl World {
    pub(super) fn eval(&mut self, text: &str) -> Result<Answer> {
        self.script.eval(&code(text), "(shell)", text)
    }

    /// What the prompt shows for an input.
    #[track_caller]
    fn shown(&mut self, text: &str) -> String {
        let answer = self.eval(text).unwrap();
        let shown = self.script.show(&answer).unwrap();
        let emulate = self.script.state.emulate;
        emulated(emulate).value(&shown, &Options::PROMPT).unwrap_or_default()
    }

    /// What an input throws.
    #[track_caller]
    fn thrown(&mut self, text: &str) -> crate::error::Thrown {
        match self.eval(text).and_then(Answer::end).err() {
            Some(Error::Thrown(thrown)) => *thrown,
            other => panic!("{other:?} instead of an exception"),
        }
    }

    /// An input's value as a document of BSON.
    #[track_caller]
    fn stored(&mut self, text: &str) -> Document {
        let answer = self.eval(text).unwrap();
        let value = answer.value.clone();
        let raw = self.script.enter(|ctx, realm| {
            let value = value.restore(ctx)?;
            convert::document(ctx, realm, value.as_object().unwrap())
        });
        Document::try_from(&*raw.unwrap()).unwrap()
    }

    /// Makes a document that came from the server the global of that name.
    fn serve(&mut self, name: &str, document: &Document) {
        let raw = RawDocumentBuf::try_from(document).unwrap();
        let served = self.script.enter(|ctx, realm| {
            let value = convert::Decoder::served(ctx, realm).document(&raw)?;
            ctx.globals().set(name, value)
        });
        served.unwrap();
    }
}

#[test]
fn every_prelude_row_has_a_body_and_every_body_a_row() {
    let World { script, .. } = world(Emulate::Mongo);
    let mut complaints = Vec::new();
    script.context.with(|ctx| {
        for class in shell::classes() {
            let bodies = prelude::bodies(&ctx, &realm(&ctx), class.name).unwrap();
            for method in class.methods {
                // Every object has a `constructor`; only an own one is a body.
                let atom = classes::atom(&ctx, method.name).unwrap();
                let filter = rquickjs::Filter::new().string().symbol();
                let own = bodies.own_keys::<rquickjs::Atom>(filter).flatten();
                let own = own.into_iter().any(|name| name == atom);
                if matches!(method.run, Run::Prelude) != own {
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
    let World { script, .. } = world(Emulate::Mongo);
    script.context.with(|ctx| {
        for class in shell::classes().iter().filter(|class| class.kind == Kind::Extensions) {
            assert!(ctx.globals().contains_key(class.global).unwrap(), "{}", class.global);
        }
    });
}

#[test]
fn plain_javascript_runs_and_keeps_its_globals() {
    let mut world = world(Emulate::Mongo);
    world.eval("var a = 40; function f() { return a + 2; }").unwrap();
    assert_eq!(world.shown("f()"), "42");
    assert_eq!(world.shown("var x = 1"), "");
    assert_eq!(world.shown("if (true) { 7 }"), "7");
}

#[test]
fn numbers_are_stored_as_the_emulated_shell_does() {
    let text = "({a: 1, b: -0, c: 1.5, d: 2147483648, e: [1, NaN], f: 10n, g: undefined})";
    let classic = world(Emulate::Mongo).stored(text);
    assert_eq!(classic.get("a"), Some(&Bson::Double(1.0)));
    assert_eq!(classic.get("d"), Some(&Bson::Double(2_147_483_648.0)));
    assert_eq!(classic.get("f"), Some(&Bson::Int64(10)));
    assert_eq!(classic.get("g"), Some(&Bson::Undefined));
    let mongosh = world(Emulate::Mongosh).stored(text);
    assert_eq!(mongosh.get("a"), Some(&Bson::Int32(1)));
    assert!(mongosh.get_f64("b").unwrap().is_sign_negative());
    assert_eq!(mongosh.get("c"), Some(&Bson::Double(1.5)));
    assert_eq!(mongosh.get("d"), Some(&Bson::Double(2_147_483_648.0)));
    assert_eq!(mongosh.get_array("e").unwrap()[0], Bson::Int32(1));
    assert_eq!(mongosh.get("g"), Some(&Bson::Null));
}

#[test]
fn other_values_are_stored_as_what_they_are() {
    let stored = world(Emulate::Mongo).stored(
        "({d: new Date(5), i: new Date(NaN), r: /a\\/b/gi, b: new Uint8Array([1, 255]), m: new Map([['k', 's']]), \
         s: Symbol('no'), h: [, 's'], f: function () { return 1 }, n: null, t: true, '': 'empty', \
         p: (async () => 's')(), ['__proto__']: 's'})",
    );
    let text = |name: &str| stored.get(name).map(ToString::to_string).unwrap_or_default();
    assert_eq!(stored.get_datetime("d").unwrap().timestamp_millis(), 5);
    assert_eq!(stored.get_datetime("i").unwrap().timestamp_millis(), 0);
    assert_eq!(text("r"), "/a\\/b/i");
    assert_eq!(stored.get_binary_generic("b").unwrap(), &vec![1, 255]);
    assert_eq!(stored.get_document("m").unwrap(), &doc! {"k": "s"});
    assert_eq!(stored.get("s"), None);
    assert_eq!(stored.get_array("h").unwrap(), &vec![Bson::Undefined, Bson::String("s".into())]);
    assert!(
        matches!(stored.get("f"), Some(Bson::JavaScriptCode(code)) if code == "function () { return 1 }")
    );
    assert_eq!(stored.get("n"), Some(&Bson::Null));
    assert_eq!(stored.get("t"), Some(&Bson::Boolean(true)));
    assert_eq!(stored.get_str("").unwrap(), "empty");
    assert_eq!(stored.get_str("p").unwrap(), "s");
    assert_eq!(stored.get_str("__proto__").unwrap(), "s");
}

#[test]
fn a_document_that_was_read_keeps_its_number_types() {
    let read = doc! {
        "_id": 1, "double": 3.0, "long": 5_i64, "deep": {"list": [1, 2.0, {"n": 7}]}, "changed": 4, "broken": 8,
    };
    for emulate in [Emulate::Mongo, Emulate::Mongosh] {
        let mut world = world(emulate);
        world.serve("read", &read);
        assert_eq!(world.stored("read"), read, "{emulate:?}");
        let saved = world.stored("read.changed++; read.broken += 0.5; read.more = 's'; read");
        assert_eq!(saved.get("changed"), Some(&Bson::Int32(5)));
        assert_eq!(saved.get("broken"), Some(&Bson::Double(8.5)));
        assert_eq!(saved.get("deep"), read.get("deep"));
        assert_eq!(world.shown("Object.keys(read).length"), "7");
    }
}

#[test]
fn fields_keep_their_order_even_where_javascript_reorders_them() {
    let read = doc! {"b": "x", "10": "y", "2": "z", "__proto__": "p"};
    let mut world = world(Emulate::Mongo);
    world.serve("read", &read);
    let stored = world.stored("read");
    assert_eq!(stored.keys().collect::<Vec<_>>(), ["b", "10", "2", "__proto__"]);
    assert_eq!(world.shown("read"), r#"{ "b" : "x", "10" : "y", "2" : "z", "__proto__" : "p" }"#);
}

#[test]
fn what_cannot_be_stored_is_refused_by_name() {
    // As deep as documents nest, code that is not optimised needs more stack than a test has.
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    thread.spawn(refusals).unwrap().join().unwrap();
}

#[test]
fn endless_recursion_ends_well_inside_the_thread() {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let recursion = || {
        let mut world = world(Emulate::Mongo);
        let text = "function f() { return f() } try { f() } catch (e) { e.name }";
        assert_eq!(world.shown(text), "RangeError");
        assert_eq!(world.thrown("f()").name, "RangeError");
        let nested = "function g() { [1].forEach(g) } g()";
        assert_eq!(world.thrown(nested).name, "RangeError");
        let through = "function h() { print({toString: h}) } h()";
        assert_eq!(world.thrown(through).name, "RangeError");
        let getter = "function k() { db.t.insert({get a() { k() }}) } k()";
        assert_eq!(world.thrown(getter).name, "RangeError");
    };
    thread.spawn(recursion).unwrap().join().unwrap();
}

fn refusals() {
    let mut world = world(Emulate::Mongo);
    let mut refused = |text: &str| {
        let answer = world.eval(text).unwrap();
        let value = answer.value.clone();
        let error = world
            .script
            .enter(|ctx, realm| convert::value(ctx, realm, &value.restore(ctx)?).map(drop));
        error.unwrap_err().to_string()
    };
    assert_eq!(
        refused("var a = {b: {}}; a.b.a = a; a"),
        "TypeError: cannot convert a circular structure to BSON"
    );
    assert_eq!(
        refused("var deep = {}; for (var i = 0; i < 300; i++) deep = {d: deep}; deep"),
        "Error: BSONObj exceeds maximum nested object depth: 200"
    );
    assert_eq!(
        refused("({'a\\0b': 1})"),
        "TypeError: the field name \"a\\0b\" must not contain a null byte"
    );
}

#[test]
fn an_uncaught_error_knows_its_place() {
    let mut world = world(Emulate::Mongo);
    let thrown = world.thrown("1;\n  throw new RangeError('boom')");
    assert_eq!(
        (&*thrown.name, &*thrown.text, &*thrown.message),
        ("RangeError", "RangeError: boom", "boom")
    );
    assert_eq!((thrown.frames[0].line, &*thrown.frames[0].file), (2, "(shell)"));
    assert_eq!(thrown.kind, ThrownKind::Error);
    assert_eq!((thrown.frames[0].line, thrown.frames[0].column), (2, 9));
    assert_eq!(world.thrown("db.t.nofunc()").frames[0].column, 1);
    assert_eq!(world.thrown("nope").text, "ReferenceError: nope is not defined");
    assert_eq!(world.thrown("throw 's'").kind, ThrownKind::Primitive);
    assert_eq!(world.thrown("throw {a: 1}").text, "[object Object]");
    assert_eq!(world.thrown("throw {a: 1}").message, "{ \"a\" : 1 }");
    assert_eq!(world.thrown("var a = ;").name, "SyntaxError");
}

#[test]
fn limits_are_errors_that_a_script_can_catch() {
    let mut world = world(Emulate::Mongo);
    assert_eq!(world.shown("function f() { f() } try { f() } catch (e) { e.name }"), "RangeError");
    let grow = "for (var a = []; ; ) a.push(new Array(1000).fill('x'))";
    assert_eq!(
        world.shown(&format!("try {{ {grow} }} catch (e) {{ a = null; 'caught' }}")),
        "caught"
    );
    assert_eq!(world.thrown(grow).text, "InternalError: out of memory");
    world.eval("a = null").unwrap();
    assert_eq!(world.shown("1 + 1"), "2");
}

#[test]
fn an_interrupt_cannot_be_caught() {
    let mut world = world(Emulate::Mongo);
    world.interrupt.raise();
    let text = "var reached; try { for (;;); } catch { reached = 1 } finally { reached = 2 }";
    assert_eq!(world.eval(text).err(), Some(Error::Interrupted));
    world.interrupt.clear();
    assert_eq!(world.shown("typeof reached"), "undefined");
}

#[test]
fn promises_are_waited_for() {
    let mut world = world(Emulate::Mongosh);
    assert_eq!(world.shown("await Promise.resolve(5)"), "5");
    assert_eq!(world.shown("var kept = await (async () => 6)(); kept"), "6");
    assert_eq!(world.shown("kept"), "6");
    assert_eq!(world.shown("Promise.resolve('late')"), "late");
    assert_eq!(world.shown("var later; Promise.resolve().then(() => later = 1); 's'"), "s");
    assert_eq!(world.shown("later"), "1");
    assert_eq!(world.thrown("Promise.reject(new Error('no')); 1").text, "Error: no");
    assert!(world.thrown("await new Promise(() => {})").message.contains("never settle"));
    assert_eq!(world.shown("try { await Promise.reject('x') } catch (e) { e }"), "x");
}

#[test]
fn values_are_shown_without_running_them() {
    let mut world = world(Emulate::Mongosh);
    let text = "({get a() { throw 1 }, set a(x) {}, s: Symbol('s'), [Symbol('k')]: 1n, u: undefined, h: [1, , 2]})";
    assert_eq!(
        world.shown(text),
        "{\n  a: [Getter/Setter],\n  s: Symbol(s),\n  u: undefined,\n  h: [ 1, <1 empty item>, 2 ],\n  [Symbol(k)]: 1n\n}"
    );
    assert_eq!(world.shown("class K { constructor() { this.a = 1 } } new K()"), "K { a: 1 }");
    assert_eq!(world.shown("new Map([[1, new Set([2])]])"), "Map(1) { 1 => Set(1) { 2 } }");
    assert_eq!(world.shown("var c = {}; c.c = c; c"), "<ref *1> { c: [Circular *1] }");
    assert_eq!(
        world.shown("new Proxy({a: 1}, {get() { throw 1 }, ownKeys() { throw 2 }})"),
        "{ a: 1 }"
    );
    assert_eq!(world.shown("Object.create(null)"), "[Object: null prototype] {}");
    assert_eq!(world.shown("async function f() {} f"), "[AsyncFunction: f]");
}

#[test]
fn a_tojson_of_the_users_own_is_asked_in_the_classic_shell() {
    let mut world = world(Emulate::Mongo);
    assert_eq!(world.shown("({a: {tojson() { return '<mine>' }}})"), r#"{ "a" : <mine> }"#);
    assert_eq!(world.shown("({shellPrint() { return 'shown' }})"), "shown");
}

#[test]
fn globals_of_the_user_are_told_from_the_shells() {
    let mut world = world(Emulate::Mongo);
    assert!(!world.script.defines("Object") && !world.script.defines("it"));
    world.eval("var it = 1; let lexical; Object = 5;").unwrap();
    assert!(world.script.defines("it") && world.script.defines("lexical"));
    assert!(world.script.defines("Object") && !world.script.defines("1 + 1"));
    assert!(world.script.globals().contains(&"it".to_owned()));
    world.eval("var shop = {cart: {get total() { throw 1 }, items: []}}").unwrap();
    assert_eq!(world.script.members(&["shop", "cart"])[..2], ["total", "items"]);
    assert!(world.script.members(&["shop", "cart", "items"]).contains(&"push".to_owned()));
    assert!(world.script.members(&["shop", "cart", "total", "x"]).is_empty());
}

#[test]
fn modules_import_their_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &[u8]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    let main = file(
        "main.mjs",
        b"#!/usr/bin/env tally\r\nimport { one } from './lib/one.mjs';\r\nglobalThis.got = await one();\r\n\
          globalThis.url = import.meta.url;",
    );
    file(
        "lib/one.mjs",
        b"import { two } from '../two.mjs'; export const one = async () => 1 + two;",
    );
    file("two.mjs", b"\xEF\xBB\xBFexport const two = 2; globalThis.text = '\xFF';");
    let mut world = world(Emulate::Mongo);
    world.script.run_file(&main).unwrap();
    assert_eq!(world.shown("got"), "3");
    assert_eq!(world.shown("url"), format!("file://{}", main.display()));
    assert!(world.told.text().contains("two.mjs is not UTF-8"));

    let lost = file("lost.mjs", b"import './gone.mjs';");
    let Err(Error::Thrown(thrown)) = world.script.run_file(&lost) else { panic!() };
    assert!(
        thrown.message.contains("./gone.mjs") && thrown.message.contains("lost.mjs"),
        "{}",
        thrown.message
    );
    let bare = file("bare.mjs", b"import lines from 'readline';");
    let Err(Error::Thrown(thrown)) = world.script.run_file(&bare) else { panic!() };
    assert!(thrown.message.contains("none of the modules of Node"), "{}", thrown.message);
}

#[test]
fn a_script_file_runs_in_the_global_scope() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.js");
    std::fs::write(&path, "var made = 1;\nfunction f() {\n  throw new Error('in f');\n}\n")
        .unwrap();
    let mut world = world(Emulate::Mongo);
    world.script.run_file(&path).unwrap();
    assert_eq!(world.shown("made"), "1");
    let thrown = world.thrown("f()");
    assert_eq!((&*thrown.frames[0].function, thrown.frames[0].line), ("f", 3));
    assert_eq!(thrown.frames[0].file, path.to_string_lossy());
    std::fs::write(&path, "var a = {\n  b: ,\n};\n").unwrap();
    let Err(Error::Thrown(thrown)) = world.script.run_file(&path) else { panic!() };
    assert_eq!((&*thrown.name, thrown.frames[0].line), ("SyntaxError", 2));
    let Err(Error::Thrown(thrown)) = world.script.run_file(&folder.path().join("gone.js")) else {
        panic!()
    };
    assert!(thrown.message.starts_with("error loading js file: "), "{}", thrown.message);
    let _ = world.printed.text();
}

#[test]
fn collections_are_names_of_a_database() {
    let mut world = world(Emulate::Mongo);
    assert_eq!(world.shown("db.users"), "test.users");
    assert_eq!(world.shown("db['a b'].c.d.getFullName()"), "test.a b.c.d");
    assert_eq!(world.shown("db.users === db.users"), "true");
    assert_eq!(
        world.shown("typeof db._x + typeof db.then + JSON.stringify(db)"),
        "undefinedundefined{}"
    );
    assert_eq!(world.shown("db = db.getSiblingDB('shop'); db.getName()"), "shop");
    assert_eq!(world.shown("var db = db.getSiblingDB('later'); db"), "later");
    assert_eq!(world.script.shell().db, "later");
    world.script.shell().db = "used".to_owned();
    assert_eq!(world.shown("db.c"), "used.c");
    assert_eq!(world.shown("db.users instanceof DBCollection && db instanceof DB"), "true");
    assert_eq!(
        world.shown(
            "DBCollection.prototype.mine = function () { return this.getName() }; db.x.mine()"
        ),
        "x"
    );
    assert_eq!(world.shown("db = 5; db"), "5");
}

#[test]
fn a_mistyped_method_is_told_from_a_collection() {
    let mut world = world(Emulate::Mongo);
    let mut text = |input: &str| world.thrown(input).text;
    assert_eq!(
        text("db.users.insret({})"),
        "TypeError: db.users.insret is not a function. Did you mean insert?"
    );
    assert_eq!(
        text("db.getColectionNames()"),
        "TypeError: db.getColectionNames is not a function. Did you mean getCollectionNames?"
    );
    assert_eq!(text("db.users.nofunc()"), "TypeError: db.users.nofunc is not a function");
    assert_eq!(
        text("db.users.find({a: 1}).limt(2)"),
        "TypeError: db.users.find({a: 1}).limt is not a function. Did you mean limit?"
    );
    assert_eq!(text("assert.xyz(1)"), "TypeError: assert.xyz is not a function");
    assert_eq!(text("var x = {}; x()"), "TypeError: x is not a function");
    assert_eq!(text("var x = {}; 1 + x(2)"), "TypeError: x is not a function");
    assert_eq!(text("[1].map(5)"), "TypeError: not a function");
}

#[test]
fn documents_are_stored_found_and_handed_to_functions() {
    let mut world = world(Emulate::Mongo);
    world.eval("for (var i = 0; i < 250; i++) db.t.insert({_id: i, even: i % 2 == 0})").unwrap();
    assert_eq!(world.shown("db.t.count()"), "250");
    assert_eq!(
        world.shown("var n = 0; db.t.find().forEach(d => { n += d._id; db.u.insert(d) }); n"),
        "31125"
    );
    assert_eq!(world.shown("db.u.count()"), "250");
    assert_eq!(world.shown("db.t.find({_id: {$lt: 3}}).map(d => d._id)"), "[ 0, 1, 2 ]");
    assert_eq!(world.shown("db.t.find().sort({_id: -1})[1]._id"), "248");
    assert_eq!(world.shown("var sum = 0; for (const d of db.t.find()) sum += d._id; sum"), "31125");
    let commas = "var s = '', c = db.t.find().limit(3); c.forEach(d => { s += d._id; if (c.hasNext()) s += ',' }); s";
    assert_eq!(world.shown(commas), "0,1,2");
    let stopped = "var c = db.t.find(); try { c.forEach(d => { if (d._id == 5) throw 1 }) } catch { } c.next()._id";
    assert_eq!(world.shown(stopped), "6");
}

#[test]
fn a_refused_command_is_an_error_with_a_code() {
    let mut world = world(Emulate::Mongosh);
    world.eval("db.t.insertOne({_id: 1})").unwrap();
    let caught = "try { db.t.insertOne({_id: 1}) } catch (e) { [e.name, e.code, e instanceof Error, e.stack.length > 0] }";
    assert_eq!(world.shown(caught), "[ 'MongoServerError', 11000, true, true ]");
    let thrown = world.thrown("\n db.t.find({$nope: 1}).toArray()");
    assert_eq!((&*thrown.name, thrown.frames[0].line), ("MongoServerError", 2));
    assert_eq!(thrown.cause.unwrap().code, crate::error::Code::BAD_VALUE);
}

#[test]
fn quitting_unwinds_everything() {
    let mut world = world(Emulate::Mongo);
    let text = "try { quit(3) } catch { print('caught') } finally { print('finally') }";
    assert_eq!(world.eval(text).err(), Some(Error::Exit(3)));
    assert_eq!(world.printed.text(), "");
}

#[test]
fn printing_goes_by_the_emulated_shell() {
    let mut classic = world(Emulate::Mongo);
    classic
        .eval("print(1, 'a', {a: 1}, [1, 2], null); printjson({a: [1]}); print(tojson('s'))")
        .unwrap();
    classic
        .eval("class Own { toString() { return 'own' } } print(new Own()); print(NumberLong(5))")
        .unwrap();
    assert_eq!(
        classic.printed.text(),
        "1 a { \"a\" : 1 } 1,2 null\n{ \"a\" : [ 1 ] }\n\"s\"\nown\nNumberLong(5)\n"
    );
    let mut mongosh = world(Emulate::Mongosh);
    mongosh.eval("print(1, 'a', {a: 1}); console.log((async () => 5)())").unwrap();
    assert_eq!(mongosh.printed.text(), "1 a { a: 1 }\n5\n");
}

#[test]
fn completion_knows_the_methods_of_the_table() {
    let mut world = world(Emulate::Mongo);
    assert!(world.script.members(&["db", "users"]).contains(&"insertOne".to_owned()));
    assert!(world.script.members(&["db"]).contains(&"getCollectionNames".to_owned()));
    assert!(world.script.globals().contains(&"ObjectId".to_owned()));
}
