//! What the classic shell adds to `RegExp`.
({
  escape(text) { return String(text).replace(/[-\/\\^$*+?.()|[\]{}]/g, "\\$&"); },
})
