//! What is called at a place of a text: the engine says where a call stands, people want to know what was called.

use std::ops::Range;

/// The longest callee that is quoted whole.
const LONGEST: usize = 80;

/// The bytes of the expression that is called or constructed at byte `at`: the dot before a method's name, or the name
/// itself. `db.t.find().next` for the last dot of that; `new Error` for its `Error`.
pub(super) fn expression(text: &str, at: usize) -> Option<Range<usize>> {
    // The engine's place of a plain call may be the blank before it.
    let at = at + text.get(at..)?.find(|character: char| !character.is_whitespace())?;
    let rest = &text[at..];
    if let Some(member) = rest.strip_prefix('.') {
        let name = identifier(member);
        return (name > 0).then(|| object(text, at)..at + 1 + name);
    }
    let name = identifier(rest);
    (name > 0).then(|| constructed(text, at)..at + name)
}

/// The callee in words: quoted where it is short and stands on one line.
pub(super) fn name(text: &str, at: usize) -> Option<String> {
    let callee = &text[expression(text, at)?];
    if callee.len() <= LONGEST && !callee.contains('\n') {
        return Some(callee.to_owned());
    }
    let (_, method) = callee.rsplit_once('.')?;
    Some(format!("(...).{method}"))
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// The length of the identifier that a text begins with.
fn identifier(text: &str) -> usize {
    text.find(|character| !is_part(character)).unwrap_or(text.len())
}

/// Where `new` stands, if the name at `at` comes after one.
fn constructed(text: &str, at: usize) -> usize {
    let before = text[..at].trim_end();
    match before.strip_suffix("new") {
        Some(rest) if before.len() < at && !rest.ends_with(is_part) => rest.len(),
        _ => at,
    }
}

/// Where the expression before the dot at `dot` begins.
fn object(text: &str, dot: usize) -> usize {
    let mut start = dot;
    loop {
        let before = text[..start].trim_end_matches('?').trim_end();
        let Some(last) = before.chars().next_back() else { return start };
        match last {
            ')' | ']' => match opening(before) {
                Some(open) => {
                    start = open;
                    // What stands before an opening bracket belongs to it: a call, an index; or nothing does.
                    let ahead = text[..start].trim_end();
                    if !ahead
                        .ends_with(|character| is_part(character) || matches!(character, ')' | ']'))
                    {
                        return start;
                    }
                }
                None => return start,
            },
            '"' | '\'' | '`' => {
                let inside = &before[..before.len() - last.len_utf8()];
                return inside.rfind(last).unwrap_or(start);
            }
            last if is_part(last) => {
                start = before.trim_end_matches(is_part).len();
                let ahead = text[..start].trim_end();
                match ahead.strip_suffix('.') {
                    Some(rest) if !rest.ends_with('.') => start = rest.len(),
                    _ => return constructed(text, start),
                }
            }
            _ => return start,
        }
    }
}

/// Where the bracket opens that a text ends with. Brackets in strings are not told from others; the worst of it is a
/// message that quotes less.
fn opening(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices().rev() {
        match character {
            ')' | ']' | '}' => depth += 1,
            '(' | '[' | '{' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn callee(text: &str, dot: &str) -> Option<String> {
        name(text, text.find(dot).unwrap())
    }

    #[test]
    fn the_callee_of_a_chain_is_the_chain() {
        assert_eq!(
            callee("x = db.t.find({a: [1]}).nofunc(1)", ".nofunc").unwrap(),
            "db.t.find({a: [1]}).nofunc"
        );
        assert_eq!(callee("return assert.xyz(1)", ".xyz").unwrap(), "assert.xyz");
        assert_eq!(callee("f(a[0].b.c())", ".c").unwrap(), "a[0].b.c");
        assert_eq!(callee("('x' + 1).foo()", ".foo").unwrap(), "('x' + 1).foo");
        assert_eq!(callee("1 + 'x'.foo()", ".foo").unwrap(), "'x'.foo");
        assert_eq!(callee("new Foo().bar()", ".bar").unwrap(), "new Foo().bar");
        assert_eq!(callee("a?.b()", ".b").unwrap(), "a?.b");
        assert_eq!(callee("throw new Error(1)", "Error").unwrap(), "new Error");
        assert_eq!(callee("renew(1)", "renew").unwrap(), "renew");
        assert_eq!(callee("y; x(1)", " x").unwrap(), "x");
        assert_eq!(callee(")].x()", ".x").unwrap(), ".x");
    }

    #[test]
    fn a_long_callee_is_cut() {
        assert_eq!(callee("db.t\n  .find()\n  .nofunc()", ".nofunc").unwrap(), "(...).nofunc");
    }
}
