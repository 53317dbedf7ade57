//! From a schema document to its rules.

use bson::{Bson, Document};

use crate::error::Result;
use crate::refuse;
use crate::value::number::Number;
use crate::value::text;

use super::super::node::TypeSet;
use super::super::pattern::Pattern;
use super::{Additional, Dependency, Edge, Known, Rule, Schema, Test, wrong_type};

/// The deepest nesting of schemas.
const MAX_DEPTH: usize = 100;

/// One keyword and how its argument is read. `None` asks nothing by itself.
struct Keyword {
    name: &'static str,
    parse: fn(&Argument<'_>) -> Result<Option<Test>>,
}

/// A keyword's argument, with the schema it stands in.
struct Argument<'a> {
    keyword: &'static str,
    value: &'a Bson,
    siblings: &'a Document,
    depth: usize,
}

/// The keywords, sorted.
const KEYWORDS: &[Keyword] = &[
    Keyword { name: "additionalItems", parse: additional_items },
    Keyword { name: "additionalProperties", parse: additional_properties },
    Keyword { name: "allOf", parse: |argument| argument.schemas().map(Test::AllOf).map(Some) },
    Keyword { name: "anyOf", parse: |argument| argument.schemas().map(Test::AnyOf).map(Some) },
    Keyword { name: "bsonType", parse: bson_type },
    Keyword { name: "dependencies", parse: dependencies },
    Keyword { name: "description", parse: |argument| argument.string().map(|_| None) },
    Keyword { name: "enum", parse: one_of_values },
    Keyword { name: "exclusiveMaximum", parse: |argument| exclusive(argument, "maximum") },
    Keyword { name: "exclusiveMinimum", parse: |argument| exclusive(argument, "minimum") },
    Keyword { name: "items", parse: items },
    Keyword { name: "maxItems", parse: |argument| argument.count().map(Test::MaxItems).map(Some) },
    Keyword {
        name: "maxLength",
        parse: |argument| argument.count().map(Test::MaxLength).map(Some),
    },
    Keyword {
        name: "maxProperties",
        parse: |argument| argument.count().map(Test::MaxProperties).map(Some),
    },
    Keyword { name: "maximum", parse: maximum },
    Keyword { name: "minItems", parse: |argument| argument.count().map(Test::MinItems).map(Some) },
    Keyword {
        name: "minLength",
        parse: |argument| argument.count().map(Test::MinLength).map(Some),
    },
    Keyword {
        name: "minProperties",
        parse: |argument| argument.count().map(Test::MinProperties).map(Some),
    },
    Keyword { name: "minimum", parse: minimum },
    Keyword { name: "multipleOf", parse: multiple_of },
    Keyword {
        name: "not",
        parse: |argument| Ok(Some(Test::Not(Box::new(argument.schema(argument.value)?)))),
    },
    Keyword { name: "oneOf", parse: |argument| argument.schemas().map(Test::OneOf).map(Some) },
    Keyword { name: "pattern", parse: pattern },
    Keyword { name: "patternProperties", parse: pattern_properties },
    Keyword { name: "properties", parse: properties },
    Keyword { name: "required", parse: |argument| argument.names().map(Test::Required).map(Some) },
    Keyword { name: "title", parse: |argument| argument.string().map(|_| None) },
    Keyword { name: "type", parse: json_type },
    Keyword {
        name: "uniqueItems",
        parse: |argument| Ok(argument.boolean()?.then_some(Test::UniqueItems)),
    },
];

impl Schema {
    /// Compiles a schema.
    ///
    /// # Errors
    /// 9 for an unknown keyword or a bad argument, 14 for one of the wrong type.
    pub(super) fn parse(document: &Document, depth: usize) -> Result<Self> {
        if depth > MAX_DEPTH {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "$jsonSchema exceeds the depth limit of {MAX_DEPTH}"
            ));
        }
        let mut schema = Self::default();
        for (name, value) in document {
            let Ok(at) = KEYWORDS.binary_search_by_key(&name.as_str(), |keyword| keyword.name)
            else {
                return Err(refuse!(FAILED_TO_PARSE, "Unknown $jsonSchema keyword: {name}"));
            };
            let Keyword { name: keyword, parse } = KEYWORDS[at];
            let argument = Argument { keyword, value, siblings: document, depth };
            if let Some(test) = parse(&argument)? {
                schema.rules.push(Rule { keyword, written: value.clone(), test });
            }
            match (keyword, value) {
                ("title", Bson::String(text)) => schema.title = Some(text.clone()),
                ("description", Bson::String(text)) => schema.description = Some(text.clone()),
                _ => {}
            }
        }
        if document.contains_key("bsonType") && document.contains_key("type") {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "Cannot specify both $jsonSchema keywords 'type' and 'bsonType'"
            ));
        }
        Ok(schema)
    }
}

