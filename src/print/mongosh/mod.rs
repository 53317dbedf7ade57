//! mongosh's text: Node's inspector, and mongosh's own rule for what came from a server.
//!
//! Entries are laid out first and then joined by `layout`. An object or array that came from a server is inspected as
//! if it stood alone, where [`Options::deep`] asks for it, and its text put into its parent's: so the depth of the
//! parent, its indentation and its limits do not reach it.

mod layout;
mod text;
mod value;

use bson::Bson;

use super::ink::{Ink, Inked, units};
use super::mongo::accessor;
use super::scalar::Moment;
use super::served::DB_REF;
use super::{FunctionKind, Object, Options, Origin, Shown, scalar};
use layout::Frame;

/// No output nests deeper, limits or not: what is deeper is shown as `[Object]`.
const DEEPEST: usize = 500;

/// What the prompt shows for a value, without the line end; an empty line for `undefined`.
pub fn print_value(value: &Shown, options: Options) -> String {
    match value {
        Shown::Undefined | Shown::Hole | Shown::Value(Bson::Undefined) => String::new(),
        Shown::Value(Bson::String(text)) if !text::is_dangerous(text) => text.clone(),
        Shown::Error { text, .. } => options.paint.brush(text, Ink::Error),
        other => inspect(other, options),
    }
}

/// What `print` makes of one argument: control characters in a string stand, and an error has its stack.
pub fn print_argument(value: &Shown, options: Options) -> String {
    match value {
        Shown::Value(Bson::String(text)) => text.clone(),
        Shown::Error { .. } => inspect(value, options),
        other => print_value(other, options),
    }
}

/// What `printjson` makes of one argument: every entry on its own line, to any depth.
pub fn print_json(value: &Shown, options: Options) -> String {
    print_argument(value, Options { compact: false, ..options.whole() })
}

/// A string in the quotes that suit it.
pub fn quoted(text: &str) -> String {
    text::quoted(text)
}

/// The documents of a cursor, as the one array that the prompt shows; an empty text when there are none.
pub fn documents(page: &[Shown], options: Options) -> String {
    if page.is_empty() {
        return String::new();
    }
    let mut inspector = Inspector::new(options.whole());
    inspector.array(page, Origin::Script, 0).paint(options.paint)
}

/// The text of a value as Node's `util.inspect` lays it out.
pub fn inspect(value: &Shown, options: Options) -> String {
    // What came from a server ignores the limits from the outermost level on.
    let options =
        if options.deep && origin(value) == Origin::Server { options.whole() } else { options };
    Inspector::new(options).value(value, 0).paint(options.paint)
}

/// A double as Node's inspector writes it: unlike `String(number)`, minus zero has its sign.
fn number(value: f64) -> String {
    if value == 0.0 && value.is_sign_negative() { "-0".to_owned() } else { scalar::number(value) }
}

fn origin(value: &Shown) -> Origin {
    match value {
        Shown::Array(_, origin) => *origin,
        Shown::Object(object) => object.origin,
        _ => Origin::Script,
    }
}

/// One value on its way to text.
struct Inspector {
    options: Options,
    /// The columns that an entry at this place is indented by.
    indentation: usize,
    /// The level of the object that was begun last, wherever it stands: the rule of three levels asks for it.
    last_depth: usize,
    /// For each object around this place, the number by which something inside refers to it.
    around: Vec<Option<usize>>,
    /// How many objects have such a number.
    references: usize,
}

impl Inspector {
    fn new(options: Options) -> Self {
        Self { options, indentation: 0, last_depth: 0, around: Vec::new(), references: 0 }
    }

    fn marked(&self, text: impl Into<String>, ink: Ink) -> Inked {
        Inked::marked(text, ink, self.options.paint)
    }

