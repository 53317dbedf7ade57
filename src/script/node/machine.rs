//! The process and the computer: what `process` and `os` stand on.

use std::io::{self, IsTerminal as _};
use std::time::Instant;
use std::{env, fs, process, thread};

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Value};

use super::super::realm::realm;
use super::super::{convert, errors};
use crate::shell;

type Result<T> = rquickjs::Result<T>;

/// Gives the natives those of the machine.
pub(super) fn install<'js>(natives: &Object<'js>) -> Result<()> {
    let start = Instant::now();
    natives.set("about", Func::from(about))?;
    natives.set("memory", Func::from(memory))?;
    natives.set("nanos", Func::from(move || start.elapsed().as_nanos() as f64))?;
    natives.set("variables", Func::from(variables))?;
    natives.set("workingDirectory", Func::from(working_directory))
}

/// Writes to a stream, `1` or `2`, as it stands.
pub(super) fn write<'js>(ctx: Ctx<'js>, stream: u32, text: Value<'js>) -> Result<()> {
    let realm = realm(&ctx);
    let text = convert::string(&ctx, &realm, &text)?;
    let written = match realm.state.shell.try_borrow() {
        Ok(shell) if stream == 2 => {
            shell.output.notice_text(&text);
            Ok(())
        }
        Ok(shell) => shell.output.text(&text),
        Err(_) => Ok(()),
    };
    written.map_err(|error| errors::throw(&ctx, &realm, error))
}

/// What does not change while a script runs.
fn about<'js>(ctx: Ctx<'js>) -> Result<Object<'js>> {
    let realm = realm(&ctx);
    let given = realm.state.shell.try_borrow().map(|shell| shell.given.clone()).unwrap_or_default();
    let about = Object::new(ctx.clone())?;
    about.set("argv", given.argv())?;
    about.set("program", env::current_exe().unwrap_or_default().to_string_lossy().into_owned())?;
    about.set("pid", process::id())?;
    about.set("hostname", shell::machine())?;
    about.set("home", env::home_dir().unwrap_or_default().to_string_lossy().into_owned())?;
    about.set("temporary", env::temp_dir().to_string_lossy().into_owned())?;
    about.set("processors", thread::available_parallelism().map_or(1, usize::from))?;
    about.set("stdin", io::stdin().is_terminal())?;
    about.set("stdout", io::stdout().is_terminal())?;
    about.set("stderr", io::stderr().is_terminal())?;
    about.set(
        "platform",
        match env::consts::OS {
            "macos" => "darwin",
            "windows" => "win32",
            other => other,
        },
    )?;
    about.set(
        "arch",
        match env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            "x86" => "ia32",
            other => other,
        },
    )?;
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    about.set("release", release.trim())?;
    let user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| env::var(name).ok());
    about.set("user", user.unwrap_or_default())?;
    Ok(about)
}

/// Memory in bytes, where the system tells: of this process, of the machine, and what is free of it.
fn memory(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |text: &str, name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.trim_start_matches(':').split_whitespace().next());
        number.and_then(|number| number.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0
    };
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let uptime = uptime.split(' ').next().and_then(|seconds| seconds.parse::<f64>().ok());
    let told = Object::new(ctx)?;
    told.set("resident", kilobytes(&status, "VmRSS"))?;
    told.set("data", kilobytes(&status, "VmData"))?;
    told.set("total", kilobytes(&machine, "MemTotal"))?;
    told.set("free", kilobytes(&machine, "MemAvailable"))?;
    told.set("uptime", uptime.unwrap_or(0.0))?;
    Ok(told)
}

/// The environment, name and value in turn.
fn variables() -> Vec<String> {
    env::vars_os()
        .flat_map(|(name, value)| [name, value])
        .map(|text| text.to_string_lossy().into_owned())
        .collect()
}

fn working_directory() -> String {
    env::current_dir().unwrap_or_default().to_string_lossy().into_owned()
}
