//! `assert.eq` and its family: each throws with the classic shell's words, and the message behind them.
(() => {
  const fail = (text, message, reply) => {
    if (typeof message === "function") message = message();
    doassert(message === undefined ? text : text + " : " + shell.said(message), reply);
  };
  const same = (left, right) => left == right || (left != null && right != null && friendlyEqual(left, right));
  const sorted = document => {
    if (Array.isArray(document)) return document.map(sorted);
    if (document === null || typeof document !== "object" || Object.getPrototypeOf(document) !== Object.prototype) {
      return document;
    }
    return Object.fromEntries(Object.keys(document).sort().map(name => [name, sorted(document[name])]));
  };
  const equalInAnyOrder = (left, right) => tojson(sorted(left)) === tojson(sorted(right));
  const missing = (left, right) => left.filter(value => !right.some(other => equalInAnyOrder(value, other)));
  const check = condition => typeof condition === "function" ? condition() : eval(condition);
  const order = (holds, words) => (left, right, message) => {
    if (!holds(left, right)) fail(left + " is not " + words + " " + right, message);
  };
  const attempt = (f, parameters) => {
    try {
      f.apply(null, parameters);
    } catch (error) {
      return { error };
    }
    return undefined;
  };
  // `throws(f, message)` and `throws(f, [arguments], message)`.
  const split = (parameters, message) =>
    Array.isArray(parameters) ? [parameters, message] : [[], message === undefined ? parameters : message];
  const until = (f, message, timeout, interval, ignoring) => {
    const start = Date.now();
    for (;;) {
      try {
        if (check(f)) return;
      } catch (error) {
        if (!ignoring) throw error;
      }
      if (Date.now() - start > timeout) fail("assert.soon failed: " + f, message);
      sleep(interval);
    }
  };
  const codesOf = codes => Array.isArray(codes) ? codes : [codes];
  const hasCode = (error, codes) => error != null && codesOf(codes).includes(error.code);
  // Of a reply and of the result of a write: the error that it tells of first.
  const firstError = reply => reply.writeError || (reply.writeErrors && reply.writeErrors[0]) || reply.writeConcernError || reply;
  // The answer to a write: one that was asked for already, or of a database that is asked now.
  const answerOf = reply => typeof reply.getLastErrorObj === "function" ? reply.getLastErrorObj() : reply;
  const again = (f, message, attempts, interval, ignoring) => {
    for (let done = 0; done < attempts; done++) {
      try {
        if (f()) return;
      } catch (error) {
        if (!ignoring) throw error;
      }
      sleep(interval);
    }
    fail("assert.retry failed", message);
  };
  const commandAlone = reply => reply instanceof Error ? true : !reply || reply.ok === 0 || reply.ok === false;
  const failedReply = reply => reply instanceof Error || !reply || reply.ok === 0 || reply.ok === false ||
    (Array.isArray(reply.writeErrors) && reply.writeErrors.length > 0) || reply.writeError !== undefined;
  const failedWrite = result => result instanceof Error || result.writeError !== undefined ||
    (Array.isArray(result.writeErrors) && result.writeErrors.length > 0);

  return {
    adminCommandWorkedAllowingNetworkError(connection, command) {
      const reply = connection.adminCommand(command);
      if (failedReply(reply)) fail("command failed: " + tojson(reply), undefined, reply);
      return reply;
    },

    automsg(code, message) { if (!eval(code)) fail("assert failed : " + code, message); },

    between(low, value, high, message, inclusive = true) {
      if (inclusive ? low <= value && value <= high : low < value && value < high) return;
      fail(value + " is not between " + low + " and " + high, message);
    },

    betweenEx(low, value, high, message) { assert.between(low, value, high, message, false); },
    betweenIn(low, value, high, message) { assert.between(low, value, high, message, true); },

    close(left, right, message, places = 4) {
      const scale = Math.max(Math.abs(left), Math.abs(right));
      if (left === right || Math.abs(left - right) <= scale * Math.pow(10, -places)) return;
      fail(left + " is not equal to " + right + " within " + places + " places", message);
    },

    closeWithinMS(left, right, message, millis = 1000) {
      if (Math.abs(left - right) <= millis) return;
      fail(left + " is not equal to " + right + " within " + millis + " millis", message);
    },

    commandFailed(reply, message) {
      if (!failedReply(reply)) fail("command worked when it should have failed: " + tojson(reply), message);
      return reply;
    },

    commandFailedWithCode(reply, code, message) {
      const codes = Array.isArray(code) ? code : [code];
      if (!failedReply(reply)) fail("command worked when it should have failed: " + tojson(reply), message);
      const first = reply.writeError || (reply.writeErrors && reply.writeErrors[0]) || reply;
      if (!codes.includes(first.code)) {
        fail("command did not fail with any of the following codes " + tojson(codes) + " " + tojson(reply), message);
      }
      return reply;
    },

    commandWorked(reply, message) {
      if (failedReply(reply)) fail("command failed: " + tojson(reply), message, reply);
      return reply;
    },

    commandWorkedIgnoringWriteConcernErrors(reply, message) {
      if (commandAlone(reply) || failedWrite(reply)) fail("command failed: " + tojson(reply), message, reply);
      return reply;
    },

    commandWorkedIgnoringWriteErrors(reply, message) {
      if (commandAlone(reply) || reply.writeConcernError) fail("command failed: " + tojson(reply), message, reply);
      return reply;
    },

    commandWorkedIgnoringWriteErrorsOrWriteConcernErrors(reply, message) {
      if (commandAlone(reply)) fail("command failed: " + tojson(reply), message, reply);
      return reply;
    },

    commandWorkedOrFailedWithCode(reply, codes, message) {
      if (failedReply(reply) && !hasCode(firstError(reply), codes)) {
        fail("command did not fail with any of the following codes " + tojson(codesOf(codes)) + " " + tojson(reply), message);
      }
      return reply;
    },

    containsPrefix(prefix, array, message) {
      if (array.some(text => typeof text === "string" && text.startsWith(prefix))) return;
      fail(tojson(prefix) + " was not a prefix in " + tojson(array), message);
    },

    contains(value, array, message) {
      if (!array.some(element => same(value, element))) fail(tojson(value) + " was not in " + tojson(array), message);
    },

    docEq(left, right, message) {
      if (!equalInAnyOrder(left, right)) {
        fail("expected document " + tojson(left) + " and actual document " + tojson(right) + " are not equal", message);
      }
    },

    doesNotThrow(f, parameters, message) {
      const [given, text] = split(parameters, message);
      const thrown = attempt(f, given);
      if (thrown) fail("threw unexpected exception: " + thrown.error, text);
    },

    eq(left, right, message) {
      if (!same(left, right)) fail("[" + tojson(left) + "] != [" + tojson(right) + "] are not equal", message);
    },

    fuzzySameMembers(left, right, fields, message) {
      const without = document => {
        const rest = { ...document };
        for (const name of fields) delete rest[name];
        return rest;
      };
      assert.sameMembers(left.map(without), right.map(without), message);
    },

    gleError(reply, message) {
      const answer = answerOf(reply);
      if (!answer.err) fail("no error: " + tojson(answer), message);
    },

    gleErrorCode(reply, code, message) {
      const answer = answerOf(reply);
      if (!answer.err || answer.code !== code) fail("error code " + code + " expected: " + tojson(answer), message);
    },

    gleErrorRegex(reply, pattern, message) {
      const answer = answerOf(reply);
      if (!answer.err || !pattern.test(answer.err)) fail("error " + pattern + " expected: " + tojson(answer), message);
    },

    gleOK(reply, message) {
      const answer = answerOf(reply);
      if (answer.errmsg) fail("write failed: " + tojson(answer), message);
    },

    gleSuccess(reply, message) {
      const answer = answerOf(reply);
      if (answer.err) fail("write failed: " + tojson(answer), message);
    },

    gt: order((left, right) => left > right, "greater than"),
    gte: order((left, right) => left >= right, "greater than or eq"),

    hasFields(document, fields, message) {
      const absent = fields.filter(name => !(name in document));
      if (absent.length > 0) fail("Not all of the values from " + tojson(fields) + " were in " + tojson(document), message);
    },

    includes(text, part, message) {
      if (!String(text).includes(part)) fail("string [" + text + "] does not include [" + part + "]", message);
    },

    isNull(value, message) { assert.isnull(value, message); },

    isnull(value, message) {
      if (value !== null && value !== undefined) fail("supposed to be null (" + tojson(value) + ")", message);
    },

    lt: order((left, right) => left < right, "less than"),
    lte: order((left, right) => left <= right, "less than or eq"),

    neq(left, right, message) {
      if (same(left, right)) fail("[" + tojson(left) + "] != [" + tojson(right) + "] are equal", message);
    },

    noAPIParams(options) {
      for (const name of ["apiVersion", "apiStrict", "apiDeprecationErrors"]) {
        if (options && name in options) fail("options should not hold " + name + ": " + tojson(options));
      }
    },

    retry(f, message, attempts = 10, interval = 500) { again(f, message, attempts, interval, false); },
    retryNoExcept(f, message, attempts = 10, interval = 500) { again(f, message, attempts, interval, true); },

    sameMembers(left, right, message) {
      if (left.length !== right.length || missing(left, right).length + missing(right, left).length > 0) {
        fail("[" + tojson(left) + "] != [" + tojson(right) + "]", message);
      }
    },

    setEq(left, right, message) {
      if (missing([...left], [...right]).length + missing([...right], [...left]).length > 0) {
        fail("expected set " + tojson([...left]) + " and actual set " + tojson([...right]) + " are not equal", message);
      }
    },

    soon(f, message, timeout = 90000, interval = 200) { until(f, message, timeout, interval, false); },
    soonNoExcept(f, message, timeout = 90000, interval = 200) { until(f, message, timeout, interval, true); },

    strictEq(left, right, message) {
      if (left !== right) fail("[" + tojson(left) + "] !== [" + tojson(right) + "] are not strictly equal", message);
    },

    throwsWithCode(f, codes, parameters, message) {
      const error = assert.throws(f, parameters, message);
      if (!hasCode(error, codes)) {
        const text = "[" + tojson(error.code) + "] was not in " + tojson(codesOf(codes));
        fail(text, split(parameters, message)[1]);
      }
      return error;
    },

    throws(f, parameters, message) {
      const [given, text] = split(parameters, message);
      const thrown = attempt(f, given);
      if (!thrown) fail("did not throw exception", text);
      return thrown.error;
    },

    time(f, message, timeout = 30000) {
      const start = Date.now();
      const result = check(f);
      const taken = Date.now() - start;
      if (taken > timeout) fail("assert.time failed timeout " + timeout + "ms took " + taken + "ms : " + f, message);
      return result;
    },

    writeError(result, message) {
      if (!failedWrite(result)) fail("no write error: " + tojson(result), message);
      return result;
    },

    writeErrorWithCode(result, codes, message) {
      if (!failedWrite(result)) fail("no write error: " + tojson(result), message);
      if (!hasCode(firstError(result), codes)) {
        fail("write did not fail with any of the following codes " + tojson(codesOf(codes)) + " " + tojson(result), message);
      }
      return result;
    },

    writeOK(result, message) {
      if (failedWrite(result)) fail("write failed: " + tojson(result), message);
      return result;
    },
  };
})()
