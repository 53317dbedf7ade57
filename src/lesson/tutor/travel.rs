//! How a learner gets about: the menu, to a lesson or a challenge, back, again, out; and forgetting.

use super::{Place, Start, Tutor, layout, tell};
use crate::error::Result;
use crate::lesson::{menu, words};
use crate::session::Session;

impl Tutor {
    /// `back`: from playing to the step, from a step to the one before.
    pub(in crate::lesson) fn back(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, ..)) = self.lesson() else { return Ok(()) };
        let (page, step) = (lesson.page, lesson.step);
        if lesson.play.is_some() {
            self.stop_playing(session)?;
            return self.say(session, "played", &[]);
        }
        match step.checked_sub(1) {
            Some(before) => self.open(session, (page, before), Start::AtOnce, "back"),
            None => self.say(session, "first-step", &[]),
        }
    }

    /// `reset`: the step from its beginning.
    pub(in crate::lesson) fn reset(&mut self, session: &mut Session) -> Result<()> {
        let Some((lesson, ..)) = self.lesson() else { return Ok(()) };
        let (page, step) = (lesson.page, lesson.step);
        self.open(session, (page, step), Start::AtOnce, "reset")
    }

    /// `bye`: out of the lesson, back to where the session was.
    pub(in crate::lesson) fn bye(&mut self, session: &mut Session) -> Result<()> {
        self.stop_playing(session)?;
        match std::mem::replace(&mut self.place, Place::Elsewhere) {
            Place::Lesson(lesson) => {
                session.go(lesson.home);
                lesson.sandbox.leave(session.interrupt())?;
                self.say(session, "bye", &[])
            }
            Place::Elsewhere | Place::Menu => Ok(()),
        }
    }

    /// Goes on where the learner was, or with the first step that is not done.
    pub(super) fn resume(&mut self, session: &mut Session) -> Result<()> {
        let books = self.books()?;
        let place = menu::next(&books.library, &books.progress);
        self.open(session, place, Start::Introduced, "next")
    }

    /// `learn`: all lessons, and how far the learner is.
    pub(super) fn menu(&mut self, session: &mut Session) -> Result<()> {
        let at = self.lesson().map(|(lesson, ..)| (lesson.page, lesson.step));
        let books = self.books()?;
        let lines = menu::menu(&books.library, &books.progress, &layout(session), at);
        if let Place::Elsewhere = self.place {
            self.place = Place::Menu;
        }
        tell(session, &lines)
    }

    /// `learn 4`, `learn 4.2`.
    pub(super) fn go_to(&mut self, session: &mut Session, place: &str) -> Result<()> {
        let books = self.books()?;
        let (page, step) = match books.library.find(place) {
            Ok(found) => found,
            Err(missing) => {
                let lines = layout(session).text(&missing.to_string());
                return tell(session, &lines);
            }
        };
        let (step, start) = match step {
            Some(step) => (step, Start::AtOnce),
            // A lesson goes on where it was left, and begins anew once it is done.
            None => {
                let step = menu::first_undone(&books.library.pages[page], &books.progress);
                (step, Start::Introduced)
            }
        };
        self.open(session, (page, step), start, &format!("learn {place}"))
    }

    /// `challenge`: to the step that stands for the lessons around, or for those that are next.
    pub(in crate::lesson) fn challenge(&mut self, session: &mut Session) -> Result<()> {
        let at = self.lesson().map(|(lesson, page, _)| (lesson.page, page.number));
        let books = self.books()?;
        let here = at.unwrap_or_else(|| {
            let (page, _) = menu::next(&books.library, &books.progress);
            (page, books.library.pages[page].number)
        });
        let challenges = books.library.pages.iter().enumerate().flat_map(|(page, lesson)| {
            lesson.steps.iter().enumerate().map(move |(step, own)| ((page, step), &own.proves))
        });
        let mut about = challenges
            .filter(|(_, proves)| proves.as_ref().is_some_and(|lessons| lessons.contains(&here.1)));
        match about.next().map(|(place, _)| place) {
            Some(place) => self.open(session, place, Start::AtOnce, "learn challenge"),
            None => self.say(session, "no-challenge", &[("lesson", &here.1.to_string())]),
        }
    }

    /// `learn reset`, `learn reset all`: progress is forgotten, if it is said twice.
    pub(super) fn forget(&mut self, session: &mut Session, all: bool) -> Result<()> {
        let words = if all { "learn reset all" } else { "learn reset" };
        let books = self.books()?;
        let at = menu::next(&books.library, &books.progress).0;
        let page = self.lesson().map_or(at, |(lesson, ..)| lesson.page);
        let books = self.books()?;
        let (name, number) = {
            let page = &books.library.pages[page];
            (page.name.clone(), page.number.to_string())
        };
        if !self.confirmed(words) {
            let key = if all { "forget-all" } else { "forget" };
            return self.say(session, key, &[("lesson", &number), ("words", words)]);
        }
        let kept = self.books()?.progress.forget((!all).then_some(name.as_str()));
        self.remark_on(session, kept)?;
        self.say(session, "forgotten", &[])?;
        match (&self.place, all) {
            (Place::Lesson(_), false) => self.open(session, (page, 0), Start::Introduced, words),
            (Place::Lesson(_), true) => self.bye(session),
            (Place::Elsewhere | Place::Menu, _) => Ok(()),
        }
    }

    /// `learn help`: the words.
    pub(in crate::lesson) fn help(&mut self, session: &mut Session) -> Result<()> {
        let lines: Vec<String> = words::LISTED
            .iter()
            .map(|(word, key)| format!("{word:<18}{}", self.text(key, &[])))
            .collect();
        tell(session, &lines)
    }
}
