exports.early = 1; const b = require("./b"); exports.b = b; exports.name = "a"; exports.req = require;
