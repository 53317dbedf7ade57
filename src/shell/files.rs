//! Files and the machine, as scripts of the classic shell see them.

use std::fs;
use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use bson::{RawBson, RawDocumentBuf, rawdoc};

use super::command::{number, whole};
use super::refusal::usage;
use super::{Call, Reply};
use crate::error::{Error, Result};

fn text(text: impl Into<String>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(text.into())))
}

/// The path in the first argument.
fn path<'a>(call: &'a Call<'_>) -> Result<&'a str> {
    call.text(0, "path")?.ok_or_else(|| usage(format!("{} needs the name of a file", call.method)))
}

fn failed(method: &str, path: &str, error: &std::io::Error) -> Error {
    usage(format!("{method}: {path}: {error}"))
}

/// `pwd()`.
pub(super) fn pwd(_: &mut Call<'_>) -> Result<Reply> {
    let directory = std::env::current_dir();
    text(directory.map_err(|error| failed("pwd", ".", &error))?.display().to_string())
}

/// `cd(path)`.
pub(super) fn cd(call: &mut Call<'_>) -> Result<Reply> {
    let path = path(call)?;
    std::env::set_current_dir(path).map_err(|error| failed("cd", path, &error))?;
    Ok(Reply::Nothing)
}

/// `cat(file)`: its text.
pub(super) fn cat(call: &mut Call<'_>) -> Result<Reply> {
    let path = path(call)?;
    let bytes = fs::read(path).map_err(|error| failed("cat", path, &error))?;
    text(String::from_utf8_lossy(&bytes).into_owned())
}

/// The entries of a directory, by name.
fn entries(call: &Call<'_>) -> Result<Vec<fs::DirEntry>> {
    let path = call.text(0, "path")?.unwrap_or(".");
    let listed = fs::read_dir(path).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut listed = listed.map_err(|error| failed(call.method, path, &error))?;
    listed.sort_by_key(fs::DirEntry::file_name);
    Ok(listed)
}

/// `ls(path)`: names; those of directories end with a slash.
pub(super) fn ls(call: &mut Call<'_>) -> Result<Reply> {
    let name = |entry: &fs::DirEntry| {
        let slash = if entry.path().is_dir() { "/" } else { "" };
        RawBson::String(format!("{}{slash}", entry.path().display()))
    };
    Ok(Reply::Value(RawBson::Array(entries(call)?.iter().map(name).collect())))
}

/// `listFiles(path)`: `{name, baseName, isDirectory, size}` each.
pub(super) fn list_files(call: &mut Call<'_>) -> Result<Reply> {
    let entries = entries(call)?;
    let list = entries.iter().map(|entry| {
        let directory = entry.path().is_dir();
        let mut shown: RawDocumentBuf = rawdoc! {
            "name": entry.path().display().to_string(),
            "baseName": entry.file_name().to_string_lossy().into_owned(),
            "isDirectory": directory,
        };
        if !directory {
            let size = entry.metadata().map_or(0, |metadata| metadata.len());
            let size = number(i64::try_from(size).unwrap_or(i64::MAX));
            shown.append(bson::raw::cstr!("size"), size);
        }
        RawBson::Document(shown)
    });
    Ok(Reply::Value(RawBson::Array(list.collect())))
}

/// `mkdir(path)`, with the directories above it.
pub(super) fn mkdir(call: &mut Call<'_>) -> Result<Reply> {
    let path = path(call)?;
    let existed = Path::new(path).exists();
    fs::create_dir_all(path).map_err(|error| failed("mkdir", path, &error))?;
    Ok(Reply::Value(RawBson::Document(rawdoc! { "exists": true, "created": !existed })))
}

/// `removeFile(path)`: a file, or a directory with all that is in it.
pub(super) fn remove_file(call: &mut Call<'_>) -> Result<Reply> {
    let path = path(call)?;
    let removed = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Reply::Value(RawBson::Boolean(false)));
        }
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
    removed.map_err(|error| failed("removeFile", path, &error))?;
    Ok(Reply::Value(RawBson::Boolean(true)))
}

/// `copyFile(from, to)`.
pub(super) fn copy_file(call: &mut Call<'_>) -> Result<Reply> {
    let from = path(call)?;
    let Some(to) = call.text(1, "to")? else { return Err(usage("copyFile needs two file names")) };
    fs::copy(from, to).map_err(|error| failed("copyFile", from, &error))?;
    Ok(Reply::Nothing)
}

/// `writeFile(path, text)`: a new file; an existing one is left alone.
pub(super) fn write_file(call: &mut Call<'_>) -> Result<Reply> {
    use std::io::Write as _;
    let path = path(call)?;
    let content = call.text(1, "text")?.unwrap_or_default();
    let written =
        fs::File::create_new(path).and_then(|mut file| file.write_all(content.as_bytes()));
    written.map_err(|error| failed("writeFile", path, &error))?;
    Ok(Reply::Nothing)
}

/// `fileExists(path)`.
pub(super) fn file_exists(call: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Boolean(Path::new(path(call)?).exists())))
}

/// `md5sumFile(path)`.
pub(super) fn md5sum_file(call: &mut Call<'_>) -> Result<Reply> {
    let path = path(call)?;
    let bytes = fs::read(path).map_err(|error| failed("md5sumFile", path, &error))?;
    text(super::md5::digest(&bytes))
}

/// `hex_md5(text)`.
pub(super) fn hex_md5(call: &mut Call<'_>) -> Result<Reply> {
    let Some(given) = call.text(0, "text")? else { return Err(usage("hex_md5 needs a text")) };
    text(super::md5::digest(given.as_bytes()))
}

/// `hostname()`: what the machine calls itself.
pub(super) fn hostname(_: &mut Call<'_>) -> Result<Reply> {
    text(machine())
}

/// The name of this machine, from wherever the platform keeps it.
pub fn machine() -> String {
    let kept = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let asked = || {
        let answer = Process::new("hostname").output().ok()?;
        String::from_utf8(answer.stdout).ok()
    };
    let name = kept.or_else(asked).unwrap_or_default().trim().to_owned();
    if name.is_empty() { "localhost".to_owned() } else { name }
}

/// `sleep(ms)`; Ctrl-C wakes it.
pub(super) fn sleep(call: &mut Call<'_>) -> Result<Reply> {
    let millis = match call.value(0) {
        None => 0,
        // A timer of JavaScript's takes anything.
        Some(value) if !call.shell.classic() => whole(value.as_raw_bson_ref()).unwrap_or(0),
        Some(value) => whole(value.as_raw_bson_ref())
            .ok_or_else(|| usage("sleep needs a number of milliseconds"))?,
    };
    let millis = u64::try_from(millis).unwrap_or(0);
    call.shell.output.flush()?;
    let start = Instant::now();
    let whole = Duration::from_millis(millis);
    while let Some(rest) = whole.checked_sub(start.elapsed()).filter(|rest| !rest.is_zero()) {
        call.shell.interrupt.check()?;
        std::thread::sleep(rest.min(Duration::from_millis(20)));
    }
    Ok(Reply::Nothing)
}

/// `quit(code)`.
pub(super) fn quit(call: &mut Call<'_>) -> Result<Reply> {
    let code = call.value(0).and_then(|code| whole(code.as_raw_bson_ref())).unwrap_or(0);
    Err(Error::Exit(i32::try_from(code & 0xff).unwrap_or(0)))
}
