//! Filters told back: as `explain` shows them, and why a document did not match.

use bson::{Bson, Document, doc};

use crate::error::Result;
use crate::value::kind;
use crate::value::path::{self, Ends, Path};
use crate::value::text;

use super::condition::Comparison;
use super::node::{Node, Root, Test, TypeSet};

/// The filter as a document again, in the server's canonical form: `{a: {$eq: 1}}`.
pub(super) fn describe(node: &Node) -> Document {
    match node {
        Node::And(nodes) if nodes.is_empty() => Document::new(),
        Node::And(nodes) => doc! {"$and": list(nodes)},
        Node::Or(nodes) => doc! {"$or": list(nodes)},
        Node::Nor(nodes) => doc! {"$nor": list(nodes)},
        Node::Not(inner) => match &**inner {
            Node::Field(path, test) => under(path, doc! {"$not": operator(test)}),
            other => doc! {"$nor": [describe(other)]},
        },
        Node::Field(path, test) => under(path, operator(test)),
        Node::Expression { source, .. } => source.clone(),
        Node::Schema { source, .. } => doc! {"$jsonSchema": source.clone()},
        Node::Always(true) => doc! {"$alwaysTrue": 1},
        Node::Always(false) => doc! {"$alwaysFalse": 1},
    }
}

/// The filter as complaints about plans show it: a condition a line, what belongs together indented.
pub(super) fn tree(node: &Node) -> String {
    let mut lines = String::new();
    branch(node, 0, &mut lines);
    lines
}

fn branch(node: &Node, depth: usize, lines: &mut String) {
    let inner: &[Node] = match node {
        Node::And(nodes) | Node::Or(nodes) | Node::Nor(nodes) => nodes,
        Node::Not(inner) => std::slice::from_ref(&**inner),
        _ => &[],
    };
    let name = match node {
        Node::And(_) => "$and",
        Node::Or(_) => "$or",
        Node::Nor(_) => "$nor",
        Node::Not(_) => "$not",
        _ => "",
    };
    let indent = "    ".repeat(depth);
    if !name.is_empty() {
        lines.push_str(&format!("{indent}{name}\n"));
        inner.iter().for_each(|node| branch(node, depth + 1, lines));
        return;
    }
    for (name, value) in describe(node) {
        match value {
            Bson::Document(operators) if matches!(node, Node::Field(..)) => {
                for (operator, argument) in operators {
                    lines.push_str(&format!(
                        "{indent}{name} {operator} {}\n",
                        text::value(&argument)
                    ));
                }
            }
            value => lines.push_str(&format!("{indent}{name} {}\n", text::value(&value))),
        }
    }
}

fn list(nodes: &[Node]) -> Vec<Document> {
    nodes.iter().map(describe).collect()
}

fn under(path: &Path, operator: Document) -> Document {
    let mut document = Document::new();
    document.insert(path.text(), operator);
    document
}

/// A test as the operator it was.
fn operator(test: &Test) -> Document {
    match test {
        Test::Equal(value) => doc! {"$eq": value.clone()},
        Test::Compare(_, bound) => one(test, bound.clone()),
        Test::In(members, patterns) => {
            let patterns =
                patterns.iter().map(|pattern| Bson::RegularExpression(pattern.as_regex().clone()));
            doc! {"$in": members.iter().cloned().chain(patterns).collect::<Vec<Bson>>()}
        }
        Test::Exists => doc! {"$exists": true},
        Test::Type(types) => doc! {"$type": type_list(types)},
        Test::Size(size) => doc! {"$size": *size},
        Test::ElementPasses(nodes) => doc! {"$elemMatch": element(nodes)},
        Test::ElementMatches(node) => doc! {"$elemMatch": describe(node)},
        Test::Modulo { divisor, remainder } => doc! {"$mod": [*divisor, *remainder]},
        Test::Matches(pattern) if pattern.options().is_empty() => doc! {"$regex": pattern.source()},
        Test::Matches(pattern) => doc! {"$regex": pattern.source(), "$options": pattern.options()},
        Test::Bits(bits) => one(test, bits.positions()),
    }
}

fn one(test: &Test, argument: Bson) -> Document {
    let mut operator = Document::new();
    operator.insert(name(test), argument);
    operator
}

/// The operators that judge one element, side by side.
fn element(nodes: &[Node]) -> Document {
    let mut operators = Document::new();
    for node in nodes {
        match node {
            Node::Field(_, test) => operators.extend(operator(test)),
            Node::And(nodes) => operators.extend(element(nodes)),
            Node::Not(inner) => {
                operators.insert("$not", element(std::slice::from_ref(&**inner)));
            }
            other => operators.extend(describe(other)),
        }
    }
    operators
}

