//! What a user can set for a session: `set verbose true`, `set pager on`. Each setting is a row.
//!
//! A line of `set` in `~/.tallyrc.js` makes it so for every session.

use super::refusal::usage;
use super::{Shell, nearest};
use crate::error::Result;

/// What a user has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preferences {
    /// The terminal is light, or dark; `None` leaves it to the terminal to say.
    pub light: Option<bool>,
    /// Keys are those of vi instead of emacs.
    pub vi: bool,
    /// Earlier inputs are suggested while one types.
    pub hints: bool,
    /// Long results go through a pager.
    pub pager: bool,
    /// Each input tells how long it took.
    pub timing: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Self { light: None, vi: false, hints: true, pager: false, timing: false }
    }
}

/// Something that can be set.
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its two values, as `on|off`.
    pub usage: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Whether the first of the two holds.
    is_first: fn(&Shell) -> bool,
    /// Makes the first hold, or the second.
    set: fn(&mut Shell, bool),
}

/// The settings, sorted.
pub const SETTINGS: &[Setting] = &[
    Setting {
        name: "background",
        usage: "dark|light",
        help: "colours for a dark or a light terminal",
        is_first: |shell| shell.preferences.light != Some(true),
        set: |shell, dark| shell.preferences.light = Some(!dark),
    },
    Setting {
        name: "editing",
        usage: "emacs|vi",
        help: "the keys of the line editor",
        is_first: |shell| !shell.preferences.vi,
        set: |shell, emacs| shell.preferences.vi = !emacs,
    },
    Setting {
        name: "hints",
        usage: "on|off",
        help: "suggest earlier inputs; right arrow takes one",
        is_first: |shell| shell.preferences.hints,
        set: |shell, on| shell.preferences.hints = on,
    },
    Setting {
        name: "pager",
        usage: "on|off",
        help: "long results go through $PAGER, else less",
        is_first: |shell| shell.preferences.pager,
        set: |shell, on| shell.preferences.pager = on,
    },
    Setting {
        name: "timing",
        usage: "on|off",
        help: "each input tells how long it took",
        is_first: |shell| shell.preferences.timing,
        set: |shell, on| shell.preferences.timing = on,
    },
    Setting {
        name: "verbose",
        usage: "true|false",
        help: "queries and writes tell how many, how long",
        is_first: |shell| shell.verbose,
        set: |shell, on| shell.verbose = on,
    },
];

/// Runs `set NAME VALUE`; without a value it tells how the setting stands, without a name all of them.
pub(super) fn run(shell: &mut Shell, arguments: &[&str]) -> Result<Vec<String>> {
    let [name, values @ ..] = arguments else {
        let told = |row: &Setting| format!("{} (now {})", row.line(), row.value(shell));
        return Ok(SETTINGS.iter().map(told).collect());
    };
    let Ok(at) = SETTINGS.binary_search_by_key(name, |row| row.name) else {
        let known: Vec<&str> = SETTINGS.iter().map(|row| row.name).collect();
        let hint = match nearest(name, known.iter().copied()) {
            Some(near) => format!("Did you mean {near}?"),
            None => format!("There are {}.", known.join(", ")),
        };
        return Err(usage(format!("{name} is nothing that can be set. {hint}")));
    };
    let row = &SETTINGS[at];
    let [value] = values else {
        if values.is_empty() {
            return Ok(vec![format!("{name} is {}", row.value(shell))]);
        }
        return Err(usage(format!("set {name} takes one of {}", row.usage)));
    };
    let (first, second) = row.values();
    let is_first = match *value {
        value if value == first => true,
        value if value == second => false,
        // Either kind of yes and no is understood everywhere.
        "on" | "true" if matches!(first, "on" | "true") => true,
        "off" | "false" if matches!(first, "on" | "true") => false,
        _ => return Err(usage(format!("set {name} takes one of {}, not {value}", row.usage))),
    };
    (row.set)(shell, is_first);
    Ok(vec![format!("set {name} to {value}")])
}

impl Setting {
    fn values(&self) -> (&'static str, &'static str) {
        self.usage.split_once('|').unwrap_or((self.usage, ""))
    }

    /// The setting, its values and what it does.
    pub(super) fn line(&self) -> String {
        format!("\t{:<24}{}", format!("set {} {}", self.name, self.usage), self.help)
    }

    fn value(&self, shell: &Shell) -> &'static str {
        let (first, second) = self.values();
        if (self.is_first)(shell) { first } else { second }
    }
}
