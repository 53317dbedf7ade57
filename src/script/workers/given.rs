//! What a worker is given: values by BSON, functions by their source, and why something cannot be given.

use std::sync::Arc;

use bson::RawBson;
use rquickjs::context::EvalOptions;
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Coerced, Ctx, Function, Object, Value};

use super::super::convert::{self, Decoder};
use super::super::errors;
use super::super::native::{Held, Place, Row};
use super::super::realm::Realm;
use super::super::sources::Source;
use super::locals::locals;
use crate::shell::{self, Kind};

type Result<T> = rquickjs::Result<T>;

/// Objects that hold functions are given as deep as this.
const DEPTH: usize = 8;

/// What a worker cannot be given: it has a connection of its own.
const ELSEWHERE: &str = "a database of another connection or session";

/// The name of a function's text in stacks, where nobody knows where it was written.
const UNKNOWN_TEXT: &str = "(worker)";

/// Something that a worker is given.
#[derive(Clone)]
pub(in crate::script) enum Given {
    /// A copy of a value.
    Value(RawBson),
    /// A database by name.
    Database(String),
    /// A collection: database and name.
    Collection(String, String),
    /// A function of the shell's own, by its path from the globals: `counter`, `counter.peek`.
    Own(String),
    /// A function or class of the user's.
    Function(Piece),
    /// An object that holds functions.
    Object(Vec<(String, Given)>),
    /// It cannot be given; the sentence says why.
    Not(String),
}

/// A function's source, and where it was written.
#[derive(Clone)]
pub(in crate::script) struct Piece {
    /// The source.
    pub(super) source: String,
    /// The text that it stands in, the name which the engine knows that text by, and the byte of its code.
    pub(super) place: Option<(String, Arc<Source>, usize)>,
}

