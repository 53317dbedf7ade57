//! The classic shell's text: `tojson` with its rule of 80, and what its prompt and `print` make of a value.
//!
//! The rule is all or nothing. A document is built with tabs and line ends first; only as a whole, and only if that text
//! has fewer than 80 characters, every run of tabs and line ends becomes one blank. Keys are escaped, which the old
//! shell forgot.

use bson::spec::BinarySubtype;
use bson::{Bson, Document};

use super::ink::{Ink, Inked, Paint};
use super::scalar::{self, Moment};
use super::served::{self, DB_REF};
use super::{Object, Origin, Shown};

/// Deeper levels are shown as `[Object]` or `[Array]`.
const DEEPEST: usize = 100;

/// A text of this length or longer keeps its lines.
const FOLDED: usize = 80;

/// The text of a value as `tojson(value, indent, nolint)` answers it.
///
/// `nolint` is what a script passed: `None` for null, undefined or nothing; `Some(true)` puts everything on one line;
/// `Some(false)` keeps the lines of a short document too.
pub fn tojson(value: &Shown, indent: &str, nolint: Option<bool>) -> String {
    let mut printer = Printer { out: Inked::default(), paint: Paint::Plain, nolint };
    printer.value(value, indent, 0);
    printer.out.into_string()
}

/// A document that an error message quotes.
pub fn quote(document: &Document) -> String {
    tojson(&Shown::from_bson(&Bson::Document(document.clone())), "", None)
}

/// One document of a cursor: one line, however wide.
pub fn line(document: &Shown, paint: Paint) -> String {
    painted(document, Some(true), paint)
}

/// One document of a cursor on which `pretty()` was called.
pub fn pretty(document: &Shown, paint: Paint) -> String {
    painted(document, None, paint)
}

/// What the prompt shows for a value, without the line end; `None` where it shows nothing.
pub fn print_value(value: &Shown, paint: Paint) -> Option<String> {
    match value {
        Shown::Undefined | Shown::Hole | Shown::Value(Bson::Undefined) => None,
        Shown::Value(Bson::String(text) | Bson::Symbol(text)) => Some(text.clone()),
        Shown::Result { name, fields } => Some(result(name, fields, paint)),
        other => Some(painted(other, None, paint)),
    }
}

/// What `print` makes of one argument.
///
/// Where the old shell said `[object Object]` or `[unknown type]` this says what is there: a document as `tojson`,
/// `null`, `undefined`. An array of scalars is JavaScript's own text of it, one that holds documents is `tojson`'s.
pub fn print_argument(value: &Shown) -> String {
    match value {
        Shown::Array(elements, _) if elements.iter().all(is_scalar) => {
            elements.iter().map(joined).collect::<Vec<_>>().join(",")
        }
        Shown::Value(Bson::DateTime(date)) => Moment::from_millis(date.timestamp_millis())
            .map_or("Invalid Date".to_owned(), |moment| moment.spoken()),
        Shown::InvalidDate => "Invalid Date".to_owned(),
        Shown::BigInt(digits) => digits.clone(),
        other => print_value(other, Paint::Plain).unwrap_or_else(|| "undefined".to_owned()),
    }
}

/// A scalar, or an array of nothing else.
fn is_scalar(value: &Shown) -> bool {
    match value {
        Shown::Array(elements, _) => elements.iter().all(is_scalar),
        Shown::Object(_)
        | Shown::Map(_)
        | Shown::Set(_)
        | Shown::Typed { .. }
        | Shown::Result { .. } => false,
        Shown::Undefined
        | Shown::Hole
        | Shown::Number(_)
        | Shown::Value(_)
        | Shown::InvalidDate
        | Shown::Text(_)
        | Shown::Function { .. }
        | Shown::Error { .. }
        | Shown::Symbol(_)
        | Shown::BigInt(_)
        | Shown::Accessor { .. }
        | Shown::Ancestor(_) => true,
    }
}

/// An element as `Array.prototype.join` writes it: nothing for null and undefined.
fn joined(value: &Shown) -> String {
    match value {
        Shown::Undefined | Shown::Hole | Shown::Value(Bson::Undefined | Bson::Null) => {
            String::new()
        }
        other => print_argument(other),
    }
}

fn result(name: &str, fields: &[(String, Shown)], paint: Paint) -> String {
    let mut printer = Printer { out: Inked::default(), paint, nolint: None };
    printer.fields(fields, "", 0);
    format!("{name}({})", printer.out.paint(paint))
}

