//! What is written, read by the languages' own tools: every call and every value must parse, and strings must come out as
//! they went in where a language can be asked cheaply.
//!
//! A tool that is not there is named on the output; nothing is passed in silence.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use bson::{Bson, Document};
use tally::translate::{self, Language};

use super::calls::{calls, values};
use super::{code, insert};

/// Every command that is tried.
fn commands() -> Vec<Document> {
    let values = values().into_iter().map(|(_, value)| insert(value));
    calls().into_iter().map(|(_, command)| command).chain(values).collect()
}

/// All code of a language, each piece put into `wrap` for `{}`.
fn pieces(name: &str, wrap: impl Fn(usize, &str) -> String) -> String {
    let language = translate::language(name).unwrap();
    let mut all = String::new();
    let codes: Vec<String> = commands().iter().map(|command| code(command, language)).collect();
    let pieces = codes.iter().flat_map(|code| split(code));
    for (at, piece) in pieces.enumerate() {
        all.push_str(&wrap(at, piece));
        all.push('\n');
    }
    all
}

/// The pieces of code for the drivers of one language.
fn split(code: &str) -> impl Iterator<Item = &str> {
    code.split("\n\n")
}

/// Runs a program on a text; `None`, and a line on the output, when the program is not there.
fn run(program: &str, arguments: &[&str], text: &str) -> Option<(bool, String)> {
    let mut child = match Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    {
        Ok(child) => child,
        Err(error) => {
            let mut out = std::io::stderr().lock();
            writeln!(out, "NOT CHECKED: {program} is not here ({error})").unwrap();
            return None;
        }
    };
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    // On a thread of its own: the program may write before it has read all.
    let writer = std::thread::spawn(move || {
        // A program that reads a file instead does not read this.
        let _ = input.write_all(text.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = [output.stdout, output.stderr].concat();
    Some((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

/// Fails unless the program is content with the text, or is not there.
#[track_caller]
fn reads(program: &str, arguments: &[&str], text: &str) {
    if let Some((fine, said)) = run(program, arguments, text) {
        let said: String = said.chars().take(4000).collect();
        assert!(fine, "{program} does not read it: {said}");
    }
}

#[test]
fn python_reads_it() {
    let all = pieces("python", |_, piece| format!("{piece}\n"));
    reads("python3", &["-c", "import ast, sys; ast.parse(sys.stdin.buffer.read())"], &all);
}

#[test]
fn node_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("all.mjs");
    fs::write(&file, pieces("node", |_, piece| format!("{{\n{piece}\n}}"))).unwrap();
    reads("node", &["--check", path(&file)], "");
}

#[test]
fn rust_reads_it() {
    let all = pieces("rust", |at, piece| {
        format!("async fn f{at}() -> Result<(), Error> {{\n{piece}\nOk(())\n}}\n")
    });
    reads("rustfmt", &["--edition", "2024"], &all);
}

#[test]
fn php_reads_it() {
    let all = pieces("php", |_, piece| format!("{piece}\n"));
    reads("php", &["-l"], &format!("<?php\n{all}"));
}

#[test]
fn ruby_reads_it() {
    reads("ruby", &["-c"], &pieces("ruby", |_, piece| format!("{piece}\n")));
}

#[test]
fn go_reads_it() {
    let all = pieces("go", |at, piece| format!("func f{at}() error {{\n{piece}\nreturn err\n}}\n"));
    reads("gofmt", &["-e"], &format!("package main\n\n{all}"));
}

#[test]
fn csharp_reads_it() {
    let all = pieces("csharp", |at, piece| format!("async Task F{at}() {{\n{piece}\n}}\n"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("All.cs");
    fs::write(&file, format!("class All {{\n{all}}}\n")).unwrap();
    reads("mcs", &["--parse", path(&file)], "");
}

#[test]
fn clojure_reads_it() {
    let all = pieces("clojure", |_, piece| format!("{piece}\n"));
    let read = "(let [in (java.io.PushbackReader. *in*)] \
                (loop [] (when-not (= ::end (read in false ::end)) (recur))))";
    reads("clojure", &["-e", read], &all);
}

/// A program that parses a file of Java and knows none of its classes.
const JAVA: &str = r#"
import com.sun.source.util.JavacTask;
import java.util.*;
import javax.tools.*;

public class Parse {
    public static void main(String[] files) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        StandardJavaFileManager manager = compiler.getStandardFileManager(found, null, null);
        var units = manager.getJavaFileObjects(files);
        ((JavacTask) compiler.getTask(null, manager, found, List.of(), null, units)).parse();
        found.getDiagnostics().forEach(System.err::println);
        System.exit(found.getDiagnostics().isEmpty() ? 0 : 1);
    }
}
"#;

#[test]
fn java_reads_it() {
    let all = pieces("java", |at, piece| format!("void f{at}() {{\n{piece}\n}}\n"));
    let folder = tempfile::tempdir().unwrap();
    let (parser, file) = (folder.path().join("Parse.java"), folder.path().join("All.java"));
    fs::write(&parser, JAVA).unwrap();
    fs::write(&file, format!("class All {{\n{all}}}\n")).unwrap();
    reads("java", &[path(&parser), path(&file)], "");
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The strings that are delicate, as values and as keys.
fn strings() -> Vec<String> {
    let texts = values().into_iter().filter_map(|(_, value)| match value {
        Bson::String(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

/// A program that runs each string's code on a database that only remembers, and the texts that must come out, as JSON.
fn echo(language: &Language, before: &str, wrap: impl Fn(&str) -> String) -> String {
    let mut program = before.to_owned();
    for text in strings() {
        program.push_str(&wrap(&code(&insert(Bson::String(text)), language)));
        program.push('\n');
    }
    program
}

fn wanted() -> String {
    let json = |text: String| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        format!("\"{}\"", units.collect::<String>())
    };
    format!("[{}]", strings().into_iter().map(json).collect::<Vec<_>>().join(","))
}

#[test]
fn strings_come_out_of_python_as_they_went_in() {
    let before = "class Fake:\n    def __getitem__(self, name): return self\n    \
                  def insert_one(self, document): seen.append(document['v'])\n\
                  import json\nseen = []\ndb = Fake()\n";
    let mut program = echo(translate::language("python").unwrap(), before, ToOwned::to_owned);
    program
        .push_str(&format!("wanted = json.loads(r'''{}''')\n", wanted().replace('\'', "\\u0027")));
    program.push_str("assert seen == wanted, (seen, wanted)\n");
    reads("python3", &["-"], &program);
}

#[test]
fn strings_come_out_of_node_as_they_went_in() {
    let before = "const seen = [];\n\
                  const db = { collection: () => ({ insertOne: async ({ v }) => seen.push(v) }) };\n";
    let wrap = |piece: &str| format!("{{\n{piece}\n}}");
    let mut program = echo(translate::language("node").unwrap(), before, wrap);
    program.push_str(&format!("const wanted = {};\n", wanted()));
    program.push_str("if (JSON.stringify(seen) !== JSON.stringify(wanted)) { console.error(seen, wanted); process.exit(1); }\n");
    reads("node", &["--input-type=module"], &program);
}

#[test]
fn strings_come_out_of_php_as_they_went_in() {
    let before = "<?php\nclass Fake { public $seen = []; function __get($name) { return $this; }\n\
                  function insertOne($document) { $this->seen[] = $document['v']; } }\n$db = new Fake();\n";
    let language = translate::language("php").unwrap();
    // The library's piece; the raw command is written by the same hand.
    let wrap = |piece: &str| split(piece).next().unwrap_or_default().to_owned();
    let mut program = echo(language, before, wrap);
    program.push_str(&format!("$wanted = json_decode('{}');\n", wanted()));
    program.push_str("if ($db->seen !== $wanted) { var_dump($db->seen, $wanted); exit(1); }\n");
    reads("php", &[], &program);
}

#[test]
fn strings_come_out_of_ruby_as_they_went_in() {
    let before = "require 'json'\nclass Fake\n  attr_reader :seen\n  def [](name) = self\n  \
                  def insert_one(document) = (@seen ||= []) << document[:v]\nend\nclient = Fake.new\n";
    let mut program = echo(translate::language("ruby").unwrap(), before, ToOwned::to_owned);
    program.push_str(&format!("wanted = JSON.parse('{}')\n", wanted()));
    program.push_str("abort([client.seen, wanted].inspect) unless client.seen == wanted\n");
    reads("ruby", &["-"], &program);
}
