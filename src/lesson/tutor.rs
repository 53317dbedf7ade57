//! The tutor: where the learner is, what is judged after each input, and what happens on the way.

mod record;
mod travel;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::SystemTime;

use bson::RawDocumentBuf;

use super::judge::{self, Found};
use super::layout::Layout;
use super::library::{Library, Source};
use super::markdown::Block;
use super::page::{Page, Step};
use super::progress::{Ended, Progress};
use super::replay;
use super::sandbox::Sandbox;
use super::text::filled;
use super::transcript::Transcript;
use super::words::{self, Word};
use crate::backend::Topology;
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::session::{self, Session, Whereabouts};

/// How lessons are given.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where the pages come from.
    pub source: Source,
    /// The language; what it lacks is English.
    pub language: String,
    /// Whether steps may be skipped; a class may forbid it.
    pub skipping: bool,
    /// The folder that progress is kept in; `None` keeps it for as long as the program runs.
    pub folder: Option<PathBuf>,
    /// The file that a transcript for whoever teaches goes into.
    pub transcript: Option<PathBuf>,
    /// What pages may make their data from: each learner of a class can have another number.
    pub seed: u32,
    /// The time, for the transcript.
    pub now: fn() -> SystemTime,
}

/// Somebody who gives lessons at the prompt.
pub struct Tutor {
    settings: Settings,
    /// Read when they are first asked for, so that a session without lessons starts as fast as ever.
    books: Option<Books>,
    place: Place,
    /// Words that do something once they are said again.
    unconfirmed: Option<String>,
    /// The user has agreed that lessons write to the server.
    agreed: bool,
    transcript: Option<Transcript>,
}

/// The pages, and what the learner has done of them.
struct Books {
    library: Library,
    progress: Progress,
    /// The learner was told that progress is not kept.
    told: bool,
}

/// Where the learner is.
enum Place {
    /// In no lesson.
    Elsewhere,
    /// In front of the menu.
    Menu,
    /// In a lesson.
    Lesson(Box<Lesson>),
}

/// How a lesson begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// With its introduction, if it begins at its beginning.
    Introduced,
    /// With the step itself.
    AtOnce,
}

/// A lesson that is being given.
struct Lesson {
    page: usize,
    step: usize,
    /// The step was solved, skipped or is only to be read.
    ended: bool,
    /// The introduction was shown, the first step was not.
    unread: bool,
    /// How many hints were given.
    hints: usize,
    /// The mistake that was told last.
    told: Option<usize>,
    /// What ended the last input.
    failed: Option<Error>,
    sandbox: Sandbox,
    /// The copy that the learner plays in.
    play: Option<Sandbox>,
    /// Where the session was before.
    home: Whereabouts,
}

impl Tutor {
    /// A tutor. Nothing is read before it is spoken to.
    pub fn new(settings: Settings) -> Self {
        let Settings { transcript, now, .. } = &settings;
        let transcript = transcript.as_ref().map(|file| Transcript::new(file, *now));
        let place = Place::Elsewhere;
        Self { settings, books: None, place, unconfirmed: None, agreed: false, transcript }
    }

    fn books(&mut self) -> Result<&mut Books> {
        if self.books.is_none() {
            let Settings { source, language, folder, .. } = &self.settings;
            let library = source.library(language)?;
            let progress = Progress::open(folder.as_deref(), &source.heading());
            self.books = Some(Books { library, progress, told: false });
        }
        Ok(self.books.as_mut().expect("they have just been read"))
    }

    /// A text of the interface.
    pub(super) fn text(&self, key: &str, values: &[(&str, &str)]) -> String {
        let texts = self.books.as_ref().map(|books| &books.library.texts);
        texts.map(|texts| texts.say(key, values)).unwrap_or_default()
    }

    /// Says a text of the interface.
    pub(super) fn say(
        &self,
        session: &mut Session,
        key: &str,
        values: &[(&str, &str)],
    ) -> Result<()> {
        let lines = layout(session).text(&self.text(key, values));
        tell(session, &lines)
    }

