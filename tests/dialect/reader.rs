//! Lines cut into inputs: pipes, pastes, and what was copied along with the code.

use tally::dialect::{Entry, Part, Reader, Source, Verdict, inputs, parse};

/// What comes out of a pipe, line by line: text without outer blanks, and how many lines were left out before it.
fn piped(text: &str) -> Vec<(String, usize)> {
    let mut reader = Reader::new();
    let mut entries: Vec<Entry> = text.lines().flat_map(|line| reader.push(line)).collect();
    entries.extend(reader.finish());
    seen(entries)
}

/// The same of a paste, which is known as a whole.
fn pasted(text: &str) -> Vec<(String, usize)> {
    seen(inputs(text))
}

fn seen(entries: Vec<Entry>) -> Vec<(String, usize)> {
    for entry in &entries {
        assert_eq!(entry.input.verdict, Verdict::Complete, "{:?}", entry.text);
    }
    entries.into_iter().map(|entry| (entry.text.trim().to_owned(), entry.left_out)).collect()
}

#[track_caller]
fn both(text: &str, expected: &[(&str, usize)]) {
    let expected: Vec<(String, usize)> =
        expected.iter().map(|(text, out)| ((*text).to_owned(), *out)).collect();
    assert_eq!(piped(text), expected);
    assert_eq!(pasted(text), expected);
}

#[test]
fn an_input_ends_on_the_line_that_completes_it() {
    let mut reader = Reader::new();
    assert_eq!(reader.push("db.a.insert({"), []);
    assert!(reader.pending());
    assert_eq!(reader.push("  _id: 1"), []);
    let entries = reader.push("})");
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].text.as_str(), entries[0].line), ("db.a.insert({\n  _id: 1\n})", 1));
    assert!(!reader.pending());
    let entries = reader.push("1 + 1\r");
    assert_eq!((entries[0].text.as_str(), entries[0].line), ("1 + 1", 4));
    assert_eq!(reader.finish(), []);
}

#[test]
fn an_error_that_no_line_can_mend_comes_at_once() {
    for line in ["f(\"abc", "x = /abc", "f(]", "f({a: , b: 1", "x = “abc"] {
        let mut reader = Reader::new();
        let entries = reader.push(line);
        assert!(matches!(entries[0].input.verdict, Verdict::Broken(_)), "{line}");
        assert!(!reader.pending());
    }
}

#[test]
fn two_empty_lines_give_an_unfinished_input_up() {
    let mut reader = Reader::new();
    assert_eq!(reader.push("f({"), []);
    assert_eq!(reader.push(""), []);
    let entries = reader.push("  ");
    assert!(matches!(entries[0].input.verdict, Verdict::Incomplete { opener: Some(_) }));
    assert!(!reader.pending());
    assert_eq!(reader.push("1")[0].text, "1");

    // One empty line does not, nor do two inside a template or a comment, or in a paste.
    assert_eq!(piped("f(\n\n1)"), [("f(\n\n1)".to_owned(), 0)]);
    assert_eq!(piped("x = `\n\n\n`"), [("x = `\n\n\n`".to_owned(), 0)]);
    assert_eq!(piped("/*\n\n\n*/ 1"), [("/*\n\n\n*/ 1".to_owned(), 0)]);
    assert_eq!(
        pasted("function f() {\n\n\n return 1 }"),
        [("function f() {\n\n\n return 1 }".to_owned(), 0)]
    );
}

#[test]
fn cancelling_drops_the_unfinished_input() {
    let mut reader = Reader::new();
    reader.push("f({");
    reader.cancel();
    assert!(!reader.pending());
    assert_eq!(reader.push("2")[0].text, "2");
}

#[test]
fn the_end_of_a_stream_shows_what_is_unfinished() {
    let mut reader = Reader::new();
    reader.push("f({");
    let entries = reader.finish();
    assert!(matches!(entries[0].input.verdict, Verdict::Incomplete { .. }));
    assert_eq!(reader.finish(), []);
}

