//! From a projection document to its tree, for `find` and for the stages that project.

use bson::{Bson, Document};

use super::tree::{Branch, ElemMatch, Entry};
use super::{Kind, Projection};
use crate::engine::expr::{Expression, Scope, check_path, is_operator, truth};
use crate::engine::query::Filter;
use crate::error::{Code, Error, Result};
use crate::value::number::Number;
use crate::value::{kind, text};

/// Where a projection stands, which decides what it may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// `find` and `findAndModify`: `$slice`, `$elemMatch` and `a.$` as well.
    Find,
    /// `$project`.
    Stage,
    /// `$addFields`: every value is an expression.
    Addition,
}

/// Nested documents deeper than this are refused.
const DEPTH: usize = 180;

/// A projection in the making.
struct Builder<'a> {
    place: Use,
    scope: &'a Scope,
    kind: Option<Kind>,
    root: Branch,
    computed: Vec<Expression>,
    id: Option<bool>,
    positional: Option<String>,
    elem_match: bool,
}

pub(super) fn parse(specification: &Document, scope: &Scope, place: Use) -> Result<Projection> {
    let mut builder = Builder {
        place,
        scope,
        kind: (place == Use::Addition).then_some(Kind::Addition),
        root: Branch::default(),
        computed: Vec::new(),
        id: None,
        positional: None,
        elem_match: false,
    };
    if specification.is_empty() && place != Use::Find {
        let message = match place {
            Use::Addition => "specification must have at least one field",
            Use::Find | Use::Stage => "projection specification must have at least one field",
        };
        return Err(refuse(51272, message));
    }
    for (name, value) in specification {
        builder.element("", name, value, 0)?;
    }
    builder.finish()
}

fn refuse(code: i32, message: impl Into<String>) -> Error {
    Error::command(Code(code), message)
}

/// Whether a value includes or excludes: booleans and numbers do.
fn choice(value: &Bson) -> Option<bool> {
    let chooses = matches!(value, Bson::Boolean(_)) || Number::of(value).is_some();
    chooses.then(|| truth(Some(value)))
}

