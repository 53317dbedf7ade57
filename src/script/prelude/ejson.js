//! `EJSON`: what takes functions or walks objects.
({
  deserialize(object, options) { return EJSON.parse(JSON.stringify(object), options); },

  stringify(value, replacer, space, options) {
    const isOptions = given => typeof given === "object" && given !== null && !Array.isArray(given);
    if (isOptions(space)) [space, options] = [undefined, space];
    if (isOptions(replacer)) [replacer, space, options] = [undefined, undefined, replacer];
    if (typeof replacer === "function" || Array.isArray(replacer)) {
      return JSON.stringify(EJSON.serialize(value, options), replacer, space);
    }
    if (typeof space === "number") space = " ".repeat(Math.max(0, Math.min(10, space)));
    return EJSON.__text(value, options, typeof space === "string" ? space.slice(0, 10) : "");
  },
})
