//! Accumulators: one value out of many, for `$group` and, where the name is an operator too, for arrays.

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;

use bson::{Bson, Document};

use super::arithmetic::Total;
use super::array::amount;
use super::comparison::compare_values;
use super::deviation::Deviation;
use super::function::{self, Scripted};
use super::named::{parameters, required};
use super::object::not_mergeable;
use super::percentile::{self, Percentiles};
use super::{Arguments, Expression, MANY, Operator, Parse, Scope};
use crate::engine::query::Sort;
use crate::error::{Code, Error, Result};
use crate::value::{key, size, text};

/// One accumulator of the language.
#[derive(Debug)]
pub struct Row {
    /// Its name, with the dollar.
    pub name: &'static str,
    /// One line for a user.
    pub help: &'static str,
    parse: fn(&'static Row, &Bson, &Scope) -> Result<Accumulator>,
    start: fn(usize, &Sort) -> Box<dyn State>,
}

/// Every accumulator, sorted by name.
pub const ACCUMULATORS: &[Row] = &[
    Row {
        name: "$accumulator",
        help: "what JavaScript functions make of the documents: {init, accumulate, accumulateArgs, merge, lang}",
        parse: of_functions,
        // Where an accumulator has functions, they start it.
        start: |_, _| Box::new(Sum::default()),
    },
    Row {
        name: "$addToSet",
        help: "an array of the distinct values",
        parse: of_value,
        start: |_, _| Box::new(Set::default()),
    },
    Row {
        name: "$avg",
        help: "the mean of the numbers",
        parse: of_value,
        start: |_, _| Box::new(Mean::default()),
    },
    Row {
        name: "$bottom",
        help: "the last value in an order: {sortBy, output}",
        parse: of_sorted,
        start: |_, sort| Box::new(Sorted::new(1, true, true, sort)),
    },
    Row {
        name: "$bottomN",
        help: "the last values in an order: {n, sortBy, output}",
        parse: of_sorted,
        start: |n, sort| Box::new(Sorted::new(n, false, true, sort)),
    },
    Row {
        name: "$count",
        help: "how many documents there are",
        parse: of_nothing,
        start: |_, _| Box::new(Sum::default()),
    },
    Row {
        name: "$first",
        help: "the first document's value",
        parse: of_value,
        start: |_, _| Box::new(First::default()),
    },
    Row {
        name: "$firstN",
        help: "the first values: {n, input}",
        parse: of_some,
        start: |n, _| Box::new(Ends { n, last: false, values: Vec::new() }),
    },
    Row {
        name: "$last",
        help: "the last document's value",
        parse: of_value,
        start: |_, _| Box::new(Last::default()),
    },
    Row {
        name: "$lastN",
        help: "the last values: {n, input}",
        parse: of_some,
        start: |n, _| Box::new(Ends { n, last: true, values: Vec::new() }),
    },
    Row {
        name: "$max",
        help: "the greatest value",
        parse: of_value,
        start: |_, _| Box::new(Extreme { greatest: true, value: None }),
    },
    Row {
        name: "$maxN",
        help: "the greatest values: {n, input}",
        parse: of_some,
        start: |n, _| Box::new(Extremes { n, greatest: true, values: Vec::new() }),
    },
    Row {
        name: "$median",
        help: "the middle one of the numbers: {input, method}",
        parse: of_numbers,
        start: |_, _| Box::new(Percentiles::default()),
    },
    Row {
        name: "$mergeObjects",
        help: "documents merged into one; later fields win",
        parse: of_value,
        start: |_, _| Box::new(Merged::default()),
    },
    Row {
        name: "$min",
        help: "the least value",
        parse: of_value,
        start: |_, _| Box::new(Extreme { greatest: false, value: None }),
    },
    Row {
        name: "$minN",
        help: "the least values: {n, input}",
        parse: of_some,
        start: |n, _| Box::new(Extremes { n, greatest: false, values: Vec::new() }),
    },
    Row {
        name: "$percentile",
        help: "the numbers below which these shares lie: {input, p, method}",
        parse: of_numbers,
        start: |_, _| Box::new(Percentiles::default()),
    },
    Row {
        name: "$push",
        help: "an array of the values",
        parse: of_value,
        start: |_, _| Box::new(Pushed::default()),
    },
    Row {
        name: "$stdDevPop",
        help: "the standard deviation of a whole population",
        parse: of_value,
        start: |_, _| Box::new(Spread { sample: false, deviation: Deviation::default() }),
    },
    Row {
        name: "$stdDevSamp",
        help: "the standard deviation estimated from a sample",
        parse: of_value,
        start: |_, _| Box::new(Spread { sample: true, deviation: Deviation::default() }),
    },
    Row {
        name: "$sum",
        help: "the sum of the numbers",
        parse: of_value,
        start: |_, _| Box::new(Sum::default()),
    },
    Row {
        name: "$top",
        help: "the first value in an order: {sortBy, output}",
        parse: of_sorted,
        start: |_, sort| Box::new(Sorted::new(1, true, false, sort)),
    },
    Row {
        name: "$topN",
        help: "the first values in an order: {n, sortBy, output}",
        parse: of_sorted,
        start: |n, sort| Box::new(Sorted::new(n, false, false, sort)),
    },
];

/// The accumulators that are operators too: of their arguments, or of the elements of a single array.
pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$avg",
        arguments: (0, MANY),
        help: "the mean of the numbers",
        parse: Parse::Call(of_arguments),
    },
    Operator {
        name: "$max",
        arguments: (0, MANY),
        help: "the greatest value",
        parse: Parse::Call(of_arguments),
    },
    Operator {
        name: "$min",
        arguments: (0, MANY),
        help: "the least value",
        parse: Parse::Call(of_arguments),
    },
    Operator {
        name: "$stdDevPop",
        arguments: (0, MANY),
        help: "the standard deviation of a whole population",
        parse: Parse::Call(of_arguments),
    },
    Operator {
        name: "$stdDevSamp",
        arguments: (0, MANY),
        help: "the standard deviation estimated from a sample",
        parse: Parse::Call(of_arguments),
    },
    Operator {
        name: "$sum",
        arguments: (0, MANY),
        help: "the sum of the numbers",
        parse: Parse::Call(of_arguments),
    },
];

