//! Code under construction, and how it is laid out: on one line where that is short enough, over several where not.

/// How wide a line may get before it is broken.
const WIDTH: usize = 88;

/// A piece of code that has not been laid out yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Layout {
    /// Text that stays together.
    Text(String),
    /// Pieces behind each other, nothing between them.
    Row(Vec<Layout>),
    /// A list in brackets.
    Group(Group),
    /// Something, and what is called on it: `head`, then `.link(...)` after `.link(...)`.
    Chain(Box<Layout>, Vec<Layout>, Dots),
}

/// Where the dots of a broken chain stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// At the head of each line, where they are part of the links.
    Lead,
    /// At the end of each line but the last; the links have none.
    Trail,
}

/// A list in brackets: arguments, the fields of a document, elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Group {
    /// What opens it, e.g. `doc! {`.
    open: String,
    /// What stands in it.
    items: Vec<Layout>,
    /// What closes it.
    close: &'static str,
    /// How it is written.
    shape: Shape,
}

/// How a group is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// With commas; over several lines, the closing bracket on a line of its own.
    Block {
        /// Blanks inside the brackets on one line.
        padded: bool,
        /// Over several lines, a comma behind the last item too.
        trailing: bool,
    },
    /// With commas; over several lines, the closing bracket behind the last item.
    Hanging,
    /// Without commas; over several lines, items below each other and the closing bracket behind the last.
    Lisp {
        /// How many items stay on the first line.
        keep: usize,
        /// How far behind the bracket the others begin.
        step: usize,
    },
}

/// `(a, b)` with a trailing comma over several lines.
pub(super) const CALL: Shape = Shape::Block { padded: false, trailing: true };
/// `(a, b)` without one.
pub(super) const BARE: Shape = Shape::Block { padded: false, trailing: false };
/// `{ a, b }` with a trailing comma over several lines.
pub(super) const PADDED: Shape = Shape::Block { padded: true, trailing: true };

/// Text that stays together.
pub(super) fn text(text: impl Into<String>) -> Layout {
    Layout::Text(text.into())
}

/// Pieces behind each other.
pub(super) fn row(pieces: impl IntoIterator<Item = Layout>) -> Layout {
    Layout::Row(pieces.into_iter().collect())
}

/// Text, then a piece.
pub(super) fn after(before: impl Into<String>, piece: Layout) -> Layout {
    Layout::Row(vec![Layout::Text(before.into()), piece])
}

/// A list in brackets.
pub(super) fn group(
    open: impl Into<String>,
    items: Vec<Layout>,
    close: &'static str,
    shape: Shape,
) -> Layout {
    Layout::Group(Group { open: open.into(), items, close, shape })
}

/// Something and what is called on it.
pub(super) fn chain(head: Layout, links: Vec<Layout>) -> Layout {
    if links.is_empty() { head } else { Layout::Chain(Box::new(head), links, Dots::Lead) }
}

/// The same, for a language whose lines cannot begin with a dot.
pub(super) fn trailing_chain(head: Layout, links: Vec<Layout>) -> Layout {
    if links.is_empty() { head } else { Layout::Chain(Box::new(head), links, Dots::Trail) }
}

impl Layout {
    /// The code, with `step` for each level of a broken bracket.
    pub(super) fn print(&self, step: &str) -> String {
        let mut page = Page { text: String::new(), column: 0, step };
        page.put(self, 0, 0);
        page.text
    }

    /// What is left of `room` when this stands on one line; `None` when it does not fit. Looks no further than that.
    fn fit(&self, room: usize) -> Option<usize> {
        match self {
            Self::Text(text) => room.checked_sub(text.chars().count()),
            Self::Row(pieces) => pieces.iter().try_fold(room, |room, piece| piece.fit(room)),
            Self::Group(group) => group.fit(room),
            Self::Chain(head, links, dots) => {
                let dots = if *dots == Dots::Trail { links.len() } else { 0 };
                let room = head.fit(room)?.checked_sub(dots)?;
                links.iter().try_fold(room, |room, link| link.fit(room))
            }
        }
    }

