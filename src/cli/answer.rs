//! What the command line itself answers: errors with the usage line, versions, completions, the man page.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use clap_complete::Shell as CommandShell;

use super::{Arguments, Command, Plan};
use crate::shell::Emulate;

/// A command line that leaves nothing to run.
#[derive(Debug)]
pub enum Answer {
    /// What clap says: an error, `--help`, `--version`.
    Said(Box<clap::Error>),
    /// A text that was asked for.
    Text(Vec<u8>),
}

impl Answer {
    /// Prints it; answers with the exit code.
    pub fn tell(&self) -> u8 {
        // What cannot be printed can be told nowhere else either.
        match self {
            Self::Said(said) => {
                let text = said.render().to_string();
                let _ = match text.split_once(MORE) {
                    // A wrong value comes without the usage line.
                    Some((text, rest)) if said.use_stderr() && !text.contains("Usage:") => {
                        let usage = Arguments::command().render_usage();
                        write!(io::stderr(), "{text}{usage}\n\n{MORE}{rest}")
                    }
                    _ => said.print(),
                };
                u8::try_from(said.exit_code()).unwrap_or(2)
            }
            Self::Text(text) => {
                let mut out = io::stdout();
                let _ = out.write_all(text).and_then(|()| out.flush());
                0
            }
        }
    }
}

/// The plan that a command line describes.
///
/// # Errors
/// The [`Answer`] that is all there is to do.
pub fn plan(line: impl IntoIterator<Item = OsString>) -> std::result::Result<Plan, Answer> {
    let line: Vec<OsString> = line.into_iter().collect();
    let program = line.first().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let said = |error: clap::Error| Answer::Said(Box::new(error));
    let arguments = Arguments::try_parse_from(line).map_err(|error| {
        match (error.kind(), started_as(&program)) {
            (ErrorKind::DisplayVersion, Some(shell)) => Answer::Text(version_of(shell)),
            _ => said(error),
        }
    })?;
    if let Some(text) = arguments.text() {
        return Err(Answer::Text(text));
    }
    let word = arguments.command.as_ref().and_then(Command::errand);
    arguments.plan(&program).map_err(|error| {
        let kind = ErrorKind::ArgumentConflict;
        let mut command = Arguments::command();
        command.build();
        let spoken = match word.and_then(|word| command.find_subcommand_mut(word)) {
            Some(errand) => errand.error(kind, error.to_string()),
            None => command.error(kind, error.to_string()),
        };
        said(spoken)
    })
}

/// The shell whose name the program was started under.
pub(super) fn started_as(program: &str) -> Option<Emulate> {
    let name = Path::new(program).file_stem()?;
    match name.to_str()? {
        "mongo" => Some(Emulate::Mongo),
        "mongosh" => Some(Emulate::Mongosh),
        _ => None,
    }
}

/// What scripts that ask for the version of a shell look for.
fn version_of(shell: Emulate) -> Vec<u8> {
    match shell {
        Emulate::Mongo => {
            format!("MongoDB shell version v{}\n{OWN}\n", shell.version()).into_bytes()
        }
        Emulate::Mongosh => format!("{}\n", shell.version()).into_bytes(),
    }
}

/// How clap's errors end.
const MORE: &str = "For more information";

/// The name and version of this program.
const OWN: &str = concat!("tally ", env!("CARGO_PKG_VERSION"));

impl Arguments {
    /// The text that is all that was asked for, if it was.
    fn text(&self) -> Option<Vec<u8>> {
        match &self.command {
            _ if self.build_info => Some(build_info()),
            Some(Command::Completions { shell }) => Some(completions(*shell)),
            Some(Command::Man) => Some(manual()),
            _ => None,
        }
    }
}

/// `--build-info`, as a document.
fn build_info() -> Vec<u8> {
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    let lines = [
        ("version", env!("CARGO_PKG_VERSION")),
        ("platform", os),
        ("arch", arch),
        ("mongo", Emulate::Mongo.version()),
        ("mongosh", Emulate::Mongosh.version()),
    ];
    let lines: Vec<String> =
        lines.iter().map(|(name, value)| format!("  \"{name}\": \"{value}\"")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n")).into_bytes()
}

/// What a command shell is told of the flags.
fn completions(shell: CommandShell) -> Vec<u8> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "tally", &mut text);
    text
}

/// The man page: `tally man | man -l -`.
fn manual() -> Vec<u8> {
    let mut text = Vec::new();
    // A vector takes whatever is written.
    let _ = clap_mangen::Man::new(Arguments::command()).render(&mut text);
    text
}
