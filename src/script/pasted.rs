//! A script file that is no JavaScript as it stands: read as a paste, and run input by input.
//!
//! Nothing runs unless every input can be read, so that a file with a mistake in it does nothing.

use rquickjs::function::Args;
use rquickjs::{Ctx, Function, Value};

use super::realm::Realm;
use super::sources::Written;
use super::{files, jobs};
use crate::dialect::{self, Code, Entry, Input, Part};

type Result<T> = rquickjs::Result<T>;

/// The inputs of a file, each with the first of its readings that can be run. `None` if one of them has none.
pub(super) fn inputs(realm: &Realm<'_>, text: &str) -> Result<Option<Vec<Entry>>> {
    let mut entries = dialect::inputs(text);
    for entry in &mut entries {
        let mut reading = None;
        for input in dialect::readings(&entry.input, &entry.text) {
            if is_input(realm, &input)? {
                reading = Some(input.into_owned());
                break;
            }
        }
        match reading {
            Some(reading) => entry.input = reading,
            None => return Ok(None),
        }
    }
    Ok(Some(entries))
}

/// Whether QuickJS can read all JavaScript of an input.
fn is_input(realm: &Realm<'_>, input: &Input) -> Result<bool> {
    for part in &input.parts {
        if let Part::Script(code) = part
            && !is_readable(realm, code)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether QuickJS can read a code. None of it runs.
pub(super) fn is_readable(realm: &Realm<'_>, code: &Code) -> Result<bool> {
    realm.core("readable")?.call((code.text.as_str(), code.awaits))
}

/// Runs the inputs of a file in order, without showing what they answer with.
pub(super) fn run<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    name: &str,
    entries: Vec<Entry>,
) -> Result<Value<'js>> {
    for entry in entries {
        files::tell(&realm.state, entry.left_out_notice().as_slice());
        files::tell(&realm.state, &entry.input.notices);
        let line = u32::try_from(entry.line).unwrap_or(u32::MAX);
        let written = Written { name, text: &entry.text, line };
        for part in &entry.input.parts {
            let own = match part {
                Part::Word { verb, alone: true, span, .. } if is_own(realm, verb)? => {
                    Some(Code::plain(&entry.text, span.clone()))
                }
                Part::Word { verb, arguments, .. } => {
                    say(ctx, verb, arguments)?;
                    None
                }
                Part::Script(code) => Some(code.clone()),
            };
            if let Some(code) = own {
                let value = files::evaluate(ctx, realm, &code, written)?;
                jobs::settle(ctx, realm, value)?;
            }
        }
    }
    Ok(Value::new_undefined(ctx.clone()))
}

/// Whether the user has given a word a meaning of his own; nobody can take `exit` away.
fn is_own(realm: &Realm<'_>, verb: &str) -> Result<bool> {
    Ok(verb != "exit" && realm.core("defines")?.call::<_, bool>((verb,))?)
}

/// Runs a shell word, as a file does that is JavaScript but for its words.
fn say<'js>(ctx: &Ctx<'js>, verb: &str, arguments: &[String]) -> Result<()> {
    let word: Function = ctx.globals().get("__word")?;
    let mut args = Args::new(ctx.clone(), arguments.len() + 1);
    args.push_arg(verb)?;
    for argument in arguments {
        args.push_arg(argument.as_str())?;
    }
    word.call_arg(args)
}