fn type_list(types: &TypeSet) -> Vec<Bson> {
    let codes = types.codes.iter().map(|code| Bson::Int32(*code));
    codes.chain(types.numbers.then(|| Bson::String("number".into()))).collect()
}

fn name(test: &Test) -> &'static str {
    match test {
        Test::Equal(_) => "$eq",
        Test::Compare(Comparison::Greater, _) => "$gt",
        Test::Compare(Comparison::GreaterOrEqual, _) => "$gte",
        Test::Compare(Comparison::Less, _) => "$lt",
        Test::Compare(Comparison::LessOrEqual, _) => "$lte",
        Test::In(..) => "$in",
        Test::Exists => "$exists",
        Test::Type(_) => "$type",
        Test::Size(_) => "$size",
        Test::ElementPasses(_) | Test::ElementMatches(_) => "$elemMatch",
        Test::Modulo { .. } => "$mod",
        Test::Matches(_) => "$regex",
        Test::Bits(bits) => bits.name(),
    }
}

fn reason(test: &Test) -> &'static str {
    match test {
        Test::Equal(_) | Test::Compare(..) => "comparison failed",
        Test::In(..) => "no matching value found in array",
        Test::Exists => "path does not exist",
        Test::Type(_) => "type did not match",
        Test::Size(_) => "array length was not equal to given size",
        Test::ElementPasses(_) | Test::ElementMatches(_) => {
            "array did not satisfy the child predicate"
        }
        Test::Modulo { .. } => "$mod did not evaluate to expected remainder",
        Test::Matches(_) => "regular expression did not match",
        Test::Bits(_) => "bitwise operator failed to match",
    }
}

/// Why a document does not match; `None` when it does.
pub(super) fn failure(node: &Node, document: &Document) -> Result<Option<Document>> {
    if node.matches(Root::Document(document), &mut None)? {
        return Ok(None);
    }
    Ok(Some(match node {
        Node::And(nodes) => clauses("$and", nodes, document)?,
        Node::Or(nodes) => clauses("$or", nodes, document)?,
        Node::Nor(nodes) => {
            let mut satisfied = Vec::new();
            for (at, node) in (0i32..).zip(nodes) {
                if node.matches(Root::Document(document), &mut None)? {
                    satisfied.push(doc! {"index": at, "details": {"specifiedAs": describe(node)}});
                }
            }
            doc! {"operatorName": "$nor", "clausesSatisfied": satisfied}
        }
        Node::Not(inner) => {
            doc! {"operatorName": "$not", "specifiedAs": describe(node), "reason": "child expression matched",
            "details": {"specifiedAs": describe(inner)}}
        }
        Node::Field(path, test) => field(node, path, test, document),
        Node::Expression { source, .. } => doc! {
            "operatorName": "$expr", "specifiedAs": source.clone(),
            "reason": "expression did not match", "expressionResult": false,
        },
        Node::Schema { schema, .. } => {
            doc! {"operatorName": "$jsonSchema", "schemaRulesNotSatisfied": schema.failures_of_document(document)}
        }
        Node::Always(_) => {
            doc! {"operatorName": "$alwaysFalse", "specifiedAs": describe(node), "reason": "expression always evaluates to false"}
        }
    }))
}

fn clauses(name: &str, nodes: &[Node], document: &Document) -> Result<Document> {
    let mut failing = Vec::new();
    for (at, node) in (0i32..).zip(nodes) {
        if let Some(details) = failure(node, document)? {
            failing.push(doc! {"index": at, "details": details});
        }
    }
    Ok(doc! {"operatorName": name, "clausesNotSatisfied": failing})
}

fn field(node: &Node, path: &Path, test: &Test, document: &Document) -> Document {
    let mut considered = Vec::new();
    path::search(document, path.parts(), Ends::Whole, &mut |found| {
        considered.extend(found.value.cloned());
        false
    });
    let mut failure = doc! {"operatorName": name(test), "specifiedAs": describe(node)};
    match considered.as_slice() {
        [] if !matches!(test, Test::Exists) => {
            failure.insert("reason", "field was missing");
        }
        [] => {
            failure.insert("reason", reason(test));
        }
        [value] => {
            failure.insert("reason", reason(test));
            failure.insert("consideredValue", value.clone());
            if let Test::Type(_) = test {
                failure.insert("consideredType", kind::name(value));
            }
        }
        values => {
            failure.insert("reason", reason(test));
            failure.insert("consideredValues", values.to_vec());
        }
    }
    failure
}
