//! Programs that a script starts: `run("ls", "-l")`. What they say is printed line by line behind their process id.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command as Process, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use bson::{RawBson, RawBsonRef};

use super::command::{number, whole};
use super::refusal::usage;
use super::{Call, Reply};
use crate::error::Result;

/// How often an interrupt is looked for while a program runs.
const GLANCE: Duration = Duration::from_millis(20);

/// Of what programs have said so much is remembered.
const MOST_REMEMBERED: usize = 4 << 20;

/// The words of an argument: a list of them, or one.
fn words(value: &RawBson) -> Vec<String> {
    let word = |value: RawBsonRef<'_>| match value {
        RawBsonRef::String(text) => text.to_owned(),
        other => whole(other).map_or_else(|| format!("{other:?}"), |whole| whole.to_string()),
    };
    match value {
        RawBson::Array(list) => list.into_iter().flatten().map(word).collect(),
        other => vec![word(other.as_raw_bson_ref())],
    }
}

/// `run(program, argument, ...)`: answers with the exit code.
pub(super) fn run(call: &mut Call<'_>) -> Result<Reply> {
    let words: Vec<String> = call.arguments.iter().flat_map(words).collect();
    let Some((program, arguments)) = words.split_first() else {
        return Err(usage(format!("{} needs the name of a program", call.method)));
    };
    call.shell.output.flush()?;
    let child = Process::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.map_err(|error| usage(format!("cannot run {program}: {error}")))?;
    let code = follow(call, child)?;
    Ok(Reply::Value(number(i64::from(code))))
}

/// Prints what a program says until it has ended; Ctrl-C ends it.
fn follow(call: &mut Call<'_>, mut child: Child) -> Result<i32> {
    let mark = format!("sh{}| ", child.id());
    let (sender, lines) = channel();
    let streams: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
        child.stderr.take().map(|stream| Box::new(stream) as Box<dyn Read + Send>),
    ];
    for stream in streams.into_iter().flatten() {
        let sender = sender.clone();
        thread::spawn(move || pass_on(stream, &sender));
    }
    drop(sender);
    let followed = print_all(call, &lines, &mark);
    if followed.is_err() {
        // It is not wanted any more; that it may have ended by itself is as good.
        let _ = child.kill();
    }
    let ended =
        child.wait().map_err(|error| usage(format!("cannot wait for the program: {error}")));
    followed?;
    Ok(ended?.code().unwrap_or(-1))
}

/// Hands over the lines of a stream. A byte that is no UTF-8 becomes the replacement character.
fn pass_on(stream: impl Read, lines: &Sender<String>) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = stream.read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        if lines.send(text.trim_end_matches(['\n', '\r']).to_owned()).is_err() {
            return;
        }
        line.clear();
    }
}

fn print_all(call: &mut Call<'_>, lines: &Receiver<String>, mark: &str) -> Result<()> {
    loop {
        match lines.recv_timeout(GLANCE) {
            Ok(line) => {
                let line = format!("{mark}{line}");
                call.shell.output.line(&line)?;
                let said = &mut call.shell.programs_said;
                if said.len() + line.len() < MOST_REMEMBERED {
                    said.push_str(&line);
                    said.push('\n');
                }
            }
            Err(RecvTimeoutError::Timeout) => call.shell.interrupt.check()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

/// `rawMongoProgramOutput()`: all that programs have said.
pub(super) fn said(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(call.shell.programs_said.clone())))
}

/// `clearRawMongoProgramOutput()`.
pub(super) fn forget(call: &mut Call<'_>) -> Result<Reply> {
    call.shell.programs_said.clear();
    Ok(Reply::Nothing)
}
