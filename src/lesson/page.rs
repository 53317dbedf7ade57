//! A lesson: a title, an introduction, steps; and how a page of text becomes one.
//!
//! A page is read into a [`Draft`], in which anything may be missing; a draft with what it lacks taken from the English
//! page becomes a [`Page`], which is complete. The format is described for authors in `scripts/lessons/README.md`.

use std::ops::RangeInclusive;

use super::markdown::{Block, blocks};
use super::text::Texts;

/// A lesson that can be given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Page {
    /// The file's name without its ending: `01-sequences`.
    pub(super) name: String,
    /// The number that the name begins with.
    pub(super) number: usize,
    /// Its title.
    pub(super) title: String,
    /// What is said before the first step.
    pub(super) introduction: Vec<Block>,
    /// Its steps; at least one.
    pub(super) steps: Vec<Step>,
}

/// A step of a lesson.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    /// Its title.
    pub(super) title: String,
    /// What is said before the task.
    pub(super) text: Vec<Block>,
    /// What runs before it, unseen; may be empty.
    pub(super) setup: String,
    /// What is to be done; `None` where there is only something to read.
    pub(super) exercise: Option<Exercise>,
    /// The lessons that whoever solves it need not take any more: it is a challenge.
    pub(super) proves: Option<RangeInclusive<usize>>,
}

/// What is to be done in a step, and what is said about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Exercise {
    /// The task.
    pub(super) task: Vec<Block>,
    /// What `skip` shows and runs.
    pub(super) solution: String,
    /// Other right answers.
    pub(super) others: Vec<String>,
    /// JavaScript that says whether it is done.
    pub(super) check: String,
    /// What people get wrong.
    pub(super) mistakes: Vec<Mistake>,
    /// Three hints, each saying more than the one before.
    pub(super) hints: Vec<Vec<Block>>,
    /// Why the solution works.
    pub(super) why: Vec<Block>,
}

/// Something that people get wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Mistake {
    /// Its name, the same in every language.
    pub(super) name: String,
    /// Code that makes it.
    pub(super) code: String,
    /// JavaScript that recognises it.
    pub(super) check: String,
    /// What is said; `{field}` stands for a field of what the check answers.
    pub(super) message: Vec<Block>,
}

/// Something wrong with a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The line, from 1; 0 for the page as a whole.
    pub(super) line: usize,
    /// What is wrong.
    pub(super) text: String,
}

/// A page as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Draft {
    title: String,
    introduction: Vec<Block>,
    steps: Vec<DraftStep>,
    /// What could not be understood.
    pub(super) complaints: Vec<Complaint>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct DraftStep {
    line: usize,
    title: String,
    text: Vec<Block>,
    setup: Option<String>,
    task: Vec<Block>,
    solution: Option<String>,
    others: Vec<String>,
    check: Option<String>,
    mistakes: Vec<DraftMistake>,
    hints: Vec<Vec<Block>>,
    why: Vec<Block>,
    proves: Option<RangeInclusive<usize>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct DraftMistake {
    line: usize,
    name: String,
    code: Option<String>,
    check: Option<String>,
    message: Vec<Block>,
}

/// A section of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// Code that is run before the step.
    Setup,
    /// What to do.
    Task,
    /// Code that does it.
    Solution,
    /// Code that does it another way.
    Another,
    /// Code that says whether it is done.
    Check,
    /// What people get wrong, by name.
    Mistake(String),
    /// The step is a challenge, and stands for these lessons.
    Challenge(RangeInclusive<usize>),
    /// The next hint.
    Hint,
    /// The explanation.
    Why,
}

/// The headings of sections, as keys of the interface's texts, in the order of a page.
const SECTIONS: &[(&str, Section)] = &[
    ("section-setup", Section::Setup),
    ("section-task", Section::Task),
    ("section-solution", Section::Solution),
    ("section-another", Section::Another),
    ("section-check", Section::Check),
    ("section-hint", Section::Hint),
    ("section-why", Section::Why),
];

