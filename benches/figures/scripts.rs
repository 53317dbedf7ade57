//! Plain JavaScript, and the reading of a long script.

use tally::dialect::{Source, Verdict, parse};

use crate::Figure;
use crate::bare::QuickJs;
use crate::clock::Clock;
use crate::session::Session;

/// How often each is measured.
const TURNS: u32 = 5;

/// Loops of the usual kinds: arithmetic, calls, objects, texts.
const LOOPS: &[(&str, &str)] = &[
    (
        "sums, time against bare QuickJS",
        "var s = 0; for (var i = 0; i < 20000000; i++) s = (s + i) % 1000003; return s",
    ),
    (
        "calls, time against bare QuickJS",
        "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } return fib(29)",
    ),
    (
        "objects, time against bare QuickJS",
        "var s = 0; for (var i = 0; i < 2000000; i++) { var o = {a: i, b: {c: i}}; s += o.b.c - o.a } return s",
    ),
    (
        "texts, time against bare QuickJS",
        "var s = 0; for (var i = 0; i < 1000000; i++) s += ('user ' + i).split(' ')[1].length; return s",
    ),
];

/// Plain JavaScript, in tally and in the bare engine.
pub(crate) fn loops() -> Vec<Figure> {
    let quick_js = QuickJs::new();
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::over(&folder.path().join("data"));
    let figure = |(what, body): &(&'static str, &str)| {
        let code = format!("(function () {{ {body} }})()");
        let (mut own, mut bare) = (f64::MAX, f64::MAX);
        for _ in 0..TURNS {
            own = own.min(session.seconds(&format!("{code}, 0"), "0"));
            bare = bare.min(quick_js.seconds(&format!("{code}, undefined")));
        }
        Figure::at_most(what, 1.1, own / bare, "")
    };
    LOOPS.iter().map(figure).collect()
}

/// Ordinary code, as often as it takes.
const ORDINARY: &str = r#"// Orders of the last month, with what each of them came to.
function totals(orders, since) {
    const sums = new Map();
    for (const order of orders) {
        if (order.at < since || !/^[a-z]{2}-\d+$/.test(order.number)) continue;
        let sum = 0;
        for (let i = 0; i < order.lines.length; i++) {
            sum += order.lines[i].price * (order.lines[i].count || 1) / 100;
        }
        /* Customers without a name go under their number. */
        const key = order.customer?.name ?? `customer ${order.customer._id}`;
        sums.set(key, (sums.get(key) ?? 0) + sum);
    }
    return [...sums].sort((a, b) => b[1] - a[1]).map(([name, sum]) => ({ name, sum, vat: sum * 0.19 }));
}

db.orders.aggregate([
    { $match: { status: { $in: ["paid", 'sent'] }, "customer.country": "de" } },
    { $group: { _id: "$customer._id", count: { $sum: 1 }, last: { $max: "$at" } } },
]).forEach(function (row) {
    if (row.count > 1 && row.last !== null) {
        db.customers.updateOne({ _id: row._id }, { $set: { orders: row.count, last: row.last } }, { upsert: true });
    } else print("one order only: " + row._id);
});
"#;

/// Reading five megabytes of script.
pub(crate) fn dialect() -> Vec<Figure> {
    let text = ORDINARY.repeat(5_000_000 / ORDINARY.len());
    let mut seconds = f64::MAX;
    for _ in 0..TURNS {
        let clock = Clock::here();
        let input = parse(&text, Source::Script);
        seconds = seconds.min(clock.seconds());
        assert_eq!(input.verdict, Verdict::Complete);
    }
    vec![Figure::at_most("reading 5 MB of ordinary script", 500.0, seconds * 1000.0, " ms")]
}
