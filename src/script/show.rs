//! JavaScript values as trees of what can be shown, and the functions that show them.
//!
//! Nothing of the user's is run but what asks for it: a `tojson`, `shellPrint` or `toString` of their own making.
//! Getters are not called, and a `Proxy` is looked behind.

use bson::{Bson, DateTime, RawBson, Regex};
use rquickjs::atom::PredefinedAtom;
use rquickjs::function::This;
use rquickjs::{Array, Coerced, Ctx, Function, Object, Value};

use super::convert;
use super::native::{Held, Place, Row};
use super::realm::{Realm, realm};
use super::thrown;
use super::{datum, errors, jobs};
use crate::print::{self, Data, FunctionKind, Options, Origin, Shown, mongo};
use crate::shell::{self, Emulate, Kind, Show};

type Result<T> = rquickjs::Result<T>;

/// No style shows anything deeper.
const DEEPEST: usize = 510;

/// How many documents a cursor shows.
const PAGE: usize = 20;

/// More than anybody reads: a structure that shares its parts may unfold to any size.
const MOST: usize = 4_000_000;

/// A value as it is shown where it stands in another one.
pub(super) fn value<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, value: &Value<'js>) -> Result<Shown> {
    Viewer { ctx, realm, ancestors: Vec::new(), count: 0 }.value(value)
}

/// The value of an input: an object with a `shellPrint` of its own is shown as that says.
pub(super) fn answer<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    answer: &Value<'js>,
) -> Result<Shown> {
    match own_text(ctx, realm, answer, "shellPrint")? {
        Some(shown) => Ok(shown),
        None => {
            look_at(realm, answer);
            value(ctx, realm, answer)
        }
    }
}

/// Remembers a document that is being shown, for `show types`. Its types are asked for then: nothing that somebody only
/// looks at is converted.
fn look_at<'js>(realm: &Realm<'js>, value: &Value<'js>) {
    let is_document = value.is_array()
        || value.as_object().is_some_and(|object| {
            !object.is_function()
                && object.get_prototype().is_none_or(|above| above == realm.object)
        });
    if is_document && let Ok(mut shell) = realm.state.shell.try_borrow_mut() {
        shell.look_away();
        *realm.viewed.borrow_mut() = Some(value.clone());
    }
}

/// Hands the document that was shown last over to the shell, if it is a script's.
pub(super) fn recall<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>) -> Result<()> {
    let viewed = realm.viewed.borrow().clone();
    let Some(viewed) = viewed else { return Ok(()) };
    if realm.state.shell.try_borrow().is_ok_and(|shell| shell.is_looking()) {
        return Ok(());
    }
    let value = convert::value(ctx, realm, &viewed)?;
    if let Ok(mut shell) = realm.state.shell.try_borrow_mut() {
        shell.look_at(value);
    }
    Ok(())
}

/// An argument of `print`: an object with a `toString` of its own is shown as that says.
fn argument<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, argument: &Value<'js>) -> Result<Shown> {
    if let Some(promise) = argument.as_promise() {
        return value(ctx, realm, &jobs::wait(ctx, realm, promise)?);
    }
    match own_text(ctx, realm, argument, "toString")? {
        Some(shown) => Ok(shown),
        None => value(ctx, realm, argument),
    }
}

/// What a method of the user's own making says of an object.
fn own_text<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    value: &Value<'js>,
    method: &str,
) -> Result<Option<Shown>> {
    let Some(object) = value.as_object() else { return Ok(None) };
    if object.is_function() || object.is_array() || object.is_error() || object.is_proxy() {
        return Ok(None);
    }
    // What the shell holds has no method of the user's making, and any name at all of a database is a collection.
    if object.as_class::<Held>().is_some() {
        return Ok(None);
    }
    let method: Value = realm.core("method")?.call((object.clone(), method))?;
    let Some(method) = method.into_function().filter(|method| method.as_class::<Row>().is_none())
    else {
        return Ok(None);
    };
    let text: Value = method.call((This(object.clone()),))?;
    Ok(Some(match text.as_string() {
        Some(text) => Shown::Text(convert::string(ctx, realm, text.as_value())?),
        None => Shown::Undefined,
    }))
}

