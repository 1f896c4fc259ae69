//! The synthetic files of `tests/data/keys`, and the real ones where they are at hand.

use super::*;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The `.toml` files of a folder, by name.
pub(super) fn tomls(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().into(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// The synthetic files.
pub(super) fn synthetic() -> Vec<(String, Vec<u8>)> {
    tomls(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/keys"))
}

/// Configurations of real people, which are not part of the repository.
pub(super) fn real() -> Option<Vec<(String, Vec<u8>)>> {
    let beside =
        || Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(|up| up.join("shared/data/herdr-configs"));
    let folder = std::env::var_os("CREATEOS_SANDBOX_HERDR_CONFIGS").map(PathBuf::from).or_else(beside)?;
    folder.is_dir().then(|| tomls(&folder))
}

#[test]
fn every_synthetic_file_merges_and_comes_back_or_is_refused() {
    let files = synthetic();
    assert!(files.len() >= 30, "only {} files", files.len());
    let mut report = String::new();
    for (name, original) in files {
        let outcome = checked(&original, &six());
        assert_eq!(outcome.is_err(), name.starts_with("refused-"), "{name}: {outcome:?}");
        match outcome {
            Err(error) => writeln!(report, "{name}: {error}").unwrap(),
            Ok(merged) => writeln!(report, "{name}: {}", shown(&merged)).unwrap(),
        }
    }
    insta::assert_snapshot!(report);
}

/// Who got what, when it is not the first choice.
fn shown(merged: &Merged) -> String {
    let mut words = format!("{} after line {}", merged.placed.len(), merged.after_line);
    for placed in &merged.placed {
        if let Some(refused) = &placed.instead_of {
            let chord = placed.chord.map_or("no key".into(), |chord| chord.to_string());
            write!(words, "; {} has {chord}, {} is {}", placed.action, refused.chord, refused.holder)
                .unwrap();
        }
        if let Some(field) = &placed.displaces {
            write!(words, "; {} displaces {field}", placed.action).unwrap();
        }
    }
    words
}

#[test]
fn every_real_file_merges_and_comes_back_or_is_refused() {
    let Some(files) = real() else { return };
    assert!(!files.is_empty());
    let mut merged = 0;
    for (name, original) in files {
        match checked(&original, &six()) {
            Ok(_) => merged += 1,
            Err(error) => assert!(matches!(error, KeysError::Syntax { .. }), "{name}: {error}"),
        }
    }
    assert!(merged >= 10, "only {merged} real files were merged");
}

#[test]
fn a_megabyte_merges_and_comes_back() {
    let mut text = String::from("[keys]\nprefix = \"ctrl+a\"\n");
    for i in 0..6000 {
        write!(
            text,
            "\n# command {i}\n[[keys.command]]\nkey = \"ctrl+alt+f{}\"\ncommand = \"echo {i} {}\"\n",
            i % 256,
            "x".repeat(110)
        )
        .unwrap();
    }
    assert!(text.len() > 1_000_000);
    let merged = merge(text.as_bytes(), &six()).unwrap();
    assert_eq!(merged.placed.len(), 6);
    let undone = unmerge(&merged.text, &merged.added.unwrap()).unwrap();
    assert!(undone.text == text.as_bytes(), "a megabyte comes back");
}
