//! Files and directories: what `fs` stands on. An error is Node's: `ENOENT: no such file or directory, open 'a.txt'`.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, TypedArray};

use super::super::realm::realm;
use super::bytes::Bytes;

type Result<T> = rquickjs::Result<T>;

/// Gives the natives those of the disk.
pub(super) fn install<'js>(natives: &Object<'js>) -> Result<()> {
    natives.set("readFile", Func::from(read))?;
    natives.set("writeFile", Func::from(write))?;
    natives.set(
        "kind",
        Func::from(|path: String| fs::metadata(path).map_or("", |found| kind(&found))),
    )?;
    natives.set("access", Func::from(access))?;
    natives.set("stat", Func::from(stat))?;
    natives.set("readDirectory", Func::from(list))?;
    natives.set("makeDirectory", Func::from(make))?;
    natives.set("remove", Func::from(remove))?;
    natives.set("rename", Func::from(rename))?;
    natives.set("copyFile", Func::from(copy))?;
    natives.set("realPath", Func::from(real))
}

/// The system's name of an error, its number on Linux, and its words, as Node has them.
fn named(error: &io::Error) -> (&'static str, i32, &'static str) {
    match error.kind() {
        ErrorKind::NotFound => ("ENOENT", -2, "no such file or directory"),
        ErrorKind::PermissionDenied => ("EACCES", -13, "permission denied"),
        ErrorKind::AlreadyExists => ("EEXIST", -17, "file already exists"),
        ErrorKind::NotADirectory => ("ENOTDIR", -20, "not a directory"),
        ErrorKind::IsADirectory => ("EISDIR", -21, "illegal operation on a directory"),
        ErrorKind::InvalidInput => ("EINVAL", -22, "invalid argument"),
        ErrorKind::StorageFull => ("ENOSPC", -28, "no space left on device"),
        ErrorKind::ReadOnlyFilesystem => ("EROFS", -30, "read-only file system"),
        ErrorKind::DirectoryNotEmpty => ("ENOTEMPTY", -39, "directory not empty"),
        ErrorKind::CrossesDevices => ("EXDEV", -18, "cross-device link not permitted"),
        _ => ("EIO", -5, "i/o error"),
    }
}

/// Throws what a system call said. Reading a directory names no path, as in Node.
fn failed(
    ctx: &Ctx<'_>,
    error: &io::Error,
    call: &str,
    path: &str,
    to: Option<&str>,
) -> rquickjs::Error {
    let (code, number, words) = named(error);
    let target = to.map(|to| format!(" -> '{to}'")).unwrap_or_default();
    let message = match (code, call) {
        ("EISDIR", "read") => format!("{code}: {words}, {call}"),
        _ => format!("{code}: {words}, {call} '{path}'{target}"),
    };
    let realm = realm(ctx);
    let made = || {
        let error: Object = realm.error.construct((message.as_str(),))?;
        error.set("errno", number)?;
        error.set("code", code)?;
        error.set("syscall", call)?;
        if (code, call) != ("EISDIR", "read") {
            error.set("path", path)?;
        }
        if let Some(to) = to {
            error.set("dest", to)?;
        }
        Ok(error)
    };
    match made() {
        Ok(error) => ctx.throw(error.into_value()),
        Err(error) => error,
    }
}

fn read<'js>(ctx: Ctx<'js>, path: String) -> Result<TypedArray<'js, u8>> {
    let mut bytes = Vec::new();
    let opened = match path.as_str() {
        // The descriptor of standard input, as scripts name it.
        "\u{0}0" => io::stdin().lock().read_to_end(&mut bytes).map(drop),
        path => match fs::File::open(path) {
            Ok(mut file) => match file.read_to_end(&mut bytes) {
                Ok(_) => Ok(()),
                Err(error) => return Err(failed(&ctx, &error, "read", path, None)),
            },
            Err(error) => Err(error),
        },
    };
    match opened {
        Ok(()) => TypedArray::new(ctx, bytes),
        Err(error) => Err(failed(&ctx, &error, "open", &path, None)),
    }
}

/// Writes a whole file: over an old one (`w`), behind what it holds (`a`), or only a new one (`wx`, `ax`).
fn write(ctx: Ctx<'_>, path: String, Bytes(bytes): Bytes, flag: String) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    match flag.as_str() {
        "a" | "a+" | "as" => options.append(true).create(true),
        "ax" | "ax+" => options.append(true).create_new(true),
        "wx" | "wx+" => options.create_new(true),
        "r+" | "rs+" => &mut options,
        _ => options.create(true).truncate(true),
    };
    let written = options.open(&path).and_then(|mut file| file.write_all(&bytes));
    written.map_err(|error| failed(&ctx, &error, "open", &path, None))
}

