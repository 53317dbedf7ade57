//! What differs at the prompt: declarations that may come again, echoes, objects without parentheses; and repairs.

use tally::dialect::{Part, Source, VERBS, Verdict, in_parentheses, parse, repaired};

use super::{becomes, code};

fn prompt(text: &str) -> String {
    code(text, Source::Prompt).text
}

#[test]
fn declarations_may_come_again_at_the_prompt() {
    assert_eq!(prompt("let x = 1"), "var x = 1");
    assert_eq!(prompt("const x = 1, y = 2"), "var x = 1, y = 2");
    assert_eq!(prompt("let x"), "var x = void 0");
    assert_eq!(prompt("let x, y = 1, z"), "var x = void 0, y = 1, z = void 0");
    assert_eq!(prompt("let {a, b} = f(), [c] = g()"), "var {a, b} = f(), [c] = g()");
    assert_eq!(prompt("class K { m() {} }"), "var K = class K { m() {} };");
    assert_eq!(prompt("class K extends L {}\nK"), "var K = class K extends L {};\nK");
    assert_eq!(prompt("a; let b = 1; const c = 2"), "a; var b = 1; var c = 2");
    // QuickJS is to say that a constant needs a value.
    assert_eq!(prompt("const x"), "const x");
    // Only at the top level, and only declarations.
    for text in [
        "{ let x = 1 }",
        "for (let i = 0; ; ) break",
        "for (const x of y) z",
        "function f() { const a = 1; class B {} }",
        "x = class K {}",
        "let",
        "let = 1",
        "let in x",
        "x.let",
    ] {
        assert_eq!(prompt(text), text);
    }
    for text in ["let x = 1", "const y = 1", "class K {}"] {
        becomes(text, text);
    }
}

#[test]
fn the_last_declaration_and_await_are_told() {
    let declares = |text: &str| code(text, Source::Prompt).declares;
    assert_eq!(declares("function f() {}"), Some("f".into()));
    assert_eq!(declares("async function* g() {}"), Some("g".into()));
    assert_eq!(declares("class K {}"), Some("K".into()));
    assert_eq!(declares("function f() {}\nf()"), None);
    assert_eq!(declares("x = function f() {}"), None);

    let awaits = |text: &str| code(text, Source::Prompt).awaits;
    for text in [
        "await f()",
        "x = await f()",
        "for await (const x of y) {}",
        "if (a) { await b }",
        "f(x => x, await y)",
    ] {
        assert!(awaits(text), "{text}");
    }
    for text in [
        "async function f() { await x }",
        "x = async () => await y",
        "f(async x => g(await x))",
        "x = async () => { await y }",
        "class K { async m() { await x } }",
        "x = {async m() { await x }}",
        "await = 1",
        "f(await)",
        "x.await",
    ] {
        assert!(!awaits(text), "{text}");
    }
}

#[test]
fn an_object_may_be_meant_where_a_block_is_read() {
    let object = |text: &str| in_parentheses(text).map(|code| code.text);
    assert_eq!(object("{a: 1, b: 2}"), Some("({a: 1, b: 2})".into()));
    assert_eq!(object(" {a: <b: 1>, c: “d”}; // e"), Some("({a: {b: 1}, c: \"d\"})".into()));
    assert_eq!(object("{a: 1}.b"), None);
    assert_eq!(object("x"), None);
    assert_eq!(object("{ f(); }"), None);
    let code = in_parentheses(" {a: <b: 1>, c}").unwrap();
    assert_eq!(code.source_offset(0), 1);
    assert_eq!(code.source_offset(code.text.find('c').unwrap()), 13);
    // Keys that are keywords cannot be read as a block at all.
    assert_eq!(prompt("{class: 1, function: 2}"), "({class: 1, function: 2})");
}

#[test]
fn typographic_quotes_are_quotes_where_a_string_may_start() {
    becomes(
        "f(“a”, ‘b’, „c“, «d», ‹e›, ″f″, ′g′)",
        "f(\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\")",
    );
    becomes("f(“a\", \"b”)", "f(\"a\", \"b\")");
    becomes("x = “say \"no\"”", "x = 'say \"no\"'");
    becomes("x = “say \"it's\"”", "x = \"say \\\"it's\\\"\"");
    becomes("x = ‘it’s’", "x = \"it’s\"");
    for (mixed, strings) in [
        ("f(“a\", “b\")", "f(\"a\", \"b\")"),
        ("“a\" + “b”", "\"a\" + \"b\""),
        ("x = {a: “x\", b: \"y\"}", "x = {a: \"x\", b: \"y\"}"),
        ("x = {a: “x\", b: \"y”}", "x = {a: \"x\", b: \"y\"}"),
        ("f(“a\"); // ”", "f(\"a\"); // ”"),
        ("f(“\", ‘')", "f(\"\", \"\")"),
        ("f(„a\", ‚b')", "f(\"a\", \"b\")"),
        ("f(“a\",“b”,‘c')", "f(\"a\",\"b\",\"c\")"),
    ] {
        becomes(mixed, strings);
    }
    for (whole, strings) in [
        ("[“say \"hi\"”, ‘it's’]", "['say \"hi\"', \"it's\"]"),
        ("“\"a\", \"b\"”", "'\"a\", \"b\"'"),
        ("“3\", 5\"”", "'3\", 5\"'"),
        ("„er sagt \"hi\", ok“", "'er sagt \"hi\", ok'"),
        ("«dit \"a\", non»", "'dit \"a\", non'"),
        ("‘the dogs', it’s Bob's’", "\"the dogs', it’s Bob's\""),
    ] {
        becomes(whole, strings);
    }
    becomes("x = “a “b” c”", "x = \"a “b” c\"");
    becomes("x = {“a”: 1, ‘b’: 2}", "x = {\"a\": 1, \"b\": 2}");
    becomes("x = “a\\”b”", "x = \"a\\”b\"");
    becomes("x = “En Español: C#. …”", "x = \"En Español: C#. …\"");
    // Inside strings, templates, comments and regular expressions they are text.
    for text in ["x = \"“a”\"", "x = '‘a’'", "x = `“a”`", "x // “a", "x /* “a */", "x = /“a”/"]
    {
        becomes(text, text);
    }
}

