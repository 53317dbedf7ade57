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
const ASK: &str = "(function (db, last, error, commands, seed) { return eval(arguments[5]); })";

impl Script {
    /// The value of the last expression of `text`, which sees the globals, the database `db`, the answer `last`, and
    /// `error`, `commands` and `seed`, which are of the shell's making.
    ///
    /// # Errors
    /// As [`Script::eval`].
    pub fn ask(
        &mut self,
        text: &str,
        db: &str,
        last: Option<&Answer>,
        values: [&RawBson; 3],
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
            let mut value = |made: &RawBson| decoder.value(made.as_raw_bson_ref());
            let [error, commands, seed] = values;
            let (error, commands, seed) = (value(error)?, value(commands)?, value(seed)?);
            let db = realm.database(db, &None)?;
            let answer: Value = ask.call((db, last, error, commands, seed, text))?;
            show::value(ctx, realm, &answer)
        })
    }
}
