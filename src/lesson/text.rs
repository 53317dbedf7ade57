//! What the tutor says apart from the pages: a table of English texts, and a translation laid over it.

use std::collections::BTreeMap;

use super::toml::{self, Table, Value};

/// A text by its key; `{name}` is filled in.
struct Text {
    name: &'static str,
    english: &'static str,
}

/// The texts in English, sorted.
const TEXTS: &[Text] = &[
    Text {
        name: "all-done",
        english: "Lesson {lesson} is done, and it was the last one. `learn` shows them all, `bye` leaves.",
    },
    Text { name: "begin", english: "Press Enter, or type `next`, to begin." },
    Text {
        name: "bye",
        english: "You have left the lesson; your own data is as it was. `learn` goes on where you stopped.",
    },
    Text { name: "challenge-met", english: "Lessons {from} to {to} are marked as done." },
    Text { name: "first-step", english: "This is the first step." },
    Text {
        name: "forget",
        english: "This forgets your progress in lesson {lesson}. Type `{words}` again to do it.",
    },
    Text {
        name: "forget-all",
        english: "This forgets your progress in all lessons. Type `{words}` again to do it.",
    },
    Text { name: "forgotten", english: "Forgotten." },
    Text { name: "help-back", english: "goes back a step, or back from playing" },
    Text { name: "help-bye", english: "leaves the lesson" },
    Text {
        name: "help-challenge",
        english: "one task for a few lessons: solve it, and they are done",
    },
    Text { name: "help-check", english: "what is still missing" },
    Text { name: "help-forget", english: "forgets your progress in this lesson" },
    Text { name: "help-forget-all", english: "forgets all your progress" },
    Text { name: "help-hint", english: "a hint; the third is the code" },
    Text { name: "help-learn", english: "the lessons, and how far you are" },
    Text { name: "help-lesson", english: "goes to lesson 4" },
    Text { name: "help-next", english: "goes on, as Enter does" },
    Text { name: "help-play", english: "a copy of the data to try things in" },
    Text { name: "help-reset", english: "begins the step again" },
    Text { name: "help-skip", english: "shows the solution and runs it" },
    Text { name: "help-step", english: "goes to step 2 of lesson 4" },
    Text { name: "help-task", english: "the task again" },
    Text { name: "hint", english: "Hint {n} of {of}:" },
    Text {
        name: "lesson-done",
        english: "Lesson {lesson} is done. Enter, or `next`, goes on with lesson {next}: {title}. `bye` leaves.",
    },
    Text { name: "lesson-heading", english: "Lesson {lesson}: {title}" },
    Text {
        name: "menu-begin",
        english: "Press Enter, or type `next`, to begin. `learn 5` begins lesson 5, `learn challenge` goes to a task that proves three lessons at once, `learn help` lists all words.",
    },
    Text { name: "menu-begun", english: "{done} of {of} steps" },
    Text { name: "menu-done", english: "done" },
    Text {
        name: "menu-go-on",
        english: "Press Enter, or type `next`, to go on with {at}. `learn 5` goes to lesson 5, `learn 5.2` to its second step, `learn challenge` to a task that proves three lessons at once, `learn help` lists all words.",
    },
    Text {
        name: "menu-heading",
        english: "Numbering documents with findAndModify: {done} of {of} lessons done.",
    },
    Text {
        name: "menu-inside",
        english: "You are in lesson {at}: `show task` shows its task again. `learn 5` goes to lesson 5, `learn 5.2` to its second step.",
    },
    Text { name: "menu-skipped", english: "done, {n} skipped" },
    Text { name: "mistake", english: "Not quite:" },
    Text { name: "no-challenge", english: "No challenge is about lesson {lesson}." },
    Text {
        name: "no-lesson",
        english: "No lesson is running. `learn` shows the lessons, `learn 1` begins the first.",
    },
    Text { name: "no-skip", english: "Skipping is switched off. `hint` helps." },
    Text {
        name: "no-such-lesson",
        english: "There is no lesson {lesson}. `learn` shows the lessons.",
    },
    Text {
        name: "no-such-step",
        english: "Lesson {lesson} has {steps} steps; there is no step {step}.",
    },
    Text {
        name: "not-kept",
        english: "Progress in the lessons lasts for this session only: there is no place to keep it.",
    },
    Text {
        name: "not-whole",
        english: "Your progress could not be read whole. What was in its file is kept in {file}.",
    },
    Text { name: "not-yet", english: "Not yet." },
    Text {
        name: "nothing-to-do",
        english: "This step is done. Press Enter, or type `next`, to go on.",
    },
    Text {
        name: "play",
        english: "This is a copy of the lesson's data: try what you like, nothing is judged. `back` returns to the step.",
    },
    Text {
        name: "played",
        english: "Back in the lesson: the data is as it was before you played.",
    },
    Text { name: "playing", english: "You are playing in a copy. `back` returns to the step." },
    Text { name: "read-on", english: "Press Enter, or type `next`, to go on." },
    Text { name: "reference", english: "One way to write it:" },
    Text { name: "right", english: "Right!" },
    Text { name: "section-another", english: "Another solution" },
    Text { name: "section-challenge", english: "Challenge" },
    Text { name: "section-check", english: "Check" },
    Text { name: "section-hint", english: "Hint" },
    Text { name: "section-mistake", english: "Mistake" },
    Text { name: "section-setup", english: "Setup" },
    Text { name: "section-solution", english: "Solution" },
    Text { name: "section-task", english: "Task" },
    Text { name: "section-why", english: "Why it works" },
    Text {
        name: "server",
        english: "The lessons make databases named `learn_*` on {address} and delete them again; they touch nothing else. Type `{words}` again to agree.",
    },
    Text { name: "solution", english: "The solution:" },
    Text { name: "step-done", english: "Press Enter, or type `next`, to go on." },
    Text { name: "step-heading", english: "Step {step} of {steps}: {title}" },
    Text { name: "task", english: "Your task:" },
    Text { name: "transcript-begun", english: "Begun at {time}." },
    Text { name: "transcript-hint", english: "Hint {n}." },
    Text { name: "transcript-lost", english: "The transcript cannot be written; it ends here." },
    Text { name: "transcript-mistake", english: "Mistake: {name}." },
    Text { name: "transcript-read", english: "Read in {seconds} s." },
    Text {
        name: "transcript-skipped",
        english: "Skipped after {seconds} s; answers: {answers}, hints: {hints}.",
    },
    Text {
        name: "transcript-solved",
        english: "Solved in {seconds} s; answers: {answers}, hints: {hints}.",
    },
    Text { name: "transcript-title", english: "Transcript of the lessons" },
    Text {
        name: "unknown-word",
        english: "`{word}` is no word of the lessons. `learn help` lists them.",
    },
    Text {
        name: "unsolved",
        english: "This step is not solved yet. `show task` shows it again, `hint` helps, `skip` shows the solution and goes past it.",
    },
    Text { name: "why", english: "Why it works:" },
    Text {
        name: "words",
        english: "Stuck? Type `hint`. `skip` shows the solution, `bye` leaves, `learn help` lists all words.",
    },
];

