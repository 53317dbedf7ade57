exports.same = this === module.exports && this === exports && module.id === __filename && require("path").basename(__dirname) === "lib"
