//! The plan: which documents to ask a filter about, and in which order they come.
//!
//! A plan never decides whether a document matches: the filter is always asked again. It only may not leave one out.

use bson::Bson;

use super::bounds::{Range, ranges};
use super::{Definition, LONG_KEYS};
use crate::engine::query::{Comparison, Condition, Conjunct, Filter, Sort};
use crate::value::compare;
use crate::value::number::Number;

/// An index that a plan may use.
#[derive(Clone, Copy)]
pub struct Candidate<'a> {
    /// What it indexes.
    pub definition: &'a Definition,
    /// A bit for each field that has led through an array, and [`LONG_KEYS`].
    pub multikey: u64,
}

/// Where documents come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Nothing can match.
    Nothing,
    /// All documents in natural order, or its reverse.
    Scan {
        /// The last inserted first.
        reverse: bool,
    },
    /// The one document with this `_id`.
    Id(Bson),
    /// The documents that an index leads to.
    Index {
        /// Which of the candidates.
        at: usize,
        /// Where in it, in order and without overlap.
        ranges: Vec<Range>,
        /// From the end to the beginning.
        reverse: bool,
    },
    /// The documents that one index or another leads to: for each branch of an `$or` which of the candidates, and where
    /// in it.
    Union(Vec<(usize, Vec<Range>)>),
}

/// Where documents come from and whether they come sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Where documents come from.
    pub access: Access,
    /// Whether they come in the order that was asked for.
    pub sorted: bool,
}

/// What a hint asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Natural order, or its reverse.
    Natural {
        /// The last inserted first.
        reverse: bool,
    },
    /// One of the candidates.
    Index(usize),
}

/// Plans a search. Candidates are all indexes of the collection, the one on `_id` first.
pub fn plan(
    filter: &Filter,
    sort: &Sort,
    hint: Option<Hint>,
    candidates: &[Candidate<'_>],
) -> Plan {
    if filter.is_none() {
        return Plan { access: Access::Nothing, sorted: true };
    }
    let conjuncts = filter.conjuncts();
    match hint {
        Some(Hint::Natural { reverse }) => {
            return Plan { access: Access::Scan { reverse }, sorted: sort.is_empty() };
        }
        Some(Hint::Index(at)) => return using(at, candidates[at], &conjuncts, sort).plan,
        None => {}
    }
    // At most one document has an `_id`: no order to think of.
    if let Some(id) = conjuncts.iter().find_map(equal_id) {
        return Plan { access: Access::Id(id.clone()), sorted: true };
    }
    let usable = candidates.iter().enumerate().filter(|(_, candidate)| {
        let definition = candidate.definition;
        definition.kept && !definition.hidden && shows_all(definition, &conjuncts)
    });
    let best = usable
        .map(|(at, candidate)| using(at, *candidate, &conjuncts, sort))
        .filter(|choice| choice.score > 0)
        .max_by(|left, right| left.score.cmp(&right.score).then(right.at.cmp(&left.at)));
    // An order alone narrows nothing.
    if best.as_ref().is_none_or(|choice| choice.score < 2)
        && let Some(union) = union(filter, candidates)
    {
        return Plan { access: Access::Union(union), sorted: sort.is_empty() };
    }
    match best {
        Some(choice) => choice.plan,
        None => Plan { access: Access::Scan { reverse: false }, sorted: sort.is_empty() },
    }
}

/// An index for each branch of the filter's `$or`, if every one has one that narrows it.
fn union(filter: &Filter, candidates: &[Candidate<'_>]) -> Option<Vec<(usize, Vec<Range>)>> {
    let of_branch = |conjuncts: &Vec<Conjunct<'_>>| {
        let usable = candidates.iter().enumerate().filter(|(_, candidate)| {
            let definition = candidate.definition;
            definition.kept && !definition.hidden && shows_all(definition, conjuncts)
        });
        let choice = usable
            .map(|(at, candidate)| using(at, *candidate, conjuncts, &Sort::default()))
            .filter(|choice| choice.score >= 2)
            .max_by(|left, right| left.score.cmp(&right.score).then(right.at.cmp(&left.at)))?;
        match choice.plan.access {
            Access::Index { at, ranges, .. } => Some((at, ranges)),
            _ => None,
        }
    };
    branches(filter)?.iter().map(of_branch).collect()
}

/// The conditions that hold for each branch of the filter's `$or`, those outside it included.
pub(super) fn branches(filter: &Filter) -> Option<Vec<Vec<Conjunct<'_>>>> {
    let mut branches = filter.alternatives()?;
    let outside = filter.conjuncts();
    branches.iter_mut().for_each(|branch| branch.extend(outside.iter().cloned()));
    Some(branches)
}

