//! Complete, incomplete, broken: and in which words.

use tally::dialect::{Lines, Source, Verdict, context, parse, tokens};

use super::{becomes, unchanged, verdict};

#[test]
fn an_open_bracket_template_comment_or_operator_asks_for_another_line() {
    for (text, expected) in [
        ("f(", "incomplete ( at 1"),
        ("f({a: [1,", "incomplete [ at 6"),
        ("db.a.insert(<a: 1", "incomplete < at 12"),
        ("x = `a${b", "incomplete ${ at 6"),
        ("x = `a${b}", "incomplete ` at 4"),
        ("/* a", "incomplete /* at 0"),
        ("function f() {", "incomplete { at 13"),
        ("class A { #b = 1", "incomplete { at 8"),
        ("import { a", "incomplete { at 7"),
        ("x =", "incomplete"),
        ("a +", "incomplete"),
        ("a ? b", "incomplete"),
        ("a ? b :", "incomplete"),
        ("a.", "incomplete"),
        ("a?.", "incomplete"),
        ("x =>", "incomplete"),
        ("a,", "incomplete"),
        ("var a,", "incomplete"),
        ("let a = 1,", "incomplete"),
        ("if (a)", "incomplete"),
        ("else", "incomplete"),
        ("for (;;)", "incomplete"),
        ("do x", "incomplete"),
        ("do { } while", "incomplete"),
        ("try { }", "incomplete"),
        ("function f", "incomplete"),
        ("function", "incomplete"),
        ("class A extends", "incomplete"),
        ("new", "incomplete"),
        ("typeof", "incomplete"),
        ("throw", "incomplete"),
        ("!", "incomplete"),
        ("a !", "incomplete"),
        ("f({a: b !", "incomplete { at 2"),
        ("export *", "incomplete"),
        ("export * from", "incomplete"),
        ("export * as a", "incomplete"),
        ("export { a } from", "incomplete"),
        ("x\n++", "incomplete"),
        ("\"a\\", "incomplete \" at 0"),
        ("\"a\\\n", "incomplete \" at 0"),
    ] {
        assert_eq!(verdict(text), expected, "{text:?}");
    }
}

#[test]
fn what_can_run_is_complete() {
    for text in [
        "",
        "  \n",
        "// c",
        ";",
        "x",
        "x++",
        "return",
        "if (a) b",
        "if (a) {} else {}",
        "a ? b : c",
        "x = y\n",
        "do x; while (y)",
        "do { } while (a) b",
        "try { } finally { }",
        "class A {}",
        "class A extends B {}",
        "function f() {}",
        "async () => {}",
        "`${`${a}`}`",
        "label: for (;;) break label",
        "yield",
        "let",
        "of",
        "async",
        "get",
        "{a: 1}",
        "{a: 1, b: 2}",
        "x = function* () { yield }",
        "import 'a'",
        "import.meta",
        "import('a')",
        "export default 1",
        "export { a as b }",
        "export * from 'a'",
        "export * as b from 'a'",
        "export { a } from 'a'",
        "export { a }\nfrom_ = 1",
        "new.target",
        "a\n/b/c",
        "#!/usr/bin/env tally\n1",
        "<!-- c\n--> d\n1",
        "0x1F + 1_000n + .5e-3 + 0b1",
        "a?.b?.[c]?.(d)",
        "a ?? b",
        "x **= 2",
        "a ||= b",
        "for await (const a of b) {}",
        "switch (a) { case 1: default: }",
        "a\u{2028}b",
    ] {
        assert_eq!(verdict(text), "complete", "{text:?}");
    }
}

#[test]
fn an_error_says_what_was_expected_and_where() {
    for (text, expected) in [
        ("db.users.insert({_id: , name: \"x\"})", "broken at 22: expected a value after \":\""),
        ("f({a: /* none */ , b: 1})", "broken at 17: expected a value after \":\""),
        ("(1 + )", "broken at 5: expected a value after \"+\""),
        ("x = ;", "broken at 4: expected a value after \"=\""),
        ("f(a => )", "broken at 7: expected a value after \"=>\""),
        ("(a ? : b)", "broken at 5: expected a value after \"?\""),
        ("f([1, 2)", "broken at 7: expected \"]\" to close \"[\", not \")\""),
        ("f({\n  a: 1\n)", "broken at 11: expected \"}\" to close \"{\" of line 1, not \")\""),
        ("f(<a: 1})", "broken at 7: expected \">\" to close \"<\", not \"}\""),
        ("`${a]`", "broken at 4: expected \"}\" to close \"${\", not \"]\""),
        ("f({a: 1}) g({b: 2})", "broken at 10: expected \";\" or a new line before \"g\""),
        ("x = 1 \"a\"", "broken at 6: expected \";\" or a new line before \"\"a\"\""),
        ("f() function g() {}", "broken at 4: expected \";\" or a new line before \"function\""),
        ("print “a”", "broken at 6: expected \";\" or a new line before \"“\""),
        ("let a = 1 b = 2", "broken at 10: expected \";\" or a new line before \"b\""),
        ("x)", "broken at 1: unexpected \")\""),
        ("}", "broken at 0: unexpected \"}\""),
        ("f(\"a)", "broken at 2: the string that begins here does not end on its line"),
        ("f('a)\nb", "broken at 2: the string that begins here does not end on its line"),
        ("x = /a", "broken at 4: the regular expression that begins here does not end on its line"),
        (
            "x = /a\n1",
            "broken at 4: the regular expression that begins here does not end on its line",
        ),
        ("x = “a", "broken at 4: the string that begins here does not end on its line"),
    ] {
        assert_eq!(verdict(text), expected, "{text:?}");
    }
    let mixed = verdict("f(\"a”, b)");
    assert!(
        mixed.ends_with("a typographic quote does not end it here, write a straight one")
            || mixed == "complete"
    );
}

