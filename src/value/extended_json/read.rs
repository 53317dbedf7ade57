//! From extended JSON text to BSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::oid::ObjectId;
use bson::raw::CString;
use bson::spec::BinarySubtype;
use bson::{
    Binary, DateTime, RawArrayBuf, RawBson, RawDocumentBuf, RawJavaScriptCodeWithScope, Regex,
    Timestamp,
};
use serde_json::{Map, Number, Value};

use super::{Form, Refusal, quoted};
use crate::value::decimal::Decimal;
use crate::value::iso_date::{self, Fields};
use crate::value::pointer;

/// How deep a text may nest: what a server stores, and the objects that tell types in it.
const DEEPEST: usize = 250;

/// The whole numbers below it are all exact in a double.
const EXACT: u64 = 1 << 53;

type Result<T> = std::result::Result<T, Refusal>;

/// The BSON that a text of extended JSON tells.
///
/// # Errors
/// With a position for a text that is no JSON; with a path for an object that begins like one of extended JSON's and is
/// none, such as `{"$oid": "12"}`.
pub fn parse(text: &str, form: Form) -> Result<RawBson> {
    read(&json(text)?, form)
}

/// The BSON that parsed extended JSON tells.
///
/// # Errors
/// As [`parse`], without positions.
pub fn read(json: &Value, form: Form) -> Result<RawBson> {
    Reader { form, interprets: true, depth: 0 }.value(json)
}

/// A text of JSON as it stands: `{"$oid": "..."}` is a document. A whole number that no double holds exactly becomes
/// what extended JSON writes for it, `{"$numberLong": "..."}`.
///
/// # Errors
/// For a text that is no JSON.
pub fn plain(text: &str) -> Result<RawBson> {
    Reader { form: Form::Relaxed, interprets: false, depth: 0 }.value(&json(text)?)
}

/// A text of JSON as a tree.
fn json(text: &str) -> Result<Value> {
    // The parser calls itself at every bracket.
    let mut depth = 0_usize;
    let mut bytes = text.bytes();
    let mut quoted = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if quoted => drop(bytes.next()),
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            return Err(too_deep());
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.disable_recursion_limit();
    let mut values = deserializer.into_iter::<Value>();
    let refused = |error: serde_json::Error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        Refusal { position: Some((error.line(), error.column())), ..Refusal::new(message) }
    };
    match (values.next(), values.next()) {
        (Some(Ok(json)), None) => Ok(json),
        (Some(Err(error)), _) | (_, Some(Err(error))) => Err(refused(error)),
        (None, _) => Err(Refusal::new("there is no JSON in the text")),
        (Some(Ok(_)), Some(Ok(_))) => Err(Refusal::new("more text follows the JSON value")),
    }
}

fn too_deep() -> Refusal {
    Refusal::new(format!("it nests more than {DEEPEST} levels deep"))
}

struct Reader {
    form: Form,
    /// Objects of extended JSON are what they tell.
    interprets: bool,
    depth: usize,
}

impl Reader {
    fn value(&mut self, json: &Value) -> Result<RawBson> {
        Ok(match json {
            Value::Null => RawBson::Null,
            Value::Bool(value) => RawBson::Boolean(*value),
            Value::String(text) => RawBson::String(text.clone()),
            Value::Number(number) => self.number(number),
            Value::Array(elements) => {
                self.enter()?;
                let mut array = RawArrayBuf::new();
                for (index, element) in elements.iter().enumerate() {
                    let element = self.value(element);
                    array.push(element.map_err(|refusal| refusal.inside(&index.to_string()))?);
                }
                self.depth -= 1;
                RawBson::Array(array)
            }
            Value::Object(fields) => {
                if self.interprets
                    && let Some(told) = self.typed(fields)
                {
                    return told;
                }
                RawBson::Document(self.document(fields)?)
            }
        })
    }