#[test]
fn a_line_that_can_only_go_on_joins_the_input_before_it_where_it_is_known() {
    let chain = "db.a.find()\n  .sort({a: 1})\n  .limit(1)\n1";
    assert_eq!(
        pasted(chain),
        [("db.a.find()\n  .sort({a: 1})\n  .limit(1)".to_owned(), 0), ("1".to_owned(), 0)]
    );
    assert_eq!(pasted("if (a) {\n}\nelse {\n}").len(), 1);
    assert_eq!(pasted("try { } catch (e) { }\nfinally { }").len(), 1);
    assert_eq!(pasted("x = a\n  && b").len(), 1);
    // What can begin a statement does.
    assert_eq!(pasted("a\n[1]\n(2)\n+3\n`4`").len(), 5);
    assert_eq!(pasted("use a\nb").len(), 2);
}

#[test]
fn list_numbers_are_taken_off() {
    both(
        "  1. db.seq.insert({_id: 1});\n\n  1. db.seq.update({\n  2.     a: 1\n  3. });\ndb.seq.find()",
        &[
            ("db.seq.insert({_id: 1});", 0),
            ("db.seq.update({\n         a: 1\n     });", 0),
            ("db.seq.find()", 0),
        ],
    );
    both("1) a()\n2) b()\n3) c()", &[("a()", 0), ("b()", 0), ("c()", 0)]);
    // A list is of one kind; what can be no JavaScript is one wherever it begins.
    both("1) a()\n2.\n2) b()", &[("a()", 0), ("2.", 0), ("b()", 0)]);
    both("1. a()\n2.\n3. b()\n9. c()", &[("a()", 0), ("b()", 0), ("c()", 0)]);
    both("7. (a())", &[("7. (a())", 0)]);
    both("1. a()\n2. (b())\n3. [c]", &[("a()", 0), ("(b())", 0), ("[c]", 0)]);
    // Numbers are numbers.
    both("1.5\n1. + 2\n1.e3\n1.", &[("1.5", 0), ("1. + 2", 0), ("1.e3", 0), ("1.", 0)]);
    // Inside a numbered input only the next number is one.
    both("1. f(`\n2. a\n5. b`)", &[("f(`\n a\n5. b`)", 0)]);
    both("f([\n1. + 2\n])", &[("f([\n1. + 2\n])", 0)]);
}

#[test]
fn prompts_are_taken_off_and_output_is_left_out() {
    both(
        ">db.createCollection(\"c\")\n{ \"ok\" : 1 }\n> f({\n  a: 1\n})\nWriteResult({ \"nInserted\" : 1 })\n>\n> g()\n",
        &[("db.createCollection(\"c\")", 0), ("f({\n  a: 1\n})", 1), ("g()", 1)],
    );
    both(
        "test> f(\n...   { _id: 1 }\n... )\n{ _id: 1, n: 2 }\n[ 1,\n  2 ]\ntest> exit",
        &[("f(\n      { _id: 1 }\n    )", 0), ("exit", 3)],
    );
    for prompt in [
        ">",
        "> ",
        "$ ",
        "test> ",
        "my-db> ",
        "rs0:PRIMARY> ",
        "mongos> ",
        "rs0 [direct: primary] test> ",
        "MongoDB Enterprise > ",
        "MongoDB Enterprise rs0:PRIMARY> ",
        "Atlas atlas-x1-shard-0 [primary] test> ",
        "&gt; ",
    ] {
        both(&format!("{prompt}f()\n5\n{prompt}g()\n6"), &[("f()", 0), ("g()", 1), ("", 1)]);
    }
    // A shell word keeps being one.
    let entries = inputs("test> use shop\nswitched to db shop\nshop> show dbs");
    let words = |entry: &Entry| matches!(&entry.input.parts[..], [Part::Word { .. }]);
    assert!(entries.iter().all(words));
    assert_eq!(entries.len(), 2);
}

#[test]
fn the_fences_of_a_page_are_left_out() {
    both(
        "```js\na()\n\nb(\n1)\n```\n\n  ```\nc()\n  ```",
        &[("a()", 0), ("b(\n1)", 0), ("c()", 0)],
    );
    // A block with prompts has output, the next one need not; what stands between them is no code.
    both("```\n> a()\n1\n```\nNow the other.\n```js\nb()\n```", &[("a()", 0), ("b()", 2)]);
}

