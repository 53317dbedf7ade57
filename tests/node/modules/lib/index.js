module.exports = {isIndex: true}
