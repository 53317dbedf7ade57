//! From BSON to JavaScript, once, from the raw bytes.

use bson::{DateTime, RawBson, RawBsonRef, RawDocument};
use rquickjs::object::Property;
use rquickjs::{Array, Atom, Class, Ctx, Object, Value};

use super::DEPTH;
use super::names::Names;
use crate::script::errors;
use crate::script::native::Held;
use crate::script::realm::Realm;
use crate::shell::Emulate;

type Result<T> = rquickjs::Result<T>;

/// How deep a reply may nest before it is refused: deeper than any server stores, shallow enough for the stack.
const REPLY_DEPTH: usize = 5 * DEPTH;

/// What a JavaScript number is stored as.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::script) enum Numbers {
    /// Always a double: the classic shell.
    Double,
    /// An int32 when it is one: mongosh.
    Integer,
}

impl Numbers {
    /// The rule of an emulated shell.
    pub(in crate::script) fn of(emulate: Emulate) -> Self {
        match emulate {
            Emulate::Mongo => Self::Double,
            Emulate::Mongosh => Self::Integer,
        }
    }

    /// Whether a number that was read would be stored as another type, or a symbol as a string.
    fn forget(self, value: RawBsonRef<'_>) -> bool {
        match value {
            RawBsonRef::Int32(_) => self == Self::Double,
            RawBsonRef::Int64(_) | RawBsonRef::Symbol(_) => true,
            RawBsonRef::Double(number) => {
                self == Self::Integer && f64::from(number as i32).to_bits() == number.to_bits()
            }
            _ => false,
        }
    }
}

