//! Where lines break: entries on one line, in columns, or one a line, as Node's inspector decides it.

use crate::print::ink::Inked;

/// Wider than any line.
pub(super) const ANY: usize = 1 << 30;

/// How many levels may share a line, and a quarter of the columns that may stand side by side.
pub(super) const COMPACT: usize = 3;

/// The frame around entries.
pub(super) struct Frame<'a> {
    /// What stands before the brace: an error's text, `<ref *1>`; usually empty.
    pub base: &'a Inked,
    /// The opening brace with its class name, e.g. `{`, `Map(1) {`.
    pub open: &'a str,
    /// The closing brace.
    pub close: &'a str,
    /// The columns that the object's own lines are indented by.
    pub indentation: usize,
    /// The columns that a line may take.
    pub width: usize,
}

impl Frame<'_> {
    /// All entries on one line, if the line is short enough and no entry has more than one.
    pub(super) fn line(&self, entries: &[Inked]) -> Option<Inked> {
        let fixed =
            entries.len() + self.indentation + self.open.chars().count() + self.base.units() + 10;
        let total: usize = entries.iter().map(Inked::units).sum::<usize>() + entries.len() + fixed;
        if total > self.width || self.base.is_multiline() || entries.iter().any(Inked::is_multiline)
        {
            return None;
        }
        let mut out = self.begin();
        out.push(" ");
        join(&mut out, entries, ", ");
        out.push(" ");
        out.push(self.close);
        Some(out)
    }

    /// One entry a line, two columns further in.
    pub(super) fn lines(&self, entries: &[Inked]) -> Inked {
        let end = format!("\n{}", " ".repeat(self.indentation));
        let mut out = self.begin();
        out.push(&end);
        out.push("  ");
        join(&mut out, entries, &format!(",{end}  "));
        out.push(&end);
        out.push(self.close);
        out
    }

    fn begin(&self) -> Inked {
        let mut out = Inked::default();
        if !self.base.as_str().is_empty() {
            out.append(self.base);
            out.push(" ");
        }
        out.push(self.open);
        out
    }
}

fn join(out: &mut Inked, entries: &[Inked], separator: &str) {
    for (index, entry) in entries.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.append(entry);
    }
}

/// Lays many short entries of an array out in columns: each row becomes one entry. Entries that do not suit come back
/// as they were.
///
/// `more` says that the last entry is the `... more items` line, and `numbers` that every value is one: numbers stand
/// at the right of their column, all else at the left.
pub(super) fn columns(
    entries: Vec<Inked>,
    more: bool,
    numbers: bool,
    indentation: usize,
    width: usize,
) -> Vec<Inked> {
    const SEPARATOR: usize = 2;
    let count = entries.len() - usize::from(more);
    let widths: Vec<usize> = entries[..count].iter().map(Inked::width).collect();
    let total: usize = widths.iter().map(|width| width + SEPARATOR).sum();
    let widest = widths.iter().copied().max().unwrap_or(0);
    let column = widest + SEPARATOR;
    // At least three columns must fit, and no entry may be much longer than the others.
    let suits =
        column * 3 + indentation < width && (total as f64 / column as f64 > 5.0 || widest <= 6);
    if !suits {
        return entries;
    }
    // A block about two and a half times as wide as high in characters looks best.
    let bias = (column as f64 - total as f64 / entries.len() as f64).sqrt();
    let biased = (column as f64 - 3.0 - bias).max(1.0);
    let ideal = ((2.5 * biased * count as f64).sqrt() / biased).round() as usize;
    let columns = ideal.min(width.saturating_sub(indentation) / column).min(COMPACT * 4).min(15);
    if columns <= 1 {
        return entries;
    }
    let column_widths: Vec<usize> = (0..columns)
        .map(|first| {
            widths.iter().skip(first).step_by(columns).copied().max().unwrap_or(0) + SEPARATOR
        })
        .collect();
    let mut rows = Vec::with_capacity(count / columns + 2);
    for (row, cells) in entries[..count].chunks(columns).enumerate() {
        let mut line = Inked::default();
        for (index, cell) in cells.iter().enumerate() {
            let last = index + 1 == cells.len();
            let blanks =
                " ".repeat(column_widths[index] - SEPARATOR - widths[row * columns + index]);
            if numbers {
                line.push(&blanks);
            }
            line.append(cell);
            if !last {
                line.push(", ");
                if !numbers {
                    line.push(&blanks);
                }
            }
        }
        rows.push(line);
    }
    if more {
        rows.extend(entries.into_iter().next_back());
    }
    rows
}
