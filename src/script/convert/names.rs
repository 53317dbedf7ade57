//! Field names already turned from one side into the other.

/// How many are remembered.
const MANY: usize = 128;

/// Field names, `K`, with what each became, `V`. Documents of a batch have the same names in the same order, nearly
/// always.
pub(super) struct Names<K, V> {
    /// In the order they came in.
    known: Vec<(K, V)>,
    /// Where the next one is expected.
    next: usize,
}

impl<K, V: Clone> Names<K, V> {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { known: Vec::new(), next: 0 }
    }

    /// What the name became that `is` says is meant, if it is remembered.
    pub(super) fn get(&mut self, is: impl Fn(&K) -> bool) -> Option<V> {
        let at = match self.known.get(self.next) {
            Some((name, _)) if is(name) => self.next,
            _ => self.known.iter().position(|(name, _)| is(name))?,
        };
        self.next = if at + 1 == self.known.len() { 0 } else { at + 1 };
        Some(self.known[at].1.clone())
    }

    /// Remembers what a name became.
    pub(super) fn add(&mut self, name: K, became: V) {
        if self.known.len() == MANY {
            self.known.clear();
        }
        self.known.push((name, became));
        self.next = 0;
    }
}
