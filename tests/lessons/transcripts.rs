//! Whole lessons as somebody types them: at each task a wrong try, a hint, a right answer. `NN.js` is what is typed, the same
//! in every language, `NN.LANGUAGE.txt` is the screen.
//!
//! The screens are held to the pages as well: whatever a page says on that way, its screen must show.

use std::fs;

use crate::program::{root, tally};

const LANGUAGES: [&str; 2] = ["en", "es"];

/// The lessons that have a transcript here, by number and the page's name.
fn lessons() -> Vec<(usize, String)> {
    let mut names: Vec<String> = fs::read_dir(root().join("scripts/lessons/en"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    let numbered = |name: String| (name[..2].parse().unwrap(), name);
    // The first has one of its own, beside this.
    names.into_iter().map(numbered).skip(1).collect()
}

fn kept(file: &str) -> String {
    fs::read_to_string(root().join("tests/lessons").join(file)).unwrap()
}

/// A screen without what differs from run to run: how fast a race was, ids that were made up.
fn steady(screen: &str) -> String {
    let mut steady = String::new();
    for line in screen.lines() {
        let line = match (line.split_once("   "), line.strip_suffix(" calls/s")) {
            (Some(_), Some(race)) => {
                let kept = race.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
                format!("{kept}N calls/s")
            }
            _ => match line.split_once("\"insertedId\" : ObjectId(\"") {
                Some((before, _)) => format!("{before}\"insertedId\" : ObjectId(\"...\")"),
                None => line.to_owned(),
            },
        };
        steady.push_str(&line);
        steady.push('\n');
    }
    steady
}

#[test]
fn transcripts_of_whole_lessons() {
    for (number, _) in lessons() {
        let typed = kept(&format!("{number:02}.js"));
        for language in LANGUAGES {
            let lesson = number.to_string();
            let fixed = ["learn", &*lesson, "--norc", "--quiet", "--ephemeral", "--lang", language];
            let outcome = tally(fixed).input(typed.clone()).run();
            let expected = kept(&format!("{number:02}.{language}.txt"));
            assert_eq!(steady(&outcome.out), expected, "lesson {number}, {language}");
        }
    }
}

/// Text in one line, with single blanks, without marks of emphasis.
fn flat(text: &str) -> String {
    text.replace('*', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The paragraphs that a page shows on the way of a transcript, in their order. Hints, mistakes: the first of a step.
fn shown(page: &str) -> Vec<String> {
    let (mut shown, mut code) = (Vec::new(), false);
    let (mut section, mut hints, mut mistakes) = (String::new(), 0, 0);
    for block in page.split("\n\n") {
        let fences = block.lines().filter(|line| line.starts_with("```")).count();
        let inside = code || fences > 0;
        code ^= fences % 2 == 1;
        if inside {
            continue;
        }
        if let Some(title) = block.strip_prefix("### ") {
            title.split(':').next().unwrap().clone_into(&mut section);
            hints += usize::from(section == "Hint" || section == "Pista");
            mistakes += usize::from(section == "Mistake" || section == "Error");
        } else if let Some(title) = block.strip_prefix("## ") {
            (section, hints, mistakes) = (String::new(), 0, 0);
            shown.push(flat(title));
        } else {
            let first = match section.as_str() {
                "Hint" | "Pista" => hints == 1,
                "Mistake" | "Error" => mistakes == 1,
                _ => true,
            };
            // What a mistake found stands in braces.
            let filled = section == "Mistake" || section == "Error";
            if first && !(filled && block.contains('{')) {
                shown.extend(block.split("\n- ").map(|item| flat(item.trim_start_matches("- "))));
            }
        }
    }
    shown
}

#[test]
fn screens_show_what_the_pages_say() {
    let mut paragraphs = 0;
    for (number, name) in lessons() {
        for language in LANGUAGES {
            let page = root().join(format!("scripts/lessons/{language}/{name}.md"));
            let page = fs::read_to_string(page).unwrap();
            let screen = flat(&kept(&format!("{number:02}.{language}.txt")));
            for paragraph in shown(&page) {
                let said = paragraph.trim_start_matches("# ");
                assert!(screen.contains(said), "{language} {name} does not show: {said}");
                paragraphs += 1;
            }
        }
    }
    assert!(paragraphs > 500, "{paragraphs}");
}
