//! `$jsonSchema`: what a document must look like, in JSON Schema (draft 4) with MongoDB's `bsonType`.
//!
//! A keyword is a row of a table. Checking yields what is wrong, in the form the server reports it when a collection's
//! validator refuses a document; matching asks whether that is nothing.

mod check;
mod parse;

use bson::{Bson, Document};

use crate::error::Result;
use crate::refuse;
use crate::value::kind;
use crate::value::number::Number;

use super::node::{Node, TypeSet};
use super::parse::Reader;
use super::pattern::Pattern;
use super::{Operator, Parse};

/// The rows of this family.
pub(super) const OPERATORS: &[Operator] = &[Operator {
    name: "$jsonSchema",
    help: "the document fits a JSON schema",
    parse: Parse::Top(json_schema),
}];

/// A compiled schema: its rules in the order they were written.
#[derive(Clone, Debug, Default)]
pub(super) struct Schema {
    rules: Vec<Rule>,
    title: Option<String>,
    description: Option<String>,
}

/// One keyword with its argument.
#[derive(Clone, Debug)]
struct Rule {
    keyword: &'static str,
    /// The argument as it was written, for reports.
    written: Bson,
    test: Test,
}

/// What a keyword asks. All but the types and the combinations pass values they do not speak of.
#[derive(Clone, Debug)]
enum Test {
    Type(TypeSet),
    Enum(Vec<Bson>),
    Maximum(Number, Edge),
    Minimum(Number, Edge),
    MultipleOf(Number),
    MaxLength(usize),
    MinLength(usize),
    Pattern(Pattern),
    MaxItems(usize),
    MinItems(usize),
    UniqueItems,
    Items(Schema),
    ItemList(Vec<Schema>),
    AdditionalItems(usize, Additional),
    MaxProperties(usize),
    MinProperties(usize),
    Required(Vec<String>),
    Properties(Vec<(String, Schema)>),
    PatternProperties(Vec<(Pattern, Schema)>),
    AdditionalProperties(Known, Additional),
    Dependencies(Vec<(String, Dependency)>),
    AllOf(Vec<Schema>),
    AnyOf(Vec<Schema>),
    OneOf(Vec<Schema>),
    Not(Box<Schema>),
}

/// Whether the limit itself is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Included,
    Excluded,
}

/// What items or properties that no other keyword speaks of may be.
#[derive(Clone, Debug)]
enum Additional {
    Forbidden,
    Fits(Box<Schema>),
}

/// The properties that `properties` and `patternProperties` speak of.
#[derive(Clone, Debug, Default)]
struct Known {
    names: Vec<String>,
    patterns: Vec<Pattern>,
}

/// What follows from the presence of a property.
#[derive(Clone, Debug)]
enum Dependency {
    Requires(Vec<String>),
    Fits(Schema),
}

fn json_schema(value: &Bson, _: &Reader<'_>) -> Result<Node> {
    match value {
        Bson::Document(source) => {
            let schema = Box::new(Schema::parse(source, 0)?);
            Ok(Node::Schema { source: source.clone(), schema })
        }
        _ => Err(refuse!(TYPE_MISMATCH, "$jsonSchema must be an object")),
    }
}

impl Schema {
    /// Whether a document fits.
    pub(super) fn fits(&self, document: &Document) -> bool {
        self.failures_of_document(document).is_empty()
    }

    /// What is wrong with a document, rule by rule.
    pub(super) fn failures_of_document(&self, document: &Document) -> Vec<Document> {
        check::document(self, document)
    }
}

