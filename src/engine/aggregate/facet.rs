//! `$facet`: several pipelines over the same documents, each in a field of one document.

use bson::{Bson, Document};

use super::flow::lazily;
use super::{Context, Documents, Pipeline, Place, Row, Stage};
use crate::engine::expr::{Scope, check_field_name};
use crate::error::{Code, Error, Result};
use crate::value::kind;

pub(super) const STAGES: &[Row] = &[Row {
    name: "$facet",
    help: "several pipelines over the same documents: {name: [stages]}",
    place: Place::Outside,
    parse: facet,
}];

#[derive(Debug)]
struct Facet {
    pipelines: Vec<(String, Pipeline)>,
}

fn facet(argument: &Bson, scope: &Scope) -> Result<Box<dyn Stage>> {
    let specification = match argument {
        Bson::Document(specification) if !specification.is_empty() => specification,
        _ => {
            let message = "the $facet specification must be a non-empty object";
            return Err(Error::command(Code(40169), message));
        }
    };
    let mut pipelines = Vec::with_capacity(specification.len());
    for (name, stages) in specification {
        check_field_name(name)?;
        let Bson::Array(stages) = stages else {
            let message = format!(
                "arguments to $facet must be arrays, {name} is type {}",
                kind::name(stages)
            );
            return Err(Error::command(Code(40170), message));
        };
        pipelines.push((name.clone(), Pipeline::parse_for_facet(stages, scope)?));
    }
    Ok(Box::new(Facet { pipelines }))
}

impl Stage for Facet {
    fn run<'a>(&'a self, input: Documents<'a>, context: &'a Context) -> Documents<'a> {
        lazily(move || {
            let mut documents = Vec::new();
            for document in input {
                context.interrupt.check()?;
                documents.push(document?);
            }
            let mut result = Document::new();
            for (name, pipeline) in &self.pipelines {
                let copies = Box::new(documents.iter().cloned().map(Ok));
                let found =
                    pipeline.run(copies, context).map(|document| document.map(Bson::Document));
                result.insert(name.as_str(), Bson::Array(found.collect::<Result<_>>()?));
            }
            Ok(vec![result])
        })
    }
}
