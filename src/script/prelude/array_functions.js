//! What the classic shell adds to `Array`.
(() => {
  const must = array => {
    if (!Array.isArray(array)) throw new Error("The first argument must be an array");
    return array;
  };
  return {
    avg(array) {
      return must(array).length === 0 ? null : Array.sum(array) / array.length;
    },

    contains(array, value) {
      return must(array).some(element => element == value);
    },

    fetchRefs(array, collection) {
      return must(array)
        .filter(reference => collection === undefined || reference.getCollection() === collection)
        .map(reference => reference.fetch());
    },

    shuffle(array) {
      for (let at = array.length - 1; at > 0; at--) {
        const other = Math.floor(Math.random() * (at + 1));
        [array[at], array[other]] = [array[other], array[at]];
      }
      return array;
    },

    stdDev(array) {
      if (must(array).length === 0) return null;
      const mean = Array.avg(array);
      const squares = array.map(number => (number - mean) ** 2);
      return Math.sqrt(Array.sum(squares) / array.length);
    },

    // The sum of whatever `+` adds: numbers, or texts.
    sum(array) {
      return must(array).length === 0 ? null : array.reduce((sum, value) => sum + value);
    },

    tojson(array, indent, nolint) { return shell.tojson(must(array), indent, nolint); },

    unique(array) {
      const seen = [];
      for (const value of must(array)) if (!seen.some(known => friendlyEqual(known, value))) seen.push(value);
      return seen;
    },
  };
})()
