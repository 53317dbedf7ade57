//! The tokens of a text with their kinds, for colours.

use std::ops::Range;

use super::grammar::Rule;
use super::tree::{Node, Tree};

/// A token: where it stands and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `if`, `function`, `this`...
    Keyword,
    /// `true`, `null`, `undefined`...
    Constant,
    /// A name.
    Word,
    /// A name after a dot.
    Member,
    /// A name before a colon, in an object or a document.
    Key,
    /// A string between straight or typographic quotes.
    String,
    /// A template's text and its backticks.
    Template,
    /// A number.
    Number,
    /// A regular expression.
    Regex,
    /// A comment, the hashbang line included.
    Comment,
    /// Brackets, operators, separators.
    Punctuation,
    /// The verb of a shell word.
    Verb,
    /// An argument of a shell word.
    Argument,
    /// The angle brackets of a document.
    Document,
    /// What cannot be read, from where the text goes wrong.
    Broken,
}

/// The tokens of a tree in order.
pub(super) fn paint(tree: &Tree<'_>) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut painter = Painter { tree, tokens: &mut tokens, at: 0 };
    painter.node(0);
    tokens
}

struct Painter<'a, 'b> {
    tree: &'a Tree<'b>,
    tokens: &'a mut Vec<Token>,
    at: usize,
}

impl Painter<'_, '_> {
    /// Paints a node: what lies between its children, and them. Recursion is as deep as brackets may be.
    fn node(&mut self, index: usize) {
        let node = self.tree.nodes[index];
        if node.rule == Rule::invisible {
            self.at = node.end as usize;
            return;
        }
        if let Some(kind) = leaf(self.tree, index) {
            self.token(node.span(), kind);
            return;
        }
        let sign = match node.rule {
            Rule::document => Kind::Document,
            Rule::template | Rule::hole => Kind::Template,
            _ => Kind::Punctuation,
        };
        if node.rule == Rule::hole {
            let start = node.start as usize;
            self.token(start..start + 2, sign); // `$` alone would be a name.
        }
        for child in self.tree.children(index) {
            self.between(self.tree.nodes[child].start as usize, sign);
            self.node(child);
        }
        self.between(node.end as usize, sign);
    }

    /// Paints the keywords and signs up to a byte.
    fn between(&mut self, end: usize, sign: Kind) {
        let start = self.at;
        if start >= end {
            return;
        }
        let text = &self.tree.text[start..end];
        if !text.trim().is_empty() {
            for piece in &Tree::read(Rule::between, text).nodes {
                let span = start + piece.start as usize..start + piece.end as usize;
                match piece.rule {
                    Rule::keyword => self.token(span, Kind::Keyword),
                    Rule::mark => self.token(span, sign),
                    _ => {}
                }
            }
        }
        self.at = end;
    }

    fn token(&mut self, span: Range<usize>, kind: Kind) {
        self.at = span.end;
        if !span.is_empty() {
            self.tokens.push(Token { span, kind });
        }
    }
}

/// The kind of a node that is one token.
fn leaf(tree: &Tree<'_>, index: usize) -> Option<Kind> {
    let node = &tree.nodes[index];
    Some(match node.rule {
        Rule::string | Rule::curly | Rule::open_string => Kind::String,
        Rule::text => Kind::Template,
        Rule::integer | Rule::number => Kind::Number,
        Rule::regex | Rule::open_regex => Kind::Regex,
        Rule::comment | Rule::open_comment | Rule::late_arrow | Rule::hashbang => Kind::Comment,
        Rule::verb | Rule::lone_verb | Rule::leave_verb => Kind::Verb,
        Rule::argument => Kind::Argument,
        Rule::binder | Rule::eager | Rule::soft | Rule::awaiting => Kind::Keyword,
        Rule::relate => Kind::Keyword,
        Rule::sign | Rule::infix | Rule::arrow | Rule::step | Rule::comma => Kind::Punctuation,
        Rule::broken | Rule::too_deep => Kind::Broken,
        Rule::name | Rule::private => Kind::Word,
        Rule::word => word(tree, node),
        _ => return None,
    })
}

fn word(tree: &Tree<'_>, node: &Node) -> Kind {
    let before = tree.text[..node.start as usize].trim_end();
    let after = tree.text[node.end as usize..].trim_start();
    let in_object =
        matches!(tree.parent(node).rule, Rule::object | Rule::document | Rule::members_of_class);
    if before.ends_with('.') && !before.ends_with("...") {
        Kind::Member
    } else if in_object && after.starts_with(':') && before.ends_with(['{', '<', ',']) {
        Kind::Key
    } else {
        match tree.text_of(node) {
            "this" | "super" => Kind::Keyword,
            "true" | "false" | "null" | "undefined" | "NaN" | "Infinity" => Kind::Constant,
            _ => Kind::Word,
        }
    }
}