impl Section {
    /// The section that a heading begins, in the page's language or in English.
    fn of(heading: &str, texts: &Texts) -> Option<Self> {
        if let Some((word, name)) = heading.split_once(':')
            && texts.is(word, "section-mistake")
        {
            return Some(Self::Mistake(name.trim().to_owned()));
        }
        if let Some((word, lessons)) = heading.split_once(':')
            && texts.is(word, "section-challenge")
        {
            let (first, last) = lessons.split_once('-')?;
            let number = |text: &str| text.trim().parse::<usize>().ok();
            return Some(Self::Challenge(number(first)?..=number(last)?));
        }
        let found = SECTIONS.iter().find(|(key, _)| texts.is(heading, key));
        found.map(|(_, section)| section.clone())
    }
}

impl Draft {
    /// Reads a page. What cannot be understood is complained of and passed over.
    pub(super) fn read(text: &str, texts: &Texts) -> Self {
        let mut draft = Self::default();
        let mut section = None;
        for (line, block) in blocks(text) {
            match block {
                Block::Heading(1, title) if draft.title.is_empty() => draft.title = title,
                Block::Heading(2, title) => {
                    draft.steps.push(DraftStep { line, title, ..DraftStep::default() });
                    section = None;
                }
                Block::Heading(3, title) => {
                    match (Section::of(&title, texts), &mut draft.steps[..]) {
                        (Some(found), [.., step]) => {
                            step.begin(line, &found);
                            section = Some(found);
                        }
                        _ => draft.complain(line, format!("\"{title}\" is no section of a step")),
                    }
                }
                Block::Heading(..) => {
                    draft.complain(line, "a heading of this kind has no meaning here".to_owned());
                }
                block => match (&mut draft.steps[..], &section) {
                    ([], _) => draft.introduction.push(block),
                    ([.., step], None) => step.text.push(block),
                    ([.., step], Some(section)) => {
                        if let Err(text) = step.add(section, block) {
                            draft.complain(line, text);
                        }
                    }
                },
            }
        }
        draft
    }

    fn complain(&mut self, line: usize, text: String) {
        self.complaints.push(Complaint { line, text });
    }

    /// What a translation leaves in English.
    pub(super) fn untranslated(&self, original: &Page) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        let mut complain = |line: usize, what: &str| {
            complaints.push(Complaint { line, text: format!("{what} is not translated") });
        };
        if self.title.is_empty() {
            complain(0, "the title");
        }
        for (step, theirs) in self.steps.iter().zip(&original.steps) {
            if step.text.is_empty() && !theirs.text.is_empty() {
                complain(step.line, "the text");
            }
            let Some(theirs) = &theirs.exercise else { continue };
            if step.task.is_empty() {
                complain(step.line, "the task");
            }
            if step.hints.len() < theirs.hints.len() || step.hints.iter().any(Vec::is_empty) {
                complain(step.line, "a hint");
            }
            if step.why.is_empty() {
                complain(step.line, "the explanation");
            }
            for mistake in &theirs.mistakes {
                let own = step.mistakes.iter().find(|own| own.name == mistake.name);
                if own.is_none_or(|own| own.message.is_empty()) {
                    complain(step.line, &format!("the mistake \"{}\"", mistake.name));
                }
            }
        }
        complaints
    }

    /// The page of this draft under that name. Whatever it lacks is `original`'s, the English page.
    ///
    /// # Errors
    /// What it lacks, and what could not be understood.
    pub(super) fn complete(
        mut self,
        name: &str,
        original: Option<&Page>,
    ) -> Result<Page, Vec<Complaint>> {
        let mut complaints = std::mem::take(&mut self.complaints);
        let mut complain = |line: usize, text: &str| {
            complaints.push(Complaint { line, text: text.to_owned() });
        };
        let number = name.split('-').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        if number == 0 {
            complain(0, "its file is not named NN-name.md");
        }
        let title = match (self.title, original) {
            (title, Some(original)) if title.is_empty() => original.title.clone(),
            (title, _) => title,
        };
        if title.is_empty() {
            complain(0, "it has no title: a line that begins with #");
        }
        if self.steps.is_empty() && original.is_none() {
            complain(0, "it has no steps: lines that begin with ##");
        }
        if original.is_some_and(|original| {
            !self.steps.is_empty() && self.steps.len() != original.steps.len()
        }) {
            complain(0, "it does not have as many steps as the English page");
        }
        if self.introduction.is_empty() {
            self.introduction = original.map(|page| page.introduction.clone()).unwrap_or_default();
        }
        if self.steps.is_empty()
            && let Some(original) = original
        {
            self.steps = vec![DraftStep::default(); original.steps.len()];
        }
        let steps = self.steps.into_iter().enumerate().map(|(at, step)| {
            step.complete(original.and_then(|page| page.steps.get(at)), &mut complain)
        });
        let steps = steps.collect();
        if !complaints.is_empty() {
            return Err(complaints);
        }
        let introduction = self.introduction;
        Ok(Page { name: name.to_owned(), number, title, introduction, steps })
    }
}

