//! JavaScript in expressions: `$function`, the accumulator `$accumulator`, and what `$where` is compiled to.

use std::borrow::Cow;
use std::sync::Arc;

use bson::{Bson, Document};

use super::accumulator::State;
use super::expression::Expression;
use super::named::{kind, required};
use super::{Form, Node, Operator, Parse, Parser, Place, Scope, Value};
use crate::engine::functions::Hook;
use crate::error::{Code, Error, Result};
use crate::interrupt::Interrupt;
use crate::value::size;

pub(super) const OPERATORS: &[Operator] = &[Operator {
    name: "$function",
    arguments: (1, 1),
    help: "what a JavaScript function answers: {body, args, lang: \"js\"}",
    parse: Parse::Form(function),
}];

/// The words of a server that runs no JavaScript.
fn disabled(name: &str) -> Error {
    Error::command(Code(31264), format!("{name} requires JavaScript, which is not enabled"))
}

/// The text of a function that was given as a string or as code.
fn text(value: &Bson) -> Option<&str> {
    match value {
        Bson::String(text) | Bson::JavaScriptCode(text) => Some(text),
        _ => None,
    }
}

fn language(value: Option<&Bson>) -> Result<()> {
    match required(value, 31418, "The lang field must be specified.")? {
        Bson::String(lang) if lang == "js" => Ok(()),
        _ => {
            let words = "Currently the only supported language specifier is 'js'.";
            Err(Error::command(Code(31419), words))
        }
    }
}

fn function(_: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let Bson::Document(given) = argument else {
        let found = kind(Some(argument));
        let words = format!("$function requires an object as an argument, found: {found}");
        return Err(Error::command(Code(31260), words));
    };
    for name in given.keys() {
        if !matches!(name.as_str(), "body" | "args" | "lang") {
            let words = format!("$function got an unexpected field: {name}");
            return Err(Error::command(Code(31260), words));
        }
    }
    let body = required(given.get("body"), 31261, "The body function must be specified.")?;
    let words = "The body function must evaluate to type string or code";
    let body = text(body).ok_or_else(|| Error::command(Code(31262), words))?;
    let arguments = required(given.get("args"), 31263, "The args field must be specified.")?;
    language(given.get("lang"))?;
    let hook = parser.scope().functions.clone().ok_or_else(|| disabled("$function"))?;
    let arguments = parser.parse(arguments)?;
    Ok(Node::Form(Box::new(Function { hook, text: body.to_owned(), arguments })))
}

/// `$function`.
#[derive(Debug)]
struct Function {
    hook: Hook,
    text: String,
    arguments: Node,
}

impl Form for Function {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let arguments = self.arguments.evaluate(place)?;
        let Some(Bson::Array(arguments)) = arguments.as_deref() else {
            return Err(Error::command(Code(31266), "The args field must be of type array"));
        };
        let outcome = self.hook.call(&self.text, None, arguments, &place.scope.interrupt)?;
        Ok(Some(Cow::Owned(outcome.value)))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        vec![&mut self.arguments]
    }

    fn is_pure(&self) -> bool {
        false
    }
}

impl Expression {
    /// Whether a JavaScript function or expression is true of the document, which is `this` to it; `None` where there is
    /// nobody to run it.
    pub(crate) fn javascript(text: &str, scope: &Scope) -> Option<Self> {
        let hook = scope.functions.clone()?;
        Some(Self::of(Node::Form(Box::new(Holds { hook, text: text.to_owned() }))))
    }
}

/// `$where`.
#[derive(Debug)]
struct Holds {
    hook: Hook,
    text: String,
}

impl Form for Holds {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let holds = self.hook.holds(&self.text, place.root, &place.scope.interrupt)?;
        Ok(Some(Cow::Owned(Bson::Boolean(holds))))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        Vec::new()
    }

    fn is_pure(&self) -> bool {
        false
    }
}

/// `$accumulator`, compiled.
#[derive(Debug)]
pub(super) struct Scripted {
    hook: Hook,
    init: String,
    init_arguments: Option<Expression>,
    accumulate: String,
    finalize: Option<String>,
}

