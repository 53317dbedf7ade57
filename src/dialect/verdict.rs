//! Whether a text is complete, wants another line, or can never run; and in which words that is said.

use std::ops::Range;

use super::grammar::Rule;
use super::tree::{Node, Tree};
use super::{Verdict, position};
use crate::error::SyntaxError;

/// Judges a text by its tree.
///
/// The grammar is lenient: what it does not mind, QuickJS may still refuse.
pub(super) fn judge(tree: &Tree<'_>) -> Verdict {
    let mut incomplete = false;
    let mut glued = None;
    let mut opener = None;
    for (index, node) in tree.nodes.iter().enumerate() {
        match node.rule {
            Rule::broken => return broken(tree, node),
            Rule::too_deep => return too_deep(tree, node),
            Rule::absent => return absent(tree, index),
            Rule::unclosed => {
                let parent = tree.parent(node);
                if let Some(error) = endless(tree, parent) {
                    return Verdict::Broken(error);
                }
                incomplete = true;
                // An inner bracket is closed before an outer one, so the first that is open is the innermost.
                opener = opener.or_else(|| opening(tree, parent));
            }
            Rule::unfinished => incomplete = true,
            Rule::glued => glued = glued.or(Some(index)),
            _ => {}
        }
    }
    match (incomplete, glued) {
        (true, _) => Verdict::Incomplete { opener },
        (false, Some(index)) => two_statements(tree, index),
        (false, None) => Verdict::Complete,
    }
}

/// Two statements with nothing between them: `f() g()`.
fn two_statements(tree: &Tree<'_>, index: usize) -> Verdict {
    let start = tree.nodes[index].start as usize;
    let token = Tree::of(Rule::token, &tree.text[start..]);
    let next = token.map_or("", |token| token.text_of(&token.nodes[0]));
    let message = format!("expected \";\" or a new line before \"{next}\"");
    Verdict::Broken(SyntaxError { message, span: start..start + next.len() })
}

/// What opens a node, if it is a bracket, a template or a comment.
pub(super) fn opening(tree: &Tree<'_>, node: &Node) -> Option<Range<usize>> {
    let start = node.start as usize;
    match node.rule {
        Rule::paren
        | Rule::array
        | Rule::block
        | Rule::object
        | Rule::members_of_class
        | Rule::names
        | Rule::document
        | Rule::template => Some(start..start + 1),
        Rule::hole => Some(start..start + 2),
        Rule::open_comment if node.span().len() > 1 => Some(start..start + 2),
        Rule::open_string => Some(start..start + 1),
        Rule::input | Rule::item | Rule::body => None,
        _ if node.parent == 0 => None,
        _ => opening(tree, tree.parent(node)),
    }
}

/// What closes a bracket.
fn closer(rule: Rule) -> Option<&'static str> {
    match rule {
        Rule::paren => Some(")"),
        Rule::array => Some("]"),
        Rule::block | Rule::object | Rule::members_of_class | Rule::names | Rule::hole => Some("}"),
        Rule::document => Some(">"),
        Rule::ternary => Some(":"),
        _ => None,
    }
}

/// The error of a string or regular expression that the end of the text cuts off: no further line can end it.
fn endless(tree: &Tree<'_>, node: &Node) -> Option<SyntaxError> {
    let start = node.start as usize;
    match node.rule {
        Rule::open_string => {
            let continued = tree.text_of(node).ends_with(['\\', '\n']);
            (!continued).then(|| endless_string(tree, start))
        }
        Rule::curly => Some(endless_string(tree, start)),
        Rule::open_regex => Some(endless_regex(start)),
        _ => None,
    }
}

fn endless_string(tree: &Tree<'_>, start: usize) -> SyntaxError {
    let quote = position::first_character(&tree.text[start..]);
    let line = tree.text[start..].lines().next().unwrap_or_default();
    let hint = if line[quote..].contains(TYPOGRAPHIC) {
        "; a typographic quote does not end it here, write a straight one"
    } else {
        ""
    };
    SyntaxError {
        message: format!("the string that begins here does not end on its line{hint}"),
        span: start..start + quote,
    }
}

/// The quotes that word processors and blogs put in the place of straight ones.
const TYPOGRAPHIC: [char; 16] =
    ['“', '”', '„', '‟', '«', '»', '″', '‘', '’', '‚', '‛', '‹', '›', '′', '「', '」'];

fn endless_regex(start: usize) -> SyntaxError {
    SyntaxError {
        message: "the regular expression that begins here does not end on its line".into(),
        span: start..start + 1,
    }
}

fn broken(tree: &Tree<'_>, node: &Node) -> Verdict {
    let start = node.start as usize;
    let first = &tree.nodes[node.next as usize - 1];
    let found = tree.text_of(first);
    let parent = tree.parent(node);
    let message = match (first.rule, parent.rule) {
        (Rule::open_quote, _) => return Verdict::Broken(endless_string(tree, start)),
        (Rule::open_slash, _) => return Verdict::Broken(endless_regex(start)),
        (_, Rule::crowd) => {
            let message = "a bare \">\" ends the document; put a comparison inside it in parentheses, <a: (1 > 2)>";
            let end = parent.start as usize;
            return Verdict::Broken(SyntaxError { message: message.into(), span: end - 1..end });
        }
        (_, rule) => match closer(rule) {
            Some(closer) => {
                let opener = opening(tree, parent).map_or("?", |span| &tree.text[span]);
                let line = tree.text[..parent.start as usize].matches('\n').count();
                let here = tree.text[..start].matches('\n').count();
                if line == here {
                    format!("expected \"{closer}\" to close \"{opener}\", not \"{found}\"")
                } else {
                    format!(
                        "expected \"{closer}\" to close \"{opener}\" of line {}, not \"{found}\"",
                        line + 1
                    )
                }
            }
            None => format!("unexpected \"{found}\""),
        },
    };
    Verdict::Broken(SyntaxError { message, span: start..start + found.len() })
}

fn too_deep(tree: &Tree<'_>, node: &Node) -> Verdict {
    let start = node.start as usize;
    let span = opening(tree, tree.parent(node)).unwrap_or(start..start);
    let opener = &tree.text[span.clone()];
    let message = format!(
        "nested more than {MAX_DEPTH} levels deep; the innermost open bracket is this \"{opener}\""
    );
    Verdict::Broken(SyntaxError { message, span })
}

/// How deep brackets may be nested, as the grammar has it (`too_deep`).
pub(super) const MAX_DEPTH: usize = 250;

/// A value that is missing: `{a: , b: 1}`, `1 + )`. Names the operator before the gap.
fn absent(tree: &Tree<'_>, index: usize) -> Verdict {
    let start = tree.nodes[index].start as usize;
    let mut before = tree.text[..start].trim_end();
    let mut previous = &tree.nodes[index - 1];
    for node in tree.nodes[..index].iter().rev() {
        previous = node;
        if !matches!(node.rule, Rule::comment | Rule::invisible) {
            break;
        }
        before = tree.text[..node.start as usize].trim_end();
    }
    // `:` and `=` of an object and `?` are no nodes, but one character each.
    let operator = match previous.rule {
        Rule::infix | Rule::arrow if previous.end as usize == before.len() => {
            tree.text_of(previous)
        }
        _ => &before[before.len() - position::last_character(before)..],
    };
    let end = start + position::first_character(&tree.text[start..]);
    Verdict::Broken(SyntaxError {
        message: format!("expected a value after \"{operator}\""),
        span: start..end,
    })
}
