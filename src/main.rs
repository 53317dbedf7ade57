//! The `tally` program: arguments become a plan, the plan a session, the session an exit code.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Instant, SystemTime};
use std::{env, process, thread};

use tally::backend::{Backend, Embedded, Remote};
use tally::cli::{self, Place, Plan, Server, Transfer};
use tally::engine::Location;
use tally::print::{Options, Paint};
use tally::script::{Limits, ServerFunctions};
use tally::session::{Outcome, Session, Settings};
use tally::shell::{Emulate, Output, Paced, Shell};
use tally::{Error, Interrupt, Result, interrupt, lesson, pipe, repl, serve, transfer};

/// Scripts and documents are made of many small pieces, of which the C library's allocator makes heavy weather: a bulk
/// insert spent a third of its time there. Huge pages are left alone: they would double the memory of a small session.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The stack of the thread that runs scripts. QuickJS stays well inside it and answers a deeper recursion itself.
const STACK: usize = 64 * 1024 * 1024;

/// Exit code of wrong usage.
const USAGE: i32 = 2;

fn main() -> ExitCode {
    let plan = match cli::plan(env::args_os()) {
        Ok(plan) => plan,
        Err(answer) => return ExitCode::from(answer.tell()),
    };
    if let (Some(settings), Place::Embedded { location, wait }) = (&plan.serve, &plan.place) {
        let wait = wait.unwrap_or_default();
        let functions = Arc::new(ServerFunctions);
        return match serve::run(settings, location, wait, functions, &mut io::stdout()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => exit_code(refused(&error)),
        };
    }
    let interrupt = Interrupt::new();
    let worker = thread::Builder::new().name("session".to_owned()).stack_size(STACK).spawn({
        let interrupt = interrupt.clone();
        move || run(&plan, &interrupt)
    });
    listen(interrupt);
    let code = match worker.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(code))) => code,
        Ok(Ok(Err(error))) => {
            complain(&error);
            1
        }
        // The panic has been told on stderr already.
        Ok(Err(_)) | Err(_) => 1,
    };
    exit_code(code)
}

/// Exit codes are a byte; a script's `quit(256)` is 0 as in every program.
fn exit_code(code: i32) -> ExitCode {
    ExitCode::from((code & 0xff) as u8)
}

/// Says why nothing was begun. Answers with the exit code.
fn refused(error: &Error) -> i32 {
    complain(error);
    if matches!(error, Error::Usage(_)) { USAGE } else { 1 }
}

/// Ctrl-C raises the interrupt; a second one while the first still unwinds ends the process.
fn listen(interrupt: Interrupt) {
    #[expect(
        clippy::disallowed_methods,
        reason = "what does not unwind cannot be asked to return; what was acknowledged is safe"
    )]
    let handler = move || {
        if interrupt.raise() {
            process::exit(interrupt::EXIT_CODE);
        }
    };
    // Without a handler Ctrl-C ends the process at once, which is still safe.
    let _ = ctrlc::set_handler(handler);
}

/// Runs the plan: code, files, then the prompt or the pipe. Answers with the exit code.
fn run(plan: &Plan, interrupt: &Interrupt) -> Result<i32> {
    let lessons = lesson_settings(plan);
    if let Some(errand) = plan.lessons.as_ref().and_then(|lessons| lessons.errand.as_ref()) {
        return lesson::run(errand, &lessons, interrupt, &mut io::stdout());
    }
    if let Some(place) = plan.lessons.as_ref().and_then(cli::Lessons::place)
        && let Err(error) = lesson::look_up(&lessons, place)
    {
        return Ok(refused(&error));
    }
    if let Some(transfer) = &plan.transfer {
        return Ok(move_data(plan, transfer, interrupt));
    }
    let backend = match open(&plan.place, interrupt) {
        Ok(backend) => backend,
        Err(error @ Error::Usage(_)) => return Ok(refused(&error)),
        Err(error) => return Ok(unconnected(&error, plan.emulate)),
    };
    let prompt = plan.interactive && io::stdin().is_terminal();
    let paint = Paint::choose(
        io::stdout().is_terminal(),
        env::var("NO_COLOR").ok().as_deref(),
        env::var("COLORFGBG").ok().as_deref(),
    );
    let output = if io::stdout().is_terminal() {
        Output::new(io::stdout(), io::stderr())
    } else {
        Output::new(Paced::new(io::stdout()), io::stderr())
    };
    let output = if io::stderr().is_terminal() && !plan.quiet { output.watched() } else { output };
    let db = plan.db.as_deref();
    let mut shell =
        Shell::new(backend, interrupt.clone(), plan.emulate, db.unwrap_or_default(), output);
    shell.given = plan.given.clone();
    let settings = Settings {
        limits: plan
            .js_memory
            .map_or_else(Limits::default, |memory| Limits { memory, ..Limits::default() }),
        options: Options {
            paint,
            blank: prompt,
            deep: plan.deep_inspect.unwrap_or(Options::PROMPT.deep),
            ..Options::PROMPT
        },
        json: plan.json,
        prompt,
    };
    let mut session = Session::new(shell, settings)?;
    if plan.interactive {
        session.accompany(Box::new(lesson::Tutor::new(lessons)));
    }
    plan.notices.iter().for_each(|notice| session.notice(notice));
    let outcome = match begin(&mut session, plan, prompt) {
        Outcome::Done if plan.interactive => converse(&mut session, plan, prompt, interrupt)?,
        ended => ended,
    };
    let outcome = match (outcome, session.write_errors()) {
        (Outcome::Done | Outcome::Exit(0), errors @ 1..) if plan.fail_on_write_error => {
            let one = if errors == 1 { "" } else { "s" };
            session.notice(&format!("{errors} write error{one} in results"));
            Outcome::Exit(1)
        }
        (outcome, _) => outcome,
    };
    Ok(session.close(outcome))
}

