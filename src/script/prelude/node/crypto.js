//! `crypto`: digests, and bytes by chance.
(() => {
  "use strict";
  const { Array, Error, Math, Number, Object, String, TypeError, Uint8Array } = shell.globals;
  const natives = shell.natives();
  const { Buffer } = shell.builtin("buffer");
  const HASHES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512"];

  const bytes = (given, code) => {
    if (typeof given === "string") return Buffer.from(given, code);
    if (ArrayBuffer.isView(given)) return new Uint8Array(given.buffer, given.byteOffset, given.byteLength);
    if (given instanceof ArrayBuffer) return new Uint8Array(given);
    throw shell.wrong("The \"data\" argument must be of type string or an instance of Buffer, TypedArray, or DataView", given);
  };
  const algorithm = name => {
    const plain = String(name).toLowerCase().replace(/^(rsa-)?sha-?(\d)/, "sha$2");
    if (HASHES.includes(plain)) return plain;
    const error = new Error(`Digest method not supported: ${name}; there are ${HASHES.join(", ")}`);
    error.code = "ERR_CRYPTO_INVALID_DIGEST";
    throw error;
  };
  class Digest {
    #parts = [];
    #finish;
    constructor(finish) { this.#finish = finish; }
    update(given, code) {
      if (this.#parts === undefined) this.#over();
      this.#parts.push(Buffer.from(bytes(given, code)));
      return this;
    }
    digest(code) {
      if (this.#parts === undefined) this.#over();
      const made = Buffer.from(this.#finish(Buffer.concat(this.#parts)));
      this.#parts = undefined;
      return code === undefined || code === "buffer" ? made : made.toString(code);
    }
    #over() {
      const error = new Error("Digest already called");
      error.code = "ERR_CRYPTO_HASH_FINALIZED";
      throw error;
    }
  }
  class Hash extends Digest { }
  class Hmac extends Digest { }

  const randomUUID = () => {
    const made = natives.random(16);
    made[6] = made[6] & 0x0f | 0x40;
    made[8] = made[8] & 0x3f | 0x80;
    return natives.encode(made, "hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
  };
  const getRandomValues = view => {
    const drawn = natives.random(view.byteLength);
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).set(drawn);
    return view;
  };
  const randomBytes = (count, done) => {
    const MOST = 2 ** 31 - 1;
    if (!Number.isInteger(count) || count < 0 || count > MOST) {
      const error = new RangeError(`The value of "size" is out of range. It must be >= 0 && <= ${MOST}. Received ${shell.said(count)}`);
      error.code = "ERR_OUT_OF_RANGE";
      throw error;
    }
    const made = Buffer.from(natives.random(count));
    if (typeof done !== "function") return made;
    done(null, made);
    return undefined;
  };

  return {
    createHash(name) {
      const known = algorithm(name);
      return new Hash(whole => natives.digest(known, whole));
    },
    createHmac(name, key) {
      const [known, secret] = [algorithm(name), bytes(key)];
      return new Hmac(whole => natives.hmac(known, secret, whole));
    },
    getHashes: () => [...HASHES],
    getRandomValues,
    hash: (name, given, code = "hex") => new Hash(whole => natives.digest(algorithm(name), whole)).update(given).digest(code),
    randomBytes,
    randomFillSync: getRandomValues,
    randomInt(low, high) {
      if (high === undefined) [low, high] = [0, low];
      const range = high - low;
      if (!Number.isSafeInteger(low) || !Number.isSafeInteger(high) || range <= 0 || range >= 2 ** 48) {
        const error = new RangeError(`The value of "max" is out of range. It must be greater than the value of "min" (${low}). Received ${high}`);
        error.code = "ERR_OUT_OF_RANGE";
        throw error;
      }
      const limit = 2 ** 48 - 2 ** 48 % range;
      for (;;) {
        const drawn = natives.random(6).reduce((sum, byte) => sum * 256 + byte, 0);
        if (drawn < limit) return low + drawn % range;
      }
    },
    randomUUID,
    timingSafeEqual(left, right) {
      const [one, other] = [bytes(left), bytes(right)];
      if (one.length !== other.length) {
        const error = new RangeError("Input buffers must have the same byte length");
        error.code = "ERR_CRYPTO_TIMING_SAFE_EQUAL_LENGTH";
        throw error;
      }
      return one.reduce((sum, byte, at) => sum | byte ^ other[at], 0) === 0;
    },
    webcrypto: { getRandomValues, randomUUID },
  };
})()
