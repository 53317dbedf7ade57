//! The command line: flags and positional arguments become a plan of what to run.

mod accepted;
mod answer;
mod given;
mod serve;
mod server;
mod transfer;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use accepted::Accepted;
pub use answer::{Answer, plan};
pub use serve::Serve;
pub use server::{Server, ServerFlags};
pub use transfer::{Copy, Export, Import, Transfer, Whereabouts};

use crate::engine::Location;
use crate::error::{Error, Result};
use crate::lesson::{Errand, Source};
use crate::print;
use crate::shell::{Emulate, Given};
use crate::value::extended_json::Form;

/// A mongo shell in one small binary: embedded by default, prints what the mongo shell prints.
#[derive(Debug, Parser)]
#[command(name = "tally", version, about, max_term_width = 100, after_help = POSITIONALS)]
pub struct Arguments {
    /// Something else than a plain prompt.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// A database name or server address, then script files.
    #[arg(value_name = "DB | FILE")]
    pub positional: Vec<String>,
    /// What scripts find in `process.argv` and `scriptArgs`.
    #[arg(last = true, value_name = "ARGUMENT")]
    pub arguments: Vec<String>,
    /// Run CODE and print the value of the last one. May be repeated; runs before any file.
    #[arg(short = 'e', long, value_name = "CODE", allow_hyphen_values = true)]
    pub eval: Vec<String>,
    /// Run a script file, whatever its name. May be repeated.
    #[arg(short, long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// Print results in this style; but at a prompt all documents of a cursor.
    #[arg(long, value_name = "STYLE", value_parser = styles(), conflicts_with = "json")]
    pub format: Option<String>,
    /// With --eval: print its value, or the error that it throws, as extended JSON (canonical or relaxed; default: canonical).
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "canonical", value_parser = json_form)]
    pub json: Option<Form>,
    /// End with exit code 1 if a write error stood in a result (WriteResult, BulkWriteResult), though the script went on.
    #[arg(long)]
    pub fail_on_write_error: bool,
    /// Make the global variable NAME, a string, before anything runs. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = given::variable)]
    pub set: Vec<(String, String)>,
    /// Go on to the prompt after the given code and files.
    #[arg(long)]
    pub shell: bool,
    /// No banner, and no `bye`.
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Say on standard error which code and files run, where, and how long they take.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Do not read ~/.tallyrc.js, ~/.mongorc.js or ~/.mongoshrc.js.
    #[arg(long, global = true)]
    pub norc: bool,
    /// Start without a database; every positional argument is a file.
    #[arg(long, conflicts_with_all = ["host", "port"])]
    pub nodb: bool,
    /// Keep the data in DIR (default: $TALLY_DATA, or the platform's data folder for tally).
    #[arg(long, value_name = "DIR", conflicts_with = "ephemeral", global = true)]
    pub data: Option<PathBuf>,
    /// Keep the data in a scratch directory that is removed at the end.
    #[arg(long, global = true)]
    pub ephemeral: bool,
    /// Wait for a process that holds the data directory and does not answer, or until a server can be reached (30s), at most for TIME.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, value_parser = server::duration, global = true)]
    pub wait: Option<Option<Duration>>,
    /// The most memory that scripts may use, in megabytes (default: half of the machine's).
    #[arg(long, alias = "jsHeapLimitMB", value_name = "MB", value_parser = clap::value_parser!(u32).range(1..))]
    pub js_memory: Option<u32>,
    /// With mongosh, show what a server sent whole, at any depth (default: true).
    #[arg(long = "deep-inspect", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub deep_inspect: Option<bool>,
    /// Print what this program is made of, as a JSON document.
    #[arg(long = "build-info")]
    pub build_info: bool,
    /// Which shell to behave like (default: mongo, or mongosh when started under that name).
    #[arg(long, value_name = "SHELL", global = true)]
    pub emulate: Option<Shell>,
    /// What connect() and new Mongo() mean by an address of this machine in an embedded session (default: engine).
    #[arg(long, value_name = "WHAT", value_parser = ["engine", "server"])]
    pub localhost: Option<String>,
    /// The flags about a server.
    #[command(flatten)]
    pub server: ServerFlags,
    /// What the other shells have.
    #[command(flatten)]
    pub accepted: Accepted,
}

