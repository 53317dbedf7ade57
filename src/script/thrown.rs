//! What nobody caught: a thrown value as an error with a name, a text and a stack in the user's positions.

use bson::Document;
use rquickjs::object::Filter;
use rquickjs::{Coerced, Ctx, Object, Value};

use super::limits::peak_memory;
use super::realm::Realm;
use super::sources::{INTERNAL, Source, Sources};
use super::{callee, convert, show};
use crate::dialect::Lines;
use crate::error::{Code, CommandError, Error, Frame, Thrown, ThrownKind};
use crate::print::{self, Options, Shown};
use crate::shell::{self, Emulate, Kind};

/// What an error of the engine is to everybody outside this room.
pub(super) fn caught<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, error: rquickjs::Error) -> Error {
    let value = match error {
        rquickjs::Error::Exception => ctx.catch(),
        other => {
            return Error::Usage(match other {
                rquickjs::Error::InvalidString(_) => "a script cannot hold a null byte".to_owned(),
                other => other.to_string(),
            });
        }
    };
    if let Some(error) = stopped(realm) {
        return error;
    }
    // Where there is no memory for an error object either, the engine throws `null`.
    let error = if value.is_null() && out_of_memory(realm) {
        ctx.run_gc();
        memory_ended()
    } else {
        thrown(ctx, realm, &value)
    };
    // Whatever a getter of the thrown value threw in its turn is not the news.
    ctx.catch();
    error
}

/// Whether the heap was close to its limit at some time.
fn out_of_memory(realm: &Realm<'_>) -> bool {
    let limit = realm.state.limits.memory;
    limit != 0 && peak_memory().is_some_and(|peak| peak >= limit - limit / 5)
}

/// Why everything unwound, if it did.
pub(super) fn stopped(realm: &Realm<'_>) -> Option<Error> {
    let state = &realm.state;
    if !state.is_stopped() {
        return None;
    }
    state.halted.set(false);
    Some(state.halt.borrow_mut().take().unwrap_or(Error::Interrupted))
}

/// A thrown value as an error.
pub(super) fn thrown<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, value: &Value<'js>) -> Error {
    let text = text(ctx, value);
    let Some(object) = value.as_object() else {
        return plain(&text, &text, ThrownKind::Primitive);
    };
    if !object.is_error() {
        let shown = show::value(ctx, realm, value).unwrap_or(Shown::Undefined);
        let message = print::emulated(realm.state.emulate).argument(&shown, &Options::SCRIPT);
        return plain(&text, &message, ThrownKind::Object);
    }
    let stack = stack(realm, object);
    let sources = realm.state.sources.borrow();
    let (mut text, mut message) = (text, string(object, "message").unwrap_or_default());
    if text == "TypeError: not a function"
        && let Some(better) = not_a_function(&sources, realm.state.emulate, &stack)
    {
        text = format!("TypeError: {better}");
        message = better;
    }
    if realm.state.emulate == Emulate::Mongosh
        && let Some(better) = unreadable(&message)
    {
        text = format!("TypeError: {better}");
        message = better;
    }
    let frames = frames(&sources, &stack);
    drop(sources);
    Error::Thrown(Box::new(Thrown {
        name: string(object, "name").unwrap_or_else(|| "Error".to_owned()),
        text,
        message,
        frames,
        cause: cause(ctx, realm, object),
        more: more(ctx, realm, object),
        kind: ThrownKind::Error,
        // What was running when a text was refused stands below it.
        early: refused(object, &stack).is_some() && stack.lines().count() == 1,
    }))
}

/// The name of the text that was refused when it was read, if a stack is of such an error: it begins with the bare place
/// then. An error of a running `eval` or `JSON.parse` has the frame of a function there.
pub(super) fn refused<'a>(object: &Object<'_>, stack: &'a str) -> Option<&'a str> {
    string(object, "name").filter(|name| name == "SyntaxError")?;
    let place = stack.lines().next()?.trim_start().strip_prefix("at ")?;
    place.rsplitn(3, ':').nth(2).filter(|_| !place.ends_with(')'))
}

fn memory_ended() -> Error {
    Error::Thrown(Box::new(Thrown {
        name: "InternalError".to_owned(),
        text: "InternalError: out of memory".to_owned(),
        message: "out of memory".to_owned(),
        frames: Vec::new(),
        cause: None,
        more: None,
        kind: ThrownKind::Error,
        early: false,
    }))
}

