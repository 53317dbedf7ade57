//! `--set` and `--set-json`: globals for a script, from the command line.

/// Words that no variable can have for a name.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// A `name=value`, split.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    let Some((name, value)) = text.split_once('=') else {
        return Err("it is written name=value".to_owned());
    };
    let part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    let begins = name.starts_with(|first: char| part(first) && !first.is_numeric());
    if !begins || !name.chars().all(part) || RESERVED.contains(&name) {
        return Err(format!("`{name}` is no name of a variable"));
    }
    if name == "db" {
        return Err("`db` is the database: name it as the first argument".to_owned());
    }
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_name_and_everything_behind_the_first_equals_sign() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(variable("city=New York"), pair("city", "New York"));
        assert_eq!(variable("$a_1=b=c"), pair("$a_1", "b=c"));
        assert_eq!(variable("empty="), pair("empty", ""));
        for wrong in ["city", "=x", "1a=x", "a-b=x", "a.b=x", "let=x", "db=x", " a=x"] {
            assert!(variable(wrong).is_err(), "{wrong}");
        }
    }
}
