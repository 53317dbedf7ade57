//! Promises: waiting for one, running what is queued, and telling of rejections that nobody minded.

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Promise, Value};

use super::realm::{Realm, realm};
use super::{errors, timers};
use crate::shell::Emulate;

type Result<T> = rquickjs::Result<T>;

/// Remembers a promise that was rejected without a handler, until it gets one.
pub(super) fn track<'js>(ctx: Ctx<'js>, promise: Value<'js>, _: Value<'js>, handled: bool) {
    let realm = realm(&ctx);
    let mut rejected = realm.rejected.borrow_mut();
    rejected.retain(|known| *known != promise);
    if !handled {
        rejected.push(promise);
    }
}

/// What a promise is settled with; jobs run until it is.
pub(super) fn wait<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    promise: &Promise<'js>,
) -> Result<Value<'js>> {
    while promise.state() == PromiseState::Pending {
        if realm.state.is_stopped() {
            return Err(errors::unwind(ctx, realm));
        }
        if !ctx.execute_pending_job() && !timers::turn(ctx, realm, true)? {
            let text = "the awaited promise can never settle: nothing is left to run";
            return Err(errors::type_error(ctx, realm, text));
        }
    }
    // Whoever waits minds a rejection.
    realm.rejected.borrow_mut().retain(|known| known != promise.as_value());
    promise.result().unwrap_or_else(|| Ok(Value::new_undefined(ctx.clone())))
}

/// Ends an input: runs what is queued, and waits for its answer where the emulated shell does. An answer that is a
/// rejected promise nobody minded is thrown: `main()` at the end of a script must not fail unheard.
pub(super) fn answer<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    value: Value<'js>,
) -> Result<Value<'js>> {
    let value = match value.as_promise() {
        Some(promise) if realm.state.emulate == Emulate::Mongosh => wait(ctx, realm, promise)?,
        _ => value,
    };
    while !realm.state.is_stopped() && ctx.execute_pending_job() {}
    if realm.state.is_stopped() {
        return Err(errors::unwind(ctx, realm));
    }
    let mut rejected = realm.rejected.borrow_mut();
    let Some(at) = rejected.iter().position(|promise| *promise == value) else { return Ok(value) };
    // The others failed too, but one error ends an input.
    let promise = rejected.swap_remove(at);
    rejected.clear();
    drop(rejected);
    match reason(&promise) {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

/// Runs the timers that are due; with `waits` all of them, each when it is.
pub(super) fn run_timers<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, waits: bool) -> Result<()> {
    loop {
        let ran = timers::turn(ctx, realm, waits)?;
        while !realm.state.is_stopped() && ctx.execute_pending_job() {}
        if realm.state.is_stopped() {
            return Err(errors::unwind(ctx, realm));
        }
        if let Some(error) = unheard(realm) {
            return Err(error);
        }
        if !ran {
            return Ok(());
        }
    }
}

/// As [`answer`], and throws the first rejection that nobody minded.
pub(super) fn settle<'js>(
    ctx: &Ctx<'js>,
    realm: &Realm<'js>,
    value: Value<'js>,
) -> Result<Value<'js>> {
    let value = answer(ctx, realm, value)?;
    unheard(realm).map_or(Ok(value), Err)
}

/// The first rejection of the input that nobody minded.
pub(super) fn unheard(realm: &Realm<'_>) -> Option<rquickjs::Error> {
    realm.rejected.take().first().and_then(reason)
}

/// Why a promise was rejected.
fn reason(promise: &Value<'_>) -> Option<rquickjs::Error> {
    promise.as_promise()?.result::<Value>()?.err()
}
