const a = require("./a"); exports.done = a.early === 1 && a.name === undefined;