fn painted(value: &Shown, nolint: Option<bool>, paint: Paint) -> String {
    let mut printer = Printer { out: Inked::default(), paint, nolint };
    printer.value(value, "", 0);
    if paint == Paint::Plain { printer.out.into_string() } else { printer.out.paint(paint) }
}

struct Printer {
    out: Inked,
    paint: Paint,
    nolint: Option<bool>,
}

impl Printer {
    fn one_line(&self) -> bool {
        self.nolint == Some(true)
    }

    fn marked(&mut self, text: &str, ink: Ink) {
        self.out.push_marked(text, ink, self.paint);
    }

    fn value(&mut self, value: &Shown, indent: &str, depth: usize) {
        match value {
            Shown::Undefined | Shown::Hole => self.marked("undefined", Ink::Nothing),
            Shown::Number(number) => self.marked(&scalar::number(*number), Ink::Number),
            Shown::Value(value) => self.scalar(value, indent, depth),
            Shown::InvalidDate => {
                self.marked("ISODate(\"0NaN-NaN-NaNTNaN:NaN:NaNZ\")", Ink::Special)
            }
            Shown::Text(text) => self.out.push(text),
            Shown::Array(elements, _) => self.array(elements, indent, depth),
            Shown::Object(object) => self.object(object, indent, depth),
            Shown::Function { source, .. } => self.marked(source, Ink::Function),
            Shown::Error { text, .. } => self.marked(text, Ink::Error),
            // The old shell had no such collections; this is what would build them again.
            Shown::Map(entries) => {
                let pairs = entries
                    .iter()
                    .map(|(key, value)| {
                        Shown::Array(vec![key.clone(), value.clone()], Origin::Script)
                    })
                    .collect::<Vec<_>>();
                self.collection("Map", &pairs, indent, depth);
            }
            Shown::Set(elements) => self.collection("Set", elements, indent, depth),
            Shown::Typed { name, elements } => {
                let class = name.split('(').next().unwrap_or_default();
                self.collection(class, elements, indent, depth);
            }
            Shown::Symbol(description) => self.marked(&format!("Symbol({description})"), Ink::Text),
            Shown::BigInt(digits) => self.marked(&format!("{digits}n"), Ink::Number),
            Shown::Accessor { get, set } => self.marked(accessor(*get, *set), Ink::Function),
            Shown::Ancestor(_) => self.marked("[Circular]", Ink::Function),
            Shown::Result { fields, .. } => self.fields(fields, indent, depth),
        }
    }

    fn scalar(&mut self, value: &Bson, indent: &str, depth: usize) {
        let (text, ink) = match value {
            Bson::Null => ("null".to_owned(), Ink::Nothing),
            Bson::Undefined => ("undefined".to_owned(), Ink::Nothing),
            Bson::Boolean(value) => (value.to_string(), Ink::Number),
            Bson::Double(number) => (scalar::number(*number), Ink::Number),
            Bson::String(text) | Bson::Symbol(text) => (quoted(text), Ink::Text),
            Bson::Int32(number) => (format!("NumberInt({number})"), Ink::Special),
            Bson::Int64(number) => (long(*number), Ink::Special),
            Bson::Decimal128(number) => (format!("NumberDecimal(\"{number}\")"), Ink::Special),
            Bson::ObjectId(id) => (format!("ObjectId(\"{}\")", id.to_hex()), Ink::Special),
            Bson::DateTime(date) => match Moment::from_millis(date.timestamp_millis()) {
                Some(moment) => (format!("ISODate(\"{}\")", moment.classic()), Ink::Special),
                None => return self.value(&Shown::InvalidDate, indent, depth),
            },
            Bson::Timestamp(stamp) => {
                (format!("Timestamp({}, {})", stamp.time, stamp.increment), Ink::Special)
            }
            Bson::Binary(binary) => (
                match scalar::uuid(binary) {
                    Some(uuid) => format!("UUID(\"{uuid}\")"),
                    None => format!(
                        "BinData({},\"{}\")",
                        subtype(binary.subtype),
                        scalar::base64(&binary.bytes)
                    ),
                },
                Ink::Special,
            ),
            Bson::RegularExpression(regex) => {
                (scalar::regex(regex.pattern.as_str(), regex.options.as_str()), Ink::Regex)
            }
            Bson::JavaScriptCode(code) => {
                let fields = vec![("code".to_owned(), Shown::Value(Bson::String(code.clone())))];
                return self.fields(&fields, indent, depth);
            }
            Bson::JavaScriptCodeWithScope(code) => {
                let fields = vec![
                    ("code".to_owned(), Shown::Value(Bson::String(code.code.clone()))),
                    ("scope".to_owned(), Shown::from_bson(&Bson::Document(code.scope.clone()))),
                ];
                return self.fields(&fields, indent, depth);
            }
            Bson::DbPointer(_) => {
                let (namespace, id) = served::db_pointer(value);
                (format!("DBPointer({}, ObjectId(\"{id}\"))", quoted(&namespace)), Ink::Special)
            }
            Bson::MinKey => ("{ \"$minKey\" : 1 }".to_owned(), Ink::Special),
            Bson::MaxKey => ("{ \"$maxKey\" : 1 }".to_owned(), Ink::Special),
            Bson::Document(_) | Bson::Array(_) => {
                return self.value(&Shown::from_bson(value), indent, depth);
            }
        };
        self.marked(&text, ink);
    }

