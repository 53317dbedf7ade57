//! The figures that tally promises, each measured in one run beside its named peer: `cargo bench --bench figures`.
//!
//! Arguments pick groups by a part of their name (`cargo bench --bench figures -- counter`). The exit code is 1 when a
//! bar is missed. Data lies in a directory on the disk, as a user's would; scratch data would be no different. Whatever
//! can be repeated is, in turns with its peer, and the best turn of each counts: what else the machine does in the
//! meantime only ever makes a turn slower; `--cpu` leaves that out altogether (see [`clock`]). Memory is read from `/proc`,
//! so those rows are measured on Linux only.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod bare;
mod clock;
mod documents;
mod scripts;
mod sequences;
mod session;
mod start;

use std::process::ExitCode;

/// A row of the table: what was measured, and whether it holds.
struct Figure {
    what: &'static str,
    bar: String,
    result: String,
    /// How much better than the bar the result is: 1 is on it, below 1 misses it.
    ratio: f64,
}

impl Figure {
    fn at_least(what: &'static str, bar: f64, result: f64, unit: &str) -> Self {
        Self {
            what,
            bar: format!(">= {}{unit}", grouped(bar)),
            result: format!("{}{unit}", grouped(result)),
            ratio: result / bar,
        }
    }

    fn at_most(what: &'static str, bar: f64, result: f64, unit: &str) -> Self {
        Self {
            what,
            bar: format!("<= {}{unit}", grouped(bar)),
            result: format!("{}{unit}", grouped(result)),
            ratio: bar / result,
        }
    }
}

/// A number with thousands apart, or two decimals when it is small.
fn grouped(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// One group of measurements: its name and what it finds.
type Group = (&'static str, fn() -> Vec<Figure>);

/// Every group, in the order of the table.
const GROUPS: &[Group] = &[
    ("binary", start::binary),
    ("start", start::start),
    ("counter", sequences::counter),
    ("pasted", sequences::pasted),
    ("pairs", sequences::pairs),
    ("insert", documents::insert),
    ("read", documents::read),
    ("lookup", documents::lookup),
    ("loops", scripts::loops),
    ("dialect", scripts::dialect),
];

fn main() -> ExitCode {
    let picked: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let mut missed = 0;
    if clock::by_thread() {
        println!("by the time that threads ran, waits left out");
    }
    println!("{:<58} {:>16} {:>14} {:>6}", "what", "bar", "result", "ratio");
    for (name, measure) in GROUPS {
        if !picked.is_empty() && !picked.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        for Figure { what, bar, result, ratio } in measure() {
            // A ratio that is no number is a miss as well.
            let holds = ratio >= 1.0;
            let mark = if holds { "" } else { "  missed" };
            println!("{what:<58} {bar:>16} {result:>14} {ratio:>6.2}{mark}");
            missed += u32::from(!holds);
        }
    }
    if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
