//! Scripts and modules: where they are found, how they are read, and what their syntax errors say.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::loader::{ImportAttributes, Loader, Resolver};
use rquickjs::module::Declared;
use rquickjs::object::Property;
use rquickjs::{Ctx, Function, Module, Object, Value};

use super::node::modules;
use super::realm::{Realm, State, realm};
use super::sources::{INTERNAL, SETTLED, Written};
use super::{errors, jobs, pasted, thrown};
use crate::dialect::{self, Code, Lines, Part, Source, Verdict};
use crate::shell::Emulate;

type Result<T> = rquickjs::Result<T>;

/// The files that were loaded: absolute paths by the names that stacks show.
#[derive(Default)]
pub(super) struct Loaded {
    paths: HashMap<String, PathBuf>,
    /// Which module imports which, by name.
    imports: Vec<(String, String)>,
}

impl Loaded {
    /// The name of a file: the one it has already, or else `name`.
    fn name(&mut self, name: String, path: PathBuf) -> String {
        match self.paths.iter().find(|(_, known)| **known == path) {
            Some((known, _)) => known.clone(),
            None => {
                self.paths.insert(name.clone(), path);
                name
            }
        }
    }
}

/// A file that was read.
struct Text {
    text: String,
    code: Code,
    verdict: Verdict,
    /// What is to be told of it before it runs.
    notices: Vec<String>,
}

/// Runs a classic script and answers with its completion value.
pub(super) fn evaluate<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    code: &Code,
    written: Written<'_>,
) -> Result<Value<'js>> {
    let name = realm.state.sources.borrow_mut().add(written, code);
    let mut options = EvalOptions::default();
    options.strict = false;
    options.promise = code.awaits;
    options.filename = Some(name);
    let value: Value = ctx.eval_with_options(code.text.as_str(), options)?;
    let Some(promise) = value.as_promise().filter(|_| code.awaits) else { return Ok(value) };
    // An awaiting script answers with `{value: its completion value}`.
    let result = jobs::wait(ctx, realm, promise)?;
    match result.as_object() {
        Some(result) => result.get("value"),
        None => Ok(result),
    }
}

/// Runs a file of either kind.
pub(super) fn run<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, path: &Path) -> Result<Value<'js>> {
    let absolute = absolute(path);
    if path.extension().is_some_and(|extension| extension == "mjs") {
        let name = path.to_string_lossy().into_owned();
        let name = realm.state.loaded.borrow_mut().name(name, absolute);
        let module = declare(ctx, realm, &name)?;
        let (_, promise) = module.eval().map_err(|error| unlinked(ctx, realm, error))?;
        jobs::wait(ctx, realm, &promise)?;
        return Ok(Value::new_undefined(ctx.clone()));
    }
    script(ctx, realm, path, &absolute)
}

/// Why modules do not fit together: the engine names the one that lacks an export, people also want to know who asked.
fn unlinked(ctx: &Ctx<'_>, realm: &Realm<'_>, error: rquickjs::Error) -> rquickjs::Error {
    if !matches!(error, rquickjs::Error::Exception) || realm.state.is_stopped() {
        return error;
    }
    let value = ctx.catch();
    if let Some(object) = value.as_object().filter(|object| object.is_error())
        && let Ok(message) = object.get::<_, String>("message")
        && let Some(importers) = importers(&realm.state, &message)
    {
        let message = Property::from(format!("{message}, from {importers}"));
        if let Err(error) = object.prop("message", message.writable().configurable()) {
            return error;
        }
    }
    ctx.throw(value)
}

/// The modules that import what the engine does not find, by its words: `... export 'a' in module 'b.mjs'`.
fn importers(state: &State, message: &str) -> Option<String> {
    let (what, module) = message.strip_suffix('\'')?.split_once("' in module '")?;
    let (_, export) = what.rsplit_once('\'')?;
    let (loaded, sources) = (state.loaded.borrow(), state.sources.borrow());
    let mut names: Vec<&str> = Vec::new();
    for (importer, imported) in &loaded.imports {
        // The engine cuts long names.
        let asks = imported.starts_with(module)
            && sources.get(importer).is_some_and(|source| source.text.contains(export));
        if asks && !names.contains(&importer.as_str()) {
            names.push(importer);
        }
    }
    (!names.is_empty()).then(|| names.join(" and "))
}

