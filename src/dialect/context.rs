//! What is being typed at a place of a text, for completion.

use super::grammar::{Rule, VERBS};
use super::tree::{Node, Tree};

/// What is being typed at a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// The byte at which the piece begins that a completion replaces.
    pub start: usize,
    /// What stands of it, up to the cursor.
    pub prefix: String,
    /// What may stand there.
    pub place: Place,
}

/// What may stand at a cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A name; where a statement begins outside all brackets, also the verb of a shell word.
    Name {
        /// A shell word may stand there.
        statement: bool,
    },
    /// A member of what a chain stands for: `db.users.ins` gives `db`, `users`; a call is `find()`.
    Member {
        /// The chain before the last dot.
        chain: Vec<String>,
    },
    /// A key of an object or a document, an operator (`$gt`) included.
    Key {
        /// The chain of the call whose argument it is in: `db`, `users`, `find`. Empty outside of calls.
        call: Vec<String>,
        /// Which argument, from 0.
        argument: usize,
        /// The keys around it inside the argument: `age` in `find({age: {`.
        path: Vec<String>,
    },
    /// An argument of a shell word.
    Argument {
        /// The verb.
        verb: String,
        /// The arguments before it.
        before: Vec<String>,
    },
    /// Nothing to complete: the inside of a string, comment or regular expression, a number.
    Nothing,
}

/// What is being typed at a byte of a text.
pub fn context(text: &str, cursor: usize) -> Context {
    let text = text.get(..cursor).unwrap_or(text);
    let tree = Tree::read(Rule::input, text);
    let end = text.len();
    let solid = |node: &&Node| node.start < node.end && node.rule != Rule::invisible;
    // The last token, the one that the cursor touches or that stands before it.
    let last = tree.nodes.iter().filter(solid).rfind(|node| is_token(node.rule));
    let typed = last.filter(|node| node.end as usize == end);
    let of =
        |start: usize, place: Place| Context { start, prefix: text[start..].to_owned(), place };

    if let Some(context) = argument(&tree, of) {
        return context;
    }
    let start = match typed.map(|node| (node.rule, node.start as usize)) {
        Some((Rule::word | Rule::name | Rule::private, start)) => start,
        // A keyword that is being typed may become a longer name.
        Some((Rule::eager | Rule::soft | Rule::binder | Rule::awaiting | Rule::relate, start)) => {
            start
        }
        Some((Rule::comment, start)) if text[start..].starts_with("/*") => end,
        Some((Rule::comma | Rule::sign | Rule::infix | Rule::arrow | Rule::step, _)) | None => end,
        Some(_) => return of(end, Place::Nothing),
    };
    let before = text[..start].trim_end();
    if before.ends_with('.') && !before.ends_with("..") {
        return of(start, Place::Member { chain: chain(&tree, before.len() - 1) });
    }
    let open =
        tree.nodes.iter().find(|node| node.rule == Rule::unclosed).map(|node| node.parent as usize);
    match open.map(|open| tree.nodes[open].rule) {
        Some(Rule::object | Rule::document) if before.ends_with([',', '{', '<']) => {
            of(start, key(&tree, open.unwrap_or_default()))
        }
        Some(Rule::template) => of(end, Place::Nothing),
        Some(_) => of(start, Place::Name { statement: false }),
        None => {
            let line = before.len()..start;
            let statement = before.is_empty() || before.ends_with(';') || text[line].contains('\n');
            of(start, Place::Name { statement })
        }
    }
}

fn is_token(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::word
            | Rule::name
            | Rule::private
            | Rule::eager
            | Rule::soft
            | Rule::binder
            | Rule::awaiting
            | Rule::relate
            | Rule::comma
            | Rule::sign
            | Rule::infix
            | Rule::arrow
            | Rule::step
            | Rule::string
            | Rule::curly
            | Rule::open_string
            | Rule::text
            | Rule::integer
            | Rule::number
            | Rule::regex
            | Rule::open_regex
            | Rule::comment
            | Rule::open_comment
            | Rule::broken
            | Rule::too_deep
    )
}