    fn lesson(&self) -> Option<(&Lesson, &Page, &Step)> {
        let (Place::Lesson(lesson), Some(books)) = (&self.place, &self.books) else { return None };
        let page = books.library.pages.get(lesson.page)?;
        Some((lesson, page, page.steps.get(lesson.step)?))
    }

    fn lesson_mut(&mut self) -> Option<&mut Lesson> {
        match &mut self.place {
            Place::Lesson(lesson) => Some(lesson),
            Place::Elsewhere | Place::Menu => None,
        }
    }

    /// Whether these words have just been said before; else they are to be said again.
    fn confirmed(&mut self, words: &str) -> bool {
        if self.unconfirmed.as_deref() == Some(words) {
            self.unconfirmed = None;
            return true;
        }
        self.unconfirmed = Some(words.to_owned());
        false
    }

    /// Begins a lesson, or goes to one of its steps: the sandbox is emptied, and the steps before are done unseen.
    fn open(
        &mut self,
        session: &mut Session,
        (page, step): (usize, usize),
        start: Start,
        words: &str,
    ) -> Result<()> {
        let home = match &self.place {
            Place::Lesson(lesson) => lesson.home.clone(),
            Place::Elsewhere | Place::Menu => session.whereabouts(),
        };
        if let Topology::Server { address, .. } = home.backend.describe()
            && !self.agreed
        {
            if !self.confirmed(words) {
                return self.say(session, "server", &[("address", &address), ("words", words)]);
            }
            self.agreed = true;
        }
        self.unconfirmed = None;
        self.stop_playing(session)?;
        let sandbox = match std::mem::replace(&mut self.place, Place::Elsewhere) {
            Place::Lesson(lesson) if lesson.page == page => lesson.sandbox,
            before => {
                if let Place::Lesson(lesson) = before {
                    lesson.sandbox.leave(session.interrupt())?;
                }
                let number = self.books()?.library.pages[page].number;
                Sandbox::new(&home.backend, number, self.settings.seed)
            }
        };
        session.go(sandbox.whereabouts());
        self.place = Place::Lesson(Box::new(Lesson {
            page,
            step,
            ended: false,
            unread: false,
            hints: 0,
            told: None,
            failed: None,
            sandbox,
            play: None,
            home,
        }));
        let Some((lesson, page, _)) = self.lesson() else { return Ok(()) };
        lesson.sandbox.clear(session.interrupt())?;
        replay::before(session, &lesson.sandbox, page, step)?;
        self.begin_step(session, start)
    }

    /// The step that the learner has come to: its setup, its text.
    fn begin_step(&mut self, session: &mut Session, start: Start) -> Result<()> {
        let Some((lesson, page, step)) = self.lesson() else { return Ok(()) };
        replay::set_up(session, &lesson.sandbox, step)?;
        lesson.sandbox.witness().forget();
        session.forget_answer();
        let (name, number) = (page.name.clone(), lesson.step + 1);
        let is_read = step.exercise.is_none();
        let introduced = start == Start::Introduced && !page.introduction.is_empty() && number == 1;
        if let Some(lesson) = self.lesson_mut() {
            (lesson.ended, lesson.hints, lesson.unread) = (is_read, 0, introduced);
            (lesson.told, lesson.failed) = (None, None);
        }
        if introduced {
            self.introduce(session)?
        } else {
            self.task(session)?
        }
        self.record_beginning(session);
        let kept = self.books()?.progress.move_to(&name, number);
        self.remark_on(session, kept)
    }

    /// What a lesson is about, a screen of its own.
    fn introduce(&self, session: &mut Session) -> Result<()> {
        let Some((_, page, _)) = self.lesson() else { return Ok(()) };
        let layout = layout(session);
        let values = [("lesson", &*page.number.to_string()), ("title", &*page.title)];
        let mut lines = vec![String::new(), layout.bold(&self.text("lesson-heading", &values))];
        lines.push(String::new());
        lines.extend(layout.blocks(&page.introduction));
        lines.push(String::new());
        lines.extend(layout.text(&self.text("words", &[])));
        lines.push(String::new());
        lines.extend(layout.text(&self.text("begin", &[])));
        tell(session, &lines)
    }

