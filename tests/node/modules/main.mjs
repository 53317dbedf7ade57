import fs, { readFileSync, existsSync as there } from "node:fs";
import * as path from "path";
import assert from "assert";
import { inspect } from "util";
import data from "./data.json" with { type: "json" };
import { v } from "pkg";
import scoped from "@s/p";
import { createRequire } from "module";
const require2 = createRequire(import.meta.url);
print(typeof fs.readFileSync, readFileSync === fs.readFileSync, there(import.meta.filename), path.basename("/x/y.z"), inspect({a: 1}), data.x, v, scoped(), require2("./lib/a").name);
assert.strictEqual(1, 1);
const os = await import("os"); print(typeof os.hostname(), typeof os.default.EOL);
try { await import("http") } catch (e) { print(e.message) }
