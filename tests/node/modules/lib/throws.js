module.exports = () => {
  throw new Error("deep");
};