/// Where commands go. A server has been reached.
fn open(place: &Place, interrupt: &Interrupt) -> Result<Arc<dyn Backend>> {
    Ok(match place {
        Place::Embedded { location, wait } => {
            let embedded = Embedded::new(location.clone()).waiting(wait.unwrap_or_default());
            Arc::new(embedded.with_functions(Arc::new(ServerFunctions)))
        }
        Place::Server(server) => Arc::new(connect(server, interrupt)?),
    })
}

/// Imports, exports or copies. Answers with the exit code.
fn move_data(plan: &Plan, errand: &Transfer, interrupt: &Interrupt) -> i32 {
    let output = Output::new(io::stdout(), io::stderr());
    let watched = io::stderr().is_terminal() && !plan.quiet;
    let output = if watched { output.watched() } else { output };
    let run = || -> Result<i32> {
        let backend = open(&plan.place, interrupt)?;
        let work =
            transfer::Work { backend: &*backend, interrupt, output: &output, quiet: plan.quiet };
        match errand {
            Transfer::Import(settings) => transfer::import(settings, work),
            Transfer::Export(settings) => transfer::export(settings, work),
            Transfer::Copy(settings, target) => {
                transfer::copy(settings, work, &*open(target, interrupt)?)
            }
        }
    };
    let outcome = run();
    output.settle();
    match outcome {
        Ok(code) | Err(Error::Exit(code)) => code,
        Err(Error::Interrupted) => interrupt::EXIT_CODE,
        Err(error) => {
            complain(&error);
            1
        }
    }
}

/// Everything before the prompt: the banner, the rc files, the code of `--eval` and the script files between them.
fn begin(session: &mut Session, plan: &Plan, prompt: bool) -> Outcome {
    if prompt && !plan.quiet && plan.lessons.is_none() {
        match repl::greet(session) {
            Outcome::Done | Outcome::Failed => {}
            exit @ Outcome::Exit(_) => return exit,
        }
    }
    match session.machine_rc() {
        Outcome::Done | Outcome::Failed => {}
        exit @ Outcome::Exit(_) => return exit,
    }
    match scripts(session, plan) {
        Outcome::Done if plan.interactive && !plan.norc => session.user_rc(),
        ended => ended,
    }
}

/// The prompt at a terminal, else the pipe.
fn converse(
    session: &mut Session,
    plan: &Plan,
    prompt: bool,
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let words = plan.lessons.as_ref().map(|lessons| &lessons.words[..]).unwrap_or_default();
    if prompt {
        return Ok(repl::run(session, &repl::Settings { quiet: plan.quiet }, words));
    }
    let input = pipe::Arriving::new(io::stdin(), interrupt.clone())?;
    Ok(match session.tell_tutor(words) {
        exit @ Outcome::Exit(_) => exit,
        Outcome::Done | Outcome::Failed => {
            let outcome = match pipe::run(session, input) {
                exit @ Outcome::Exit(_) => exit,
                last => match session.finish() {
                    Outcome::Done => last,
                    ended => ended,
                },
            };
            at_the_end(outcome, plan.emulate)
        }
    })
}

/// How lessons are given. Progress stands beside the data that the session is over.
fn lesson_settings(plan: &Plan) -> lesson::Settings {
    let lessons = plan.lessons.as_ref();
    let folder = match &plan.place {
        Place::Embedded { location: Location::Directory(folder), .. } => Some(folder.clone()),
        Place::Embedded { location: Location::Ephemeral, .. } => None,
        Place::Server(_) => cli::default_directory().ok(),
    };
    lesson::Settings {
        source: lessons.map_or(lesson::Source::Embedded, |lessons| lessons.source.clone()),
        language: lessons
            .and_then(|lessons| lessons.language.clone())
            .unwrap_or_else(|| lesson::language(|name| env::var(name).ok())),
        skipping: lessons.is_none_or(|lessons| lessons.skipping),
        folder,
        transcript: lessons.and_then(|lessons| lessons.transcript.clone()),
        seed: lessons.map_or(0, |lessons| lessons.seed),
        now: SystemTime::now,
    }
}

