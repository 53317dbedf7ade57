//! What is wrong with a value by a schema, in the form the server reports it.

use std::cmp::Ordering;

use bson::{Bson, Document, doc};

use crate::value::compare::{compare, equal};
use crate::value::kind;
use crate::value::number::{self, Number};

use super::{Additional, Dependency, Edge, Known, Rule, Schema, Test};

/// A value under a schema; the root document is borrowed as it is.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Document(&'a Document),
    Value(&'a Bson),
}

impl<'a> Subject<'a> {
    fn document(self) -> Option<&'a Document> {
        match self {
            Self::Document(document) => Some(document),
            Self::Value(value) => value.as_document(),
        }
    }

    fn value(self) -> Option<&'a Bson> {
        match self {
            Self::Document(_) => None,
            Self::Value(value) => Some(value),
        }
    }

    fn number(self) -> Option<Number> {
        self.value().and_then(Number::of)
    }

    fn text(self) -> Option<&'a str> {
        self.value().and_then(Bson::as_str)
    }

    fn array(self) -> Option<&'a [Bson]> {
        self.value().and_then(Bson::as_array).map(Vec::as_slice)
    }

    fn to_bson(self) -> Bson {
        match self {
            Self::Document(document) => Bson::Document(document.clone()),
            Self::Value(value) => value.clone(),
        }
    }
}

/// What is wrong with a document.
pub(super) fn document(schema: &Schema, document: &Document) -> Vec<Document> {
    failures(schema, Subject::Document(document))
}

fn failures(schema: &Schema, subject: Subject<'_>) -> Vec<Document> {
    schema.rules.iter().filter_map(|rule| rule.failure(subject)).collect()
}

fn fits(schema: &Schema, subject: Subject<'_>) -> bool {
    schema.rules.iter().all(|rule| rule.failure(subject).is_none())
}