    /// A value at `depth` levels below the outermost.
    fn value(&mut self, value: &Shown, depth: usize) -> Inked {
        match value {
            Shown::Undefined | Shown::Hole => self.marked("undefined", Ink::Nothing),
            Shown::Number(value) => self.marked(number(*value), Ink::Number),
            Shown::Value(Bson::String(text)) => self.string(text),
            Shown::Value(Bson::JavaScriptCodeWithScope(code)) => {
                let scope = Shown::from_bson(&Bson::Document(code.scope.clone()));
                let mut out = Inked::plain(format!("Code({}, ", text::quoted(&code.code)));
                out.append(&self.alone(&scope));
                out.push(")");
                out
            }
            Shown::Value(Bson::DateTime(date)) if self.options.bare_dates => {
                let shown = Moment::from_millis(date.timestamp_millis());
                let text = shown.map_or_else(|| "Invalid Date".to_owned(), |moment| moment.iso());
                self.marked(text, Ink::Special)
            }
            Shown::Value(value) => match value::scalar(value) {
                Some((text, ink)) => self.marked(text, ink),
                None => self.value(&Shown::from_bson(value), depth),
            },
            Shown::InvalidDate => self.marked("Invalid Date", Ink::Special),
            Shown::Text(text) => {
                let mut text = Inked::plain(text.clone());
                text.indent(self.indentation);
                text
            }
            Shown::Array(..) | Shown::Object(_) if self.stands_alone(value, depth) => {
                self.alone(value)
            }
            Shown::Array(elements, origin) => self.array(elements, *origin, depth),
            Shown::Object(object) => self.object(object, depth),
            Shown::Function { kind, name, .. } => self.marked(function(*kind, name), Ink::Function),
            Shown::Error { text, stack, fields } => self.error(text, stack, fields, depth),
            Shown::Map(entries) => self.map(entries, depth),
            Shown::Set(elements) => self.set(elements, depth),
            Shown::Typed { name, elements } => self.typed(name, elements, depth),
            Shown::Symbol(description) => self.marked(format!("Symbol({description})"), Ink::Text),
            Shown::BigInt(digits) => self.marked(format!("{digits}n"), Ink::Number),
            Shown::Accessor { get, set } => self.marked(accessor(*get, *set), Ink::Function),
            Shown::Ancestor(steps) => self.ancestor(*steps),
            Shown::Result { name, fields } => self.fields(name, fields, Origin::Script, depth),
        }
    }

    fn stands_alone(&self, value: &Shown, depth: usize) -> bool {
        self.options.deep && !self.around.is_empty() && depth > 0 && origin(value) == Origin::Server
    }

    /// A value as if it were the outermost, put into the text around it.
    fn alone(&mut self, value: &Shown) -> Inked {
        let mut inspector = Self::new(self.options.whole());
        inspector.around = std::mem::take(&mut self.around);
        inspector.references = self.references;
        let mut out = match value {
            _ if inspector.around.len() > DEEPEST => self.cut(value),
            Shown::Array(elements, origin) => inspector.array(elements, *origin, 0),
            Shown::Object(object) => inspector.object(object, 0),
            other => inspector.value(other, 0),
        };
        self.around = inspector.around;
        self.references = inspector.references;
        out.indent(self.indentation);
        out
    }

    fn string(&self, text: &str) -> Inked {
        // Shorter strings are never split.
        const SPLIT: usize = 16;
        let length = units(text);
        let (text, rest) = match self.options.string {
            Some(limit) if length > limit => (head(text, limit), length - limit),
            _ => (text, 0),
        };
        let room = self.width() as isize - self.indentation as isize - 4;
        let mut out = Inked::default();
        if length.min(self.options.string.unwrap_or(usize::MAX)) > SPLIT
            && length.min(self.options.string.unwrap_or(usize::MAX)) as isize > room
        {
            let plus = format!(" +\n{}", " ".repeat(self.indentation + 2));
            for (index, line) in text.split_inclusive('\n').enumerate() {
                if index > 0 {
                    out.push(&plus);
                }
                out.push_marked(&text::quoted(line), Ink::Text, self.options.paint);
            }
        } else {
            out.push_marked(&text::quoted(text), Ink::Text, self.options.paint);
        }
        if rest > 0 {
            out.push(&format!("... {rest} more character{}", plural(rest)));
        }
        out
    }

    fn array(&mut self, elements: &[Shown], origin: Origin, depth: usize) -> Inked {
        if elements.is_empty() {
            return Inked::plain("[]");
        }
        if self.is_too_deep(depth) {
            return self.cut(&Shown::Array(Vec::new(), origin));
        }
        self.begin(depth);
        let (entries, more) = self.elements(elements, depth);
        let numbers = elements.iter().take(entries.len()).all(is_number);
        self.end("[", "]", entries, Some(Columns { more, numbers }), depth, Inked::default())
    }

    fn typed(&mut self, name: &str, elements: &[Shown], depth: usize) -> Inked {
        if elements.is_empty() {
            return Inked::plain(format!("{name} []"));
        }
        self.begin(depth);
        let (entries, more) = self.elements(elements, depth);
        let columns = Some(Columns { more, numbers: true });
        self.end(&format!("{name} ["), "]", entries, columns, depth, Inked::default())
    }