impl Argument<'_> {
    fn wrong<T>(&self, wanted: &str) -> Result<T> {
        Err(wrong_type(self.keyword, wanted, self.value))
    }

    fn schema(&self, value: &Bson) -> Result<Schema> {
        match value {
            Bson::Document(document) => Schema::parse(document, self.depth + 1),
            other => Err(wrong_type(self.keyword, "an object", other)),
        }
    }

    fn schemas(&self) -> Result<Vec<Schema>> {
        let Bson::Array(values) = self.value else { return self.wrong("an array") };
        if values.is_empty() {
            return Err(refuse!(
                FAILED_TO_PARSE,
                "$jsonSchema keyword '{}' must be a non-empty array",
                self.keyword
            ));
        }
        values.iter().map(|value| self.schema(value)).collect()
    }

    fn string(&self) -> Result<&str> {
        match self.value {
            Bson::String(text) => Ok(text),
            _ => self.wrong("of type string"),
        }
    }

    fn boolean(&self) -> Result<bool> {
        match self.value {
            Bson::Boolean(value) => Ok(*value),
            _ => self.wrong("a boolean"),
        }
    }

    fn number(&self) -> Result<Number> {
        Number::of(self.value).map_or_else(|| self.wrong("a number"), Ok)
    }

    fn count(&self) -> Result<usize> {
        let count = self.number()?.integral().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| {
            refuse!(
                FAILED_TO_PARSE,
                "$jsonSchema keyword '{}' must be a non-negative integer, but found {}",
                self.keyword,
                text::element(self.keyword, self.value)
            )
        })
    }

    fn names(&self) -> Result<Vec<String>> {
        let Bson::Array(values) = self.value else { return self.wrong("an array") };
        names(self.keyword, values)
    }

    fn document(&self) -> Result<&Document> {
        match self.value {
            Bson::Document(document) => Ok(document),
            _ => self.wrong("an object"),
        }
    }
}

fn names(keyword: &str, values: &[Bson]) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::with_capacity(values.len());
    for value in values {
        match value {
            Bson::String(name) if names.contains(name) => {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "$jsonSchema keyword '{keyword}' array cannot contain duplicate values"
                ));
            }
            Bson::String(name) => names.push(name.clone()),
            other => return Err(wrong_type(keyword, "an array of strings", other)),
        }
    }
    if names.is_empty() {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "$jsonSchema keyword '{keyword}' cannot be an empty array"
        ));
    }
    Ok(names)
}

fn bson_type(argument: &Argument<'_>) -> Result<Option<Test>> {
    let mut types = TypeSet::default();
    match argument.value {
        alias @ Bson::String(_) => types.add(alias)?,
        Bson::Array(aliases) => {
            for alias in aliases {
                match alias {
                    Bson::String(_) => types.add(alias)?,
                    other => {
                        return Err(wrong_type(
                            "bsonType",
                            "a string or an array of strings",
                            other,
                        ));
                    }
                }
            }
        }
        _ => return argument.wrong("either a string or an array of strings"),
    }
    Ok(Some(Test::Type(types)))
}

fn json_type(argument: &Argument<'_>) -> Result<Option<Test>> {
    let aliases = match argument.value {
        alias @ Bson::String(_) => std::slice::from_ref(alias),
        Bson::Array(aliases) => aliases.as_slice(),
        _ => return argument.wrong("either a string or an array of strings"),
    };
    let mut types = TypeSet::default();
    for alias in aliases {
        let Bson::String(name) = alias else {
            return argument.wrong("either a string or an array of strings");
        };
        let alias = match name.as_str() {
            "boolean" => "bool",
            name @ ("array" | "null" | "number" | "object" | "string") => name,
            "integer" => {
                return Err(refuse!(
                    FAILED_TO_PARSE,
                    "$jsonSchema type 'integer' is not currently supported."
                ));
            }
            name => return Err(refuse!(BAD_VALUE, "Unknown type name alias: {name}")),
        };
        types.add(&Bson::String(alias.to_owned()))?;
    }
    Ok(Some(Test::Type(types)))
}

fn one_of_values(argument: &Argument<'_>) -> Result<Option<Test>> {
    match argument.value {
        Bson::Array(values) if values.is_empty() => {
            Err(refuse!(FAILED_TO_PARSE, "$jsonSchema keyword 'enum' cannot be an empty array"))
        }
        Bson::Array(values) => Ok(Some(Test::Enum(values.clone()))),
        _ => argument.wrong("an array"),
    }
}

