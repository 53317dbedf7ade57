//! "Did you mean": the known name that is nearest to a mistyped one.

/// The name among `names` nearest to `typed`, if one is near enough to be meant: two slips at most, one in a short
/// word, and a difference in capitals alone always.
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = if typed.chars().count() < 5 { 1 } else { 2 };
    let folded = typed.to_lowercase();
    names
        .into_iter()
        .filter(|name| *name != typed)
        .filter_map(|name| {
            let slips = if name.to_lowercase() == folded { 0 } else { distance(typed, name) };
            (slips <= allowed && slips < name.chars().count()).then_some((slips, name))
        })
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, name)| name)
}

/// How many insertions, deletions, replacements and swaps of neighbours make `left` of `right`.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let replaced = above[j - 1] + usize::from(left[i - 1] != right[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_forgiven_and_a_different_word_is_not() {
        let names = ["find", "findOne", "getIndexes", "insert", "remove"];
        assert_eq!(nearest("insret", names), Some("insert"));
        assert_eq!(nearest("getindexes", names), Some("getIndexes"));
        assert_eq!(nearest("fnd", names), Some("find"));
        assert_eq!(nearest("nofunc", names), None);
        assert_eq!(nearest("", names), None);
    }

    #[test]
    fn neighbours_swapped_are_one_slip() {
        assert_eq!(distance("insret", "insert"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