fn row(name: &str) -> Option<&'static Row> {
    ACCUMULATORS.binary_search_by_key(&name, |row| row.name).ok().map(|at| &ACCUMULATORS[at])
}

fn of_arguments(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let Some(row) = row(arguments.name) else { return Ok(None) };
    let mut state = (row.start)(0, &Sort::default());
    if let (1, Some(Bson::Array(_))) = (arguments.len(), arguments.get(0)) {
        if let Some(Bson::Array(elements)) = arguments.take(0) {
            for element in elements {
                state.take(Some(element), &[])?;
            }
        }
    } else {
        for index in 0..arguments.len() {
            state.take(arguments.take(index), &[])?;
        }
    }
    state.finish().map(Some)
}

/// A compiled accumulator: what it takes from a document, and where it starts.
#[derive(Debug)]
pub(crate) struct Accumulator {
    row: &'static Row,
    input: Expression,
    n: Option<Expression>,
    sort: Sort,
    percentiles: Option<Percentiles>,
    scripted: Option<Arc<Scripted>>,
}

impl Accumulator {
    /// Compiles `{$name: argument}`.
    ///
    /// # Errors
    /// 15952 for an unknown name, and what is wrong with the argument.
    pub(crate) fn parse(name: &str, argument: &Bson, scope: &Scope) -> Result<Self> {
        let Some(row) = row(name) else {
            return Err(Error::command(Code(15952), format!("unknown group operator '{name}'")));
        };
        (row.parse)(row, argument, scope)
    }

