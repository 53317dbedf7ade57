//! From BSON to extended JSON text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bson::DateTime;
use bson::raw::{RawArray, RawBsonRef, RawDocument};

use super::{Form, Refusal};
use crate::value::{calendar, digits, pointer};

/// How deep a value may nest: far deeper than a server stores, shallow enough for the stack.
const DEEPEST: usize = 1000;

/// The first millisecond of the year 10000, which no ISO text of four digits tells.
const YEAR_10000: i64 = 253_402_300_800_000;

/// A value as text. With an `indent` each field and element has a line of its own, as with `JSON.stringify`; without
/// one there is not a blank in it.
///
/// # Errors
/// For a value that nests more than 1000 levels deep, and for bytes that are no BSON.
pub fn text(value: RawBsonRef<'_>, form: Form, indent: &str) -> Result<String, Refusal> {
    let mut text = String::new();
    write(value, form, indent, &mut text)?;
    Ok(text)
}

/// As [`text`], added to what is there.
///
/// # Errors
/// As [`text`].
pub fn write(
    value: RawBsonRef<'_>,
    form: Form,
    indent: &str,
    out: &mut String,
) -> Result<(), Refusal> {
    Writer { form, indent, out, depth: 0, empty: true, fractions: false }.value(value)
}

/// As [`write`](fn@write), for files that are read again: in the relaxed form, too, a whole double is told from an integer
/// by its `.0`, as `mongoexport` writes it.
///
/// # Errors
/// As [`text`].
pub fn export(
    value: RawBsonRef<'_>,
    form: Form,
    indent: &str,
    out: &mut String,
) -> Result<(), Refusal> {
    Writer { form, indent, out, depth: 0, empty: true, fractions: true }.value(value)
}

/// A text as JSON.
pub fn quoted(text: &str) -> String {
    // Writing a string into memory cannot fail.
    serde_json::to_string(text).unwrap_or_default()
}

/// Whether a number is written as an integer would be.
fn is_whole(digits: &str) -> bool {
    digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

struct Writer<'a> {
    form: Form,
    indent: &'a str,
    out: &'a mut String,
    depth: usize,
    /// Nothing stands in the innermost open object or array yet.
    empty: bool,
    /// Whole doubles have a fraction.
    fractions: bool,
}