fn plain(text: &str, message: &str, kind: ThrownKind) -> Error {
    Error::Thrown(Box::new(Thrown {
        name: String::new(),
        text: text.to_owned(),
        message: message.to_owned(),
        frames: Vec::new(),
        cause: None,
        more: None,
        kind,
        early: false,
    }))
}

/// `String(value)`, as well as it goes.
fn text<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if let Some(symbol) = value.as_symbol() {
        let description: Option<String> = symbol.description().and_then(|text| text.get()).ok();
        return format!("Symbol({})", description.unwrap_or_default());
    }
    match value.get::<Coerced<String>>() {
        Ok(text) => text.0,
        Err(_) => {
            ctx.catch();
            "[object Object]".to_owned()
        }
    }
}

/// The stack of an error as the engine wrote it.
pub(super) fn stack<'js>(realm: &Realm<'js>, error: &Object<'js>) -> String {
    let stack =
        realm.core("engineStack").and_then(|stack| stack.call::<_, Value>((error.clone(),)));
    match stack {
        Ok(stack) => stack.as_string().and_then(|stack| stack.to_string().ok()).unwrap_or_default(),
        Err(_) => {
            error.ctx().catch();
            String::new()
        }
    }
}

/// A string that an object has under a name.
fn string(object: &Object<'_>, name: &str) -> Option<String> {
    match object.get::<_, Value>(name) {
        Ok(value) => value.as_string().and_then(|text| text.to_string().ok()),
        Err(_) => {
            object.ctx().catch();
            None
        }
    }
}

/// The server error that an exception was made of.
fn cause<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, object: &Object<'js>) -> Option<CommandError> {
    let own = object.own_keys::<String>(Filter::new().string()).flatten();
    if !own.into_iter().any(|name| name == "errorResponse") {
        return None;
    }
    let reply: Object = object.get("errorResponse").ok()?;
    let reply = convert::document(ctx, realm, &reply).ok()?;
    let mut details = Document::try_from(&*reply).ok()?;
    let code = details.remove("code").and_then(|code| match code {
        bson::Bson::Int32(code) => Some(code),
        bson::Bson::Double(code) => Some(code as i32),
        _ => None,
    })?;
    let labels = match details.remove("errorLabels") {
        Some(bson::Bson::Array(labels)) => {
            labels.iter().filter_map(|label| label.as_str().map(ToOwned::to_owned)).collect()
        }
        _ => Vec::new(),
    };
    let message = match details.remove("errmsg") {
        Some(bson::Bson::String(message)) => message,
        _ => String::new(),
    };
    for name in ["ok", "codeName"] {
        details.remove(name);
    }
    Some(CommandError { code: Code(code), message, details, labels })
}

/// What mongosh's prompt tells of a bulk write that failed, below its message.
fn more<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, object: &Object<'js>) -> Option<String> {
    if realm.state.emulate != Emulate::Mongosh || string(object, "name")? != "MongoBulkWriteError" {
        return None;
    }
    let shown = |name: &str| show::value(ctx, realm, &object.get::<_, Value>(name).ok()?).ok();
    let named = |name: &str, shown| match shown {
        Shown::Object(object) => {
            Shown::Object(print::Object { name: Some(name.to_owned()), ..object })
        }
        other => other,
    };
    let result = named("BulkWriteResult", shown("result")?);
    let Shown::Array(errors, origin) = shown("writeErrors")? else { return None };
    let error = |shown| {
        let mut shown = shown;
        if let Shown::Object(error) = &mut shown
            && !error.fields.iter().any(|(name, _)| name == "errInfo")
        {
            // The driver lists it, there or not.
            let place = error.fields.len().min(3);
            error.fields.insert(place, ("errInfo".to_owned(), Shown::Undefined));
        }
        let fields = vec![("err".to_owned(), shown)];
        Shown::Object(print::Object { name: Some("WriteError".to_owned()), fields, origin })
    };
    let errors = Shown::Array(errors.into_iter().map(error).collect(), origin);
    let options = Options::PROMPT.whole();
    let inspect = |shown| print::mongosh::inspect(shown, options);
    Some(format!("Result: {}\nWrite Errors: {}", inspect(&result), inspect(&errors)))
}

/// The frames of a stack as QuickJS writes it, in the user's positions; the shell's own are left out.
pub(super) fn frames(sources: &Sources, stack: &str) -> Vec<Frame> {
    stack.lines().filter_map(|line| frame(sources, line)).collect()
}

