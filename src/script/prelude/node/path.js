//! Paths as text, by POSIX rules.
(() => {
  "use strict";
  const { Object, TypeError } = shell.globals;

  const text = (value, name = "path") => {
    if (typeof value === "string") return value;
    throw shell.wrong(`The "${name}" argument must be of type string`, value);
  };

  // The parts of a path without `.` and `..`, as far as that goes by its text.
  const parts = (path, absolute) => {
    const kept = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== "..") kept.push(part);
      else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
      else if (!absolute) kept.push("..");
    }
    return kept.join("/");
  };

  const path = {
    sep: "/",
    delimiter: ":",

    basename(given, ending) {
      const name = text(given).replace(/\/+$/, "").split("/").at(-1);
      return ending !== undefined && name !== ending && name.endsWith(ending) ? name.slice(0, -ending.length) : name;
    },
    dirname(given) {
      const plain = text(given).replace(/(?!^)\/+$/, "");
      const at = plain.lastIndexOf("/");
      if (at < 0) return ".";
      return at === 0 ? "/" : plain.slice(0, at).replace(/(?!^)\/+$/, "");
    },
    extname(given) {
      const name = path.basename(given);
      const at = name.lastIndexOf(".");
      return at <= 0 || name === ".." ? "" : name.slice(at);
    },
    format(given) {
      const dir = given.dir || given.root;
      const ending = given.ext && !given.ext.startsWith(".") ? `.${given.ext}` : given.ext ?? "";
      const base = given.base || `${given.name ?? ""}${ending}`;
      if (!dir) return base;
      return dir === given.root ? `${dir}${base}` : `${dir}/${base}`;
    },
    isAbsolute: given => text(given).startsWith("/"),
    join(...given) {
      const whole = given.map(part => text(part)).filter(part => part !== "").join("/");
      return whole === "" ? "." : path.normalize(whole);
    },
    normalize(given) {
      if (text(given) === "") return ".";
      const absolute = given.startsWith("/");
      const kept = parts(given, absolute);
      if (kept === "") return absolute ? "/" : given.endsWith("/") ? "./" : ".";
      return (absolute ? "/" : "") + kept + (given.endsWith("/") ? "/" : "");
    },
    parse(given) {
      const root = text(given).startsWith("/") ? "/" : "";
      const base = path.basename(given);
      const ext = path.extname(given);
      const folder = path.dirname(given);
      const dir = folder === "." && !given.startsWith("./") && given !== "." ? "" : folder;
      return { root, dir, base, ext, name: ext === "" ? base : base.slice(0, -ext.length) };
    },
    relative(from, to) {
      const [here, there] = [path.resolve(from), path.resolve(to)].map(one => one.split("/").filter(Boolean));
      let common = 0;
      while (common < here.length && common < there.length && here[common] === there[common]) common++;
      return [...here.slice(common).map(() => ".."), ...there.slice(common)].join("/");
    },
    resolve(...given) {
      let whole = "";
      for (let at = given.length - 1; at >= 0 && !whole.startsWith("/"); at--) {
        if (text(given[at]) !== "") whole = whole === "" ? given[at] : `${given[at]}/${whole}`;
      }
      if (!whole.startsWith("/")) whole = `${shell.natives().workingDirectory()}/${whole}`;
      return `/${parts(whole, true)}`;
    },
    toNamespacedPath: given => given,
  };
  Object.defineProperty(path, "posix", { value: path, enumerable: true, configurable: true, writable: true });
  return path;
})()
