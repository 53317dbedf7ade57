//! From the tree to what runs: shell words apart, documents and typographic quotes as JavaScript has them.

use std::ops::Range;

use super::grammar::Rule;
use super::position::{self, Rewriting};
use super::tree::Tree;
use super::{Code, Part, Source};

/// One difference: bytes of the text and what stands in their place.
type Change = (Range<usize>, String);

/// The parts of a text in order.
pub(super) fn parts(tree: &Tree<'_>, source: Source) -> Vec<Part> {
    let mut changes = changes(tree, source);
    let whole = 0..tree.text.len();
    match source {
        Source::Prompt => split(tree, &changes),
        Source::Script | Source::Module => {
            changes.extend(calls(tree));
            changes.sort_by_key(|(span, _)| (span.start, span.end));
            // What a call replaces as a whole needs no changes inside.
            let mut end = 0;
            changes.retain(|(span, _)| {
                let outside = span.start >= end;
                end = end.max(span.end);
                outside
            });
            vec![Part::Script(code(tree, whole, &changes))]
        }
    }
}

/// The JavaScript of a span of the text.
fn code(tree: &Tree<'_>, span: Range<usize>, changes: &[Change]) -> Code {
    let mut rewriting = Rewriting::new(tree.text, span.clone());
    let first = changes.partition_point(|(at, _)| at.start < span.start);
    for (at, with) in changes[first..].iter().take_while(|(at, _)| at.end <= span.end) {
        rewriting.replace(at.clone(), with);
    }
    let (text, edits) = rewriting.finish();
    let items = || tree.children(0).filter(|index| inside(tree, *index, &span));
    let last = items().filter(|index| tree.nodes[*index].rule == Rule::item).last();
    Code {
        text,
        edits,
        awaits: awaits(tree, &span),
        declares: last.and_then(|item| declared(tree, item)),
        span,
    }
}

fn inside(tree: &Tree<'_>, index: usize, span: &Range<usize>) -> bool {
    let node = tree.nodes[index].span();
    span.start <= node.start && node.end <= span.end
}

/// The name of the function or class that a top-level item declares.
fn declared(tree: &Tree<'_>, item: usize) -> Option<String> {
    let declaration = tree.children(item).next()?;
    if !matches!(tree.nodes[declaration].rule, Rule::function_declaration | Rule::class_declaration)
    {
        return None;
    }
    name(tree, declaration).map(str::to_owned)
}

fn name<'a>(tree: &Tree<'a>, declaration: usize) -> Option<&'a str> {
    let name = tree.children(declaration).find(|index| tree.nodes[*index].rule == Rule::name)?;
    Some(tree.text_of(&tree.nodes[name]))
}

/// Shell words and the JavaScript between them.
fn split(tree: &Tree<'_>, changes: &[Change]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut from = 0;
    let script = |parts: &mut Vec<Part>, span: Range<usize>| {
        let runs = |index: usize| {
            matches!(tree.nodes[index].rule, Rule::item | Rule::leave | Rule::broken)
        };
        if tree.children(0).any(|index| runs(index) && inside(tree, index, &span)) {
            parts.push(Part::Script(code(tree, span, changes)));
        }
    };
    for index in tree.children(0) {
        let node = &tree.nodes[index];
        let alone = node.rule == Rule::alone;
        if !alone && node.rule != Rule::command {
            continue;
        }
        script(&mut parts, from..node.start as usize);
        from = node.end as usize;
        let (verb, arguments) = words(tree, index);
        parts.push(Part::Word { verb, arguments, alone, span: node.span() });
    }
    script(&mut parts, from..tree.text.len());
    parts
}

/// A shell word's verb and arguments.
fn words(tree: &Tree<'_>, command: usize) -> (String, Vec<String>) {
    let text = |index: usize| tree.text_of(&tree.nodes[index]).to_owned();
    let mut children = tree.children(command);
    let verb = children.next().map(text).unwrap_or_default();
    (verb, children.filter(|index| tree.nodes[*index].rule == Rule::argument).map(text).collect())
}

/// In a file: each shell word as a call, on its own line as before.
fn calls(tree: &Tree<'_>) -> Vec<Change> {
    let mut calls = Vec::new();
    for index in tree.children(0) {
        let node = &tree.nodes[index];
        let call = match node.rule {
            Rule::command => true,
            Rule::leave | Rule::alone => leaves(tree, index),
            _ => false,
        };
        if call {
            let (verb, arguments) = words(tree, index);
            let literals: Vec<String> = std::iter::once(&verb)
                .chain(&arguments)
                .map(|word| position::literal(word))
                .collect();
            let last = tree
                .children(index)
                .filter(|child| !matches!(tree.nodes[*child].rule, Rule::comment | Rule::invisible))
                .last();
            let end = last.map_or(node.end, |last| tree.nodes[last].end) as usize;
            let ends = tree.text[end..node.end as usize].trim_start().starts_with(';');
            let call = format!("__word({}){}", literals.join(", "), if ends { "" } else { ";" });
            calls.push((node.start as usize..end, call));
        }
    }
    calls
}

