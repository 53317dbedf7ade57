//! Where a file is cut: places drawn with a fixed seed, and places just behind what opens.

use std::collections::BTreeMap;

use crate::oracle::Record;

/// Places in each file, or all there are.
pub(crate) const PREFIXES: usize = 300;

/// Of these, how many are just behind an opening bracket, template or comment, where a file has as many.
const OPENINGS: usize = 120;

/// Of these, how many are at the end of a statement of the top level, where a file has as many.
const ENDS: usize = 60;

/// The places of one file.
pub(crate) struct Cuts {
    chosen: BTreeMap<usize, bool>,
}

/// One place.
pub(crate) struct Cut {
    /// The length of the prefix in bytes.
    pub(crate) at: usize,
    /// It must want another line; else it is complete.
    pub(crate) unfinished: bool,
}

impl Cuts {
    /// Chooses [`PREFIXES`] different places of a file, or all that the oracle is sure of if those are fewer.
    pub(crate) fn new(record: &Record, text: &str) -> Self {
        let sure = unfinished(record, text);
        let anywhere: Vec<usize> = (0..=text.len()).filter(|at| sure[*at]).collect();
        let openings = record.openings.iter().copied().filter(|at| sure[*at]).collect();
        let ends: Vec<usize> = record.ends.iter().copied().filter(|at| !sure[*at]).collect();
        let mut draw = Draw(text.len() as u64);
        let mut chosen = BTreeMap::new();
        for (pool, count, unfinished) in [(openings, OPENINGS, true), (ends, ENDS, false)] {
            draw.from(pool, count, |at| chosen.insert(at, unfinished).is_none());
        }
        let left = PREFIXES - chosen.len();
        draw.from(anywhere, left, |at| chosen.insert(at, true).is_none());
        Self { chosen }
    }

    /// They, in order.
    pub(crate) fn chosen(&self) -> impl Iterator<Item = Cut> {
        self.chosen.iter().map(|(at, unfinished)| Cut { at: *at, unfinished: *unfinished })
    }
}

/// For each byte whether a text cut before it is unfinished, as far as acorn can tell.
fn unfinished(record: &Record, text: &str) -> Vec<bool> {
    // How many spans begin and end at each byte.
    let mut turns = vec![(0_i32, 0_i32); text.len() + 2];
    for span in record.unfinished.iter().filter(|span| span.start <= span.end) {
        turns[span.start].0 += 1;
        turns[span.end + 1].0 -= 1;
    }
    for span in record.uncut.iter().filter(|span| span.start <= span.end) {
        turns[span.start].1 += 1;
        turns[span.end + 1].1 -= 1;
    }
    let (mut open, mut uncut) = (0, 0);
    let place = |at: usize| {
        open += turns[at].0;
        uncut += turns[at].1;
        open > 0 && uncut == 0 && text.is_char_boundary(at)
    };
    (0..=text.len()).map(place).collect()
}

/// Numbers drawn with a fixed seed (a linear congruence; its high bits).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end.max(1)
    }

    /// Draws from a pool until `count` were new or the pool is empty.
    fn from(&mut self, mut pool: Vec<usize>, count: usize, mut is_new: impl FnMut(usize) -> bool) {
        let mut taken = 0;
        while taken < count && !pool.is_empty() {
            let at = pool.swap_remove(self.below(pool.len()));
            taken += usize::from(is_new(at));
        }
    }
}