    /// The text and the task of the step.
    pub(super) fn task(&mut self, session: &mut Session) -> Result<()> {
        if let Some(lesson) = self.lesson_mut() {
            lesson.unread = false;
        }
        let Some((lesson, page, step)) = self.lesson() else {
            return self.say(session, "no-lesson", &[]);
        };
        let mut lines = vec![String::new()];
        let layout = layout(session);
        let values = [
            ("lesson", &*page.number.to_string()),
            ("step", &*(lesson.step + 1).to_string()),
            ("steps", &*page.steps.len().to_string()),
            ("title", &*step.title),
        ];
        lines.push(layout.bold(&self.text("step-heading", &values)));
        lines.push(String::new());
        if !step.text.is_empty() {
            lines.extend(layout.blocks(&step.text));
            lines.push(String::new());
        }
        match &step.exercise {
            Some(exercise) => {
                lines.extend(layout.blocks(&led(&exercise.task, &self.text("task", &[]))));
                lines.push(String::new());
            }
            None => lines.extend(layout.text(&self.text("read-on", &[]))),
        }
        tell(session, &lines)
    }

    /// `hint`: the next one.
    pub(super) fn hint(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, _, step)) = self.lesson() else { return Ok(()) };
        let Some(exercise) = step.exercise.as_ref().filter(|_| !lesson.ended) else {
            return self.say(session, "nothing-to-do", &[]);
        };
        let last = exercise.hints.len() - 1;
        let at = lesson.hints.min(last);
        let values = [("n", &*(at + 1).to_string()), ("of", &*exercise.hints.len().to_string())];
        let mut hint = led(&exercise.hints[at], &self.text("hint", &values));
        // The last hint is the code, unless it was decided that nobody gets that.
        if at == last && self.settings.skipping {
            hint.push(Block::Code("js".to_owned(), exercise.solution.clone()));
        }
        let lines = layout(session).blocks(&hint);
        if let Some(lesson) = self.lesson_mut() {
            lesson.hints += 1;
            lesson.unread = false;
        }
        self.record_hint(session, at + 1);
        tell(session, &lines)
    }

    /// `check`: what the tutor thinks of the state of things.
    pub(super) fn check(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, ..)) = self.lesson() else { return Ok(()) };
        if lesson.ended {
            return self.say(session, "nothing-to-do", &[]);
        }
        if lesson.play.is_some() {
            return self.say(session, "playing", &[]);
        }
        match self.judge(session)? {
            Found::Solved => self.solved(session),
            Found::Mistake(at, values) => {
                let message = self.remark(session, at, &values);
                tell(session, &message)
            }
            Found::NotYet => {
                self.say(session, "not-yet", &[])?;
                let Some((_, _, Step { exercise: Some(exercise), .. })) = self.lesson() else {
                    return Ok(());
                };
                tell(
                    session,
                    &layout(session).blocks(&led(&exercise.task, &self.text("task", &[]))),
                )
            }
        }
    }

    fn judge(&self, session: &mut Session) -> Result<Found> {
        let Some((lesson, _, Step { exercise: Some(exercise), .. })) = self.lesson() else {
            return Ok(Found::NotYet);
        };
        judge::judge(session, &lesson.sandbox, exercise, lesson.failed.as_ref())
    }

    /// What is said of a mistake of the step, given by its place, with the fields that its check answered with.
    fn remark(&self, session: &Session, at: usize, values: &[(String, String)]) -> Vec<String> {
        let Some((_, _, Step { exercise: Some(exercise), .. })) = self.lesson() else {
            return Vec::new();
        };
        let values: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let message = exercise.mistakes[at].message.iter().map(|block| match block {
            Block::Paragraph(text) => Block::Paragraph(filled(text, &values)),
            Block::Item(marker, text) => Block::Item(marker.clone(), filled(text, &values)),
            other => other.clone(),
        });
        let message: Vec<Block> = message.collect();
        layout(session).blocks(&led(&message, &self.text("mistake", &[])))
    }

    /// The step is solved: why, a way to write it, and how to go on.
    fn solved(&mut self, session: &mut Session) -> Result<()> {
        let Some((_, _, Step { exercise: Some(exercise), .. })) = self.lesson() else {
            return Ok(());
        };
        let layout = layout(session);
        let mut lines = layout.blocks(&led(&exercise.why, &self.text("right", &[])));
        lines.push(String::new());
        // Where the answer is a bare word, nobody needs to see how it is written.
        if exercise.solution.contains('(') {
            lines.extend(layout.text(&self.text("reference", &[])));
            lines.push(String::new());
            lines.extend(layout.code(&exercise.solution));
            lines.push(String::new());
        }
        tell(session, &lines)?;
        self.end_step(session, Ended::Solved)
    }

    /// `skip`: the solution, what it answers, and why it works.
    pub(super) fn skip(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, _, step)) = self.lesson() else { return Ok(()) };
        if lesson.play.is_some() {
            return self.say(session, "playing", &[]);
        }
        if lesson.ended {
            return self.go_on(session);
        }
        if !self.settings.skipping {
            return self.say(session, "no-skip", &[]);
        }
        let Some(exercise) = &step.exercise else { return Ok(()) };
        let layout = layout(session);
        let mut lines = layout.text(&self.text("solution", &[]));
        lines.push(String::new());
        lines.extend(layout.code(&exercise.solution));
        lines.push(String::new());
        tell(session, &lines)?;
        // What the learner has tried may stand in its way, so it runs on the step's own beginning.
        let (solution, why) = (exercise.solution.clone(), exercise.why.clone());
        let (sandbox, page, at) = self.parts()?;
        replay::begin(session, sandbox, page, at)?;
        replay::aloud(session, &solution)?;
        let mut lines = vec![String::new()];
        lines.extend(layout.blocks(&led(&why, &self.text("why", &[]))));
        lines.push(String::new());
        tell(session, &lines)?;
        self.end_step(session, Ended::Skipped)
    }

    fn parts(&self) -> Result<(&Sandbox, &Page, usize)> {
        let found = self.lesson().map(|(lesson, page, _)| (&lesson.sandbox, page, lesson.step));
        found.ok_or_else(|| Error::Usage("there is no lesson".to_owned()))
    }

    /// The step is done; says how to go on.
    fn end_step(&mut self, session: &mut Session, ended: Ended) -> Result<()> {
        let Some((lesson, page, _)) = self.lesson() else { return Ok(()) };
        let (name, step, steps, at) =
            (page.name.clone(), lesson.step + 1, page.steps.len(), lesson.page);
        let number = page.number.to_string();
        let proves = page.steps[step - 1].proves.clone();
        if let Some(lesson) = self.lesson_mut() {
            (lesson.ended, lesson.unread) = (true, false);
        }
        let ended_as = match ended {
            Ended::Solved => "transcript-solved",
            Ended::Skipped => "transcript-skipped",
        };
        self.record_end(session, ended_as);
        if let (Some(lessons), Ended::Solved) = (proves, ended) {
            self.prove(session, lessons)?;
        }
        let books = self.books()?;
        let kept = books.progress.end(&name, step, ended);
        let following = books.library.pages.get(at + 1);
        let following = following.map(|page| (page.number.to_string(), page.title.clone()));
        match following {
            _ if step < steps => self.say(session, "step-done", &[])?,
            Some((next, title)) => {
                let values = [("lesson", &*number), ("next", &*next), ("title", &*title)];
                self.say(session, "lesson-done", &values)?;
            }
            None => self.say(session, "all-done", &[("lesson", &number)])?,
        }
        self.remark_on(session, kept)
    }

    /// A challenge is met: all lessons that it is about are done.
    fn prove(&mut self, session: &mut Session, lessons: RangeInclusive<usize>) -> Result<()> {
        let books = self.books()?;
        let proved = books.library.pages.iter().filter(|page| lessons.contains(&page.number));
        let undone: Vec<(String, usize)> = proved
            .flat_map(|page| (1..=page.steps.len()).map(|step| (page.name.clone(), step)))
            .filter(|(name, step)| !books.progress.done(name).has(*step))
            .collect();
        // The challenge itself is one of them.
        if undone.len() <= 1 {
            return Ok(());
        }
        for (name, step) in undone {
            books.progress.end(&name, step, Ended::Solved);
        }
        let (from, to) = (lessons.start().to_string(), lessons.end().to_string());
        self.say(session, "challenge-met", &[("from", &from), ("to", &to)])
    }

    /// Tells, once, that progress cannot be kept, or could not be read.
    fn remark_on(&mut self, session: &mut Session, kept: bool) -> Result<()> {
        if let Some(copy) = self.books()?.progress.damaged() {
            let notice = self.text("not-whole", &[("file", &copy.display().to_string())]);
            session.notice(&notice);
        }
        let books = self.books()?;
        if (kept && books.progress.is_kept()) || books.told {
            return Ok(());
        }
        books.told = true;
        let notice = self.text("not-kept", &[]);
        session.notice(&notice);
        Ok(())
    }

    /// `next`: on to the next step, or the next lesson.
    pub(super) fn go_on(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, page, step)) = self.lesson() else { return self.resume(session) };
        if lesson.play.is_some() {
            return self.say(session, "playing", &[]);
        }
        if lesson.unread {
            return self.task(session);
        }
        if !lesson.ended {
            return self.say(session, "unsolved", &[]);
        }
        let (at, number, last) = (lesson.page, lesson.step, lesson.step + 1 == page.steps.len());
        if step.exercise.is_none() {
            let name = page.name.clone();
            self.record_end(session, "transcript-read");
            self.books()?.progress.end(&name, number + 1, Ended::Solved);
        }
        if !last {
            if let Some(lesson) = self.lesson_mut() {
                lesson.step += 1;
            }
            return self.begin_step(session, Start::AtOnce);
        }
        if at + 1 < self.books()?.library.pages.len() {
            return self.open(session, (at + 1, 0), Start::Introduced, "next");
        }
        self.bye(session)
    }

    /// `play`: a copy of the data, to try things out in.
    pub(super) fn play(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, ..)) = self.lesson() else { return Ok(()) };
        if lesson.play.is_none() {
            let copy = lesson.sandbox.copy(session.interrupt())?;
            session.go(copy.whereabouts());
            if let Some(lesson) = self.lesson_mut() {
                lesson.play = Some(copy);
            }
        }
        self.say(session, "play", &[])
    }

    fn stop_playing(&mut self, session: &mut Session) -> Result<()> {
        let Some(lesson) = self.lesson_mut() else { return Ok(()) };
        let Some(copy) = lesson.play.take() else { return Ok(()) };
        session.go(lesson.sandbox.whereabouts());
        copy.clear(session.interrupt())
    }

    /// Whether the step at hand is done.
    pub(super) fn has_ended(&self) -> bool {
        self.lesson().is_some_and(|(lesson, ..)| lesson.ended)
    }

    /// All data of the lesson at hand.
    pub(super) fn contents(&self, interrupt: &Interrupt) -> Result<Vec<RawDocumentBuf>> {
        self.lesson().map_or(Ok(Vec::new()), |(lesson, ..)| lesson.sandbox.contents(interrupt))
    }

    fn run(&mut self, session: &mut Session, word: &Word) -> Result<()> {
        if word.inside && self.lesson().is_none() {
            return self.say(session, "no-lesson", &[]);
        }
        (word.run)(self, session)
    }
}

