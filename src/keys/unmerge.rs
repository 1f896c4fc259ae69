//! Taking our bindings out again: by the exact edit where it still stands, else by meaning.

use super::document::{Document, Entry, Shape};
use super::lines::{Lines, comments, is_blank};
use super::marker::{MARKER, below_markers, directly_above, is_ours, line_above, without_lone};
use super::meaning::{Meaning, means};
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
/// own edit still stands it is taken back byte for byte; the rest of the file never changes, comments that
/// somebody wrote into one of our entries included.
///
/// # Errors
/// As [`observe`](super::observe()); or the result did not prove itself.
pub(crate) fn unmerge(text: &[u8], added: &Added) -> Result<Unmerged, KeysError> {
    let document = Document::parse(text)?;
    let (ours, left) = recognise(&document.entries()?, &added.entries);
    if document.shape()? == Shape::Absent && ours.is_empty() {
        let text = without_lone(document.lines.text())?.into_bytes();
        return Ok(Unmerged { text, removed: Vec::new(), left });
    }
    take_out(&document, &ours, left, Some(added))
}

/// Removes the entries that no receipt knows of and that are ours all the same: they stand below our marker with
/// nothing of anybody else's between, and have the words that we write, `(command, description)`, and no others. A
/// chord may have been changed since.
///
/// # Errors
/// As [`unmerge`].
pub(crate) fn unmerge_marked(text: &[u8], words: &[(String, String)]) -> Result<Unmerged, KeysError> {
    let document = Document::parse(text)?;
    let entries = document.entries()?;
    let is_below = below_markers(&document.lines, &entries);
    let has_our_words = |entry: &Entry| {
        let is_one = |(command, words): &(String, String)| {
            entry.is(command) && entry.description.as_ref() == Some(words) && !entry.has_more
        };
        words.iter().any(is_one)
    };
    let ours: Vec<(usize, Binding)> = (0..entries.len())
        .filter(|index| is_below[*index] && has_our_words(&entries[*index]))
        .filter_map(|index| {
            let Entry { command, description, chords, .. } = &entries[index];
            let chord = chords.first()?.parse().ok()?;
            Some((index, Binding { command: command.clone(), chord, description: description.clone() }))
        })
        .collect();
    if ours.is_empty() {
        return Ok(Unmerged { text: text.to_vec(), removed: Vec::new(), left: Vec::new() });
    }
    take_out(&document, &ours, Vec::new(), None)
}

/// The document without these entries, proven to mean what it meant but for them. `added` is the edit that made them.
fn take_out(
    document: &Document<'_>,
    ours: &[(usize, Binding)],
    left: Vec<Binding>,
    added: Option<&Added>,
) -> Result<Unmerged, KeysError> {
    let mut expected = Meaning::of(document.root());
    let mut index = 0;
    expected.commands().retain(|_| {
        index += 1;
        !ours.iter().any(|(ours, _)| *ours == index - 1)
    });
    let expected = expected.trimmed();
    let removed: Vec<Binding> = ours.iter().map(|(_, binding)| binding.clone()).collect();

    let all = document.lines.text();
    let exact = added.and_then(|added| exactly(all, added));
    let result = match exact.filter(|text| means(text, &expected)) {
        Some(text) => text,
        None => without_lone(&by_meaning(all, ours)?)?,
    };
    if !means(&result, &expected) {
        let line = ours.first().map_or(1, |(index, _)| document.entries().map_or(1, |all| all[*index].line));
        return Err(KeysError::Unsafe { line });
    }
    Ok(Unmerged { text: result.into_bytes(), removed, left })
}

