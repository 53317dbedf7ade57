//! The command line: flags and positional arguments become a plan of what to run.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};

use crate::engine::Location;
use crate::error::{Error, Result};
use crate::shell::Emulate;

/// A mongo shell in one small binary: embedded by default, prints what the mongo shell prints.
#[derive(Debug, Parser)]
#[command(name = "tally", version, about, max_term_width = 100, after_help = POSITIONALS)]
pub struct Arguments {
    /// A database name or server address, then script files.
    #[arg(value_name = "DB | FILE")]
    pub positional: Vec<String>,
    /// Run CODE and print the value of the last one. May be repeated; runs before any file.
    #[arg(short = 'e', long, value_name = "CODE", allow_hyphen_values = true)]
    pub eval: Vec<String>,
    /// Run a script file, whatever its name. May be repeated.
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Go on to the prompt after the given code and files.
    #[arg(long)]
    pub shell: bool,
    /// No banner, and no `bye`.
    #[arg(long)]
    pub quiet: bool,
    /// Do not read ~/.mongorc.js (~/.mongoshrc.js).
    #[arg(long)]
    pub norc: bool,
    /// Start without a database; every positional argument is a file.
    #[arg(long)]
    pub nodb: bool,
    /// Keep the data in DIR (default: $TALLY_DATA, or the platform's data folder for tally).
    #[arg(long, value_name = "DIR", conflicts_with = "ephemeral")]
    pub data: Option<PathBuf>,
    /// Keep the data in a scratch directory that is removed at the end.
    #[arg(long)]
    pub ephemeral: bool,
    /// Wait while another process holds the data directory.
    #[arg(long)]
    pub wait: bool,
    /// The most memory that scripts may use, in megabytes (default: half of the machine's).
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    pub js_memory: Option<u32>,
    /// Which shell to behave like (default: mongo, or mongosh when started under that name).
    #[arg(long, value_name = "SHELL")]
    pub emulate: Option<Shell>,
}

const POSITIONALS: &str = "\
A positional argument is a script file if it ends in .js, .mjs, .cjs or .mongodb, or names an existing file with a dot \
in its name; otherwise the first one is the database to use.

Exit codes: 0 well, 1 the last input failed, 2 wrong usage; with --emulate mongo 252 when --eval throws and 253 when a \
file throws or is missing; quit(n) exits with n.";

/// The values of `--emulate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// The classic mongo shell.
    Mongo,
    /// mongosh 2.x.
    Mongosh,
}

/// What to run, in order.
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// The emulated shell.
    pub emulate: Emulate,
    /// The database to start in; `None` with `--nodb`.
    pub db: Option<String>,
    /// Where the embedded engine keeps its data.
    pub location: Location,
    /// Wait for a held data directory.
    pub wait: bool,
    /// The texts of `--eval`.
    pub evals: Vec<String>,
    /// Script files.
    pub files: Vec<PathBuf>,
    /// Go on to the prompt or the pipe.
    pub interactive: bool,
    /// No banner.
    pub quiet: bool,
    /// Do not read the rc file.
    pub norc: bool,
    /// The limit of `--js-memory`, in bytes.
    pub js_memory: Option<usize>,
}

impl Arguments {
    /// The plan that these arguments describe, for a program that was started as `program`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that this program cannot reach, or when no data directory can be found.
    pub fn plan(self, program: &str) -> Result<Plan> {
        let emulate = match self.emulate {
            Some(Shell::Mongo) => Emulate::Mongo,
            Some(Shell::Mongosh) => Emulate::Mongosh,
            None if Path::new(program).file_stem().is_some_and(|name| name == "mongosh") => {
                Emulate::Mongosh
            }
            None => Emulate::Mongo,
        };
        let location = match (self.ephemeral, self.data) {
            (true, _) => Location::Ephemeral,
            (false, Some(directory)) => Location::Directory(directory),
            (false, None) => Location::Directory(default_directory()?),
        };
        let mut positional = self.positional.into_iter().peekable();
        let db = match positional.peek() {
            Some(first) if !self.nodb && !is_file(first) => {
                let db = database(first)?;
                positional.next();
                Some(db)
            }
            _ if self.nodb => None,
            _ => Some("test".to_owned()),
        };
        let files: Vec<_> = self.file.into_iter().chain(positional.map(PathBuf::from)).collect();
        Ok(Plan {
            emulate,
            db,
            location,
            wait: self.wait,
            interactive: self.shell || (self.eval.is_empty() && files.is_empty()),
            evals: self.eval,
            files,
            quiet: self.quiet,
            norc: self.norc,
            js_memory: self.js_memory.map(|megabytes| megabytes as usize * 1024 * 1024),
        })
    }
}