impl session::Tutor for Tutor {
    fn standing(&self) -> String {
        match self.lesson() {
            Some((lesson, page, _)) => {
                let play = if lesson.play.is_some() { "play " } else { "" };
                format!("learn {}.{} {play}", page.number, lesson.step + 1)
            }
            None => String::new(),
        }
    }

    fn knows(&self, word: &str) -> bool {
        match &self.place {
            Place::Elsewhere => false,
            Place::Menu => word == "next",
            Place::Lesson(_) => words::word(word).is_some_and(|word| word.alone),
        }
    }

    fn words(&self) -> Vec<String> {
        let words = words::alone().filter(|word| self.knows(word));
        words.map(ToOwned::to_owned).collect()
    }

    fn following(&mut self) -> Vec<String> {
        // Pages that cannot be read are complained of when somebody asks for a lesson.
        let pages = self.books().map(|books| &books.library.pages[..]).unwrap_or_default();
        let lessons = pages.iter().flat_map(|page| {
            let number = page.number;
            let steps = (1..=page.steps.len()).map(move |step| format!("{number}.{step}"));
            std::iter::once(number.to_string()).chain(steps)
        });
        words::after_learn().map(ToOwned::to_owned).chain(lessons).collect()
    }

    fn obey(&mut self, session: &mut Session, words: &[&str]) -> Result<()> {
        self.books()?;
        let said = words.join(" ");
        if self.unconfirmed.as_ref().is_some_and(|unconfirmed| *unconfirmed != said) {
            self.unconfirmed = None;
        }
        match words {
            ["learn"] => self.menu(session),
            ["learn", "reset"] => self.forget(session, false),
            ["learn", "reset", "all"] => self.forget(session, true),
            ["learn", place] if place.starts_with(|c: char| c.is_ascii_digit()) => {
                self.go_to(session, place)
            }
            ["show", "task"] => self.task(session),
            ["learn", name] | [name] if words::word(name).is_some() => {
                words::word(name).map_or(Ok(()), |word| self.run(session, word))
            }
            _ => self.say(session, "unknown-word", &[("word", &said)]),
        }
    }

