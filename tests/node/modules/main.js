const a = require("./lib/a"), again = require("./lib/a.js");
print(a.name, a === again, a.b.done, require("./data").x, require("./data.json") === require("./data"), require("./lib").isIndex);
print(require("pkg").v, require("pkg/sub/x").x, require("@s/p")());
print(require.resolve("./lib/a").endsWith("/lib/a.js"), __filename.endsWith("/main.js"), __dirname.endsWith("/modules"));
try { require("./nope") } catch (e) { print(e.code, e.message.split("\n")[0]) }
try { require("http") } catch (e) { print(e.code, e.message.split("\n")[0]) }
try { require("./bad") } catch (e) { print(e.name, e.message); }
try { require("./badjson") } catch (e) { print(e.name) }
print(require("./lib/this").same, typeof require("./lib/a").req, require("./shell").n);
print(require("util") === require("node:util"), require("fs").promises === require("fs/promises"));
require("./lib/throws")();
