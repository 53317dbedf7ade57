//! `MinKey`, `MaxKey`, `Code`, and regular expressions that JavaScript has no words for.

use bson::raw::CString;
use bson::{RawBson, RawJavaScriptCodeWithScope, Regex, rawdoc};

use super::{text, this};
use crate::error::Result;
use crate::shell::refusal::{raised, usage};
use crate::shell::rows::native;
use crate::shell::{Call, Class, Reply, Shells};

/// `MinKey()`.
pub(in crate::shell) const MIN_KEY: Class = Class::instances(
    "MinKey",
    "MinKey",
    "the value below all others",
    &[
        native("constructor", "()", "the value below all others", min),
        native("toJSON", "()", "what JSON.stringify writes", min_json).only(Shells::Mongo),
        native("toString", "()", "its text", min_text),
        native("tojson", "()", "its text", min_text).only(Shells::Mongo),
    ],
);

/// `MaxKey()`.
pub(in crate::shell) const MAX_KEY: Class = Class::instances(
    "MaxKey",
    "MaxKey",
    "the value above all others",
    &[
        native("constructor", "()", "the value above all others", max),
        native("toJSON", "()", "what JSON.stringify writes", max_json).only(Shells::Mongo),
        native("toString", "()", "its text", max_text),
        native("tojson", "()", "its text", max_text).only(Shells::Mongo),
    ],
);

/// `Code("function() {}")`.
pub(in crate::shell) const CODE: Class = Class::instances(
    "Code",
    "Code",
    "JavaScript as a stored value",
    &[
        native("code", "", "its text", source),
        native("constructor", "(text, scope)", "JavaScript as a stored value", code),
        native("scope", "", "the variables it sees", scope),
        native("toString", "()", "its text", code_text),
    ],
);

/// A stored regular expression with options that JavaScript does not know.
pub(in crate::shell) const BSON_REG_EXP: Class = Class::instances(
    "BSONRegExp",
    "BSONRegExp",
    "a regular expression in the server's dialect",
    &[
        native("constructor", "(pattern, options)", "a regular expression", regular_expression),
        native("options", "", "its options", options),
        native("pattern", "", "its pattern", pattern),
        native("toString", "()", "its text", regex_text),
    ],
)
.only(Shells::Mongosh);

fn min(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Typed(RawBson::MinKey))
}

fn max(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Typed(RawBson::MaxKey))
}

fn min_json(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(rawdoc! { "$minKey": 1 })))
}

fn max_json(_: &mut Call<'_>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::Document(rawdoc! { "$maxKey": 1 })))
}

fn min_text(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(if call.shell.classic() { "{ \"$minKey\" : 1 }" } else { "MinKey()" }))
}

fn max_text(call: &mut Call<'_>) -> Result<Reply> {
    Ok(text(if call.shell.classic() { "{ \"$maxKey\" : 1 }" } else { "MaxKey()" }))
}

fn code(call: &mut Call<'_>) -> Result<Reply> {
    let code = match call.value(0) {
        None => String::new(),
        Some(RawBson::String(code) | RawBson::JavaScriptCode(code)) => code.clone(),
        Some(_) => return Err(usage("Code needs a text or a function")),
    };
    Ok(Reply::Typed(match call.options(1) {
        None => RawBson::JavaScriptCode(code),
        Some(scope) => RawBson::JavaScriptCodeWithScope(RawJavaScriptCodeWithScope { code, scope }),
    }))
}

fn source_text(call: &Call<'_>) -> Result<String> {
    match this(call)? {
        RawBson::JavaScriptCode(code) => Ok(code.clone()),
        RawBson::JavaScriptCodeWithScope(both) => Ok(both.code.clone()),
        _ => Err(usage(format!("{} must be called on a Code", call.method))),
    }
}

fn source(call: &mut Call<'_>) -> Result<Reply> {
    source_text(call).map(text)
}

fn scope(call: &mut Call<'_>) -> Result<Reply> {
    Ok(match this(call)? {
        RawBson::JavaScriptCodeWithScope(both) => {
            Reply::Value(RawBson::Document(both.scope.clone()))
        }
        _ => Reply::Nothing,
    })
}

fn code_text(call: &mut Call<'_>) -> Result<Reply> {
    source_text(call).map(text)
}

fn regular_expression(call: &mut Call<'_>) -> Result<Reply> {
    let part = |text: Option<&str>| CString::try_from(text.unwrap_or_default());
    let (pattern, options) = (part(call.text(0, "pattern")?), part(call.text(1, "options")?));
    let (Ok(pattern), Ok(options)) = (pattern, options) else {
        return Err(usage("a regular expression cannot hold a null character"));
    };
    if let Some(other) = options.as_str().chars().find(|option| !"imxlsu".contains(*option)) {
        let text = format!("The regular expression option [{other}] is not supported");
        return Err(raised("BSONError", text));
    }
    Ok(Reply::Typed(RawBson::RegularExpression(Regex { pattern, options })))
}

fn regex(call: &Call<'_>) -> Result<(String, String)> {
    match this(call)? {
        RawBson::RegularExpression(regex) => {
            Ok((regex.pattern.as_str().to_owned(), regex.options.as_str().to_owned()))
        }
        _ => Err(usage(format!("{} must be called on a regular expression", call.method))),
    }
}

fn pattern(call: &mut Call<'_>) -> Result<Reply> {
    regex(call).map(|(pattern, _)| text(pattern))
}

fn options(call: &mut Call<'_>) -> Result<Reply> {
    regex(call).map(|(_, options)| text(options))
}

fn regex_text(call: &mut Call<'_>) -> Result<Reply> {
    regex(call).map(|(pattern, options)| text(format!("/{pattern}/{options}")))
}