const POSITIONALS: &str = "\
A positional argument is a script file if it ends in .js, .mjs, .cjs or .mongodb, or names an existing file with a dot \
in its name; otherwise the first one is the database to use, on the embedded engine, or the address of a MongoDB \
server: mongodb://..., mongodb+srv://..., host:port/db or host/db. What stands behind -- is for the scripts.

Order: /etc/mongorc.js (emulating mongo), --eval, files; then, unless there was code or a file and no --shell, the first of \
~/.tallyrc.js and ~/.mongorc.js (~/.mongoshrc.js), and the prompt.

Exit codes: 0 well, 1 the last input failed or no connection, 2 wrong usage; with --emulate mongo 251 when ~/.mongorc.js throws, 252 \
when --eval throws and 253 when a file throws or is missing; quit(n) exits with n.";

/// What else there is.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Lessons on numbering documents, at the prompt.
    Learn(Learn),
    /// Let any client of MongoDB use the embedded engine.
    Serve(Serve),
    /// Bring the documents of a file into a collection: JSON, CSV, TSV, BSON.
    Import(Box<Import>),
    /// Write the documents of a collection: JSON, CSV, BSON.
    Export(Box<Export>),
    /// Copy databases from a data directory to a server, or the other way.
    Copy(Box<Copy>),
    /// Print what makes a command shell complete the flags: tally completions bash > ~/.local/share/bash-completion/completions/tally
    Completions {
        /// The command shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page: tally man > ~/.local/share/man/man1/tally.1
    Man,
}

impl Command {
    /// The word of what has flags of its own to be explained.
    fn errand(&self) -> Option<&'static str> {
        match self {
            Self::Import(_) => Some("import"),
            Self::Export(_) => Some("export"),
            Self::Copy(_) => Some("copy"),
            Self::Learn(_) | Self::Serve(_) | Self::Completions { .. } | Self::Man => None,
        }
    }
}

/// What `tally learn` is told.
#[derive(Debug, Args)]
pub struct Learn {
    /// A lesson (4), a step (4.2) or challenge; for authors: new DIR, lint DIR, test DIR.
    #[arg(value_name = "LESSON")]
    pub words: Vec<String>,
    /// List the lessons.
    #[arg(long)]
    pub list: bool,
    /// Do not let steps be skipped, for classes.
    #[arg(long)]
    pub no_skip: bool,
    /// Try every solution and every mistake of every page; exits with 1 if something does not hold.
    #[arg(long)]
    pub check_all: bool,
    /// For classes: add what is typed, and how long each step takes, to a Markdown file.
    #[arg(long, value_name = "FILE")]
    pub transcript: Option<PathBuf>,
    /// For classes: another number makes other data.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u32,
    /// The language of the lessons (default: that of the environment).
    #[arg(long, value_name = "LANG")]
    pub lang: Option<String>,
    /// Take the pages from DIR instead of the program.
    #[arg(long, value_name = "DIR")]
    pub lessons: Option<PathBuf>,
}

/// Lessons, as they are to be given.
#[derive(Debug, PartialEq)]
pub struct Lessons {
    /// Where the pages come from.
    pub source: Source,
    /// The language that was asked for.
    pub language: Option<String>,
    /// Steps may be skipped.
    pub skipping: bool,
    /// The file that a transcript goes into.
    pub transcript: Option<PathBuf>,
    /// What the data of the lessons is made from.
    pub seed: u32,
    /// Do this instead of a prompt.
    pub errand: Option<Errand>,
    /// What to begin with, as the words of the prompt: `learn`, `4.2`.
    pub words: Vec<String>,
}