    fn look(&mut self, session: &mut Session, text: &str, failed: Option<&Error>) -> Result<()> {
        self.unconfirmed = None;
        if let Place::Menu = self.place {
            self.place = Place::Elsewhere;
        }
        let Some(lesson) = self.lesson_mut() else { return Ok(()) };
        lesson.failed = failed.cloned();
        if lesson.ended || lesson.play.is_some() {
            return Ok(());
        }
        let told = lesson.told;
        self.record_answer(session, text);
        let now = match self.judge(session)? {
            Found::Solved => {
                tell(session, &[String::new()])?;
                return self.solved(session);
            }
            Found::Mistake(at, values) => {
                if told != Some(at) {
                    self.record_mistake(session, at);
                    let message = self.remark(session, at, &values);
                    tell(session, &[String::new()])?;
                    tell(session, &message)?;
                    tell(session, &[String::new()])?;
                }
                Some(at)
            }
            Found::NotYet => None,
        };
        if let Some(lesson) = self.lesson_mut() {
            lesson.told = now;
        }
        Ok(())
    }

    fn nothing_typed(&mut self, session: &mut Session) -> Result<()> {
        match &self.place {
            Place::Menu => self.resume(session),
            Place::Lesson(lesson) if (lesson.ended || lesson.unread) && lesson.play.is_none() => {
                self.go_on(session)
            }
            Place::Lesson(_) | Place::Elsewhere => Ok(()),
        }
    }
}

/// The layout of a session's terminal.
fn layout(session: &Session) -> Layout {
    Layout::new(session.columns(), session.paint())
}

fn tell(session: &mut Session, lines: &[String]) -> Result<()> {
    if lines.is_empty() { Ok(()) } else { session.say(&lines.join("\n")) }
}

/// Blocks with some words in front of the first.
fn led(blocks: &[Block], words: &str) -> Vec<Block> {
    match blocks {
        [Block::Paragraph(text), rest @ ..] => {
            let first = Block::Paragraph(format!("{words} {text}"));
            std::iter::once(first).chain(rest.iter().cloned()).collect()
        }
        blocks => std::iter::once(Block::Paragraph(words.to_owned()))
            .chain(blocks.iter().cloned())
            .collect(),
    }
}
