//! Which names a function takes from around it that no worker can see: the locals of an enclosing function or a module.
//!
//! Read from the tokens of the text that the function stands in, so it knows what can be known without running anything.

use std::ops::Range;

use crate::dialect::{self, Kind, Token};

/// Longer texts are not searched: the answer only makes a message better.
const LONGEST: usize = 64 * 1024;

/// A name that a function sees and a worker does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Local {
    /// The name.
    pub(super) name: String,
    /// What it is, e.g. ``a local variable of `run` ``.
    pub(super) what: String,
    /// The bytes of the function or class that it names at the top of a module, which can be given by its source.
    pub(super) source: Option<Range<usize>>,
}

/// The names in a text, in order and without repetitions: what a function may take from around it.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for token in dialect::tokens(text) {
        let name = &text[token.span.clone()];
        if token.kind == Kind::Word && !found.iter().any(|known| known == name) {
            found.push(name.to_owned());
        }
    }
    found
}

/// The locals of what encloses the function at the bytes `function` of `text`, as far as the function names them. `module`
/// is the name of the module that the text is, if it is one.
pub(super) fn locals(text: &str, function: Range<usize>, module: Option<&str>) -> Vec<Local> {
    if text.len() > LONGEST || (function.start == 0 && module.is_none()) {
        return Vec::new();
    }
    let tokens: Vec<Token> =
        dialect::tokens(text).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    let reading = Reading { text, tokens: &tokens };
    let first = tokens.partition_point(|token| token.span.start < function.start);
    let last = tokens.partition_point(|token| token.span.end <= function.end);
    let own = reading.declared(None, first..last, true);
    let mut wanted: Vec<&str> = Vec::new();
    for token in &tokens[first..last] {
        let name = &text[token.span.clone()];
        if token.kind == Kind::Word && !own.contains(&name) && !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    let mut found = Vec::new();
    for (opening, closing) in reading.enclosing(first) {
        let Some(head) = reading.head(opening) else { continue };
        let declared = reading.declared(Some(head.start), opening + 1..closing, false);
        let owner = match head.name {
            Some(name) => format!("a local variable of `{name}`"),
            None => "a local variable of the function around it".to_owned(),
        };
        wanted.retain(|name| {
            let local = declared.contains(name);
            if local {
                let name = (*name).to_owned();
                found.push(Local { name, what: owner.clone(), source: None });
            }
            !local
        });
    }
    if let Some(module) = module {
        let declared = reading.declared(None, 0..tokens.len(), false);
        for name in wanted.into_iter().filter(|name| declared.contains(name)) {
            let what = format!("a variable of the module {module}");
            found.push(Local { name: name.to_owned(), what, source: reading.definition(name) });
        }
    }
    found
}

struct Reading<'a> {
    text: &'a str,
    tokens: &'a [Token],
}

/// The head of a function whose body opens somewhere.
struct Head<'a> {
    /// The token that its parameters begin with.
    start: usize,
    name: Option<&'a str>,
}