impl Rule {
    fn failure(&self, subject: Subject<'_>) -> Option<Document> {
        match &self.test {
            Test::Type(types) => {
                let held = match subject {
                    Subject::Document(_) => types.holds_object(),
                    Subject::Value(value) => types.contains(value),
                };
                let of = subject.value().map_or("object", kind::name);
                (!held).then(|| {
                    let mut failure = self.considered("type did not match", subject);
                    failure.insert("consideredType", of);
                    failure
                })
            }
            Test::Enum(values) => {
                let value = subject.to_bson();
                (!values.iter().any(|member| equal(member, &value)))
                    .then(|| self.considered("value was not found in enum", subject))
            }
            Test::Maximum(limit, edge) => self.limit(subject, *limit, *edge, Ordering::Greater),
            Test::Minimum(limit, edge) => self.limit(subject, *limit, *edge, Ordering::Less),
            Test::MultipleOf(unit) => {
                let rest = number::remainder(subject.number()?, *unit)?;
                (!rest.is_zero()).then(|| {
                    self.considered(
                        "considered value is not a multiple of the specified value",
                        subject,
                    )
                })
            }
            Test::MaxLength(most) => {
                (subject.text()?.chars().count() > *most).then(|| self.length(subject))
            }
            Test::MinLength(least) => {
                (subject.text()?.chars().count() < *least).then(|| self.length(subject))
            }
            Test::Pattern(pattern) => (!pattern.matches_text(subject.text()?))
                .then(|| self.considered("regular expression did not match", subject)),
            Test::MaxItems(most) => (subject.array()?.len() > *most).then(|| self.items(subject)),
            Test::MinItems(least) => (subject.array()?.len() < *least).then(|| self.items(subject)),
            Test::UniqueItems => {
                let mut sorted: Vec<&Bson> = subject.array()?.iter().collect();
                sorted.sort_by(|left, right| compare(left, right));
                let twice = sorted.windows(2).find(|pair| equal(pair[0], pair[1]))?;
                let mut failure = self.considered("found a duplicate item", subject);
                failure.insert("duplicatedValue", twice[0].clone());
                Some(failure)
            }
            Test::Items(schema) => self.first_item(subject.array()?, 0, |_| Some(schema)),
            Test::ItemList(schemas) => self.first_item(subject.array()?, 0, |at| schemas.get(at)),
            Test::AdditionalItems(from, additional) => {
                let items = subject.array()?;
                match additional {
                    Additional::Forbidden => (items.len() > *from).then(|| {
                        let mut failure = self.specified();
                        failure.insert("reason", "found additional items");
                        failure.insert("additionalItems", items[*from..].to_vec());
                        failure
                    }),
                    Additional::Fits(schema) => self.first_item(items, *from, |_| Some(schema)),
                }
            }
            Test::MaxProperties(most) => {
                (subject.document()?.len() > *most).then(|| self.properties(subject))
            }
            Test::MinProperties(least) => {
                (subject.document()?.len() < *least).then(|| self.properties(subject))
            }
            Test::Required(names) => {
                let missing = missing(names, subject.document()?);
                (!missing.is_empty()).then(|| {
                    let mut failure = self.specified();
                    failure.insert("missingProperties", missing);
                    failure
                })
            }
            Test::Properties(schemas) => {
                let document = subject.document()?;
                let failing: Vec<Bson> = schemas
                    .iter()
                    .filter_map(|(name, schema)| property(name, document.get(name)?, schema))
                    .collect();
                self.list("propertiesNotSatisfied", failing)
            }
            Test::PatternProperties(schemas) => {
                let mut failing = Vec::new();
                for (name, value) in subject.document()? {
                    for (pattern, schema) in
                        schemas.iter().filter(|(pattern, _)| pattern.matches_text(name))
                    {
                        if let Some(Bson::Document(mut failure)) = property(name, value, schema) {
                            failure.insert("regexMatched", pattern.source());
                            failing.push(Bson::Document(failure));
                        }
                    }
                }
                self.list("details", failing)
            }
            Test::AdditionalProperties(known, additional) => {
                self.additional(subject.document()?, known, additional)
            }
            Test::Dependencies(dependencies) => {
                let document = subject.document()?;
                let failing = dependencies
                    .iter()
                    .filter(|(name, _)| document.contains_key(name))
                    .filter_map(|(name, dependency)| dependency.failure(name, document, subject))
                    .collect();
                self.list("failingDependencies", failing)
            }
            Test::AllOf(schemas) => {
                self.list("schemasNotSatisfied", failing_schemas(schemas, subject))
            }
            Test::AnyOf(schemas) => {
                let failing = failing_schemas(schemas, subject);
                (failing.len() == schemas.len())
                    .then(|| self.list("schemasNotSatisfied", failing))
                    .flatten()
            }
            Test::OneOf(schemas) => self.one_of(schemas, subject),
            Test::Not(schema) => fits(schema, subject).then(|| {
                doc! {"operatorName": self.keyword, "reason": "child expression matched"}
            }),
        }
    }

    fn specified(&self) -> Document {
        let mut written = Document::new();
        written.insert(self.keyword, self.written.clone());
        doc! {"operatorName": self.keyword, "specifiedAs": written}
    }

    fn considered(&self, reason: &str, subject: Subject<'_>) -> Document {
        let mut failure = self.specified();
        failure.insert("reason", reason);
        failure.insert("consideredValue", subject.to_bson());
        failure
    }

    fn length(&self, subject: Subject<'_>) -> Document {
        self.considered("specified string length was not satisfied", subject)
    }

    fn items(&self, subject: Subject<'_>) -> Document {
        self.considered("array did not match specified length", subject)
    }

    fn properties(&self, subject: Subject<'_>) -> Document {
        let mut failure = self.specified();
        failure.insert("reason", "specified number of properties was not satisfied");
        let count = subject.document().map_or(0, Document::len);
        failure.insert("numberOfProperties", i32::try_from(count).unwrap_or(i32::MAX));
        failure
    }

    fn list(&self, name: &str, failing: Vec<Bson>) -> Option<Document> {
        if failing.is_empty() {
            return None;
        }
        let mut failure = doc! {"operatorName": self.keyword};
        failure.insert(name, failing);
        Some(failure)
    }

