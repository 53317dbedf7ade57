//! tally: a mongo shell in one small binary.
//!
//! # The life of a line
//!
//! Somebody types `db.users.insert(<_id: counter("users"), name: "Sarah C.">)`. This is what happens, room by room, and
//! reading the rooms in this order is the shortest way through the code.
//!
//! 1. **A key is pressed.** [`repl`] reads keys with rustyline; [`pipe`] reads standard input when it is no terminal;
//!    [`cli`] holds `--eval` and files. All of them have lines of text and want to know one thing: is it finished?
//! 2. **The text is read.** [`dialect`] parses it by `grammar/shell.pest`, one grammar for all there is: JavaScript, shell
//!    words, documents in angle brackets, pasted prompts. It answers with a verdict (complete, incomplete, broken) and
//!    with parts: shell words, and JavaScript in which `<...>` has become `({...})`, with a list of edits so that any
//!    position can be told in the user's own text.
//! 3. **The input runs.** [`session`] takes the parts in order. A shell word (`use shop`) is a row of [`shell::words`].
//!    JavaScript goes to [`script`], where QuickJS runs it.
//! 4. **JavaScript calls the shell.** `counter` and `db.users.insert` are functions that `script` made of the rows of
//!    [`shell::classes`]. Each of them goes through one native door, `call(class, method, this, arguments)`: arguments
//!    become BSON, the row's Rust function runs, its [`shell::Reply`] becomes a JavaScript value. Nothing calls back.
//! 5. **The shell speaks MongoDB.** `counter("users")` is one `findAndModify` command, `insert` one `insert` command. A
//!    [`backend::Request`] carries it, as raw BSON, to the [`backend::Backend`] at hand: the engine in this process, or a
//!    server far away. The shell cannot tell which.
//! 6. **The engine answers.** [`engine`] compiles the command (every bad one dies here, with the server's code and
//!    words), plans which documents to ask about, filters, updates or streams them, and hands all changes of one write
//!    to the storage in one batch. What it acknowledges survives `kill -9`.
//! 7. **The reply travels back** as a `WriteResult` object, the value of the input.
//! 8. **It is printed.** `script` turns the value into a [`print::Shown`], a tree that knows nothing of JavaScript; a
//!    style of [`mod@print`] turns that into text: `WriteResult({ "nInserted" : 1 })`.
//!
//! Ctrl-C can arrive at any time: it raises the one [`Interrupt`], which the JavaScript engine, every native call and
//! every long loop of the engine ask, until all has unwound to the prompt.
//!
//! # Rooms
//!
//! Calls go downwards only: `main`, `cli`, `repl`, `pipe` call `session`; [`transfer`] (`tally import`, `export` and `copy`)
//! stands beside them and needs no session; `session` calls `dialect`, `script` and `print`;
//! those call `shell`; `shell` calls `backend` and [`translate`] (the last call as driver code); `backend` calls `engine`,
//! and so does [`serve`], which lets clients of MongoDB in (`tally serve`);
//! and at the bottom are [`value`] (BSON algebra), [`error`] and [`interrupt`]. One room each knows a foreign crate:
//! `dialect` pest, `script` rquickjs, `repl` rustyline, `backend::remote` the MongoDB driver, `serve` tokio, `engine::storage` fjall. A test
//! holds this.

// The parser that pest derives names `alloc`.
extern crate alloc;

pub mod backend;
pub mod cli;
pub mod dialect;
pub mod engine;
pub mod error;
pub mod interrupt;
pub mod lesson;
pub mod pipe;
pub mod print;
pub mod repl;
pub mod script;
pub mod serve;
pub mod session;
pub mod shell;
pub mod transfer;
pub mod translate;
pub mod value;

pub use error::{Error, Result};
pub use interrupt::Interrupt;