    fn object(&mut self, object: &Object, indent: &str, depth: usize) {
        if object.name.as_deref() == Some(DB_REF) {
            return self.reference(&object.fields, depth);
        }
        self.fields(&object.fields, indent, depth);
    }

    fn fields(&mut self, fields: &[(String, Shown)], indent: &str, depth: usize) {
        if depth > DEEPEST {
            return self.out.push("[Object]");
        }
        let start = self.out.as_str().len();
        let (end, inner) =
            if self.one_line() { (" ", indent.to_owned()) } else { ("\n", format!("{indent}\t")) };
        self.out.push("{");
        self.out.push(end);
        for (index, (key, value)) in fields.iter().enumerate() {
            if index > 0 {
                self.out.push(",");
                self.out.push(end);
            }
            self.out.push(&inner);
            self.out.push(&quoted(key));
            self.out.push(" : ");
            self.value(value, &inner, depth + 1);
        }
        if fields.is_empty() {
            self.out.push(&inner);
        }
        self.out.push(end);
        self.out.push(if self.one_line() { "" } else { indent });
        self.out.push("}");
        self.fold(start, indent);
    }

    fn array(&mut self, elements: &[Shown], indent: &str, depth: usize) {
        if depth > DEEPEST {
            return self.out.push("[Array]");
        }
        if elements.is_empty() {
            return self.out.push("[ ]");
        }
        let start = self.out.as_str().len();
        // On one line an array forgets the indentation it was given.
        let (end, outer, inner) = if self.one_line() {
            (" ", "", String::new())
        } else {
            ("\n", indent, format!("{indent}\t"))
        };
        self.out.push("[");
        self.out.push(end);
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                self.out.push(",");
                self.out.push(end);
            }
            self.out.push(&inner);
            self.value(element, &inner, depth + 1);
        }
        self.out.push(end);
        self.out.push(outer);
        self.out.push("]");
        self.fold(start, indent);
    }

    fn collection(&mut self, name: &str, elements: &[Shown], indent: &str, depth: usize) {
        self.out.push(&format!("new {name}("));
        self.array(elements, indent, depth);
        self.out.push(")");
    }

    fn reference(&mut self, fields: &[(String, Shown)], depth: usize) {
        if depth > DEEPEST {
            return self.out.push("[Object]");
        }
        self.out.push("DBRef(");
        for (index, (_, value)) in fields.iter().enumerate() {
            if index > 0 {
                self.out.push(", ");
            }
            self.value(value, " ", depth + 1);
        }
        self.out.push(")");
    }

    /// The rule of 80, for what stands from byte `start` on and was begun without indentation.
    fn fold(&mut self, start: usize, indent: &str) {
        let may = self.nolint != Some(false) && indent.is_empty();
        if may && super::ink::units(&self.out.as_str()[start..]) < FOLDED {
            self.out.squeeze(start);
        }
    }
}

/// An int64: bare only where it is an int32, and the old shell took the smallest int32 for too long.
fn long(number: i64) -> String {
    if number.unsigned_abs() < 1 << 31 {
        format!("NumberLong({number})")
    } else {
        format!("NumberLong(\"{number}\")")
    }
}

fn subtype(subtype: BinarySubtype) -> u8 {
    subtype.into()
}

/// A string in JSON's double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '\u{8}' => quoted.push_str("\\b"),
            '\u{c}' => quoted.push_str("\\f"),
            control if control < ' ' => quoted.push_str(&format!("\\u{:04x}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

pub(super) fn accessor(get: bool, set: bool) -> &'static str {
    match (get, set) {
        (true, true) => "[Getter/Setter]",
        (false, true) => "[Setter]",
        _ => "[Getter]",
    }
}
