//! What comments cite is there: `docs/measured/PAGE.md SECTION` names a page of the project and a section of it.

use super::path;
use std::collections::BTreeSet;
use std::path::Path;

/// The text of every file below a folder, with its path.
fn texts(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            texts(&path, found);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            found.push((path.display().to_string(), text));
        }
    }
}

/// The numbers of a page's headings: `4.1` of `### 4.1 Boxes`.
fn sections(page: &str) -> BTreeSet<&str> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.filter_map(|line| line.split(' ').nth(1)).map(|word| word.trim_end_matches('.')).collect()
}

/// The sections that a citation names: `2.2, 13` or `4.2 to 4.4`, up to the first word that is none.
fn cited(behind: &str) -> Vec<String> {
    let words = behind.split_whitespace().take_while(|word| {
        let word = word.trim_end_matches([',', ')', ':', ';', '.']);
        matches!(word, "and" | "to") || word.starts_with(|c: char| c.is_ascii_digit())
    });
    let mut found = Vec::new();
    for word in words {
        let ends = word.ends_with([')', ':', ';', '.']);
        let word = word.trim_end_matches([',', ')', ':', ';', '.']);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            found.push(word.to_owned());
        }
        if ends {
            break;
        }
    }
    found
}

#[test]
fn every_citation_names_a_page_and_a_section_that_exist() {
    let mut files = Vec::new();
    for folder in ["src", "tests", "templates", "benches"] {
        texts(&path(folder), &mut files);
    }
    let own = file!();
    let mut seen = 0;
    for (file, text) in files.iter().filter(|(file, _)| !file.ends_with(own)) {
        // A citation may go on in the next line of a comment.
        let text: String = text
            .lines()
            .map(|line| line.trim_start().trim_start_matches(['/', '!', '#']).trim_start().to_owned() + " ")
            .collect();
        for (at, _) in text.match_indices("docs/measured/") {
            let name =
                text[at..].split(|c: char| c.is_whitespace() || "):,`\"".contains(c)).next().expect("one");
            if name == "docs/measured/" {
                continue;
            }
            assert!(path(name).exists(), "{file} cites {name}, which is not there");
            let page = super::document(name);
            for section in cited(&text[at + name.len()..]) {
                assert!(
                    sections(&page).contains(&*section),
                    "{file} cites {name} {section}, which is not there"
                );
                seen += 1;
            }
        }
        // As citations were before the notes were here.
        for word in ["contract `", "(contract ", "quirk Q", "quirks Q", "(Q1", "(Q2"] {
            assert!(!text.contains(word), "{file}: [{word}] cites no page of docs/measured");
        }
    }
    assert!(seen > 150, "only {seen} citations were read");
}
