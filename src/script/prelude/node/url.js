//! `URL` and `URLSearchParams`.
(() => {
  "use strict";
  const { Array, Object, String, Symbol, TypeError } = shell.globals;
  const natives = shell.natives();
  const inspected = Symbol.for("nodejs.util.inspect.custom");

  const encoded = text => encodeURIComponent(String(text)).replace(/%20/g, "+").replace(/[!'()~]/g, letter => {
    return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  });
  const decoded = text => {
    const plain = text.replaceAll("+", " ");
    try {
      return decodeURIComponent(plain);
    } catch {
      return plain;
    }
  };

  // What a change of the parameters changes, where they are a URL's.
  let told;
  class URLSearchParams {
    #pairs = [];
    #changed = () => { };
    constructor(given = "") {
      this.#changed = told ?? this.#changed;
      if (typeof given === "string") {
        for (const part of given.replace(/^\?/, "").split("&")) {
          if (part === "") continue;
          const at = part.indexOf("=");
          this.#pairs.push(at < 0 ? [decoded(part), ""] : [decoded(part.slice(0, at)), decoded(part.slice(at + 1))]);
        }
      } else if (given && typeof given[Symbol.iterator] === "function") {
        for (const [name, value] of given) this.#pairs.push([String(name), String(value)]);
      } else if (given) {
        for (const name of Object.keys(given)) this.#pairs.push([name, String(given[name])]);
      }
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([one]) => one !== String(name));
      this.#changed();
    }
    entries() { return this.#pairs.map(pair => [...pair]).values(); }
    forEach(run, self) { for (const [name, value] of this.#pairs) run.call(self, value, name, this); }
    get(name) { return this.#pairs.find(([one]) => one === String(name))?.[1] ?? null; }
    getAll(name) { return this.#pairs.filter(([one]) => one === String(name)).map(([, value]) => value); }
    has(name) { return this.#pairs.some(([one]) => one === String(name)); }
    keys() { return this.#pairs.map(([name]) => name).values(); }
    set(name, value) {
      const first = this.#pairs.find(([one]) => one === String(name));
      if (first === undefined) return this.append(name, value);
      first[1] = String(value);
      this.#pairs = this.#pairs.filter(pair => pair === first || pair[0] !== first[0]);
      this.#changed();
    }
    sort() {
      this.#pairs.sort(([one], [other]) => one < other ? -1 : one > other ? 1 : 0);
      this.#changed();
    }
    get size() { return this.#pairs.length; }
    toString() { return this.#pairs.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&"); }
    values() { return this.#pairs.map(([, value]) => value).values(); }
    [Symbol.iterator]() { return this.entries(); }
    [inspected]() {
      const { inspect } = shell.builtin("util");
      const pairs = this.#pairs.map(([name, value]) => `${inspect(name)} => ${inspect(value)}`);
      return pairs.length === 0 ? "URLSearchParams {}" : `URLSearchParams { ${pairs.join(", ")} }`;
    }
  }

  class URL {
    #parts;
    #parameters;
    constructor(address, base) {
      this.#parts = natives.url(String(address), base === undefined ? undefined : String(base));
      if (this.#parts === undefined) {
        const error = new TypeError("Invalid URL");
        error.code = "ERR_INVALID_URL";
        error.input = String(address);
        throw error;
      }
    }
    static canParse(address, base) {
      return natives.url(String(address), base === undefined ? undefined : String(base)) !== undefined;
    }
    static parse(address, base) { return URL.canParse(address, base) ? new URL(address, base) : null; }
    get searchParams() {
      if (this.#parameters === undefined) {
        told = () => { this.search = this.#parameters.toString(); };
        this.#parameters = new URLSearchParams(this.#parts.search);
        told = undefined;
      }
      return this.#parameters;
    }
    part(name) { return this.#parts[name]; }
    change(name, value) {
      const changed = name === "href" ? natives.url(value) : natives.urlWith(this.#parts.href, name, value);
      if (changed === undefined) throw new TypeError("Invalid URL");
      this.#parts = changed;
      if (this.#parameters !== undefined && this.#parameters.toString() !== changed.search.slice(1)) this.#parameters = undefined;
    }
    toString() { return this.#parts.href; }
    toJSON() { return this.#parts.href; }
    [inspected]() {
      const { inspect } = shell.builtin("util");
      const names = ["href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search"];
      const lines = names.map(name => `  ${name}: ${inspect(this[name])},\n`);
      return `URL {\n${lines.join("")}  searchParams: ${inspect(this.searchParams)},\n  hash: ${inspect(this.hash)}\n}`;
    }
  }
  const { part, change } = URL.prototype;
  delete URL.prototype.part;
  delete URL.prototype.change;
  const names = [
    "href", "origin", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash",
  ];
  for (const name of names) {
    Object.defineProperty(URL.prototype, name, {
      get() { return part.call(this, name); },
      set: name === "origin" ? undefined : function (value) { change.call(this, name, String(value)); },
      configurable: true,
      enumerable: true,
    });
  }

  return {
    URL,
    URLSearchParams,
    fileURLToPath(address) {
      const url = new URL(address);
      if (url.protocol === "file:") return decodeURIComponent(url.pathname);
      const error = new TypeError("The URL must be of scheme file");
      error.code = "ERR_INVALID_URL_SCHEME";
      throw error;
    },
    pathToFileURL(path) {
      const whole = shell.builtin("path").resolve(String(path));
      return new URL(`file://${encodeURI(whole).replace(/[?#]/g, encodeURIComponent)}`);
    },
    format: url => String(url),
    parse(address) {
      const { href, protocol, host, hostname, port, pathname, search, hash } = new URL(address);
      return { href, protocol, host, hostname, port: port || null, pathname, search: search || null, hash: hash || null };
    },
    resolve: (from, to) => new URL(to, from).href,
  };
})()