    /// Evaluates what needs no document.
    ///
    /// # Errors
    /// What that fails with.
    pub(crate) fn fold(&mut self, scope: &Scope) -> Result<()> {
        self.input.fold(scope)
    }

    /// The accumulator's name.
    pub(crate) fn name(&self) -> &'static str {
        self.row.name
    }

    /// The state before the first document; `id` is what `n` may depend on, the group's `_id`.
    pub(crate) fn start(&self, id: &Bson, scope: &Scope) -> Result<Box<dyn State>> {
        if let Some(percentiles) = &self.percentiles {
            return Ok(Box::new(percentiles.clone()));
        }
        if let Some(scripted) = &self.scripted {
            return scripted.start(id, scope);
        }
        let n = match &self.n {
            None => 0,
            Some(n) => {
                let mut group = Document::new();
                group.insert("_id", id.clone());
                amount(n.evaluate(&group, scope)?.as_ref())?
            }
        };
        Ok((self.row.start)(n, &self.sort))
    }

    /// Gives the state one more document, and answers with the bytes that it kept.
    pub(crate) fn take(
        &self,
        state: &mut dyn State,
        document: &Document,
        scope: &Scope,
    ) -> Result<usize> {
        let value = self.input.evaluate(document, scope)?;
        let key = self.sort.key(document)?;
        state.take(value, &key)
    }
}

fn of_value(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    if let Bson::Array(_) = argument {
        return Err(Error::command(
            Code(40237),
            format!("The {} accumulator is a unary operator", row.name),
        ));
    }
    Ok(Accumulator {
        row,
        input: Expression::parse(argument, scope)?,
        n: None,
        sort: Sort::default(),
        percentiles: None,
        scripted: None,
    })
}

fn of_nothing(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    match argument {
        Bson::Document(document) if document.is_empty() => of_value(row, &Bson::Int32(1), scope),
        _ => Err(Error::command(Code::TYPE_MISMATCH, "$count takes no arguments, i.e. $count:{}")),
    }
}

fn not_document(row: &Row, argument: &Bson) -> Error {
    let message =
        format!("specification must be an object; found {}: {}", row.name, text::value(argument));
    Error::command(Code(5787900), message)
}

fn of_some(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    let Bson::Document(_) = argument else { return Err(not_document(row, argument)) };
    let unknown = (5787901, "Unknown argument for 'n' operator: {}");
    let [n, input] = parameters(argument, ["n", "input"], (5787900, ""), unknown)?;
    let n = required(n, 5787906, "Missing value for 'n'")?;
    let input = required(input, 5787907, "Missing value for 'input'")?;
    let input = Expression::parse(input, scope)?;
    let n = Some(Expression::parse(n, scope)?);
    Ok(Accumulator { row, input, n, sort: Sort::default(), percentiles: None, scripted: None })
}

fn of_sorted(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    let Bson::Document(_) = argument else { return Err(not_document(row, argument)) };
    let several = row.name.ends_with('N');
    let unknown = format!("Unknown argument to {} '{{}}'", row.name);
    let [n, by, output] =
        parameters(argument, ["n", "sortBy", "output"], (5787900, ""), (5788002, &unknown))?;
    let by = required(by, 5788005, "Missing value for 'sortBy'")?;
    let output = required(output, 5788004, "Missing value for 'output'")?;
    let n = match (n, several) {
        (Some(n), true) => Some(Expression::parse(n, scope)?),
        (None, true) => return Err(Error::command(Code(5788003), "Missing value for 'n'")),
        (Some(_), false) => return Err(Error::command(Code(5788002), unknown.replace("{}", "n"))),
        (None, false) => None,
    };
    let Bson::Document(by) = by else {
        let found = text::element("sortBy", by);
        return Err(Error::command(
            Code(10065),
            format!("invalid parameter: expected an object ({found})"),
        ));
    };
    let (input, sort) = (Expression::parse(output, scope)?, Sort::parse(by)?);
    Ok(Accumulator { row, input, n, sort, percentiles: None, scripted: None })
}

