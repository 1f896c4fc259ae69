//! Adding the missing bindings: one splice where the file's own style has its commands.

use super::block::{self, Layout};
use super::choose::{Placed, choose};
use super::chord::Chord;
use super::document::{Document, Entry, Shape};
use super::lines::{Lines, is_blank, is_comment};
use super::meaning::Meaning;
use super::owners::Owners;
use super::{KeysError, Wanted, marker};
use std::ops::Range;

/// A file with the missing bindings added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Merged {
    /// The new bytes; the old ones when nothing was missing.
    pub(crate) text: Vec<u8>,
    /// What each action that was missing got.
    pub(crate) placed: Vec<Placed>,
    /// What undo needs; none when nothing was added.
    pub(crate) added: Option<Added>,
    /// What was added, in the file's own style: the block to paste where the file is not written.
    pub(crate) block: String,
    /// The line after which it stands, from 1; 0 at the top of the file.
    pub(crate) after_line: usize,
}

/// What a merge added, for the receipt.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Added {
    /// The entries by meaning.
    pub(crate) entries: Vec<Binding>,
    /// The exact edit.
    pub(crate) patch: Patch,
}

/// An entry that we added.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Binding {
    /// The action's id in Herdr.
    pub(crate) command: String,
    /// The chord that it got.
    pub(crate) chord: Chord,
    /// The description that it got; absent in the receipts of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

/// A replaced piece of text.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Patch {
    /// Where it starts, in bytes; the same before and after.
    pub(crate) offset: usize,
    /// What stood there.
    pub(crate) old: String,
    /// What stands there now.
    pub(crate) new: String,
}

/// Adds the wanted bindings that Herdr does not have from `text` yet. Nothing else changes, and the result is
/// parsed again: it means what the file meant, plus our entries.
///
/// # Errors
/// As [`observe`](super::observe()); or the result did not prove itself.
pub(crate) fn merge(text: &[u8], wanted: &[Wanted]) -> Result<Merged, KeysError> {
    let document = Document::parse(text)?;
    let entries = document.entries()?;
    let owners = Owners::of(&document, &entries)?;
    // An entry that Herdr does not bind is none, and stays: it may be its owner's way to switch it off and on.
    let is_live = |wanted: &&Wanted| {
        (0..entries.len()).any(|i| entries[i].is(&wanted.command) && !owners.bound(i).live.is_empty())
    };
    let missing: Vec<&Wanted> = wanted.iter().filter(|wanted| !is_live(wanted)).collect();
    let placed = choose(&owners, &missing);
    let new: Vec<(&Wanted, Chord)> =
        missing.iter().zip(&placed).filter_map(|(wanted, placed)| Some((*wanted, placed.chord?))).collect();
    if new.is_empty() {
        let (added, block) = (None, String::new());
        return Ok(Merged { text: text.to_vec(), placed, added, block, after_line: 0 });
    }

    let Splice { at, new: replacement, block } = splice(&document, &entries, &new)?;
    let lines = &document.lines;
    let patch = Patch { offset: at.start, old: lines.text()[at.clone()].into(), new: replacement };
    let result = [&lines.text()[..at.start], &patch.new, &lines.text()[at.end..]].concat();
    prove(&document, &result, &new, at.start)?;
    Ok(Merged {
        text: result.into_bytes(),
        placed,
        added: Some(Added {
            entries: new
                .iter()
                .map(|(wanted, chord)| Binding {
                    command: wanted.command.clone(),
                    chord: *chord,
                    description: Some(wanted.description.clone()),
                })
                .collect(),
            patch,
        }),
        block,
        after_line: match at.end {
            0 => 0,
            end => lines.number(end - 1),
        },
    })
}

/// Text to put in place of a range.
struct Splice {
    at: Range<usize>,
    new: String,
    /// The entries alone, for pasting.
    block: String,
}

fn splice(document: &Document<'_>, entries: &[Entry], new: &[(&Wanted, Chord)]) -> Result<Splice, KeysError> {
    let lines = &document.lines;
    Ok(match document.shape()? {
        Shape::Tables => {
            let last = entries.last().expect("an array of tables is never empty");
            let end = entries.iter().map(|entry| entry.span.end).max().expect("there is an entry");
            let indent = lines.indent(last.span.start).unwrap_or_default();
            let field_indent = last.first_field.and_then(|at| lines.indent(at)).unwrap_or(indent);
            let is_marked = marker::covers_the_last(lines, entries);
            let layout = Layout { newline: "", indent, field_indent, is_marked };
            after_statement(lines, below(lines, end), layout, new)
        }
        Shape::Absent => {
            let layout = Layout { newline: "", indent: "", field_indent: "", is_marked: false };
            after_statement(lines, lines.text().len(), layout, new)
        }
        Shape::List(span) => in_list(lines, &span, entries, new),
        Shape::InlineKeys(span) => in_inline_keys(lines, &span, new),
    })
}