/// Both shells connect before they run anything, so that no script stops half-way for a mistyped address.
fn connect(server: &Server, interrupt: &Interrupt) -> Result<Remote> {
    let mut settings = server.settings.clone();
    if let Some(user) = &server.ask {
        settings.password = Some(repl::ask_password(user)?);
    }
    let remote = Remote::new(server.address.clone(), settings);
    remote.greet(interrupt, server.wait)?;
    Ok(remote)
}

/// Runs the code of `--eval`, then the files; the first that fails ends the program.
fn scripts(session: &mut Session, plan: &Plan) -> Outcome {
    for (at, code) in plan.evals.iter().enumerate() {
        let last = at + 1 == plan.evals.len();
        let outcome =
            timed(session, plan, &format!("--eval {code}"), |session| session.evaluate(code, last));
        match outcome {
            Outcome::Done => {}
            // As mongosh, whose flag this is.
            Outcome::Failed if plan.json.is_some() => return Outcome::Exit(1),
            Outcome::Failed => return failed(session, plan.emulate, -4),
            exit @ Outcome::Exit(_) => return exit,
        }
    }
    for file in &plan.files {
        if let Some(text) = announcement(plan, file) {
            session.notice(&text);
        }
        let name = file.display().to_string();
        match timed(session, plan, &name, |session| session.load(file)) {
            Outcome::Done => {}
            Outcome::Failed => {
                if plan.emulate == Emulate::Mongo {
                    session.notice(&format!("failed to load: {name}{}", where_it_is_not(file)));
                }
                return failed(session, plan.emulate, -3);
            }
            exit @ Outcome::Exit(_) => return exit,
        }
    }
    Outcome::Done
}

/// Where a file was looked for that is not there.
fn where_it_is_not(file: &Path) -> String {
    match file.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
            format!(" (there is no {})", absolute.display())
        }
        _ => String::new(),
    }
}

/// What is said before a file runs: the old shell names files where there are several, mongosh where a prompt follows.
fn announcement(plan: &Plan, file: &Path) -> Option<String> {
    let name = file.display();
    match plan.emulate {
        Emulate::Mongo if plan.files.len() > 1 || plan.verbose => {
            Some(format!("loading file: {name}"))
        }
        Emulate::Mongosh if plan.interactive && !plan.quiet || plan.verbose => {
            Some(format!("Loading file: {name}"))
        }
        Emulate::Mongo | Emulate::Mongosh => None,
    }
}

/// Runs something; with `--verbose` it is told how long that took.
fn timed(
    session: &mut Session,
    plan: &Plan,
    name: &str,
    run: impl FnOnce(&mut Session) -> Outcome,
) -> Outcome {
    let start = Instant::now();
    let outcome = run(session);
    if plan.verbose {
        let ended = if outcome == Outcome::Failed { "failed after" } else { "took" };
        session.notice(&format!("{name} {ended} {} ms", start.elapsed().as_millis()));
    }
    outcome
}

/// The end of a program whose script failed: the old shell names its code and exits with it, mongosh exits with 1.
fn failed(session: &mut Session, emulate: Emulate, code: i32) -> Outcome {
    match emulate {
        Emulate::Mongo => {
            session.notice(&format!("exiting with code {code}"));
            Outcome::Exit(code)
        }
        Emulate::Mongosh => Outcome::Exit(1),
    }
}

/// The old shell's exit code after a pipe says how the last input ended; mongosh's does not.
fn at_the_end(outcome: Outcome, emulate: Emulate) -> Outcome {
    match (outcome, emulate) {
        (Outcome::Failed, Emulate::Mongo) => Outcome::Exit(1),
        (Outcome::Failed, Emulate::Mongosh) => Outcome::Done,
        (ended, _) => ended,
    }
}

/// What the emulated shell says when there is no connection. Answers with the exit code.
fn unconnected(error: &Error, emulate: Emulate) -> i32 {
    use io::Write as _;
    let text = match (error, emulate) {
        (Error::Interrupted, _) => return interrupt::EXIT_CODE,
        (_, Emulate::Mongo) => {
            format!("Error: {error} :\nexception: connect failed\nexiting with code 1")
        }
        (Error::Command(_), Emulate::Mongosh) => format!("MongoServerError: {error}"),
        (_, Emulate::Mongosh) => format!("MongoNetworkError: {error}"),
    };
    let _ = writeln!(io::stderr(), "{text}");
    1
}

/// The last word of a program that could not start.
fn complain(error: &Error) {
    use io::Write as _;
    let _ = writeln!(io::stderr(), "tally: {error}");
}
