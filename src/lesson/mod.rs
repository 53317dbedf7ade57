//! Lessons at the prompt: pages, a tutor who judges the state of the database, progress.
//!
//! A lesson is a Markdown page, `scripts/lessons/LANGUAGE/NN-name.md`; the format, what a check sees, and what makes a good
//! page stand in `scripts/lessons/README.md`, since those who write pages need no Rust. The way of a page:
//!
//! - `markdown` cuts it into blocks, `page` makes sections, steps and a complete lesson of them, `library` finds the pages of
//!   a language and lays a translation over the English ones; `text` is what the tutor says beside them.
//! - `tutor` is the learner's way through: it hears the words of `words`, brings the `sandbox` to where a step begins
//!   (`replay`), and after each input asks `judge`. `witness` remembers which commands were sent, `transcript` what was
//!   typed, for whoever teaches.
//! - `menu` and `progress` are how far the learner is; `layout` is how text looks at a terminal.
//!
//! - `bargain` runs every step of every page and says what does not hold, `lint` says what a page lacks, and `errand` is
//!   `tally learn` without a prompt.
//!
//! The session knows no lessons: it has a [`crate::session::Tutor`], which is the one of this room. Nothing of a lesson
//! happens in the user's own data: a lesson has an engine of its own, or on a server a database `learn_N`.

mod bargain;
mod errand;
mod judge;
mod layout;
mod library;
mod lint;
mod markdown;
mod menu;
mod page;
mod progress;
mod replay;
mod sandbox;
mod text;
mod toml;
mod transcript;
mod tutor;
mod witness;
mod words;

pub use errand::{Errand, look_up, run};
pub use library::{Source, language};
pub use tutor::{Settings, Tutor};
