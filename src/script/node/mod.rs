//! What scripts use of Node: modules by `require` and `import`, in JavaScript over the natives of this room.
//!
//! A module is a file of the prelude that is read when somebody asks for it. `disk` holds what `fs` stands on, `bytes`
//! texts and digests, `machine` the process and the computer, `address` URLs, `modules` the way from a name to a file.

mod address;
mod bytes;
mod disk;
mod machine;
pub(super) mod modules;

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Value};

use super::realm::realm;
use super::{prelude, show, timers};

type Result<T> = rquickjs::Result<T>;

/// The modules, sorted by name: `("fs", include_str!("../prelude/node/fs.js"))`.
const MODULES: &[(&str, &str)] = &[
    ("assert", include_str!("../prelude/node/assert.js")),
    ("buffer", include_str!("../prelude/node/buffer.js")),
    ("crypto", include_str!("../prelude/node/crypto.js")),
    ("events", include_str!("../prelude/node/events.js")),
    ("fs", include_str!("../prelude/node/fs.js")),
    ("os", include_str!("../prelude/node/os.js")),
    ("path", include_str!("../prelude/node/path.js")),
    ("process", include_str!("../prelude/node/process.js")),
    ("timers", include_str!("../prelude/node/timers.js")),
    ("url", include_str!("../prelude/node/url.js")),
    ("util", include_str!("../prelude/node/util.js")),
    ("web", include_str!("../prelude/node/web.js")),
];

/// Evaluates the module of that name; `undefined` when there is none.
pub(super) fn module<'js>(ctx: Ctx<'js>, name: String) -> Result<Value<'js>> {
    match MODULES.binary_search_by_key(&name.as_str(), |(name, _)| name) {
        Ok(at) => prelude::module(&ctx, &realm(&ctx), MODULES[at].0, MODULES[at].1),
        Err(_) => Ok(Value::new_undefined(ctx)),
    }
}

/// The natives under the modules; made when the first of them is asked for.
pub(super) fn natives(ctx: Ctx<'_>) -> Result<Object<'_>> {
    let natives = Object::new(ctx)?;
    natives.set("compile", Func::from(modules::compile))?;
    natives.set("calling", Func::from(modules::calling))?;
    natives.set("inspect", Func::from(show::inspect))?;
    natives.set("shown", Func::from(show::shown))?;
    natives.set("later", Func::from(timers::later))?;
    natives.set("forget", Func::from(timers::forget))?;
    natives.set("hold", Func::from(timers::hold))?;
    natives.set("write", Func::from(machine::write))?;
    disk::install(&natives)?;
    bytes::install(&natives)?;
    machine::install(&natives)?;
    address::install(&natives)?;
    Ok(natives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_sorted() {
        assert!(MODULES.is_sorted_by(|left, right| left.0 < right.0));
    }
}
