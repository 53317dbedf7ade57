//! `$median` and `$percentile`, as accumulators and as operators.

use bson::{Bson, Document};

use super::accumulator::State;
use super::named::{kind, parameters, required};
use super::{Arguments, Expression, Node, Operator, Parse, Parser, Scope};
use crate::error::{Code, Error, Result};
use crate::value::number::Number;
use crate::value::text;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$median",
        arguments: (1, 1),
        help: "the middle one of the numbers: {input, method: \"approximate\"}",
        parse: Parse::Form(parse_operator),
    },
    Operator {
        name: "$percentile",
        arguments: (1, 1),
        help: "the numbers below which these shares lie: {input, p: [...], method: \"approximate\"}",
        parse: Parse::Form(parse_operator),
    },
];

/// The numbers taken so far, and what is asked about them.
#[derive(Clone, Debug, Default)]
pub(super) struct Percentiles {
    /// From 0 to 1.
    shares: Vec<f64>,
    /// Whether the answer is one number and not an array.
    single: bool,
    numbers: Vec<f64>,
}

/// The parameters of either name: the input and what is asked about it.
fn read<'b>(name: &str, argument: &'b Bson, scope: &Scope) -> Result<(&'b Bson, Percentiles)> {
    let not_document = (
        7_436_200,
        format!("specification must be an object; found {name}: {}", text::value(argument)),
    );
    if !matches!(argument, Bson::Document(_)) {
        return Err(Error::command(Code(not_document.0), not_document.1));
    }
    let unknown = format!("BSON field '{name}.{{}}' is an unknown field.");
    let [input, method, p] =
        parameters(argument, ["input", "method", "p"], (7_436_200, ""), (40415, &unknown))?;
    let missing =
        |field: &str| format!("BSON field '{name}.{field}' is missing but a required field");
    let input = required(input, 40414, &missing("input"))?;
    match required(method, 40414, &missing("method"))? {
        Bson::String(method) if method == "approximate" => {}
        Bson::String(_) => {
            return Err(Error::command(
                Code::BAD_VALUE,
                "Currently only 'approximate' can be used as percentile 'method'.",
            ));
        }
        other => {
            return Err(Error::command(
                Code::TYPE_MISMATCH,
                format!(
                    "BSON field '{name}.method' is the wrong type '{}', expected type 'string'",
                    kind(Some(other))
                ),
            ));
        }
    }
    if name == "$median" {
        if p.is_some() {
            return Err(Error::command(Code(40415), unknown.replace("{}", "p")));
        }
        return Ok((input, Percentiles { shares: vec![0.5], single: true, numbers: Vec::new() }));
    }
    let p = required(p, 40414, &missing("p"))?;
    let mut expression = Expression::parse(p, scope)?;
    expression.fold(scope)?;
    let refused = || {
        let words =
            "The $percentile 'p' field must be an array of numbers from [0.0, 1.0], but found: ";
        Error::command(Code(7_750_300), format!("{words}{}", text::value(p)))
    };
    let shares = match expression.constant() {
        Some(Bson::Array(shares)) if !shares.is_empty() => shares
            .iter()
            .map(|share| {
                Number::of(share).map(Number::to_f64).filter(|share| (0.0..=1.0).contains(share))
            })
            .collect::<Option<Vec<f64>>>()
            .ok_or_else(refused)?,
        _ => return Err(refused()),
    };
    Ok((input, Percentiles { shares, single: false, numbers: Vec::new() }))
}

/// The accumulator: what it takes from a document, and where it starts.
pub(super) fn accumulator(
    name: &str,
    argument: &Bson,
    scope: &Scope,
) -> Result<(Expression, Percentiles)> {
    let (input, start) = read(name, argument, scope)?;
    Ok((Expression::parse(input, scope)?, start))
}

fn parse_operator(
    operator: &'static Operator,
    argument: &Bson,
    parser: &Parser<'_>,
) -> Result<Node> {
    let (input, start) = read(operator.name, argument, parser.scope())?;
    // What is asked travels as a constant argument.
    let mut shares = Document::new();
    shares.insert("p", start.shares);
    let arguments = vec![parser.parse(input)?, Node::Constant(Bson::Document(shares))];
    Ok(Node::Call { operator, function: of_array, arguments })
}

fn of_array(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let shares = match arguments.get(1) {
        Some(Bson::Document(given)) => given.get_array("p").cloned().unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut state = Percentiles {
        shares: shares.iter().filter_map(Bson::as_f64).collect(),
        single: arguments.name == "$median",
        numbers: Vec::new(),
    };
    match arguments.take(0) {
        Some(Bson::Array(elements)) => {
            for element in elements {
                state.take(Some(element), &[])?;
            }
        }
        other => {
            state.take(other, &[])?;
        }
    }
    Ok(Some(state.value()))
}

impl State for Percentiles {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let number = value.as_ref().and_then(Number::of).map(Number::to_f64);
        let Some(number) = number.filter(|number| !number.is_nan()) else { return Ok(0) };
        self.numbers.push(number);
        Ok(size_of::<f64>())
    }

    fn value(&self) -> Bson {
        let mut numbers = self.numbers.clone();
        numbers.sort_by(f64::total_cmp);
        let value = |share: &f64| {
            // The least number that at least this share of the numbers does not exceed.
            let place = (share * numbers.len() as f64).ceil() as usize;
            numbers.get(place.saturating_sub(1)).map_or(Bson::Null, |number| Bson::Double(*number))
        };
        match self.shares.as_slice() {
            [share] if self.single => value(share),
            shares => Bson::Array(shares.iter().map(value).collect()),
        }
    }
}