/// Whether every entry within the bounds that the filter makes of an index is of a document that matches: nothing is left
/// to ask.
pub fn answers(filter: &Filter, candidate: Candidate<'_>) -> bool {
    let Some(conjuncts) = filter.only_conjuncts() else { return false };
    // Through an array, and between shortened keys, conditions have to be asked again.
    if candidate.multikey != 0 {
        return false;
    }
    let bounds = ranges(candidate.definition, candidate.multikey, &conjuncts);
    let bound = bounds.points as usize + usize::from(bounds.ranged);
    let fields = &candidate.definition.fields;
    conjuncts.iter().all(|conjunct| {
        // A number in a path may be a position in an array.
        let plain = !conjunct.path.split('.').any(|part| part.parse::<u32>().is_ok());
        plain
            && fields.iter().take(bound).any(|field| field.path == conjunct.path)
            && match &conjunct.condition {
                Condition::Equal(value) => is_plain(value),
                Condition::In(values) => values.iter().all(is_plain),
                Condition::Compare(_, value) => is_plain(value) && !is_nan(value),
                Condition::Exists(_)
                | Condition::Prefix(_)
                | Condition::Element(_)
                | Condition::Other => false,
            }
    }) && !(0..fields.len()).any(|at| candidate.definition.is_hashed(at))
}

/// Whether a value has one entry, and shares it with what equals it only.
fn is_plain(value: &Bson) -> bool {
    matches!(
        value,
        Bson::Double(_)
            | Bson::Int32(_)
            | Bson::Int64(_)
            | Bson::Decimal128(_)
            | Bson::String(_)
            | Bson::Boolean(_)
            | Bson::DateTime(_)
            | Bson::ObjectId(_)
    )
}

fn is_nan(value: &Bson) -> bool {
    Number::of(value).is_some_and(Number::is_nan)
}

/// The `_id` that a filter asks for, if it leads to at most one document.
pub fn id_of(filter: &Filter) -> Option<&Bson> {
    filter.conjuncts().iter().find_map(equal_id)
}

fn equal_id<'a>(conjunct: &Conjunct<'a>) -> Option<&'a Bson> {
    match conjunct.condition {
        // An array is no `_id`, and null may be meant for a missing one.
        Condition::Equal(value) if conjunct.path == "_id" && !matches!(value, Bson::Array(_)) => {
            Some(value)
        }
        _ => None,
    }
}

/// A possible plan and how good it is.
struct Choice {
    at: usize,
    plan: Plan,
    score: u32,
}

fn using(at: usize, candidate: Candidate<'_>, conjuncts: &[Conjunct<'_>], sort: &Sort) -> Choice {
    let bounds = ranges(candidate.definition, candidate.multikey, conjuncts);
    let order = if sort.is_empty() { None } else { order(candidate, bounds.single_points, sort) };
    let sorted = sort.is_empty() || order.is_some();
    // An equality narrows most, then a range; an order saves the sort when nothing narrows.
    let score = 4 * bounds.points + if bounds.ranged { 2 } else { 0 } + u32::from(order.is_some());
    let access = Access::Index { at, ranges: bounds.ranges, reverse: order == Some(true) };
    Choice { at, plan: Plan { access, sorted }, score }
}

