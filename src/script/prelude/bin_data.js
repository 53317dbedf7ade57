//! `Binary`: its bytes as JavaScript has them.
(() => {
  const bytes = binary => shell.builtin("buffer").Buffer.from(binary.toString("base64"), "base64");
  return {
    buffer() { return bytes(this); },
    value() { return bytes(this); },
  };
})()
