// A library: declares functions and constants for who loads it.
var Helpers = (function() {
    function fill(coll, n) {
        const bulk = coll.initializeUnorderedBulkOp();
        for (let i = 0; i < n; i++) bulk.insert({_id: i, x: i % 5, s: "str" + i});
        assert.commandWorked(bulk.execute());
    }
    return {fill: fill};
})();
const LIB_CONST = 42;
function libFunction(a) { return a + LIB_CONST; }