impl<'a> Reading<'a> {
    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.span.clone()])
    }

    fn before(&self, at: usize, back: usize) -> &'a str {
        at.checked_sub(back).map_or("", |at| self.text(at))
    }

    fn is_name(&self, at: usize) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| matches!(token.kind, Kind::Word | Kind::Member | Kind::Key))
    }

    /// The braces around a token, innermost first: where they open and close.
    fn enclosing(&self, at: usize) -> Vec<(usize, usize)> {
        let mut open = Vec::new();
        for index in 0..at {
            match self.text(index) {
                "(" | "[" | "{" | "${" => open.push(index),
                ")" | "]" | "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        let braces = open.into_iter().rev().filter(|index| self.text(*index) == "{");
        braces.map(|index| (index, self.closing(index))).collect()
    }

    /// The token that closes the bracket at `opening`.
    fn closing(&self, opening: usize) -> usize {
        let mut depth = 0;
        for index in opening..self.tokens.len() {
            match self.text(index) {
                "(" | "[" | "{" | "${" => depth += 1,
                ")" | "]" | "}" => {
                    depth -= 1;
                    if depth == 0 {
                        return index;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The token that opens the bracket which closes at `closing`.
    fn opening(&self, closing: usize) -> Option<usize> {
        let mut depth = 0;
        for index in (0..=closing).rev() {
            match self.text(index) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" | "${" => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(index);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The head of the function whose body opens at a brace; `None` for any other brace.
    fn head(&self, brace: usize) -> Option<Head<'a>> {
        let (end, arrow) = match self.before(brace, 1) {
            "=>" => (brace.checked_sub(2)?, true),
            ")" => (brace - 1, false),
            _ => return None,
        };
        let start = if self.text(end) == ")" { self.opening(end)? } else { end };
        if arrow {
            let start_of_all = if self.before(start, 1) == "async" { start - 1 } else { start };
            return Some(Head { start, name: self.assigned(start_of_all) });
        }
        let before = start.checked_sub(1)?;
        if self.is_name(before) {
            return Some(Head { start, name: Some(self.text(before)) });
        }
        match self.text(before) {
            "function" | "*" => Some(Head { start, name: self.assigned(before) }),
            _ => None,
        }
    }

    /// The name that a function without one is assigned to: `run = function`, `run: (x) =>`.
    fn assigned(&self, at: usize) -> Option<&'a str> {
        let name = at.checked_sub(2)?;
        (matches!(self.text(at - 1), "=" | ":") && self.is_name(name)).then(|| self.text(name))
    }

    /// The names declared in some tokens: with `deep` those of nested functions too, otherwise those of one function, whose
    /// parameters begin at a token.
    fn declared(&self, head: Option<usize>, tokens: Range<usize>, deep: bool) -> Vec<&'a str> {
        let (from, to) = (tokens.start, tokens.end);
        let mut names = Vec::new();
        let parameters = |start: usize, names: &mut Vec<&'a str>| {
            let end = if self.text(start) == "(" { self.closing(start) } else { start + 1 };
            names.extend((start..end).filter(|at| self.is_name(*at)).map(|at| self.text(at)));
        };
        if let Some(head) = head {
            parameters(head, &mut names);
        }
        let mut at = from;
        while at < to {
            match self.text(at) {
                "var" | "let" | "const" => self.declarators(at + 1, to, &mut names),
                "import" => {
                    let end = (at..to).find(|at| self.text(*at) == "from").unwrap_or(at);
                    names.extend((at..end).filter(|at| self.is_name(*at)).map(|at| self.text(at)));
                }
                "class" if self.is_name(at + 1) => names.push(self.text(at + 1)),
                "function" => {
                    let name = if self.text(at + 1) == "*" { at + 2 } else { at + 1 };
                    if self.is_name(name) {
                        names.push(self.text(name));
                    }
                    if deep && let Some(start) = (name..to).find(|at| self.text(*at) == "(") {
                        parameters(start, &mut names);
                    }
                }
                "=>" if deep && at > from => {
                    let end = at - 1;
                    let start =
                        if self.text(end) == ")" { self.opening(end).unwrap_or(end) } else { end };
                    parameters(start, &mut names);
                }
                "catch" if self.text(at + 1) == "(" => parameters(at + 1, &mut names),
                // A method's parameters, if it is one; the name of a call does no harm.
                "{" if deep && at > from => {
                    if let Some(head) = self.head(at) {
                        parameters(head.start, &mut names);
                    }
                }
                // What a nested function declares is its own.
                "{" if !deep && self.head(at).is_some() => at = self.closing(at),
                _ => {}
            }
            at += 1;
        }
        names
    }

    /// The names of `a = 1, {b, c} = d`.
    fn declarators(&self, from: usize, to: usize, names: &mut Vec<&'a str>) {
        let mut at = from;
        loop {
            match self.text(at) {
                "{" | "[" => {
                    let end = self.closing(at).min(to);
                    names.extend((at..end).filter(|at| self.is_name(*at)).map(|at| self.text(at)));
                    at = end + 1;
                }
                _ if self.is_name(at) => {
                    names.push(self.text(at));
                    at += 1;
                }
                _ => return,
            }
            if self.text(at) == "=" {
                at = self.behind_value(at + 1, to);
            }
            if self.text(at) != "," {
                return;
            }
            at += 1;
        }
    }

    /// The token behind the value that a name is declared with: a comma, the end of the statement, or where the next
    /// statement begins with a keyword.
    fn behind_value(&self, from: usize, to: usize) -> usize {
        const STATEMENTS: &[&str] = &[
            "break", "const", "continue", "do", "export", "for", "if", "import", "let", "return",
            "switch", "throw", "try", "var", "while",
        ];
        let mut at = from;
        while at < to {
            match self.text(at) {
                "(" | "[" | "{" | "${" => at = self.closing(at),
                "," | ";" | ")" | "]" | "}" | "of" | "in" => return at,
                word if STATEMENTS.contains(&word) => return at,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// The bytes of a function or class that is declared at the top of the text.
    fn definition(&self, name: &str) -> Option<Range<usize>> {
        let mut depth = 0;
        for at in 0..self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "{" | "${" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                "function" | "class" if depth == 0 => {
                    let named = if self.text(at + 1) == "*" { at + 2 } else { at + 1 };
                    if self.text(named) != name {
                        continue;
                    }
                    let start = if self.before(at, 1) == "async" { at - 1 } else { at };
                    let parameters = self.text(named + 1) == "(";
                    let from = if parameters { self.closing(named + 1) } else { named };
                    let brace = (from..self.tokens.len()).find(|at| self.text(*at) == "{")?;
                    let end = self.tokens.get(self.closing(brace))?.span.end;
                    return Some(self.tokens[start].span.start..end);
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn found(text: &str, function: &str, module: Option<&str>) -> Vec<(String, String)> {
        let start = text.find(function).expect("the function stands in the text");
        let locals = locals(text, start..start + function.len(), module);
        locals.into_iter().map(|local| (local.name, local.what)).collect()
    }

    fn of(name: &str, function: &str) -> (String, String) {
        (name.to_owned(), format!("a local variable of `{function}`"))
    }

    #[test]
    fn a_local_of_the_enclosing_function_is_known() {
        let inner = "function () { var own = total; return own + count.total }";
        let text =
            format!("function run(n) {{ let total = n, other; return parallel(2, {inner}) }}");
        assert_eq!(found(&text, inner, None), [of("total", "run")]);
        let inner = "(x) => x + n + total";
        let text =
            format!("const run = (n) => {{ const {{total}} = n; return parallel(2, {inner}, 1) }}");
        assert_eq!(found(&text, inner, None), [of("n", "run"), of("total", "run")]);
    }

    #[test]
    fn what_it_declares_itself_and_what_is_global_is_none() {
        let inner = "function (a) { for (const b of a) c(b); try {} catch (d) { print(d) } }";
        let text = format!("var c = 1; function run(a, b) {{ var d; parallel(2, {inner}) }}");
        assert_eq!(found(&text, inner, None), []);
        assert_eq!(found(&format!("var total = 1; {inner}"), inner, None), []);
        let inner = "() => total";
        let text = format!("if (true) {{ var total = 1; parallel(2, {inner}) }}");
        assert_eq!(found(&text, inner, None), []);
    }

    #[test]
    fn what_another_nested_function_declares_is_not_seen() {
        let inner = "() => total";
        let text =
            format!("function run() {{ function f() {{ var total = 1 }} parallel(2, {inner}) }}");
        assert_eq!(found(&text, inner, None), []);
    }

    #[test]
    fn a_module_has_locals_too_and_gives_its_functions() {
        let inner = "() => next(step)";
        let text = format!(
            "import {{ x }} from './x.mjs'\nconst step = 2\nexport function next(n) {{ return n }}\nparallel(2, {inner})"
        );
        let start = text.find(inner).expect("it is there");
        let found = locals(&text, start..start + inner.len(), Some("a.mjs"));
        assert_eq!(found[0].name, "next");
        let source = found[0].source.clone().expect("a function has a source");
        assert_eq!(&text[source], "function next(n) { return n }");
        assert_eq!(found[1].what, "a variable of the module a.mjs");
        assert_eq!(found[1].source, None);
    }
}