/// Where something is called, in the user's text: the beginning of the expression that is called, as the classic shell
/// has it, unless that is on another line.
fn called_at(source: &Source, lines: &Lines, line: u32, column: u32) -> (u32, u32) {
    let code = &source.code;
    let at = Lines::new(&code.text).offset(line, column);
    let engine = lines.position(code.source_offset(at));
    match callee::expression(&code.text, at) {
        Some(callee) => {
            let start = lines.position(code.source_offset(callee.start));
            if start.0 == engine.0 { start } else { engine }
        }
        None => engine,
    }
}

/// A field that was read of nothing, in V8's words, which everybody knows.
fn unreadable(message: &str) -> Option<String> {
    let (name, nothing) = message.strip_prefix("cannot read property '")?.rsplit_once("' of ")?;
    Some(format!("Cannot read properties of {nothing} (reading '{name}')"))
}

/// What "not a function" says of a call in a script: the name of what was called, and the name that was meant.
fn not_a_function(sources: &Sources, emulate: Emulate, stack: &str) -> Option<String> {
    let place = stack.lines().next()?.split_once(" (")?.1.strip_suffix(')')?;
    let mut parts = place.rsplitn(3, ':');
    let column: u32 = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let text = &sources.get(parts.next()?)?.code.text;
    let name = callee::name(text, Lines::new(text).offset(line, column))?;
    let hint = name.rsplit_once('.').and_then(|(object, method)| {
        let class = shell::classes().iter().find(|class| match class.kind {
            Kind::Functions => class.global == object,
            _ if object.contains(".aggregate(") => class.name == "CommandCursor",
            _ if object.contains(".find(") => class.name == "Cursor",
            _ => false,
        })?;
        let methods = class.methods.iter().filter(|method| method.shells.include(emulate));
        shell::nearest(method, methods.map(|method| method.name))
    });
    let hint = hint.map(|method| format!(". Did you mean {method}?"));
    Some(format!("{name} is not a function{}", hint.unwrap_or_default()))
}

/// One line: `at name (file:line:column)` or `at file:line:column`.
fn frame(sources: &Sources, line: &str) -> Option<Frame> {
    let line = line.trim_start().strip_prefix("at ")?;
    let (function, place) = match line.split_once(" (") {
        Some((function, place)) => (function, place.strip_suffix(')')?),
        None => ("", line),
    };
    let mut parts = place.rsplitn(3, ':');
    let column: u32 = parts.next()?.parse().ok()?;
    let line: u32 = parts.next()?.parse().ok()?;
    let file = parts.next()?;
    if file.starts_with(INTERNAL) {
        return None;
    }
    let (line, column, text) = match sources.get(file) {
        Some(source) => {
            let lines = Lines::new(&source.text);
            let (line, column) = called_at(source, &lines, line, column);
            let text = source.text[lines.line(line, &source.text)].to_owned();
            (source.line - 1 + line, column, Some(text))
        }
        None => (line, column, None),
    };
    let function = match function {
        "<eval>" | "<anonymous>" => "",
        name => name,
    };
    Some(Frame {
        function: function.to_owned(),
        file: sources.shown(file).to_owned(),
        line,
        column,
        source: text,
    })
}

/// The lines of a stack for people, without the error's own text.
pub(super) fn stack_text(frames: &[Frame]) -> String {
    let lines = frames.iter().map(|frame| format!("    {}", frame.modern()));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::{Code, Edit};
    use crate::script::sources::Written;

    #[test]
    fn a_stack_is_told_in_the_positions_of_the_users_text() {
        let mut sources = Sources::default();
        // `<a: x>` was written, `({a: x})` runs: the name `x` is at column 5 for the user, 6 for the engine.
        let code = Code {
            text: "({a: x})".to_owned(),
            edits: vec![Edit { source: 0..1, output: 0..2 }, Edit { source: 5..6, output: 6..8 }],
            span: 0..6,
            awaits: false,
            declares: None,
        };
        let written = Written { name: "(shell)", text: "<a: x>", line: 3 };
        let name = sources.add(written, &code);
        let stack = format!("    at <eval> ({name}:1:6)\n    at f (native)\n");
        let expected = Frame {
            function: String::new(),
            file: "(shell)".into(),
            line: 3,
            column: 5,
            source: Some("<a: x>".into()),
        };
        assert_eq!(frames(&sources, &stack), [expected]);
    }

    #[test]
    fn frames_of_the_shells_own_scripts_are_left_out() {
        let stack = "    at find (\u{1}Cursor:3:9)\n    at /a b/(x).js:4:2\n";
        let expected = Frame {
            function: String::new(),
            file: "/a b/(x).js".into(),
            line: 4,
            column: 2,
            source: None,
        };
        assert_eq!(frames(&Sources::default(), stack), [expected]);
    }
}