/// Compiles the argument of `$accumulator`, and the expression of what it takes from each document.
pub(super) fn accumulator(argument: &Bson, scope: &Scope) -> Result<(Expression, Arc<Scripted>)> {
    let Bson::Document(given) = argument else {
        let found = kind(Some(argument));
        let words = format!("$accumulator expects an object as an argument; found: {found}");
        return Err(Error::command(Code(4544700), words));
    };
    let known = ["init", "initArgs", "accumulate", "accumulateArgs", "merge", "finalize", "lang"];
    if let Some(name) = given.keys().find(|name| !known.contains(&name.as_str())) {
        let words = format!("$accumulator got an unexpected field: {name}");
        return Err(Error::command(Code(4544708), words));
    }
    let part = |name: &str| {
        let Some(value) = given.get(name) else { return Ok(None) };
        let words = format!("$accumulator '{name}' must be a string or code");
        text(value)
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| Error::command(Code(4544701), words))
    };
    let needed = |name: &str| {
        let words = format!("$accumulator missing required argument '{name}'");
        part(name)?.ok_or_else(|| Error::command(Code(4544709), words))
    };
    let (init, accumulate) = (needed("init")?, needed("accumulate")?);
    // Groups are never divided here, so that there is nothing to merge; that it is there is asked all the same.
    needed("merge")?;
    language(given.get("lang"))?;
    let words = "$accumulator missing required argument 'accumulateArgs'";
    let input = Expression::parse(required(given.get("accumulateArgs"), 4544710, words)?, scope)?;
    let init_arguments =
        given.get("initArgs").map(|arguments| Expression::parse(arguments, scope)).transpose()?;
    let hook = scope.functions.clone().ok_or_else(|| disabled("$accumulator"))?;
    let finalize = part("finalize")?;
    Ok((input, Arc::new(Scripted { hook, init, init_arguments, accumulate, finalize })))
}

impl Scripted {
    /// The state before the first document of the group with this `_id`, which `initArgs` may read.
    pub(super) fn start(self: &Arc<Self>, id: &Bson, scope: &Scope) -> Result<Box<dyn State>> {
        let mut group = Document::new();
        // A group's `_id` that is a document can be reached into, as `$field` of it.
        if let Bson::Document(fields) = id {
            group.extend(fields.clone());
        }
        group.insert("_id", id.clone());
        let arguments = match &self.init_arguments {
            None => Vec::new(),
            Some(arguments) => match arguments.evaluate(&group, scope)? {
                Some(Bson::Array(arguments)) => arguments,
                _ => {
                    let words = "$accumulator initArgs must evaluate to an array";
                    return Err(Error::command(Code(4544711), words));
                }
            },
        };
        let interrupt = scope.interrupt.clone();
        let state = self.hook.call(&self.init, None, &arguments, &interrupt)?.value;
        let scripted = Arc::clone(self);
        Ok(Box::new(Running { scripted, interrupt, held: size::of(&state), state }))
    }
}

/// A group's state, which JavaScript made.
#[derive(Debug)]
struct Running {
    scripted: Arc<Scripted>,
    interrupt: Interrupt,
    state: Bson,
    held: usize,
}

impl State for Running {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let Some(Bson::Array(given)) = value else {
            let words = "$accumulator accumulateArgs must evaluate to an array";
            return Err(Error::command(Code(4544712), words));
        };
        let mut arguments = vec![std::mem::take(&mut self.state)];
        arguments.extend(given);
        let Scripted { hook, accumulate, .. } = &*self.scripted;
        self.state = hook.call(accumulate, None, &arguments, &self.interrupt)?.value;
        let size = size::of(&self.state);
        let grown = size.saturating_sub(self.held);
        self.held = self.held.max(size);
        Ok(grown)
    }

    fn value(&self) -> Bson {
        self.state.clone()
    }

    fn finish(&mut self) -> Result<Bson> {
        let state = std::mem::take(&mut self.state);
        match &self.scripted.finalize {
            None => Ok(state),
            Some(text) => Ok(self.scripted.hook.call(text, None, &[state], &self.interrupt)?.value),
        }
    }
}
