//! From JavaScript to BSON.
//!
//! Values become bytes in one pass. A number takes the type its emulated shell gives it, unless the object was read from
//! a server and the field held another number type there ([`Origin`]).

use std::collections::HashMap;
use std::rc::Rc;

use bson::spec::{BinarySubtype, ElementType};
use bson::{Binary, RawBson, RawBsonRef, RawDocumentBuf};
use rquickjs::atom::PredefinedAtom;
use rquickjs::function::This;
use rquickjs::object::Filter;
use rquickjs::{Array, Atom, Coerced, Ctx, Function, Object, Value};

use super::bytes::Bytes;
use super::names::Names;
use super::{DEPTH, Numbers};
use crate::error::{Code, Error};
use crate::script::native::{Held, Place, Row};
use crate::script::realm::Realm;
use crate::script::{errors, jobs};
use crate::shell::{self, Emulate};

type Result<T> = rquickjs::Result<T>;

/// The most elements of an array: even empty ones of so many are longer than a document and than a command may be.
const MOST: f64 = 16_777_216.0;

/// After how many elements a conversion asks whether it was interrupted.
const TICK: usize = 1024;

/// A JavaScript value as BSON.
pub(in crate::script) fn value<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    value: &Value<'js>,
) -> Result<RawBson> {
    // Scalars, the most frequent arguments, without a detour through bytes.
    if let Some(text) = value.as_string() {
        return Ok(RawBson::String(string(ctx, realm, text.as_value())?));
    }
    if value.is_undefined() {
        return Ok(RawBson::Undefined);
    }
    if value.is_null() {
        return Ok(RawBson::Null);
    }
    if let Some(value) = value.as_bool() {
        return Ok(RawBson::Boolean(value));
    }
    if let Some(number) = value.as_number() {
        return Ok(Numbers::of(realm.state.emulate).bson(number));
    }
    let mut encoder = Encoder::new(ctx, realm);
    let open = encoder.bytes.open();
    if !encoder.element(Name::Field(""), value, None)? {
        return Ok(RawBson::Undefined);
    }
    encoder.bytes.close(open);
    Ok(encoder.bytes.finish_value())
}

/// An object's own fields as a document.
pub(in crate::script) fn document<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    object: &Object<'js>,
) -> Result<RawDocumentBuf> {
    let mut encoder = Encoder::new(ctx, realm);
    encoder.fields(object)?;
    Ok(encoder.bytes.finish())
}

/// A JavaScript string as UTF-8. Half a surrogate pair becomes U+FFFD, as the shells write it.
pub(in crate::script) fn string<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    text: &Value<'js>,
) -> Result<String> {
    let text =
        text.as_string().ok_or_else(|| errors::type_error(ctx, realm, "expected a string"))?;
    match text.to_string() {
        Ok(text) => Ok(text),
        Err(rquickjs::Error::Utf8(_)) => {
            let whole: rquickjs::String = realm.core("wellFormed")?.call((text.clone(),))?;
            whole.to_string()
        }
        Err(error) => Err(error),
    }
}

/// What an element is called.
#[derive(Clone, Copy)]
enum Name<'a> {
    Field(&'a str),
    Index(usize),
}

/// What a document looked like when it was read.
struct Origin {
    document: RawDocumentBuf,
    /// Field names and where they stood, when some name looks like an array index: JavaScript moves those to the front.
    order: Option<HashMap<String, usize>>,
}

impl Origin {
    /// The value of a field then.
    fn field<'a>(&'a self, near: &mut Near<'a>, name: &str) -> Option<RawBsonRef<'a>> {
        // Fields come in the order they had, nearly always: look on from the last one, and from the front once.
        for fresh in [false, true] {
            if fresh {
                *near = Near { rest: self.document.iter_elements() };
            }
            for element in near.rest.by_ref() {
                let Ok(element) = element else { break };
                if element.key() == name {
                    return element.value().ok();
                }
            }
        }
        None
    }
}

/// Where the last field was found in an [`Origin`].
struct Near<'a> {
    rest: bson::raw::RawIter<'a>,
}

struct Encoder<'a, 'js> {
    ctx: &'a Ctx<'js>,
    realm: &'a Realm<'js>,
    numbers: Numbers,
    bytes: Bytes,
    /// The objects that are being written, outermost first.
    ancestors: Vec<Value<'js>>,
    names: Names<Atom<'js>, Rc<str>>,
}

impl<'a, 'js> Encoder<'a, 'js> {
    fn new(ctx: &'a Ctx<'js>, realm: &'a Realm<'js>) -> Self {
        let numbers = Numbers::of(realm.state.emulate);
        let bytes = Bytes::new();
        Self { ctx, realm, numbers, bytes, ancestors: Vec::new(), names: Names::new() }
    }