impl DraftStep {
    /// A heading of a section stands here.
    fn begin(&mut self, line: usize, section: &Section) {
        match section {
            Section::Another => self.others.push(String::new()),
            Section::Mistake(name) => {
                let name = name.clone();
                self.mistakes.push(DraftMistake { line, name, ..DraftMistake::default() });
            }
            Section::Hint => self.hints.push(Vec::new()),
            Section::Challenge(lessons) => self.proves = Some(lessons.clone()),
            Section::Setup | Section::Task | Section::Solution | Section::Check | Section::Why => {}
        }
    }

    /// A block of a section.
    fn add(&mut self, section: &Section, block: Block) -> Result<(), String> {
        let code_only = |slot: &mut Option<String>, block: Block| match block {
            Block::Code(_, code) => {
                join(slot, &code);
                Ok(())
            }
            _ => Err("this section holds code only".to_owned()),
        };
        match section {
            Section::Setup => code_only(&mut self.setup, block),
            Section::Solution => code_only(&mut self.solution, block),
            Section::Check => code_only(&mut self.check, block),
            Section::Challenge(_) => Err("this section holds nothing".to_owned()),
            Section::Another => {
                let mut code = self.others.pop().filter(|code| !code.is_empty());
                let added = code_only(&mut code, block);
                self.others.push(code.unwrap_or_default());
                added
            }
            Section::Task => {
                self.task.push(block);
                Ok(())
            }
            Section::Why => {
                self.why.push(block);
                Ok(())
            }
            Section::Hint => {
                if let Some(hint) = self.hints.last_mut() {
                    hint.push(block);
                }
                Ok(())
            }
            Section::Mistake(_) => {
                let Some(mistake) = self.mistakes.last_mut() else { return Ok(()) };
                match block {
                    Block::Code(info, code)
                        if info.split_whitespace().any(|word| word == "check") =>
                    {
                        join(&mut mistake.check, &code);
                    }
                    Block::Code(_, code) if mistake.message.is_empty() => {
                        join(&mut mistake.code, &code);
                    }
                    block => mistake.message.push(block),
                }
                Ok(())
            }
        }
    }