impl Given {
    /// What a worker is given for a value that is known as `name`.
    pub(super) fn of<'js>(
        ctx: &Ctx<'js>,
        realm: &Realm<'js>,
        name: &str,
        value: &Value<'js>,
    ) -> Result<Self> {
        Self::nested(ctx, realm, name, value, DEPTH)
    }

    fn nested<'js>(
        ctx: &Ctx<'js>,
        realm: &Realm<'js>,
        name: &str,
        value: &Value<'js>,
        depth: usize,
    ) -> Result<Self> {
        let Some(object) = value.as_object() else { return Self::copy(ctx, realm, name, value) };
        if let Some(function) = object.as_function() {
            return Self::function(realm, name, function);
        }
        if let Some(held) = object.as_class::<Held>() {
            return Ok(match &*held.borrow() {
                Held::Bson(value) => Self::Value(value.clone()),
                Held::Database(db, via) if realm.is_home(via) => Self::Database(db.to_string()),
                Held::Database(..) => Self::Not(not_given(name, ELSEWHERE)),
                Held::Handle(handle) => Self::Not(not_given(
                    name,
                    &format!("a {}", shell::classes()[handle.class].name),
                )),
                Held::Origin(_) => Self::Not(not_given(name, "a mark of the shell's own")),
            });
        }
        if let Some(what) = strange(realm, object)? {
            return Ok(Self::Not(not_given(name, &what)));
        }
        if depth > 0 && object.get_prototype().is_some_and(|above| above == realm.object) {
            let fields: Array = realm.core("fields")?.call((object.clone(), false))?;
            let mut entries = Vec::with_capacity(fields.len() / 3);
            let mut functions = false;
            for at in (0..fields.len()).step_by(3) {
                let key: Value = fields.get(at)?;
                let (Some(key), 0) = (key.as_string(), fields.get::<u32>(at + 1)?) else {
                    continue;
                };
                let value: Value = fields.get(at + 2)?;
                functions |= value.is_function();
                entries.push((convert::string(ctx, realm, key.as_value())?, value));
            }
            if functions {
                let given = entries.into_iter().map(|(key, value)| {
                    let path = format!("{name}.{key}");
                    Ok((key, Self::nested(ctx, realm, &path, &value, depth - 1)?))
                });
                return Ok(Self::Object(given.collect::<Result<_>>()?));
            }
        }
        Self::copy(ctx, realm, name, value)
    }

    fn copy<'js>(
        ctx: &Ctx<'js>,
        realm: &Realm<'js>,
        name: &str,
        value: &Value<'js>,
    ) -> Result<Self> {
        if value.is_symbol() || value.is_big_int() {
            let what = if value.is_symbol() { "a symbol" } else { "a BigInt" };
            return Ok(Self::Not(not_given(name, what)));
        }
        match convert::value(ctx, realm, value) {
            Ok(value) => Ok(Self::Value(value)),
            Err(error) if realm.state.is_stopped() => Err(error),
            Err(_) => {
                let reason = ctx.catch().get::<Coerced<String>>();
                let reason = reason.map_or_else(|_| String::new(), |text| format!(": {}", text.0));
                Ok(Self::Not(format!("`{name}` cannot be copied for a worker{reason}")))
            }
        }
    }

    fn function<'js>(realm: &Realm<'js>, name: &str, function: &Function<'js>) -> Result<Self> {
        if let Some(place) = function.as_class::<Place>() {
            let place = place.borrow();
            return Ok(match realm.is_home(&place.via) {
                true => Self::Collection(place.db.to_string(), place.name.to_string()),
                false => Self::Not(not_given(name, ELSEWHERE)),
            });
        }
        if let Some(row) = function.as_class::<Row>() {
            let row = row.borrow();
            let class = &shell::classes()[row.class];
            let method = row.row.map_or("constructor", |at| class.methods[at].name);
            return Ok(match (class.kind, method) {
                (Kind::Functions, method) if class.global == "globalThis" => {
                    Self::Own(method.to_owned())
                }
                (Kind::Functions, method) => Self::Own(format!("{}.{method}", class.global)),
                (_, "constructor") => Self::Own(class.global.to_owned()),
                _ => Self::Not(not_given(name, "a method without its object")),
            });
        }
        let source: Coerced<String> = function.as_value().get()?;
        if source.0.ends_with("[native code]\n}") || source.0.ends_with("[native code] }") {
            return Ok(Self::Not(format!(
                "`{name}` is a built-in or bound function, which has no source; call it in a function of your own"
            )));
        }
        Ok(Self::Function(Piece::of(realm, source.0)))
    }

    /// What a worker makes of it.
    pub(super) fn make<'js>(&self, ctx: &Ctx<'js>, realm: &Realm<'js>) -> Result<Value<'js>> {
        Ok(match self {
            Self::Value(value) => Decoder::served(ctx, realm).value(value.as_raw_bson_ref())?,
            Self::Database(name) => realm.database(name, &None)?.into_value(),
            Self::Collection(db, name) => realm.collection(db, name, &None)?.into_value(),
            Self::Own(path) => {
                let mut value = ctx.globals().into_value();
                for name in path.split('.') {
                    value = match value.as_object() {
                        Some(object) => object.get(name)?,
                        None => return Ok(Value::new_undefined(ctx.clone())),
                    };
                }
                value
            }
            Self::Function(written) => written.make(ctx, realm)?,
            Self::Object(fields) => {
                let object = Object::new(ctx.clone())?;
                for (key, given) in fields {
                    object.set(key.as_str(), given.make(ctx, realm)?)?;
                }
                object.into_value()
            }
            Self::Not(why) => return Err(errors::plain_error(ctx, realm, why)),
        })
    }
}

fn not_given(name: &str, what: &str) -> String {
    format!("`{name}` is {what}, which a worker cannot be given; make one inside the function")
}

/// What an object is that no copy would be equal to: an object of a class of the user's, a `Set`, a promise.
fn strange<'js>(realm: &Realm<'js>, object: &Object<'js>) -> Result<Option<String>> {
    if object.is_array() || object.is_error() {
        return Ok(None);
    }
    let Some(prototype) = object.get_prototype() else { return Ok(None) };
    if prototype == realm.object || realm.prototypes.contains(&prototype) {
        return Ok(None);
    }
    let kind: String = realm.core("kind")?.call((object.clone(),))?;
    if matches!(kind.as_str(), "Date" | "RegExp" | "Bytes" | "Map") {
        return Ok(None);
    }
    let class: Option<String> = realm.core("className")?.call((object.clone(),))?;
    Ok(Some(match class {
        Some(class) => format!("an object of the class {class}"),
        None => "an object with a prototype of its own".to_owned(),
    }))
}

/// The value of an object's first member.
fn first_member<'js>(object: &Value<'js>) -> Result<Option<Value<'js>>> {
    let Some(object) = object.as_object() else { return Ok(None) };
    let key = object.own_keys::<Atom>(Filter::new().string()).next();
    key.map(|key| object.get(key?)).transpose()
}