#[test]
fn blanks_that_nobody_sees_are_blanks() {
    becomes("x\u{200b} =\u{2060} 1", "x  =  1");
    becomes("\u{feff}x\u{a0}= 1\r\ny", "\u{feff}x\u{a0}= 1\r\ny");
    becomes("x = \"\u{200b}\"", "x = \"\u{200b}\"");
    // A single carriage return ends a line, of a comment too.
    becomes("x // c\ruse shop\ry", "x // c\r__word(\"use\", \"shop\");\ry");
}

#[test]
fn what_a_page_left_in_its_code_is_repaired() {
    let mended = |text: &str| {
        let input = parse(text, Source::Prompt);
        assert_eq!(input.verdict, Verdict::Complete, "{text:?}");
        let [Part::Script(code)] = &input.parts[..] else { panic!("{text:?}") };
        (code.text.clone(), input.notices.join("; "))
    };
    assert_eq!(
        mended("db.c.insertOne({ _id: &quot;he&quot;, a: &#39;b&#39; })"),
        ("db.c.insertOne({ _id: \"he\", a: 'b' })".into(), "repaired: 4 HTML entities".into())
    );
    assert_eq!(
        mended("for (i = 0; i &lt; 2 &amp;&amp; 1; i++) f(i)"),
        ("for (i = 0; i < 2 && 1; i++) f(i)".into(), "repaired: 3 HTML entities".into())
    );
    assert_eq!(mended("f（“a”，1）"), ("f(\"a\",1)".into(), "repaired: 3 full-width signs".into()));
    assert_eq!(mended("f(&quot;say \"it's\"&quot;)").0, "f(\"say \\\"it's\\\"\")");
    assert_eq!(mended("f(&quot;a&quot;, \"&quot;\")").0, "f(\"a\", \"&quot;\")");
    assert_eq!(mended("f(«a», 1)").1, "repaired: « » around 1 string");
    // What parses is not touched; QuickJS may refuse it, and then it is repaired all the same.
    let valid = "if (a &lt; b) c";
    assert_eq!(parse(valid, Source::Script).notices, Vec::<String>::new());
    let input = repaired(valid, Source::Script).unwrap();
    let [Part::Script(code)] = &input.parts[..] else { panic!() };
    assert_eq!(code.text, "if (a < b) c");
    assert_eq!(code.source_offset(code.text.find('c').unwrap()), valid.find('c').unwrap());
    assert_eq!(repaired("a < b", Source::Script), None);
}

#[test]
fn positions_survive_a_repair_and_a_rewriting() {
    let text = "f(&quot;a&quot;, <b: &#39;c&#39;>, here)";
    let code = code(text, Source::Prompt);
    assert_eq!(code.text, "f(\"a\", {b: 'c'}, here)");
    assert_eq!(code.source_offset(code.text.find("here").unwrap()), text.find("here").unwrap());
    assert_eq!(code.source_offset(code.text.find('c').unwrap()), text.find("c&").unwrap());
}

#[test]
fn a_whole_number_that_javascript_rounds_is_told() {
    let notices = |text: &str| parse(text, Source::Prompt).notices;
    assert_eq!(
        notices("db.a.insert({_id: 9007199254740993})"),
        [
            "9007199254740993 is more than a JavaScript number holds, it becomes 9007199254740992; write NumberLong(\"9007199254740993\")"
        ]
    );
    assert_eq!(
        notices("9_223_372_036_854_775_807"),
        [
            "9_223_372_036_854_775_807 is more than a JavaScript number holds, it becomes 9223372036854775808; write NumberLong(\"9223372036854775807\")"
        ]
    );
    assert_eq!(notices("9223372036854775809").len(), 1);
    assert!(
        notices("9223372036854775809")[0].ends_with("write NumberDecimal(\"9223372036854775809\")")
    );
    for text in [
        "9007199254740992",
        "9223372036854775808",
        "NumberLong(\"9007199254740993\")",
        "9007199254740993n",
        "9007199254740993.0",
        "9007199254740993e0",
        "0x20000000000001",
        "`9007199254740993`",
        "// 9007199254740993",
        "1000000000000000000000",
    ] {
        assert_eq!(notices(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn the_verbs_of_the_grammar_are_listed() {
    assert!(VERBS.is_sorted());
    for verb in VERBS {
        let word =
            |text: &str| matches!(parse(text, Source::Prompt).parts[..], [Part::Word { .. }]);
        assert!(word(verb) || word(&format!("{verb} x")), "{verb}");
    }
}