/// Whether a positional argument names a script rather than an address.
fn is_file(argument: &str) -> bool {
    if argument.starts_with("mongodb://") || argument.starts_with("mongodb+srv://") {
        return false;
    }
    let path = Path::new(argument);
    let scripts = ["js", "mjs", "cjs", "mongodb"];
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| scripts.contains(&extension))
        || (path.file_name().is_some_and(|name| name.to_string_lossy().contains('.'))
            && path.exists())
}

/// The database of an address as the old shell reads it: `foo`, `host/foo`, `host:port/foo`, `mongodb://…`.
fn database(address: &str) -> Result<String> {
    let names_server = address.contains("://") || address.contains([':', '/', '.']);
    if names_server {
        return Err(Error::Usage(format!(
            "cannot connect to `{}`: this build of tally runs its embedded engine only. Give a database name, or nothing",
            without_password(address)
        )));
    }
    let unfit = |character: char| matches!(character, '\\' | ' ' | '"' | '$');
    if address.is_empty() || address.contains(unfit) || address.len() > 63 {
        return Err(Error::Usage(format!(
            "`{address}` is no name of a database: it must be 1 to 63 bytes long, without spaces, quotes, `$` and `\\`"
        )));
    }
    Ok(address.to_owned())
}

/// The address with a password blotted out, fit for a message.
fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    match rest.rsplit_once('@') {
        Some((credentials, host)) => {
            let user = credentials.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}:***@{host}")
        }
        None => address.to_owned(),
    }
}

/// `$TALLY_DATA`, or the platform's data folder for tally.
fn default_directory() -> Result<PathBuf> {
    use etcetera::BaseStrategy as _;
    if let Some(directory) =
        std::env::var_os("TALLY_DATA").filter(|directory| !directory.is_empty())
    {
        return Ok(directory.into());
    }
    let missing = |_| {
        Error::Usage(
            "cannot find a home directory to keep data in. Give --data DIR, or --ephemeral"
                .to_owned(),
        )
    };
    Ok(etcetera::choose_base_strategy().map_err(missing)?.data_dir().join("tally"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(arguments: &[&str]) -> Result<Plan> {
        let all = ["tally", "--ephemeral"].iter().chain(arguments);
        Arguments::try_parse_from(all).expect("the flags are known").plan("tally")
    }

    #[test]
    fn the_first_positional_is_a_database_unless_it_looks_like_a_file() {
        let shop = plan(&["shop", "a.js", "b.mjs"]).expect("a plan");
        assert_eq!(shop.db.as_deref(), Some("shop"));
        assert_eq!(shop.files, [PathBuf::from("a.js"), PathBuf::from("b.mjs")]);
        assert!(!shop.interactive);
        let none = plan(&["a.js", "shop"]).expect("a plan");
        assert_eq!(none.db.as_deref(), Some("test"));
        assert_eq!(none.files, [PathBuf::from("a.js"), PathBuf::from("shop")]);
        let nodb = plan(&["--nodb", "shop"]).expect("a plan");
        assert_eq!((nodb.db, nodb.files), (None, vec![PathBuf::from("shop")]));
    }

    #[test]
    fn a_server_is_refused_without_showing_the_password() {
        let Err(Error::Usage(text)) = plan(&["mongodb://ann:s3cret@db.example/shop"]) else {
            panic!("a server address must be refused")
        };
        assert!(
            text.contains("mongodb://ann:***@db.example/shop") && !text.contains("s3cret"),
            "{text}"
        );
        assert!(plan(&["localhost:27017/shop"]).is_err());
    }

    #[test]
    fn the_name_of_the_program_decides_the_emulated_shell() {
        let arguments = || Arguments::parse_from(["x", "--ephemeral"]);
        let emulated = |program| arguments().plan(program).expect("a plan").emulate;
        assert_eq!(emulated("/usr/bin/mongosh"), Emulate::Mongosh);
        assert_eq!(emulated("tally"), Emulate::Mongo);
    }

    #[test]
    fn eval_and_files_end_the_session_unless_shell_is_asked_for() {
        assert!(plan(&[]).expect("a plan").interactive);
        assert!(!plan(&["--eval", "1"]).expect("a plan").interactive);
        assert!(plan(&["--eval", "-1", "--shell"]).expect("a plan").interactive);
    }
}
