//! Modules: those of Node, by name, and files by the rules of CommonJS; each is made once.
(() => {
  "use strict";
  const { Array, Error, JSON, Map, Object, Set, TypeError } = shell.globals;
  const { defineProperty, getOwnPropertyDescriptor } = Object;

  // Names that scripts use and the module that each is, where it has not a file of its own.
  const PARTS = {
    "assert/strict": () => builtin("assert").strict,
    "fs/promises": () => builtin("fs").promises,
    "path/posix": () => builtin("path").posix,
    "util/types": () => builtin("util").types,
    "timers/promises": () => builtin("timers").promises,
    module: () => commonjs.Module,
    console: () => globalThis.console,
    perf_hooks: () => ({ performance: globalThis.performance }),
  };
  const NAMES = [
    "assert", "assert/strict", "buffer", "console", "crypto", "events", "fs", "fs/promises", "module", "os", "path",
    "path/posix", "perf_hooks", "process", "timers", "timers/promises", "url", "util", "util/types",
  ];
  const made = new Map();

  // A module of Node's; `web` holds globals that no module has.
  const builtin = name => {
    if (!made.has(name)) made.set(name, Object.hasOwn(PARTS, name) ? PARTS[name]() : shell.readModule(name));
    return made.get(name);
  };
  const known = name => {
    const plain = name.startsWith("node:") ? name.slice(5) : name;
    return NAMES.includes(plain) ? plain : undefined;
  };

  const node = (natives => () => natives ??= shell.node())();
  const dirname = path => builtin("path").dirname(path);
  const join = (...parts) => builtin("path").join(...parts);
  const text = path => builtin("fs").readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  const parsed = path => {
    try {
      return JSON.parse(text(path));
    } catch (error) {
      error.message = `${path}: ${error.message}`;
      throw error;
    }
  };

  const asFile = path => {
    if (node().kind(path) === "file") return path;
    return [".js", ".json", ".cjs", ".mjs"].map(ending => path + ending).find(file => node().kind(file) === "file");
  };
  // What a package gives under `.` or `./part`: a path, or conditions each with one.
  const exported = (exports, part, conditions) => {
    const chosen = value => {
      if (typeof value === "string") return value;
      if (Array.isArray(value)) return value.map(chosen).find(Boolean);
      if (value === null || typeof value !== "object") return undefined;
      const condition = Object.keys(value).find(name => name === "default" || conditions.includes(name));
      return condition === undefined ? undefined : chosen(value[condition]);
    };
    if (typeof exports === "string" || Array.isArray(exports)) return part === "." ? chosen(exports) : undefined;
    const parts = Object.keys(exports).some(name => name.startsWith("."));
    return parts ? chosen(exports[part]) : part === "." ? chosen(exports) : undefined;
  };
  const asFolder = (path, conditions) => {
    if (node().kind(path) !== "directory") return undefined;
    const description = join(path, "package.json");
    if (node().kind(description) === "file") {
      const { exports, main } = parsed(description);
      const own = exports === undefined ? main : exported(exports, ".", conditions);
      if (typeof own === "string") {
        const file = join(path, own);
        const found = asFile(file) ?? asFile(join(file, "index"));
        if (found) return found;
      }
    }
    return asFile(join(path, "index"));
  };
  const inPackages = (name, folder, conditions) => {
    const [, own, part] = /^((?:@[^/]+\/)?[^/]+)(?:\/(.*))?$/.exec(name) ?? [];
    for (let above = folder; ; above = dirname(above)) {
      const root = join(above, "node_modules", own ?? "");
      if (own && node().kind(root) === "directory") {
        const description = join(root, "package.json");
        const exports = node().kind(description) === "file" ? parsed(description).exports : undefined;
        const given = part && exports !== undefined ? exported(exports, `./${part}`, conditions) : part;
        const path = join(root, given ?? part ?? "");
        const found = part ? asFile(path) ?? asFolder(path, conditions) : asFolder(path, conditions);
        if (found) return found;
      }
      if (above === dirname(above)) return undefined;
    }
  };

  // The file that a name means in a folder; `undefined` if there is none.
  const find = (name, folder, conditions = ["node", "require"]) => {
    const { isAbsolute, resolve } = builtin("path");
    if (!/^\.{1,2}(\/|$)/.test(name) && !isAbsolute(name)) return inPackages(name, folder, conditions);
    const path = resolve(folder, name);
    const found = name.endsWith("/") ? undefined : asFile(path);
    return found ?? asFolder(path, conditions);
  };

  // What was given instead of what was wanted, as Node says it.
  const received = value => {
    if (value === null || value === undefined) return String(value);
    if (typeof value === "function") return `function ${value.name}`;
    if (typeof value === "object") {
      const name = value.constructor?.name;
      return name ? `an instance of ${name}` : builtin("util").inspect(value, { depth: -1 });
    }
    let text = builtin("util").inspect(value, { colors: false });
    if (text.length > 28) text = `${text.slice(0, 25)}...`;
    return `type ${typeof value} (${text})`;
  };
  const wrong = (text, value) => {
    const error = new TypeError(`${text}. Received ${received(value)}`);
    error.code = "ERR_INVALID_ARG_TYPE";
    return error;
  };

  const missing = (name, from) => {
    const stack = from ? `\nRequire stack:\n- ${from}` : "";
    const plain = !/^[./]/.test(name);
    const hint = plain ? `. Of Node's modules tally has ${NAMES.join(", ")}` : "";
    const error = new Error(`Cannot find module '${name}'${hint}${stack}`);
    error.code = "MODULE_NOT_FOUND";
    error.requireStack = from ? [from] : [];
    return error;
  };

  const resolve = (name, folder, from) => {
    if (typeof name !== "string") throw wrong("The \"id\" argument must be of type string", name);
    const plain = known(name);
    if (plain !== undefined) return { builtin: plain };
    const found = find(name, folder);
    if (found === undefined) throw missing(name, from);
    return { path: node().realPath(found) };
  };

  class Module {
    constructor(id) {
      this.id = id;
      this.path = dirname(id);
      this.exports = {};
      this.filename = id;
      this.loaded = false;
      this.children = [];
      this.paths = [];
    }
  }
  const cache = Object.create(null);
  const load = path => {
    const known = cache[path];
    if (known) return known.exports;
    if (path.endsWith(".mjs")) {
      const error = new Error(`require() of ES Module ${path} is not supported. Instead use import() of it`);
      error.code = "ERR_REQUIRE_ESM";
      throw error;
    }
    const module = cache[path] = new Module(path);
    try {
      if (path.endsWith(".json")) {
        module.exports = parsed(path);
      } else {
        const run = node().compile(path);
        run.call(module.exports, module.exports, requireIn(() => path), module, path, module.path);
      }
      module.loaded = true;
    } catch (error) {
      delete cache[path];
      throw error;
    }
    return module.exports;
  };

  // The `require` of a file; `from` says which one it is, or none at the prompt.
  const requireIn = from => {
    const folder = file => file === undefined ? node().workingDirectory() : dirname(file);
    const require = name => {
      const file = from();
      const found = resolve(name, folder(file), file);
      return found.builtin === undefined ? load(found.path) : builtin(found.builtin);
    };
    require.resolve = name => {
      const file = from();
      const found = resolve(name, folder(file), file);
      return found.builtin === undefined ? found.path : name;
    };
    require.cache = cache;
    require.main = undefined;
    require.extensions = Object.create(null);
    return require;
  };
  const commonjs = {
    Module: Object.assign(function () {}, Module, {
      builtinModules: NAMES,
      createRequire(file) {
        const path = String(file).replace(/^file:\/\//, "");
        return requireIn(() => path);
      },
      isBuiltin: name => known(String(name)) !== undefined,
    }),
  };
  defineProperty(commonjs.Module, "name", { value: "Module" });
  commonjs.Module.Module = commonjs.Module;

  const required = new Set([
    "break", "case", "catch", "class", "const", "continue", "debugger", "default", "delete", "do", "else", "enum", "export",
    "extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return", "super",
    "switch", "this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "await", "let", "static", "yield",
  ]);

  return {
    builtin,
    wrong,
    requireIn,
    natives: node,
    Module: commonjs.Module,
    moduleNames: () => NAMES.join(", "),

    // Makes a global what it stands for, once somebody has asked for it.
    provide(name, value) {
      const found = getOwnPropertyDescriptor(globalThis, name);
      if (found && found.configurable && found.get) {
        defineProperty(globalThis, name, shell.hidden(value));
        shell.before.set(name, value);
      }
      return value;
    },

    // What `import` finds under a name that is no path: a module of Node's, a CommonJS file, or `file:` and an ES module.
    imported(name, folder) {
      const plain = known(name);
      if (plain !== undefined) return plain;
      const found = find(name, folder, ["node", "import"]);
      if (found === undefined) return undefined;
      const path = node().realPath(found);
      if (path.endsWith(".mjs")) return `file:${path}`;
      if (path.endsWith(".cjs") || path.endsWith(".json")) return path;
      for (let above = dirname(path); ; above = dirname(above)) {
        const description = join(above, "package.json");
        if (node().kind(description) === "file") return parsed(description).type === "module" ? `file:${path}` : path;
        if (above === dirname(above)) return path;
      }
    },

    // The module that `imported` named, and the names of its fields that can be exported.
    required: id => known(id) === undefined ? load(id) : builtin(known(id)),
    exported(module) {
      if (module === null || (typeof module !== "object" && typeof module !== "function")) return [];
      const names = Object.keys(module).filter(name => /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name));
      return names.filter(name => !required.has(name));
    },
  };
})()
