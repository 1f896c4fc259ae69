//! The comment above our entries. A courtesy to the reader: nothing depends on it, and there is one above entries
//! that stand together.

use super::document::{Document, Entry};
use super::lines::{Lines, is_blank};
use super::meaning::{Meaning, means};
use crate::keys::KeysError;
use crate::paths::PLUGIN_ID;

/// Its text.
pub(super) const MARKER: &str = "# createos-sandbox";

/// Whether an entry runs one of our actions.
pub(super) fn is_ours(entry: &Entry) -> bool {
    let rest = entry.command.strip_prefix(PLUGIN_ID);
    entry.is_plugin_action && rest.is_some_and(|rest| rest.starts_with('.'))
}

/// The start of the marker's line if it stands directly above the line at `start`.
pub(super) fn directly_above(lines: &Lines<'_>, start: usize) -> Option<usize> {
    line_above(lines, start).filter(|above| lines.at(*above).trim_matches(BLANK) == MARKER)
}

/// Whether the last entry stands below a marker, with nothing but others of ours between.
pub(super) fn covers_the_last(lines: &Lines<'_>, entries: &[Entry]) -> bool {
    below_markers(lines, entries).last().copied().unwrap_or(false)
}

/// Of each entry whether it runs an action of ours and stands below a marker, with nothing but others of ours between.
pub(super) fn below_markers(lines: &Lines<'_>, entries: &[Entry]) -> Vec<bool> {
    let mut below: Vec<bool> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let start = lines.start(entry.span.start);
        let before = index.checked_sub(1).filter(|before| below[*before]).map(|before| &entries[before]);
        let is_next =
            before.and_then(|before| lines.text().get(before.span.end..start)).is_some_and(|between| {
                between.trim_matches(BLANK).trim_matches(',').trim_matches(BLANK).is_empty()
            });
        below.push(is_ours(entry) && (directly_above(lines, start).is_some() || is_next));
    }
    below
}

/// The start of the line above the one at `start`.
pub(super) fn line_above(lines: &Lines<'_>, start: usize) -> Option<usize> {
    Some(lines.start(start.checked_sub(1)?))
}

/// Without any marker, once none of our entries is left: what stands below one then is somebody's own.
///
/// # Errors
/// As [`observe`](super::observe()).
pub(crate) fn without_markers(text: &[u8]) -> Result<Vec<u8>, KeysError> {
    let text = Document::parse(text)?.lines.text();
    without(text, |_his_own| false).map(String::into_bytes)
}

/// Without the markers that no entry of ours follows any more: Herdr's own reset takes the entries and leaves the
/// comments.
pub(super) fn without_lone(text: &str) -> Result<String, KeysError> {
    without(text, is_ours)
}

/// Without the markers that are not followed by an entry that has one, and the blank line that was made above each.
fn without(text: &str, has_one: impl Fn(&Entry) -> bool) -> Result<String, KeysError> {
    let document = Document::parse(text.as_bytes())?;
    let (lines, entries) = (&document.lines, document.entries()?);
    let mut rest = text.to_owned();
    let mut end = text.len();
    while let Some(start) = (end > 0).then(|| lines.start(end - 1)) {
        let next = entries.iter().find(|entry| entry.span.start >= end);
        let is_followed =
            next.is_some_and(|next| text[end..next.span.start].trim().is_empty() && has_one(next));
        let mut from = start.max(lines.bom());
        if !is_followed && text[from..end].trim() == MARKER {
            let above = line_above(lines, start).filter(|above| is_blank(lines.at(*above)));
            if let Some(above) = above.filter(|_| is_blank(lines.at(end))) {
                from = above.max(lines.bom());
            }
            rest.replace_range(from..end, "");
        }
        end = start.min(from);
    }
    // What looks like a comment may stand in a string.
    let meaning = Meaning::of(document.root()).trimmed();
    Ok(if means(&rest, &meaning) { rest } else { text.to_owned() })
}

const BLANK: [char; 5] = ['\u{feff}', ' ', '\t', '\r', '\n'];