impl Lessons {
    /// The lesson or the step to begin with.
    pub fn place(&self) -> Option<&str> {
        self.words.get(1).map(String::as_str).filter(|word| starts_with_digit(word))
    }
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

impl Learn {
    /// # Errors
    /// [`Error::Usage`] for words that are neither a lesson nor an errand.
    fn plan(self) -> Result<Lessons> {
        let mut source = self.lessons.map_or(Source::Embedded, Source::Folder);
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let errand = match words[..] {
            _ if self.list => Some(Errand::List),
            _ if self.check_all => Some(Errand::Test(self.lang.clone())),
            ["new", folder] => Some(Errand::New(folder.into())),
            ["lint"] => Some(Errand::Lint),
            ["test"] => Some(Errand::Test(self.lang.clone())),
            ["lint" | "test", folder] => {
                source = Source::Folder(folder.into());
                let test = Errand::Test(self.lang.clone());
                Some(if words[0] == "lint" { Errand::Lint } else { test })
            }
            [] => None,
            ["challenge"] => None,
            [place] if starts_with_digit(place) => None,
            _ => {
                let text = "learn takes a lesson (4), a step (4.2), challenge, new DIR, lint [DIR] or test [DIR]";
                return Err(Error::Usage(format!("{text}, not `{}`", words.join(" "))));
            }
        };
        let words = std::iter::once("learn".to_owned()).chain(self.words).collect();
        let (skipping, transcript, seed) = (!self.no_skip, self.transcript, self.seed);
        Ok(Lessons { source, language: self.lang, skipping, transcript, seed, errand, words })
    }
}

/// The values of `--emulate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    /// The classic mongo shell.
    Mongo,
    /// mongosh 2.x.
    Mongosh,
}

/// Where commands go.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// The engine in this process.
    Embedded {
        /// Where it keeps its data.
        location: Location,
        /// Wait so long for a held data directory.
        wait: Option<Duration>,
    },
    /// A MongoDB server.
    Server(Box<Server>),
}

/// What to run, in order.
#[derive(Debug, PartialEq)]
pub struct Plan {
    /// The emulated shell.
    pub emulate: Emulate,
    /// The database to start in; `None` with `--nodb`.
    pub db: Option<String>,
    /// Where commands go.
    pub place: Place,
    /// The texts of `--eval`.
    pub evals: Vec<String>,
    /// Script files.
    pub files: Vec<PathBuf>,
    /// Go on to the prompt or the pipe.
    pub interactive: bool,
    /// No banner.
    pub quiet: bool,
    /// Say what runs.
    pub verbose: bool,
    /// Do not read the user's rc file.
    pub norc: bool,
    /// What the scripts are given.
    pub given: Given,
    /// What `--json` asks for.
    pub json: Option<Form>,
    /// A write error in a result is the program's failure.
    pub fail_on_write_error: bool,
    /// What `--deep-inspect` says.
    pub deep_inspect: Option<bool>,
    /// What is to be told before anything runs.
    pub notices: Vec<String>,
    /// The limit of `--js-memory`, in bytes.
    pub js_memory: Option<usize>,
    /// Lessons instead of a plain prompt.
    pub lessons: Option<Lessons>,
    /// A server instead of a prompt.
    pub serve: Option<crate::serve::Settings>,
    /// An errand instead of a prompt.
    pub transfer: Option<Transfer>,
}