/// Whether `exit` or `quit`, alone on a line of a file, is the shell word: the file has no such name of its own.
fn leaves(tree: &Tree<'_>, index: usize) -> bool {
    let verb = &tree.nodes[index + 1];
    let word = tree.text_of(verb);
    let own = |at: usize| {
        let node = &tree.nodes[at];
        let after = tree.text[node.end as usize..].trim_start();
        let before = tree.text[..node.start as usize].trim_end();
        let used = before.ends_with('.') || after.starts_with(['(', ':']);
        tree.text_of(node) == word && (node.rule == Rule::name || node.rule == Rule::word && !used)
    };
    matches!(word, "exit" | "quit") && !(0..tree.nodes.len()).any(own)
}

/// What differs between the text and JavaScript, in order.
fn changes(tree: &Tree<'_>, source: Source) -> Vec<Change> {
    let mut changes = Vec::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let span = node.span();
        match node.rule {
            Rule::document => document(tree, index, &mut changes),
            Rule::curly => curly(tree, index, &mut changes),
            // JavaScript takes the byte-order mark for a blank.
            Rule::invisible if tree.text_of(node) != "\u{feff}" => changes.push((span, " ".into())),
            Rule::binder if source == Source::Prompt && at_top(tree, index) => {
                binder(tree, index, &mut changes)
            }
            Rule::class_declaration if source == Source::Prompt && at_top(tree, index) => {
                if let Some(name) = name(tree, index) {
                    changes.push((span.start..span.start, format!("var {name} = ")));
                    changes.push((span.end..span.end, ";".into()));
                }
            }
            _ => {}
        }
    }
    changes.sort_by_key(|(span, _)| (span.start, span.end));
    changes
}

fn at_top(tree: &Tree<'_>, index: usize) -> bool {
    tree.parent(&tree.nodes[index]).rule == Rule::item
}

fn document(tree: &Tree<'_>, index: usize, changes: &mut Vec<Change>) {
    let node = &tree.nodes[index];
    let (open, close) = match tree.parent(node).rule {
        // Where a brace would open a block.
        Rule::wrapped => ("({", "})"),
        Rule::fresh => (";({", "})"),
        _ => ("{", "}"),
    };
    let start = node.start as usize;
    changes.push((start..start + 1, open.into()));
    let last = tree.children(index).last();
    let end = match last.map(|last| tree.nodes[last]) {
        Some(last) if matches!(last.rule, Rule::unclosed | Rule::broken | Rule::too_deep) => return,
        Some(last) if last.rule == Rule::crowd => last.start as usize,
        _ => node.end as usize,
    };
    changes.push((end - 1..end, close.into()));
}

fn curly(tree: &Tree<'_>, index: usize, changes: &mut Vec<Change>) {
    let node = &tree.nodes[index];
    if tree.children(index).next().is_some() {
        return; // It has no end.
    }
    let text = tree.text_of(node);
    let start = node.start as usize;
    let inner = position::first_character(text)..text.len() - position::last_character(text);
    let content = &text[inner.clone()];
    let quote = if content.contains('"') && !content.contains('\'') { '\'' } else { '"' };
    changes.push((start..start + inner.start, quote.into()));
    let escaped = position::escape_quotes(content, quote);
    if escaped != content {
        changes.push((start + inner.start..start + inner.end, escaped));
    }
    changes.push((start + inner.end..node.end as usize, quote.into()));
}

/// `let` and `const` at the prompt's top level: `var`, so that a later input may declare the name again.
fn binder(tree: &Tree<'_>, index: usize, changes: &mut Vec<Change>) {
    let node = &tree.nodes[index];
    let bare = |binding: &usize| {
        tree.children(*binding).count() == 1 && tree.nodes[*binding + 1].rule == Rule::word
    };
    let bindings = tree.children(node.parent as usize).filter(|child| {
        tree.nodes[*child].rule == Rule::binding && tree.nodes[*child].start > node.start
    });
    let bare: Vec<usize> = bindings.filter(bare).collect();
    // A constant without a value is an error, and QuickJS is to say so.
    if tree.text_of(node) == "const" && !bare.is_empty() {
        return;
    }
    changes.push((node.span(), "var".into()));
    for binding in bare {
        let end = tree.nodes[binding].end as usize;
        changes.push((end..end, " = void 0".into()));
    }
}

/// Whether a span awaits outside all functions.
fn awaits(tree: &Tree<'_>, span: &Range<usize>) -> bool {
    // An arrow function without braces reaches to the next comma of its bracket.
    struct Frame {
        next: u32,
        function: bool,
        outer: bool,
    }
    let mut frames: Vec<Frame> = vec![Frame { next: u32::MAX, function: false, outer: false }];
    for (index, node) in tree.nodes.iter().enumerate() {
        while frames.last().is_some_and(|frame| frame.next as usize <= index) {
            frames.pop();
        }
        let Some(frame) = frames.last_mut() else { return false };
        match node.rule {
            Rule::awaiting if !frame.function && span.contains(&node.span().start) => return true,
            Rule::arrow => frame.function = true,
            Rule::comma => frame.function = frame.outer,
            _ => {}
        }
        if node.next as usize > index + 1 {
            let function = frame.function || node.rule == Rule::body;
            frames.push(Frame { next: node.next, function, outer: function });
        }
    }
    false
}
