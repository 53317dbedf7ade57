//! Questions that somebody other than the user asks of the user's world: they leave nothing behind in it.

use bson::RawBson;
use rquickjs::context::EvalOptions;
use rquickjs::{Function, Value};

use super::convert::Decoder;
use super::sources::INTERNAL;
use super::{Answer, Script, show};
use crate::error::Result;
use crate::print::Shown;

/// Declarations of an evaluated text stay inside the function that evaluates it.
const ASK: &str = "(function (db, last, error, commands) { return eval(arguments[4]); })";

impl Script {
    /// The value of the last expression of `text`, which sees the globals, the database `db`, the answer `last`, and two
    /// values of the shell's making.
    ///
    /// # Errors
    /// As [`Script::eval`].
    pub fn ask(
        &mut self,
        text: &str,
        db: &str,
        last: Option<&Answer>,
        error: &RawBson,
        commands: &RawBson,
    ) -> Result<Shown> {
        let last = last.map(|answer| answer.value.clone());
        self.enter(|ctx, realm| {
            let last = match last {
                Some(last) => last.restore(ctx)?,
                None => Value::new_undefined(ctx.clone()),
            };
            let mut options = EvalOptions::default();
            options.strict = false;
            options.filename = Some(format!("{INTERNAL}question"));
            let ask: Function = ctx.eval_with_options(ASK, options)?;
            let mut decoder = Decoder::built(ctx, realm);
            let error = decoder.value(error.as_raw_bson_ref())?;
            let commands = decoder.value(commands.as_raw_bson_ref())?;
            let db = realm.database(db)?;
            let answer: Value = ask.call((db, last, error, commands, text))?;
            show::value(ctx, realm, &answer)
        })
    }
}
