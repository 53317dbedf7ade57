//! The bargain: what every page promises, tried out.
//!
//! A page that is merely well-formed may still teach something that does not work. So every step is run: its beginning,
//! its solutions, its mistakes, the code in its texts, and then whole courses, once solved and once skipped.

use bson::{Bson, Document, RawDocumentBuf};

use super::judge::{self, Found};
use super::library::Library;
use super::markdown::Block;
use super::page::{Exercise, Page};
use super::progress::Ended;
use super::replay::{self, unless_stopped};
use super::sandbox::Sandbox;
use super::tutor::{Settings, Tutor};
use crate::error::{Error, Result};
use crate::interrupt::Interrupt;
use crate::print::Options;
use crate::script::Limits;
use crate::session::{self, Session};
use crate::shell::{Emulate, Output, Shell};

/// What came of trying the pages of one language.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// How many lessons there are.
    pub(super) lessons: usize,
    /// How many steps they have.
    pub(super) steps: usize,
    /// What does not hold, a line each.
    pub(super) broken: Vec<String>,
}

/// Tries all pages of a language, emulating the classic shell.
///
/// # Errors
/// When the pages cannot be read, or nothing can be run; [`Error::Interrupted`].
pub(super) fn try_out(
    settings: &Settings,
    language: &str,
    interrupt: &Interrupt,
) -> Result<Outcome> {
    let settings = Settings {
        language: language.to_owned(),
        skipping: true,
        folder: None,
        transcript: None,
        ..settings.clone()
    };
    let library = settings.source.library(language)?;
    let mut trial = Trial {
        sandbox: Sandbox::scratch(settings.seed),
        interrupt: interrupt.clone(),
        broken: Vec::new(),
        place: String::new(),
    };
    let mut steps = 0;
    for page in &library.pages {
        for at in 0..page.steps.len() {
            trial.place = format!("{language} {}.{}", page.number, at + 1);
            trial.step(page, at)?;
            steps += 1;
        }
    }
    let solved = trial.course(&settings, &library, Ended::Solved)?;
    let skipped = trial.course(&settings, &library, Ended::Skipped)?;
    for ((place, solved), (_, skipped)) in solved.iter().zip(&skipped) {
        if solved != skipped {
            trial.broken.push(format!(
                "{place}: skipping leaves other data than solving: {} instead of {}",
                listed(skipped),
                listed(solved)
            ));
        }
    }
    Ok(Outcome { lessons: library.pages.len(), steps, broken: trial.broken })
}

/// The pages of a language being tried.
struct Trial {
    sandbox: Sandbox,
    interrupt: Interrupt,
    broken: Vec<String>,
    /// The step at hand: `en 4.2`.
    place: String,
}

impl Trial {
    /// One step, apart from the others.
    fn step(&mut self, page: &Page, at: usize) -> Result<()> {
        let step = &page.steps[at];
        let introduction = if at == 0 { &page.introduction[..] } else { &[] };
        let mut session = self.begin(page, at)?;
        for block in introduction.iter().chain(&step.text) {
            self.example(&mut session, block)?;
        }
        let Some(exercise) = &step.exercise else { return Ok(()) };
        match self.judge(&mut session, exercise, None)? {
            Found::Mistake(mistake, _) => {
                let name = &exercise.mistakes[mistake].name;
                self.complain(&format!("the examples are taken for the mistake \"{name}\""));
            }
            Found::Solved | Found::NotYet => {
                self.answer(
                    &mut session,
                    exercise,
                    &exercise.solution,
                    "the solution after the examples",
                )?;
            }
        }
        let mut session = self.begin(page, at)?;
        match self.judge(&mut session, exercise, None)? {
            Found::NotYet => {}
            Found::Solved => self.complain("the check passes before anything was done"),
            Found::Mistake(mistake, _) => {
                let name = &exercise.mistakes[mistake].name;
                self.complain(&format!(
                    "the mistake \"{name}\" is recognised before anything was done"
                ));
            }
        }
        for (number, solution) in
            std::iter::once(&exercise.solution).chain(&exercise.others).enumerate()
        {
            let mut session = self.begin(page, at)?;
            let name = if number == 0 {
                "the solution".to_owned()
            } else {
                format!("solution {}", number + 1)
            };
            self.answer(&mut session, exercise, solution, &name)?;
            if number == 0 {
                for block in &exercise.why {
                    self.example(&mut session, block)?;
                }
            }
        }
        for (number, mistake) in exercise.mistakes.iter().enumerate() {
            let mut session = self.begin(page, at)?;
            let failed = unless_stopped(session.type_in_unseen(&mistake.code))?;
            let name = &mistake.name;
            match self.judge(&mut session, exercise, failed.as_ref())? {
                Found::Mistake(found, _) if found == number => {}
                Found::Mistake(found, _) => {
                    let other = &exercise.mistakes[found].name;
                    self.complain(&format!("the mistake \"{name}\" is taken for \"{other}\""));
                }
                Found::Solved => {
                    self.complain(&format!("the check passes after the mistake \"{name}\""))
                }
                Found::NotYet => self.complain(&format!(
                    "the mistake \"{name}\" is not recognised{}",
                    because(failed.as_ref())
                )),
            }
        }
        for hint in &exercise.hints {
            let mut session = self.begin(page, at)?;
            for block in hint {
                self.example(&mut session, block)?;
            }
        }
        Ok(())
    }