/// The error for an argument of the wrong type.
fn wrong_type(keyword: &str, wanted: &str, found: &Bson) -> crate::Error {
    refuse!(
        TYPE_MISMATCH,
        "$jsonSchema keyword '{keyword}' must be {wanted}, but found an element of type {}",
        kind::name(found)
    )
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, doc};

    use crate::engine::expr::Scope;
    use crate::engine::query::Filter;
    use crate::error::Code;

    use super::*;

    fn filter(schema: Document) -> Result<Filter> {
        Filter::parse(&doc! {"$jsonSchema": schema}, &Scope::new(DateTime::from_millis(0)))
    }

    fn fits(schema: Document, document: Document) -> bool {
        filter(schema).and_then(|filter| filter.matches(&document)).expect("a schema")
    }

    #[test]
    fn keywords_speak_of_their_own_types() {
        assert!(
            fits(doc! {"required": ["a"]}, doc! {"a": 1})
                && !fits(doc! {"required": ["a"]}, doc! {})
        );
        let a = |schema: Document| doc! {"properties": {"a": schema}};
        for (schema, good, bad) in [
            (doc! {"bsonType": "int"}, Bson::Int32(1), Bson::Double(1.0)),
            (doc! {"bsonType": ["int", "null"]}, Bson::Null, Bson::Int64(1)),
            (doc! {"bsonType": "number"}, Bson::Int64(1), Bson::String("1".into())),
            (doc! {"type": "boolean"}, Bson::Boolean(true), Bson::Int32(1)),
            (doc! {"enum": ["x", 1]}, Bson::Double(1.0), Bson::Int32(2)),
            (doc! {"minimum": 3}, Bson::Int32(3), Bson::Double(2.5)),
            (
                doc! {"minimum": 3, "exclusiveMinimum": true},
                Bson::String("1".into()),
                Bson::Int32(3),
            ),
            (doc! {"maximum": 3}, Bson::Int32(3), Bson::Int64(4)),
            (doc! {"multipleOf": 5}, Bson::Int32(10), Bson::Int32(11)),
            (doc! {"minLength": 2}, Bson::String("éé".into()), Bson::String("é".into())),
            (doc! {"maxLength": 2}, Bson::String("éé".into()), Bson::String("abc".into())),
            (doc! {"pattern": "^a"}, Bson::String("ab".into()), Bson::String("b".into())),
            (doc! {"minItems": 1}, Bson::Array(vec![Bson::Null]), Bson::Array(vec![])),
            (
                doc! {"uniqueItems": true},
                Bson::Array(vec![1.into()]),
                Bson::Array(vec![1.into(), Bson::Double(1.0)]),
            ),
            (
                doc! {"items": {"bsonType": "int"}},
                Bson::Array(vec![1.into()]),
                Bson::Array(vec!["x".into()]),
            ),
            (doc! {"not": {"bsonType": "int"}}, Bson::Null, Bson::Int32(1)),
            (doc! {"anyOf": [{"minimum": 5}, {"maximum": 1}]}, Bson::Int32(0), Bson::Int32(3)),
            (doc! {"oneOf": [{"minimum": 5}, {"minimum": 9}]}, Bson::Int32(6), Bson::Int32(10)),
            (doc! {"allOf": [{"minimum": 1}, {"maximum": 3}]}, Bson::Int32(2), Bson::Int32(4)),
            (doc! {"required": ["b"]}, Bson::Document(doc! {"b": 1}), Bson::Document(doc! {})),
        ] {
            assert!(fits(a(schema.clone()), doc! {"a": good}), "{schema}");
            assert!(!fits(a(schema.clone()), doc! {"a": bad}), "{schema}");
            assert!(fits(a(schema), doc! {}));
        }
    }

    #[test]
    fn properties_that_nothing_speaks_of() {
        let closed = doc! {
            "properties": {"_id": {}, "a": {}}, "patternProperties": {"^x": {"bsonType": "int"}},
            "additionalProperties": false,
        };
        assert!(fits(closed.clone(), doc! {"_id": 1, "a": 1, "xy": 1}));
        assert!(!fits(closed.clone(), doc! {"b": 1}) && !fits(closed, doc! {"xy": "1"}));
        let depends = doc! {"dependencies": {"a": ["b"], "c": {"required": ["d"]}}};
        assert!(
            fits(depends.clone(), doc! {"a": 1, "b": 1}) && !fits(depends.clone(), doc! {"a": 1})
        );
        assert!(!fits(depends, doc! {"c": 1}));
    }

    #[test]
    fn failures_are_reported_as_the_server_reports_them() {
        let filter = filter(doc! {
            "bsonType": "object", "required": ["name", "year"],
            "properties": {"year": {"bsonType": "int", "minimum": 2017, "description": "a recent year"}},
        })
        .expect("a schema");
        assert_eq!(
            filter.failure(&doc! {"_id": 1, "year": 2016}),
            Ok(Some(doc! {
                "operatorName": "$jsonSchema",
                "schemaRulesNotSatisfied": [
                    {"operatorName": "required", "specifiedAs": {"required": ["name", "year"]}, "missingProperties": ["name"]},
                    {"operatorName": "properties", "propertiesNotSatisfied": [{
                        "propertyName": "year", "description": "a recent year",
                        "details": [{"operatorName": "minimum", "specifiedAs": {"minimum": 2017},
                            "reason": "comparison failed", "consideredValue": 2016}],
                    }]},
                ],
            }))
        );
        assert_eq!(filter.failure(&doc! {"name": "x", "year": 2020}), Ok(None));
    }

    #[test]
    fn bad_schemas_are_refused() {
        let refusal = |schema: Document| {
            let error = filter(schema).expect_err("a bad schema");
            (error.code(), error.to_string())
        };
        assert_eq!(
            refusal(doc! {"foo": 1}),
            (Some(Code::FAILED_TO_PARSE), "Unknown $jsonSchema keyword: foo".into())
        );
        assert_eq!(
            refusal(doc! {"required": "a"}),
            (
                Some(Code::TYPE_MISMATCH),
                "$jsonSchema keyword 'required' must be an array, but found an element of type string".into()
            )
        );
        assert_eq!(refusal(doc! {"required": []}).0, Some(Code::FAILED_TO_PARSE));
        assert_eq!(refusal(doc! {"bsonType": "foo"}).0, Some(Code::BAD_VALUE));
        assert_eq!(refusal(doc! {"exclusiveMinimum": true}).0, Some(Code::FAILED_TO_PARSE));
    }
}
