//! Timers: what runs later, once what runs now has ended. An input, a file, a program lasts until its timers have run.

use std::time::{Duration, Instant};

use rquickjs::function::{Args, Rest};
use rquickjs::{Ctx, Function, JsLifetime, Value};

use super::errors;
use super::realm::{Realm, realm};

type Result<T> = rquickjs::Result<T>;

/// How often a wait looks whether it was interrupted.
const LOOK: Duration = Duration::from_millis(20);

/// The longest wait that Node knows; a longer one is the shortest.
const LONGEST: f64 = 2_147_483_647.0;

/// Something that runs later.
#[derive(JsLifetime)]
struct Timer<'js> {
    number: u32,
    due: Instant,
    /// Those that are due together run in the order they were made in.
    order: u32,
    /// How long until it runs again.
    every: Option<Duration>,
    /// The script lasts until it has run.
    holds: bool,
    run: Function<'js>,
    arguments: Vec<Value<'js>>,
}

/// The timers of a script.
#[derive(Default, JsLifetime)]
pub(super) struct Timers<'js> {
    pending: Vec<Timer<'js>>,
    made: u32,
}

impl Timers<'_> {
    /// Nothing is to run any more.
    pub(super) fn clear(&mut self) {
        self.pending.clear();
    }
}

/// Runs `run` after so many milliseconds, `again` and again perhaps. Answers with the timer's number.
pub(super) fn later<'js>(
    ctx: Ctx<'js>,
    run: Function<'js>,
    millis: f64,
    again: bool,
    arguments: Rest<Value<'js>>,
) -> u32 {
    let realm = realm(&ctx);
    let mut timers = realm.timers.borrow_mut();
    timers.made += 1;
    // 0 is for `setImmediate`; `setTimeout` waits a millisecond at least, as in Node.
    let millis = if millis.is_nan() || millis > LONGEST { 1.0 } else { millis.max(0.0) };
    let wait = Duration::from_secs_f64(millis / 1000.0);
    let number = timers.made;
    let every = again.then_some(wait);
    let due = Instant::now() + wait;
    let arguments = arguments.0;
    timers.pending.push(Timer { number, due, order: number, every, holds: true, run, arguments });
    number
}

/// Takes a timer back.
pub(super) fn forget(ctx: Ctx<'_>, number: u32) {
    realm(&ctx).timers.borrow_mut().pending.retain(|timer| timer.number != number);
}

/// Says whether the script lasts until a timer has run. Answers whether there is such a timer.
pub(super) fn hold(ctx: Ctx<'_>, number: u32, holds: bool) -> bool {
    let realm = realm(&ctx);
    let mut timers = realm.timers.borrow_mut();
    let found = timers.pending.iter_mut().find(|timer| timer.number == number);
    found.map(|timer| timer.holds = holds).is_some()
}

/// Runs the next timer, if it is due; with `waits` it is waited for. Answers whether one ran.
pub(super) fn turn<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, waits: bool) -> Result<bool> {
    let next = {
        let timers = realm.timers.borrow();
        if !timers.pending.iter().any(|timer| timer.holds) {
            return Ok(false);
        }
        let next = timers.pending.iter().min_by_key(|timer| (timer.due, timer.order));
        next.map(|timer| (timer.number, timer.due))
    };
    let Some((number, due)) = next else { return Ok(false) };
    if due > Instant::now() {
        if !waits {
            return Ok(false);
        }
        sleep_until(ctx, realm, due)?;
    }
    let (run, arguments) = {
        let mut timers = realm.timers.borrow_mut();
        let Some(at) = timers.pending.iter().position(|timer| timer.number == number) else {
            return Ok(true);
        };
        timers.made += 1;
        let order = timers.made;
        let timer = &mut timers.pending[at];
        match timer.every {
            Some(every) => {
                timer.due = Instant::now() + every;
                timer.order = order;
                (timer.run.clone(), timer.arguments.clone())
            }
            None => {
                let timer = timers.pending.swap_remove(at);
                (timer.run, timer.arguments)
            }
        }
    };
    let mut args = Args::new(ctx.clone(), arguments.len());
    args.push_args(arguments)?;
    run.call_arg::<Value>(args)?;
    Ok(true)
}

fn sleep_until<'js>(ctx: &Ctx<'js>, realm: &Realm<'js>, due: Instant) -> Result<()> {
    if let Ok(shell) = realm.state.shell.try_borrow()
        && let Err(error) = shell.output.flush()
    {
        drop(shell);
        return Err(errors::throw(ctx, realm, error));
    }
    loop {
        if realm.state.is_stopped() {
            return Err(errors::unwind(ctx, realm));
        }
        match due.checked_duration_since(Instant::now()) {
            Some(rest) if !rest.is_zero() => std::thread::sleep(rest.min(LOOK)),
            _ => return Ok(()),
        }
    }
}