    fn complete(self, original: Option<&Step>, complain: &mut impl FnMut(usize, &str)) -> Step {
        let line = self.line;
        let theirs = original.and_then(|step| step.exercise.as_ref());
        let or = |own: Option<String>, other: Option<&String>| own.or_else(|| other.cloned());
        let title = match original {
            Some(original) if self.title.is_empty() => original.title.clone(),
            _ => self.title,
        };
        let text = match original {
            Some(original) if self.text.is_empty() => original.text.clone(),
            _ => self.text,
        };
        let setup = or(self.setup, original.map(|step| &step.setup)).unwrap_or_default();
        let proves = self.proves.or_else(|| original.and_then(|step| step.proves.clone()));
        let is_read = self.task.is_empty() && theirs.is_none();
        if is_read {
            let code = self.solution.is_some() || self.check.is_some();
            let empty = !code && self.mistakes.is_empty() && proves.is_none();
            if !empty || !self.hints.is_empty() || !self.others.is_empty() || !self.why.is_empty() {
                complain(line, "a step without a task has a text and a setup only");
            }
            if text.is_empty() {
                complain(line, "a step without a task needs a text");
            }
            return Step { title, text, setup, exercise: None, proves };
        }
        let task = filled(self.task, theirs.map(|exercise| &exercise.task));
        let mut needed = |own: Option<String>, other: Option<&String>, what: &str| {
            or(own, other).filter(|code| !code.is_empty()).unwrap_or_else(|| {
                complain(line, what);
                String::new()
            })
        };
        let solution = needed(
            self.solution,
            theirs.map(|exercise| &exercise.solution),
            "the step has no solution",
        );
        let check =
            needed(self.check, theirs.map(|exercise| &exercise.check), "the step has no check");
        let others = match theirs {
            Some(theirs) if self.others.is_empty() => theirs.others.clone(),
            _ => self.others,
        };
        if others.iter().any(String::is_empty) {
            complain(line, "a solution is empty");
        }
        let why = filled(self.why, theirs.map(|exercise| &exercise.why));
        if why.is_empty() {
            complain(line, "the step does not say why it works");
        }
        let hints = hints(self.hints, theirs.map(|exercise| &exercise.hints[..]));
        if hints.len() != 3 || hints.iter().any(Vec::is_empty) {
            complain(line, "a step has three hints, none of them empty");
        }
        let known = theirs.map(|exercise| &exercise.mistakes[..]).unwrap_or_default();
        let mistakes = mistakes(self.mistakes, known, complain);
        let exercise = Exercise { task, solution, others, check, mistakes, hints, why };
        Step { title, text, setup, exercise: Some(exercise), proves }
    }
}

fn join(slot: &mut Option<String>, code: &str) {
    match slot {
        Some(before) => {
            before.push('\n');
            before.push_str(code);
        }
        None => *slot = Some(code.to_owned()),
    }
}

fn filled(own: Vec<Block>, other: Option<&Vec<Block>>) -> Vec<Block> {
    if own.is_empty() { other.cloned().unwrap_or_default() } else { own }
}

fn hints(own: Vec<Vec<Block>>, others: Option<&[Vec<Block>]>) -> Vec<Vec<Block>> {
    let Some(others) = others else { return own };
    let count = own.len().max(others.len());
    let hint = |at: usize| match own.get(at) {
        Some(hint) if !hint.is_empty() => hint.clone(),
        _ => others.get(at).cloned().unwrap_or_default(),
    };
    (0..count).map(hint).collect()
}

