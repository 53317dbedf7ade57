//! `jsTest`: the same as the globals of longer names.
({
  isMongos(connection) { return connection.getDB("admin").hello().msg === "isdbgrid"; },
  log(message) { jsTestLog(message); },
  name() { return jsTestName(); },
  options() { return jsTestOptions(); },
  setOption(name, value) { setJsTestOption(name, value); },
})