/// The texts of one language.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    translated: BTreeMap<String, String>,
}

impl Texts {
    /// The English texts.
    pub(super) fn english() -> Self {
        Self::default()
    }

    /// The texts of an `interface.toml`; what it lacks is English.
    pub(super) fn read(text: &str) -> Self {
        let texts = toml::table(text).0.into_iter().filter_map(|(key, value)| match value {
            Value::String(text) if !text.is_empty() => Some((key, text)),
            _ => None,
        });
        Self { translated: texts.collect() }
    }

    /// The text of that key, with `{name}` filled in.
    pub(super) fn say(&self, key: &str, values: &[(&str, &str)]) -> String {
        let text = self.translated.get(key).map_or_else(|| english(key), String::as_str);
        filled(text, values)
    }

    /// Whether `word` is the text of that key, here or in English. Case does not matter.
    pub(super) fn is(&self, word: &str, key: &str) -> bool {
        let same = |text: &str| text.to_lowercase() == word.trim().to_lowercase();
        same(english(key)) || self.translated.get(key).is_some_and(|text| same(text))
    }
}

/// A text with each `{name}` replaced by its value. Other braces stay.
pub(super) fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        filled.push_str(&rest[..at]);
        rest = &rest[at..];
        let value = rest.find('}').and_then(|end| {
            let (_, value) = values.iter().find(|(name, _)| *name == &rest[1..end])?;
            Some((end, value))
        });
        match value {
            Some((end, value)) => {
                filled.push_str(value);
                rest = &rest[end + 1..];
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

fn english(key: &str) -> &'static str {
    let at = TEXTS.binary_search_by_key(&key, |text| text.name);
    at.map_or("", |at| TEXTS[at].english)
}

/// All texts as an `interface.toml` to be translated.
pub(super) fn to_translate() -> String {
    let texts: Table = TEXTS.iter().map(|row| (row.name.to_owned(), row.english.into())).collect();
    let lines = toml::to_string(&texts).unwrap_or_default();
    format!("# What the tutor says. A line that is missing here is said in English.\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_sorted_and_none_is_empty() {
        assert!(TEXTS.is_sorted_by_key(|text| text.name));
        assert!(TEXTS.iter().all(|text| !text.english.is_empty()));
    }

    #[test]
    fn a_text_that_is_not_translated_is_english() {
        let texts = Texts::read("section-task = \"Tarea\"\nsection-hint = \"\"\n");
        assert_eq!(texts.say("section-task", &[]), "Tarea");
        assert_eq!(texts.say("section-hint", &[]), "Hint");
        assert!(texts.is("tarea", "section-task") && texts.is("Task", "section-task"));
        assert!(!texts.is("Hint", "section-task"));
    }

    #[test]
    fn names_in_braces_are_filled_in_once() {
        let values = [("a", "{b}"), ("b", "2")];
        assert_eq!(filled("{a} {b} {c} {", &values), "{b} 2 {c} {");
        assert_eq!(filled("{_id: {b}}", &values), "{_id: 2}");
    }
}
