//! What the classic shell adds to texts.
({
  ltrim() { return this.trimStart(); },
  pad(width, right, character = " ") {
    return right ? this.padEnd(width, character) : this.padStart(width, character);
  },
  rtrim() { return this.trimEnd(); },
})