    /// How much of this must stand on the line it begins on, and whether a bracket opens there that can be broken.
    fn lead(&self) -> (usize, bool) {
        match self {
            Self::Text(text) => (text.chars().count(), false),
            Self::Row(pieces) => lead(pieces),
            Self::Group(group) => (group.open.chars().count(), true),
            Self::Chain(head, ..) => (head.lead().0, true),
        }
    }
}

/// As [`Layout::lead`], of pieces behind each other.
fn lead(pieces: &[Layout]) -> (usize, bool) {
    let mut width = 0;
    for piece in pieces {
        let (more, ends) = piece.lead();
        width += more;
        if ends {
            return (width, true);
        }
    }
    (width, false)
}

impl Group {
    fn padding(&self) -> &'static str {
        match self.shape {
            Shape::Block { padded: true, .. } if !self.items.is_empty() => " ",
            Shape::Block { .. } | Shape::Hanging | Shape::Lisp { .. } => "",
        }
    }

    fn separator(&self) -> &'static str {
        match self.shape {
            Shape::Block { .. } | Shape::Hanging => ", ",
            Shape::Lisp { .. } => " ",
        }
    }

    /// What shares the lines of the brackets when they are broken: a lone list of data, as in `f({` ... `})`; and what
    /// is too long for a line of its own, `line` wide, if it is alone or stands behind a name, as in
    /// `append("name", List.of(` ... `))`.
    fn shared(&self, line: usize) -> Option<(Option<&Layout>, &Layout)> {
        if matches!(self.shape, Shape::Lisp { .. }) {
            return None;
        }
        match &self.items[..] {
            [only @ Layout::Group(inner)] => {
                let data = inner.close != ")";
                (data || only.fit(line).is_none()).then_some((None, only))
            }
            [first @ Layout::Text(_), last @ (Layout::Group(_) | Layout::Chain(..))] => {
                last.fit(line).is_none().then_some((Some(first), last))
            }
            _ => None,
        }
    }

    fn fit(&self, room: usize) -> Option<usize> {
        let brackets = self.open.chars().count() + self.close.len() + 2 * self.padding().len();
        let between = self.separator().len() * self.items.len().saturating_sub(1);
        let room = room.checked_sub(brackets + between)?;
        self.items.iter().try_fold(room, |room, item| item.fit(room))
    }
}

/// What has been laid out.
struct Page<'a> {
    text: String,
    column: usize,
    step: &'a str,
}