struct Viewer<'a, 'js> {
    ctx: &'a Ctx<'js>,
    realm: &'a Realm<'js>,
    /// The objects that are being shown, outermost first.
    ancestors: Vec<Value<'js>>,
    count: usize,
}

impl<'js> Viewer<'_, 'js> {
    fn value(&mut self, value: &Value<'js>) -> Result<Shown> {
        if value.is_undefined() {
            return Ok(Shown::Undefined);
        }
        if value.is_null() {
            return Ok(Shown::Value(Bson::Null));
        }
        if let Some(value) = value.as_bool() {
            return Ok(Shown::Value(Bson::Boolean(value)));
        }
        if let Some(number) = value.as_number() {
            return Ok(Shown::Number(number));
        }
        if value.is_string() {
            return Ok(Shown::Value(Bson::String(convert::string(self.ctx, self.realm, value)?)));
        }
        if let Some(symbol) = value.as_symbol() {
            let description: Option<String> = symbol.description()?.get()?;
            return Ok(Shown::Symbol(description.unwrap_or_default()));
        }
        if value.is_big_int() {
            return Ok(Shown::BigInt(value.get::<Coerced<String>>()?.0));
        }
        match value.as_object() {
            Some(object) => self.object(object),
            None => Ok(Shown::Undefined),
        }
    }

    fn object(&mut self, object: &Object<'js>) -> Result<Shown> {
        if let Some(at) = self.ancestors.iter().rposition(|above| above == object.as_value()) {
            return Ok(Shown::Ancestor(self.ancestors.len() - at));
        }
        self.count += 1;
        if self.ancestors.len() > DEEPEST || self.count > MOST {
            return Ok(Shown::Text(if object.is_array() { "[Array]" } else { "[Object]" }.into()));
        }
        if self.realm.state.is_stopped() {
            return Err(errors::unwind(self.ctx, self.realm));
        }
        if let Some(proxy) = object.as_proxy() {
            return match proxy.target() {
                Ok(target) => self.object(&target),
                // A revoked one has no target any more.
                Err(_) => {
                    self.ctx.catch();
                    Ok(Shown::Text("<Revoked Proxy>".to_owned()))
                }
            };
        }
        self.ancestors.push(object.as_value().clone());
        let shown = self.kind(object);
        self.ancestors.pop();
        shown
    }

    fn kind(&mut self, object: &Object<'js>) -> Result<Shown> {
        if let Some(array) = object.as_array() {
            return self.array(array);
        }
        if let Some(function) = object.as_function() {
            return self.function(function);
        }
        let Some(prototype) = object.get_prototype() else {
            return self.named(object, Some("[Object: null prototype]".to_owned()));
        };
        if prototype == self.realm.object {
            if let Some(text) = self.own_json(object)? {
                return Ok(text);
            }
            return self.named(object, None);
        }
        if let Some(held) = object.as_class::<Held>() {
            return match &*held.borrow() {
                Held::Bson(RawBson::RegularExpression(regex))
                    if self.realm.state.emulate == Emulate::Mongosh =>
                {
                    let [pattern, options] = [&regex.pattern, &regex.options]
                        .map(|text| print::mongosh::quoted(text.as_str()));
                    Ok(Shown::Text(format!("BSONRegExp({pattern}, {options})")))
                }
                Held::Bson(value) => Ok(match Bson::try_from(value.clone()) {
                    Ok(value) => Shown::Value(value),
                    Err(error) => Shown::Text(error.to_string()),
                }),
                Held::Database(name, _) => Ok(Shown::Text(name.to_string())),
                Held::Handle(handle) => self.handle(object, handle.class),
                Held::Origin(_) => Ok(Shown::Undefined),
            };
        }
        let class = self.realm.prototypes.iter().position(|known| *known == prototype);
        let class = class.map(|at| &shell::classes()[at]);
        if let Some(class) = class.filter(|class| class.kind != Kind::Extensions) {
            let name = if class.global.is_empty() { class.name } else { class.global };
            return match class.kind {
                Kind::Results | Kind::Errors => {
                    Ok(Shown::Result { name: name.to_owned(), fields: self.fields(object)? })
                }
                Kind::Instances | Kind::Functions | Kind::Extensions => {
                    self.named(object, Some(name.to_owned()))
                }
            };
        }
        if object.is_error() {
            return self.error(object);
        }
        if let Some(text) = self.own_json(object)? {
            return Ok(text);
        }
        let page: Value = self.realm.core("page")?.call((object.clone(), PAGE))?;
        if let Some(page) = page.as_array() {
            return self.array(page);
        }
        let kind: String = self.realm.core("kind")?.call((object.clone(),))?;
        match kind.as_str() {
            "Date" => self.date(object),
            "RegExp" => self.regexp(object),
            "Map" => {
                let pairs: Array = self.realm.core("pairs")?.call((object.clone(),))?;
                let mut shown = Vec::with_capacity(pairs.len() / 2);
                for at in (0..pairs.len()).step_by(2) {
                    shown.push((self.value(&pairs.get(at)?)?, self.value(&pairs.get(at + 1)?)?));
                }
                Ok(Shown::Map(shown))
            }
            "Set" => {
                let elements: Array = self.realm.core("elements")?.call((object.clone(),))?;
                let shown =
                    elements.iter().map(|element| self.value(&element?)).collect::<Result<_>>();
                Ok(Shown::Set(shown?))
            }
            "WeakMap" | "WeakSet" => Ok(Shown::Text(format!("{kind} {{ <items unknown> }}"))),
            "Boolean" | "Number" if self.realm.state.emulate == Emulate::Mongosh => {
                let text: Coerced<String> = object.as_value().get()?;
                Ok(Shown::Text(format!("[{kind}: {}]", text.0)))
            }
            "String" if self.realm.state.emulate == Emulate::Mongosh => {
                let text: Coerced<String> = object.as_value().get()?;
                Ok(Shown::Text(format!("[String: {}]", print::mongosh::quoted(&text.0))))
            }
            "Bytes" => {
                if let Some(own) = self.own_inspection(object)? {
                    return Ok(own);
                }
                let told: Array = self.realm.core("elementsOf")?.call((object.clone(),))?;
                let (name, elements): (String, Value) = (told.get(0)?, told.get(1)?);
                let Some(elements) = elements.as_array() else { return Ok(Shown::Text(name)) };
                let elements = elements.iter().map(|element| self.value(&element?));
                Ok(Shown::Typed { name, elements: elements.collect::<Result<_>>()? })
            }
            _ => {
                if let Some(own) = self.own_inspection(object)? {
                    return Ok(own);
                }
                let name: Option<String> = self.realm.core("className")?.call((object.clone(),))?;
                self.named(object, name)
            }
        }
    }

    fn array(&mut self, array: &Array<'js>) -> Result<Shown> {
        let origin = self.origin(array.as_object())?;
        let length: f64 = array.as_object().get(PredefinedAtom::Length)?;
        if length > MOST as f64 {
            return Ok(Shown::Text("[Array]".to_owned()));
        }
        let length = length as usize;
        let mut shown = Vec::with_capacity(length.min(1 << 16));
        for index in 0..length {
            if index % 1024 == 0 && self.realm.state.is_stopped() {
                return Err(errors::unwind(self.ctx, self.realm));
            }
            let element: Value = array.get(index)?;
            let hole = element.is_undefined() && !array.as_object().contains_key(index as u32)?;
            shown.push(if hole { Shown::Hole } else { self.value(&element)? });
        }
        Ok(Shown::Array(shown, origin))
    }

    fn function(&mut self, function: &Function<'js>) -> Result<Shown> {
        if let Some(place) = function.as_class::<Place>() {
            let place = place.borrow();
            return Ok(Shown::Text(format!("{}.{}", place.db, place.name)));
        }
        if function.as_class::<Row>().is_some_and(|row| {
            matches!(shell::classes()[row.borrow().class].name, "MinKey" | "MaxKey")
        }) && self.realm.state.emulate == Emulate::Mongo
        {
            // The bare global is the key itself in the classic shell.
            let key = convert::value(self.ctx, self.realm, function.as_value())?;
            return Ok(Bson::try_from(key).map_or(Shown::Undefined, Shown::Value));
        }
        let described: Array = self.realm.core("describe")?.call((function.clone(),))?;
        let (kind, name, source): (String, String, String) =
            (described.get(0)?, described.get(1)?, described.get(2)?);
        let kind = match kind.as_str() {
            "AsyncFunction" => FunctionKind::Async,
            "GeneratorFunction" => FunctionKind::Generator,
            "AsyncGeneratorFunction" => FunctionKind::AsyncGenerator,
            _ if source.starts_with("class") => FunctionKind::Class,
            _ => FunctionKind::Function,
        };
        Ok(Shown::Function { kind, name, source })
    }

    /// Something that the shell holds: the methods of its class say what it looks like. mongosh shows a cursor as a page
    /// of its documents.
    fn handle(&mut self, object: &Object<'js>, class: usize) -> Result<Shown> {
        let class = &shell::classes()[class];
        if self.realm.state.emulate == Emulate::Mongosh && class.method("__batch").is_some() {
            let batch: Function = object.get("__batch")?;
            let page: Array = batch.call((This(object.clone()), PAGE))?;
            return self.array(&page);
        }
        let has = |name: &str| {
            class.method(name).is_some_and(|method| method.shells.include(self.realm.state.emulate))
        };
        if self.realm.state.emulate == Emulate::Mongosh && has("toJSON") {
            let method: Function = object.get("toJSON")?;
            let told: Value = method.call((This(object.clone()),))?;
            return self.value(&told);
        }
        for name in ["tojson", "toString"] {
            if has(name) {
                let method: Function = object.get(name)?;
                let text: Coerced<String> = method.call((This(object.clone()),))?;
                return Ok(Shown::Text(text.0));
            }
        }
        self.named(object, Some(class.name.to_owned()))
    }

    fn error(&mut self, error: &Object<'js>) -> Result<Shown> {
        let text = error.as_value().get::<Coerced<String>>()?.0;
        let stack = thrown::stack(self.realm, error);
        let stack = thrown::frames(&self.realm.state.sources.borrow(), &stack);
        Ok(Shown::Error { text, stack: thrown::stack_text(&stack), fields: self.fields(error)? })
    }

    fn date(&self, date: &Object<'js>) -> Result<Shown> {
        let get_time: Function = self.realm.date_prototype.get("getTime")?;
        let millis: f64 = get_time.call((This(date.clone()),))?;
        Ok(if millis.is_nan() {
            Shown::InvalidDate
        } else {
            Shown::Value(Bson::DateTime(DateTime::from_millis(millis as i64)))
        })
    }

    fn regexp(&self, regexp: &Object<'js>) -> Result<Shown> {
        let pattern = convert::string(self.ctx, self.realm, &regexp.get("source")?)?;
        let flags = convert::string(self.ctx, self.realm, &regexp.get("flags")?)?;
        Ok(match (bson::raw::CString::try_from(pattern), bson::raw::CString::try_from(flags)) {
            (Ok(pattern), Ok(options)) => {
                Shown::Value(Bson::RegularExpression(Regex { pattern, options }))
            }
            _ => Shown::Text(regexp.as_value().get::<Coerced<String>>()?.0),
        })
    }

    /// What a `tojson` of the user's own says; only the classic shell asks for it.
    fn own_json(&mut self, object: &Object<'js>) -> Result<Option<Shown>> {
        if self.realm.state.emulate == Emulate::Mongosh {
            return Ok(None);
        }
        let method: Value = object.get("tojson")?;
        let Some(method) =
            method.into_function().filter(|method| method.as_class::<Row>().is_none())
        else {
            return Ok(None);
        };
        let indent = "\t".repeat(self.ancestors.len().saturating_sub(1));
        let text: Coerced<String> = method.call((This(object.clone()), indent))?;
        Ok(Some(Shown::Text(text.0)))
    }

    /// What a method under Node's symbol says that shows objects of a class.
    fn own_inspection(&mut self, object: &Object<'js>) -> Result<Option<Shown>> {
        let told: Array = self.realm.core("inspection")?.call((object.clone(),))?;
        let value: Value = told.get(0)?;
        if told.is_empty() || value == *object.as_value() {
            return Ok(None);
        }
        Ok(Some(match value.as_string() {
            Some(text) => Shown::Text(convert::string(self.ctx, self.realm, text.as_value())?),
            None => self.value(&value)?,
        }))
    }

    fn named(&mut self, object: &Object<'js>, name: Option<String>) -> Result<Shown> {
        let origin = self.origin(object)?;
        let fields = self.fields(object)?;
        Ok(Shown::Object(print::Object { name, fields, origin }))
    }

    fn origin(&self, object: &Object<'js>) -> Result<Origin> {
        let mark: Value = object.get(self.realm.origin.clone())?;
        Ok(if mark.is_undefined() { Origin::Script } else { Origin::Server })
    }

    fn fields(&mut self, object: &Object<'js>) -> Result<Vec<(String, Shown)>> {
        let inherited = self.realm.state.emulate == Emulate::Mongo;
        let fields: Array = self.realm.core("fields")?.call((object.clone(), inherited))?;
        let mut shown = Vec::with_capacity(fields.len() / 3);
        for at in (0..fields.len()).step_by(3) {
            let name: Value = fields.get(at)?;
            let name = match name.as_symbol() {
                Some(symbol) => {
                    let description: Option<String> = symbol.description()?.get()?;
                    format!("Symbol({})", description.unwrap_or_default())
                }
                None => convert::string(self.ctx, self.realm, &name)?,
            };
            let accessor: u32 = fields.get(at + 1)?;
            let value = if accessor == 0 {
                self.value(&fields.get(at + 2)?)?
            } else {
                Shown::Accessor { get: accessor & 1 != 0, set: accessor & 2 != 0 }
            };
            shown.push((name, value));
        }
        if let Some(order) = convert::order(object, self.realm)? {
            shown.sort_by_key(|(name, _)| order.get(name).copied().unwrap_or(usize::MAX));
        }
        Ok(shown)
    }
}

