//! What a page lacks, as far as that can be seen without running it.

use super::layout::Layout;
use super::library::{ENGLISH, Source, said};
use super::markdown::{Block, blocks};
use super::page::{Complaint, Draft, Page};
use crate::print::Paint;

/// A screen of 80 by 24 without the line of the prompt and the one that was typed.
const SCREEN: (usize, usize) = (80, 22);

/// What a block of code may be marked.
const MARKS: [&str; 4] = ["js", "js check", "js throws", "text"];

/// Everything that is wrong with the pages of all languages, a line each.
pub(super) fn lint(source: &Source) -> Vec<String> {
    let mut complaints = Vec::new();
    let languages = source.languages();
    if languages.is_empty() {
        return vec!["there are no pages: they are named LANGUAGE/NN-name.md".to_owned()];
    }
    for language in languages {
        let library = match source.read(&language) {
            Ok(library) => library,
            Err(faults) => {
                complaints.extend(faults.iter().map(said));
                continue;
            }
        };
        let originals = match language == ENGLISH {
            true => Vec::new(),
            false => source.read(ENGLISH).map(|library| library.pages).unwrap_or_default(),
        };
        let texts = source.pages(&language);
        for (name, text) in &texts {
            let file = format!("{language}/{name}.md");
            let mut complain = |line: usize, text: String| {
                complaints.push(said(&(file.clone(), Complaint { line, text })));
            };
            for (line, block) in blocks(text) {
                if let Block::Code(info, _) = &block
                    && !MARKS.contains(&info.as_str())
                {
                    complain(line, format!("code is marked {}", MARKS.join(", ")));
                }
            }
            if let Some(page) = library.pages.iter().find(|page| page.name == *name) {
                for (at, lines) in too_long(page) {
                    let most = SCREEN.1;
                    complain(
                        0,
                        format!("step {at} takes {lines} lines of a screen, which has {most}"),
                    );
                }
            }
            if let Some(original) = originals.iter().find(|page| page.name == *name) {
                for complaint in Draft::read(text, &library.texts).untranslated(original) {
                    complain(complaint.line, complaint.text);
                }
            }
        }
        for page in &library.pages {
            if !texts.iter().any(|(name, _)| *name == page.name) {
                complaints
                    .push(format!("{language}/{}.md is missing: it is said in English", page.name));
            }
        }
    }
    complaints
}

/// The steps that do not fit on a screen, by number, and their lines.
fn too_long(page: &Page) -> Vec<(usize, usize)> {
    let layout = Layout::new(SCREEN.0, Paint::Plain);
    let lines = |blocks: &[Block]| match layout.blocks(blocks).len() {
        0 => 0,
        lines => lines + 1,
    };
    let steps = page.steps.iter().enumerate().map(|(at, step)| {
        let task = step.exercise.as_ref().map_or(&[][..], |exercise| &exercise.task[..]);
        // A heading and an empty line stand above; the task has a few words in front.
        (at + 1, 2 + lines(&step.text) + lines(task))
    });
    let introduction = (0, 2 + lines(&page.introduction));
    std::iter::once(introduction).chain(steps).filter(|(_, lines)| *lines > SCREEN.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_the_program_lack_nothing() {
        assert_eq!(lint(&Source::Embedded), Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let english = folder.path().join("en");
        std::fs::create_dir(&english).expect("created");
        let source = Source::Folder(folder.path().to_owned());
        assert_eq!(lint(&source).len(), 1);
        let page = format!("# A\n\n## B\n\n{}\n\n```sh\nls\n```\n", "word\n\n".repeat(30));
        std::fs::write(english.join("01-a.md"), page).expect("written");
        let complaints = lint(&source);
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        assert!(complaints[0].starts_with("en/01-a.md:67: code is marked js"), "{complaints:?}");
        assert!(complaints[1].contains("step 1 takes"), "{complaints:?}");
    }
}