/// Whether JavaScript would put a field of this name in front of all others.
pub(super) fn is_index(name: &str) -> bool {
    let bytes = name.as_bytes();
    match bytes.first() {
        Some(b'0') => bytes.len() == 1,
        Some(b'1'..=b'9') => bytes.len() <= 10 && bytes.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Turns BSON into JavaScript values. One for a batch of documents: it remembers their field names.
pub(in crate::script) struct Decoder<'a, 'js> {
    ctx: &'a Ctx<'js>,
    realm: &'a Realm<'js>,
    numbers: Numbers,
    /// The values come from the server, so that they remember their number types.
    served: bool,
    /// Numbers are objects of their classes at every depth.
    exact: bool,
    names: Names<Box<str>, Atom<'js>>,
    /// The prototypes of the classes that were needed so far.
    prototypes: Vec<(&'static str, Object<'js>)>,
    depth: usize,
}

impl<'a, 'js> Decoder<'a, 'js> {
    /// For values that the shell built itself.
    pub(in crate::script) fn built(ctx: &'a Ctx<'js>, realm: &'a Realm<'js>) -> Self {
        let numbers = Numbers::of(realm.state.emulate);
        Self {
            ctx,
            realm,
            numbers,
            served: false,
            exact: false,
            names: Names::new(),
            prototypes: Vec::new(),
            depth: 0,
        }
    }

    /// For values that came from the server.
    pub(in crate::script) fn served(ctx: &'a Ctx<'js>, realm: &'a Realm<'js>) -> Self {
        Self { served: true, ..Self::built(ctx, realm) }
    }

    /// A value: numbers are numbers, documents are objects.
    pub(in crate::script) fn value(&mut self, value: RawBsonRef<'_>) -> Result<Value<'js>> {
        let ctx = self.ctx;
        Ok(match value {
            RawBsonRef::Double(_) | RawBsonRef::Int32(_) if self.exact => {
                self.typed(&RawBson::from(value))?
            }
            RawBsonRef::Double(number) => number_value(ctx, number),
            RawBsonRef::Int32(number) => Value::new_int(ctx.clone(), number),
            RawBsonRef::String(text) | RawBsonRef::Symbol(text) => {
                rquickjs::String::from_str(ctx.clone(), text)?.into_value()
            }
            RawBsonRef::Boolean(value) => Value::new_bool(ctx.clone(), value),
            RawBsonRef::Null => Value::new_null(ctx.clone()),
            RawBsonRef::Undefined => Value::new_undefined(ctx.clone()),
            RawBsonRef::DateTime(date) => {
                self.realm.date.construct::<_, Value>((date_millis(date),))?
            }
            RawBsonRef::Document(document) => self.nested(document)?.into_value(),
            RawBsonRef::Array(array) => {
                let object = Array::new(ctx.clone())?;
                self.enter()?;
                let mut forgetful = false;
                for (index, element) in array.into_iter().enumerate() {
                    let Ok(element) = element else { break };
                    forgetful |= self.served && self.numbers.forget(element);
                    object.set(index, self.value(element)?)?;
                }
                self.depth -= 1;
                self.mark(object.as_object(), array.as_bytes(), forgetful)?;
                object.into_value()
            }
            RawBsonRef::RegularExpression(regex) => self.regex(regex)?,
            other => self.typed(&RawBson::from(other))?,
        })
    }

    /// A scalar as an object of its class: `NumberInt(1)` is one, `1` is a number. So are those of a document.
    pub(in crate::script) fn typed(&mut self, value: &RawBson) -> Result<Value<'js>> {
        let class = match value {
            RawBson::Double(_) => "Double",
            RawBson::Int32(_) => "NumberInt",
            RawBson::Int64(_) => "NumberLong",
            RawBson::Decimal128(_) => "NumberDecimal",
            RawBson::ObjectId(_) => "ObjectId",
            RawBson::Timestamp(_) => "Timestamp",
            RawBson::Binary(_) => "BinData",
            RawBson::JavaScriptCode(_) | RawBson::JavaScriptCodeWithScope(_) => "Code",
            RawBson::DbPointer(_) => "DBPointer",
            RawBson::MinKey => "MinKey",
            RawBson::MaxKey => "MaxKey",
            RawBson::Symbol(_) => "BSONSymbol",
            RawBson::RegularExpression(_) => "BSONRegExp",
            RawBson::Array(_) | RawBson::Document(_) => {
                let before = std::mem::replace(&mut self.exact, true);
                let typed = self.value(value.as_raw_bson_ref());
                self.exact = before;
                return typed;
            }
            RawBson::String(_)
            | RawBson::Boolean(_)
            | RawBson::Null
            | RawBson::Undefined
            | RawBson::DateTime(_) => return self.value(value.as_raw_bson_ref()),
        };
        let prototype = self.prototype(class);
        Ok(Class::instance_proto(Held::Bson(value.clone()), prototype)?.into_inner().into_value())
    }

    fn prototype(&mut self, class: &'static str) -> Object<'js> {
        if let Some((_, prototype)) = self.prototypes.iter().find(|(known, _)| *known == class) {
            return prototype.clone();
        }
        let prototype = self.realm.prototype(class);
        self.prototypes.push((class, prototype.clone()));
        prototype
    }

    /// A regular expression; one that JavaScript has no words for stays what it is.
    fn regex(&mut self, regex: bson::RawRegexRef<'_>) -> Result<Value<'js>> {
        let (pattern, options) = (regex.pattern.as_str(), regex.options.as_str());
        if options.chars().all(|option| "ims".contains(option)) {
            match self.realm.regexp.construct::<_, Value>((pattern, options)) {
                Err(rquickjs::Error::Exception) if !self.realm.state.is_stopped() => {
                    self.ctx.catch();
                }
                regexp => return regexp,
            }
        }
        self.typed(&RawBson::from(RawBsonRef::RegularExpression(regex)))
    }

    /// A document below another one: in the classic shell, a reference is an object of its own class.
    fn nested(&mut self, document: &RawDocument) -> Result<Object<'js>> {
        let object = self.document(document)?;
        if self.served && is_reference(document) {
            object.set_prototype(Some(&self.realm.prototype("DBRef")))?;
        }
        Ok(object)
    }

    /// A document as an object.
    pub(in crate::script) fn document(&mut self, document: &RawDocument) -> Result<Object<'js>> {
        let object = Object::new(self.ctx.clone())?;
        self.fields(document, &object)?;
        Ok(object)
    }

    /// Gives `object` the fields of a document.
    pub(in crate::script) fn fields(
        &mut self,
        document: &RawDocument,
        object: &Object<'js>,
    ) -> Result<()> {
        self.enter()?;
        let mut forgetful = false;
        for element in document.iter_elements() {
            let Ok(element) = element else { break };
            let key = element.key().as_str();
            let name = self.name(key)?;
            let value = match element.value() {
                Ok(value) => {
                    forgetful |= self.served && self.numbers.forget(value);
                    self.value(value)?
                }
                // Text that is no UTF-8 was stored by some other program: shown as well as it can be.
                Err(_) => match element.value_utf8_lossy() {
                    Ok(value) => self.value(value.as_raw_bson_ref())?,
                    Err(_) => break,
                },
            };
            forgetful |= self.served && is_index(key);
            if key == "__proto__" {
                let field = Property::from(value).writable().configurable().enumerable();
                object.prop(name, field)?;
            } else {
                object.set(name, value)?;
            }
        }
        self.depth -= 1;
        self.mark(object, document.as_bytes(), forgetful)
    }

    /// Lets a served object remember what it was, where JavaScript would forget it.
    fn mark(&self, object: &Object<'js>, bytes: &[u8], forgetful: bool) -> Result<()> {
        if forgetful {
            let document = RawDocument::from_bytes(bytes).map(ToOwned::to_owned);
            let held = Held::Origin(document.ok());
            let origin = Class::instance_proto(held, self.realm.object.clone())?;
            object.prop(self.realm.origin.clone(), Property::from(origin))
        } else if self.served && self.realm.state.emulate == Emulate::Mongosh {
            object.prop(self.realm.origin.clone(), Property::from(self.realm.served.clone()))
        } else {
            Ok(())
        }
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > REPLY_DEPTH {
            return Err(errors::type_error(self.ctx, self.realm, "the reply nests too deeply"));
        }
        Ok(())
    }

    /// The atom of a field name.
    fn name(&mut self, key: &str) -> Result<Atom<'js>> {
        if let Some(known) = self.names.get(|name| **name == *key) {
            return Ok(known);
        }
        let atom = Atom::from_str(self.ctx.clone(), key)?;
        self.names.add(key.into(), atom.clone());
        Ok(atom)
    }
}

/// Whether the first two fields are those of a reference to another document.
fn is_reference(document: &RawDocument) -> bool {
    let mut elements = document.iter_elements().filter_map(|element| element.ok());
    elements.next().is_some_and(|first| {
        first.key() == "$ref" && first.value().is_ok_and(|value| value.as_str().is_some())
    }) && elements.next().is_some_and(|second| second.key() == "$id")
}

/// A number. -0 stays -0, which QuickJS's integers do not have.
fn number_value<'js>(ctx: &Ctx<'js>, number: f64) -> Value<'js> {
    if number == 0.0 && number.is_sign_negative() {
        Value::new_float(ctx.clone(), number)
    } else {
        Value::new_number(ctx.clone(), number)
    }
}

/// Milliseconds of a date that JavaScript knows; beyond them a date is invalid.
fn date_millis(date: DateTime) -> f64 {
    const LIMIT: i64 = 8_640_000_000_000_000;
    let millis = date.timestamp_millis();
    if (-LIMIT..=LIMIT).contains(&millis) { millis as f64 } else { f64::NAN }
}
