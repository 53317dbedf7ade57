//! What an error of a common kind is usually about, in one line behind it.

use super::Session;
use crate::error::Error;
use crate::value::extended_json::{self, Form};

/// What a command shell leaves of an operator between double quotes: `{$set: ...}` becomes `{: ...}`.
const SWALLOWED: &[&str] = &["{:", "{ :", ",:", ", :"];

/// The same, where the operator stood in quotes of its own: a field without a name.
const NAMELESS: &[&str] = &["{\"\":", "{ \"\":", "{'':", "{ '':"];

/// What is said of that.
const QUOTES: &str = "hint: did your command shell take an operator such as $set for a variable of its own? Put the code into single quotes";

impl Session {
    /// Says it, if there is something to say.
    pub(super) fn advise(&mut self, error: &Error) {
        if let Some(advice) = self.advice(error) {
            self.notice(&advice);
        }
    }

    /// A sequence taken by `findAndModify` that is not there: the answer is null.
    fn advice(&mut self, error: &Error) -> Option<String> {
        let Error::Thrown(thrown) = error else { return None };
        if thrown.name != "TypeError" || !thrown.message.ends_with(" of null") {
            return None;
        }
        let sent = self.script.shell().last_sent()?;
        let (name, _) = sent.body.iter().next()?.ok()?;
        if !name.as_str().eq_ignore_ascii_case("findandmodify") {
            return None;
        }
        let query = sent.body.get_document("query").map(ToOwned::to_owned).unwrap_or_default();
        let value = bson::RawBsonRef::Document(&query);
        let query = extended_json::text(value, Form::Relaxed, "").unwrap_or_default();
        Some(format!(
            "hint: findAndModify returned null: no document matched {query}; upsert: true creates one"
        ))
    }

    /// Looks at code of `--eval`, which a command shell has read before: with a syntax error, or an empty field name.
    pub(super) fn advise_on_quotes(&mut self, code: &str, failed: bool) {
        let holds = |pieces: &[&str]| pieces.iter().any(|piece| code.contains(piece));
        if failed && holds(SWALLOWED) || holds(NAMELESS) {
            self.notice(QUOTES);
        }
    }
}