    /// The entries of an array and whether the last of them says how many more there are.
    fn elements(&mut self, elements: &[Shown], depth: usize) -> (Vec<Inked>, bool) {
        let limit = self.options.elements.unwrap_or(usize::MAX);
        let mut entries = Vec::with_capacity(elements.len().min(limit).saturating_add(1));
        let mut position = 0;
        while position < elements.len() && entries.len() < limit {
            let holes =
                elements[position..].iter().take_while(|&element| *element == Shown::Hole).count();
            if holes > 0 {
                entries.push(
                    self.marked(format!("<{holes} empty item{}>", plural(holes)), Ink::Nothing),
                );
                position += holes;
            } else {
                entries.push(self.inside(&elements[position], depth));
                position += 1;
            }
        }
        let rest = elements.len() - position;
        if rest > 0 {
            entries.push(more_items(rest));
        }
        (entries, rest > 0)
    }

    fn object(&mut self, object: &Object, depth: usize) -> Inked {
        if object.name.as_deref() == Some(DB_REF) {
            return self.reference(&object.fields);
        }
        self.fields(
            object.name.as_deref().unwrap_or_default(),
            &object.fields,
            object.origin,
            depth,
        )
    }

    fn fields(
        &mut self,
        name: &str,
        fields: &[(String, Shown)],
        origin: Origin,
        depth: usize,
    ) -> Inked {
        let open = if name.is_empty() { "{".to_owned() } else { format!("{name} {{") };
        if fields.is_empty() {
            return Inked::plain(open + "}");
        }
        if self.is_too_deep(depth) {
            let name = if name.is_empty() { "Object" } else { name };
            return self.marked(format!("[{}]", name.trim_matches(['[', ']'])), Ink::Function);
        }
        self.begin(depth);
        let entries = self.entries(fields, origin, depth);
        self.end(&open, "}", entries, None, depth, Inked::default())
    }

