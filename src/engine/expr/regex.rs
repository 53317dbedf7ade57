//! Regular expressions in expressions: `$regexMatch`, `$regexFind`, `$regexFindAll`.

use std::borrow::Cow;

use bson::{Bson, Document, doc};

use super::named::{parameters, required};
use super::{Form, Node, Operator, Parse, Parser, Place, Value};
use crate::engine::query::pattern::Pattern;
use crate::error::{Code, Error, Result};
use crate::value::number::Number;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$regexFind",
        arguments: (1, 1),
        help: "the first match with its position and captures: {input, regex, options}",
        parse: Parse::Form(parse_search),
    },
    Operator {
        name: "$regexFindAll",
        arguments: (1, 1),
        help: "every match with its position and captures: {input, regex, options}",
        parse: Parse::Form(parse_search),
    },
    Operator {
        name: "$regexMatch",
        arguments: (1, 1),
        help: "whether a regular expression matches: {input, regex, options}",
        parse: Parse::Form(parse_search),
    },
];

fn refuse(code: i32, message: String) -> Error {
    Error::command(Code(code), message)
}

fn parse_search(operator: &'static Operator, argument: &Bson, parser: &Parser<'_>) -> Result<Node> {
    let name = operator.name;
    let not_document = format!("{name} expects an object of named arguments but found: {{}}");
    let unknown = format!("{name} found an unknown argument: {{}}");
    let names = ["input", "regex", "options"];
    let [input, regex, options] =
        parameters(argument, names, (51103, &not_document), (31024, &unknown))?;
    let input =
        parser.parse(required(input, 31022, &format!("{name} requires 'input' parameter"))?)?;
    let regex =
        parser.parse(required(regex, 31023, &format!("{name} requires 'regex' parameter"))?)?;
    let options = options.map(|options| parser.parse(options)).transpose()?;
    let mut search = Search { name, input, regex, options, pattern: None };
    let known = |node: &Node| match node {
        Node::Constant(value) => Some(value.clone()),
        _ => None,
    };
    // A pattern that is written out is compiled once.
    if let Some(regex) = known(&search.regex) {
        match &search.options {
            None => search.pattern = search.compile(Some(&regex), None)?,
            Some(options) => {
                if let Some(options) = known(options) {
                    search.pattern = search.compile(Some(&regex), Some(&options))?;
                }
            }
        }
    }
    Ok(Node::Form(Box::new(search)))
}

/// One of the three operators.
#[derive(Debug)]
struct Search {
    name: &'static str,
    input: Node,
    regex: Node,
    options: Option<Node>,
    pattern: Option<Pattern>,
}

impl Search {
    /// The compiled pattern; `None` for a null regex.
    fn compile(&self, regex: Option<&Bson>, options: Option<&Bson>) -> Result<Option<Pattern>> {
        let name = self.name;
        let options = match options {
            None | Some(Bson::Null | Bson::Undefined) => None,
            Some(Bson::String(options)) => Some(options.as_str()),
            Some(_) => {
                return Err(refuse(51106, format!("{name} needs 'options' to be of type string")));
            }
        };
        let (source, options) = match regex {
            None | Some(Bson::Null | Bson::Undefined) => return Ok(None),
            Some(Bson::String(source)) => (source.as_str(), options.unwrap_or_default()),
            Some(Bson::RegularExpression(regex)) => {
                let own = regex.options.as_str();
                if !own.is_empty() && options.is_some() {
                    let message = format!(
                        "{name}: found regex option(s) specified in both 'regex' and 'option' fields"
                    );
                    return Err(refuse(51107, message));
                }
                (regex.pattern.as_str(), options.unwrap_or(own))
            }
            Some(_) => {
                return Err(refuse(
                    51105,
                    format!("{name} needs 'regex' to be of type string or regex"),
                ));
            }
        };
        if source.contains('\0') || options.contains('\0') {
            return Err(refuse(
                51109,
                format!("{name}: regular expression cannot contain an embedded null byte"),
            ));
        }
        match Pattern::new(source, options) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(error) if error.code() == Some(Code(51108)) => Err(error.prefixed(name)),
            Err(error) => Err(refuse(51111, format!("Invalid regex in {name}: {error}"))),
        }
    }

    fn answer(&self, input: Option<&Bson>, pattern: Option<&Pattern>) -> Result<Bson> {
        let text = match input {
            None | Some(Bson::Null | Bson::Undefined) => None,
            Some(Bson::String(text)) => Some(text.as_str()),
            Some(_) => {
                return Err(refuse(
                    51104,
                    format!("{} needs 'input' to be of type string", self.name),
                ));
            }
        };
        let (Some(text), Some(pattern)) = (text, pattern) else {
            return Ok(match self.name {
                "$regexMatch" => Bson::Boolean(false),
                "$regexFindAll" => Bson::Array(Vec::new()),
                _ => Bson::Null,
            });
        };
        if self.name == "$regexMatch" {
            return Ok(Bson::Boolean(pattern.matches_text(text)));
        }
        let failed = |error: fancy_regex::Error| {
            refuse(
                51156,
                format!(
                    "Error occurred while executing the regular expression in {}. Result code: {error}",
                    self.name
                ),
            )
        };
        let mut found = Vec::new();
        for captures in pattern.regex().captures_iter(text) {
            found.extend(shown(text, &captures.map_err(failed)?).map(Bson::Document));
            if self.name == "$regexFind" {
                break;
            }
        }
        Ok(match self.name {
            "$regexFind" => found.pop().unwrap_or(Bson::Null),
            _ => Bson::Array(found),
        })
    }
}

