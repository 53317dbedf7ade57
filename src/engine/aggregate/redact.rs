//! `$redact`: documents and the documents in them, kept or left out by what they themselves say.

use bson::{Bson, Document};

use super::{Context, Documents, Place, Row, Stage};
use crate::engine::expr::{Node, Parser, Place as At, Scope};
use crate::error::{Code, Error, Result};

pub(super) const STAGES: &[Row] = &[Row {
    name: "$redact",
    help: "parts of documents left out: an expression that gives $$DESCEND, $$PRUNE or $$KEEP",
    place: Place::Anywhere,
    parse: redact,
}];

const DESCEND: &str = "descend";
const PRUNE: &str = "prune";
const KEEP: &str = "keep";

#[derive(Debug)]
struct Redact {
    decision: Node,
}

/// A scope in which the three decisions are variables.
fn with_decisions(scope: &Scope) -> Scope {
    let mut scope = scope.clone();
    for (name, decision) in [("DESCEND", DESCEND), ("PRUNE", PRUNE), ("KEEP", KEEP)] {
        scope.variables.insert(name, decision);
    }
    scope
}

fn redact(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let scope = with_decisions(scope);
    let parser = Parser::new(&scope);
    // Paths begin at the document in hand, `$$ROOT` stays the whole.
    let current = parser.bind("CURRENT");
    Ok(Box::new(Redact { decision: parser.within(&current).parse(argument)? }))
}

impl Stage for Redact {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        let scope = with_decisions(&context.scope);
        Box::new(input.filter_map(move |document| {
            let kept = document.and_then(|document| {
                let root = document.clone();
                self.keep(document, &At::new(&root, &scope))
            });
            kept.transpose()
        }))
    }
}

impl Redact {
    /// What is left of a document; `None` when it is pruned.
    fn keep(&self, document: Document, at: &At<'_>) -> Result<Option<Document>> {
        let current = Bson::Document(document);
        let decision = {
            let frame = at.bind(Some(std::borrow::Cow::Borrowed(&current)));
            self.decision.value(&at.within(&frame))?
        };
        let Bson::Document(document) = current else { return Ok(None) };
        match decision.as_ref().and_then(Bson::as_str) {
            Some(KEEP) => Ok(Some(document)),
            Some(PRUNE) => Ok(None),
            Some(DESCEND) => {
                let mut kept = Document::new();
                for (name, value) in document {
                    if let Some(value) = self.descend(value, at)? {
                        kept.insert(name, value);
                    }
                }
                Ok(Some(kept))
            }
            _ => {
                let message = "$redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, \
                               and $$PRUNE, but returned something else";
                Err(Error::command(Code(17053), message))
            }
        }
    }

    fn descend(&self, value: Bson, at: &At<'_>) -> Result<Option<Bson>> {
        Ok(match value {
            Bson::Document(document) => self.keep(document, at)?.map(Bson::Document),
            Bson::Array(elements) => {
                let mut kept = Vec::with_capacity(elements.len());
                for element in elements {
                    kept.extend(self.descend(element, at)?);
                }
                Some(Bson::Array(kept))
            }
            scalar => Some(scalar),
        })
    }
}