fn of_numbers(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    let (input, percentiles) = percentile::accumulator(row.name, argument, scope)?;
    Ok(Accumulator {
        row,
        input,
        n: None,
        sort: Sort::default(),
        percentiles: Some(percentiles),
        scripted: None,
    })
}

fn of_functions(row: &'static Row, argument: &Bson, scope: &Scope) -> Result<Accumulator> {
    let (input, scripted) = function::accumulator(argument, scope)?;
    let scripted = Some(scripted);
    Ok(Accumulator { row, input, n: None, sort: Sort::default(), percentiles: None, scripted })
}

/// What has been accumulated so far.
pub(crate) trait State: Debug {
    /// Takes the value of one more document, `None` when missing, with its sort key where there is an order. Answers
    /// with the bytes it kept of it.
    fn take(&mut self, value: Option<Bson>, key: &[&Bson]) -> Result<usize>;

    /// The result so far.
    fn value(&self) -> Bson;

    /// The result; nothing may be taken after it.
    ///
    /// # Errors
    /// Those of the functions of `$accumulator`; nothing else can fail.
    fn finish(&mut self) -> Result<Bson> {
        Ok(self.value())
    }
}

#[derive(Debug, Default)]
struct Sum(Total);

impl State for Sum {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        value.iter().for_each(|value| self.0.take(value));
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.0.sum()
    }
}

#[derive(Debug, Default)]
struct Mean(Total);

impl State for Mean {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        value.iter().for_each(|value| self.0.take(value));
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.0.mean()
    }
}

#[derive(Debug)]
struct Spread {
    sample: bool,
    deviation: Deviation,
}

impl State for Spread {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        value.iter().for_each(|value| self.deviation.take(value));
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.deviation.result(self.sample)
    }
}

/// `$min`, `$max`: null and missing values do not count.
#[derive(Debug)]
struct Extreme {
    greatest: bool,
    value: Option<Bson>,
}

fn is_nullish(value: &Bson) -> bool {
    matches!(value, Bson::Null | Bson::Undefined)
}

impl State for Extreme {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        if let Some(value) = value.filter(|value| !is_nullish(value)) {
            let better = match &self.value {
                None => true,
                Some(best) => {
                    let order = compare_values(Some(&value), Some(best));
                    if self.greatest { order.is_gt() } else { order.is_lt() }
                }
            };
            if better {
                self.value = Some(value);
            }
        }
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.value.clone().unwrap_or(Bson::Null)
    }
}

#[derive(Debug)]
struct Extremes {
    n: usize,
    greatest: bool,
    values: Vec<Bson>,
}

impl State for Extremes {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let Some(value) = value.filter(|value| !is_nullish(value)) else { return Ok(0) };
        let at = self.values.partition_point(|known| {
            let order = compare_values(Some(known), Some(&value));
            if self.greatest { order.is_ge() } else { order.is_le() }
        });
        let bytes = size::of(&value);
        if at < self.n {
            self.values.insert(at, value);
            self.values.truncate(self.n);
        }
        Ok(bytes)
    }

    fn value(&self) -> Bson {
        Bson::Array(self.values.clone())
    }

    fn finish(&mut self) -> Result<Bson> {
        Ok(Bson::Array(std::mem::take(&mut self.values)))
    }
}

#[derive(Debug, Default)]
struct First(Option<Bson>);

impl State for First {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        self.0.get_or_insert_with(|| value.unwrap_or(Bson::Null));
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.0.clone().unwrap_or(Bson::Null)
    }
}

#[derive(Debug, Default)]
struct Last(Option<Bson>);

impl State for Last {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        self.0 = value;
        Ok(0)
    }

    fn value(&self) -> Bson {
        self.0.clone().unwrap_or(Bson::Null)
    }
}

/// `$firstN`, `$lastN`: missing values count as null.
#[derive(Debug)]
struct Ends {
    n: usize,
    last: bool,
    values: Vec<Bson>,
}

