//! Change streams: what takes a function or answers with an iterator. Each waits for the next change, without an end.
({
  *[Symbol.iterator]() {
    while (this.hasNext()) yield this.next();
  },

  forEach(work) {
    while (this.hasNext()) {
      if (work(this.next()) === false) return;
    }
  },
})
