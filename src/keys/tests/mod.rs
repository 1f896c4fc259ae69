//! The room as a whole: merge, observe and unmerge over many files.

mod files;
mod generated;
mod generator;
mod herdr;
mod notices;
mod shapes;

use super::chord::ChordError;
use super::merge::{Merged, Patch};
use super::observe::Live;
use super::owners::Reason;
use super::*;

/// The six bindings of the plugin.
fn six() -> Vec<Wanted> {
    [
        ("start", "s", "start an agent in a new CreateOS sandbox"),
        ("attach", "c", "reattach the agent to this pane"),
        ("sync", "y", "sync the worktree with the sandbox"),
        ("apply", "a", "apply sandbox changes locally"),
        ("info", "i", "show this pane's sandbox"),
        ("delete", "x", "delete this pane's sandbox"),
    ]
    .into_iter()
    .map(|(action, letter, description)| Wanted {
        action: action.into(),
        command: format!("createos.sandbox.{action}"),
        description: description.into(),
        chord: format!("prefix+shift+{letter}").parse().unwrap(),
    })
    .collect()
}

/// The first of the six.
fn one() -> Vec<Wanted> {
    six().into_iter().take(1).collect()
}

/// A comment that somebody appends after the merge keeps its line when the entries go.
#[track_caller]
fn appended(original: &[u8], merged: &[u8], added: &Added) {
    let end: &[u8] = if merged.ends_with(b"\n") { b"" } else { b"\n" };
    let text = [merged, end, b"# mine\n"].concat();
    let undone = unmerge(&text, added).expect("a comment keeps nothing from being undone").text;
    let said = |text: &[u8]| -> Vec<String> {
        let text = String::from_utf8_lossy(text).replace('\u{feff}', "");
        text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
    };
    let mut expected = said(original);
    expected.push("# mine".into());
    assert_eq!(said(&undone), expected);
}

/// Merges, proves all that must hold for any file, and gives the result back.
#[track_caller]
fn checked(original: &[u8], wanted: &[Wanted]) -> Result<Merged, KeysError> {
    let merged = merge(original, wanted)?;
    let again = merge(&merged.text, wanted).expect("the result parses");
    assert_eq!(again.text, merged.text, "a second merge changes nothing");
    assert!(again.added.is_none());

    let Some(added) = &merged.added else {
        assert_eq!(merged.text, original, "nothing was missing");
        return Ok(merged);
    };
    let patch = &added.patch;
    assert!(original.starts_with(&merged.text[..patch.offset]), "what is above stays");
    assert!(original.ends_with(&merged.text[patch.offset + patch.new.len()..]), "what is below stays");
    assert_eq!(original.len() - patch.old.len() + patch.new.len(), merged.text.len());

    let undone = unmerge(&merged.text, added).expect("what was merged can be undone");
    assert_eq!(String::from_utf8_lossy(&undone.text), String::from_utf8_lossy(original));
    assert_eq!((undone.removed.len(), undone.left.len()), (added.entries.len(), 0));
    appended(original, &merged.text, added);

    // Also with nothing but the entries to go by: as after somebody else rewrote the file.
    let blind = Added { patch: Patch { new: "not there".into(), ..patch.clone() }, ..added.clone() };
    let undone = unmerge(&merged.text, &blind).expect("entries are found by meaning");
    assert_eq!(meaning(&undone.text), meaning(original), "{}", String::from_utf8_lossy(&undone.text));
    assert!(
        !String::from_utf8_lossy(&undone.text).contains("command = \"createos.sandbox.")
            || String::from_utf8_lossy(original).contains("command = \"createos.sandbox.")
    );

    for (action, placed) in
        observe(&merged.text, wanted).expect("the result parses").actions.iter().filter_map(|action| {
            Some((action, merged.placed.iter().find(|placed| placed.action == action.action)?))
        })
    {
        match (&action.state, placed.chord) {
            // A dead entry of the same action may stand beside it.
            (State::Bound { live, .. }, Some(chord)) => {
                assert_eq!(live.as_slice(), [Live { chord, displaces: placed.displaces.clone() }]);
            }
            (State::Missing { .. }, None) => {}
            (State::Bound { live, .. }, None) if live.is_empty() => {}
            other => panic!("{}: {other:?}", action.action),
        }
    }
    Ok(merged)
}

/// What a file says, an empty list of commands being none.
fn meaning(text: &[u8]) -> meaning::Meaning {
    meaning::Meaning::of(document::Document::parse(text).expect("it parses").root()).trimmed()
}
