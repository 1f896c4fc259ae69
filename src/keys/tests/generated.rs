//! Generated files and chords.

use super::generator::{chord, file, junk};
use super::*;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_merges_and_comes_back(text in file()) {
        checked(&text, &six()).unwrap();
    }

    #[test]
    fn any_chord_is_taken_once(chords in prop::collection::vec(chord(), 6), text in file()) {
        let mut wanted = six();
        for (wanted, chord) in wanted.iter_mut().zip(chords) {
            if let Ok(chord) = chord.parse() {
                wanted.chord = chord;
            }
        }
        let merged = checked(&text, &wanted).unwrap();
        let mut given: Vec<Chord> = merged.placed.iter().filter_map(|placed| placed.chord).collect();
        given.sort();
        given.dedup();
        prop_assert_eq!(given.len(), merged.placed.iter().filter(|placed| placed.chord.is_some()).count());
    }

    #[test]
    fn a_chord_reads_back_what_it_shows(text in chord()) {
        if let Ok(chord) = text.parse::<Chord>() {
            prop_assert_eq!(chord.to_string().parse::<Chord>().unwrap(), chord);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(merged) = merge(&text, &six()) {
            prop_assert!(merged.added.is_some());
        }
    }

    #[test]
    fn no_edit_of_a_merged_file_loses_a_users_byte(text in file(), at in any::<prop::sample::Index>(), line in junk()) {
        let merged = merge(&text, &six()).unwrap();
        let Some(added) = merged.added else { return Ok(()) };
        let edited = String::from_utf8(merged.text).unwrap();
        let starts: Vec<usize> = std::iter::once(0).chain(edited.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let at = starts[at.index(starts.len())].max(if edited.starts_with('\u{feff}') { 3 } else { 0 });
        let edited = format!("{}{line}{}", &edited[..at], &edited[at..]);
        if let Ok(undone) = unmerge(edited.as_bytes(), &added) {
            prop_assert_eq!(meaning(&undone.text), meaning(unmarked(&edited, &text, &line).as_bytes()));
            // A comment is the user's wherever he writes it, our own entries included; only the marker is ours.
            if line.trim() != "# createos-sandbox" {
                let count = |text: &str| text.matches(line.trim()).count();
                let undone = String::from_utf8(undone.text).unwrap();
                prop_assert!(line.trim().is_empty() || count(&undone) >= count(&edited), "{}\n-->\n{}", edited, undone);
            }
        }
    }
}

/// A comment or blank line may have landed inside a text; then the texts differ by it.
fn unmarked(edited: &str, original: &[u8], line: &str) -> String {
    let original = String::from_utf8(original.to_vec()).unwrap();
    if edited.matches("\"\"\"").count() == 2 && !line.is_empty() {
        let inner = |text: &str| text.split("\"\"\"").nth(1).unwrap_or_default().to_owned();
        return original.replace(&inner(&original), &inner(edited));
    }
    original
}
