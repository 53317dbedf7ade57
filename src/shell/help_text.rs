//! The texts of `help` and its topics.

use super::departures::DEPARTURES;
use super::settings::SETTINGS;
use super::words::{NOUNS, WORDS};
use super::{Class, Emulate, Kind, Method, classes, examples, nearest};
use crate::engine::{aggregate, expr, query, update};
use crate::translate::LANGUAGES;

/// The lines of `help` or of one topic.
pub(super) fn topic(emulate: Emulate, topic: Option<&str>) -> Vec<String> {
    match (topic, emulate) {
        (None, Emulate::Mongo) => classic(),
        (None, Emulate::Mongosh) => mongosh(),
        (Some("departures"), _) => departures(),
        (Some("translate"), _) => translations(),
        (Some(topic), emulate) => {
            let mut lines = named(emulate, topic);
            if lines.is_empty() {
                return vec![unknown(topic)];
            }
            let examples = examples::of(topic);
            if !examples.is_empty() {
                lines.push(String::new());
            }
            lines.extend(examples.iter().map(|example| format!("\t> {}", example.code)));
            lines
        }
    }
}

/// The lines of a topic, or of everything that has this name.
fn named(emulate: Emulate, name: &str) -> Vec<String> {
    if let Ok(at) = TOPICS.binary_search_by_key(&name, |(topic, _)| topic) {
        return TOPICS[at].1.iter().map(|line| (*line).to_owned()).collect();
    }
    let mut lines = Vec::new();
    let shown = |row: &&'static Method| !row.help.is_empty() && row.shells.include(emulate);
    for class in classes().iter().filter(|class| class.shells.include(emulate)) {
        let before = standing(class);
        for row in class.methods.iter().filter(shown).filter(|row| row.name == name) {
            lines.push(format!("\t{before}{}{} - {}", row.name, row.usage, row.help));
        }
    }
    let operator = |at: &str, name: &str, help: &str| format!("\t{name} {at} - {help}");
    let queries = query::operators().filter(|row| row.name == name);
    lines.extend(queries.map(|row| operator("in a filter", row.name, row.help)));
    let updates = update::operators().filter(|row| row.name == name);
    lines.extend(updates.map(|row| operator("in an update", row.name, row.help)));
    let stages = aggregate::stages().filter(|row| row.name == name);
    lines.extend(stages.map(|row| operator("as a stage", row.name, row.help)));
    let expressions = expr::operators().filter(|row| row.name == name);
    lines.extend(expressions.map(|row| operator("in an expression", row.name, row.help)));
    let accumulators = expr::ACCUMULATORS.iter().filter(|row| row.name == name);
    lines.extend(accumulators.map(|row| operator("in $group", row.name, row.help)));
    let words = WORDS.iter().filter(|word| word.name == name && word.shells.include(emulate));
    lines.extend(words.map(|word| format!("\t{} {} - {}", word.name, word.usage, word.help)));
    match name {
        "show" => {
            lines.extend(NOUNS.iter().map(|noun| format!("\tshow {:<14}{}", noun.name, noun.help)))
        }
        "set" => lines.extend(SETTINGS.iter().map(|row| row.line())),
        _ => {}
    }
    if lines.is_empty() {
        let of = |class: &&'static Class| [class.global, class.modern, class.name].contains(&name);
        for class in classes().iter().filter(of).filter(|class| class.shells.include(emulate)) {
            let before = standing(class);
            lines.push(format!("\t{name} - {}", class.help));
            let rows = class.methods.iter().filter(shown).filter(|row| row.name != "constructor");
            lines.extend(
                rows.map(|row| format!("\t{before}{}{} - {}", row.name, row.usage, row.help)),
            );
        }
    }
    lines
}

/// What stands before the name of a method.
fn standing(class: &Class) -> String {
    match (class.name, class.kind) {
        ("Database", _) => "db.".to_owned(),
        ("Collection", _) => "db.mycoll.".to_owned(),
        ("Cursor", _) => "db.mycoll.find().".to_owned(),
        (_, Kind::Functions) if class.global == "globalThis" => String::new(),
        (_, Kind::Functions) => format!("{}.", class.global),
        _ => ".".to_owned(),
    }
}

