//! Promises: waiting for one, running what is queued, and telling of rejections that nobody minded.

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Promise, Value};

use super::errors;
use super::realm::{Realm, realm};
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
        if !ctx.execute_pending_job() {
            let text = "the awaited promise can never settle: nothing is left to run";
            return Err(errors::type_error(ctx, realm, text));
        }
    }
    // Whoever waits minds a rejection.
    realm.rejected.borrow_mut().retain(|known| known != promise.as_value());
    promise.result().unwrap_or_else(|| Ok(Value::new_undefined(ctx.clone())))
}

/// Ends an input: runs what is queued, waits for its answer where the emulated shell does, and throws the first
/// rejection that nobody minded.
pub(super) fn settle<'js>(
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
    // The promise that an input answers with counts too: `main()` at the end of a script must not fail unheard.
    let rejected = realm.rejected.take();
    let reason = rejected.first().and_then(|promise| promise.as_promise()?.result::<Value>());
    match reason {
        Some(Err(error)) => Err(error),
        _ => Ok(value),
    }
}