    fn document(&mut self, fields: &Map<String, Value>) -> Result<RawDocumentBuf> {
        self.enter()?;
        let mut document = RawDocumentBuf::new();
        for (name, value) in fields {
            let value = self.value(value).map_err(|refusal| refusal.inside(name))?;
            document.append(c_string(name, "a field name")?, value);
        }
        self.depth -= 1;
        Ok(document)
    }

    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(too_deep()) } else { Ok(()) }
    }

    fn number(&self, number: &Number) -> RawBson {
        match number.as_i64() {
            Some(number) => self.whole(number),
            None => RawBson::Double(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    /// A whole number written without a type.
    fn whole(&self, number: i64) -> RawBson {
        if let Ok(number) = i32::try_from(number) {
            return RawBson::Int32(number);
        }
        match self.form {
            #[allow(clippy::cast_precision_loss)]
            Form::Relaxed if number.unsigned_abs() < EXACT => RawBson::Double(number as f64),
            Form::Relaxed if !self.interprets => {
                let mut told = RawDocumentBuf::new();
                told.append(bson::raw::cstr!("$numberLong"), number.to_string());
                RawBson::Document(told)
            }
            Form::Relaxed | Form::Canonical => RawBson::Int64(number),
        }
    }

    /// What an object of extended JSON tells; `None` for any other.
    fn typed(&mut self, fields: &Map<String, Value>) -> Option<Result<RawBson>> {
        let (name, value) = fields.iter().find(|(name, _)| name.starts_with('$'))?;
        // A pattern may stand among the operators of a filter; what has no text is no pattern.
        if name == "$regex" || name == "$options" {
            return old_regex(fields)
                .map(|regex| regex.map_err(|refusal| refusal.inside("$regex")));
        }
        let beside: &[&str] = match name.as_str() {
            "$binary" | "$type" if fields.contains_key("$binary") => &["$binary", "$type"],
            "$code" | "$scope" if fields.contains_key("$code") => &["$code", "$scope"],
            "$date" | "$dbPointer" | "$maxKey" | "$minKey" | "$numberDecimal" | "$numberDouble"
            | "$numberInt" | "$numberLong" | "$oid" | "$regularExpression" | "$symbol"
            | "$timestamp" | "$undefined" | "$uuid" => std::slice::from_ref(&""),
            _ => return None,
        };
        let stranger = fields.keys().find(|key| *key != name && !beside.contains(&key.as_str()));
        let told = match stranger {
            Some(key) => Err(Refusal::new(format!("{key} has no place beside {name}"))),
            None => self.told(name, value, fields),
        };
        Some(told)
    }

    fn told(&mut self, name: &str, value: &Value, fields: &Map<String, Value>) -> Result<RawBson> {
        let wrong = |wanted: &str| wrong(name, wanted, value);
        Ok(match name {
            "$binary" | "$type" => return old_or_new_binary(fields),
            "$code" | "$scope" => {
                let code = fields.get("$code").and_then(Value::as_str);
                let code = code.ok_or_else(|| wrong("a text"))?.to_owned();
                match fields.get("$scope") {
                    None => RawBson::JavaScriptCode(code),
                    Some(Value::Object(scope)) => {
                        let scope = self.document(scope)?;
                        RawBson::JavaScriptCodeWithScope(RawJavaScriptCodeWithScope { code, scope })
                    }
                    Some(scope) => return Err(self::wrong("$scope", "an object", scope)),
                }
            }
            "$date" => RawBson::DateTime(DateTime::from_millis(
                date(value).ok_or_else(|| wrong("an ISO date or milliseconds since 1970"))?,
            )),
            "$dbPointer" => db_pointer(value)
                .ok_or_else(|| wrong("an object with a text $ref and an ObjectId $id"))?,
            "$maxKey" => RawBson::MaxKey,
            "$minKey" => RawBson::MinKey,
            "$numberDecimal" => {
                let text = digits(value).ok_or_else(|| wrong("a text of digits"))?;
                let number = Decimal::parse(&text).ok_or_else(|| wrong("a text of digits"))?;
                RawBson::Decimal128(number.encode())
            }
            "$numberDouble" => {
                RawBson::Double(double(value).ok_or_else(|| wrong("a text of digits"))?)
            }
            "$numberInt" => {
                let number = digits(value).and_then(|text| text.parse().ok());
                RawBson::Int32(number.ok_or_else(|| wrong("a whole number of 32 bits"))?)
            }
            "$numberLong" => {
                let number = digits(value).and_then(|text| text.parse().ok());
                let number = number.ok_or_else(|| wrong("a whole number of 64 bits"))?;
                match self.form {
                    Form::Relaxed => self.whole(number),
                    Form::Canonical => RawBson::Int64(number),
                }
            }
            "$oid" => {
                let id = value.as_str().and_then(|digits| ObjectId::parse_str(digits).ok());
                RawBson::ObjectId(id.ok_or_else(|| wrong("24 hexadecimal digits"))?)
            }
            "$regularExpression" => {
                let part = |part: &str| value.get(part).and_then(Value::as_str);
                let (Some(pattern), Some(options)) = (part("pattern"), part("options")) else {
                    return Err(wrong("an object with the texts pattern and options"));
                };
                regex(pattern, options)?
            }
            "$symbol" => RawBson::Symbol(value.as_str().ok_or_else(|| wrong("a text"))?.to_owned()),
            "$timestamp" => {
                let part = |part: &str| {
                    value.get(part).and_then(Value::as_u64).and_then(|part| part.try_into().ok())
                };
                let (Some(time), Some(increment)) = (part("t"), part("i")) else {
                    return Err(wrong("an object with the numbers t and i"));
                };
                RawBson::Timestamp(Timestamp { time, increment })
            }
            "$undefined" => match self.form {
                Form::Relaxed => RawBson::Null,
                Form::Canonical => RawBson::Undefined,
            },
            // All others were told from each other before.
            _ => {
                let bytes = value.as_str().and_then(|digits| uuid::Uuid::parse_str(digits).ok());
                let bytes = bytes.ok_or_else(|| wrong("a UUID"))?.into_bytes().to_vec();
                RawBson::Binary(Binary { subtype: BinarySubtype::Uuid, bytes })
            }
        })
    }
}

fn wrong(name: &str, wanted: &str, found: &Value) -> Refusal {
    let found = match found {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.len() <= 80 => quoted(text),
        Value::String(_) => "a long text".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    Refusal::new(format!("{name} needs {wanted}, not {found}"))
}

fn c_string(text: &str, what: &str) -> Result<CString> {
    CString::try_from(text)
        .map_err(|_| Refusal::new(format!("{what} must not contain a null byte: {text:?}")))
}

/// The digits of a number that is written as a text, or as a number by some.
fn digits(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn double(value: &Value) -> Option<f64> {
    let text = digits(value)?;
    match text.as_str() {
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        // Rust reads words such as `inf`, too.
        text => text.parse().ok().filter(|number: &f64| number.is_finite()),
    }
}

/// The milliseconds of a date in any of its forms.
fn date(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => iso_date::read(text, Fields::Strict),
        Value::Number(millis) => {
            #[allow(clippy::cast_possible_truncation)]
            let rounded = millis.as_f64().map(|millis| millis as i64);
            millis.as_i64().or(rounded)
        }
        Value::Object(fields) if fields.len() == 1 => {
            fields.get("$numberLong").and_then(digits)?.parse().ok()
        }
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn db_pointer(value: &Value) -> Option<RawBson> {
    let namespace = value.get("$ref")?.as_str()?;
    let id = value.get("$id")?.get("$oid")?.as_str()?;
    pointer::make(namespace, ObjectId::parse_str(id).ok()?)
}

/// `{"$binary": {"base64": "...", "subType": "00"}}`, or `{"$binary": "...", "$type": "00"}` as it was before.
fn old_or_new_binary(fields: &Map<String, Value>) -> Result<RawBson> {
    let value = fields.get("$binary").unwrap_or(&Value::Null);
    let (bytes, subtype) = match value {
        Value::String(_) => (Some(value), fields.get("$type")),
        _ if fields.contains_key("$type") => (None, None),
        _ => (value.get("base64"), value.get("subType")),
    };
    let Some((bytes, subtype)) = bytes.and_then(Value::as_str).zip(subtype) else {
        return Err(wrong("$binary", "an object with base64 and subType", value));
    };
    let number = match subtype {
        Value::String(digits) => u8::from_str_radix(digits, 16).ok(),
        other => other.as_u64().and_then(|number| u8::try_from(number).ok()),
    };
    let number = number.ok_or_else(|| wrong("$binary", "a subtype of two digits", subtype))?;
    let bytes = STANDARD.decode(bytes);
    let bytes = bytes.map_err(|error| Refusal::new(format!("$binary needs base64: {error}")))?;
    Ok(RawBson::Binary(Binary { subtype: BinarySubtype::from(number), bytes }))
}

/// `{"$regex": "...", "$options": "..."}` as it was before; as an operator of a filter it stands as it is.
fn old_regex(fields: &Map<String, Value>) -> Option<Result<RawBson>> {
    let pattern = fields.get("$regex")?.as_str()?;
    let options = fields.get("$options")?.as_str()?;
    (fields.len() == 2).then(|| regex(pattern, options))
}

fn regex(pattern: &str, options: &str) -> Result<RawBson> {
    let mut options: Vec<char> = options.chars().collect();
    options.sort_unstable();
    let options: String = options.into_iter().collect();
    let pattern = c_string(pattern, "a pattern")?;
    let options = c_string(&options, "a pattern's options")?;
    Ok(RawBson::RegularExpression(Regex { pattern, options }))
}