#[test]
fn slashes_divide_after_values_and_open_regular_expressions_elsewhere() {
    for text in [
        "a / b / c",
        "(a) / 2 / g",
        "a[0] / 2 / g",
        "if (a) /b)/.test(c)",
        "while (a) /b]/.test(c)",
        "x = {} / 2 / g",
        "{}\n/b}/.test(c)",
        "function f() {}\n/a(/.exec(b)",
        "x = function () {} / 2 / g",
        "return /a[/]b(/",
        "typeof /a(/",
        "case_ = a++ / 2 / g",
        "a = b\n/c/g.d",
        "x => { } \n/a(/.b",
        "a.if / 2 / g",
        "a.return /2/ g",
        "yield / 2 / g",
        "await / 2",
        "let / 2 / g",
        "`${a / b}` / 2",
        "x = [/(/, /[)]/]",
        "f(/\\//, /[/\\]]/)",
        "a ? /(/ : /)/",
        "!/(/.test(a)",
        "x = y || /(/",
        "}".strip_prefix('}').unwrap(),
    ] {
        if !text.is_empty() {
            unchanged(text);
        }
    }
}

#[test]
fn ordinary_javascript_is_complete_and_unchanged() {
    for text in [
        "var x = `a ${`b ${{c: 1}.c} \\` ${\"`\"}`} d`",
        "class A { static #p = 1; get q() { return this.#p } async *[r]() {} static { this.s = 1 } 'u' = 2; 3() {} }",
        "a: b: for (;;) { c: { if (d) break a; else continue b } }\nbreak_ = 1; debugger",
        "while (a) break\nwhile (b) { continue\nc }",
        "if (a) b: { }\nswitch (c) { case d: e: f; default: g: h }",
        "a /* \n */ b",
        "a ++\n++\nb",
        "outer: for (const [k, v] of Object.entries({a: 1})) { if (k) continue outer; else break }",
        "const {a, b: {c = 1} = {}, ...d} = e",
        "(async () => { for await (const x of y) await x })()",
        "var await = 1, yield_ = 2; await + 1; f(await)",
        "var yield = 1; f(yield, yield * 2, yield < 3)",
        "a = b\n++c",
        "return\n<!-- comment\n",
        "a --> b",
        "switch (a) { case {b: 1}.b: case /c/: d; default: e }",
        "if (a) { } else if (b) function f() {} else { }",
        "x = a ? b : c ? d : e",
        "x = a ? {b: 1} : {c: [d, , e]}",
        "x = (a, b) => ({c: a < b, d: a > b})",
        "x = async y => await y, z = async (a) => { }",
        "new Foo\n(a)",
        "a\n?.b\n.c",
        "var a = 1\nvar b = 2",
        "for (var i = 0, n = a.length; i<n;i++) {}",
        "for (const of of of) {}",
        "of = 1\nof\nof",
        "export const a = 1, b = <c: 1>".split(" = <").next().unwrap(),
        "throw new Error(`a`)",
        "a = b ? (c, d) : e\n/f/g",
        "({ get: 1, set: 2, async: 3, static: 4, get get() { return 1 }, async async() {} })",
        "\u{feff}a",
        "a\u{a0}=\u{3000}1",
        "var \\u0061b = 1, ゛ = 2, Ünïcode = 3",
        "x = 1_000.5e+10 + 0xFFn + 08.5 + 1..toString()",
        "x = /(?<name>a)\\k<name>/dgimsuy",
    ] {
        unchanged_at_least_in_a_file(text);
    }
}

#[track_caller]
fn unchanged_at_least_in_a_file(text: &str) {
    becomes(text, text);
}