impl Piece {
    /// A source, looked up in the texts that were evaluated.
    pub(super) fn of(realm: &Realm<'_>, source: String) -> Self {
        let place = realm.state.sources.borrow().find(&source);
        Self { source, place }
    }

    /// The function. It is evaluated at the place where it was written, so that stacks tell the user's positions.
    fn make<'js>(&self, ctx: &Ctx<'js>, realm: &Realm<'js>) -> Result<Value<'js>> {
        let (before, name, strict) = match &self.place {
            Some((name, source, at)) => {
                let mut sources = realm.state.sources.borrow_mut();
                sources.adopt(name.clone(), Arc::clone(source));
                (&source.code.text[..*at], name.as_str(), source.module)
            }
            None => ("", UNKNOWN_TEXT, false),
        };
        let evaluate = |text: String| -> Result<Value<'js>> {
            let mut options = EvalOptions::default();
            options.strict = strict;
            options.filename = Some(name.to_owned());
            ctx.eval_with_options(text, options)
        };
        if let Some(declared) = self.declared().filter(|_| before.is_empty()) {
            // Nothing can stand before it; as a statement it declares a global.
            evaluate(self.source.clone())?;
            return ctx.globals().get(declared);
        }
        let blank = blank(before);
        let refusal = match evaluate(format!("{}{})", opened(&blank, "("), self.source)) {
            Err(rquickjs::Error::Exception) if !realm.state.is_stopped() && !self.is_class() => {
                ctx.catch()
            }
            value => return value,
        };
        // The shorthand of a method is no expression by itself.
        let Ok(object) = evaluate(format!("{}{}}})", opened(&blank, "({"), self.source)) else {
            ctx.catch();
            return Err(ctx.throw(refusal));
        };
        first_member(&object)?.ok_or_else(|| ctx.throw(refusal))
    }

    /// What it names that no worker knows, with what the worker is given in its place: why it cannot have it or, of a
    /// function of the same module, the function.
    pub(super) fn unseen(&self) -> Vec<(String, Given)> {
        let Some((name, source, at)) = &self.place else { return Vec::new() };
        let text = &source.code.text;
        let module = source.module.then_some(source.name.as_str());
        let found = locals(text, *at..at + self.source.len(), module).into_iter();
        found
            .map(|local| {
                let given = match local.source {
                    Some(range) => Given::Function(Self {
                        source: text[range.clone()].to_owned(),
                        place: Some((name.clone(), Arc::clone(source), range.start)),
                    }),
                    None => Given::Not(format!(
                        "`{}` is {}; pass it as an argument",
                        local.name, local.what
                    )),
                };
                (local.name, given)
            })
            .collect()
    }

    fn is_class(&self) -> bool {
        self.source.starts_with("class")
    }

    /// The name of a function declaration.
    fn declared(&self) -> Option<&str> {
        let rest = self.source.strip_prefix("async ").unwrap_or(&self.source);
        let rest = rest.strip_prefix("function")?.trim_start_matches(['*', ' ']);
        let end = rest.find(|part: char| !(part.is_alphanumeric() || "_$".contains(part)))?;
        (end > 0).then(|| &rest[..end])
    }
}

/// A text of the same lines and columns with nothing in it.
fn blank(text: &str) -> String {
    text.chars().map(|character| if character == '\n' { '\n' } else { ' ' }).collect()
}

/// A blank text with an opening at its end, where that moves nothing of what follows: in place of blanks, or else at the
/// end of the line before.
fn opened(blank: &str, opening: &str) -> String {
    let line = blank.rfind('\n').map_or(0, |at| at + 1);
    if blank.len() - line >= opening.len() {
        return format!("{}{opening}", &blank[..blank.len() - opening.len()]);
    }
    match line.checked_sub(1) {
        Some(end) => format!("{}{opening}{}", &blank[..end], &blank[end..]),
        None => format!("{opening}{blank}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opening_moves_nothing() {
        assert_eq!(opened(&blank("var a = "), "("), "       (");
        assert_eq!(opened(&blank("x\n"), "("), " (\n");
        assert_eq!(opened(&blank("x\n y"), "({"), " \n({");
        assert_eq!(opened(&blank("x\ny"), "({"), " ({\n ");
        assert_eq!(opened("", "("), "(");
    }
}