impl Arguments {
    /// The plan that these arguments describe, for a program that was started as `program`.
    ///
    /// # Errors
    /// [`Error::Usage`] for an address that is none, for flags that contradict each other, or when no data directory can
    /// be found.
    pub fn plan(mut self, program: &str) -> Result<Plan> {
        let emulate = match self.emulate {
            Some(Shell::Mongo) => Emulate::Mongo,
            Some(Shell::Mongosh) => Emulate::Mongosh,
            None => answer::started_as(program).unwrap_or_default(),
        };
        let notices = self.accepted.notices()?;
        let (mut lessons, mut serve, mut errand) = (None, None, None);
        match self.command.take() {
            Some(Command::Learn(learn)) => lessons = Some(learn.plan()?),
            Some(Command::Serve(settings)) => serve = Some(settings.settings(self.quiet)),
            Some(Command::Import(import)) => errand = Some(import.plan(self.local("import")?)?),
            Some(Command::Export(export)) => errand = Some(export.plan(self.local("export")?)?),
            Some(Command::Copy(copy)) => errand = Some(copy.plan(self.local("copy")?)?),
            Some(Command::Completions { .. } | Command::Man) | None => {}
        }
        let mut positional = self.positional.into_iter().peekable();
        let word = match positional.peek() {
            Some(first) if !self.nodb && !is_file(first) => positional.next(),
            _ => None,
        };
        let server = self.server.server(word.as_deref(), self.wait)?;
        let named = server.as_ref().map_or(word.as_deref(), |server| server.address.database());
        let db = (!self.nodb).then(|| named.unwrap_or("test").to_owned());
        let local = transfer::Local { data: self.data, ephemeral: self.ephemeral, wait: self.wait };
        let (place, transfer) = match errand {
            Some((place, transfer)) => (place, Some(transfer)),
            None => (local.place(server)?, None),
        };
        let files: Vec<_> = self.file.into_iter().chain(positional.map(PathBuf::from)).collect();
        if self.json.is_some() && (self.eval.is_empty() || self.shell || !files.is_empty()) {
            return Err(Error::Usage(
                "Cannot use --json without --eval or with --shell or with extra files".to_owned(),
            ));
        }
        let given = Given {
            format: self.format,
            local_servers: self.localhost.is_some_and(|what| what == "server"),
            program: program.to_owned(),
            script: files.first().cloned(),
            arguments: self.arguments,
            variables: self.set,
        };
        Ok(Plan {
            emulate,
            db,
            place,
            interactive: self.shell || (self.eval.is_empty() && files.is_empty()),
            evals: self.eval,
            files,
            quiet: self.quiet,
            verbose: self.verbose,
            norc: self.norc,
            given,
            json: self.json,
            fail_on_write_error: self.fail_on_write_error,
            deep_inspect: self.deep_inspect,
            notices,
            js_memory: self.js_memory.map(|megabytes| megabytes as usize * 1024 * 1024),
            lessons,
            serve,
            transfer,
        })
    }
}

/// The styles by name, each with its help.
fn styles() -> clap::builder::PossibleValuesParser {
    let rows = print::STYLES.iter();
    rows.map(|row| clap::builder::PossibleValue::new(row.name).help(row.help)).into()
}