/// Whether the index gives the order, and whether it has to be read backwards.
fn order(candidate: Candidate<'_>, single_points: usize, sort: &Sort) -> Option<bool> {
    // Shortened keys are not in order among themselves.
    if candidate.multikey & LONG_KEYS != 0 {
        return None;
    }
    let fields = &candidate.definition.fields;
    let fixed = |path: &str| fields[..single_points].iter().any(|field| field.path == path);
    let mut rest = fields.iter().enumerate().peekable();
    let mut reverse = None;
    for key in sort.keys() {
        let path = key.path.text();
        if fixed(path) {
            continue;
        }
        while rest.peek().is_some_and(|(at, field)| *at < single_points && field.path != path) {
            rest.next();
        }
        let (at, field) = rest.next()?;
        // An array is sorted by its least or greatest element, while the index has an entry for each.
        if field.path != path
            || candidate.multikey & 1 << at.min(62) != 0
            || candidate.definition.is_hashed(at)
        {
            return None;
        }
        let backwards = field.descending != key.descending;
        if *reverse.get_or_insert(backwards) != backwards {
            return None;
        }
    }
    Some(reverse.unwrap_or(false))
}

/// Whether the index has an entry for every document that can match.
fn shows_all(definition: &Definition, conjuncts: &[Conjunct<'_>]) -> bool {
    if let Some(partial) = &definition.partial {
        let wanted = partial.conjuncts();
        // A filter with more to it than its conjuncts cannot be shown to be implied.
        if partial.alternatives().is_some()
            || !wanted.iter().all(|wanted| implied(wanted, conjuncts))
        {
            return false;
        }
    }
    !definition.sparse
        || definition.fields.iter().any(|field| {
            conjuncts
                .iter()
                .any(|conjunct| conjunct.path == field.path && needs_presence(&conjunct.condition))
        })
}

/// Whether a document without the field cannot fulfil the condition.
fn needs_presence(condition: &Condition<'_>) -> bool {
    match condition {
        Condition::Equal(value) => !is_nothing(value),
        Condition::Compare(_, value) => {
            !is_nothing(value) && !matches!(value, Bson::MinKey | Bson::MaxKey)
        }
        Condition::In(values) => !values.iter().any(is_nothing),
        Condition::Exists(there) => *there,
        Condition::Prefix(_) | Condition::Element(_) => true,
        Condition::Other => false,
    }
}

fn is_nothing(value: &Bson) -> bool {
    matches!(value, Bson::Null | Bson::Undefined)
}

/// Whether one of the conditions makes sure of `wanted`.
fn implied(wanted: &Conjunct<'_>, conjuncts: &[Conjunct<'_>]) -> bool {
    conjuncts.iter().any(|conjunct| {
        conjunct.path == wanted.path
            && (conjunct.condition == wanted.condition && wanted.condition != Condition::Other
                || match (&wanted.condition, &conjunct.condition) {
                    (Condition::Exists(true), given) => needs_presence(given),
                    (Condition::Compare(comparison, bound), Condition::Equal(value)) => {
                        holds(*comparison, value, bound)
                    }
                    (Condition::Compare(comparison, bound), Condition::In(values)) => {
                        values.iter().all(|value| holds(*comparison, value, bound))
                    }
                    (Condition::Compare(wanted, bound), Condition::Compare(given, value)) => {
                        stronger(*given, value, *wanted, bound)
                    }
                    (Condition::Equal(value), Condition::In(values)) => {
                        values.iter().all(|other| compare::equal(value, other))
                    }
                    _ => false,
                })
    })
}

fn holds(comparison: Comparison, value: &Bson, bound: &Bson) -> bool {
    let order = compare::compare(value, bound);
    compare::bracket(value) == compare::bracket(bound)
        && match comparison {
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
        }
}

/// Whether what is `given` against `value` is also `wanted` against `bound`.
fn stronger(given: Comparison, value: &Bson, wanted: Comparison, bound: &Bson) -> bool {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    let order = compare::compare(value, bound);
    compare::bracket(value) == compare::bracket(bound)
        && match (given, wanted) {
            (Greater, Greater | GreaterOrEqual) | (GreaterOrEqual, GreaterOrEqual) => order.is_ge(),
            (GreaterOrEqual, Greater) => order.is_gt(),
            (Less, Less | LessOrEqual) | (LessOrEqual, LessOrEqual) => order.is_le(),
            (LessOrEqual, Less) => order.is_lt(),
            (Greater | GreaterOrEqual, Less | LessOrEqual)
            | (Less | LessOrEqual, Greater | GreaterOrEqual) => false,
        }
}