impl State for Ends {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let value = value.unwrap_or(Bson::Null);
        let bytes = size::of(&value);
        if self.values.len() < self.n {
            self.values.push(value);
        } else if self.last {
            self.values.remove(0);
            self.values.push(value);
            return Ok(0);
        } else {
            return Ok(0);
        }
        Ok(bytes)
    }

    fn value(&self) -> Bson {
        Bson::Array(self.values.clone())
    }

    fn finish(&mut self) -> Result<Bson> {
        Ok(Bson::Array(std::mem::take(&mut self.values)))
    }
}

#[derive(Debug, Default)]
struct Pushed(Vec<Bson>);

impl State for Pushed {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let Some(value) = value else { return Ok(0) };
        let bytes = size::of(&value);
        self.0.push(value);
        Ok(bytes)
    }

    fn value(&self) -> Bson {
        Bson::Array(self.0.clone())
    }

    fn finish(&mut self) -> Result<Bson> {
        Ok(Bson::Array(std::mem::take(&mut self.0)))
    }
}

/// `$addToSet`; the values come in the order in which they were first seen.
#[derive(Debug, Default)]
struct Set {
    seen: HashSet<Vec<u8>>,
    values: Vec<Bson>,
}

impl State for Set {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        let Some(value) = value else { return Ok(0) };
        let mut encoded = Vec::new();
        key::encode(&value, false, &mut encoded);
        let bytes = size::of(&value) + encoded.len();
        if !self.seen.insert(encoded) {
            return Ok(0);
        }
        self.values.push(value);
        Ok(bytes)
    }

    fn value(&self) -> Bson {
        Bson::Array(self.values.clone())
    }

    fn finish(&mut self) -> Result<Bson> {
        self.seen.clear();
        Ok(Bson::Array(std::mem::take(&mut self.values)))
    }
}

#[derive(Debug, Default)]
struct Merged(Document);

impl State for Merged {
    fn take(&mut self, value: Option<Bson>, _: &[&Bson]) -> Result<usize> {
        match value {
            None | Some(Bson::Null | Bson::Undefined) => Ok(0),
            Some(Bson::Document(document)) => {
                let bytes = size::of_document(&document);
                self.0.extend(document);
                Ok(bytes)
            }
            Some(other) => Err(not_mergeable(&other)),
        }
    }

    fn value(&self) -> Bson {
        Bson::Document(self.0.clone())
    }

    fn finish(&mut self) -> Result<Bson> {
        Ok(Bson::Document(std::mem::take(&mut self.0)))
    }
}

/// `$top`, `$bottom` and their kin: the values with the least, or greatest, sort keys, in the sort's order.
#[derive(Debug)]
struct Sorted {
    n: usize,
    single: bool,
    last: bool,
    sort: Sort,
    values: Vec<(Vec<Bson>, Bson)>,
}

impl Sorted {
    fn new(n: usize, single: bool, last: bool, sort: &Sort) -> Self {
        Self { n, single, last, sort: sort.clone(), values: Vec::new() }
    }
}

impl State for Sorted {
    fn take(&mut self, value: Option<Bson>, key: &[&Bson]) -> Result<usize> {
        let at = self.values.partition_point(|(known, _)| {
            self.sort.compare_keys(&known.iter().collect::<Vec<_>>(), key).is_le()
        });
        if !self.last && at >= self.n {
            return Ok(0);
        }
        let value = value.unwrap_or(Bson::Null);
        let bytes = size::of(&value);
        self.values.insert(at, (key.iter().copied().cloned().collect(), value));
        if self.values.len() > self.n {
            let spare = if self.last { 0 } else { self.n };
            self.values.remove(spare);
        }
        Ok(bytes)
    }

    fn value(&self) -> Bson {
        let mut values = self.values.iter().map(|(_, value)| value.clone());
        if self.single {
            values.next().unwrap_or(Bson::Null)
        } else {
            Bson::Array(values.collect())
        }
    }
}
