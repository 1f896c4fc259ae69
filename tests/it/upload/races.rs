//! Files that change or vanish just after they were read. A hook in debug builds does it.
#![cfg(debug_assertions)]

use super::{leaves, listed, repo, rows, stays, unpacked};
use crate::support::Home;
use serde_json::Value;
use std::path::PathBuf;

/// Larger than what is held in memory at once.
const LARGE: usize = 3 * 1024 * 1024;

fn disturbed(wish: &str) -> (Home, Value, PathBuf) {
    let home = Home::new().var("CREATEOS_SANDBOX_DISTURB", wish);
    let repo = repo(&home, &["a.txt", "small", "z.txt"]);
    repo.write("large", "0123456\n".repeat(LARGE / 8));
    let archive = home.path().join("a.tgz");
    let args = ["herdr", "upload", "--json", "--output", archive.to_str().unwrap()];
    let document = home.run_in(repo.root(), &args).success().json();
    (home, document, archive)
}

#[test]
fn a_file_that_changed_once_is_read_again() {
    for name in ["small", "large"] {
        let (home, document, archive) = disturbed(&format!("once:{name}"));
        assert_eq!(leaves(&document), ["a.txt", "large", "small", "z.txt"]);
        let folder = unpacked(&home, &archive);
        let (there, here) = (folder.join(name), home.path().join("repo").join(name));
        assert_eq!(std::fs::read(&there).unwrap(), std::fs::read(&here).unwrap());
        assert!(std::fs::read(&there).unwrap().ends_with(b"+"), "it has what was added meanwhile");
    }
}

#[test]
fn a_file_that_keeps_changing_is_left_out_and_named() {
    for name in ["small", "large"] {
        let (_home, document, archive) = disturbed(&format!("always:{name}"));
        assert_eq!(stays(&document), rows([(name, "changed: changed while it was read, twice")]));
        assert!(!listed(&archive).contains(&name.to_owned()));
        assert_eq!(listed(&archive).len(), 3, "the rest is there");
    }
}

#[test]
fn a_file_that_vanishes_is_left_out_and_named() {
    for name in ["small", "large"] {
        let (_home, document, archive) = disturbed(&format!("vanish:{name}"));
        assert_eq!(stays(&document), rows([(name, "missing: deleted")]));
        assert_eq!(listed(&archive).len(), 3, "the rest is there");
    }
}
