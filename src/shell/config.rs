//! mongosh's `config`: settings of the shell by name, each with the values that it takes.

use bson::{Bson, RawBson};

use super::command::whole;
use super::refusal::usage;
use super::rows::native;
use super::{Call, Class, Reply, Shells};
use crate::error::Result;

/// mongosh's `config`.
pub(super) const CONFIG: Class = Class::functions(
    "Config",
    "config",
    "settings of the shell",
    &[
        native("get", "(name)", "the value of a setting", get),
        native("reset", "(name)", "gives a setting its first value again", reset),
        native("set", "(name, value)", "changes a setting", set),
    ],
)
.only(Shells::Mongosh);

/// What the settings decide that printing looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// Levels that are shown below the outermost; `None` for all.
    pub depth: Option<usize>,
    /// Short objects share lines.
    pub compact: bool,
}

impl Default for Inspection {
    fn default() -> Self {
        Self { depth: Some(6), compact: true }
    }
}

/// A setting.
struct Setting {
    name: &'static str,
    /// Its first value.
    first: Value,
    takes: Takes,
}

/// A value that a setting begins with.
#[derive(Clone, Copy)]
enum Value {
    Undefined,
    Null,
    Boolean(bool),
    Number(i32),
    Text(&'static str),
}

/// What a setting can be set to.
#[derive(Clone, Copy)]
enum Takes {
    Boolean,
    BooleanOrPositive,
    OneOf(&'static [&'static str]),
    Positive,
    PositiveOrNull,
    PositiveOrUndefined,
    Text,
    TextOrNull,
    TextOrUndefined,
}

/// The settings, in the order of mongosh's own list. tally sends nothing to anybody: the setting is there, and off.
const SETTINGS: &[Setting] = &[
    Setting { name: DISPLAY_BATCH_SIZE, first: Value::Number(20), takes: Takes::Positive },
    Setting { name: "maxTimeMS", first: Value::Null, takes: Takes::PositiveOrNull },
    Setting { name: "enableTelemetry", first: Value::Boolean(false), takes: Takes::Boolean },
    Setting { name: "editor", first: Value::Null, takes: Takes::TextOrNull },
    Setting { name: "disableSchemaSampling", first: Value::Boolean(false), takes: Takes::Boolean },
    Setting { name: "snippetIndexSourceURLs", first: Value::Text(""), takes: Takes::Text },
    Setting { name: "snippetRegistryURL", first: Value::Text(""), takes: Takes::Text },
    Setting { name: "snippetAutoload", first: Value::Boolean(true), takes: Takes::Boolean },
    Setting { name: INSPECT_COMPACT, first: Value::Number(3), takes: Takes::BooleanOrPositive },
    Setting { name: INSPECT_DEPTH, first: Value::Number(6), takes: Takes::Positive },
    Setting { name: "historyLength", first: Value::Number(1000), takes: Takes::Positive },
    Setting { name: "showStackTraces", first: Value::Boolean(false), takes: Takes::Boolean },
    Setting {
        name: "redactHistory",
        first: Value::Text("remove"),
        takes: Takes::OneOf(&["keep", "remove", "remove-redact"]),
    },
    Setting { name: "oidcRedirectURI", first: Value::Undefined, takes: Takes::TextOrUndefined },
    Setting { name: "browser", first: Value::Undefined, takes: Takes::TextOrUndefined },
    Setting { name: "updateURL", first: Value::Text(""), takes: Takes::Text },
    Setting { name: "disableLogging", first: Value::Boolean(false), takes: Takes::Boolean },
    Setting { name: "logLocation", first: Value::Undefined, takes: Takes::TextOrUndefined },
    Setting { name: "logRetentionDays", first: Value::Number(30), takes: Takes::Positive },
    Setting { name: "logMaxFileCount", first: Value::Number(100), takes: Takes::Positive },
    Setting { name: "logCompressionEnabled", first: Value::Boolean(false), takes: Takes::Boolean },
    Setting { name: "logRetentionGB", first: Value::Undefined, takes: Takes::PositiveOrUndefined },
];

const DISPLAY_BATCH_SIZE: &str = "displayBatchSize";
const INSPECT_COMPACT: &str = "inspectCompact";
const INSPECT_DEPTH: &str = "inspectDepth";

impl Value {
    fn bson(self) -> RawBson {
        match self {
            Self::Undefined => RawBson::Undefined,
            Self::Null => RawBson::Null,
            Self::Boolean(value) => RawBson::Boolean(value),
            Self::Number(number) => RawBson::Int32(number),
            Self::Text(text) => RawBson::String(text.to_owned()),
        }
    }
}