/// What there is no help for.
fn unknown(topic: &str) -> String {
    let topics = TOPICS.iter().map(|(name, _)| *name).chain(["departures", "translate"]);
    let methods = classes().iter().flat_map(|class| class.methods).map(|row| row.name);
    match nearest(topic, topics.chain(methods)) {
        Some(near) => format!("unknown help option. Did you mean help {near}?"),
        None => "unknown help option".to_owned(),
    }
}

/// What `help` prints in the classic shell: what to type, and what it does.
const CLASSIC: &[(&str, &str)] = &[
    ("db.help()", "help on db methods"),
    ("db.mycoll.help()", "help on collection methods"),
    ("sh.help()", "sharding helpers"),
    ("rs.help()", "replica set helpers"),
    ("help admin", "administrative help"),
    ("help connect", "connecting to a db help"),
    ("help keys", "key shortcuts"),
    ("help misc", "misc things to know"),
    ("help mr", "mapreduce"),
    ("", ""),
    ("show dbs", "show database names"),
    ("show collections", "show collections in current database"),
    ("show users", "show users in current database"),
    ("show profile", "show most recent system.profile entries with time >= 1ms"),
    ("show logs", "show the accessible logger names"),
    ("show log [name]", "prints out the last segment of log in memory, 'global' is default"),
    ("use <db_name>", "set current database"),
    ("db.mycoll.find()", "list objects in collection mycoll"),
    ("db.mycoll.find( { a : 1 } )", "list objects in mycoll where a == 1"),
    ("it", "result of the last line evaluated; use to further iterate"),
    ("DBQuery.shellBatchSize = x", "set default number of items to display on shell"),
    ("exit", "quit the mongo shell"),
];

/// What tally adds to that list.
const OWN: &[(&str, &str)] = &[
    ("learn", "lessons on numbering with findAndModify"),
    ("show counters", "counters and sequences of this database"),
    ("show command", "the last command that was sent, whole"),
    ("set NAME VALUE", "pager, timing, editing... help set"),
    ("show types", "BSON types of the document shown last"),
    ("trace on|off", "tell of each command that is sent"),
    ("help counters", "numbers from counter() and nextVal()"),
    ("help node", "require, import, process, timers: what scripts use of Node"),
    ("help NAME", "an example of anything: help find, help $inc"),
    ("help numbers", "which type a number is stored as"),
    ("help parallel", "functions in several threads, and races"),
    ("help departures", "where tally differs from that shell"),
    ("translate [language]", "the last call as code for a driver"),
];

fn classic() -> Vec<String> {
    let row = |(name, help): &(&str, &str)| match name.is_empty() {
        true => String::new(),
        false => format!("\t{name:<29}{help}"),
    };
    CLASSIC.iter().map(row).chain([String::new()]).chain(OWN.iter().map(row)).collect()
}

/// What `help` prints in mongosh.
const MONGOSH: &[(&str, &str)] = &[
    ("use", "Set current database"),
    ("show", "'show databases'/'show dbs', 'show collections'/'show tables', 'show counters'..."),
    ("exit", "Quit the shell with exit/exit()/.exit"),
    ("quit", "Quit the shell with quit/quit()"),
    ("Mongo", "Create a new connection and return the Mongo object. Usage: new Mongo(URI)"),
    ("connect", "Create a new connection and return the Database object. Usage: connect(URI)"),
    ("it", "result of the last line evaluated; use to further iterate"),
    ("version", "Shell version"),
    ("load", "Loads and runs a JavaScript file into the current shell environment"),
    ("passwordPrompt", "Prompts the user for a password"),
    ("sleep", "Sleep for the specified number of milliseconds"),
    ("print", "Prints the contents of an object to the output"),
    ("printjson", "Alias for print()"),
    ("cls", "Clears the screen like console.clear()"),
    ("isInteractive", "Returns whether the shell will enter or has entered interactive mode"),
    ("counter", "The next number of a counter, which its first call creates"),
    ("nextVal", "The next number of a sequence"),
    ("learn", "Lessons on numbering documents with findAndModify"),
    ("parallel", "Runs a function in several threads at once: parallel(4, f). See help parallel"),
    ("race", "Runs functions in several threads and counts the numbers that they hand out twice"),
    ("trace", "'trace on' tells of each command that is sent, 'trace off' ends it"),
    ("help departures", "Where tally differs from mongosh on purpose"),
    (
        "translate",
        "The last database call as code for a driver; 'help translate' lists the languages",
    ),
];

