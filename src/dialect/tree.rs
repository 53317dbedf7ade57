//! The tree of a text: pest's tokens as one flat list of nodes in reading order.
//!
//! A parent stands before its children, so one walk over the list sees everything once. The grammar is total: every
//! text has a tree.

use std::borrow::Cow;
use std::ops::Range;

use pest::{Parser, Token};

use super::grammar::{Rule, Shell};
use super::position;

/// A tree over a text.
pub(super) struct Tree<'a> {
    /// The text as the user wrote it.
    pub(super) text: &'a str,
    /// Its nodes in reading order; the first is the root.
    pub(super) nodes: Vec<Node>,
}

/// A node: what it is, where it stands, and which nodes belong to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// The rule of the grammar.
    pub(super) rule: Rule,
    /// First byte.
    pub(super) start: u32,
    /// Byte after the last.
    pub(super) end: u32,
    /// Index of the node around it; the root is its own.
    pub(super) parent: u32,
    /// Index of the first node that no longer belongs to it.
    pub(super) next: u32,
}

impl Node {
    /// Its bytes of the text.
    pub(super) fn span(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl<'a> Tree<'a> {
    /// Reads a text by one of the entries of the grammar that accept every text, `input` or `pieces`.
    ///
    /// The text must be shorter than 4 GB; [`super::parse`] refuses such texts long before.
    pub(super) fn read(entry: Rule, text: &'a str) -> Self {
        Self::of(entry, text).expect("the grammar accepts every text")
    }

    /// Reads a text by any entry of the grammar; `None` if it is not that.
    pub(super) fn of(entry: Rule, text: &'a str) -> Option<Self> {
        let plain: Cow<'_, str> = position::plain_line_ends(text);
        let mut nodes: Vec<Node> = Vec::with_capacity(text.len() / 4);
        let mut open: Vec<u32> = Vec::new();
        let pairs = Shell::parse(entry, &plain).ok()?;
        for token in pairs.tokens() {
            match token {
                Token::Start { rule, pos } => {
                    let index = index(nodes.len());
                    let start = self::index(pos.pos());
                    nodes.push(Node {
                        rule,
                        start,
                        end: start,
                        parent: open.last().copied().unwrap_or(0),
                        next: 0,
                    });
                    open.push(index);
                }
                Token::End { pos, .. } => {
                    let index = open.pop().expect("pest closes what it opened");
                    let next = nodes.len();
                    let node = &mut nodes[index as usize];
                    node.end = self::index(pos.pos());
                    node.next = self::index(next);
                }
            }
        }
        Some(Self { text, nodes })
    }

    /// The first node of a rule.
    pub(super) fn first(&self, rule: Rule) -> Option<&Node> {
        self.nodes.iter().find(|node| node.rule == rule)
    }

    /// The text of a node.
    pub(super) fn text_of(&self, node: &Node) -> &'a str {
        &self.text[node.span()]
    }

    /// The node around a node.
    pub(super) fn parent(&self, node: &Node) -> &Node {
        &self.nodes[node.parent as usize]
    }

    /// The indexes of a node's children.
    pub(super) fn children(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.nodes[index].next as usize;
        let mut at = index + 1;
        std::iter::from_fn(move || {
            let child = at;
            (child < end).then(|| {
                at = self.nodes[child].next as usize;
                child
            })
        })
    }
}

fn index(number: usize) -> u32 {
    u32::try_from(number).expect("an input is shorter than 4 GB")
}
