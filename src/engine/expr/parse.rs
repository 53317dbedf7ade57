//! From a BSON value to a compiled expression: what is a path, a variable, an operator, a document or a literal.

use bson::{Bson, Document};

use super::field_path::{FieldPath, check_field_name, check_variable_name};
use super::node::Node;
use super::{MANY, Operator, Parse, Scope, operator};
use crate::error::{Code, Error, Result};
use crate::value::text;

/// Expressions deeper than this are refused: no document that a server accepts is deeper.
const DEPTH: usize = 180;

/// Parses expressions, knowing which variables are in sight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parser<'a> {
    scope: &'a Scope,
    bound: Option<&'a Bound<'a>>,
    depth: usize,
}

/// A variable that an operator around here binds.
#[derive(Debug)]
pub(crate) struct Bound<'a> {
    name: &'a str,
    outer: Option<&'a Bound<'a>>,
}

impl<'a> Parser<'a> {
    /// A parser outside every binding.
    pub(crate) fn new(scope: &'a Scope) -> Self {
        Self { scope, bound: None, depth: 0 }
    }

    /// The variables of the command.
    pub(crate) fn scope(&self) -> &'a Scope {
        self.scope
    }

    /// One more variable; [`Parser::within`] enters it.
    pub(crate) fn bind(&self, name: &'a str) -> Bound<'a> {
        Bound { name, outer: self.bound }
    }

    /// The parser inside a binding.
    pub(crate) fn within<'b>(&self, bound: &'b Bound<'b>) -> Parser<'b>
    where
        'a: 'b,
    {
        Parser { scope: self.scope, bound: Some(bound), depth: self.depth }
    }

    /// Compiles any value.
    pub(crate) fn parse(&self, value: &Bson) -> Result<Node> {
        match value {
            Bson::String(string) if string.starts_with('$') => self.reference(string),
            Bson::Document(document) => self.deeper()?.document(document),
            Bson::Array(elements) => {
                let inner = self.deeper()?;
                elements
                    .iter()
                    .map(|element| inner.parse(element))
                    .collect::<Result<_>>()
                    .map(Node::Array)
            }
            _ => Ok(Node::Constant(value.clone())),
        }
    }

    /// Compiles a document: an operator when its first key starts with a dollar, else an object of expressions.
    pub(crate) fn document(&self, document: &Document) -> Result<Node> {
        match document.iter().next() {
            Some((name, argument)) if name.starts_with('$') => {
                if document.len() > 1 {
                    let message = format!(
                        "An object representing an expression must have exactly one field: {}",
                        text::document(document)
                    );
                    return Err(Error::command(Code(15983), message));
                }
                let Some(operator) = operator(name) else {
                    let message = format!("Unrecognized expression '{name}'");
                    return Err(Error::command(Code::INVALID_PIPELINE_OPERATOR, message));
                };
                self.operator(operator, argument)
            }
            _ => {
                let mut fields = Vec::with_capacity(document.len());
                for (name, value) in document {
                    check_field_name(name)?;
                    fields.push((name.clone(), self.parse(value)?));
                }
                Ok(Node::Object(fields))
            }
        }
    }

    /// Compiles one operator with what stands behind its name.
    fn operator(&self, operator: &'static Operator, argument: &Bson) -> Result<Node> {
        match operator.parse {
            Parse::Form(parse) => parse(operator, argument, self),
            Parse::Call(function) => {
                let arguments = self.arguments(operator, argument)?;
                Ok(Node::Call { operator, function, arguments })
            }
        }
    }

    /// Compiles the argument list of an operator: an array of arguments, or one argument without the brackets.
    pub(crate) fn arguments(&self, operator: &Operator, argument: &Bson) -> Result<Vec<Node>> {
        self.list(operator.name, operator.arguments, argument)
    }

    /// As [`Parser::arguments`], for forms that hold no row.
    pub(crate) fn list(
        &self,
        name: &str,
        (least, most): (usize, usize),
        argument: &Bson,
    ) -> Result<Vec<Node>> {
        let arguments = match argument {
            Bson::Array(elements) => {
                let inner = self.deeper()?;
                elements.iter().map(|element| inner.parse(element)).collect::<Result<Vec<_>>>()?
            }
            single => vec![self.parse(single)?],
        };
        let found = arguments.len();
        if (least..=most).contains(&found) {
            return Ok(arguments);
        }
        Err(if least == most {
            let message = format!(
                "Expression {name} takes exactly {least} arguments. {found} were passed in."
            );
            Error::command(Code(16020), message)
        } else if most == MANY {
            let message = format!(
                "Expression {name} takes at least {least} arguments, but {found} were passed in."
            );
            Error::command(Code(28667), message)
        } else {
            let message = format!(
                "Expression {name} takes at least {least} arguments, and at most {most}, but {found} were passed in."
            );
            Error::command(Code(28667), message)
        })
    }

    /// Compiles `$a.b` or `$$variable.a.b`.
    fn reference(&self, text: &str) -> Result<Node> {
        if text == "$" {
            return Err(Error::command(Code(16872), "'$' by itself is not a valid FieldPath"));
        }
        let Some(variable) = text.strip_prefix("$$") else {
            let path = FieldPath::parse(&text[1..])?;
            return Ok(match self.level("CURRENT") {
                Some(up) => Node::Bound(up, Some(path)),
                None => Node::Field(path),
            });
        };
        let (name, path) = match variable.split_once('.') {
            Some((name, path)) => (name, Some(path)),
            None => (variable, None),
        };
        check_variable_name(name, true)?;
        let path = path.map(FieldPath::parse).transpose()?;
        if let Some(up) = self.level(name) {
            return Ok(Node::Bound(up, path));
        }
        Ok(match (name, path) {
            ("ROOT" | "CURRENT", None) => Node::Root,
            ("ROOT" | "CURRENT", Some(path)) => Node::Field(path),
            ("REMOVE", _) => Node::Remove,
            (name, path) if self.scope.knows(name) => Node::Global(name.to_owned(), path),
            ("CLUSTER_TIME", _) => {
                return Err(Error::command(
                    Code(51144),
                    "Builtin variable '$$CLUSTER_TIME' is not available",
                ));
            }
            (name, _) => {
                return Err(Error::command(
                    Code(17276),
                    format!("Use of undefined variable: {name}"),
                ));
            }
        })
    }

    /// How many bindings up the variable is bound, if it is.
    fn level(&self, name: &str) -> Option<usize> {
        let mut bound = self.bound;
        let mut up = 0;
        while let Some(here) = bound {
            if here.name == name {
                return Some(up);
            }
            bound = here.outer;
            up += 1;
        }
        None
    }

    /// The parser one level down; refuses the level that no document may have.
    pub(crate) fn deeper(&self) -> Result<Self> {
        if self.depth == DEPTH {
            return Err(Error::command(
                Code::OVERFLOW,
                "BSONObj exceeds maximum nested object depth: 200",
            ));
        }
        Ok(Self { depth: self.depth + 1, ..*self })
    }
}