fn mongosh() -> Vec<String> {
    let mut lines = vec![String::new(), "  Shell Help:".to_owned(), String::new()];
    lines.extend(MONGOSH.iter().map(|(name, help)| format!("    {name:<43}{help}")));
    let manual = "https://mongodb.com/docs/manual/reference/method";
    lines.extend([String::new(), format!("  For more information on usage: {manual}")]);
    lines
}

fn departures() -> Vec<String> {
    DEPARTURES.iter().map(|row| format!("\t{:<29}{}", row.what, row.how)).collect()
}

/// The languages of `translate`, from their own table.
fn translations() -> Vec<String> {
    let mut lines: Vec<String> = [
        "\ttranslate           the last database call as code, in every language",
        "\ttranslate python    in one; a comment says what the code needs around it",
        "\tA number keeps its type where it is stored: a plain 1 of the classic",
        "\tshell is a double.",
        "",
    ]
    .map(ToOwned::to_owned)
    .into();
    lines.extend(LANGUAGES.iter().map(|language| {
        let also = match language.aliases {
            [] => String::new(),
            aliases => format!(" (also {})", aliases.join(", ")),
        };
        format!("\t{:<10}{}{also}", language.name, language.help)
    }));
    lines
}

/// The topics, sorted.
const TOPICS: &[(&str, &[&str])] = &[
    (
        "admin",
        &[
            "\tls([path])                    list files",
            "\tpwd()                         the working directory",
            "\tcd(path)                      change it",
            "\tcat(file)                     the text of a file",
            "\tlistFiles([path])             files with their sizes",
            "\tload(file)                    run a script",
            "\thostname()                    the name of this machine",
            "\tremoveFile(file)              delete a file or a directory",
        ],
    ),
    (
        "connect",
        &[
            "\ttally runs its embedded engine; `use NAME` chooses a database. With an address",
            "\t(tally mongodb://host:27017/shop) it is a shell for that server.",
            "\tconnect(\"localhost:27017/shop\") and new Mongo() in a script mean the engine, too.",
        ],
    ),
    (
        "counters",
        &[
            "\tcounter(name)                 the next number: 1, 2, 3... A counter is created by its first call,",
            "\t                              in the collection counters, field next.",
            "\tnextVal(name)                 the next number of a sequence that you have created:",
            "\t                              db.sequences.insert({_id: \"posts\", seq: 0})",
            "\tcounter(name, {step: 10})     other steps; {start: 1000} for a new counter; {count: 100} reserves a block",
            "\t                              and answers {first, last}; {collection, field} for other places.",
            "\tcounter.peek(name)            the number handed out last",
            "\tcounter.reset(name, value)    sets it; counter.resetToMax(name, \"users\", \"_id\") to the largest in use",
            "\tBoth are one findAndModify, so two callers never get the same number. Numbers of failed inserts are",
            "\tnot handed out again: the series has gaps.",
        ],
    ),
    (
        "keys",
        &[
            "\tTab                           complete names; again for all that fit",
            "\tUp and Down                   earlier inputs; history() lists them",
            "\tCtrl-R                        search them",
            "\tRight or Ctrl-E               take the suggestion behind the cursor; set hints off",
            "\tset editing vi                the keys of vi; in ~/.tallyrc.js it holds for ever",
            "\tedit NAME                     a variable in $EDITOR",
            "\tCtrl-C                        stop what runs, or give up the input",
            "\tCtrl-D                        quit",
        ],
    ),
    (
        "misc",
        &[
            "\tb = new BinData(subtype,base64str)  create a BSON BinData value",
            "\tb.subtype()                         the BinData subtype (0..255)",
            "\tb.length()                          length of the BinData data in bytes",
            "\tb.hex()                             the data as a hex encoded string",
            "\tb.base64()                          the data as a base 64 encoded string",
            "\tb = HexData(subtype,hexstr)         create a BSON BinData value from a hex string",
            "\tb = UUID(hexstr)                    create a BSON BinData value of UUID subtype",
            "\tb = MD5(hexstr)                     create a BSON BinData value of MD5 subtype",
            "\to = new ObjectId()                  create a new ObjectId",
            "\to.getTimestamp()                    when it was made",
            "\td = ISODate()                       a date, now or of an ISO 8601 text",
        ],
    ),
    (
        "mr",
        &[
            "\tdb.mycoll.mapReduce(map, reduce, {out: \"results\"})",
            "\t  map: function () { emit(this.key, this.value) }",
            "\t  reduce: function (key, values) { return Array.sum(values) }",
            "\tdb.mycoll.aggregate([{$group: ...}]) does the same without JavaScript.",
        ],
    ),
    (
        "node",
        &[
            "What scripts use of Node is here, in both emulations:",
            "  const fs = require(\"fs\")           import fs from \"node:fs\"           (in a file .mjs)",
            "  require(\"./lib.js\")               a file beside the script, by the rules of CommonJS; JSON, too",
            "  require(\"pkg\")                    a package of JavaScript in a folder node_modules",
            "Modules: assert buffer console crypto events fs module os path perf_hooks process timers url util",
            "  fs.readFileSync(\"in.txt\", \"utf8\")  fs.writeFileSync(\"out.txt\", text)",
            "  process.argv  process.env.HOME  process.exit(3)  process.stdout.write(\"no line end\")",
            "  setTimeout(() => print(1), 100)   a file, --eval and a pipe last until their timers have run",
            "  console.log(\"%s: %d\", name, n)    console.table(db.c.find().toArray())",
            "What needs a network (http, fetch) or starts programs (child_process) is not here.",
        ],
    ),
    (
        "numbers",
        &[
            "\tEmulating mongo, a JavaScript number is stored as a double; emulating mongosh, a whole number that fits is",
            "\tstored as a 32-bit integer. NumberInt(1), NumberLong(\"1\") and NumberDecimal(\"1.5\") say the type.",
            "\tA document that is read and saved keeps the types of its numbers.",
            "\tWrite integers beyond 2^53 as NumberLong(\"...\"): a JavaScript number cannot hold them.",
        ],
    ),
    (
        "parallel",
        &[
            "\tparallel(4, f)              runs f in 4 threads; an array of 4 results",
            "\tparallel(4, 200, f, 1, \"a\")  200 calls f(1, \"a\") in each: 800 results",
            "\tparallel(4, {interleave: true}, f)  in lock step: none goes on before",
            "\t                            all have come to their next database call;",
            "\t                            a race comes out the same each time",
            "\trace(f, g)                  4 threads and 200 calls each; counts the",
            "\t                            numbers that were handed out twice",
            "\trace({one: f, two: g}, {workers: 8, times: 100, interleave: true})",
            "\tEach thread is a worker, a shell of its own on the same data; the",
            "\tvariable worker holds its number. It has your functions and classes,",
            "\tand a copy of your variables: what it changes stays in it. Results",
            "\tcome back as copies. It does not see locals of the function around f,",
            "\tcursors, or this: pass what f needs as arguments, functions too. The",
            "\tfirst error ends all workers and is thrown here.",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_sorted_and_unknown_ones_say_so() {
        assert!(TOPICS.is_sorted_by_key(|(name, _)| *name));
        assert_eq!(topic(Emulate::Mongo, Some("xyzzy")), ["unknown help option"]);
        assert_eq!(classic()[0], "\tdb.help()                    help on db methods");
    }
}
