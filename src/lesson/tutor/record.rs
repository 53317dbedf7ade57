//! What the tutor writes into a learner's transcript, if one is kept.

use super::Tutor;
use crate::session::Session;

impl Tutor {
    /// The step at hand begins.
    pub(super) fn record_beginning(&mut self, session: &mut Session) {
        let Some((lesson, page, step)) = self.lesson() else { return };
        let heading = format!("## {}.{} {}", page.number, lesson.step + 1, step.title);
        let title = self.text("transcript-title", &[]);
        let Some(transcript) = &mut self.transcript else { return };
        let time = transcript.begin();
        let begun = self.text("transcript-begun", &[("time", &time)]);
        self.record(session, &format!("{heading}\n\n{begun}"), Some(&title));
    }

    /// Something was typed.
    pub(super) fn record_answer(&mut self, session: &mut Session, text: &str) {
        let Some(transcript) = &mut self.transcript else { return };
        if transcript.typed(text).is_err() {
            self.give_up(session);
        }
    }

    /// A hint is given, `n` from 1.
    pub(super) fn record_hint(&mut self, session: &mut Session, n: usize) {
        let Some(transcript) = &mut self.transcript else { return };
        transcript.hinted();
        self.record_text(session, "transcript-hint", &[("n", &n.to_string())]);
    }

    /// A mistake of the step is told, given by its place.
    pub(super) fn record_mistake(&mut self, session: &mut Session, at: usize) {
        let Some((_, _, step)) = self.lesson() else { return };
        let mistake = step.exercise.as_ref().and_then(|exercise| exercise.mistakes.get(at));
        let name = mistake.map(|mistake| mistake.name.clone()).unwrap_or_default();
        self.record_text(session, "transcript-mistake", &[("name", &name)]);
    }

    /// A text of the interface goes into the transcript.
    fn record_text(&mut self, session: &mut Session, key: &str, values: &[(&str, &str)]) {
        let text = self.text(key, values);
        self.record(session, &text, None);
    }

    /// The step at hand has ended, as the text of `key` says.
    pub(super) fn record_end(&mut self, session: &mut Session, key: &str) {
        let Some(transcript) = &self.transcript else { return };
        let effort = transcript.effort();
        let (seconds, answers) = (effort.time.as_secs().to_string(), effort.answers.to_string());
        let hints = effort.hints.to_string();
        let values = [("seconds", &*seconds), ("answers", &*answers), ("hints", &*hints)];
        self.record_text(session, key, &values);
    }

    fn record(&mut self, session: &mut Session, text: &str, title: Option<&str>) {
        let Some(transcript) = &mut self.transcript else { return };
        if transcript.write(text, title).is_err() {
            self.give_up(session);
        }
    }

    /// A transcript that cannot be written is said to be none, once.
    fn give_up(&mut self, session: &mut Session) {
        self.transcript = None;
        let notice = self.text("transcript-lost", &[]);
        session.notice(&notice);
    }
}