/// A match as a document; positions are counted in code points.
fn shown(text: &str, captures: &fancy_regex::Captures<'_, str>) -> Option<Document> {
    let whole = captures.get(0)?;
    let index = text.get(..whole.start())?.chars().count();
    let groups = captures
        .iter()
        .skip(1)
        .map(|group| group.map_or(Bson::Null, |group| group.as_str().into()));
    Some(doc! {
        "match": whole.as_str(),
        "idx": Bson::from(Number::from_i64(index as i64)),
        "captures": groups.collect::<Vec<_>>(),
    })
}

impl Form for Search {
    fn evaluate<'a>(&'a self, place: &Place<'a>) -> Result<Value<'a>> {
        let input = self.input.evaluate(place)?;
        if let Some(pattern) = &self.pattern {
            return Ok(Some(Cow::Owned(self.answer(input.as_deref(), Some(pattern))?)));
        }
        let regex = self.regex.evaluate(place)?;
        let options = self.options.as_ref().map_or(Ok(None), |options| options.evaluate(place))?;
        let pattern = self.compile(regex.as_deref(), options.as_deref())?;
        Ok(Some(Cow::Owned(self.answer(input.as_deref(), pattern.as_ref())?)))
    }

    fn operands(&mut self) -> Vec<&mut Node> {
        [&mut self.input, &mut self.regex].into_iter().chain(self.options.as_mut()).collect()
    }
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, bson};

    use super::super::{Expression, Scope};
    use super::*;

    fn value(expression: Bson) -> Result<Option<Bson>> {
        let scope = Scope::new(DateTime::from_millis(0));
        Expression::parse(&expression, &scope)?
            .evaluate(&doc! { "s": "Simple Example é", "r": "e" }, &scope)
    }

    #[test]
    fn matches_are_found_with_positions_and_captures() {
        let find = bson!({ "$regexFind": { "input": "$s", "regex": "(m(p))(x)?" } });
        let expected = bson!({ "match": "mp", "idx": 2, "captures": ["mp", "p", null] });
        assert_eq!(value(find), Ok(Some(expected)));
        let all = bson!({ "$regexFindAll": { "input": "éae", "regex": "[ae]" } });
        let expected = bson!([{ "match": "a", "idx": 1, "captures": [] }, { "match": "e", "idx": 2, "captures": [] }]);
        assert_eq!(value(all), Ok(Some(expected)));
        assert_eq!(
            value(bson!({ "$regexMatch": { "input": "$s", "regex": "EXAMPLE", "options": "i" } })),
            Ok(Some(bson!(true)))
        );
        assert_eq!(
            value(bson!({ "$regexMatch": { "input": "$s", "regex": "$r" } })),
            Ok(Some(bson!(true)))
        );
        assert_eq!(
            value(bson!({ "$regexMatch": { "input": "$zz", "regex": "a" } })),
            Ok(Some(bson!(false)))
        );
        assert_eq!(
            value(bson!({ "$regexFind": { "input": "$s", "regex": "zz" } })),
            Ok(Some(Bson::Null))
        );
        let bad = value(bson!({ "$regexMatch": { "input": 5, "regex": "a" } })).unwrap_err();
        assert_eq!(bad.to_string(), "$regexMatch needs 'input' to be of type string");
        assert_eq!(
            value(bson!({ "$regexMatch": { "input": "a", "regex": "(" } })).unwrap_err().code(),
            Some(Code(51111))
        );
    }
}
