//! JavaScript values as trees of what can be shown, and the functions that show them.

use rquickjs::function::Params;
use rquickjs::{Coerced, Value};

use super::realm::Realm;
use super::{door, errors};
use crate::shell::Show;

/// Runs one of the functions that show any value.
pub(super) fn call<'js>(
    params: &Params<'_, 'js>,
    realm: &Realm<'js>,
    show: Show,
) -> rquickjs::Result<Value<'js>> {
    let ctx = params.ctx();
    let mut texts = Vec::new();
    for argument in door::arguments(params) {
        texts.push(argument.get::<Coerced<String>>()?.0);
    }
    let text = texts.join(" ");
    match show {
        Show::Print | Show::PrintJson | Show::PrintJsonOneLine => {
            let printed = realm.state.shell.borrow_mut().output.line(&text);
            printed.map_err(|error| errors::throw(ctx, realm, error))?;
            Ok(Value::new_undefined(ctx.clone()))
        }
        Show::ToJson | Show::ToJsonOneLine | Show::ToStrictJson => {
            Ok(rquickjs::String::from_str(ctx.clone(), &text)?.into_value())
        }
    }
}