impl Builder<'_> {
    /// Takes one field of the specification; `above` is the path of the document it stands in, with a dot, or empty.
    fn element(&mut self, above: &str, name: &str, value: &Bson, depth: usize) -> Result<()> {
        if depth == DEPTH {
            return Err(Error::command(
                Code::OVERFLOW,
                "BSONObj exceeds maximum nested object depth: 200",
            ));
        }
        let mut path = format!("{above}{name}");
        let positional = path.ends_with(".$");
        if positional {
            self.check_positional(&path)?;
            path.truncate(path.len() - 2);
        }
        if path.contains(".$.") {
            let message = "As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may \
                 only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the \
                 parts following the '$' and the results will be equivalent.";
            return Err(refuse(31394, message));
        }
        check_path(&path)?;
        match value {
            Bson::Document(inner) if inner.is_empty() => Err(refuse(
                51270,
                "An empty sub-projection is not a valid value. Found empty object at path",
            )),
            Bson::Document(inner) => match inner.iter().next() {
                Some((operator, argument)) if operator.starts_with('$') => {
                    self.no_expression_here(positional)?;
                    self.operator(path, inner, operator, argument)
                }
                _ => {
                    let above = format!("{path}.");
                    inner
                        .iter()
                        .try_for_each(|(name, value)| self.element(&above, name, value, depth + 1))
                }
            },
            _ if self.place == Use::Addition => self.computed(path, value),
            value => match choice(value) {
                Some(true) => self.include(path, name, positional),
                Some(false) if positional => {
                    Err(refuse(31395, "positional projection cannot be used with exclusion"))
                }
                Some(false) => self.exclude(path, name),
                None => {
                    self.no_expression_here(positional)?;
                    if self.kind == Some(Kind::Exclusion) {
                        let shown = text::element(name, value);
                        let message =
                            format!("Cannot use an expression {shown} in an exclusion projection");
                        return Err(refuse(31310, message));
                    }
                    self.computed(path, value)
                }
            },
        }
    }

    fn check_positional(&mut self, path: &str) -> Result<()> {
        if self.place != Use::Find {
            return Err(refuse(
                31324,
                "Cannot use positional projection in aggregation projection",
            ));
        }
        if self.positional.is_some() {
            return Err(refuse(
                31276,
                "Cannot specify more than one positional projection per query.",
            ));
        }
        if self.elem_match {
            return Err(refuse(31256, "Cannot specify positional operator and $elemMatch."));
        }
        debug_assert!(path.ends_with(".$"));
        Ok(())
    }

    fn no_expression_here(&self, positional: bool) -> Result<()> {
        if positional {
            return Err(refuse(31271, "positional projection cannot be used with a literal"));
        }
        Ok(())
    }

    fn include(&mut self, path: String, name: &str, positional: bool) -> Result<()> {
        if path == "_id" && !positional {
            self.id = Some(true);
            // Inclusion of `_id` is the default, and decides nothing about the other fields.
            return Ok(());
        }
        if self.kind == Some(Kind::Exclusion) {
            return Err(refuse(
                31253,
                format!("Cannot do inclusion on field {name} in exclusion projection"),
            ));
        }
        self.kind = Some(Kind::Inclusion);
        self.root.insert(&path, Entry::Plain)?;
        if positional {
            self.positional = Some(path);
        }
        Ok(())
    }

    fn exclude(&mut self, path: String, name: &str) -> Result<()> {
        if path == "_id" {
            self.id = Some(false);
            return Ok(());
        }
        if self.kind == Some(Kind::Inclusion) {
            return Err(refuse(
                31254,
                format!("Cannot do exclusion on field {name} in inclusion projection"),
            ));
        }
        self.kind = Some(Kind::Exclusion);
        self.root.insert(&path, Entry::Plain)
    }

    fn computed(&mut self, path: String, value: &Bson) -> Result<()> {
        let expression = Expression::parse(value, self.scope)?;
        self.kind.get_or_insert(Kind::Inclusion);
        self.root.insert(&path, Entry::Computed(self.computed.len()))?;
        self.computed.push(expression);
        Ok(())
    }

    /// A value that is a document with an operator in it.
    fn operator(
        &mut self,
        path: String,
        inner: &Document,
        operator: &str,
        argument: &Bson,
    ) -> Result<()> {
        if self.place == Use::Find {
            match operator {
                "$slice" if inner.len() == 1 => return self.slice(path, inner, argument),
                "$elemMatch" if inner.len() == 1 => return self.elem_match(path, argument),
                _ => {}
            }
        }
        if !is_operator(operator) {
            return Err(refuse(31325, format!("Unknown expression {operator}")));
        }
        if self.kind == Some(Kind::Exclusion) {
            return Err(refuse(
                31252,
                "Cannot use expression other than $meta in exclusion projection",
            ));
        }
        self.computed(path, &Bson::Document(inner.clone()))
    }

    /// `find`'s `$slice`; what is not of its form may be the expression of that name.
    fn slice(&mut self, path: String, inner: &Document, argument: &Bson) -> Result<()> {
        let clamped = |value: &Bson| {
            Number::of(value)
                .map(|number| number.clamped().clamp(i32::MIN.into(), i32::MAX.into()) as i32)
        };
        let reason = match argument {
            Bson::Array(bounds) => match bounds.iter().map(clamped).collect::<Vec<_>>()[..] {
                [Some(skip), Some(limit)] if limit > 0 => {
                    return self.root.insert(&path, Entry::Slice(skip, Some(limit)));
                }
                [Some(_), Some(_)] => "Location31274: The limit in $slice must be positive",
                _ => "Location31272: $slice array argument should be of form [skip, limit]",
            },
            other => match clamped(other) {
                Some(count) => return self.root.insert(&path, Entry::Slice(count, None)),
                None => "Location31273: $slice only supports numbers and [skip, limit] arrays",
            },
        };
        let value = Bson::Document(inner.clone());
        let checked = Expression::parse(&value, self.scope)
            .and_then(|mut expression| expression.fold(self.scope));
        if let Err(error) = checked {
            let shown = text::document(inner);
            return Err(error.prefixed(&format!(
                "Invalid $slice syntax. The given syntax {shown} did not match the find() syntax because :: {reason} :: The \
                 given syntax did not match the expression $slice syntax. :: caused by :: "
            )));
        }
        if self.kind == Some(Kind::Exclusion) {
            return Err(refuse(
                31252,
                "Cannot use expression other than $meta in exclusion projection",
            ));
        }
        self.computed(path, &value)
    }

    fn elem_match(&mut self, path: String, argument: &Bson) -> Result<()> {
        let Bson::Document(condition) = argument else {
            let found = kind::name(argument);
            return Err(refuse(
                31274,
                format!("elemMatch: Invalid argument, object required, but got {found}"),
            ));
        };
        if self.positional.is_some() {
            return Err(refuse(31255, "Cannot specify positional operator and $elemMatch."));
        }
        if path.contains('.') {
            return Err(refuse(31275, "Cannot use $elemMatch projection on a nested field."));
        }
        let mut filter = Document::new();
        filter.insert(path.as_str(), bson::doc! { "$elemMatch": condition.clone() });
        let filter = Filter::parse(&filter, self.scope)?;
        self.elem_match = true;
        let entry = ElemMatch { field: path.clone(), filter };
        self.root.insert(&path, Entry::ElemMatch(Box::new(entry)))
    }

    fn finish(mut self) -> Result<Projection> {
        let kind = self.kind.unwrap_or(if self.id == Some(true) || self.elem_match {
            Kind::Inclusion
        } else {
            Kind::Exclusion
        });
        // `_id` stays unless it is excluded, in every kind of projection.
        let named = self.root.get("_id").is_some();
        match (kind, self.id) {
            (Kind::Inclusion, Some(true) | None) if !named => {
                self.root.insert("_id", Entry::Plain)?
            }
            (Kind::Exclusion, Some(false)) => self.root.insert("_id", Entry::Plain)?,
            (_, Some(_)) if named => return Err(refuse(31250, "Path collision at _id")),
            _ => {}
        }
        Ok(Projection {
            kind,
            root: self.root,
            computed: self.computed,
            positional: self.positional,
        })
    }
}