/// Runs a classic script file.
fn script<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    path: &Path,
    absolute: &Path,
) -> Result<Value<'js>> {
    let name = path.to_string_lossy().into_owned();
    let text = match read(absolute, Source::Script) {
        Ok(text) => text,
        Err(error) => {
            let text = match realm.state.emulate {
                Emulate::Mongo => match reason(&error) {
                    None => format!("error loading js file: {name}"),
                    Some((_, reason)) => format!("error loading js file: {name}: {reason}"),
                },
                Emulate::Mongosh => match reason(&error) {
                    None => {
                        format!("ENOENT: no such file or directory, open '{}'", absolute.display())
                    }
                    Some(("EISDIR", _)) => {
                        "EISDIR: illegal operation on a directory, read".to_owned()
                    }
                    Some((code, reason)) => {
                        format!("{code}: {reason}, open '{}'", absolute.display())
                    }
                },
            };
            return Err(errors::plain_error(ctx, realm, &text));
        }
    };
    realm.state.loaded.borrow_mut().paths.insert(name.clone(), absolute.to_owned());
    // A repair that does not help is not told of: the inputs of the file may need others.
    if text.notices.is_empty() || pasted::is_readable(realm, &text.code)? {
        tell(&realm.state, &text.notices);
    }
    let error = match evaluate(ctx, realm, &text.code, text.written(&name)) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Some(refusal) = refusal(ctx, realm, &error, &name) else { return Err(error) };
    match pasted::inputs(realm, &text.text)? {
        Some(inputs) => pasted::run(ctx, realm, &name, inputs),
        None => Err(explained(realm, refusal, &name, &text)),
    }
}

/// Why a file that is there cannot be read: the system's word for it, and one for people.
fn reason(error: &std::io::Error) -> Option<(&'static str, &'static str)> {
    match error.kind() {
        ErrorKind::IsADirectory => Some(("EISDIR", "it is a directory")),
        ErrorKind::PermissionDenied => Some(("EACCES", "permission denied")),
        _ => None,
    }
}

/// `load(path)`: a classic script in the global scope, from the working directory or else from beside the script that
/// loads it.
pub(super) fn load<'js>(ctx: Ctx<'js>, path: String) -> Result<bool> {
    let realm = realm(&ctx);
    if realm.state.is_stopped() {
        return Err(errors::unwind(&ctx, &realm));
    }
    let path = Path::new(&path);
    let mut found = absolute(path);
    if !found.exists()
        && let Some(beside) =
            calling_file(&ctx, &realm).and_then(|file| Some(file.parent()?.join(path)))
        && beside.exists()
    {
        found = normal(&beside);
    }
    script(&ctx, &realm, path, &found)?;
    Ok(true)
}

/// What a CommonJS file is wrapped in.
const COMMONJS: &str = "(function (exports, require, module, __filename, __dirname) {";

/// The function that a CommonJS file becomes.
pub(super) fn compile<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    path: &Path,
) -> Result<Function<'js>> {
    let name = path.to_string_lossy().into_owned();
    let mut text = match read(path, Source::Script) {
        Ok(text) => text,
        Err(error) => {
            let text = format!("cannot read {name}: {error}");
            return Err(errors::plain_error(ctx, realm, &text));
        }
    };
    tell(&realm.state, &text.notices);
    realm.state.loaded.borrow_mut().paths.insert(name.clone(), path.to_owned());
    text.code = text.code.behind(COMMONJS);
    text.code.text.push_str("\n})");
    let (code, written) = (&text.code, text.written(&name));
    let unique = realm.state.sources.borrow_mut().add(written, code);
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some(unique);
    let function = ctx.eval_with_options(code.text.as_str(), options);
    function.map_err(|error| match refusal(ctx, realm, &error, &name) {
        Some(refusal) => explained(realm, refusal, &name, &text),
        None => error,
    })
}

