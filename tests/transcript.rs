//! The form of a transcript: a session one could have typed, with what it must print.
//!
//! ```text
//! emulate: mongosh                a header, if it is not the classic shell
//!
//! # What this block shows, and which rule its expected lines come from.
//! > db.t.insertOne({_id: 1,
//! ... a: 2})                      input goes on
//! { acknowledged: true, insertedId: 1 }
//! > nope
//! ! uncaught exception: ReferenceError: nope is not defined :
//! ```
//!
//! A `# ` line after an empty one begins a block. Blocks share their data and nothing else: each may run in a
//! process of its own, in the database `test`. `…` in an expected line stands for one or more characters, where
//! nobody can know them (a fresh ObjectId, a time). `! ` lines must stand on standard error in that order, other
//! lines may stand between them (a stack, a caret); a block without `! ` lines must leave standard error empty.

/// A whole file.
pub struct Transcript {
    /// Where it comes from, for complaints.
    pub name: String,
    /// The value of `--emulate`.
    pub emulate: String,
    /// Its blocks in order.
    pub blocks: Vec<Block>,
}

/// Inputs that belong together.
pub struct Block {
    /// The line it begins at.
    pub line: usize,
    /// What it shows.
    pub title: String,
    /// Its inputs in order.
    pub steps: Vec<Step>,
}

/// One input and what it prints.
pub struct Step {
    /// The line it begins at.
    pub line: usize,
    /// The text, of one line or several.
    pub input: String,
    /// Expected on standard output.
    pub output: Vec<String>,
    /// Expected on standard error.
    pub errors: Vec<String>,
}

impl Transcript {
    /// Reads a transcript; `first` is the number of its first line.
    ///
    /// Answers with what is wrong with its form, if something is.
    pub fn parse(name: &str, text: &str, first: usize) -> Result<Self, String> {
        let mut transcript =
            Self { name: name.to_owned(), emulate: "mongo".to_owned(), blocks: Vec::new() };
        // Whether the line above was empty, a comment, or the last line of an input.
        let (mut after_blank, mut after_comment, mut after_input) = (true, false, false);
        for (at, line) in text.lines().enumerate() {
            let number = first + at;
            let wrong = |what: &str| Err(format!("{name}:{number}: {what}: {line}"));
            let was_blank = std::mem::replace(&mut after_blank, line.is_empty());
            let was_comment = std::mem::replace(&mut after_comment, false);
            let was_input = std::mem::replace(&mut after_input, false);
            if let Some(comment) = line.strip_prefix("# ").filter(|_| was_blank || was_comment) {
                after_comment = true;
                match transcript.blocks.last_mut() {
                    Some(block) if was_comment => {
                        block.title.push(' ');
                        block.title.push_str(comment);
                    }
                    _ => transcript.blocks.push(Block {
                        line: number,
                        title: comment.to_owned(),
                        steps: Vec::new(),
                    }),
                }
                continue;
            }
            let Some(block) = transcript.blocks.last_mut() else {
                match line.strip_prefix("emulate: ") {
                    Some(shell @ ("mongo" | "mongosh")) => {
                        shell.clone_into(&mut transcript.emulate)
                    }
                    None if line.is_empty() => {}
                    _ => return wrong("neither a header nor a `# ` comment"),
                }
                continue;
            };
            if let Some(input) = line.strip_prefix("> ") {
                after_input = true;
                block.steps.push(Step {
                    line: number,
                    input: input.to_owned(),
                    output: Vec::new(),
                    errors: Vec::new(),
                });
                continue;
            }
            let Some(step) = block.steps.last_mut() else {
                return wrong("a block starts with a `> ` input");
            };
            let continued = if line == "..." { Some("") } else { line.strip_prefix("... ") };
            if let (Some(more), true) = (continued, was_input) {
                after_input = true;
                step.input.push('\n');
                step.input.push_str(more);
            } else if let Some(error) = line.strip_prefix("! ") {
                step.errors.push(error.to_owned());
            } else {
                step.output.push(line.to_owned());
            }
        }
        for block in &mut transcript.blocks {
            let Some(step) = block.steps.last_mut() else {
                return Err(format!("{name}:{}: the block has no input", block.line));
            };
            while step.output.last().is_some_and(String::is_empty) {
                step.output.pop();
            }
        }
        if transcript.blocks.is_empty() {
            return Err(format!("{name}: no block"));
        }
        Ok(transcript)
    }
}

/// Whether a line is as expected, `…` standing for one or more characters.
pub fn matches(expected: &str, line: &str) -> bool {
    let mut parts = expected.split('…');
    let start = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(start) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let Some(first) = rest.chars().next() else { return false };
        let from = first.len_utf8();
        if parts.peek().is_none() {
            return rest.len() >= from + part.len() && rest.ends_with(part);
        }
        let Some(at) = rest[from..].find(part) else { return false };
        rest = &rest[from + at + part.len()..];
    }
    true
}

#[test]
fn an_ellipsis_stands_for_something() {
    assert!(matches("a", "a") && !matches("a", "ab") && !matches("ab", "a"));
    assert!(matches("a…c", "abbc") && !matches("a…c", "ac") && !matches("a…c", "abd"));
    assert!(matches("…", "x") && !matches("…", ""));
    assert!(matches("id: …, n: …", "id: 12, n: 3") && !matches("id: …, n: …", "id: 12"));
}

#[test]
fn a_transcript_has_blocks_of_inputs() {
    let text =
        "emulate: mongosh\n\n# One\n# and more.\n> f(\n... 1)\n1\n\n2\n\n# Two.\n> x\n! oops\n\n";
    let transcript = Transcript::parse("t", text, 1).unwrap();
    assert_eq!(transcript.emulate, "mongosh");
    assert_eq!(transcript.blocks.len(), 2);
    assert_eq!(transcript.blocks[0].title, "One and more.");
    assert_eq!(transcript.blocks[0].steps[0].input, "f(\n1)");
    assert_eq!(transcript.blocks[0].steps[0].output, ["1", "", "2"]);
    assert_eq!(transcript.blocks[1].steps[0].errors, ["oops"]);
    assert!(Transcript::parse("t", "> x\n", 1).is_err());
    assert!(Transcript::parse("t", "# nothing\n", 1).is_err());
}