impl Writer<'_> {
    fn value(&mut self, value: RawBsonRef<'_>) -> Result<(), Refusal> {
        let relaxed = self.form == Form::Relaxed;
        match value {
            RawBsonRef::Double(number) => self.double(number),
            RawBsonRef::Int32(number) if relaxed => self.out.push_str(&number.to_string()),
            RawBsonRef::Int32(number) => self.wrapped("$numberInt", &number.to_string()),
            RawBsonRef::Int64(number) if relaxed => self.out.push_str(&number.to_string()),
            RawBsonRef::Int64(number) => self.wrapped("$numberLong", &number.to_string()),
            RawBsonRef::Decimal128(number) => self.wrapped("$numberDecimal", &number.to_string()),
            RawBsonRef::String(text) => self.out.push_str(&quoted(text)),
            RawBsonRef::Symbol(text) => self.wrapped("$symbol", text),
            RawBsonRef::Boolean(value) => self.out.push_str(if value { "true" } else { "false" }),
            RawBsonRef::Null => self.out.push_str("null"),
            RawBsonRef::Undefined if relaxed => self.out.push_str("null"),
            RawBsonRef::Undefined => self.marked("$undefined", "true"),
            RawBsonRef::MinKey => self.marked("$minKey", "1"),
            RawBsonRef::MaxKey => self.marked("$maxKey", "1"),
            RawBsonRef::ObjectId(id) => self.wrapped("$oid", &id.to_hex()),
            RawBsonRef::DateTime(date) => self.date(date),
            RawBsonRef::Timestamp(stamp) => {
                let (time, increment) = (stamp.time.to_string(), stamp.increment.to_string());
                self.parts("$timestamp", &[("t", &time), ("i", &increment)]);
            }
            RawBsonRef::Binary(binary) => {
                let bytes = quoted(&STANDARD.encode(binary.bytes));
                let subtype = quoted(&format!("{:02x}", u8::from(binary.subtype)));
                self.parts("$binary", &[("base64", &bytes), ("subType", &subtype)]);
            }
            RawBsonRef::RegularExpression(regex) => {
                let mut options: Vec<char> = regex.options.as_str().chars().collect();
                options.sort_unstable();
                let options = quoted(&options.into_iter().collect::<String>());
                let pattern = quoted(regex.pattern.as_str());
                let parts = [("pattern", pattern.as_str()), ("options", &options)];
                self.parts("$regularExpression", &parts);
            }
            RawBsonRef::JavaScriptCode(code) => self.wrapped("$code", code),
            RawBsonRef::JavaScriptCodeWithScope(code) => {
                self.open('{')?;
                self.field("$code");
                self.out.push_str(&quoted(code.code));
                self.field("$scope");
                self.document(code.scope)?;
                self.close('}');
            }
            RawBsonRef::DbPointer(_) => {
                let (namespace, id) = pointer::parts(value).unwrap_or_default();
                self.open('{')?;
                self.field("$dbPointer");
                self.open('{')?;
                self.field("$ref");
                self.out.push_str(&quoted(&namespace));
                self.field("$id");
                self.wrapped("$oid", &id.to_hex());
                self.close('}');
                self.close('}');
            }
            RawBsonRef::Document(document) => self.document(document)?,
            RawBsonRef::Array(array) => self.array(array)?,
        }
        Ok(())
    }

    fn double(&mut self, number: f64) {
        let negative_zero = number == 0.0 && number.is_sign_negative();
        let mut text = digits::number(number);
        if self.form == Form::Relaxed && number.is_finite() {
            // A JSON number without a fraction has no negative zero.
            self.out.push_str(if negative_zero { "-0.0" } else { &text });
            if self.fractions && !negative_zero && is_whole(&text) {
                self.out.push_str(".0");
            }
            return;
        }
        if negative_zero {
            text.insert(0, '-');
        }
        if is_whole(&text) {
            text.push_str(".0");
        }
        self.wrapped("$numberDouble", &text);
    }

    fn date(&mut self, date: DateTime) {
        let millis = date.timestamp_millis();
        if self.form == Form::Canonical || !(0..YEAR_10000).contains(&millis) {
            return self.parts("$date", &[("$numberLong", &quoted(&millis.to_string()))]);
        }
        let parts = calendar::parts_of(millis);
        let day = format!("{:04}-{:02}-{:02}", parts.year, parts.month, parts.day);
        let time = format!("{:02}:{:02}:{:02}", parts.hour, parts.minute, parts.second);
        let fraction = match parts.millisecond {
            0 => String::new(),
            millisecond => format!(".{millisecond:03}"),
        };
        self.wrapped("$date", &format!("{day}T{time}{fraction}Z"));
    }

    fn document(&mut self, document: &RawDocument) -> Result<(), Refusal> {
        self.open('{')?;
        for field in document {
            let (name, value) = field.map_err(|error| Refusal::new(error.to_string()))?;
            self.field(name.as_str());
            self.value(value).map_err(|refusal| refusal.inside(name.as_str()))?;
        }
        self.close('}');
        Ok(())
    }

    fn array(&mut self, array: &RawArray) -> Result<(), Refusal> {
        self.open('[')?;
        for (index, element) in array.into_iter().enumerate() {
            let element = element.map_err(|error| Refusal::new(error.to_string()))?;
            self.next();
            self.value(element).map_err(|refusal| refusal.inside(&index.to_string()))?;
        }
        self.close(']');
        Ok(())
    }

    /// An object of one text, which tells a type.
    fn wrapped(&mut self, name: &str, text: &str) {
        self.marked(name, &quoted(text));
    }

    /// An object of one field, whose value is JSON already.
    fn marked(&mut self, name: &str, json: &str) {
        self.begin('{');
        self.field(name);
        self.out.push_str(json);
        self.close('}');
    }

    /// An object of one field, which is an object of fields whose values are JSON already.
    fn parts(&mut self, name: &str, parts: &[(&str, &str)]) {
        self.begin('{');
        self.field(name);
        self.begin('{');
        for (name, json) in parts {
            self.field(name);
            self.out.push_str(json);
        }
        self.close('}');
        self.close('}');
    }

    fn open(&mut self, bracket: char) -> Result<(), Refusal> {
        self.begin(bracket);
        match self.depth {
            0..=DEEPEST => Ok(()),
            _ => Err(Refusal::new(format!("it nests more than {DEEPEST} levels deep"))),
        }
    }

    fn begin(&mut self, bracket: char) {
        self.out.push(bracket);
        self.depth += 1;
        self.empty = true;
    }

    fn close(&mut self, bracket: char) {
        self.depth -= 1;
        if !self.empty {
            self.line();
        }
        self.empty = false;
        self.out.push(bracket);
    }

    /// Begins the next field or element.
    fn next(&mut self) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.line();
    }

    fn field(&mut self, name: &str) {
        self.next();
        self.out.push_str(&quoted(name));
        self.out.push_str(if self.indent.is_empty() { ":" } else { ": " });
    }

    /// Begins a line, where there are any.
    fn line(&mut self) {
        if !self.indent.is_empty() {
            self.out.push('\n');
            (0..self.depth).for_each(|_| self.out.push_str(self.indent));
        }
    }
}