/// The end of a statement's line and of the comments that stand directly below it, unless these
/// belong to the header that follows them. A comment left below ours could be switched on by its
/// owner some day, and would then be ours.
fn below(lines: &Lines<'_>, end: usize) -> usize {
    let statement = lines.end(end);
    let mut at = statement;
    while at < lines.text().len() && is_comment(lines.at(at)) {
        at = lines.end(at);
    }
    match at == lines.text().len() || is_blank(lines.at(at)) {
        true => at,
        false => statement,
    }
}

/// Tables at `at`, the start of a line or the end of the text, set off by blank lines.
fn after_statement(lines: &Lines<'_>, at: usize, layout: Layout<'_>, new: &[(&Wanted, Chord)]) -> Splice {
    let text = lines.text();
    let newline = lines.newline_near(at);
    let block = block::tables(new, &Layout { newline, ..layout });
    let mut inserted = String::new();
    if !text[..at].ends_with('\n') && !is_blank(&text[lines.start(at)..at]) {
        inserted.push_str(newline);
    }
    let line_above = if at == 0 { "" } else { &text[lines.start(at - 1)..at] };
    if !is_blank(line_above) {
        inserted.push_str(newline);
    }
    inserted.push_str(&block);
    if at < text.len() && !is_blank(lines.at(at)) {
        inserted.push_str(newline);
    }
    Splice { at: at..at, new: inserted, block }
}

/// Entries in `[…]`, after the last one, a line each.
fn in_list(lines: &Lines<'_>, span: &Range<usize>, entries: &[Entry], new: &[(&Wanted, Chord)]) -> Splice {
    let text = lines.text();
    let close = span.end - 1;
    let newline = lines.newline_near(span.start);
    let outer = lines.at(lines.start(span.start));
    let outer = &outer[..outer.len() - outer.trim_start_matches([' ', '\t']).len()];
    let own_line = entries.last().and_then(|last| lines.indent(last.span.start));
    let step = if outer.ends_with('\t') { "\t" } else { "  " };
    let indent = own_line.map_or_else(|| format!("{outer}{step}"), Into::into);
    let is_marked = marker::covers_the_last(lines, entries);
    let block = block::inline(new, &Layout { newline, indent: &indent, field_indent: "", is_marked });

    let Some(last) = entries.last() else {
        // Comments inside stay above ours, and so does the line of the closing bracket.
        let closing = lines.start(close);
        return match closing > span.start && lines.indent(close).is_some() {
            true => Splice { at: closing..closing, new: format!("{block}{newline}"), block },
            false => {
                Splice { at: span.start + 1..close, new: format!("{newline}{block}{newline}{outer}"), block }
            }
        };
    };
    let after = last.span.end;
    let comma = comma(&text[after..close]).map(|at| after + at);
    // Up to the end of the last entry's line; the bracket may follow on the same one.
    let line_end = lines.end(comma.map_or(after, |comma| comma + 1));
    let (head, trailing) = match comma {
        Some(_) => (String::new(), ","),
        None => (",".into(), ""),
    };
    if line_end <= close {
        let kept = &text[after..line_end];
        Splice { at: after..line_end, new: format!("{head}{kept}{block}{trailing}{newline}"), block }
    } else {
        let kept = text[after..close].trim_end_matches([' ', '\t']);
        let closing = &text[after + kept.len()..close];
        Splice { at: after..close, new: format!("{head}{kept}{newline}{block}{trailing}{closing}"), block }
    }
}

/// A new list at the end of `{…}`, which stays on its line but for the list.
fn in_inline_keys(lines: &Lines<'_>, span: &Range<usize>, new: &[(&Wanted, Chord)]) -> Splice {
    let text = lines.text();
    let newline = lines.newline_near(span.start);
    let layout = Layout { newline, indent: "  ", field_indent: "", is_marked: false };
    let entries = block::inline(new, &layout);
    let block = format!("command = [{newline}{entries}{newline}]");
    let close = span.end - 1;
    let inner = text[span.start + 1..close].trim_end_matches([' ', '\t']);
    let at = span.start + 1 + inner.len();
    let new = match (inner.is_empty(), at == close) {
        (true, true) => format!(" {block} "),
        (true, false) => format!(" {block}"),
        (false, _) => format!(", {block}"),
    };
    Splice { at: at..at, new, block }
}

/// The comma between a list's last entry and its bracket, outside of comments.
pub(super) fn comma(tail: &str) -> Option<usize> {
    let mut in_comment = false;
    tail.bytes().position(|byte| {
        match byte {
            b'#' => in_comment = true,
            b'\n' => in_comment = false,
            _ => {}
        }
        byte == b',' && !in_comment
    })
}

/// The result must mean what the file meant, plus our entries.
fn prove(before: &Document<'_>, result: &str, new: &[(&Wanted, Chord)], at: usize) -> Result<(), KeysError> {
    let mut expected = Meaning::of(before.root());
    for (wanted, chord) in new {
        let fields = block::fields(wanted, *chord);
        let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        expected.commands().push(Meaning::entry(&fields));
    }
    let proven = Document::parse(result.as_bytes())
        .and_then(|after| after.shape().map(|_| Meaning::of(after.root()) == expected));
    match proven {
        Ok(true) => Ok(()),
        _ => Err(KeysError::Unsafe { line: before.lines.number(at) }),
    }
}