/// What `--json` may say.
fn json_form(name: &str) -> std::result::Result<Form, String> {
    match name {
        "canonical" | "true" => Ok(Form::Canonical),
        "relaxed" => Ok(Form::Relaxed),
        _ => Err("it is canonical or relaxed".to_owned()),
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

/// `$TALLY_DATA`, or the platform's data folder for tally.
///
/// # Errors
/// [`Error::Usage`] when there is no home.
pub fn default_directory() -> Result<PathBuf> {
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
        let all = ["tally"].iter().chain(arguments);
        Arguments::try_parse_from(all).expect("the flags are known").plan("tally")
    }

    fn server(arguments: &[&str]) -> (String, Option<String>) {
        let plan = plan(arguments).expect("a plan");
        let Place::Server(server) = plan.place else { panic!("{arguments:?} names a server") };
        (server.address.hosts().to_owned(), plan.db)
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
    fn an_address_is_a_server_and_names_the_database() {
        let named = |hosts: &str, db: &str| (hosts.to_owned(), Some(db.to_owned()));
        assert_eq!(server(&["mongodb://db.example/shop"]), named("db.example:27017", "shop"));
        assert_eq!(server(&["localhost:27018/shop"]), named("localhost:27018", "shop"));
        assert_eq!(server(&["db.example/shop"]), named("db.example:27017", "shop"));
        assert_eq!(server(&["db.example"]), named("db.example:27017", "test"));
        assert_eq!(server(&["--host", "db.example", "shop"]), named("db.example:27017", "shop"));
        assert_eq!(server(&["--port", "27018"]), named("127.0.0.1:27018", "test"));
        let embedded = plan(&["--ephemeral", "shop"]).expect("a plan").place;
        assert_eq!(embedded, Place::Embedded { location: Location::Ephemeral, wait: None });
    }

    #[test]
    fn flags_that_contradict_an_address_are_refused_without_showing_the_password() {
        let address = "mongodb://ann:s3cret@db.example/shop";
        for flags in [
            &["--ephemeral"][..],
            &["--data", "d"],
            &["--port", "1"],
            &["--username", "bob"],
            &["--password", "other"],
        ] {
            let Err(Error::Usage(text)) = plan(&[&[address], flags].concat()) else {
                panic!("{flags:?} must be refused")
            };
            assert!(text.contains("mongodb://ann:***@db.example/shop"), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }

    #[test]
    fn learn_is_a_word_of_its_own_and_takes_the_flags_of_the_rest() {
        let lessons =
            |arguments: &[&str]| plan(arguments).map(|plan| plan.lessons.expect("lessons"));
        let four =
            lessons(&["learn", "4.2", "--quiet", "--no-skip", "--lang", "es"]).expect("a plan");
        assert_eq!(four.words, ["learn", "4.2"]);
        assert_eq!((four.skipping, four.language.as_deref()), (false, Some("es")));
        let test = lessons(&["learn", "test", "pages"]).expect("a plan");
        assert_eq!(test.source, Source::Folder("pages".into()));
        assert_eq!(test.errand, Some(Errand::Test(None)));
        assert_eq!(lessons(&["learn", "--list"]).expect("a plan").errand, Some(Errand::List));
        assert!(matches!(plan(&["learn", "to fly"]), Err(Error::Usage(_))));
        assert_eq!(plan(&["shop", "learn"]).expect("a plan").lessons, None);
    }

    #[test]
    fn a_password_is_asked_for_when_only_a_user_is_given() {
        let asked = |arguments: &[&str]| {
            let plan = plan(arguments).expect("a plan");
            let Place::Server(server) = plan.place else { panic!("{arguments:?} names a server") };
            server.ask
        };
        let ann = Some("ann".to_owned());
        assert_eq!(asked(&["mongodb://h", "-u", "ann"]), ann);
        assert_eq!(asked(&["mongodb://h", "-u", "ann", "-p"]), ann);
        assert_eq!(asked(&["mongodb://ann@h", "-p"]), ann);
        assert_eq!(asked(&["mongodb://h", "-u", "ann", "-p", "s3cret"]), None);
        assert_eq!(asked(&["mongodb://ann:s3cret@h"]), None);
        assert_eq!(asked(&["mongodb://h"]), None);
        let x509 = ["mongodb://h", "-u", "ann", "--authenticationMechanism", "MONGODB-X509"];
        assert_eq!(asked(&x509), None);
    }

    #[test]
    fn flags_about_a_server_need_one() {
        for flags in [&["-u", "ann"][..], &["--tls"], &["--timeout", "1s"], &["-p"]] {
            let Err(Error::Usage(text)) = plan(flags) else { panic!("{flags:?} must be refused") };
            assert!(text.contains("give its address, or --host"), "{text}");
        }
        assert!(plan(&["--host", "h", "-p"]).is_err(), "nobody is named");
        let waits = plan(&["--ephemeral", "--wait=5s"]).expect("a plan").place;
        let wait = Some(Duration::from_secs(5));
        assert_eq!(waits, Place::Embedded { location: Location::Ephemeral, wait });
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
