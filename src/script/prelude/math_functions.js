//! What the classic shell adds to `Math`.
({
  sigFig(number, digits = 2) {
    if (number === 0) return 0;
    const magnitude = Math.floor(Math.log10(Math.abs(number)));
    const factor = Math.pow(10, digits - 1 - magnitude);
    return Math.round(number * factor) / factor;
  },
})
