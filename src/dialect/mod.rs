//! The dialect: from text to tokens to inputs, each with its list of edits, and whether an input is complete.
//!
//! The grammar (`grammar/shell.pest`) defines every lexical form and the structure; this room walks its tree and says
//! things in words. It looks at tokens, never at characters, except in the one file that maps positions.

mod context;
mod decoration;
mod grammar;
mod highlight;
mod mend;
mod notice;
mod pending;
mod position;
mod reader;
mod readings;
mod rewrite;
mod tree;
mod verdict;

pub use context::{Context, Place, context};
pub use grammar::VERBS;
pub use highlight::{Kind, Token};
pub use mend::repaired;
pub use position::Lines;
pub use reader::{Entry, Reader, inputs};
pub use readings::readings;

use std::ops::Range;

use crate::error::SyntaxError;

/// Where a text comes from. It decides what is rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The prompt, a pipe, `--eval`: top-level `let`, `const` and `class` may be declared again by a later input, and a
    /// one-word shell word may be the whole input.
    Prompt,
    /// A classic script file: everything that is JavaScript passes byte for byte.
    Script,
    /// An ES module file.
    Module,
}

/// A text after the dialect's work.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// What it is as a whole.
    pub verdict: Verdict,
    /// Its statements in order: shell words and the JavaScript between them. In a file there is one `Script` in which
    /// words have become calls of `__word("use", "shop")`.
    pub parts: Vec<Part>,
    /// Repairs and warnings to tell the user of, one sentence each, for stderr.
    pub notices: Vec<String>,
}

/// What a text is as a whole.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It can run.
    Complete,
    /// It wants another line: the opening that is still open, if it is a bracket.
    Incomplete {
        /// The innermost open bracket, template or comment, in bytes of the text.
        opener: Option<Range<usize>>,
    },
    /// It can never run, whatever follows.
    Broken(SyntaxError),
}

impl Verdict {
    /// What is wrong with a text of this verdict, if it is to run as it stands.
    pub fn error(&self, text: &str) -> Option<SyntaxError> {
        match self {
            Self::Complete => None,
            Self::Broken(error) => Some(error.clone()),
            Self::Incomplete { opener: Some(span) } => {
                let opened = text.get(span.clone()).unwrap_or_default();
                let message = format!("\"{opened}\" is never closed");
                Some(SyntaxError { message, span: span.clone() })
            }
            Self::Incomplete { opener: None } => {
                let message = "the text ends in the middle of an expression".to_owned();
                Some(SyntaxError { message, span: text.len()..text.len() })
            }
        }
    }
}

/// One piece of an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// A shell word with its arguments, e.g. `use shop`.
    Word {
        /// The verb, e.g. `use`.
        verb: String,
        /// Its arguments as typed, without a trailing `;`.
        arguments: Vec<String>,
        /// A one-word form (`it`, `exit`): the user's own global of that name wins, so the text is kept.
        alone: bool,
        /// Bytes of the text.
        span: Range<usize>,
    },
    /// JavaScript to run.
    Script(Code),
}

/// JavaScript that QuickJS can read, and how its positions map back.
#[derive(Clone, Debug, PartialEq)]
pub struct Code {
    /// The rewritten text.
    pub text: String,
    /// What was rewritten, in order of position.
    pub edits: Vec<Edit>,
    /// Bytes of the user's text that this code stands for.
    pub span: Range<usize>,
    /// It uses `await` at the top level.
    pub awaits: bool,
    /// The name that its last statement declares, when that is a function or class (mongosh echoes it).
    pub declares: Option<String>,
}

/// One difference between what the user wrote and what runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the user's text.
    pub source: Range<usize>,
    /// Bytes of the rewritten text.
    pub output: Range<usize>,
}

/// The longest input.
const LONGEST: usize = 64 << 20;

/// Reads a text: what it is as a whole, what runs, and what is to be told of it.
///
/// Total: every text has an answer. A text that is broken still comes with its parts, because QuickJS has the last
/// word on what JavaScript is: what it accepts, runs.
pub fn parse(text: &str, source: Source) -> Input {
    if text.len() > LONGEST {
        let error =
            SyntaxError { message: "an input may be 64 MB long at most".into(), span: 0..0 };
        return Input { verdict: Verdict::Broken(error), parts: Vec::new(), notices: Vec::new() };
    }
    let input = read(text, source);
    if !matches!(input.verdict, Verdict::Broken(_)) {
        return input;
    }
    if let Some(input) = mend::repaired(text, source) {
        return input;
    }
    // An object whose keys are keywords (`{class: 1}`) cannot even be read as a block.
    if source == Source::Prompt
        && let Some(code) = in_parentheses(text)
    {
        return Input {
            verdict: Verdict::Complete,
            parts: vec![Part::Script(code)],
            notices: input.notices,
        };
    }
    input
}

fn read(text: &str, source: Source) -> Input {
    Reading::new(text).input(source)
}

/// One reading of a text, for whoever asks several things of the same text, as the prompt does at each key.
///
/// It takes the text as it stands; [`parse`] also tries repairs. The text must be shorter than 4 GB.
pub struct Reading<'a> {
    tree: tree::Tree<'a>,
}

impl<'a> Reading<'a> {
    /// Reads a text.
    pub fn new(text: &'a str) -> Self {
        Self { tree: tree::Tree::read(grammar::Rule::input, text) }
    }

    /// What it is as a whole.
    pub fn verdict(&self) -> Verdict {
        verdict::judge(&self.tree)
    }

    /// What it is as a whole, and what runs.
    pub fn input(&self, source: Source) -> Input {
        Input {
            verdict: self.verdict(),
            parts: rewrite::parts(&self.tree, source),
            notices: notice::notices(&self.tree),
        }
    }

    /// Its tokens in order; white space is in none.
    ///
    /// Every text has tokens, an unfinished one too, so a line can be coloured while it is typed.
    pub fn tokens(&self) -> Vec<Token> {
        highlight::paint(&self.tree)
    }
}

/// The tokens of a text in order, for colours.
pub fn tokens(text: &str) -> Vec<Token> {
    Reading::new(text).tokens()
}

/// A text as the value between parentheses: `{a: 1, b: 2}` is no valid block, but a valid object.
///
/// For an input that QuickJS refuses as it stands. `None` if it is nothing of the kind: it does not begin with a brace,
/// or is not one expression.
pub fn in_parentheses(text: &str) -> Option<Code> {
    let tree = tree::Tree::of(grammar::Rule::braces, text)?;
    let object = tree.first(grammar::Rule::object)?.span();
    let wrapped = format!("({})", &text[object.clone()]);
    let mut parts = read(&wrapped, Source::Script);
    let (Verdict::Complete, Some(Part::Script(mut code))) = (parts.verdict, parts.parts.pop())
    else {
        return None;
    };
    // The parentheses are edits like any other, and nothing else has moved.
    for edit in &mut code.edits {
        edit.source = edit.source.start - 1 + object.start..edit.source.end - 1 + object.start;
    }
    let end = code.text.len();
    code.edits.insert(0, Edit { source: object.start..object.start, output: 0..1 });
    code.edits.push(Edit { source: object.end..object.end, output: end - 1..end });
    code.span = object;
    Some(code)
}
