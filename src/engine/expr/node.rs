//! The compiled form of an expression, and how it is evaluated.

use std::borrow::Cow;
use std::fmt::Debug;

use bson::{Bson, Document};

use super::field_path::FieldPath;
use super::{Arguments, Function, Operator, Scope, Value};
use crate::error::Result;

/// One compiled expression. Everything that can be wrong with its text was found when it was parsed.
#[derive(Debug)]
pub(crate) enum Node {
    /// A value as it stands.
    Constant(Bson),
    /// `$a.b`: a path into the document.
    Field(FieldPath),
    /// `$$ROOT`, `$$CURRENT`: the document.
    Root,
    /// `$$REMOVE`: the missing value.
    Remove,
    /// A variable of the [`Scope`].
    Global(String, Option<FieldPath>),
    /// A variable bound `up` levels above, by `$let`, `$map`, `$filter` or `$reduce`.
    Bound(usize, Option<FieldPath>),
    /// `{a: <expression>, ...}`; missing values leave their field out.
    Object(Vec<(String, Node)>),
    /// `[<expression>, ...]`; missing values become null.
    Array(Vec<Node>),
    /// An operator whose arguments are all evaluated first.
    Call { operator: &'static Operator, function: Function, arguments: Vec<Node> },
    /// An operator with an order of evaluation or variables of its own.
    Form(Box<dyn Form>),
}

/// An operator that decides itself what to evaluate and when.
pub(crate) trait Form: Debug + Send + Sync {
    /// The value for one document; `None` is missing.
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>>;

    /// The expressions inside, for folding.
    fn operands(&mut self) -> Vec<&mut Node>;

    /// Whether the operands being constant makes the whole constant. A random number is not.
    fn is_pure(&self) -> bool {
        true
    }
}

/// Where an expression is evaluated: the document, the command's scope, and the variables bound around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// `$$ROOT`.
    pub(crate) root: &'a Document,
    /// The command's variables.
    pub(crate) scope: &'a Scope,
    frame: Option<&'a Frame<'a>>,
}

/// One bound variable.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    value: Value<'a>,
    outer: Option<&'a Frame<'a>>,
}

impl<'a> Place<'a> {
    /// The place outside every binding.
    pub(crate) fn new(root: &'a Document, scope: &'a Scope) -> Self {
        Self { root, scope, frame: None }
    }

    /// A frame that binds one more variable here; [`Place::within`] enters it.
    pub(crate) fn bind(&self, value: Value<'a>) -> Frame<'a> {
        Frame { value, outer: self.frame }
    }

    /// The place inside `frame`.
    pub(crate) fn within<'b>(&self, frame: &'b Frame<'b>) -> Place<'b>
    where
        'a: 'b,
    {
        Place { root: self.root, scope: self.scope, frame: Some(frame) }
    }

    fn bound(&self, up: usize) -> Value<'a> {
        let mut frame = self.frame;
        for _ in 0..up {
            frame = frame.and_then(|frame| frame.outer);
        }
        frame.and_then(|frame| frame.value.clone())
    }
}

impl Node {
    /// The value for one document; `None` is missing.
    pub(crate) fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        Ok(match self {
            Self::Constant(value) => Some(Cow::Borrowed(value)),
            Self::Field(path) => path.of(place.root),
            Self::Root => Some(Cow::Owned(Bson::Document(place.root.clone()))),
            Self::Remove => None,
            Self::Global(name, path) => follow(path, place.scope.value(name).map(Cow::Owned)),
            Self::Bound(up, path) => follow(path, place.bound(*up)),
            Self::Object(fields) => {
                let mut document = Document::new();
                for (name, node) in fields {
                    if let Some(value) = node.evaluate(place)? {
                        document.insert(name.as_str(), value.into_owned());
                    }
                }
                Some(Cow::Owned(Bson::Document(document)))
            }
            Self::Array(nodes) => {
                let mut elements = Vec::with_capacity(nodes.len());
                for node in nodes {
                    elements.push(node.evaluate(place)?.map_or(Bson::Null, Cow::into_owned));
                }
                Some(Cow::Owned(Bson::Array(elements)))
            }
            Self::Call { operator, function, arguments } => {
                let values =
                    arguments.iter().map(|node| node.evaluate(place)).collect::<Result<_>>()?;
                function(&mut Arguments::new(operator.name, values))?.map(Cow::Owned)
            }
            Self::Form(form) => form.evaluate(place)?,
        })
    }

    /// The value for one document, owned.
    pub(crate) fn value(&self, place: &Place<'_>) -> Result<Option<Bson>> {
        Ok(self.evaluate(place)?.map(Cow::into_owned))
    }

    /// Evaluates what needs no document, so that its errors come before any work.
    pub(crate) fn fold(&mut self, scope: &Scope) -> Result<()> {
        let nothing = Document::new();
        let foldable = match self {
            Self::Constant(_)
            | Self::Field(_)
            | Self::Root
            | Self::Remove
            | Self::Global(..)
            | Self::Bound(..) => false,
            Self::Object(fields) => {
                for (_, node) in fields.iter_mut() {
                    node.fold(scope)?;
                }
                fields.iter().all(|(_, node)| node.is_constant())
            }
            Self::Array(nodes) => {
                for node in nodes.iter_mut() {
                    node.fold(scope)?;
                }
                nodes.iter().all(Self::is_constant)
            }
            Self::Call { arguments, .. } => {
                for node in arguments.iter_mut() {
                    node.fold(scope)?;
                }
                arguments.iter().all(Self::is_constant)
            }
            Self::Form(form) => {
                let pure = form.is_pure();
                let mut constant = true;
                for node in form.operands() {
                    node.fold(scope)?;
                    constant &= node.is_constant();
                }
                pure && constant
            }
        };
        if foldable {
            let value = self.value(&Place::new(&nothing, scope))?;
            *self = value.map_or(Self::Remove, Self::Constant);
        }
        Ok(())
    }

    /// Whether the value is known without a document.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_) | Self::Remove)
    }
}

fn follow<'a>(path: &Option<FieldPath>, value: Value<'a>) -> Value<'a> {
    match path {
        Some(path) => path.of_value(value?),
        None => value,
    }
}