impl Page<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    /// A new line at `indent` columns.
    fn line(&mut self, indent: usize) {
        self.text.push('\n');
        self.column = indent;
        if self.step == "\t" {
            self.text.extend(std::iter::repeat_n('\t', indent));
        } else {
            self.text.extend(std::iter::repeat_n(' ', indent));
        }
    }

    /// Lays out a piece on lines that begin at `indent`, with `behind` columns of text to follow it on its last line.
    fn put(&mut self, piece: &Layout, indent: usize, behind: usize) {
        let room = WIDTH.saturating_sub(self.column + behind);
        if piece.fit(room).is_some() {
            return self.flat(piece);
        }
        match piece {
            Layout::Text(text) => self.push(text),
            Layout::Row(pieces) => {
                for (at, piece) in pieces.iter().enumerate() {
                    let (width, ends) = lead(&pieces[at + 1..]);
                    self.put(piece, indent, if ends { width } else { width + behind });
                }
            }
            Layout::Group(group) => self.broken(group, indent, behind),
            Layout::Chain(head, links, dots) => {
                let inner = indent + self.step.len();
                self.put(head, indent, 0);
                for (at, link) in links.iter().enumerate() {
                    if *dots == Dots::Trail {
                        self.push(".");
                    }
                    self.line(inner);
                    let last = at + 1 == links.len();
                    self.put(link, inner, if last { behind } else { 0 });
                }
            }
        }
    }

    fn flat(&mut self, piece: &Layout) {
        match piece {
            Layout::Text(text) => self.push(text),
            Layout::Row(pieces) => pieces.iter().for_each(|piece| self.flat(piece)),
            Layout::Group(group) => {
                self.push(&group.open);
                self.push(group.padding());
                for (at, item) in group.items.iter().enumerate() {
                    if at > 0 {
                        self.push(group.separator());
                    }
                    self.flat(item);
                }
                self.push(group.padding());
                self.push(group.close);
            }
            Layout::Chain(head, links, dots) => {
                self.flat(head);
                for link in links {
                    if *dots == Dots::Trail {
                        self.push(".");
                    }
                    self.flat(link);
                }
            }
        }
    }

    fn broken(&mut self, group: &Group, indent: usize, behind: usize) {
        let start = self.column;
        self.push(&group.open);
        let behind = behind + group.close.len();
        let line = WIDTH.saturating_sub(indent + self.step.len() + 1);
        if let Some((first, last)) = group.shared(line) {
            self.push(group.padding());
            if let Some(first) = first {
                self.flat(first);
                self.push(group.separator());
            }
            self.put(last, indent, behind + group.padding().len());
            self.push(group.padding());
            return self.push(group.close);
        }
        let inner = indent + self.step.len();
        let last = group.items.len().saturating_sub(1);
        match group.shape {
            Shape::Block { trailing, .. } => {
                for (at, item) in group.items.iter().enumerate() {
                    self.line(inner);
                    self.put(item, inner, 1);
                    if trailing || at < last {
                        self.push(",");
                    }
                }
                self.line(indent);
            }
            Shape::Hanging => {
                for (at, item) in group.items.iter().enumerate() {
                    self.line(inner);
                    self.put(item, inner, if at < last { 1 } else { behind });
                    if at < last {
                        self.push(",");
                    }
                }
            }
            Shape::Lisp { keep, step } => {
                for (at, item) in group.items.iter().enumerate() {
                    match at {
                        0 => {}
                        at if at < keep => self.push(" "),
                        _ => self.line(start + step),
                    }
                    self.put(item, start + step, if at < last { 0 } else { behind });
                }
            }
        }
        self.push(group.close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(letter: char) -> Layout {
        text(letter.to_string().repeat(40))
    }

    #[test]
    fn what_is_short_stays_on_one_line() {
        let map = group("{", vec![text("a: 1"), text("b: 2")], "}", PADDED);
        let call = row([text("f"), group("(", vec![map], ")", CALL), text(";")]);
        assert_eq!(call.print("  "), "f({ a: 1, b: 2 });");
        assert_eq!(group("{", Vec::new(), "}", PADDED).print("  "), "{}");
    }

    #[test]
    fn what_is_long_is_broken_from_the_outside_in() {
        let inner = group("[", vec![text("1"), text("2")], "]", CALL);
        let call = group("f(", vec![words('a'), words('b'), inner], ")", CALL);
        let lines = format!("f(\n  {},\n  {},\n  [1, 2],\n)", "a".repeat(40), "b".repeat(40));
        assert_eq!(call.print("  "), lines);
    }

    #[test]
    fn a_lone_list_shares_the_lines_of_its_call() {
        let map = group("{", vec![words('a'), words('b')], "}", PADDED);
        let call = group("f(", vec![map], ")", CALL);
        let lines = format!("f({{\n  {},\n  {},\n}})", "a".repeat(40), "b".repeat(40));
        assert_eq!(call.print("  "), lines);
    }

    #[test]
    fn a_long_chain_has_a_line_for_each_link() {
        let links = vec![text(".a()"), after(".", words('b')), after(".", words('c'))];
        let code = row([text("x = "), chain(text("y"), links), text(";")]);
        let lines = format!("x = y\n    .a()\n    .{}\n    .{};", "b".repeat(40), "c".repeat(40));
        assert_eq!(code.print("    "), lines);
    }

    #[test]
    fn lisp_closes_behind_the_last_item() {
        let map = group(
            "{",
            vec![words('a'), words('b'), words('c')],
            "}",
            Shape::Lisp { keep: 1, step: 1 },
        );
        let call =
            group("(", vec![text("f"), text("x"), map], ")", Shape::Lisp { keep: 2, step: 2 });
        let [a, b, c] = ["a", "b", "c"].map(|letter| letter.repeat(40));
        let lines = format!("(f x\n  {{{a}\n   {b}\n   {c}}})");
        assert_eq!(call.print("  "), lines);
    }
}