    /// A fresh session where a step begins.
    fn begin(&self, page: &Page, at: usize) -> Result<Session> {
        let mut session = self.session()?;
        session.go(self.sandbox.whereabouts());
        replay::begin(&mut session, &self.sandbox, page, at)?;
        session.forget_answer();
        self.sandbox.witness().forget();
        Ok(session)
    }

    /// A session that shows nothing.
    fn session(&self) -> Result<Session> {
        let place = self.sandbox.unseen();
        let output = Output::new(std::io::sink(), std::io::sink());
        let shell =
            Shell::new(place.backend, self.interrupt.clone(), Emulate::Mongo, place.db, output);
        let settings = session::Settings {
            limits: Limits::default(),
            options: Options::PROMPT,
            json: None,
            prompt: false,
        };
        let mut session = Session::new(shell, settings)?;
        session.keep_answers();
        Ok(session)
    }

    /// A right answer has to pass.
    fn answer(
        &mut self,
        session: &mut Session,
        exercise: &Exercise,
        code: &str,
        name: &str,
    ) -> Result<()> {
        let failed = unless_stopped(session.type_in_unseen(code))?;
        match self.judge(session, exercise, failed.as_ref())? {
            Found::Solved => {}
            Found::NotYet => {
                self.complain(&format!(
                    "the check does not pass after {name}{}",
                    because(failed.as_ref())
                ));
            }
            Found::Mistake(mistake, _) => {
                let mistake = &exercise.mistakes[mistake].name;
                self.complain(&format!("{name} is taken for the mistake \"{mistake}\""));
            }
        }
        Ok(())
    }

    /// A block of a text: if it is code it has to run, or to fail where it says so.
    fn example(&mut self, session: &mut Session, block: &Block) -> Result<()> {
        let Block::Code(info, code) = block else { return Ok(()) };
        let mut words = info.split_whitespace();
        if words.next() != Some("js") {
            return Ok(());
        }
        let throws = words.any(|word| word == "throws");
        match (unless_stopped(session.type_in_unseen(code))?, throws) {
            (None, false) | (Some(_), true) => {}
            (None, true) => self.complain(&format!("an example that is to fail does not: {code}")),
            (Some(error), false) => self.complain(&format!("an example fails: {code}: {error}")),
        }
        Ok(())
    }

    fn judge(
        &self,
        session: &mut Session,
        exercise: &Exercise,
        failed: Option<&Error>,
    ) -> Result<Found> {
        judge::judge(session, &self.sandbox, exercise, failed)
    }

    fn complain(&mut self, text: &str) {
        self.broken.push(format!("{}: {text}", self.place));
    }

    /// All lessons one after the other with a real tutor, each step ended in the same way. Answers with the data that
    /// each leaves behind.
    fn course(
        &mut self,
        settings: &Settings,
        library: &Library,
        ended: Ended,
    ) -> Result<Vec<(String, Vec<Document>)>> {
        let mut tutor = Tutor::new(settings.clone());
        let language = &settings.language;
        let mut left = Vec::new();
        for page in &library.pages {
            let mut session = self.session()?;
            let first = format!("{}.1", page.number);
            session::Tutor::obey(&mut tutor, &mut session, &["learn", &first])?;
            for (at, step) in page.steps.iter().enumerate() {
                self.place = format!("{language} {}.{}", page.number, at + 1);
                match (&step.exercise, ended) {
                    (None, _) => {}
                    (Some(exercise), Ended::Solved) => {
                        let failed = unless_stopped(session.type_in_unseen(&exercise.solution))?;
                        let typed = &exercise.solution;
                        session::Tutor::look(&mut tutor, &mut session, typed, failed.as_ref())?;
                    }
                    (Some(_), Ended::Skipped) => {
                        session::Tutor::obey(&mut tutor, &mut session, &["skip"])?;
                    }
                }
                if !tutor.has_ended() {
                    self.complain("in the course of the lesson the solution does not solve it");
                    return Ok(Vec::new());
                }
                left.push((self.place.clone(), normal(tutor.contents(&self.interrupt)?)));
                if at + 1 < page.steps.len() {
                    session::Tutor::obey(&mut tutor, &mut session, &["next"])?;
                }
            }
            session::Tutor::obey(&mut tutor, &mut session, &["bye"])?;
        }
        Ok(left)
    }
}

fn because(failed: Option<&Error>) -> String {
    failed.map(|error| format!(" (it fails: {error})")).unwrap_or_default()
}

/// Data without what differs from run to run: ids that were made up, dates.
fn normal(documents: Vec<RawDocumentBuf>) -> Vec<Document> {
    fn value(found: Bson) -> Bson {
        match found {
            Bson::ObjectId(_) => Bson::String("an ObjectId".to_owned()),
            Bson::DateTime(_) => Bson::String("a date".to_owned()),
            Bson::Binary(_) => Bson::String("binary data".to_owned()),
            Bson::Document(inner) => Bson::Document(document(inner)),
            Bson::Array(elements) => Bson::Array(elements.into_iter().map(value).collect()),
            other => other,
        }
    }
    fn document(document: Document) -> Document {
        document.into_iter().map(|(key, inner)| (key, value(inner))).collect()
    }
    let documents = documents.iter().filter_map(|raw| Document::try_from(raw.as_ref()).ok());
    let mut documents: Vec<Document> = documents.map(document).collect();
    documents.sort_by_cached_key(ToString::to_string);
    documents
}

fn listed(documents: &[Document]) -> String {
    documents.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
