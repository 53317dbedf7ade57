//! Bounds: which part of an index can lead to documents that fulfil a filter's conditions.
//!
//! Everything is a half-open range of encoded keys. An encoding is no prefix of another, so all entries that begin with
//! the bytes `p` are those from `p` up to [`after`]`(p)`.

use bson::raw::cstr;
use bson::{Bson, Document};

use super::{Definition, Field};
use crate::engine::query::{Comparison, Condition, Conjunct, Filter};
use crate::value::number::Number;
use crate::value::{key, text};

/// The most ranges a plan has; `$in` lists that would make more bound fewer fields.
const MOST_RANGES: usize = 4096;

/// Encoded keys from `low` up to, and without, `high`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// The first key.
    pub low: Vec<u8>,
    /// What comes after the last key.
    pub high: Vec<u8>,
}

/// What the conditions make of an index.
pub(super) struct Bounds {
    /// In order, without overlap.
    pub(super) ranges: Vec<Range>,
    /// How many leading fields are bound to single values.
    pub(super) points: u32,
    /// How many leading fields are bound to one value each.
    pub(super) single_points: usize,
    /// Whether the field after those is bound to ranges.
    pub(super) ranged: bool,
}

/// Where the entries of documents that fulfil all of `conjuncts` are.
pub(super) fn ranges(definition: &Definition, multikey: u64, conjuncts: &[Conjunct<'_>]) -> Bounds {
    let mut bounds = Bounds { ranges: Vec::new(), points: 0, single_points: 0, ranged: false };
    let mut prefixes = vec![Vec::new()];
    let mut array_names: Vec<&str> = Vec::new();
    let mut last = None;
    for (at, field) in definition.fields.iter().enumerate() {
        let is_multikey = multikey & 1 << at.min(62) != 0;
        if is_multikey {
            // Two fields within one array may match through different elements, while an entry has one element's.
            let name = field.path.split('.').next().unwrap_or_default();
            if array_names.contains(&name) {
                break;
            }
            array_names.push(name);
        }
        let Some(parts) = of_field(field, is_multikey, conjuncts) else { break };
        let singles = parts.iter().all(|part| part.high == after(&part.low) && part.point);
        if !singles || prefixes.len() * parts.len() > MOST_RANGES {
            last = Some(parts);
            break;
        }
        if parts.len() == 1 && bounds.single_points == at {
            bounds.single_points += 1;
        }
        bounds.points += 1;
        prefixes = prefixes
            .iter()
            .flat_map(|prefix| parts.iter().map(move |part| joined(prefix, &part.low)))
            .collect();
    }
    let last = last.filter(|parts| prefixes.len() * parts.len() <= MOST_RANGES);
    bounds.ranged = last.is_some();
    for prefix in &prefixes {
        match &last {
            Some(parts) => {
                let ends = parts
                    .iter()
                    .map(|part| (joined(prefix, &part.low), joined(prefix, &part.high)));
                bounds.ranges.extend(ends.map(|(low, high)| Range { low, high }));
            }
            None => bounds.ranges.push(Range { low: prefix.clone(), high: after(prefix) }),
        }
    }
    for range in &mut bounds.ranges {
        widen(range);
    }
    bounds.ranges.retain(|range| range.low < range.high);
    bounds.ranges.sort_unstable();
    bounds.ranges = merged(std::mem::take(&mut bounds.ranges));
    bounds
}

/// The bounds of each field as `explain` shows them: `{a: ["[1, 1]"], b: ["[MinKey, MaxKey]"]}`.
pub fn describe(
    definition: &Definition,
    multikey: u64,
    filter: &Filter,
    reverse: bool,
) -> Document {
    told(definition, multikey, &filter.conjuncts(), reverse)
}

/// As [`describe`], of one branch of the filter's `$or`.
pub fn describe_branch(
    definition: &Definition,
    multikey: u64,
    filter: &Filter,
    branch: usize,
) -> Document {
    let branches = super::plan::branches(filter).unwrap_or_default();
    told(definition, multikey, branches.get(branch).map_or(&[][..], Vec::as_slice), false)
}

fn told(
    definition: &Definition,
    multikey: u64,
    conjuncts: &[Conjunct<'_>],
    reverse: bool,
) -> Document {
    let bounds = ranges(definition, multikey, conjuncts);
    let bound = bounds.points as usize + usize::from(bounds.ranged);
    let text = |part: &Part| {
        let (low, high) = &part.text;
        if reverse {
            let (start, end) = (if high.1 { '[' } else { '(' }, if low.1 { ']' } else { ')' });
            return Bson::String(format!("{start}{}, {}{end}", high.0, low.0));
        }
        let (start, end) = (if low.1 { '[' } else { '(' }, if high.1 { ']' } else { ')' });
        Bson::String(format!("{start}{}, {}{end}", low.0, high.0))
    };
    let fields = definition.fields.iter().enumerate().map(|(at, field)| {
        let is_multikey = multikey & 1 << at.min(62) != 0;
        let parts = if at < bound { of_field(field, is_multikey, conjuncts) } else { None };
        let parts = parts.unwrap_or_else(|| vec![everything()]);
        let mut texts: Vec<_> = parts.iter().map(text).collect();
        if reverse {
            texts.reverse();
        }
        (field.path.clone(), Bson::Array(texts))
    });
    fields.collect()
}

/// An end of a range as it is shown, and whether it belongs to the range.
type End = (String, bool);

/// A range of one field's encodings.
#[derive(Clone)]
struct Part {
    low: Vec<u8>,
    high: Vec<u8>,
    /// Exactly one value.
    point: bool,
    /// Its ends in the order of the index.
    text: (End, End),
}

fn everything() -> Part {
    let ends = (("MinKey".to_owned(), true), ("MaxKey".to_owned(), true));
    Part { low: Vec::new(), high: after(&[]), point: false, text: ends }
}

/// Where one field's values can be; `None` when they can be anywhere.
fn of_field(field: &Field, is_multikey: bool, conjuncts: &[Conjunct<'_>]) -> Option<Vec<Part>> {
    let parts = conjuncts
        .iter()
        .filter(|conjunct| conjunct.path == field.path)
        .filter_map(|conjunct| of_condition(&conjunct.condition, field.descending));
    let mut best: Option<Vec<Part>> = None;
    for parts in parts {
        best = Some(match best {
            None => parts,
            // Through an array each condition may hold for another element.
            Some(best) if is_multikey => narrower(best, parts),
            Some(best) => intersection(&best, &parts),
        });
    }
    best
}

fn narrower(left: Vec<Part>, right: Vec<Part>) -> Vec<Part> {
    let points = |parts: &[Part]| parts.iter().all(|part| part.point);
    match (points(&left), points(&right)) {
        (true, true) if right.len() < left.len() => right,
        (false, true) => right,
        _ => left,
    }
}

fn intersection(left: &[Part], right: &[Part]) -> Vec<Part> {
    let mut parts = Vec::new();
    for one in left {
        for other in right {
            let low = one.low.clone().max(other.low.clone());
            let high = one.high.clone().min(other.high.clone());
            if low < high {
                let text = (
                    if low == one.low { one.text.0.clone() } else { other.text.0.clone() },
                    if high == one.high { one.text.1.clone() } else { other.text.1.clone() },
                );
                parts.push(Part { low, high, point: one.point || other.point, text });
            }
        }
    }
    parts
}

fn of_condition(condition: &Condition<'_>, descending: bool) -> Option<Vec<Part>> {
    match condition {
        Condition::Equal(value) => Some(equal(value, descending)),
        Condition::In(values) => {
            let mut parts: Vec<_> =
                values.iter().flat_map(|value| equal(value, descending)).collect();
            parts.sort_unstable_by(|left, right| left.low.cmp(&right.low));
            parts.dedup_by(|left, right| left.low == right.low);
            Some(parts)
        }
        Condition::Compare(comparison, value) => compared(*comparison, value, descending),
        // A field that is missing is indexed as null.
        Condition::Exists(false) => Some(equal(&Bson::Null, descending)),
        Condition::Exists(true) | Condition::Other => None,
        Condition::Prefix(prefix) => {
            let mut low = Vec::new();
            key::encode_prefix(prefix, descending, &mut low);
            let high = after(&low);
            // A stored regular expression equals itself.
            let empty = bson::Regex { pattern: cstr!("").into(), options: cstr!("").into() };
            let regexes = bracket(&Bson::RegularExpression(empty), descending);
            let ends =
                ((format!("\"{prefix}\""), true), (format!("\"{}\"", next_text(prefix)), false));
            let ends = if descending { (ends.1, ends.0) } else { ends };
            let mut parts = vec![Part { low, high, point: false, text: ends }, regexes];
            parts.sort_unstable_by(|left, right| left.low.cmp(&right.low));
            Some(parts)
        }
        Condition::Element(conditions) => {
            let parts =
                conditions.iter().filter_map(|condition| of_condition(condition, descending));
            parts.reduce(|left, right| intersection(&left, &right))
        }
    }
}

/// The entries of documents whose field equals `value`.
fn equal(value: &Bson, descending: bool) -> Vec<Part> {
    let mut parts = vec![point(value, descending)];
    match value {
        // An array has entries for its elements, and is an element perhaps.
        Bson::Array(elements) => {
            parts.push(point(elements.first().unwrap_or(&Bson::Undefined), descending))
        }
        Bson::Null => parts.push(point(&Bson::Undefined, descending)),
        _ => {}
    }
    parts.sort_unstable_by(|left, right| left.low.cmp(&right.low));
    parts.dedup_by(|left, right| left.low == right.low);
    parts
}

fn point(value: &Bson, descending: bool) -> Part {
    let mut low = Vec::new();
    key::encode(value, descending, &mut low);
    let high = after(&low);
    let shown = (text::value(value), true);
    Part { low, high, point: true, text: (shown.clone(), shown) }
}

/// The least text after all that begin with `prefix`, as far as it is shown.
fn next_text(prefix: &str) -> String {
    let mut next = prefix.to_owned();
    if let Some(last) = next.pop() {
        next.push(char::from_u32(u32::from(last) + 1).unwrap_or(last));
    }
    next
}

/// The ends of all values of one type, as they are shown.
fn type_ends(value: &Bson) -> (End, End) {
    let (low, high) = match value {
        Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_) | Bson::Decimal128(_) => ("-inf", "inf"),
        // The next type begins where strings end.
        Bson::String(_) | Bson::Symbol(_) => {
            return (("\"\"".to_owned(), true), ("{}".to_owned(), false));
        }
        Bson::Boolean(_) => ("false", "true"),
        Bson::DateTime(_) => ("new Date(-9223372036854775808)", "new Date(9223372036854775807)"),
        Bson::ObjectId(_) => {
            ("ObjectId('000000000000000000000000')", "ObjectId('ffffffffffffffffffffffff')")
        }
        _ => ("MinKey", "MaxKey"),
    };
    ((low.to_owned(), true), (high.to_owned(), true))
}

/// All values of one type.
fn bracket(value: &Bson, descending: bool) -> Part {
    let low = vec![key::bracket_byte(value, descending)];
    let high = after(&low);
    let (first, last) = type_ends(value);
    let text = if descending { (last, first) } else { (first, last) };
    Part { low, high, point: false, text }
}

fn compared(comparison: Comparison, value: &Bson, descending: bool) -> Option<Vec<Part>> {
    match value {
        // These compare with every type; whole arrays have no entries.
        Bson::MinKey | Bson::MaxKey | Bson::Array(_) => return None,
        Bson::Null | Bson::Undefined => return Some(equal(&Bson::Null, descending)),
        _ => {}
    }
    let (mut all, here) = (bracket(value, descending), point(value, descending));
    // NaN is less than every number in order, and in no relation to any.
    if Number::of(value).is_some_and(|number| !number.is_nan()) {
        let nan = point(&Bson::Double(f64::NAN), descending);
        if descending { all.high = nan.low } else { all.low = nan.high }
    }
    let upwards =
        matches!(comparison, Comparison::Greater | Comparison::GreaterOrEqual) != descending;
    let inclusive = matches!(comparison, Comparison::GreaterOrEqual | Comparison::LessOrEqual);
    let (low, high) = match (upwards, inclusive) {
        (true, true) => (here.low, all.high),
        (true, false) => (here.high, all.high),
        (false, true) => (all.low, here.high),
        (false, false) => (all.low, here.low),
    };
    let end = (here.text.0.0, inclusive);
    let text = if upwards { (end, all.text.1) } else { (all.text.0, end) };
    Some(vec![Part { low, high, point: false, text }])
}

/// The least bytes after everything that begins with `prefix`; of nothing, after everything.
pub(super) fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return end;
        }
    }
    // No encoding begins so: the bytes of types end at 127, inverted ones begin at 128.
    vec![u8::MAX; 2]
}

fn joined(prefix: &[u8], rest: &[u8]) -> Vec<u8> {
    [prefix, rest].concat()
}

/// Makes room for keys that were shortened: they begin as the whole key does.
fn widen(range: &mut Range) {
    range.low.truncate(super::LONGEST);
    if range.high.len() > super::LONGEST {
        range.high = after(&range.high[..super::LONGEST]);
    }
}

fn merged(ranges: Vec<Range>) -> Vec<Range> {
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.low < last.high => {
                last.high = range.high.max(std::mem::take(&mut last.high))
            }
            _ => merged.push(range),
        }
    }
    merged
}
