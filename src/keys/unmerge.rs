//! Taking our bindings out again: by the exact edit where it still stands, else by meaning.

use super::block::MARKER;
use super::document::{Document, Entry, Shape};
use super::lines::{Lines, is_blank};
use super::meaning::Meaning;
use super::merge::{Added, Binding, comma};
use super::{Chord, KeysError};
use std::ops::Range;

/// A file without our entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmerged {
    /// The new bytes.
    pub(crate) text: Vec<u8>,
    /// The entries that were taken out.
    pub(crate) removed: Vec<Binding>,
    /// Entries that are not there any more, or of which nobody can say which one is ours.
    pub(crate) left: Vec<Binding>,
}

/// Removes exactly the entries that a merge added, in whatever shape they are now. Where the merge's
/// own edit still stands it is taken back byte for byte; the rest of the file never changes.
///
/// # Errors
/// As [`observe`](super::observe()); or the result did not prove itself.
pub(crate) fn unmerge(text: &[u8], added: &Added) -> Result<Unmerged, KeysError> {
    let document = Document::parse(text)?;
    let (ours, left) = recognise(&document.entries()?, &added.entries);
    let mut expected = Meaning::of(document.root());
    if document.shape()? == Shape::Absent && ours.is_empty() {
        let text = without_lone_markers(document.lines.text())?.into_bytes();
        return Ok(Unmerged { text, removed: Vec::new(), left });
    }
    let mut index = 0;
    expected.commands().retain(|_| {
        index += 1;
        !ours.iter().any(|(ours, _)| *ours == index - 1)
    });
    let expected = expected.trimmed();
    let removed: Vec<Binding> = ours.iter().map(|(_, binding)| binding.clone()).collect();

    let all = document.lines.text();
    let result = match exactly(all, added).filter(|text| means(text, &expected)) {
        Some(text) => text,
        None => without_lone_markers(&by_meaning(all, &ours)?)?,
    };
    if !means(&result, &expected) {
        let line = ours.first().map_or(1, |(index, _)| document.entries().map_or(1, |all| all[*index].line));
        return Err(KeysError::Unsafe { line });
    }
    Ok(Unmerged { text: result.into_bytes(), removed, left })
}

/// Which entries are ours: same command, and the chord that we gave. One whose chord was changed is
/// ours too when it is the only one with that command.
fn recognise(entries: &[Entry], added: &[Binding]) -> (Vec<(usize, Binding)>, Vec<Binding>) {
    let (mut ours, mut left) = (Vec::new(), Vec::new());
    for binding in added {
        let same: Vec<usize> = (0..entries.len()).filter(|i| entries[*i].is(&binding.command)).collect();
        let has_chord = |index: &&usize| {
            let mut chords = entries[**index].chords.iter().map(|text| text.parse::<Chord>());
            chords.any(|chord| chord.as_ref() == Ok(&binding.chord))
        };
        match (same.iter().find(has_chord), same.as_slice()) {
            (Some(index), _) | (None, [index]) => ours.push((*index, binding.clone())),
            (None, _) => left.push(binding.clone()),
        }
    }
    (ours, left)
}

/// The merge's edit taken back, where it stands unchanged: at its place, or once anywhere else.
fn exactly(text: &str, added: &Added) -> Option<String> {
    let patch = &added.patch;
    let here = text.get(patch.offset..).is_some_and(|rest| rest.starts_with(&patch.new));
    let mut found = text.match_indices(&patch.new).map(|(at, _)| at);
    let at = match (here, found.next(), found.next()) {
        (true, ..) => patch.offset,
        (false, Some(at), None) => at,
        _ => return None,
    };
    Some([&text[..at], &patch.old, &text[at + patch.new.len()..]].concat())
}

fn means(text: &str, expected: &Meaning) -> bool {
    Document::parse(text.as_bytes())
        .and_then(|document| document.shape().map(|_| Meaning::of(document.root()).trimmed()))
        .is_ok_and(|meaning| meaning == *expected)
}

