//! Where tally differs from the emulated shell on purpose. `help departures` shows this table.

/// One departure.
pub struct Departure {
    /// What it is about.
    pub what: &'static str,
    /// What tally does, and what the emulated shell would do.
    pub how: &'static str,
}

/// All of them.
pub const DEPARTURES: &[Departure] = &[
    Departure {
        what: "shell words in files",
        how: "`use shop` and `show dbs` run in script files, too, wherever a statement may stand",
    },
    Departure {
        what: "names of one shell",
        how: "tojson, Random, db.c.save() and the like are in both emulations where nothing else has the name",
    },
    Departure {
        what: "<a: 1>",
        how: "a document may be written in angle brackets, and a lone {a: 1, b: 2} is shown as one",
    },
    Departure {
        what: "typographic quotes",
        how: "curly quotes delimit strings; HTML entities and pasted prompts are mended and said so",
    },
    Departure {
        what: "print({a: 1})",
        how: "shows the document; the classic shell shows [object Object]. print(null) is null",
    },
    Departure {
        what: "print() of an array",
        how: "an array that holds documents is shown as JSON",
    },
    Departure {
        what: "keys",
        how: "keys are escaped when they are printed, so that what is printed can be pasted back",
    },
    Departure {
        what: "errors",
        how: "outside a terminal's prompt they go to stderr; stdout holds results only",
    },
    Departure {
        what: "warnings",
        how: "deprecations and warnings go to stderr in both emulations",
    },
    Departure { what: "pipes", how: "no prompt, no echo, no blank line for undefined" },
    Departure {
        what: "server replies",
        how: "fields, order and errors are those of MongoDB 7.0, whichever shell is emulated; drop() of a missing collection is true",
    },
    Departure { what: "countDocuments()", how: "without a filter counts all documents" },
    Departure {
        what: "findOneAndUpdate options",
        how: "returnNewDocument, returnOriginal and returnDocument all work in both emulations",
    },
    Departure {
        what: "localhost",
        how: "connect() and new Mongo() with a loopback address mean the session's own engine; one notice says so, and --localhost=server makes it mean a server",
    },
    Departure {
        what: "number types",
        how: "a document that is read and saved keeps the types of unchanged numbers at every depth",
    },
    Departure {
        what: "NumberLong in JavaScript",
        how: "add, sub, multiply and divide are exact in both emulations; 5n is stored as an int64",
    },
    Departure {
        what: "sessions",
        how: "startTransaction() is refused at once on a standalone server, which the embedded engine is, too; on a replica set a write outside a transaction goes in a session of tally's own, so that it can be sent again",
    },
    Departure {
        what: "loadServerScripts()",
        how: "does nothing without functions in system.js, and refuses to load code from a database",
    },
    Departure {
        what: "pasted files",
        how: "a script file that is no JavaScript as it stands is read as a paste, and runs only if all of it can be read",
    },
    Departure {
        what: "several files",
        how: "loading file: X goes to stderr, where the classic shell writes it among the results",
    },
    Departure { what: "bye", how: "is said at a terminal only, not at the end of a pipe" },
    Departure {
        what: "typeof db.c",
        how: "is \"function\", so that a misspelt method can be named when it is called; the shells say \"object\"",
    },
    Departure {
        what: "errors of JavaScript",
        how: "are worded as QuickJS words them, not as SpiderMonkey or V8; the names of their classes are the same",
    },
    Departure {
        what: "places of errors",
        how: "columns count from 1 in both emulations; below an uncaught error stand the line and a caret",
    },
    Departure {
        what: "stacks",
        how: "hold the user's own functions and files, none of the shell's",
    },
    Departure {
        what: "Map",
        how: "is JavaScript's own in both emulations; the classic shell had one of its own making with put()",
    },
    Departure {
        what: "modern JavaScript",
        how: "classes, async, BigInt and modules work in both emulations; await may stand at the top level",
    },
    Departure {
        what: "covered queries",
        how: "fetch their documents all the same: an index does not keep the types of numbers; only a count needs no document",
    },
    Departure {
        what: "$where, $function, $accumulator, mapReduce",
        how: "run their JavaScript in a world of each command's own, embedded too; what a function throws is told without its stack",
    },
    Departure {
        what: "let and const",
        how: "may be declared again by a later input at the prompt, in the classic shell, too",
    },
    Departure {
        what: "console",
        how: "console.log and its sisters know format strings (%s, %d, %j...) and groups, as in Node",
    },
    Departure {
        what: "timers",
        how: "what setTimeout and setInterval put off runs before a file or --eval ends; mongosh drops it. Ctrl-C drops it, too",
    },
    Departure {
        what: "require",
        how: "gives modules of Node, files and packages in both emulations; fetch and what needs a network are not there",
    },
    Departure { what: "mongosh's \"Uncaught\"", how: "is left out; an error begins with its name" },
];