/// An argument of a shell word, if the text ends in one.
fn argument(tree: &Tree<'_>, of: impl Fn(usize, Place) -> Context) -> Option<Context> {
    let text = tree.text;
    let last = tree
        .children(0)
        .filter(|child| tree.nodes[*child].start < tree.nodes[*child].end)
        .last()?;
    let words = || tree.children(last).filter(|child| tree.nodes[*child].rule != Rule::comment);
    let node = &tree.nodes[last];
    match node.rule {
        Rule::command => {
            let all: Vec<&Node> = words().map(|child| &tree.nodes[child]).collect();
            let (verb, mut arguments) = (tree.text_of(all.first()?).to_owned(), all[1..].to_vec());
            let end = arguments.last()?.end as usize;
            if !text[end..].trim_end_matches(' ').is_empty() {
                return None; // A `;`, a comment, another line.
            }
            let start =
                if end == text.len() { arguments.pop()?.start as usize } else { text.len() };
            let before =
                arguments.into_iter().map(|argument| tree.text_of(argument).to_owned()).collect();
            Some(of(start, Place::Argument { verb, before }))
        }
        // A verb and a blank are no command yet.
        Rule::item | Rule::alone | Rule::leave => {
            let verb = tree.text_of(node).trim_end();
            let blank = &text[node.start as usize + verb.len()..];
            let begins = text[..node.start as usize].trim_end_matches(' ');
            let at_start = begins.is_empty() || begins.ends_with(['\n', ';']);
            let asks = VERBS.contains(&verb)
                && !blank.is_empty()
                && blank.trim_end_matches(' ').is_empty();
            (at_start && asks).then(|| {
                of(text.len(), Place::Argument { verb: verb.to_owned(), before: Vec::new() })
            })
        }
        _ => None,
    }
}

/// The chain of names and calls that ends at a byte: `db`, `users`, `find()`.
fn chain(tree: &Tree<'_>, end: usize) -> Vec<String> {
    let mut chain = Vec::new();
    let mut end = tree.text[..end].trim_end_matches('?').trim_end().len();
    let mut calls = String::new();
    loop {
        // The outermost node that ends here is the last link.
        let ends =
            |node: &&Node| node.end as usize == end && node.start < node.end && is_link(node.rule);
        let Some(link) = tree.nodes.iter().find(ends) else { break };
        let text = tree.text_of(link);
        match link.rule {
            Rule::paren => calls.insert_str(0, "()"),
            Rule::array => calls.insert_str(0, &index(tree, link)),
            _ => chain.push(format!("{text}{}", std::mem::take(&mut calls))),
        }
        let before = tree.text[..link.start as usize].trim_end();
        let goes_on = matches!(link.rule, Rule::paren | Rule::array);
        match before.strip_suffix('.') {
            Some(before) if !goes_on && !before.ends_with('.') => {
                end = before.trim_end_matches('?').trim_end().len()
            }
            _ if goes_on => end = before.trim_end_matches("?.").trim_end().len(),
            _ => break,
        }
    }
    if !calls.is_empty() {
        chain.push(calls); // `(a + b).c`, `[1].c`
    }
    chain.reverse();
    chain.iter().flat_map(|link| split_index(link)).collect()
}

fn is_link(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::word
            | Rule::private
            | Rule::paren
            | Rule::array
            | Rule::string
            | Rule::template
            | Rule::regex
    )
}

/// An index in brackets: `[users]` of `["users"]`, else `[]`.
fn index(tree: &Tree<'_>, array: &Node) -> String {
    let inside = array.start as usize + 1..(array.end as usize).saturating_sub(1);
    let string = tree.nodes.iter().find(|node| node.rule == Rule::string && node.span() == inside);
    string.map_or_else(
        || "[]".into(),
        |string| format!("[{}]", tree.text_of(string).trim_matches(['"', '\''])),
    )
}

/// `db[users]` as `db`, `users`: an index by a string is a member.
fn split_index(link: &str) -> Vec<String> {
    match link.split_once('[') {
        Some((name, rest)) if !name.is_empty() && !rest.starts_with(']') => {
            let member = rest.replacen(']', "", 1);
            vec![name.to_owned(), member]
        }
        _ => vec![link.to_owned()],
    }
}

/// The place of a key in an open object.
fn key(tree: &Tree<'_>, object: usize) -> Place {
    let mut path = Vec::new();
    let mut at = object;
    loop {
        let node = &tree.nodes[at];
        let start = node.start as usize;
        let parent = node.parent as usize;
        match tree.nodes[parent].rule {
            Rule::object | Rule::document => {
                // The key before the colon.
                let before = tree.text[..start].trim_end();
                if let Some(before) = before.strip_suffix(':') {
                    let end = before.trim_end().len();
                    let key = tree.children(parent).map(|child| &tree.nodes[child]);
                    let key =
                        key.filter(|key| key.end as usize == end && key.start < key.end).last();
                    path.extend(
                        key.map(|key| tree.text_of(key).trim_matches(['"', '\'']).to_owned()),
                    );
                }
            }
            Rule::paren => {
                let paren = &tree.nodes[parent];
                let commas = |child: &usize| {
                    tree.nodes[*child].rule == Rule::comma && tree.nodes[*child].start < node.start
                };
                let argument = tree.children(parent).filter(commas).count();
                let call = chain(tree, paren.start as usize);
                path.reverse();
                return Place::Key { call, argument, path };
            }
            _ => {}
        }
        if parent == 0 || tree.nodes[parent].rule == Rule::body {
            path.reverse();
            return Place::Key { call: Vec::new(), argument: 0, path };
        }
        at = parent;
    }
}
