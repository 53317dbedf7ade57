// The independent oracle: what acorn sees in each file that standard input names, one record a file, in bytes.
//
//   F path    a file that acorn can read
//   s a b     a string, r a regular expression, c a comment, t the text of a template
//   i a b     a text cut anywhere from a to b is unfinished: inside brackets, a template, a block comment,
//             or after an operator
//   x a b     no cut here: inside a string, a regular expression or a name
//   o a       a bracket, template or block comment opens just before a
//   e a       a statement of the top level ends at a
//   .         the end of the record
import { createInterface } from "node:readline";
import { readFileSync, writeSync } from "node:fs";

const { parse, tokTypes: tt } = await import(process.argv[2]);

/** Turns acorn's UTF-16 offsets into bytes. */
function bytes(text) {
  if (/^[\x00-\x7f]*$/.test(text)) return (at) => at;
  const map = new Uint32Array(text.length + 1);
  for (let at = 0, byte = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const pair = code >= 0xd800 && code < 0xdc00 && at + 1 < text.length;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : pair ? 4 : 3;
    if (pair) map[++at] = byte;
    map[at + 1] = byte;
  }
  return (at) => map[at];
}

function read(text, sourceType) {
  const tokens = [], comments = [];
  const options = { ecmaVersion: "latest", allowHashBang: true, allowReturnOutsideFunction: sourceType === "script" };
  const program = parse(text, { ...options, sourceType, onToken: tokens, onComment: comments });
  return { program, tokens, comments };
}

const OPEN = new Set([tt.parenL, tt.bracketL, tt.braceL, tt.dollarBraceL]);
const CLOSE = new Set([tt.parenR, tt.bracketR, tt.braceR]);

function record(path) {
  const text = readFileSync(path, "utf8");
  let tree;
  try {
    tree = read(text, path.endsWith(".mjs") ? "module" : "script");
  } catch {
    try {
      tree = read(text, "module");
    } catch {
      return "";
    }
  }
  const at = bytes(text);
  const lines = [`F ${path}`];
  const say = (kind, from, to) => lines.push(`${kind} ${at(from)} ${at(to)}`);
  for (const { type, start, end } of tree.comments) {
    const block = type === "Block" && text.startsWith("/*", start);
    if (!text.startsWith("#!", start)) say("c", start, end);
    if (block) {
      say("i", start + 2, end - 1);
      lines.push(`o ${at(start + 2)}`);
    }
  }
  const open = [];
  tree.tokens.forEach((token, index) => {
    const { type, start, end } = token;
    const next = tree.tokens[index + 1];
    if (OPEN.has(type)) {
      open.push(end);
      lines.push(`o ${at(end)}`);
    } else if (CLOSE.has(type)) {
      say("i", open.pop(), start);
    } else if (type === tt.backQuote) {
      if (open.at(-1) < 0) {
        say("i", -open.pop(), start);
      } else {
        open.push(-end);
        lines.push(`o ${at(end)}`);
      }
    } else if (type === tt.string) {
      say("s", start, end);
      say("x", start + 1, end - 1);
    } else if (type === tt.regexp) {
      say("r", start, end);
      say("x", start + 1, end - 1);
    } else if (type === tt.name || type === tt.privateId || type.keyword || type === tt.num) {
      say("x", start + 1, end - 1);
    }
    const dangling =
      (type.binop !== null && type.binop !== undefined && !type.keyword) || type.isAssign || type === tt.arrow ||
      type === tt.dot || type === tt.questionDot || type === tt.ellipsis || type === tt.question ||
      (type.prefix && !type.postfix && !type.keyword);
    if (dangling && next && next.start < text.length) say("i", end, next.start);
    // `yield* x`, `export * from`, `import * as`, methods `*a() {}` and fields `a = 1` hold no operator, but all of
    // them are unfinished there too.
  });
  for (const statement of tree.program.body) lines.push(`e ${at(statement.end)}`);
  lines.push(".");
  return lines.join("\n") + "\n";
}

for await (const path of createInterface({ input: process.stdin })) {
  const data = Buffer.from(record(path));
  for (let sent = 0; sent < data.length; ) {
    try {
      sent += writeSync(1, data, sent);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}
