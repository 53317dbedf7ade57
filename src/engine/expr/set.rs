//! Arrays as sets: neither order nor repetition counts. Results come in comparison order.

use bson::Bson;

use super::expression::truth;
use super::named::kind;
use super::{Arguments, MANY, Operator, Parse};
use crate::error::{Code, Error, Result};
use crate::value::compare::compare;

pub(super) const OPERATORS: &[Operator] = &[
    Operator {
        name: "$allElementsTrue",
        arguments: (1, 1),
        help: "whether every element counts as true",
        parse: Parse::Call(all_elements_true),
    },
    Operator {
        name: "$anyElementTrue",
        arguments: (1, 1),
        help: "whether some element counts as true",
        parse: Parse::Call(any_element_true),
    },
    Operator {
        name: "$setDifference",
        arguments: (2, 2),
        help: "elements of the first array that the second lacks",
        parse: Parse::Call(set_difference),
    },
    Operator {
        name: "$setEquals",
        arguments: (0, MANY),
        help: "whether arrays hold the same distinct elements",
        parse: Parse::Call(set_equals),
    },
    Operator {
        name: "$setIntersection",
        arguments: (0, MANY),
        help: "elements that all arrays hold",
        parse: Parse::Call(set_intersection),
    },
    Operator {
        name: "$setIsSubset",
        arguments: (2, 2),
        help: "whether the second array holds every element of the first",
        parse: Parse::Call(set_is_subset),
    },
    Operator {
        name: "$setUnion",
        arguments: (0, MANY),
        help: "elements that any array holds",
        parse: Parse::Call(set_union),
    },
];

fn sorted(elements: &[Bson]) -> Vec<Bson> {
    let mut set = elements.to_vec();
    set.sort_by(compare);
    set.dedup_by(|a, b| compare(a, b).is_eq());
    set
}

fn holds(set: &[Bson], value: &Bson) -> bool {
    set.binary_search_by(|element| compare(element, value)).is_ok()
}

fn truth_of(boolean: bool) -> Result<Option<Bson>> {
    Ok(Some(Bson::Boolean(boolean)))
}

/// The argument as an array, or an error of this code and these words before the type's name.
fn array<'b>(
    arguments: &'b Arguments<'_>,
    index: usize,
    code: i32,
    words: &str,
) -> Result<&'b [Bson]> {
    match arguments.get(index) {
        Some(Bson::Array(elements)) => Ok(elements),
        other => Err(Error::command(Code(code), format!("{words}{}", kind(other)))),
    }
}

fn all_elements_true(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let elements =
        array(arguments, 0, 17040, "$allElementsTrue's argument must be an array, but is ")?;
    truth_of(elements.iter().all(|element| truth(Some(element))))
}

fn any_element_true(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let elements =
        array(arguments, 0, 17041, "$anyElementTrue's argument must be an array, but is ")?;
    truth_of(elements.iter().any(|element| truth(Some(element))))
}

fn set_difference(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    if arguments.present(0).is_none() || arguments.present(1).is_none() {
        return Ok(Some(Bson::Null));
    }
    let words = "both operands of $setDifference must be arrays. First argument is of type: ";
    let from = array(arguments, 0, 17048, words)?;
    let words = "both operands of $setDifference must be arrays. Second argument is of type: ";
    let mut seen = sorted(array(arguments, 1, 17049, words)?);
    // Unlike the other set operators, this one keeps the first array's order.
    let mut difference = Vec::new();
    for element in from {
        if let Err(at) = seen.binary_search_by(|known| compare(known, element)) {
            seen.insert(at, element.clone());
            difference.push(element.clone());
        }
    }
    Ok(Some(Bson::Array(difference)))
}

fn set_equals(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    if arguments.len() < 2 {
        let message = format!("$setEquals needs at least two arguments had: {}", arguments.len());
        return Err(Error::command(Code(17045), message));
    }
    let mut first: Option<Vec<Bson>> = None;
    let mut equal = true;
    for index in 0..arguments.len() {
        let words = format!(
            "All operands of $setEquals must be arrays. {}-th argument is of type: ",
            index + 1
        );
        let set = sorted(array(arguments, index, 17044, &words)?);
        match &first {
            None => first = Some(set),
            Some(first) => {
                equal &= first.len() == set.len()
                    && first.iter().zip(&set).all(|(a, b)| compare(a, b).is_eq());
            }
        }
    }
    truth_of(equal)
}

fn set_intersection(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut common: Option<Vec<Bson>> = None;
    for index in 0..arguments.len() {
        if arguments.present(index).is_none() {
            return Ok(Some(Bson::Null));
        }
        let words = "All operands of $setIntersection must be arrays. One argument is of type: ";
        let set = sorted(array(arguments, index, 17047, words)?);
        common = Some(match common {
            None => set,
            Some(mut common) => {
                common.retain(|element| holds(&set, element));
                common
            }
        });
    }
    Ok(Some(Bson::Array(common.unwrap_or_default())))
}

fn set_is_subset(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let words = "both operands of $setIsSubset must be arrays. First argument is of type: ";
    let part = array(arguments, 0, 17046, words)?;
    let words = "both operands of $setIsSubset must be arrays. Second argument is of type: ";
    let whole = sorted(array(arguments, 1, 17042, words)?);
    truth_of(part.iter().all(|element| holds(&whole, element)))
}

fn set_union(arguments: &mut Arguments<'_>) -> Result<Option<Bson>> {
    let mut all = Vec::new();
    for index in 0..arguments.len() {
        if arguments.present(index).is_none() {
            return Ok(Some(Bson::Null));
        }
        let words = "All operands of $setUnion must be arrays. One argument is of type: ";
        all.extend_from_slice(array(arguments, index, 17043, words)?);
    }
    Ok(Some(Bson::Array(sorted(&all))))
}
