//! An input that is still arriving: whether it is open, asked after each line, in time that does not grow with it.
//!
//! Parsing the whole text after each line would take time that grows with its square. So the reader asks a shorter
//! text in its place: what is already closed inside the innermost open bracket can no longer matter, up to the last
//! comma or statement, and is cut out. The whole text is parsed once, when the short one says that it may be complete.

use super::Verdict;
use super::grammar::Rule;
use super::tree::Tree;
use super::verdict::{self, judge};

/// Texts up to this length are asked as they are.
const SHORT: usize = 256;

/// Texts from this length on are not asked after every line.
const LONG: usize = 8192;

/// The lines of an input so far.
#[derive(Debug, Default)]
pub(super) struct Pending {
    text: String,
    /// What is asked in the place of the text.
    short: String,
    /// What is open after the last line.
    open: Open,
    /// Bytes of `short` when it was last parsed.
    asked: usize,
    /// The short text has misled once.
    distrusted: bool,
}

/// What is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Open {
    /// Nothing.
    #[default]
    Nothing,
    /// Something, innermost a template.
    Template,
    /// Something, innermost a comment.
    Comment,
    /// Something, innermost a bracket.
    Bracket,
    /// No bracket: an operator or a keyword wants more.
    Operator,
}

impl Pending {
    /// Adds a line.
    pub(super) fn add(&mut self, line: &str) {
        for text in [&mut self.text, &mut self.short] {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
        let ends = match self.open {
            Open::Template => line.contains('`') || line.contains("${"),
            Open::Comment => line.contains("*/"),
            // A text that could not be cut is asked less and less often, but whenever the line may close a bracket.
            Open::Bracket => {
                let grown = self.short.len() - self.asked;
                self.short.len() < LONG
                    || grown * 8 >= self.short.len()
                    || line.contains([')', ']', '}', '>'])
            }
            Open::Nothing | Open::Operator => true,
        };
        if ends {
            self.ask();
        }
    }

    /// The whole text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The whole text, of which nothing more will be asked.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether the text wants another line.
    pub(super) fn is_open(&self) -> bool {
        self.open != Open::Nothing
    }

    /// Whether the next line begins inside a template.
    pub(super) fn in_template(&self) -> bool {
        self.open == Open::Template
    }

    /// Whether the next line begins inside a template or a comment, where empty lines are text.
    pub(super) fn in_text(&self) -> bool {
        matches!(self.open, Open::Template | Open::Comment)
    }

    /// The short text said "complete", the whole one does not: ask only the whole one from now on.
    pub(super) fn distrust(&mut self) {
        self.distrusted = true;
        self.short.clone_from(&self.text);
        self.ask();
    }

    fn ask(&mut self) {
        let tree = Tree::read(Rule::input, &self.short);
        self.open = match judge(&tree) {
            Verdict::Complete | Verdict::Broken(_) => Open::Nothing,
            Verdict::Incomplete { opener } => match opener.map(|span| &self.short[span]) {
                Some("`") => Open::Template,
                Some("/*") => Open::Comment,
                Some(_) => Open::Bracket,
                None => Open::Operator,
            },
        };
        if self.open != Open::Nothing && !self.distrusted && self.short.len() > SHORT {
            self.short = shorten(&tree);
        }
        self.asked = self.short.len();
    }
}

/// A text that is open in the same way: without what is closed inside its innermost open bracket.
fn shorten(tree: &Tree<'_>) -> String {
    let Some(innermost) = tree.nodes.iter().find(|node| node.rule == Rule::unclosed) else {
        return shorten_operands(tree);
    };
    let parent = innermost.parent as usize;
    let bracket = &tree.nodes[parent];
    let Some(opening) = verdict::opening(tree, bracket) else { return tree.text.to_owned() };
    let children = || tree.children(parent).map(|child| tree.nodes[child]);
    let keep = match bracket.rule {
        Rule::template => {
            children().filter(|child| child.rule == Rule::hole).last().map(|child| child.end)
        }
        Rule::block => {
            children().filter(|child| child.rule == Rule::begin).last().map(|child| child.start)
        }
        Rule::members_of_class => {
            children().filter(|child| child.rule == Rule::body).last().map(|child| child.end)
        }
        _ => children().filter(|child| child.rule == Rule::comma).last().map(|child| child.start),
    };
    let keep = keep.map_or(opening.end, |keep| keep as usize);
    format!("{}{}", &tree.text[..opening.end], &tree.text[keep..])
}

/// The same where no bracket is open: what stands before the last comma or operator is one value.
fn shorten_operands(tree: &Tree<'_>) -> String {
    let parts = |rule: Rule| matches!(rule, Rule::comma | Rule::infix);
    let last = tree.children(0).filter(|item| tree.nodes[*item].rule == Rule::item).last();
    let last = last
        .and_then(|item| tree.children(item).filter(|part| parts(tree.nodes[*part].rule)).last());
    match last {
        Some(last) => format!("0 {}", &tree.text[tree.nodes[last].start as usize..]),
        None => tree.text.to_owned(),
    }
}
