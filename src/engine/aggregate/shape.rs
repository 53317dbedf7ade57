//! Stages that reshape each document on its own: `$project`, `$set`, `$unset`, `$replaceRoot` and their synonyms.

use bson::{Bson, Document};

use super::{Context, Documents, Place, Row, Stage, refuse};
use crate::engine::expr::{Expression, Scope};
use crate::engine::query::Projection;
use crate::error::{Error, Result};
use crate::value::{kind, text};

pub(super) const STAGES: &[Row] = &[
    Row {
        name: "$addFields",
        help: "fields added or replaced",
        place: Place::Update,
        parse: add_fields,
    },
    Row {
        name: "$project",
        help: "fields shown, hidden or computed",
        place: Place::Update,
        parse: project,
    },
    Row {
        name: "$replaceRoot",
        help: "another document in place of each: {newRoot}",
        place: Place::Update,
        parse: replace_root,
    },
    Row {
        name: "$replaceWith",
        help: "another document in place of each; short for $replaceRoot",
        place: Place::Update,
        parse: replace_with,
    },
    Row {
        name: "$set",
        help: "fields added or replaced; the same as $addFields",
        place: Place::Update,
        parse: set,
    },
    Row { name: "$unset", help: "fields removed", place: Place::Update, parse: unset },
];

#[derive(Debug)]
struct Project {
    projection: Projection,
}

impl Project {
    fn boxed(projection: Result<Projection>, name: &str) -> Result<Box<dyn Stage>> {
        let projection = projection
            .map_err(|error| error.prefixed(&format!("Invalid {name} :: caused by :: ")))?;
        Ok(Box::new(Self { projection }))
    }
}

fn project(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        return Err(refuse(15969, "$project specification must be an object"));
    };
    Project::boxed(Projection::parse_stage(specification, scope), "$project")
}

fn add_fields(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    added(argument, scope, "$addFields")
}

fn set(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    added(argument, scope, "$set")
}

fn added(argument: &Bson, scope: &Scope, name: &str) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        return Err(refuse(
            40272,
            format!("{name} specification stage must be an object, got {found}"),
        ));
    };
    Project::boxed(Projection::parse_addition(specification, scope), name)
}

fn unset(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let names = match argument {
        Bson::String(name) => vec![name.as_str()],
        Bson::Array(elements) if elements.is_empty() => {
            let message =
                "$unset specification must be a string or an array with at least one field";
            return Err(refuse(31119, message));
        }
        Bson::Array(elements) => {
            let names: Option<Vec<&str>> = elements.iter().map(Bson::as_str).collect();
            let words =
                "$unset specification must be a string or an array containing only string values";
            names.ok_or_else(|| refuse(31120, words))?
        }
        _ => return Err(refuse(31002, "$unset specification must be a string or an array")),
    };
    Project::boxed(Projection::parse_removal(&names, scope), "$unset")
}

impl Stage for Project {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        Box::new(
            input.map(move |document| self.projection.apply_owned(document?, None, &context.scope)),
        )
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.projection.fold(scope)
    }
}

#[derive(Debug)]
struct Replace {
    /// How messages call the expression.
    title: &'static str,
    root: Expression,
}

fn replace_root(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let Bson::Document(specification) = argument else {
        let found = kind::name(argument);
        return Err(refuse(
            40229,
            format!("expected an object as specification for $replaceRoot stage, got {found}"),
        ));
    };
    if let Some(name) = specification.keys().find(|name| *name != "newRoot") {
        return Err(refuse(
            40415,
            format!("BSON field '$replaceRoot.{name}' is an unknown field."),
        ));
    }
    let Some(root) = specification.get("newRoot") else {
        let message = "BSON field '$replaceRoot.newRoot' is missing but a required field";
        return Err(refuse(40414, message));
    };
    Ok(Box::new(Replace { title: "'newRoot' expression ", root: Expression::parse(root, scope)? }))
}

fn replace_with(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    Ok(Box::new(Replace {
        title: "'replacement document' ",
        root: Expression::parse(argument, scope)?,
    }))
}

impl Stage for Replace {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        Box::new(input.map(move |document| {
            let document = document?;
            match self.root.evaluate(&document, &context.scope)? {
                Some(Bson::Document(root)) => Ok(root),
                other => Err(self.not_document(other.as_ref(), &document)),
            }
        }))
    }

    fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.root.fold(scope)
    }
}

impl Replace {
    fn not_document(&self, value: Option<&Bson>, document: &Document) -> Error {
        let shown = value.map_or_else(|| "MISSING".to_owned(), text::value);
        let message = format!(
            "{} must evaluate to an object, but resulting value was: {shown}. Type of resulting value: '{}'. Input \
             document: {}",
            self.title,
            kind::name_or_missing(value),
            text::document(document)
        );
        refuse(40228, message)
    }
}