impl Takes {
    /// Whether a value is one; what must be, if it is not.
    fn check(self, value: &RawBson) -> std::result::Result<(), String> {
        let positive = match value {
            RawBson::Double(number) => *number > 0.0,
            RawBson::Int32(number) => *number > 0,
            RawBson::Int64(number) => *number > 0,
            _ => false,
        };
        let boolean = matches!(value, RawBson::Boolean(_));
        let text = matches!(value, RawBson::String(_));
        let (null, undefined) = (*value == RawBson::Null, *value == RawBson::Undefined);
        let (holds, words) = match self {
            Self::Boolean => (boolean, "a boolean"),
            Self::BooleanOrPositive => (boolean || positive, "a boolean or a positive integer"),
            Self::OneOf(names) => (
                matches!(value, RawBson::String(text) if names.contains(&text.as_str())),
                "one of 'keep', 'remove', or 'remove-redact'",
            ),
            Self::Positive => (positive, "a positive integer"),
            Self::PositiveOrNull => (positive || null, "null or a positive integer"),
            Self::PositiveOrUndefined => (positive || undefined, "a positive number or undefined"),
            Self::Text => (text, "a valid URL or empty"),
            Self::TextOrNull => (text || null, "a string or null"),
            Self::TextOrUndefined => (text || undefined || boolean, "undefined or a string"),
        };
        if holds { Ok(()) } else { Err(format!("must be {words}")) }
    }
}

fn setting(call: &Call<'_>) -> Result<std::result::Result<&'static Setting, String>> {
    let name = call.text(0, "name")?.unwrap_or_default();
    let known = SETTINGS.iter().find(|setting| setting.name == name);
    Ok(known.ok_or_else(|| format!("Option \"{name}\" is not available in this environment")))
}

fn said(text: impl Into<String>) -> Result<Reply> {
    Ok(Reply::Value(RawBson::String(text.into())))
}

fn get(call: &mut Call<'_>) -> Result<Reply> {
    let Ok(setting) = setting(call)? else { return Ok(Reply::Nothing) };
    if setting.name == DISPLAY_BATCH_SIZE {
        let size = i32::try_from(call.shell.batch_size).unwrap_or(i32::MAX);
        return Ok(Reply::Value(RawBson::Int32(size)));
    }
    let own = call.shell.settings.iter().find(|(name, _)| *name == setting.name);
    Ok(Reply::Value(own.map_or_else(|| setting.first.bson(), |(_, value)| value.clone())))
}

fn set(call: &mut Call<'_>) -> Result<Reply> {
    let setting = match setting(call)? {
        Ok(setting) => setting,
        Err(unknown) => return said(unknown),
    };
    let name = setting.name;
    let value = call.arguments.get(1).cloned().unwrap_or(RawBson::Undefined);
    if let Err(words) = setting.takes.check(&value) {
        return said(format!("Cannot set option \"{name}\": {name} {words}"));
    }
    apply(call, name, &value)?;
    call.shell.settings.retain(|(known, _)| *known != name);
    call.shell.settings.push((name, value));
    said(format!("Setting \"{name}\" has been changed"))
}

fn reset(call: &mut Call<'_>) -> Result<Reply> {
    let setting = match setting(call)? {
        Ok(setting) => setting,
        Err(unknown) => return said(unknown),
    };
    let name = setting.name;
    apply(call, name, &setting.first.bson())?;
    call.shell.settings.retain(|(known, _)| *known != name);
    said(format!("Setting \"{name}\" has been reset to its default value"))
}

/// Does what a new value means.
fn apply(call: &mut Call<'_>, name: &str, value: &RawBson) -> Result<()> {
    let number = whole(value.as_raw_bson_ref()).and_then(|number| usize::try_from(number).ok());
    match name {
        DISPLAY_BATCH_SIZE => {
            let Some(size) = number.filter(|size| *size > 0) else {
                return Err(usage("displayBatchSize must be a positive integer"));
            };
            call.shell.batch_size = size;
        }
        // Without a whole number it is Infinity.
        INSPECT_DEPTH => call.shell.inspection.depth = number,
        INSPECT_COMPACT => {
            let value = Bson::try_from(value.clone()).unwrap_or(Bson::Null);
            call.shell.inspection.compact = !matches!(value, Bson::Boolean(false));
        }
        _ => {}
    }
    Ok(())
}
