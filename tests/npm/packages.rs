//! The npm packages of the proof, fetched with the ordinary npm client.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

/// What is fetched: well known, of every style from hand-written to minified, at fixed versions.
const PACKAGES: &[&str] = &[
    "acorn@8.14.0",
    "backbone@1.6.0",
    "esprima@4.0.1",
    "express@4.21.2",
    "jquery@3.7.1",
    "lodash@4.17.21",
    "moment@2.30.1",
    "mongodb@6.12.0",
    "preact@10.25.4",
    "react-dom@18.3.1",
    "rxjs@7.8.1",
    "uglify-js@3.19.3",
    "underscore@1.13.7",
];

/// Their folders below `place`, the first acorn's. What is not there yet is fetched.
pub(crate) fn packages(place: &Path) -> Vec<PathBuf> {
    thread::scope(|scope| {
        let fetches: Vec<_> =
            PACKAGES.iter().map(|name| scope.spawn(move || package(name, place))).collect();
        fetches.into_iter().map(|fetch| fetch.join().expect("the package was fetched")).collect()
    })
}

/// Where a package lies; it is fetched if it does not yet.
fn package(name: &str, place: &Path) -> PathBuf {
    let folder = place.join(name.replace('@', "-"));
    let done = folder.join("package");
    if !done.is_dir() {
        let fetched = fetch(name, &folder).or_else(|_| fetch(name, &folder));
        if let Err(error) = fetched {
            panic!("could not fetch {name} from the npm registry, twice: {error}");
        }
    }
    done
}

fn fetch(name: &str, folder: &Path) -> Result<(), String> {
    // Unpacked beside its place and then moved there, so that what is there is whole.
    let scratch = folder.with_extension("part");
    let _ = fs::remove_dir_all(&scratch);
    fs::create_dir_all(&scratch).map_err(|error| error.to_string())?;
    let pack = run(Command::new("npm").args(["pack", "--silent", name]).current_dir(&scratch))?;
    let archive = pack.lines().last().unwrap_or_default().trim().to_owned();
    run(Command::new("tar").args(["-xzf", &archive]).current_dir(&scratch))?;
    // Some archives name their folder after the package.
    let unpacked = fs::read_dir(&scratch).map_err(|error| error.to_string())?;
    let unpacked =
        unpacked.flatten().find(|entry| entry.path().is_dir()).ok_or("an empty archive")?;
    fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    fs::rename(unpacked.path(), folder.join("package")).map_err(|error| error.to_string())?;
    fs::remove_dir_all(&scratch).map_err(|error| error.to_string())
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The JavaScript files below a folder, in order.
pub(crate) fn scripts(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            scripts(&path, found);
        } else if path
            .extension()
            .is_some_and(|extension| ["js", "mjs", "cjs"].iter().any(|known| extension == *known))
        {
            found.push(path);
        }
    }
}