/// `util.inspect(value, options)`, the options taken apart.
pub(super) fn inspect<'js>(
    ctx: Ctx<'js>,
    value: Value<'js>,
    options: Object<'js>,
) -> Result<String> {
    let realm = realm(&ctx);
    let limit = |name: &str| -> Result<Option<usize>> {
        let number: Option<f64> = options.get(name)?;
        Ok(number.filter(|number| number.is_finite()).map(|number| number.max(0.0) as usize))
    };
    let options = Options {
        depth: limit("depth")?,
        elements: limit("maxArrayLength")?,
        string: limit("maxStringLength")?,
        compact: options.get("compact")?,
        sorted: options.get("sorted")?,
        bare_dates: true,
        width: limit("breakLength")?,
        paint: if options.get("colors")? { print::Paint::Terminal } else { print::Paint::Plain },
        ..Options::SCRIPT
    };
    let shown =
        Viewer { ctx: &ctx, realm: &realm, ancestors: Vec::new(), count: 0 }.value(&value)?;
    Ok(print::mongosh::inspect(&shown, options))
}

/// What `print` writes for one value.
pub(super) fn shown<'js>(ctx: Ctx<'js>, value: Value<'js>) -> Result<String> {
    let realm = realm(&ctx);
    Ok(realm.state.style().argument(&argument(&ctx, &realm, &value)?, &Options::SCRIPT))
}