/// Which entries are ours: same command, our own words, and the chord that we gave. One whose chord was changed is
/// ours too when it is the only one; one with a description or a field of somebody's own is his.
fn recognise(entries: &[Entry], added: &[Binding]) -> (Vec<(usize, Binding)>, Vec<Binding>) {
    let (mut ours, mut left) = (Vec::new(), Vec::new());
    for binding in added {
        let has_our_words = |entry: &Entry| match &binding.description {
            Some(description) => entry.description.as_ref() == Some(description) && !entry.has_more,
            None => true,
        };
        let is_same = |index: &usize| entries[*index].is(&binding.command) && has_our_words(&entries[*index]);
        let same: Vec<usize> = (0..entries.len()).filter(is_same).collect();
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
    let (before, after) = (&text[..at], &text[at + patch.new.len()..]);
    // Tables that were appended to a last line without an end began with that end. What somebody has appended since
    // would be glued to the line, and a comment has no meaning by which that would be noticed.
    let line_end = patch.new.find('\n').map(|end| &patch.new[..=end]).filter(|line| is_blank(line));
    let is_glued = !before.is_empty() && !before.ends_with('\n') && !after.is_empty();
    let own_end = line_end.filter(|_| is_glued && patch.new.contains("[[keys.command]]")).unwrap_or_default();
    Some([before, &patch.old, own_end, after].concat())
}

/// Takes the entries out one by one, the last one first, so that the indices before it stay.
fn by_meaning(text: &str, ours: &[(usize, Binding)]) -> Result<String, KeysError> {
    let mut indices: Vec<usize> = ours.iter().map(|(index, _)| *index).collect();
    indices.sort_unstable();
    let mut text = text.to_owned();
    for index in indices.into_iter().rev() {
        let document = Document::parse(text.as_bytes())?;
        let entries = document.entries()?;
        let lines = &document.lines;
        let place = match document.shape()? {
            Shape::List(span) => in_list(lines, &span, &entries, index),
            _ => as_table(lines, &entries, index),
        };
        let kept = kept(lines, &place);
        text.replace_range(place, &kept);
    }
    Ok(text)
}

/// The lines of a `[[keys.command]]` table, with our marker and one blank line above it. The marker stays when it
/// then stands above another one of ours.
fn as_table(lines: &Lines<'_>, entries: &[Entry], index: usize) -> Range<usize> {
    let span = &entries[index].span;
    let (start, end) = (lines.start(span.start), lines.end(span.end));
    let Some(marker) = directly_above(lines, start) else {
        return with_blank(lines, start, end);
    };
    let next = entries.get(index + 1).filter(|next| is_ours(next)).map(|next| lines.start(next.span.start));
    match next.filter(|next| *next >= end && lines.text()[end..*next].trim().is_empty()) {
        Some(next) if comments(&lines.text()[start..end]).is_empty() => start..next,
        _ => with_blank(lines, marker, end),
    }
}

/// With the blank line above, unless a comment stays at this place.
fn with_blank(lines: &Lines<'_>, start: usize, end: usize) -> Range<usize> {
    let above = line_above(lines, start).filter(|above| is_blank(lines.at(*above)));
    let above = above.filter(|_| kept(lines, &(start..end)).is_empty());
    above.unwrap_or(start).max(lines.bom())..end
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
        let (start, end) = (lines.start(span.start), lines.end(end));
        let is_next = |next: &Entry| is_ours(next) && lines.start(next.span.start) == end;
        let marker_stays = entries.get(index + 1).is_some_and(is_next);
        return directly_above(lines, start).filter(|_| !marker_stays).unwrap_or(start)..end;
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

/// The comments of a place that goes, which are the user's: each on a line of its own. Only the marker is ours.
fn kept(lines: &Lines<'_>, place: &Range<usize>) -> String {
    let text = lines.text();
    let is_whole = lines.start(place.start) == place.start || place.start == lines.bom();
    let mut kept = String::new();
    for comment in comments(&text[place.clone()]) {
        let (start, end) = (place.start + comment.start, place.start + comment.end);
        if text[start..end].trim_end() == MARKER {
            continue;
        }
        if !is_whole && kept.is_empty() {
            kept.push_str(lines.newline_near(start));
        }
        let line = lines.at(lines.start(start)).trim_start_matches('\u{feff}');
        let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
        kept.push_str(indent);
        // With its line end, if it has one.
        kept.push_str(&text[start..lines.end(start)]);
    }
    kept
}
