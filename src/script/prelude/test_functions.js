//! What test files of the classic shell use beside `assert`.
(() => {
  const FIRST_PORT = 20000;
  let data = {};
  let ports = 0;
  let drawn = 0;

  const shellPrintHelper = value => {
    if (value === undefined) return;
    if (value !== null && typeof value === "object" && typeof value.shellPrint === "function") {
      const text = value.shellPrint();
      if (typeof text === "string") print(text);
    } else if (value !== null && typeof value === "object") {
      printjson(value);
    } else {
      print(value);
    }
  };

  const allocatePort = () => {
    const first = Number(data.minPort ?? FIRST_PORT);
    const most = Number(data.maxPort ?? Infinity);
    if (first + ports >= most) throw new Error("Exceeded maximum port range in allocatePorts()");
    return first + ports++;
  };

  const inOrder = document => Object.fromEntries(Object.entries(document).sort(([left], [right]) => left < right ? -1 : 1));

  return {
    TestData(value) {
      if (value !== undefined) data = value;
      return data;
    },

    _rand() {
      // The sine of a count, far behind its point: the same numbers for the same seed.
      const whole = Math.sin(++drawn) * 10000;
      return whole - Math.floor(whole);
    },
    _srand(seed) {
      drawn = seed === undefined ? Date.now() % 1000000 : Number(seed);
      return drawn;
    },

    allocatePort,
    allocatePorts(count) { return Array.from({ length: count }, () => allocatePort()); },
    resetAllocatedPorts() { ports = 0; },

    bsonObjToArray(document) { return Object.values(document); },
    bsonUnorderedFieldsCompare(left, right) {
      const [one, other] = [inOrder(left), inOrder(right)];
      const names = [Object.keys(one).join("\0"), Object.keys(other).join("\0")];
      return names[0] === names[1] ? bsonWoCompare(one, other) : names[0] < names[1] ? -1 : 1;
    },

    chatty(text) { if (!data.quiet) shell.print(String(text)); },

    indentStr(indent, text) {
      return String(text).split("\n").map(line => " ".repeat(indent) + line).join("\n");
    },

    isNetworkError(error) {
      return /network error|connection|socket/i.test(String(error && (error.message ?? error)));
    },

    jsTestName() { return data.testName ?? __scriptName() ?? "__unknown_name__"; },
    jsTestOptions() { return data; },
    setJsTestOption(name, value) { data[name] = value; },

    retryOnNetworkError(f, times = 1, millis = 1000) {
      for (;;) {
        try {
          return f();
        } catch (error) {
          if (!isNetworkError(error) || times-- <= 0) throw error;
          sleep(millis);
        }
      }
    },

    shellPrintHelper,

    timestampCmp(left, right) {
      return left.t !== right.t ? Math.sign(left.t - right.t) : Math.sign(left.i - right.i);
    },

    tojsonObject(value, indent = "", nolint) { return tojson(value, indent, nolint); },
  };
})()
