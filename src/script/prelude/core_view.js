//! What any value is and holds, for storing and showing it.
(() => {
  "use strict";
  const {
    Array, ArrayBuffer, Boolean, Date, Error, Function, Map, Number, Object, Promise, RegExp, Set, String, Symbol,
    Uint8Array,
  } = shell.globals;
  const { unknown } = shell;
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { ownKeys } = Reflect;
  const toSource = Function.prototype.toString;
  const mapForEach = Map.prototype.forEach;
  const setForEach = Set.prototype.forEach;
  const toStringTag = Object.prototype.toString;
  const builtIns = new Set([
    Object, Array, Date, RegExp, Error, Map, Set, Promise, Number, String, Boolean, Function,
  ].map(global => global.prototype.toString));

  return {
    // What an object is at heart, whatever its prototype says.
    kind(object) {
      if (ArrayBuffer.isView(object) || object instanceof ArrayBuffer) return "Bytes";
      try { Date.prototype.getTime.call(object); return "Date"; } catch { }
      try { Map.prototype.has.call(object); return "Map"; } catch { }
      try { Set.prototype.has.call(object); return "Set"; } catch { }
      return toStringTag.call(object).slice(8, -1);
    },

    // The bytes of a buffer or a view of one, as a string of characters below 256.
    bytes(buffer) {
      const bytes = buffer instanceof ArrayBuffer
        ? new Uint8Array(buffer)
        : new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
      let text = "";
      for (let at = 0; at < bytes.length; at += 8192) {
        text += String.fromCharCode.apply(null, bytes.subarray(at, at + 8192));
      }
      return text;
    },

    // A buffer or a view of one for showing: its class with its length, and its elements; or what it is in one text.
    elementsOf(bytes) {
      const name = shell.className(bytes) ?? "Uint8Array";
      if (bytes instanceof ArrayBuffer || bytes instanceof DataView) {
        const view = bytes instanceof DataView ? bytes : new Uint8Array(bytes);
        const whole = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
        const digits = Array.from(whole.subarray(0, 50), byte => byte.toString(16).padStart(2, "0"));
        const rest = whole.length - digits.length;
        const more = rest > 0 ? ` ... ${rest} more byte${rest > 1 ? "s" : ""}` : "";
        return [`${name} { [Uint8Contents]: <${digits.join(" ")}${more}>, byteLength: ${whole.length} }`, undefined];
      }
      return [`${name}(${bytes.length})`, Array.from(bytes)];
    },

    // What a method under Node's symbol says that shows objects of a class: nothing, or one value.
    inspection(object) {
      const inspect = object[Symbol.for("nodejs.util.inspect.custom")];
      if (typeof inspect !== "function") return [];
      return [inspect.call(object, 2, {}, value => shell.node().shown(value))];
    },

    // A method that an object has by the user's making, not by its nature.
    method(object, name) {
      const method = object[name];
      if (typeof method !== "function" || builtIns.has(method)) return undefined;
      if (typeof object[Symbol.for("nodejs.util.inspect.custom")] === "function") return undefined;
      return method;
    },

    // The fields of an object, three entries each: name, whether it has a getter (1) or a setter (2), value.
    fields(object, inherited) {
      const fields = [];
      const add = (owner, name) => {
        const field = getOwnPropertyDescriptor(owner, name);
        if (!field || !field.enumerable) return;
        const accessor = (field.get ? 1 : 0) | (field.set ? 2 : 0);
        fields.push(name, accessor, field.value);
      };
      for (const name of ownKeys(object)) add(object, name);
      if (inherited) {
        for (let above = getPrototypeOf(object); above; above = getPrototypeOf(above)) {
          if (above === Object.prototype || above === unknown) break;
          for (const name of Object.keys(above)) {
            if (!Object.hasOwn(object, name)) add(above, name);
          }
        }
      }
      return fields;
    },

    // What an inspector says of a function.
    describe(f) {
      const name = getOwnPropertyDescriptor(f, "name");
      const text = name && typeof name.value === "string" ? name.value : "";
      return [toStringTag.call(f).slice(8, -1), text, toSource.call(f)];
    },

    // The name of an object's class; null for a plain object.
    className(object) {
      for (let above = object; above; above = getPrototypeOf(above)) {
        const found = getOwnPropertyDescriptor(above, "constructor");
        if (!found || typeof found.value !== "function") continue;
        const name = getOwnPropertyDescriptor(found.value, "name");
        if (name && typeof name.value === "string" && name.value !== "") {
          return name.value === "Object" && above === Object.prototype ? null : name.value;
        }
      }
      return null;
    },

    pairs(map) {
      const pairs = [];
      mapForEach.call(map, (value, key) => { pairs.push(key, value); });
      return pairs;
    },

    elements(set) {
      const elements = [];
      setForEach.call(set, element => { elements.push(element); });
      return elements;
    },

    fromMap(map) {
      const object = {};
      for (const [name, value] of map) {
        defineProperty(object, String(name), { value, writable: true, configurable: true, enumerable: true });
      }
      return object;
    },
  };
})()