    fn start(&mut self, element: ElementType, name: Name<'_>) {
        match name {
            Name::Field(name) => self.bytes.element(element, name),
            Name::Index(index) => self.bytes.indexed(element, index),
        }
    }

    fn scalar(&mut self, name: Name<'_>, value: &RawBson) {
        self.start(value.element_type(), name);
        self.bytes.raw(value);
    }

    /// Writes one element; `false` when the value has no place in a document (a symbol is left out).
    fn element(
        &mut self,
        name: Name<'_>,
        value: &Value<'js>,
        before: Option<RawBsonRef<'_>>,
    ) -> Result<bool> {
        if let Some(number) = value.as_number() {
            let number = self.numbers.bson_like(number, before);
            self.scalar(name, &number);
        } else if value.is_string() {
            let text = string(self.ctx, self.realm, value)?;
            let symbol = matches!(before, Some(RawBsonRef::Symbol(symbol)) if symbol == text);
            let kind = if symbol { ElementType::Symbol } else { ElementType::String };
            self.start(kind, name);
            self.bytes.string(&text);
        } else if let Some(value) = value.as_bool() {
            self.start(ElementType::Boolean, name);
            self.bytes.boolean(value);
        } else if value.is_null() {
            self.start(ElementType::Null, name);
        } else if value.is_undefined() {
            self.start(self.undefined(), name);
        } else if value.is_big_int() {
            let number: i64 =
                value.clone().into_big_int().map_or(Ok(0), rquickjs::BigInt::to_i64)?;
            self.start(ElementType::Int64, name);
            self.bytes.int64(number);
        } else if let Some(object) = value.as_object() {
            self.object(name, object)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    /// What `undefined` is stored as.
    fn undefined(&self) -> ElementType {
        match self.realm.state.emulate {
            Emulate::Mongo => ElementType::Undefined,
            Emulate::Mongosh => ElementType::Null,
        }
    }

    fn object(&mut self, name: Name<'_>, object: &Object<'js>) -> Result<()> {
        if let Some(array) = object.as_array() {
            self.start(ElementType::Array, name);
            return self.array(array);
        }
        if let Some(function) = object.as_function() {
            return self.function(name, function);
        }
        let Some(prototype) = object.get_prototype() else {
            self.start(ElementType::EmbeddedDocument, name);
            return self.fields(object);
        };
        if prototype == self.realm.object {
            self.start(ElementType::EmbeddedDocument, name);
            return self.fields(object);
        }
        if prototype == self.realm.date_prototype {
            return self.date(name, object);
        }
        if let Some(class) = object.as_class::<Held>() {
            return match &*class.borrow() {
                Held::Bson(value) => {
                    self.scalar(name, value);
                    Ok(())
                }
                Held::Database(database, _) => {
                    Err(self.refuse(name, &format!("the database {database}")))
                }
                Held::Handle(handle) => {
                    let class = &shell::classes()[handle.class];
                    Err(self.refuse(name, &format!("a {}", class.name)))
                }
                Held::Origin(_) => Err(self.refuse(name, "a mark of the shell's own")),
            };
        }
        self.uncommon(name, object)
    }

    /// Objects of other prototypes: subclasses, maps, buffers, promises, the user's own classes.
    fn uncommon(&mut self, name: Name<'_>, object: &Object<'js>) -> Result<()> {
        if let Some(promise) = object.as_promise() {
            // A value in a document may be the result of an `async` function: the shells wait for it untold.
            let settled = jobs::wait(self.ctx, self.realm, promise)?;
            self.element(name, &settled, None)?;
            return Ok(());
        }
        let kind: String = self.realm.core("kind")?.call((object.clone(),))?;
        match kind.as_str() {
            "Date" => self.date(name, object),
            "RegExp" => self.regexp(name, object),
            "Bytes" => {
                let text: String = self.realm.core("bytes")?.call((object.clone(),))?;
                let bytes = text.chars().map(|character| character as u32 as u8).collect();
                let binary = Binary { subtype: BinarySubtype::Generic, bytes };
                self.scalar(name, &RawBson::Binary(binary));
                Ok(())
            }
            "Map" => {
                let object: Object = self.realm.core("fromMap")?.call((object.clone(),))?;
                self.start(ElementType::EmbeddedDocument, name);
                self.fields(&object)
            }
            _ => {
                self.start(ElementType::EmbeddedDocument, name);
                self.fields(object)
            }
        }
    }

    fn date(&mut self, name: Name<'_>, date: &Object<'js>) -> Result<()> {
        let millis: f64 = self.realm.get_time.call((This(date.clone()),))?;
        self.start(ElementType::DateTime, name);
        // An invalid date is NaN, which both shells store as 1970.
        self.bytes.int64(millis as i64);
        Ok(())
    }

    fn regexp(&mut self, name: Name<'_>, regexp: &Object<'js>) -> Result<()> {
        let pattern = string(self.ctx, self.realm, &regexp.get("source")?)?;
        let flags = string(self.ctx, self.realm, &regexp.get("flags")?)?;
        // An empty pattern's source is `(?:)`.
        let pattern = if pattern == "(?:)" { "" } else { &pattern };
        if pattern.contains('\0') {
            return Err(errors::type_error(
                self.ctx,
                self.realm,
                "a regular expression with a null byte cannot be stored",
            ));
        }
        let options: String = "imsx".chars().filter(|flag| flags.contains(*flag)).collect();
        self.start(ElementType::RegularExpression, name);
        self.bytes.regex(pattern, &options);
        Ok(())
    }

    fn function(&mut self, name: Name<'_>, function: &Function<'js>) -> Result<()> {
        if let Some(row) = function.as_class::<Row>() {
            // The bare global `MinKey` is the key itself.
            match shell::classes()[row.borrow().class].name {
                "MinKey" => {
                    self.start(ElementType::MinKey, name);
                    return Ok(());
                }
                "MaxKey" => {
                    self.start(ElementType::MaxKey, name);
                    return Ok(());
                }
                _ => {}
            }
        } else if let Some(place) = function.as_class::<Place>() {
            let place = place.borrow();
            return Err(self.refuse(name, &format!("the collection {}.{}", place.db, place.name)));
        }
        let source: Coerced<String> = function.as_value().get()?;
        self.start(ElementType::JavaScriptCode, name);
        self.bytes.string(&source.0);
        Ok(())
    }

    fn refuse(&self, name: Name<'_>, what: &str) -> rquickjs::Error {
        let place = match name {
            Name::Field("") => String::new(),
            Name::Field(name) => format!(" in field \"{name}\""),
            Name::Index(index) => format!(" at index {index}"),
        };
        errors::type_error(
            self.ctx,
            self.realm,
            &format!("{what} is no value that can be stored{place}"),
        )
    }

    fn enter(&mut self, object: &Object<'js>) -> Result<()> {
        if self.ancestors.len() < DEPTH {
            self.ancestors.push(object.as_value().clone());
            return Ok(());
        }
        let value = object.as_value();
        if self.ancestors.contains(value) {
            let text = "cannot convert a circular structure to BSON";
            return Err(errors::type_error(self.ctx, self.realm, text));
        }
        let text = format!("BSONObj exceeds maximum nested object depth: {DEPTH}");
        Err(errors::throw(self.ctx, self.realm, Error::command(Code::OVERFLOW, text)))
    }

    fn array(&mut self, array: &Array<'js>) -> Result<()> {
        self.enter(array.as_object())?;
        let origin = self.origin(array.as_object())?;
        let mut near = origin.as_ref().map(|origin| Near { rest: origin.document.iter_elements() });
        let open = self.bytes.open();
        // The length is asked again each time: an element's getter may change it.
        let mut index = 0;
        while index < self.length(array)? {
            if index % TICK == 0 && self.realm.state.is_stopped() {
                return Err(errors::unwind(self.ctx, self.realm));
            }
            let value: Value = array.get(index)?;
            let before = match (&origin, &mut near) {
                (Some(origin), Some(near)) if value.is_number() => {
                    origin.field(near, &index.to_string())
                }
                _ => None,
            };
            if !self.element(Name::Index(index), &value, before)? {
                self.start(self.undefined(), Name::Index(index));
            }
            index += 1;
        }
        self.bytes.close(open);
        self.ancestors.pop();
        Ok(())
    }

    /// How many elements an array has. One of holes alone may be longer than any document can hold.
    fn length(&self, array: &Array<'js>) -> Result<usize> {
        let length: f64 = array.as_object().get(PredefinedAtom::Length)?;
        if length > MOST {
            let text = format!("an array of {length} elements does not fit into a document");
            return Err(errors::throw(
                self.ctx,
                self.realm,
                Error::command(Code::BSON_OBJECT_TOO_LARGE, text),
            ));
        }
        Ok(length as usize)
    }

    fn fields(&mut self, object: &Object<'js>) -> Result<()> {
        self.enter(object)?;
        let origin = self.origin(object)?;
        let mut near = origin.as_ref().map(|origin| Near { rest: origin.document.iter_elements() });
        let open = self.bytes.open();
        let filter = Filter::new().string().enum_only();
        if let Some(order) = origin.as_ref().and_then(|origin| origin.order.as_ref()) {
            let mut names = Vec::new();
            for name in object.own_keys::<Atom>(filter) {
                let name = name?;
                let text = self.name(&name)?;
                names.push((name, text));
            }
            names.sort_by_key(|(_, text)| order.get(&**text).copied().unwrap_or(usize::MAX));
            for (name, text) in names {
                self.field(object, name, &text, origin.as_ref(), near.as_mut())?;
            }
        } else {
            for name in object.own_keys::<Atom>(filter) {
                let name = name?;
                let text = self.name(&name)?;
                self.field(object, name, &text, origin.as_ref(), near.as_mut())?;
            }
        }
        self.bytes.close(open);
        self.ancestors.pop();
        Ok(())
    }

    /// The text of a field's name.
    fn name(&mut self, atom: &Atom<'js>) -> Result<Rc<str>> {
        if let Some(known) = self.names.get(|name| name == atom) {
            return Ok(known);
        }
        let text = string(self.ctx, self.realm, atom.to_js_string()?.as_value())?;
        if text.contains('\0') {
            let text = format!("the field name {text:?} must not contain a null byte");
            return Err(errors::type_error(self.ctx, self.realm, &text));
        }
        let text: Rc<str> = text.into();
        self.names.add(atom.clone(), Rc::clone(&text));
        Ok(text)
    }

    fn field<'o>(
        &mut self,
        object: &Object<'js>,
        name: Atom<'js>,
        text: &str,
        origin: Option<&'o Origin>,
        near: Option<&mut Near<'o>>,
    ) -> Result<()> {
        let value: Value = object.get(name)?;
        let before = match (origin, near) {
            (Some(origin), Some(near)) if value.is_number() => origin.field(near, text),
            _ => None,
        };
        self.element(Name::Field(text), &value, before)?;
        Ok(())
    }

    /// What `object` looked like when it was read, if that matters.
    fn origin(&self, object: &Object<'js>) -> Result<Option<Origin>> {
        origin(object, self.realm)
    }
}

fn origin<'js>(object: &Object<'js>, realm: &Realm<'js>) -> Result<Option<Origin>> {
    let mark: Value = object.get(realm.origin.clone())?;
    let Some(class) = mark.as_object().and_then(|object| object.as_class::<Held>()) else {
        return Ok(None);
    };
    let Held::Origin(Some(document)) = &*class.borrow() else { return Ok(None) };
    let names = || document.iter_elements().filter_map(|element| element.ok());
    let moved =
        !object.is_array() && names().any(|element| super::to_js::is_index(element.key().as_str()));
    let order = moved.then(|| {
        names().enumerate().map(|(at, element)| (element.key().as_str().to_owned(), at)).collect()
    });
    Ok(Some(Origin { document: document.clone(), order }))
}

