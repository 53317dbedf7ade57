//! The menu: all lessons, how far the learner is, and what to type.

use unicode_width::UnicodeWidthStr;

use super::layout::Layout;
use super::library::Library;
use super::page::Page;
use super::progress::Progress;

/// Where to go on: where the learner was, unless that step is done, else the first step that is not; a page and a step,
/// from 0.
pub(super) fn next(library: &Library, progress: &Progress) -> (usize, usize) {
    let pages = &library.pages;
    let from = progress.at().and_then(|(name, step)| {
        let page = pages.iter().position(|page| page.name == name)?;
        (1..=pages[page].steps.len()).contains(&step).then_some((page, step - 1))
    });
    let (page, step) = from.unwrap_or((0, 0));
    let undone = |page: usize, step: &usize| !progress.done(&pages[page].name).has(step + 1);
    let here = (step..pages[page].steps.len()).find(|step| undone(page, step));
    let later = (page + 1..pages.len()).chain(0..=page).find_map(|page| {
        let step = (0..pages[page].steps.len()).find(|step| undone(page, step))?;
        Some((page, step))
    });
    here.map(|step| (page, step)).or(later).unwrap_or((0, 0))
}

/// The first step of a lesson that is not done; its first one if all are.
pub(super) fn first_undone(page: &Page, progress: &Progress) -> usize {
    let done = progress.done(&page.name);
    (0..page.steps.len()).find(|step| !done.has(step + 1)).unwrap_or(0)
}

/// The lines of the menu. `at` is where the learner is now, a page and a step, if that is in a lesson.
pub(super) fn menu(
    library: &Library,
    progress: &Progress,
    layout: &Layout,
    at: Option<(usize, usize)>,
) -> Vec<String> {
    let (here, step) = at.unwrap_or_else(|| next(library, progress));
    let mut lines = lessons(library, progress, layout, Some(here));
    lines.push(String::new());
    let place = format!("{}.{}", library.pages[here].number, step + 1);
    let key = match at {
        Some(_) => "menu-inside",
        None if counts(library, progress).iter().all(|count| *count == 0) => "menu-begin",
        None => "menu-go-on",
    };
    lines.extend(layout.text(&library.texts.say(key, &[("at", &place)])));
    lines
}

/// The lessons without what to type.
pub(super) fn list(library: &Library, progress: &Progress, layout: &Layout) -> Vec<String> {
    lessons(library, progress, layout, None)
}

/// How many steps of each lesson are done.
fn counts(library: &Library, progress: &Progress) -> Vec<usize> {
    let count = |page: &Page| progress.done(&page.name).count(page.steps.len());
    library.pages.iter().map(count).collect()
}

fn lessons(
    library: &Library,
    progress: &Progress,
    layout: &Layout,
    here: Option<usize>,
) -> Vec<String> {
    let texts = &library.texts;
    let pages = &library.pages;
    let counts = counts(library, progress);
    let finished = pages.iter().zip(&counts).filter(|(page, count)| **count == page.steps.len());
    let values = [("done", &*finished.count().to_string()), ("of", &*pages.len().to_string())];
    let mut lines = layout.text(&texts.say("menu-heading", &values));
    lines.push(String::new());
    let width = pages.iter().map(|page| page.title.width()).max().unwrap_or(0);
    for (index, (page, count)) in pages.iter().zip(&counts).enumerate() {
        let done = progress.done(&page.name);
        let (steps, skipped) = (page.steps.len(), done.skipped(page.steps.len()));
        let numbers = [
            ("done", &*count.to_string()),
            ("of", &*steps.to_string()),
            ("n", &*skipped.to_string()),
        ];
        let status = match (*count, skipped) {
            (0, _) => String::new(),
            (count, 0) if count == steps => texts.say("menu-done", &numbers),
            (count, _) if count == steps => texts.say("menu-skipped", &numbers),
            _ => texts.say("menu-begun", &numbers),
        };
        let mark = if Some(index) == here { '>' } else { ' ' };
        let gap = " ".repeat(width - page.title.width());
        let line = format!("{mark}{:>3}  {}{gap}  {status}", page.number, page.title);
        lines.push(line.trim_end().to_owned());
    }
    lines
}