/// The file that the running script was read from.
pub(super) fn calling_file(ctx: &Ctx<'_>, realm: &Realm<'_>) -> Option<PathBuf> {
    const LEVELS: isize = 8;
    let loaded = realm.state.loaded.borrow();
    (0..LEVELS).find_map(|level| {
        let name = ctx.script_or_module_name(level)?.to_string().ok()?;
        if name.starts_with(INTERNAL) {
            return None;
        }
        loaded.paths.get(realm.state.sources.borrow().shown(&name)).cloned()
    })
}

/// Finds and reads modules for `import`.
pub(super) struct Files(pub(super) Rc<State>);

impl Resolver for Files {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<String> {
        let plain = name.strip_prefix("file://").unwrap_or(name);
        let path = Path::new(plain);
        let relative = plain.starts_with("./") || plain.starts_with("../");
        if !relative && !path.is_absolute() {
            return self.bare(ctx, base, name);
        }
        let sources = self.0.sources.borrow();
        let base = sources.shown(base);
        let mut loaded = self.0.loaded.borrow_mut();
        let (display, found) = match loaded.paths.get(base) {
            Some(file) if relative => {
                let folder = |path: &Path| path.parent().map(Path::to_owned).unwrap_or_default();
                (normal(&folder(Path::new(base)).join(path)), normal(&folder(file).join(path)))
            }
            _ => (normal(path), absolute(path)),
        };
        if !found.is_file() {
            drop(loaded);
            let text = format!(
                "cannot import \"{name}\" from {}: there is no file {}",
                shown_base(&self.0, base),
                found.display()
            );
            return Err(errors::plain_error(ctx, &realm(ctx), &text));
        }
        if found.extension().is_some_and(|ending| ending == "cjs" || ending == "json") {
            return Ok(modules::made(&found.to_string_lossy()));
        }
        let found = loaded.name(display.to_string_lossy().into_owned(), found);
        loaded.imports.push((base.to_owned(), found.clone()));
        Ok(found)
    }
}

impl Files {
    /// What a name stands for that is no path: a module of Node's, or a package in a folder `node_modules`.
    fn bare<'js>(&self, ctx: &Ctx<'js>, base: &str, name: &str) -> Result<String> {
        let realm = realm(ctx);
        let folder = {
            let (sources, loaded) = (self.0.sources.borrow(), self.0.loaded.borrow());
            let file = loaded.paths.get(sources.shown(base));
            let folder = file.and_then(|file| file.parent()).map(Path::to_owned);
            folder.unwrap_or_else(|| env::current_dir().unwrap_or_default())
        };
        let folder = folder.to_string_lossy().into_owned();
        let found: Option<String> = realm.core("imported")?.call((name, folder))?;
        let Some(found) = found else {
            let base = shown_base(&self.0, base);
            let modules: String = realm.core("moduleNames")?.call(())?;
            let text = format!(
                "cannot import \"{name}\" from {base}: it is no file, as \"./{name}\" would be, no package in \
                 node_modules, and none of the modules of Node that tally has: {modules}"
            );
            return Err(errors::type_error(ctx, &realm, &text));
        };
        match found.strip_prefix("file:") {
            Some(path) => Ok(self.0.loaded.borrow_mut().name(path.to_owned(), PathBuf::from(path))),
            None => Ok(modules::made(&found)),
        }
    }
}

impl Loader for Files {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> Result<Module<'js, Declared>> {
        let realm = realm(ctx);
        match modules::declare(ctx, &realm, name) {
            Some(module) => module,
            None => declare(ctx, &realm, name),
        }
    }
}

fn shown_base(state: &State, base: &str) -> String {
    if base.is_empty() {
        "the prompt".to_owned()
    } else {
        state.sources.borrow().shown(base).to_owned()
    }
}