/// Where the fields of a served object stood, when JavaScript keeps them in another order.
pub(in crate::script) fn order<'js>(
    object: &Object<'js>,
    realm: &Realm<'js>,
) -> Result<Option<HashMap<String, usize>>> {
    Ok(origin(object, realm)?.and_then(|origin| origin.order))
}

impl Numbers {
    /// A JavaScript number as BSON.
    fn bson(self, number: f64) -> RawBson {
        match self {
            Self::Double => RawBson::Double(number),
            Self::Integer => match int32(number) {
                Some(integer) => RawBson::Int32(integer),
                None => RawBson::Double(number),
            },
        }
    }

    /// A JavaScript number as BSON, in the place of a value that was read before.
    fn bson_like(self, number: f64, before: Option<RawBsonRef<'_>>) -> RawBson {
        match before {
            Some(RawBsonRef::Int32(_)) => {
                int32(number).map_or_else(|| self.bson(number), RawBson::Int32)
            }
            Some(RawBsonRef::Int64(_)) => {
                int64(number).map_or_else(|| self.bson(number), RawBson::Int64)
            }
            Some(RawBsonRef::Double(before)) if before.to_bits() == number.to_bits() => {
                RawBson::Double(number)
            }
            _ => self.bson(number),
        }
    }
}

/// The int32 of the same value; -0 has none.
fn int32(number: f64) -> Option<i32> {
    let integer = number as i32;
    (f64::from(integer).to_bits() == number.to_bits()).then_some(integer)
}

/// The int64 of the same value, where a double is exact.
fn int64(number: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let integer = number as i64;
    (number.abs() <= EXACT && (integer as f64).to_bits() == number.to_bits()).then_some(integer)
}
