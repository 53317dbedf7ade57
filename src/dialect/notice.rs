//! Warnings about what a text says, for stderr.

use super::grammar::Rule;
use super::position;
use super::tree::Tree;

/// One sentence for each whole number that a double cannot hold, and for quotation marks that were taken for quotes.
pub(super) fn notices(tree: &Tree<'_>) -> Vec<String> {
    let mut notices = Vec::new();
    let mut guillemets = 0;
    for node in &tree.nodes {
        match node.rule {
            Rule::integer => {
                let warning = inexact(tree.text_of(node));
                notices.extend(warning.filter(|warning| !notices.contains(warning)));
            }
            Rule::curly if tree.text_of(node).starts_with('«') => guillemets += 1,
            _ => {}
        }
    }
    if guillemets > 0 {
        let strings = if guillemets == 1 { "string" } else { "strings" };
        notices.push(format!("repaired: « » around {guillemets} {strings}"));
    }
    notices
}

/// The warning for a decimal integer literal that JavaScript rounds.
fn inexact(literal: &str) -> Option<String> {
    // Up to fifteen digits are always exact.
    if literal.len() < 16 {
        return None;
    }
    let digits = literal.replace('_', "");
    let exact = position::nearest_double(&digits)?;
    if exact == digits {
        return None;
    }
    let class = match digits.parse::<i64>() {
        Ok(_) => "NumberLong",
        Err(_) => "NumberDecimal",
    };
    Some(format!(
        "{literal} is more than a JavaScript number holds, it becomes {exact}; write {class}(\"{digits}\")"
    ))
}
