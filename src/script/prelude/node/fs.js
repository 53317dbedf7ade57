//! `fs`: files and directories. Calls with a callback and those of `fs.promises` are done at once, too.
(() => {
  "use strict";
  const { Array, ArrayBuffer, Date, Error, Object, Promise, String, TypeError } = shell.globals;
  const natives = shell.natives();
  const { Buffer } = shell.builtin("buffer");
  const { join } = shell.builtin("path");
  const STDIN = "\u00000";

  const text = (path, name = "path") => {
    if (typeof path === "string") {
      if (!path.includes("\0")) return path;
      const error = new TypeError(`The argument '${name}' must be a string, Uint8Array, or URL without null bytes. Received ${JSON.stringify(path)}`);
      error.code = "ERR_INVALID_ARG_VALUE";
      throw error;
    }
    if (path instanceof globalThis.URL) return shell.builtin("url").fileURLToPath(path);
    if (path instanceof Buffer) return path.toString();
    throw shell.wrong(`The "${name}" argument must be of type string or an instance of Buffer or URL`, path);
  };
  const settings = given => typeof given === "string" ? { encoding: given } : given ?? {};
  const bytes = (given, code) => {
    if (typeof given === "string") return Buffer.from(given, code ?? "utf8");
    if (ArrayBuffer.isView(given)) return Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    if (given instanceof ArrayBuffer) return Buffer.from(given);
    throw shell.wrong("The \"data\" argument must be of type string or an instance of Buffer, TypedArray, or DataView", given);
  };

  // A kind of file and the questions about it.
  class Kind {
    #kind;
    constructor(kind) { this.#kind = kind; }
    isFile() { return this.#kind === "file"; }
    isDirectory() { return this.#kind === "directory"; }
    isSymbolicLink() { return this.#kind === "link"; }
    isFIFO() { return false; }
    isSocket() { return false; }
    isBlockDevice() { return false; }
    isCharacterDevice() { return this.#kind === "other"; }
  }
  class Stats extends Kind {
    constructor({ kind, size, readonly, atimeMs, mtimeMs, birthtimeMs }) {
      super(kind);
      const mode = { file: 0o100000, directory: 0o040000, link: 0o120000 }[kind] ?? 0;
      const allowed = (readonly ? 0o444 : 0o644) | (kind === "directory" ? 0o111 : 0);
      Object.assign(this, { mode: mode | allowed, size, atimeMs, mtimeMs, ctimeMs: mtimeMs, birthtimeMs });
      this.atime = new Date(atimeMs);
      this.mtime = new Date(mtimeMs);
      this.ctime = new Date(mtimeMs);
      this.birthtime = new Date(birthtimeMs);
    }
  }
  class Dirent extends Kind {
    constructor(name, kind, folder) {
      super(kind);
      this.name = name;
      this.path = folder;
      this.parentPath = folder;
    }
  }
  const maybe = (run, options) => {
    if (options?.throwIfNoEntry !== false) return run();
    try {
      return run();
    } catch (error) {
      if (error.code === "ENOENT") return undefined;
      throw error;
    }
  };
  const listed = (folder, options, above) => natives.readDirectory(folder).flatMap(([name, kind]) => {
    const own = above === "" ? name : `${above}/${name}`;
    const entry = options.withFileTypes ? new Dirent(name, kind, folder) : own;
    const inside = options.recursive && kind === "directory" ? listed(join(folder, name), options, own) : [];
    return [entry, ...inside];
  });
  const copied = (from, to) => {
    if (natives.kind(from) !== "directory") return natives.copyFile(from, to, false);
    natives.makeDirectory(to, true);
    for (const [name] of natives.readDirectory(from)) copied(join(from, name), join(to, name));
    return undefined;
  };

  const sync = {
    access(path) { natives.access(text(path)); },
    appendFile(path, given, options) {
      const { encoding, flag = "a" } = settings(options);
      natives.writeFile(text(path), bytes(given, encoding), flag);
    },
    chmod(path) { natives.stat(text(path), false); },
    copyFile(from, to, mode = 0) { natives.copyFile(text(from, "src"), text(to, "dest"), (mode & 1) !== 0); },
    cp(from, to, options) {
      if (natives.kind(text(from, "src")) !== "directory" || options?.recursive) return copied(text(from, "src"), text(to, "dest"));
      const error = new Error(`Recursive option not enabled, cannot copy a directory: ${from}`);
      error.code = "ERR_FS_EISDIR";
      throw error;
    },
    lstat(path, options) { return maybe(() => new Stats(natives.stat(text(path), true)), options); },
    mkdir(path, options) { return natives.makeDirectory(text(path), Boolean(options?.recursive)); },
    mkdtemp(prefix) {
      const path = text(prefix, "prefix") + natives.encode(natives.random(6), "base64url").replace(/[-_]/g, "x").slice(0, 6);
      natives.makeDirectory(path, false);
      return path;
    },
    readFile(path, options) {
      const { encoding } = settings(options);
      const read = Buffer.from(natives.readFile(path === 0 ? STDIN : text(path)).buffer);
      return encoding === undefined || encoding === null || encoding === "buffer" ? read : read.toString(encoding);
    },
    readdir(path, options) { return listed(text(path), settings(options), ""); },
    realpath: path => natives.realPath(text(path)),
    rename(from, to) { natives.rename(text(from, "oldPath"), text(to, "newPath")); },
    rm(path, options = {}) {
      try {
        natives.remove(text(path), "rm", Boolean(options.recursive));
      } catch (error) {
        if (!options.force || error.code !== "ENOENT") throw error;
      }
    },
    rmdir(path, options) { natives.remove(text(path), "rmdir", Boolean(options?.recursive)); },
    stat(path, options) { return maybe(() => new Stats(natives.stat(text(path), false)), options); },
    unlink(path) { natives.remove(text(path), "unlink", false); },
    writeFile(path, given, options) {
      const { encoding, flag = "w" } = settings(options);
      if (path === 1 || path === 2) natives.write(path, bytes(given, encoding).toString());
      else natives.writeFile(text(path), bytes(given, encoding), flag);
    },
  };
  Object.defineProperty(sync.realpath, "native", { value: sync.realpath });

  // A stream that writes each piece when it gets it.
  const createWriteStream = (path, options) => {
    const { encoding, flags = "w" } = settings(options);
    const stream = new (shell.builtin("events"))();
    sync.writeFile(path, "", { flag: flags });
    const write = (piece, code, done) => {
      if (typeof code === "function") [code, done] = [undefined, code];
      const given = bytes(piece, code ?? encoding);
      sync.appendFile(path, given);
      stream.bytesWritten += given.length;
      if (typeof done === "function") queueMicrotask(done);
      return true;
    };
    return Object.assign(stream, {
      path: text(path), bytesWritten: 0, writable: true, write,
      end(piece, code, done) {
        if (typeof piece === "function") [piece, done] = [undefined, piece];
        if (typeof code === "function") [code, done] = [undefined, code];
        if (piece !== undefined && piece !== null) write(piece, code);
        stream.writable = false;
        queueMicrotask(() => {
          stream.emit("finish");
          stream.emit("close");
          if (typeof done === "function") done();
        });
        return stream;
      },
    });
  };

  const fs = {
    constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 },
    Dirent,
    Stats,
    createWriteStream,
    existsSync(path) {
      try {
        return natives.kind(text(path)) !== "";
      } catch {
        return false;
      }
    },
    promises: { constants: { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1 } },
  };
  for (const [name, run] of Object.entries(sync)) {
    fs[`${name}Sync`] = run;
    fs.promises[name] = async (...given) => run(...given);
    fs[name] = (...given) => {
      const done = given.pop();
      if (typeof done !== "function") {
        throw shell.wrong("The \"cb\" argument must be of type function", done);
      }
      fs.promises[name](...given).then(value => queueMicrotask(() => done(null, value)), error => queueMicrotask(() => done(error)));
    };
  }
  fs.exists = (path, done) => queueMicrotask(() => done(fs.existsSync(path)));
  return fs;
})()