    fn entries(&mut self, fields: &[(String, Shown)], origin: Origin, depth: usize) -> Vec<Inked> {
        let mut fields: Vec<&(String, Shown)> = fields.iter().collect();
        if origin == Origin::Server && fields.iter().any(|(key, _)| text::index(key).is_some()) {
            // A document becomes a JavaScript object on its way to the shell.
            fields.sort_by_key(|(key, _)| text::index(key).map_or(u64::MAX, u64::from));
        }
        if self.options.sorted {
            fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        fields
            .into_iter()
            .map(|(key, value)| {
                let mut entry = self.key(key, origin);
                entry.push(": ");
                entry.append(&self.inside(value, depth));
                entry
            })
            .collect()
    }

    fn key(&self, key: &str, origin: Origin) -> Inked {
        if text::is_bare(key) {
            Inked::plain(key)
        } else if origin == Origin::Script && key.starts_with("Symbol(") && key.ends_with(')') {
            let mut bracketed = Inked::plain("[");
            bracketed.push_marked(key, Ink::Text, self.options.paint);
            bracketed.push("]");
            bracketed
        } else {
            self.marked(text::quoted(key), Ink::Text)
        }
    }

    fn reference(&mut self, fields: &[(String, Shown)]) -> Inked {
        let mut out = Inked::plain("DBRef(");
        for (index, (_, value)) in fields.iter().enumerate() {
            if index > 0 {
                out.push(", ");
            }
            out.append(&self.alone(value));
        }
        out.push(")");
        out
    }

    fn error(
        &mut self,
        text: &str,
        stack: &str,
        fields: &[(String, Shown)],
        depth: usize,
    ) -> Inked {
        let base =
            if stack.trim().is_empty() { format!("[{text}]") } else { format!("{text}\n{stack}") };
        let mut base = self.marked(base.trim_end(), Ink::Error);
        base.indent(self.indentation);
        if fields.is_empty() || self.is_too_deep(depth) {
            return base;
        }
        self.begin(depth);
        let entries = self.entries(fields, Origin::Script, depth);
        self.end("{", "}", entries, None, depth, base)
    }

    fn map(&mut self, entries: &[(Shown, Shown)], depth: usize) -> Inked {
        let open = format!("Map({}) {{", entries.len());
        if entries.is_empty() {
            return Inked::plain(open + "}");
        }
        if self.is_too_deep(depth) {
            return self.marked("[Map]", Ink::Function);
        }
        self.begin(depth);
        let shown = entries.len().min(self.options.elements.unwrap_or(usize::MAX));
        let mut texts = Vec::with_capacity(shown + 1);
        for (key, value) in &entries[..shown] {
            let mut text = self.inside(key, depth);
            text.push(" => ");
            text.append(&self.inside(value, depth));
            texts.push(text);
        }
        if shown < entries.len() {
            texts.push(more_items(entries.len() - shown));
        }
        self.end(&open, "}", texts, None, depth, Inked::default())
    }

    fn set(&mut self, elements: &[Shown], depth: usize) -> Inked {
        let open = format!("Set({}) {{", elements.len());
        if elements.is_empty() {
            return Inked::plain(open + "}");
        }
        if self.is_too_deep(depth) {
            return self.marked("[Set]", Ink::Function);
        }
        self.begin(depth);
        let (entries, _) = self.elements(elements, depth);
        self.end(&open, "}", entries, None, depth, Inked::default())
    }

    fn ancestor(&mut self, steps: usize) -> Inked {
        let place =
            self.around.len().checked_sub(steps).and_then(|index| self.around.get_mut(index));
        let number = match place {
            Some(Some(number)) => *number,
            Some(none) => {
                self.references += 1;
                *none = Some(self.references);
                self.references
            }
            None => return self.marked("[Circular]", Ink::Function),
        };
        self.marked(format!("[Circular *{number}]"), Ink::Function)
    }

    /// A value one level further in.
    fn inside(&mut self, value: &Shown, depth: usize) -> Inked {
        self.indentation += 2;
        let out = self.value(value, depth + 1);
        self.indentation -= 2;
        out
    }

    fn is_too_deep(&self, depth: usize) -> bool {
        self.options.depth.is_some_and(|limit| depth > limit) || self.around.len() > DEEPEST
    }

    fn cut(&self, value: &Shown) -> Inked {
        let name = match value {
            Shown::Array(..) => "[Array]",
            _ => "[Object]",
        };
        self.marked(name, Ink::Function)
    }

    /// The columns that a line may take.
    fn width(&self) -> usize {
        self.options.width.unwrap_or(layout::ANY).min(layout::ANY)
    }

    fn begin(&mut self, depth: usize) {
        self.around.push(None);
        self.last_depth = depth;
    }

    /// Joins the entries of the object that [`Inspector::begin`] began.
    fn end(
        &mut self,
        open: &str,
        close: &str,
        entries: Vec<Inked>,
        array: Option<Columns>,
        depth: usize,
        base: Inked,
    ) -> Inked {
        let base = match self.around.pop().flatten() {
            None => base,
            Some(number) => {
                let mut reference = self.marked(format!("<ref *{number}>"), Ink::Function);
                if !base.as_str().is_empty() {
                    reference.push(" ");
                    reference.append(&base);
                }
                reference
            }
        };
        let width = self.width();
        let frame = Frame { base: &base, open, close, indentation: self.indentation, width };
        if !self.options.compact {
            return frame.lines(&entries);
        }
        let count = entries.len();
        let entries = match array {
            Some(Columns { more, numbers }) if count > 6 => {
                layout::columns(entries, more, numbers, self.indentation, width)
            }
            _ => entries,
        };
        let may_share = self.last_depth - depth < layout::COMPACT && entries.len() == count;
        may_share.then(|| frame.line(&entries)).flatten().unwrap_or_else(|| frame.lines(&entries))
    }
}

/// What the columns of an array depend on.
struct Columns {
    more: bool,
    numbers: bool,
}

fn is_number(value: &Shown) -> bool {
    matches!(value, Shown::Number(_) | Shown::BigInt(_))
}

fn more_items(count: usize) -> Inked {
    Inked::plain(format!("... {count} more item{}", plural(count)))
}

fn plural(count: usize) -> &'static str {
    if count > 1 { "s" } else { "" }
}

/// The first `limit` UTF-16 units of a text; a letter that would be torn apart is left out.
fn head(text: &str, limit: usize) -> &str {
    let mut length = 0;
    let end = text.char_indices().find(|(_, letter)| {
        length += letter.len_utf16();
        length > limit
    });
    end.map_or(text, |(index, _)| &text[..index])
}

fn function(kind: FunctionKind, name: &str) -> String {
    let kind = match kind {
        FunctionKind::Function => "Function",
        FunctionKind::Async => "AsyncFunction",
        FunctionKind::Generator => "GeneratorFunction",
        FunctionKind::AsyncGenerator => "AsyncGeneratorFunction",
        FunctionKind::Class => {
            let name = if name.is_empty() { "(anonymous)" } else { name };
            return format!("[class {name}]");
        }
    };
    if name.is_empty() { format!("[{kind} (anonymous)]") } else { format!("[{kind}: {name}]") }
}