/// Reads a module that has a name already, and compiles it.
fn declare<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, name: &str) -> Result<Module<'js, Declared>> {
    let path = realm.state.loaded.borrow().paths.get(name).cloned().unwrap_or_else(|| name.into());
    let text = match read(&path, Source::Module) {
        Ok(text) => text,
        Err(error) => {
            let text = format!("cannot read {name}: {error}");
            return Err(errors::plain_error(ctx, realm, &text));
        }
    };
    tell(&realm.state, &text.notices);
    realm.state.sources.borrow_mut().set(name.to_owned(), text.written(name), &text.code);
    let module =
        Module::declare(ctx.clone(), name, text.code.text.as_str()).map_err(
            |error| match refusal(ctx, realm, &error, name) {
                Some(refusal) => explained(realm, refusal, name, &text),
                None => error,
            },
        )?;
    let meta: Object = module.meta()?;
    meta.set("url", format!("file://{}", path.display()))?;
    meta.set("filename", path.to_string_lossy().into_owned())?;
    meta.set("dirname", path.parent().unwrap_or(&path).to_string_lossy().into_owned())?;
    Ok(module)
}

/// The syntax error with which the text of that name was refused before any of it ran, taken from the engine. Any other
/// exception stays where it is.
fn refusal<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    error: &rquickjs::Error,
    name: &str,
) -> Option<Object<'js>> {
    if !matches!(error, rquickjs::Error::Exception) || realm.state.is_stopped() {
        return None;
    }
    let value = ctx.catch();
    let refused = value.as_object().filter(|object| object.is_error()).filter(|object| {
        let stack = thrown::stack(realm, object);
        thrown::refused(object, &stack)
            .is_some_and(|file| realm.state.sources.borrow().shown(file) == name)
    });
    let refused = refused.cloned();
    if refused.is_none() {
        ctx.throw(value);
    }
    refused
}

/// Throws a syntax error in the words of the dialect, where it has some: it knows what the user wrote.
fn explained<'js>(
    realm: &Realm<'js>,
    error: Object<'js>,
    name: &str,
    text: &Text,
) -> rquickjs::Error {
    if let Some(wrong) = text.verdict.error(&text.text) {
        let (line, column) = Lines::new(&text.text).position(wrong.span.start);
        let message = Property::from(wrong.message).writable().configurable();
        let stack = thrown::stack(realm, &error);
        let callers = stack.split_once('\n').map_or("", |(_, callers)| callers);
        let stack = format!("    at {SETTLED}{name}:{line}:{column}\n{callers}");
        let changed = error
            .prop("message", message)
            .and_then(|()| realm.core("settle")?.call::<_, ()>((error.clone(), stack)));
        if let Err(error) = changed {
            return error;
        }
    }
    error.ctx().clone().throw(error.into_value())
}

/// Reads a file and lets the dialect have its say. Bytes that are no UTF-8 are told of and replaced.
fn read(path: &Path, source: Source) -> std::io::Result<Text> {
    let bytes = fs::read(path)?;
    let mut notices = Vec::new();
    let text = String::from_utf8(bytes).unwrap_or_else(|error| {
        notices.push(format!(
            "{} is not UTF-8: what could not be read became \u{FFFD}",
            path.display()
        ));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    let text = match text.strip_prefix('\u{FEFF}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    let input = dialect::parse(&text, source);
    notices.extend(input.notices);
    let code = input.parts.into_iter().find_map(|part| match part {
        Part::Script(code) => Some(code),
        Part::Word { .. } => None,
    });
    let code = code.unwrap_or_else(|| Code::plain(&text, 0..text.len()));
    Ok(Text { text, code, verdict: input.verdict, notices })
}

impl Text {
    fn written<'a>(&'a self, name: &'a str) -> Written<'a> {
        Written { name, text: &self.text, line: 1 }
    }
}

/// Says something on stderr.
pub(super) fn tell(state: &State, notices: &[String]) {
    if let Ok(shell) = state.shell.try_borrow() {
        notices.iter().for_each(|notice| shell.output.notice(notice));
    }
}

fn absolute(path: &Path) -> PathBuf {
    normal(&env::current_dir().unwrap_or_default().join(path))
}

/// The path without `.` and `..`, as far as that goes by its text.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(normal.components().next_back(), Some(Component::Normal(_))) =>
            {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_their_detours() {
        assert_eq!(normal(Path::new("a/./b/../c.mjs")), Path::new("a/c.mjs"));
        assert_eq!(normal(Path::new("../a.mjs")), Path::new("../a.mjs"));
        assert_eq!(normal(Path::new("/a/../../b")), Path::new("/../b"));
    }
}
