//! What the classic shell adds to `Date`.
({
  timeFunc(f, times = 1) {
    const start = Date.now();
    for (let done = 0; done < times; done++) f();
    return Date.now() - start;
  },
})
