//! `Buffer`: bytes, as Node has them.
(() => {
  "use strict";
  const { Array, ArrayBuffer, Error, Math, Number, Object, Reflect, String, Symbol, TypeError, Uint8Array } = shell.globals;
  const natives = shell.natives();

  const ENCODINGS = {
    utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1", binary: "latin1",
    ascii: "ascii", ucs2: "utf16le", "ucs-2": "utf16le", utf16le: "utf16le", "utf-16le": "utf16le",
  };
  const encoding = name => {
    const known = name === undefined || name === null ? "utf8" : ENCODINGS[String(name).toLowerCase()];
    if (known !== undefined) return known;
    const error = new TypeError(`Unknown encoding: ${name}`);
    error.code = "ERR_UNKNOWN_ENCODING";
    throw error;
  };
  const wrong = value => {
    return shell.wrong("The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array or an Array-like Object", value);
  };

  function Buffer(value, ...given) {
    if (typeof value === "string") return Buffer.from(value, ...given);
    if (new.target === undefined && typeof value !== "number") return Buffer.from(value, ...given);
    return Reflect.construct(Uint8Array, [value, ...given], new.target ?? Buffer);
  }
  Object.setPrototypeOf(Buffer, Uint8Array);
  Buffer.prototype = Object.create(Uint8Array.prototype, { constructor: shell.hidden(Buffer) });
  const own = bytes => Object.setPrototypeOf(bytes, Buffer.prototype);
  const view = bytes => bytes instanceof Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

  const statics = {
    poolSize: 8192,
    alloc(size, fill, code) {
      const made = own(new Uint8Array(size));
      return fill === undefined || fill === 0 ? made : made.fill(fill, 0, size, code);
    },
    allocUnsafe: size => own(new Uint8Array(size)),
    allocUnsafeSlow: size => own(new Uint8Array(size)),
    byteLength(value, code) {
      return typeof value === "string" ? natives.decode(value, encoding(code)).length : value.byteLength;
    },
    compare(left, right) {
      const [one, other] = [view(left), view(right)];
      const common = Math.min(one.length, other.length);
      for (let at = 0; at < common; at++) if (one[at] !== other[at]) return one[at] < other[at] ? -1 : 1;
      return Math.sign(one.length - other.length);
    },
    concat(list, length) {
      const whole = length ?? list.reduce((sum, one) => sum + one.length, 0);
      const made = Buffer.alloc(whole);
      let at = 0;
      for (const one of list) {
        if (at >= whole) break;
        made.set(one.subarray(0, whole - at), at);
        at += one.length;
      }
      return made;
    },
    from(value, code, length) {
      if (typeof value === "string") return own(natives.decode(value, encoding(code)));
      if (value instanceof ArrayBuffer) return own(new Uint8Array(value, code, length));
      if (value === null || typeof value !== "object") throw wrong(value);
      if (ArrayBuffer.isView(value) || Array.isArray(value)) return own(new Uint8Array(value));
      if (value.type === "Buffer" && Array.isArray(value.data)) return own(new Uint8Array(value.data));
      if (value instanceof String) return Buffer.from(String(value), code);
      if (typeof value.length === "number") return own(Uint8Array.from(value));
      throw wrong(value);
    },
    isBuffer: value => value instanceof Buffer,
    isEncoding: name => typeof name === "string" && name.toLowerCase() in ENCODINGS,
    of: (...bytes) => own(Uint8Array.of(...bytes)),
  };
  for (const [name, value] of Object.entries(statics)) Object.defineProperty(Buffer, name, shell.hidden(value));

  const span = (bytes, start = 0, end = bytes.length) => bytes.subarray(Math.max(0, start), Math.max(0, Math.min(end, bytes.length)));
  const sought = (bytes, value, code) => {
    if (typeof value === "number") return new Uint8Array([value]);
    return typeof value === "string" ? natives.decode(value, encoding(code)) : view(value);
  };
  const found = (bytes, wanted, from, step) => {
    for (let at = from; at >= 0 && at + wanted.length <= bytes.length; at += step) {
      let same = 0;
      while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  };
  const data = bytes => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const outside = (offset, bytes, size) => {
    if (Number.isInteger(offset) && offset >= 0 && offset + size <= bytes.length) return;
    const error = new RangeError(`The value of "offset" is out of range. It must be >= 0 and <= ${bytes.length - size}. Received ${offset}`);
    error.code = "ERR_OUT_OF_RANGE";
    throw error;
  };

  const methods = {
    compare(other) { return Buffer.compare(this, other); },
    copy(target, at = 0, start = 0, end = this.length) {
      const part = span(this, start, end).subarray(0, Math.max(0, target.length - at));
      target.set(part, at);
      return part.length;
    },
    equals(other) { return Buffer.compare(this, other) === 0; },
    fill(value, start = 0, end = this.length, code) {
      if (typeof start === "string") [start, end, code] = [0, this.length, start];
      const bytes = typeof value === "number" ? [value & 255] : sought(this, value, code);
      if (bytes.length === 0) return Uint8Array.prototype.fill.call(this, 0, start, end);
      for (let at = start; at < Math.min(end, this.length); at++) this[at] = bytes[(at - start) % bytes.length];
      return this;
    },
    includes(value, from, code) { return this.indexOf(value, from, code) >= 0; },
    indexOf(value, from = 0, code) {
      if (typeof from === "string") [from, code] = [0, from];
      return found(this, sought(this, value, code), from < 0 ? Math.max(0, this.length + from) : from, 1);
    },
    lastIndexOf(value, from = this.length, code) {
      if (typeof from === "string") [from, code] = [this.length, from];
      const wanted = sought(this, value, code);
      return found(this, wanted, Math.min(from < 0 ? this.length + from : from, this.length - wanted.length), -1);
    },
    slice(start, end) { return this.subarray(start, end); },
    subarray(start, end) {
      const whole = new Uint8Array(this.buffer, this.byteOffset, this.byteLength);
      return own(whole.subarray(start, end));
    },
    toJSON() { return { type: "Buffer", data: Array.from(this) }; },
    toString(code, start, end) { return natives.encode(view(span(this, start, end)), encoding(code)); },
    toLocaleString(code, start, end) { return this.toString(code, start, end); },
    write(text, at = 0, length, code) {
      if (typeof at === "string") [at, length, code] = [0, undefined, at];
      if (typeof length === "string") [length, code] = [undefined, length];
      const bytes = natives.decode(text, encoding(code)).subarray(0, Math.min(length ?? Infinity, this.length - at));
      this.set(bytes, at);
      return bytes.length;
    },
    swap16() { for (let at = 0; at + 1 < this.length; at += 2) [this[at], this[at + 1]] = [this[at + 1], this[at]]; return this; },
    [Symbol.for("nodejs.util.inspect.custom")]() {
      const MOST = 50;
      const digits = Array.from(this.subarray(0, MOST), byte => byte.toString(16).padStart(2, "0"));
      const rest = this.length - digits.length;
      return `<Buffer ${digits.join(" ")}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : ""}>`;
    },
  };
  // `readUInt16BE` and its family, over DataView's.
  const kinds = [
    ["Int8", "Int8", 1], ["UInt8", "Uint8", 1], ["Int16", "Int16", 2], ["UInt16", "Uint16", 2], ["Int32", "Int32", 4], ["UInt32", "Uint32", 4],
    ["Float", "Float32", 4], ["Double", "Float64", 8], ["BigInt64", "BigInt64", 8], ["BigUInt64", "BigUint64", 8],
  ];
  for (const [name, type, size] of kinds) {
    for (const order of size === 1 ? [""] : ["LE", "BE"]) {
      const read = function (offset = 0) {
        outside(offset, this, size);
        return data(this)[`get${type}`](offset, order === "LE");
      };
      const write = function (value, offset = 0) {
        outside(offset, this, size);
        data(this)[`set${type}`](offset, value, order === "LE");
        return offset + size;
      };
      methods[`read${name}${order}`] = read;
      methods[`write${name}${order}`] = write;
      if (name.includes("UInt")) {
        methods[`read${name.replace("UInt", "Uint")}${order}`] = read;
        methods[`write${name.replace("UInt", "Uint")}${order}`] = write;
      }
    }
  }
  for (const name of Reflect.ownKeys(methods)) Object.defineProperty(Buffer.prototype, name, shell.hidden(methods[name]));

  return {
    Buffer,
    atob: globalThis.atob,
    btoa: globalThis.btoa,
    constants: { MAX_LENGTH: 2 ** 31 - 1, MAX_STRING_LENGTH: 2 ** 29 - 24 },
    isUtf8: bytes => natives.isUtf8(view(bytes)),
    kMaxLength: 2 ** 31 - 1,
  };
})()
