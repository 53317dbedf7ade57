//! Documents in angle brackets, and everything that looks like one and is none.

use super::{becomes, unchanged, verdict};

#[test]
fn a_document_stands_wherever_an_expression_may() {
    becomes(
        r#"db.users.insert(<_id: counter("users"), name: "Sarah C.">)"#,
        r#"db.users.insert({_id: counter("users"), name: "Sarah C."})"#,
    );
    becomes("x = <>", "x = {}");
    becomes("[<a: 1>, <b: 2>]", "[{a: 1}, {b: 2}]");
    becomes("x = <a: 1>", "x = {a: 1}");
    becomes("function f() { return <a: 1> }", "function f() { return {a: 1} }");
    becomes("cond ? <a: 1> : <b: 2>", "cond ? {a: 1} : {b: 2}");
    becomes("f(<a: 1>).b", "f({a: 1}).b");
    becomes("typeof <a: 1>", "typeof {a: 1}");
    becomes("throw <code: 1>", "throw {code: 1}");
    becomes("a && <b: 1>", "a && {b: 1}");
    becomes("f(...<a: 1>)", "f(...{a: 1})");
    becomes("`${<a: 1>.a}`", "`${{a: 1}.a}`");
    becomes("x in <a: 1>", "x in {a: 1}");
    becomes("const <a, b: c> = x", "const {a, b: c} = x");
}

#[test]
fn documents_nest_to_any_depth() {
    becomes("x = <a: <b: 1>, c: [<d: 2>]>", "x = {a: {b: 1}, c: [{d: 2}]}");
    becomes("x = <a: <b: <c: <d: 1>>>>", "x = {a: {b: {c: {d: 1}}}}");
    becomes("x = <a: <b: <>>, c: <>>", "x = {a: {b: {}}, c: {}}");
    becomes("x = <a: b ? <c: 1> : 2>", "x = {a: b ? {c: 1} : 2}");
}

#[test]
fn a_document_gets_parentheses_where_a_brace_would_open_a_block() {
    becomes("<a: 1>", "({a: 1})");
    becomes("<a: 1>.a", "({a: 1}).a");
    becomes("(x) => <a: x, b: 1>", "(x) => ({a: x, b: 1})");
    becomes("if (x) <a: 1>; else <b: 2>", "if (x) ({a: 1}); else ({b: 2})");
    becomes("{ <a: 1> }", "{ ({a: 1}) }");
    becomes("export default <a: 1>", "export default ({a: 1})");
    becomes("x => y => <a: 1>", "x => y => ({a: 1})");
    becomes("<f: (x) => <x, y: (x > 0 ? 1 : 2)>>", "({f: (x) => ({x, y: (x > 0 ? 1 : 2)})})");
    becomes("case_: <a: 1>", "case_: ({a: 1})");
}

#[test]
fn a_document_holds_what_an_object_holds() {
    becomes(
        r#"x = <a: "x > y", b: /</, c: `${1 > 0}`>"#,
        r#"x = {a: "x > y", b: /</, c: `${1 > 0}`}"#,
    );
    becomes(
        "x = <a: (1 > 0), ...rest, [key]: 1, method() { return 1 > 0 }>",
        "x = {a: (1 > 0), ...rest, [key]: 1, method() { return 1 > 0 }}",
    );
    becomes("x = <a, b,>", "x = {a, b,}");
    becomes(
        "x = <get a() { return 1 >= 0 }, set a(v) {}>",
        "x = {get a() { return 1 >= 0 }, set a(v) {}}",
    );
    becomes(
        "x = <async *a() {}, 'b': 1, 2: 3, “c”: 4>",
        "x = {async *a() {}, 'b': 1, 2: 3, \"c\": 4}",
    );
    becomes("x = <a: x => x>", "x = {a: x => x}");
    becomes("x = <a: x => { return x > 1 }>", "x = {a: x => { return x > 1 }}");
    becomes("x = <k: 1 < 2>", "x = {k: 1 < 2}");
    becomes("x = <k: 1 <= 2, l: 1 << 2>", "x = {k: 1 <= 2, l: 1 << 2}");
    becomes("x = <$gt: 0, $lt: 5>", "x = {$gt: 0, $lt: 5}");
    becomes("x = <\n  a: 1, // > 1\n  b: 2 /* > */\n>", "x = {\n  a: 1, // > 1\n  b: 2 /* > */\n}");
}

#[test]
fn what_is_no_document_stays_as_it_is() {
    for text in [
        "a < b",
        "f(a<b, c>d)",
        "for (i = 0; i<n;i++) f(i)",
        "x << 2",
        "x >>> 1",
        "x >> 1",
        "a <= b",
        "a => a",
        "\"<a: 1>\"",
        "'<a: 1>'",
        "`<a: 1>`",
        "/<a>/",
        "/<a: 1>/",
        "1 // <a: 1>",
        "1 /* <a: 1> */",
        "x ? a <b: 1",
        "x ? a <b : 1 > 2",
        "a\n<b",
        "a <b\n> c",
        "i<a&&b>c",
        "x = y <z\n",
    ] {
        unchanged(text);
    }
}

#[test]
fn a_comparison_inside_a_document_asks_for_parentheses() {
    let hint =
        "a bare \">\" ends the document; put a comparison inside it in parentheses, <a: (1 > 2)>";
    assert_eq!(verdict("<a: 1 > 2>"), format!("broken at 6: {hint}"));
    assert_eq!(verdict("<a: 1 >= 2>"), format!("broken at 6: {hint}"));
    assert_eq!(verdict("<a: 1 >> 2>"), format!("broken at 6: {hint}"));
    assert_eq!(verdict("<a: x > y>"), format!("broken at 6: {hint}"));
}

#[test]
fn a_document_at_the_start_of_a_line_is_a_statement() {
    becomes("a\n<b: 1>", "a\n;({b: 1})");
    becomes("a // c\n<b: 1>\n<c: 2>", "a // c\n;({b: 1})\n;({c: 2})");
    becomes("let x = 5\n<b: 1>", "let x = 5\n;({b: 1})");
    becomes("<a: 1>\n<b: 1>", "({a: 1})\n;({b: 1})");
    becomes("x ? a\n<b : c", "x ? a\n<b : c");
}