/// Takes the entries out one by one, the last one first, so that the indices before it stay.
fn by_meaning(text: &str, ours: &[(usize, Binding)]) -> Result<String, KeysError> {
    let mut indices: Vec<usize> = ours.iter().map(|(index, _)| *index).collect();
    indices.sort_unstable();
    let mut text = text.to_owned();
    for index in indices.into_iter().rev() {
        let document = Document::parse(text.as_bytes())?;
        let entries = document.entries()?;
        let place = match document.shape()? {
            Shape::List(span) => in_list(&document.lines, &span, &entries, index),
            _ => as_table(&document.lines, &entries[index].span),
        };
        text.replace_range(place, "");
    }
    Ok(text)
}

/// Without the markers that nothing of ours follows any more, and one blank line above each: Herdr's own
/// reset takes the entries and leaves the comments.
fn without_lone_markers(text: &str) -> Result<String, KeysError> {
    let document = Document::parse(text.as_bytes())?;
    let (lines, entries) = (&document.lines, document.entries()?);
    let mut rest = text.to_owned();
    let mut end = text.len();
    while let Some(start) = (end > 0).then(|| lines.start(end - 1)) {
        let next = entries.iter().find(|entry| entry.span.start >= end);
        let is_followed = next.is_some_and(|next| {
            text[end..next.span.start].trim().is_empty() && next.command.starts_with(crate::paths::PLUGIN_ID)
        });
        let mut from = start.max(bom(lines));
        if !is_followed && text[from..end].trim() == MARKER {
            if let Some(above) = above(lines, start).filter(|above| is_blank(lines.at(*above))) {
                from = above.max(bom(lines));
            }
            rest.replace_range(from..end, "");
        }
        end = start.min(from);
    }
    // What looks like a comment may stand in a string.
    let meaning = Meaning::of(document.root()).trimmed();
    Ok(if means(&rest, &meaning) { rest } else { text.to_owned() })
}

/// The lines of a `[[keys.command]]` table, with our marker and one blank line above it.
fn as_table(lines: &Lines<'_>, span: &Range<usize>) -> Range<usize> {
    let mut start = with_marker(lines, lines.start(span.start));
    if let Some(above) = above(lines, start).filter(|above| is_blank(lines.at(*above))) {
        start = above;
    }
    start.max(bom(lines))..lines.end(span.end)
}

/// An entry of a list: its lines when nothing else stands on them, else the entry and one comma.
fn in_list(lines: &Lines<'_>, list: &Range<usize>, entries: &[Entry], index: usize) -> Range<usize> {
    let text = lines.text();
    let span = &entries[index].span;
    let next = entries.get(index + 1).map(|next| next.span.start);
    let comma_end = comma(&text[span.end..next.unwrap_or(list.end - 1)]).map(|at| span.end + at + 1);
    let end = comma_end.unwrap_or(span.end);
    let rest = text[end..lines.end(end)].trim();
    let same_line = comma_end.is_none_or(|comma| lines.number(comma - 1) == lines.number(span.end));
    if lines.indent(span.start).is_some() && same_line && (rest.is_empty() || rest.starts_with('#')) {
        return with_marker(lines, lines.start(span.start))..lines.end(end);
    }
    match (next, index.checked_sub(1).map(|before| entries[before].span.end)) {
        // Up to the next one on the same line; comments of a next line stay.
        (Some(next), _) if lines.number(next) == lines.number(end) => span.start..next,
        (Some(_), _) => span.start..end,
        // The last one takes the comma before it along, unless a comment stands between.
        (None, Some(before)) if !text[before..span.start].contains('#') => before..span.end,
        (None, _) => span.start..end,
    }
}

/// The start of the marker's line if it stands directly above the line at `start`.
fn with_marker(lines: &Lines<'_>, start: usize) -> usize {
    above(lines, start).filter(|above| lines.at(*above).trim() == MARKER).unwrap_or(start)
}

/// The start of the line above the one at `start`.
fn above(lines: &Lines<'_>, start: usize) -> Option<usize> {
    Some(lines.start(start.checked_sub(1)?))
}

/// The length of a byte order mark.
fn bom(lines: &Lines<'_>) -> usize {
    if lines.text().starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}
