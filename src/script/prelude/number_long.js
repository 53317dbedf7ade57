//! `Long`: what is a value of JavaScript's own.
({
  toBigInt() { return BigInt(this.toString()); },
})
