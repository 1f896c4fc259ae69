//! Links in the documents lead somewhere, and the README leads to every page.

use super::{document, documents, path};
use std::path::Path;

/// The targets of a document's links that stay in the repository.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

/// The anchors that a page makes of its headings.
fn anchors(text: &str) -> Vec<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let word = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    headings.map(|heading| heading.chars().filter_map(word).collect()).collect()
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let mut seen = 0;
    for name in documents() {
        for link in links(&document(&name)) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = Path::new(&name).parent().expect("a folder");
            let target = if file.is_empty() { Path::new(&name).to_owned() } else { folder.join(file) };
            let target = target.to_str().expect("text");
            assert!(path(target).exists(), "{name}: {link}");
            assert!(
                anchor.is_empty() || anchors(&document(target)).contains(&anchor.to_owned()),
                "{name}: {link}"
            );
            seen += 1;
        }
    }
    assert!(seen > 30, "only {seen}");
}

#[test]
fn the_readme_leads_to_every_page() {
    let linked = links(&document("README.md"));
    for page in documents() {
        let is_page =
            page.starts_with("docs/") && !page.starts_with("docs/measured/") || page == "SECURITY.md";
        assert!(!is_page || linked.contains(&page), "README.md has no line for {page}");
    }
}