fn edge(argument: &Argument<'_>, keyword: &str) -> Edge {
    match argument.siblings.get(keyword) {
        Some(Bson::Boolean(true)) => Edge::Excluded,
        _ => Edge::Included,
    }
}

fn maximum(argument: &Argument<'_>) -> Result<Option<Test>> {
    Ok(Some(Test::Maximum(argument.number()?, edge(argument, "exclusiveMaximum"))))
}

fn minimum(argument: &Argument<'_>) -> Result<Option<Test>> {
    Ok(Some(Test::Minimum(argument.number()?, edge(argument, "exclusiveMinimum"))))
}

/// Draft 4: a flag beside the limit, which reads it.
fn exclusive(argument: &Argument<'_>, limit: &str) -> Result<Option<Test>> {
    argument.boolean()?;
    if argument.siblings.contains_key(limit) {
        return Ok(None);
    }
    Err(refuse!(
        FAILED_TO_PARSE,
        "$jsonSchema keyword '{limit}' must be a present if {} is present",
        argument.keyword
    ))
}

fn multiple_of(argument: &Argument<'_>) -> Result<Option<Test>> {
    let number = argument.number()?;
    if number.is_zero() || number.is_negative() || !number.is_finite() {
        return Err(refuse!(
            FAILED_TO_PARSE,
            "$jsonSchema keyword 'multipleOf' must have a positive value"
        ));
    }
    Ok(Some(Test::MultipleOf(number)))
}

fn pattern(argument: &Argument<'_>) -> Result<Option<Test>> {
    Ok(Some(Test::Pattern(Pattern::new(argument.string()?, "")?)))
}

fn items(argument: &Argument<'_>) -> Result<Option<Test>> {
    Ok(Some(match argument.value {
        Bson::Array(schemas) => Test::ItemList(
            schemas.iter().map(|schema| argument.schema(schema)).collect::<Result<_>>()?,
        ),
        Bson::Document(_) => Test::Items(argument.schema(argument.value)?),
        _ => return argument.wrong("an array or an object"),
    }))
}

fn additional(argument: &Argument<'_>) -> Result<Option<Additional>> {
    match argument.value {
        Bson::Boolean(true) => Ok(None),
        Bson::Boolean(false) => Ok(Some(Additional::Forbidden)),
        Bson::Document(_) => Ok(Some(Additional::Fits(Box::new(argument.schema(argument.value)?)))),
        _ => argument.wrong("either an object or a boolean"),
    }
}

fn additional_items(argument: &Argument<'_>) -> Result<Option<Test>> {
    let additional = additional(argument)?;
    // Only a list of schemas leaves items over.
    let Some(Bson::Array(listed)) = argument.siblings.get("items") else { return Ok(None) };
    Ok(additional.map(|additional| Test::AdditionalItems(listed.len(), additional)))
}

fn additional_properties(argument: &Argument<'_>) -> Result<Option<Test>> {
    let Some(additional) = additional(argument)? else { return Ok(None) };
    let mut known = Known::default();
    if let Some(Bson::Document(properties)) = argument.siblings.get("properties") {
        known.names = properties.keys().cloned().collect();
    }
    if let Some(Bson::Document(patterns)) = argument.siblings.get("patternProperties") {
        known.patterns =
            patterns.keys().map(|pattern| Pattern::new(pattern, "")).collect::<Result<_>>()?;
    }
    Ok(Some(Test::AdditionalProperties(known, additional)))
}

fn properties(argument: &Argument<'_>) -> Result<Option<Test>> {
    let schemas = argument
        .document()?
        .iter()
        .map(|(name, schema)| Ok((name.clone(), argument.schema(schema)?)));
    Ok(Some(Test::Properties(schemas.collect::<Result<_>>()?)))
}

fn pattern_properties(argument: &Argument<'_>) -> Result<Option<Test>> {
    let schemas = argument
        .document()?
        .iter()
        .map(|(pattern, schema)| Ok((Pattern::new(pattern, "")?, argument.schema(schema)?)));
    Ok(Some(Test::PatternProperties(schemas.collect::<Result<_>>()?)))
}

fn dependencies(argument: &Argument<'_>) -> Result<Option<Test>> {
    let dependencies = argument.document()?.iter().map(|(name, value)| {
        let dependency = match value {
            Bson::Array(required) => Dependency::Requires(names("dependencies", required)?),
            value => Dependency::Fits(argument.schema(value)?),
        };
        Ok((name.clone(), dependency))
    });
    Ok(Some(Test::Dependencies(dependencies.collect::<Result<_>>()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted_by_key(|keyword| keyword.name));
    }
}