/// Whether a value stands for documents that come one after another.
fn is_cursor(value: &Value<'_>) -> bool {
    let Some(held) = value.as_object().and_then(|object| object.as_class::<Held>()) else {
        return false;
    };
    match &*held.borrow() {
        Held::Handle(handle) => shell::classes()[handle.class].method("__batch").is_some(),
        Held::Bson(_) | Held::Database(..) | Held::Origin(_) => false,
    }
}

/// Runs one of the functions that show any value.
pub(super) fn call<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    show: Show,
    arguments: &[Value<'js>],
) -> Result<Value<'js>> {
    let (style, data) = (realm.state.style(), realm.state.data());
    let options = match realm.state.shell.try_borrow() {
        Ok(shell) => Options::SCRIPT.set(shell.inspection),
        Err(_) => Options::SCRIPT,
    };
    let undefined = Value::new_undefined(ctx.clone());
    let argument_at = |index: usize| arguments.get(index).unwrap_or(&undefined);
    let first = argument_at(0);
    match show {
        Show::Print => {
            let mut texts = Vec::with_capacity(arguments.len());
            for argument in arguments {
                look_at(realm, argument);
                texts.push(match data {
                    Some(data) => datum::argument(ctx, realm, data, argument)?,
                    // mongosh shows a cursor's documents whole.
                    None if realm.state.emulate == Emulate::Mongosh && is_cursor(argument) => {
                        style.argument(&self::argument(ctx, realm, argument)?, &options.whole())
                    }
                    None => style.argument(&self::argument(ctx, realm, argument)?, &options),
                });
            }
            line(ctx, realm, &texts.join(" "))
        }
        Show::PrintJson | Show::PrintJsonOneLine => {
            look_at(realm, first);
            let text = match (show, data) {
                (Show::PrintJson, Some(data)) => datum::json(ctx, realm, data, first)?,
                (_, Some(_)) => datum::json(ctx, realm, Data::Lines, first)?,
                (Show::PrintJson, None) if realm.state.emulate == Emulate::Mongosh => {
                    // mongosh prints them all.
                    let given =
                        if arguments.is_empty() { std::slice::from_ref(first) } else { arguments };
                    let texts = given
                        .iter()
                        .map(|given| Ok(style.json(&value(ctx, realm, given)?, &options)))
                        .collect::<Result<Vec<_>>>()?;
                    texts.join(" ")
                }
                (Show::PrintJson, None) => style.json(&value(ctx, realm, first)?, &options),
                (_, None) => mongo::tojson(&value(ctx, realm, first)?, " ", Some(true)),
            };
            line(ctx, realm, &text)
        }
        Show::ToJson => {
            let indent = argument_at(1).as_string().map_or(Ok(String::new()), |indent| {
                convert::string(ctx, realm, indent.as_value())
            })?;
            let nolint = argument_at(2);
            let nolint = match nolint.is_null() || nolint.is_undefined() {
                true => None,
                false => Some(nolint.get::<Coerced<bool>>()?.0),
            };
            text(ctx, &mongo::tojson(&value(ctx, realm, first)?, &indent, nolint))
        }
        Show::ToJsonOneLine => {
            text(ctx, &mongo::tojson(&value(ctx, realm, first)?, " ", Some(true)))
        }
    }
}

fn text<'js>(ctx: &Ctx<'js>, text: &str) -> Result<Value<'js>> {
    Ok(rquickjs::String::from_str(ctx.clone(), text)?.into_value())
}

fn line<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, text: &str) -> Result<Value<'js>> {
    let written = match realm.state.shell.try_borrow() {
        Ok(shell) => shell.output.line(text),
        Err(_) => Ok(()),
    };
    match written {
        Ok(()) => Ok(Value::new_undefined(ctx.clone())),
        Err(error) => Err(errors::throw(ctx, realm, error)),
    }
}
