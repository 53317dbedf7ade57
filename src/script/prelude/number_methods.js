//! What the classic shell adds to numbers.
({
  toPercentStr() { return (this * 100).toFixed(2) + "%"; },
  zeroPad(width) { return String(this).padStart(width, "0"); },
})
