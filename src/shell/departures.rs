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
        how: "connect() and new Mongo() with a loopback address mean the session's own engine; one notice says so",
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
        how: "startSession() is refused: the engine answers as a standalone server, which has no transactions",
    },
    Departure {
        what: "loadServerScripts()",
        how: "does nothing without functions in system.js, and refuses to load code from a database",
    },
];
