//! What scripts use of browsers' globals, as Node has them.
(() => {
  "use strict";
  const {
    Array, ArrayBuffer, Boolean, Date, Error, Map, Number, Object, RegExp, Set, String, TypeError, Uint8Array,
  } = shell.globals;
  const natives = shell.natives();

  const bytes = given => {
    if (given === undefined) return new Uint8Array();
    if (given instanceof ArrayBuffer) return new Uint8Array(given);
    if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
    throw new TypeError("The \"input\" argument must be an instance of ArrayBuffer or ArrayBufferView");
  };

  class TextEncoder {
    get encoding() { return "utf-8"; }
    encode(text = "") { return natives.decode(String(text), "utf8"); }
    encodeInto(text, target) {
      const encoded = this.encode(text);
      const written = Math.min(encoded.length, target.length);
      target.set(encoded.subarray(0, written));
      return { read: natives.encode(encoded.subarray(0, written), "utf8").length, written };
    }
  }

  const ENCODINGS = {
    "utf-8": "utf8", utf8: "utf8", "unicode-1-1-utf-8": "utf8", "utf-16": "utf16le", "utf-16le": "utf16le", latin1: "latin1",
    ascii: "latin1", "iso-8859-1": "latin1", "windows-1252": "latin1",
  };
  const SHOWN = { utf8: "utf-8", utf16le: "utf-16le", latin1: "windows-1252" };
  class TextDecoder {
    #encoding;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      this.#encoding = ENCODINGS[String(label).trim().toLowerCase()];
      if (this.#encoding === undefined) throw new RangeError(`The "${label}" encoding is not supported`);
      this.fatal = fatal;
      this.ignoreBOM = ignoreBOM;
    }
    get encoding() { return SHOWN[this.#encoding]; }
    decode(given) {
      const whole = bytes(given);
      if (this.fatal && this.#encoding === "utf8" && !natives.isUtf8(whole)) {
        const error = new TypeError("The encoded data was not valid for encoding utf-8");
        error.code = "ERR_ENCODING_INVALID_ENCODED_DATA";
        throw error;
      }
      const text = natives.encode(whole, this.#encoding);
      return this.ignoreBOM ? text : text.replace(/^\uFEFF/, "");
    }
  }

  // A copy of a value with all that it holds; what stands for itself, such as an ObjectId, is shared.
  const structuredClone = value => {
    const copies = new Map();
    const refuse = what => {
      throw new globalThis.DOMException(`${what} could not be cloned.`, "DataCloneError");
    };
    const copy = value => {
      if (typeof value === "function") return refuse(String(value));
      if (typeof value === "symbol") return refuse(String(value));
      if (value === null || typeof value !== "object") return value;
      if (copies.has(value)) return copies.get(value);
      const keep = made => {
        copies.set(value, made);
        return made;
      };
      const fields = made => {
        for (const name of Object.keys(value)) made[name] = copy(value[name]);
        return made;
      };
      if (Array.isArray(value)) {
        const made = keep([]);
        made.length = value.length;
        return fields(made);
      }
      switch (shell.kind(value)) {
        case "Date": return keep(new Date(Date.prototype.getTime.call(value)));
        case "RegExp": return keep(new RegExp(value.source, value.flags));
        case "Map": {
          const made = keep(new Map());
          for (const [name, held] of value) made.set(copy(name), copy(held));
          return made;
        }
        case "Set": {
          const made = keep(new Set());
          for (const held of value) made.add(copy(held));
          return made;
        }
        case "Bytes": {
          if (value instanceof ArrayBuffer) return keep(value.slice(0));
          const buffer = copy(value.buffer);
          if (value instanceof DataView) return keep(new DataView(buffer, value.byteOffset, value.byteLength));
          const Class = globalThis[Object.getPrototypeOf(value.constructor).name === "TypedArray" ? value.constructor.name : "Uint8Array"];
          return keep(new Class(buffer, value.byteOffset, value.length));
        }
        case "Error": {
          const Class = { RangeError, ReferenceError, SyntaxError, TypeError, URIError, EvalError }[value.name] ?? Error;
          const made = keep(new Class(value.message));
          made.stack = value.stack;
          if ("cause" in value) made.cause = copy(value.cause);
          return made;
        }
        case "Boolean": return keep(new Boolean(value.valueOf()));
        case "Number": return keep(new Number(value.valueOf()));
        case "String": return keep(new String(value.valueOf()));
      }
      if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) return refuse("#<Object>");
      // The shell's own values have no fields to copy.
      if (shell.isHeld(value)) return value;
      return fields(keep({}));
    };
    return copy(value);
  };

  return { TextEncoder, TextDecoder, structuredClone };
})()
