//! What the classic shell adds to `Object`.
(() => {
  const isPlain = value => value !== null && typeof value === "object" && [Object.prototype, null].includes(Object.getPrototypeOf(value));
  const copy = value => {
    if (Array.isArray(value)) return value.map(copy);
    return isPlain(value) ? extend({}, value, true) : value;
  };
  const extend = (target, source, deep) => {
    for (const name in source) target[name] = deep ? copy(source[name]) : source[name];
    return target;
  };
  return {
    extend,
    keySet(object) { return Object.keys(object); },
    merge(target, source, deep) { return extend(extend({}, target, deep), source, deep); },
  };
})()
