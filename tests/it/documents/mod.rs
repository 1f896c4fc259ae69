//! The documents cannot rot: what they show, list and describe is what the program does.

mod compared;
mod examples;
mod json;
mod links;
mod measured;
#[cfg(target_os = "linux")]
mod pictures;
#[cfg(target_os = "linux")]
mod screens;
mod tables;

use std::path::{Path, PathBuf};

/// A path in the repository.
pub fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The text of a document, by its path in the repository.
pub fn document(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// All documents but the changelog, by their paths in the repository.
pub fn documents() -> Vec<String> {
    let mut found: Vec<String> = ["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(str::to_owned).to_vec();
    for folder in ["docs", "docs/measured"] {
        for entry in std::fs::read_dir(path(folder)).expect("a folder") {
            let name = entry.expect("an entry").file_name().into_string().expect("text");
            if name.ends_with(".md") {
                found.push(format!("{folder}/{name}"));
            }
        }
    }
    found
}
