//! `$graphLookup`: documents reached by following a field from document to document.

use std::collections::BTreeSet;

use bson::{Bson, Document};

use super::joined::Foreign;
use super::unwind::set;
use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Expression, FieldPath, Ordered, Scope, check_path};
use crate::engine::query::Filter;
use crate::error::Result;
use crate::value::kind;
use crate::value::number::Number;

pub(super) const STAGES: &[Row] = &[Row {
    name: "$graphLookup",
    help: "documents reached from one to the next: {from, startWith, connectFromField, connectToField, as, maxDepth, \
           depthField, restrictSearchWithMatch}",
    place: Place::Anywhere,
    parse: graph_lookup,
}];

#[derive(Debug)]
struct GraphLookup {
    from: String,
    target: String,
    start: Expression,
    connect_from: FieldPath,
    connect_to: String,
    max_depth: i64,
    depth_field: Option<String>,
    restriction: Option<Filter>,
}

fn graph_lookup(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        return Err(refuse(
            9,
            format!("the $graphLookup stage specification must be an object, but found {found}"),
        ));
    };
    let mut start = None;
    let mut max_depth = i64::MAX;
    let mut restriction = None;
    let [mut from, mut target, mut connect_from, mut connect_to, mut depth_field] =
        [None::<&str>; 5];
    for (name, value) in specification {
        let slot = match name.as_str() {
            "startWith" => {
                start = Some(Expression::parse(value, scope)?);
                continue;
            }
            "maxDepth" => {
                let Some(number) = Number::of(value) else {
                    let found = kind::name(value);
                    return Err(refuse(
                        40100,
                        format!("maxDepth requires numeric argument, found: {found}"),
                    ));
                };
                if number.is_negative() && !number.is_zero() {
                    let shown = crate::value::text::value(value);
                    return Err(refuse(
                        40101,
                        format!("maxDepth requires a nonnegative argument, found: {shown}"),
                    ));
                }
                max_depth = number.integral().ok_or_else(|| {
                    let shown = crate::value::text::value(value);
                    refuse(
                        40102,
                        format!("maxDepth could not be represented as a long long: {shown}"),
                    )
                })?;
                continue;
            }
            "restrictSearchWithMatch" => {
                let Bson::Document(filter) = value else {
                    let found = kind::name(value);
                    let message =
                        format!("restrictSearchWithMatch must be an object, found {found}");
                    return Err(refuse(40185, message));
                };
                restriction = Some(Filter::parse(filter, scope)?);
                continue;
            }
            "from" => &mut from,
            "as" => &mut target,
            "connectFromField" => &mut connect_from,
            "connectToField" => &mut connect_to,
            "depthField" => &mut depth_field,
            _ => return Err(refuse(40104, format!("Unknown argument to $graphLookup: {name}"))),
        };
        let Bson::String(text) = value else {
            let found = kind::name(value);
            return Err(refuse(
                40103,
                format!("expected string as argument for {name}, found: {found}"),
            ));
        };
        *slot = Some(text);
    }
    let (Some(from), Some(target), Some(start), Some(connect_from), Some(connect_to)) =
        (from, target, start, connect_from, connect_to)
    else {
        let message = "$graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be \
                       specified.";
        return Err(refuse(40105, message));
    };
    for path in [Some(target), Some(connect_to), depth_field].into_iter().flatten() {
        check_path(path)?;
    }
    Ok(Box::new(GraphLookup {
        from: from.to_owned(),
        target: target.to_owned(),
        start,
        connect_from: FieldPath::parse(connect_from)?,
        connect_to: connect_to.to_owned(),
        max_depth,
        depth_field: depth_field.map(str::to_owned),
        restriction,
    }))
}

impl Stage for GraphLookup {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        let mut foreign = None;
        Box::new(input.map(move |document| {
            let mut document = document?;
            let foreign = match &foreign {
                Some(foreign) => foreign,
                None => foreign.insert(Foreign::open(context, &self.from, &self.connect_to)?),
            };
            let reached = self.reached(&document, foreign, context)?;
            set(&mut document, &self.target, Bson::Array(reached));
            Ok(document)
        }))
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.start.fold(scope)
    }
}

impl GraphLookup {
    /// Everything that can be reached, breadth first; each document once, at its least depth.
    fn reached(
        &self,
        document: &Document,
        foreign: &Foreign<'_>,
        context: &Context,
    ) -> Result<Vec<Bson>> {
        let mut asked: BTreeSet<Ordered> = BTreeSet::new();
        let mut visited: BTreeSet<Ordered> = BTreeSet::new();
        let mut reached = Vec::new();
        let mut frontier = values(self.start.evaluate(document, &context.scope)?);
        let mut depth = 0;
        while !frontier.is_empty() && depth <= self.max_depth {
            frontier.retain(|value| asked.insert(Ordered(value.clone())));
            let mut next = Vec::new();
            for found in foreign.matching(&frontier)? {
                context.interrupt.check()?;
                let mut found = found?;
                if let Some(restriction) = &self.restriction
                    && !restriction.matches(&found)?
                {
                    continue;
                }
                if !visited.insert(Ordered(found.get("_id").cloned().unwrap_or(Bson::Null))) {
                    continue;
                }
                next.extend(values(self.connect_from.of(&found).map(|value| value.into_owned())));
                if let Some(field) = &self.depth_field {
                    set(&mut found, field, Bson::Int64(depth));
                }
                reached.push(Bson::Document(found));
            }
            frontier = next;
            depth += 1;
        }
        Ok(reached)
    }
}

/// A value to go on with, or each element of an array; a missing one leads nowhere.
fn values(value: Option<Bson>) -> Vec<Bson> {
    match value {
        None => Vec::new(),
        Some(Bson::Array(elements)) => elements,
        Some(single) => vec![single],
    }
}