#[test]
fn nesting_has_a_limit_that_names_the_innermost_bracket() {
    let deep = |opener: &str, sign: &str| {
        let text = opener.repeat(100_000);
        let Verdict::Broken(error) = parse(&text, Source::Prompt).verdict else {
            panic!("{opener}")
        };
        assert_eq!(
            error.message,
            format!(
                "nested more than 250 levels deep; the innermost open bracket is this \"{sign}\""
            ),
            "{opener}"
        );
        assert_eq!(&text[error.span.clone()], sign);
        // The limit is met at once, wherever the text ends.
        assert!(error.span.start < 250 * opener.len() + 8, "{opener} at {}", error.span.start);
        tokens(&text);
        context(&text, text.len());
    };
    let work = move || {
        for (opener, sign) in [
            ("(", "("),
            ("[", "["),
            ("{", "{"),
            ("<a:", "<"),
            ("x={a:", "{"),
            ("f(", "("),
            ("(a=>", "("),
            ("`${", "${"),
            ("function f(){", "("),
        ] {
            deep(opener, sign);
        }
        // What is no nesting has no limit.
        for text in ["!", "a=>", "a?b:", "if(a)", "x:", "typeof "] {
            let text = text.repeat(2_000);
            assert!(matches!(
                parse(&text, Source::Prompt).verdict,
                Verdict::Incomplete { .. } | Verdict::Complete
            ));
        }
        let fine = format!("{}1{}", "[".repeat(240), "]".repeat(240));
        assert_eq!(parse(&fine, Source::Prompt).verdict, Verdict::Complete);
    };
    // A debug build's frames are large.
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn every_text_has_an_answer() {
    const PIECES: &[&str] = &[
        "a",
        "b",
        " ",
        "\n",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "<",
        ">",
        "<a: 1>",
        "`",
        "${",
        "\"",
        "'",
        "“",
        "”",
        "«",
        "/",
        "//",
        "/*",
        "*/",
        "*",
        "=>",
        "=",
        "+",
        "-",
        "--",
        "++",
        "!",
        "?",
        "?.",
        ".",
        "...",
        ":",
        ";",
        ",",
        "\\",
        "#",
        "@",
        "1",
        "1.",
        "0x",
        "9007199254740993",
        "if",
        "else",
        "do",
        "while",
        "for",
        "class",
        "extends",
        "function",
        "async",
        "await",
        "yield",
        "let",
        "const",
        "var",
        "return",
        "import",
        "export",
        "default",
        "from",
        "case",
        "switch",
        "try",
        "catch",
        "use shop",
        "\nuse a",
        "\nit",
        "exit",
        "show dbs;",
        "&quot;",
        "&lt;",
        "&amp;",
        "（",
        "，",
        "\u{200b}",
        "\u{feff}",
        "\r",
        "\r\n",
        "\u{2028}",
        "<!--",
        "-->",
        "#!",
        "\u{0}",
        "é",
        "🙂",
        "\u{10ffff}",
        "1. ",
        "2) ",
        "> ",
        "test> ",
        "... ",
        "{ \"_id\" : 1 }",
        "WriteResult({",
        "in",
        "of",
        "instanceof",
        "new",
        "get",
        "static",
    ];
    let mut seed = 1u64;
    let mut draw = move |end: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) as usize) % end
    };
    let work = move || {
        for _ in 0..800 {
            let text: String = (0..draw(24)).map(|_| PIECES[draw(PIECES.len())]).collect();
            super::holds(&text);
        }
    };
    std::thread::Builder::new().stack_size(64 << 20).spawn(work).unwrap().join().unwrap();
}

#[test]
fn positions_are_those_of_the_users_text() {
    let text = "ä = <a: “é”>;\n\u{200b}boom(<b: 1>, «ö»)";
    let code = super::code(text, Source::Prompt);
    assert_eq!(code.text, "ä = {a: \"é\"};\n boom({b: 1}, \"ö\")");
    let lines = Lines::new(text);
    // A place in the middle of each line: the closing brace, `boom`, the last string.
    assert_eq!(code.position(&lines, 1, 1), (1, 1));
    assert_eq!(code.position(&lines, 1, 12), (1, 12));
    assert_eq!(code.position(&lines, 2, 2), (2, 2));
    assert_eq!(code.position(&lines, 2, 15), (2, 15));
    assert_eq!(code.position(&lines, 2, 17), (2, 17));

    let code = super::code("let a = 1\n<b: 1>.c()", Source::Prompt);
    assert_eq!(code.text, "var a = 1\n;({b: 1}).c()");
    assert_eq!(code.position(&Lines::new("let a = 1\n<b: 1>.c()"), 2, 12), (2, 9));

    let text = "class K {}\nK.x.y";
    let code = super::code(text, Source::Prompt);
    assert_eq!(code.text, "var K = class K {};\nK.x.y");
    assert_eq!(code.position(&Lines::new(text), 1, 9), (1, 1));
    assert_eq!(code.position(&Lines::new(text), 2, 3), (2, 3));
}