    /// A number beyond a limit. NaN is beyond every limit.
    fn limit(
        &self,
        subject: Subject<'_>,
        limit: Number,
        edge: Edge,
        beyond: Ordering,
    ) -> Option<Document> {
        let number = subject.number()?;
        let order = number::order(number, limit);
        let held =
            !number.is_nan() && order != beyond && !(order.is_eq() && edge == Edge::Excluded);
        (!held).then(|| self.considered("comparison failed", subject))
    }

    fn first_item<'s>(
        &self,
        items: &[Bson],
        from: usize,
        schema: impl Fn(usize) -> Option<&'s Schema>,
    ) -> Option<Document> {
        items.iter().enumerate().skip(from).find_map(|(at, item)| {
            let details = failures(schema(at)?, Subject::Value(item));
            (!details.is_empty()).then(|| {
                doc! {
                    "operatorName": self.keyword,
                    "reason": "At least one item did not match the sub-schema",
                    "itemIndex": i32::try_from(at).unwrap_or(i32::MAX),
                    "details": details,
                }
            })
        })
    }

    fn additional(
        &self,
        document: &Document,
        known: &Known,
        additional: &Additional,
    ) -> Option<Document> {
        let mut unknown = document.iter().filter(|(name, _)| {
            !known.names.contains(name)
                && !known.patterns.iter().any(|pattern| pattern.matches_text(name))
        });
        match additional {
            Additional::Forbidden => {
                let names: Vec<&str> = unknown.map(|(name, _)| name.as_str()).collect();
                (!names.is_empty()).then(|| {
                    let mut failure = self.specified();
                    failure.insert("additionalProperties", names);
                    failure
                })
            }
            Additional::Fits(schema) => unknown.find_map(|(name, value)| {
                let details = failures(schema, Subject::Value(value));
                (!details.is_empty()).then(|| {
                    doc! {
                        "operatorName": self.keyword,
                        "reason": "at least one additional property did not match the subschema",
                        "failingProperty": name.as_str(),
                        "details": details,
                    }
                })
            }),
        }
    }

    fn one_of(&self, schemas: &[Schema], subject: Subject<'_>) -> Option<Document> {
        let matching: Vec<i32> = (0i32..)
            .zip(schemas)
            .filter(|(_, schema)| fits(schema, subject))
            .map(|(at, _)| at)
            .collect();
        match matching.len() {
            0 => self.list("schemasNotSatisfied", failing_schemas(schemas, subject)),
            1 => None,
            _ => Some(doc! {
                "operatorName": self.keyword,
                "reason": "more than one subschema matched",
                "matchingSchemaIndexes": matching,
            }),
        }
    }
}

impl Dependency {
    fn failure(&self, name: &str, document: &Document, subject: Subject<'_>) -> Option<Bson> {
        let mut failure = doc! {"conditionalProperty": name};
        match self {
            Self::Requires(names) => {
                let missing = missing(names, document);
                if missing.is_empty() {
                    return None;
                }
                failure.insert("missingProperties", missing);
            }
            Self::Fits(schema) => {
                let details = failures(schema, subject);
                if details.is_empty() {
                    return None;
                }
                failure.insert("details", details);
            }
        }
        Some(Bson::Document(failure))
    }
}

fn missing(names: &[String], document: &Document) -> Vec<String> {
    names.iter().filter(|name| !document.contains_key(name)).cloned().collect()
}

fn property(name: &str, value: &Bson, schema: &Schema) -> Option<Bson> {
    let details = failures(schema, Subject::Value(value));
    if details.is_empty() {
        return None;
    }
    let mut failure = doc! {"propertyName": name};
    if let Some(title) = &schema.title {
        failure.insert("title", title.as_str());
    }
    if let Some(description) = &schema.description {
        failure.insert("description", description.as_str());
    }
    failure.insert("details", details);
    Some(Bson::Document(failure))
}

fn failing_schemas(schemas: &[Schema], subject: Subject<'_>) -> Vec<Bson> {
    let failing = (0i32..).zip(schemas).filter_map(|(at, schema)| {
        let details = failures(schema, subject);
        (!details.is_empty()).then(|| Bson::Document(doc! {"index": at, "details": details}))
    });
    failing.collect()
}
