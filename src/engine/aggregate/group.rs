//! `$group` and `$sortByCount`: one document for each distinct value.

use std::collections::HashMap;

use bson::{Bson, Document, doc};

use super::flow::lazily;
use super::memory::{self, Memory};
use super::sort::Sorted;
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Accumulator, Expression, Scope, State};
use crate::engine::query::Sort;
use crate::error::{Code, Error, Result};
use crate::value::{key, size};

pub(super) const STAGES: &[Row] = &[
    Row {
        name: "$group",
        help: "one document for each distinct _id, with accumulated fields",
        place: Place::Anywhere,
        parse: group,
    },
    Row {
        name: "$sortByCount",
        help: "how often each value occurs, most frequent first",
        place: Place::Anywhere,
        parse: sort_by_count,
    },
];

/// `$group`.
#[derive(Debug)]
pub(super) struct Group {
    id: Expression,
    fields: Vec<(String, Accumulator)>,
}

fn group(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(refuse(15947, "a group's fields must be specified in an object"));
    };
    let mut id = None;
    let mut rest = Document::new();
    for (name, value) in specification {
        if name == "_id" {
            id = Some(Expression::parse(value, scope)?);
        } else {
            rest.insert(name.as_str(), value.clone());
        }
    }
    let fields = accumulators(&rest, scope)?;
    let id = id.ok_or_else(|| refuse(15955, "a group specification must include an _id"))?;
    Ok(Box::new(Group { id, fields }))
}

/// Compiles `{field: {$accumulator: argument}, ...}`.
pub(super) fn accumulators(fields: &Document, scope: &Scope) -> Result<Vec<(String, Accumulator)>> {
    fields
        .iter()
        .map(|(name, value)| Ok((name.clone(), accumulator(name, value, scope)?)))
        .collect()
}

fn accumulator(name: &str, value: &Bson, scope: &Scope) -> Result<Accumulator> {
    let Bson::Document(value) = value else {
        return Err(refuse(40234, format!("The field '{name}' must be an accumulator object")));
    };
    if name.contains('.') {
        return Err(refuse(40235, format!("The field name '{name}' cannot contain '.'")));
    }
    if name.starts_with('$') {
        return Err(refuse(40236, format!("The field name '{name}' cannot be an operator name")));
    }
    match (value.iter().next(), value.len()) {
        (Some((accumulator, argument)), 1) => Accumulator::parse(accumulator, argument, scope),
        _ => Err(refuse(40238, format!("The field '{name}' must specify one accumulator"))),
    }
}

fn sort_by_count(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let words = "the sortByCount field must be defined as a $-prefixed path or an expression inside an object";
    match argument {
        Bson::Document(inner) if !inner.keys().next().is_some_and(|name| name.starts_with('$')) => {
            return Err(refuse(40147, words));
        }
        Bson::String(path) if !path.starts_with('$') => return Err(refuse(40148, words)),
        Bson::Document(_) | Bson::String(_) => {}
        _ => {
            return Err(refuse(
                40149,
                "the sortByCount field must be specified as a string or as an object",
            ));
        }
    }
    let fields = accumulators(&doc! { "count": { "$sum": 1 } }, scope)?;
    let group = Group { id: Expression::parse(argument, scope)?, fields };
    let sorted = Sorted { order: Sort::parse(&doc! { "count": -1 })?, wanted: usize::MAX };
    Ok(Box::new(SortByCount { group, sorted }))
}

#[derive(Debug)]
struct SortByCount {
    group: Group,
    sorted: Sorted,
}

impl Stage for SortByCount {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        self.sorted.run(self.group.run(input, context), context)
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.group.fold(scope)
    }

    fn wants(&mut self, count: usize) {
        self.sorted.wants(count);
    }
}

/// What `$push` and `$addToSet` may hold in one group.
const HELD: usize = 100 * 1024 * 1024;

/// The running fields of one group.
#[derive(Debug)]
pub(super) struct Running {
    states: Vec<Box<dyn State>>,
    held: usize,
}

impl Running {
    /// A group with this `_id` and no documents.
    pub(super) fn start(
        fields: &[(String, Accumulator)],
        id: &Bson,
        scope: &Scope,
    ) -> Result<Self> {
        let states = fields
            .iter()
            .map(|(_, accumulator)| accumulator.start(id, scope))
            .collect::<Result<_>>()?;
        Ok(Self { states, held: 0 })
    }

    /// Takes one more document, and answers with the bytes that were kept.
    pub(super) fn take(
        &mut self,
        fields: &[(String, Accumulator)],
        document: &Document,
        scope: &Scope,
    ) -> Result<usize> {
        let mut kept = 0;
        for ((_, accumulator), state) in fields.iter().zip(&mut self.states) {
            kept += accumulator.take(state.as_mut(), document, scope)?;
            if self.held + kept > HELD {
                let name = accumulator.name();
                let message = format!(
                    "{name} used too much memory and cannot spill to disk. Memory limit: {HELD} bytes"
                );
                return Err(Error::command(Code::EXCEEDED_MEMORY_LIMIT, message));
            }
        }
        self.held += kept;
        Ok(kept)
    }

    /// The finished fields after the `_id`.
    pub(super) fn finish(mut self, fields: &[(String, Accumulator)], id: Bson) -> Result<Document> {
        let mut document = doc! { "_id": id };
        for ((name, _), state) in fields.iter().zip(&mut self.states) {
            document.insert(name.as_str(), state.finish()?);
        }
        Ok(document)
    }
}

impl Stage for Group {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let scope = &context.scope;
            let mut memory = Memory::new(context, memory::GROUP);
            // Equal numbers of different types have one encoding.
            let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
            let mut encoded = Vec::new();
            // Groups come out in the order in which their first documents came in.
            let mut groups: Vec<(Bson, Running)> = Vec::new();
            for document in input {
                let document = document?;
                context.interrupt.check()?;
                // Missing and null are one group.
                let id = match self.id.evaluate(&document, scope)? {
                    None | Some(Bson::Undefined) => Bson::Null,
                    Some(id) => id,
                };
                encoded.clear();
                key::encode(&id, false, &mut encoded);
                let at = match places.get(&encoded) {
                    Some(at) => *at,
                    None => {
                        memory
                            .take(encoded.len() + size::of(&id) + 64 * (self.fields.len() + 1))?;
                        let running = Running::start(&self.fields, &id, scope)?;
                        groups.push((id, running));
                        places.insert(encoded.clone(), groups.len() - 1);
                        groups.len() - 1
                    }
                };
                memory.take(groups[at].1.take(&self.fields, &document, scope)?)?;
            }
            groups.into_iter().map(|(id, running)| running.finish(&self.fields, id)).collect()
        })
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.id.fold(scope)?;
        self.fields.iter_mut().try_for_each(|(_, accumulator)| accumulator.fold(scope))
    }
}