#[test]
fn comparisons_are_no_prompts() {
    for text in [
        "a > b",
        "a>b",
        "x> 5",
        "typeof x> y",
        "new Date> x",
        "a[0]> b",
        "$ (1)",
        "$",
        "1 > 2",
        "a\n> b",
    ] {
        let entries = piped(text);
        assert_eq!(entries[0].0, text.lines().next().unwrap(), "{text:?}");
    }
}

#[test]
fn dots_go_in_a_template_and_are_blanks_elsewhere() {
    both("> f(`\n... a\n... `)", &[("f(`\na\n`)", 0)]);
    // Without a prompt they are JavaScript.
    both("f(\n... x\n)", &[("f(\n... x\n)", 0)]);
}

#[test]
fn printed_results_are_left_out_without_prompts_too() {
    both(
        "db.a.find()\n{ \"_id\" : 1, \"name\" : \"Ann\" }\n{ \"_id\" : ObjectId(\"4f2f1a8e4c3a5b0c7d8e9fa0\") }\nWriteResult({ \"nInserted\" : 1 })\n1",
        &[("db.a.find()", 0), ("1", 3)],
    );
    both("{\n\t\"_id\" : 1,\n\t\"a\" : [ ]\n}\n2", &[("2", 4)]);
    both(
        "WriteResult({ \"nMatched\" : 1 }).nMatched",
        &[("WriteResult({ \"nMatched\" : 1 }).nMatched", 0)],
    );
    both("{\"a\": 1}", &[("{\"a\": 1}", 0)]);
    both("{a : 1}", &[("{a : 1}", 0)]);
}

#[test]
fn columns_stay_the_users() {
    let entries = inputs("test> f(\n... ]");
    let Verdict::Broken(error) = &entries[0].input.verdict else { panic!() };
    assert_eq!(error.span, 13..14);
    let lines = tally::dialect::Lines::new(&entries[0].text);
    assert_eq!(lines.position(error.span.start), (2, 5));
}

#[test]
fn an_input_of_many_lines_is_one_input() {
    let mut reader = Reader::new();
    let mut entries = reader.push("db.a.insertMany([");
    for n in 0..1000 {
        entries.extend(
            reader.push(&format!("  {{_id: {n}, name: \"a ( [ {{ name\", tags: [1, 2]}},")),
        );
    }
    assert_eq!(entries, []);
    let entries = reader.push("])");
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].input.verdict, Verdict::Complete);
}

#[test]
fn a_long_input_ends_where_the_whole_text_does() {
    // Long enough that the reader asks a shortened text in the place of the whole.
    let filler = |line: &str| format!("{}\n", [line; 40].join("\n"));
    for text in [
        format!("var a = 1,\n{}b = 2;", filler("  some = \"'\", other = '(',")),
        format!("x = 'a' +\n{}'z'", filler("  \"line ( [ {\" + // )")),
        format!("function f() {{\n{}}}", filler("  var x = `${g({a: 1})}`\n  if (x) { h(/[}]/) }")),
        format!("f([\n{}])", filler("  <a: [1, 2], b: x => x>, // ]")),
        format!("x = `\n{}`", filler("  line ${f({a: `b`})} [ (")),
        format!("class K {{\n{}}}", filler("  m() { return 1 }\n  n = 2;")),
        format!("switch (a) {{\n{}}}", filler("  case 1: b()\n  default: { c }")),
        format!("/*\n{}*/ f()", filler("  line } )")),
    ] {
        let mut reader = Reader::new();
        let mut pending = String::new();
        for line in text.lines() {
            pending.push_str(line);
            let open =
                matches!(parse(&pending, Source::Prompt).verdict, Verdict::Incomplete { .. });
            pending.push('\n');
            let entries = reader.push(line);
            assert_eq!((entries.is_empty(), reader.pending()), (open, open), "{pending}");
        }
        assert!(!reader.pending());
    }
}