/// The mistakes of a step: the English ones in their order, in the words of the translation, then its own.
fn mistakes(
    own: Vec<DraftMistake>,
    known: &[Mistake],
    complain: &mut impl FnMut(usize, &str),
) -> Vec<Mistake> {
    let mut mistakes = known.to_vec();
    for draft in own {
        let line = draft.line;
        let theirs = known.iter().position(|mistake| mistake.name == draft.name);
        let at = match theirs {
            Some(at) => at,
            None => {
                if mistakes.iter().any(|mistake| mistake.name == draft.name) {
                    complain(line, "two mistakes of the step have the same name");
                }
                let (code, check) = (String::new(), String::new());
                mistakes.push(Mistake { name: draft.name, code, check, message: Vec::new() });
                mistakes.len() - 1
            }
        };
        let mistake = &mut mistakes[at];
        if let Some(code) = draft.code {
            mistake.code = code;
        }
        if let Some(check) = draft.check {
            mistake.check = check;
        }
        if !draft.message.is_empty() {
            mistake.message = draft.message;
        }
        if mistake.code.is_empty() || mistake.check.is_empty() || mistake.message.is_empty() {
            let text = "a mistake has code that makes it, a block `js check` that recognises it, and a message";
            complain(line, text);
        }
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# T\n\nIntro.\n\n## S\n\nText.\n\n### Task\n\nDo.\n\n### Solution\n\n```js\na = 1\n```\n\n\
        ### Check\n\n```js\na === 1\n```\n\n### Mistake: two\n\n```js\na = 2\n```\n\n```js check\na === 2\n```\n\n\
        Not two.\n\n### Hint\n\nh1\n\n### Hint\n\nh2\n\n### Hint\n\nh3\n\n### Why it works\n\nBecause.\n";

    fn english(text: &str) -> Result<Page, Vec<Complaint>> {
        Draft::read(text, &Texts::english()).complete("01-t", None)
    }

    fn paragraph(text: &str) -> Vec<Block> {
        vec![Block::Paragraph(text.to_owned())]
    }

    #[test]
    fn a_page_is_read() {
        let page = english(PAGE).expect("complete");
        assert_eq!((page.number, page.title.as_str(), page.steps.len()), (1, "T", 1));
        assert_eq!(page.introduction, paragraph("Intro."));
        let exercise = page.steps[0].exercise.as_ref().expect("a task");
        assert_eq!((exercise.solution.as_str(), exercise.check.as_str()), ("a = 1", "a === 1"));
        let mistake = &exercise.mistakes[0];
        assert_eq!((mistake.name.as_str(), mistake.code.as_str()), ("two", "a = 2"));
        assert_eq!(mistake.message, paragraph("Not two."));
        assert_eq!(exercise.hints.len(), 3);
    }

    #[test]
    fn whatever_a_translation_lacks_is_english() {
        let page = english(PAGE).expect("complete");
        let texts = Texts::english();
        let translated =
            "# Te\n\n## Ese\n\n### Task\n\nHaz.\n\n### Mistake: two\n\nDos no.\n\n### Hint\n\np1\n";
        let spanish =
            Draft::read(translated, &texts).complete("01-t", Some(&page)).expect("complete");
        assert_eq!((spanish.title.as_str(), spanish.steps[0].title.as_str()), ("Te", "Ese"));
        assert_eq!(spanish.steps[0].text, page.steps[0].text);
        let (own, theirs) = (&spanish.steps[0].exercise, &page.steps[0].exercise);
        let (own, theirs) = (own.as_ref().expect("a task"), theirs.as_ref().expect("a task"));
        assert_eq!(own.task, paragraph("Haz."));
        assert_eq!(own.mistakes[0].message, paragraph("Dos no."));
        assert_eq!(
            (&own.mistakes[0].check, &own.check),
            (&theirs.mistakes[0].check, &theirs.check)
        );
        assert_eq!((&own.hints[0], &own.hints[2]), (&paragraph("p1"), &theirs.hints[2]));
        let empty = Draft::read("", &texts).complete("01-t", Some(&page)).expect("complete");
        assert_eq!(empty, page);
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        let complaints = |text: &str| -> Vec<(usize, String)> {
            let complaints = english(text).expect_err("incomplete");
            complaints.into_iter().map(|complaint| (complaint.line, complaint.text)).collect()
        };
        let without = PAGE.replace("### Check\n\n```js\na === 1\n```\n\n", "");
        assert_eq!(complaints(&without), [(5, "the step has no check".to_owned())]);
        assert!(complaints(&PAGE.replace("### Task", "### Tusk"))[0].1.contains("Tusk"));
        assert_eq!(
            complaints(&PAGE.replace("h3", ""))[0].1,
            "a step has three hints, none of them empty"
        );
        assert!(complaints(&PAGE.replace("js check", "js"))[0].1.starts_with("a mistake has code"));
        assert!(complaints("").len() >= 2);
    }
}