fn kind(found: &Metadata) -> &'static str {
    if found.is_file() {
        "file"
    } else if found.is_dir() {
        "directory"
    } else if found.is_symlink() {
        "link"
    } else {
        "other"
    }
}

fn millis(time: io::Result<SystemTime>) -> f64 {
    time.ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0.0, |since| since.as_secs_f64() * 1000.0)
}

/// `{size, mode, kind, atimeMs, mtimeMs, birthtimeMs}` of a path, or of the link that it is.
fn stat<'js>(ctx: Ctx<'js>, path: String, link: bool) -> Result<Object<'js>> {
    let (found, call) = match link {
        true => (fs::symlink_metadata(&path), "lstat"),
        false => (fs::metadata(&path), "stat"),
    };
    let found = found.map_err(|error| failed(&ctx, &error, call, &path, None))?;
    let told = Object::new(ctx)?;
    told.set("kind", kind(&found))?;
    told.set("size", found.len() as f64)?;
    told.set("readonly", found.permissions().readonly())?;
    told.set("atimeMs", millis(found.accessed()))?;
    told.set("mtimeMs", millis(found.modified()))?;
    told.set("birthtimeMs", millis(found.created()))?;
    Ok(told)
}

/// Throws unless there is such a file.
fn access(ctx: Ctx<'_>, path: String) -> Result<()> {
    match fs::metadata(&path) {
        Ok(_) => Ok(()),
        Err(error) => Err(failed(&ctx, &error, "access", &path, None)),
    }
}

/// The names in a directory with their kinds, sorted.
fn list(ctx: Ctx<'_>, path: String) -> Result<Vec<Vec<String>>> {
    let entries = fs::read_dir(&path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| failed(&ctx, &error, "scandir", &path, None))?;
    let mut names: Vec<Vec<String>> = entries
        .iter()
        .map(|entry| {
            let kind = entry.metadata().map_or("other", |found| kind(&found));
            vec![entry.file_name().to_string_lossy().into_owned(), kind.to_owned()]
        })
        .collect();
    names.sort();
    Ok(names)
}

/// Makes a directory. With `above` those above it, too; answers with the first that was made, then.
fn make(ctx: Ctx<'_>, path: String, above: bool) -> Result<Option<String>> {
    let failed = |error: io::Error| failed(&ctx, &error, "mkdir", &path, None);
    if !above {
        return fs::create_dir(&path).map(|()| None).map_err(failed);
    }
    let whole = std::path::absolute(&path).map_err(failed)?;
    let first = whole.ancestors().take_while(|folder| !folder.exists()).last();
    let first = first.map(|folder| folder.to_string_lossy().into_owned());
    fs::create_dir_all(&path).map_err(failed)?;
    Ok(first)
}

/// Removes a file (`unlink`), an empty directory (`rmdir`) or all of it (`rm`).
fn remove(ctx: Ctx<'_>, path: String, call: String, all: bool) -> Result<()> {
    let is_directory = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
    let removed = match call.as_str() {
        "rmdir" if all => fs::remove_dir_all(&path),
        "rmdir" => fs::remove_dir(&path),
        "rm" if is_directory && all => fs::remove_dir_all(&path),
        _ if is_directory => Err(ErrorKind::IsADirectory.into()),
        _ => fs::remove_file(&path),
    };
    // `rm` looks before it removes.
    let missing = |error: &io::Error| call == "rm" && error.kind() == ErrorKind::NotFound;
    removed.map_err(|error| {
        let call = if missing(&error) { "lstat" } else { call.as_str() };
        failed(&ctx, &error, call, &path, None)
    })
}

fn rename(ctx: Ctx<'_>, from: String, to: String) -> Result<()> {
    fs::rename(&from, &to).map_err(|error| failed(&ctx, &error, "rename", &from, Some(&to)))
}

/// Copies a file; with `fresh` it must be a new one.
fn copy(ctx: Ctx<'_>, from: String, to: String, fresh: bool) -> Result<()> {
    let copied = match fresh && Path::new(&to).exists() {
        true => Err(ErrorKind::AlreadyExists.into()),
        false => fs::copy(&from, &to).map(drop),
    };
    copied.map_err(|error| failed(&ctx, &error, "copyfile", &from, Some(&to)))
}

fn real(ctx: Ctx<'_>, path: String) -> Result<String> {
    let found = fs::canonicalize(&path);
    let found = found.map_err(|error| failed(&ctx, &error, "realpath", &path, None))?;
    Ok(found.to_string_lossy().into_owned())
}
