//! Shell words, at the prompt and in files.

use tally::dialect::{Part, Source, Verdict, parse};

use super::{becomes, code, unchanged};

/// The parts of an input at the prompt: words as `verb(argument, argument)`, `alone` ones with `!`, code as it is.
fn parts(text: &str) -> Vec<String> {
    let input = parse(text, Source::Prompt);
    assert_eq!(input.verdict, Verdict::Complete, "{text:?}");
    let part = |part: &Part| match part {
        Part::Word { verb, arguments, alone, span } => {
            assert!(text[span.clone()].starts_with(verb.as_str()));
            format!("{verb}({}){}", arguments.join(", "), if *alone { "!" } else { "" })
        }
        Part::Script(code) => code.text.trim().to_owned(),
    };
    input.parts.iter().map(part).collect()
}

#[test]
fn a_word_with_an_argument_stands_where_a_statement_may() {
    assert_eq!(parts("use shop"), ["use(shop)"]);
    assert_eq!(parts("  show   dbs ;"), ["show(dbs)"]);
    assert_eq!(parts("show log global"), ["show(log, global)"]);
    assert_eq!(parts("use shop;"), ["use(shop)"]);
    assert_eq!(parts("use shop // mine"), ["use(shop)"]);
    assert_eq!(parts("use shop /* mine */"), ["use(shop)"]);
    assert_eq!(parts("use my-shop_2"), ["use(my-shop_2)"]);
    assert_eq!(parts("x = 1; use shop"), ["x = 1;", "use(shop)"]);
    assert_eq!(parts("use shop; show collections"), ["use(shop)", "show(collections)"]);
    assert_eq!(parts("learn 4.2"), ["learn(4.2)"]);
    assert_eq!(parts("trace on\nf()\ntrace off"), ["trace(on)", "f()", "trace(off)"]);
    assert_eq!(
        parts("use seqshop\ndb.a.insertOne({ _id: \"u\" })\nshow collections\ndb.a.find()"),
        ["use(seqshop)", "db.a.insertOne({ _id: \"u\" })", "show(collections)", "db.a.find()"]
    );
    assert_eq!(parts("\u{feff}use shop\r\n"), ["use(shop)"]);
}

#[test]
fn a_single_word_counts_when_it_is_the_whole_input() {
    assert_eq!(parts("it"), ["it()!"]);
    assert_eq!(parts(" it ; "), ["it()!"]);
    assert_eq!(parts("exit // now"), ["exit()!"]);
    assert_eq!(parts("help"), ["help()!"]);
    assert_eq!(parts("cls"), ["cls()!"]);
    assert_eq!(parts("quit"), ["quit()!"]);
    assert_eq!(parts("learn"), ["learn()!"]);
    assert_eq!(parts("it + 1"), ["it + 1"]);
    assert_eq!(parts("x = 1\nit"), ["x = 1\nit"]);
    assert_eq!(parts("quit()"), ["quit()"]);
    assert_eq!(parts("it.a"), ["it.a"]);
}

#[test]
fn what_only_looks_like_a_word_is_javascript() {
    for text in [
        "var it = 5, use = 2",
        "use = 5",
        "use(\"shop\")",
        "show in x",
        "use instanceof f",
        "show\ndbs",
        "`\nuse shop\n`",
        "/*\nuse shop\n*/ 1",
        "f(\nuse\n)",
        "{\nexit\n}",
        "help.me",
        "exit\n(1)",
        "use\n.shop",
        "show: for (;;) break show",
    ] {
        unchanged(text);
    }
}

#[test]
fn in_a_file_a_word_becomes_a_call_on_its_line() {
    becomes("use shop\nprint(1)", "__word(\"use\", \"shop\");\nprint(1)");
    becomes("a()\n  use shop; // mine\nb()", "a()\n  __word(\"use\", \"shop\"); // mine\nb()");
    becomes("show log global", "__word(\"show\", \"log\", \"global\");");
    becomes("use \"sh\\op\"", "__word(\"use\", \"\\\"sh\\\\op\\\"\");");
    becomes("a()\nexit\nb()", "a()\n__word(\"exit\");\nb()");
    becomes("a()\nquit;", "a()\n__word(\"quit\");");
    becomes("exit", "__word(\"exit\");");
    for text in [
        "it",
        "help",
        "cls",
        "var exit = 1\nexit\nf()",
        "function exit() {}\nexit\n",
        "exit = 2\nexit",
    ] {
        becomes(text, text);
    }
    assert_eq!(
        code("use a\nshow b", Source::Module).text,
        "__word(\"use\", \"a\");\n__word(\"show\", \"b\");"
    );
}
