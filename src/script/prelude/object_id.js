//! `ObjectId`: its bytes as JavaScript has them.
({
  id() { return shell.builtin("buffer").Buffer.from(this.toHexString(), "hex"); },
})
