//! Herdr's notices: the `delivery` of `ui.toast`, set in whatever shape the file has its `ui`, and taken back.
//! A second table of a name, or a table beside an inline one, would make Herdr drop the whole file: each way of
//! writing it is tried, and the first one that means the same file with the notices on is taken.

use super::KeysError;
use super::document::Document;
use super::lines::{Lines, is_blank};
use super::meaning::Meaning;
use super::merge::Patch;
use std::ops::Range;
use toml_edit::{Item, TableLike, Value};

/// Where Herdr shows them, when we are asked for them.
const ON: &str = "herdr";
const WAY: [&str; 3] = ["ui", "toast", "delivery"];

/// A file with the notices on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WithNotices {
    /// The new bytes.
    pub(crate) text: Vec<u8>,
    /// The edit, for the receipt.
    pub(crate) patch: Patch,
}

/// Where Herdr shows its notices; none when they are off, as they are by default.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn delivery(text: &[u8]) -> Result<Option<String>, KeysError> {
    let document = Document::parse(text)?;
    let said = at(document.root(), &WAY).and_then(Item::as_str);
    Ok(said.filter(|said| *said != "off").map(str::to_owned))
}

/// The file with the notices on; none where they are.
///
/// # Errors
/// The file cannot be read, or its `ui` is written in a way that cannot be edited safely.
pub(crate) fn with_notices(text: &[u8]) -> Result<Option<WithNotices>, KeysError> {
    if delivery(text)?.is_some() {
        return Ok(None);
    }
    let document = Document::parse(text)?;
    let lines = &document.lines;
    let mut expected = Meaning::of(document.root());
    expected.set(&WAY, ON);
    let all = lines.text();
    let ways = ways(&document);
    let line = ways.first().map_or(1, |(place, _)| lines.number(place.start));
    for (place, new) in ways {
        let result = [&all[..place.start], &new, &all[place.end..]].concat();
        let means =
            Document::parse(result.as_bytes()).is_ok_and(|after| Meaning::of(after.root()) == expected);
        if means {
            let patch = Patch { offset: place.start, old: all[place].into(), new };
            return Ok(Some(WithNotices { text: result.into_bytes(), patch }));
        }
    }
    Err(KeysError::Unsafe { line })
}

/// The file without that edit; none where it does not stand there any more, or something was built on it.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn without_notices(text: &[u8], patch: &Patch) -> Result<Option<Vec<u8>>, KeysError> {
    // Another value is its owner's.
    if delivery(text)?.as_deref() != Some(ON) {
        return Ok(None);
    }
    let document = Document::parse(text)?;
    let all = document.lines.text();
    let mut expected = Meaning::of(document.root());
    expected.remove(&WAY);
    let old = patch.old.parse::<Value>().ok();
    if let Some(Value::String(old)) = &old {
        expected.set(&WAY, old.value());
    }
    let is_value = old.is_some();
    let value = at(document.root(), &WAY).filter(|_| is_value).and_then(Item::span);
    let places: Vec<Range<usize>> = match value {
        Some(span) => vec![span],
        None => all.match_indices(&patch.new).map(|(at, new)| at..at + new.len()).collect(),
    };
    Ok(places.into_iter().find_map(|place| {
        let result = [&all[..place.start], &patch.old, &all[place.end..]].concat();
        let after = Document::parse(result.as_bytes()).ok()?;
        (Meaning::of(after.root()).without_empty("ui") == expected.clone().without_empty("ui"))
            .then(|| result.clone().into_bytes())
    }))
}

/// What stands at the end of these names.
fn at<'a>(root: &'a toml_edit::Table, way: &[&str]) -> Option<&'a Item> {
    let (last, way) = way.split_last()?;
    way.iter().try_fold(root as &dyn TableLike, |table, name| table.get(name)?.as_table_like())?.get(last)
}

/// Every way to write it that may fit, the most natural one first.
fn ways(document: &Document<'_>) -> Vec<(Range<usize>, String)> {
    let lines = &document.lines;
    let [ui, toast] = [&WAY[..1], &WAY[..2]].map(|way| at(document.root(), way));
    if let Some(span) = at(document.root(), &WAY).and_then(Item::span) {
        return vec![(span, format!("\"{ON}\""))];
    }
    let mut ways = Vec::new();
    if let Some(span) = inline(toast) {
        ways.push(in_braces(lines, &span, &format!("delivery = \"{ON}\"")));
    }
    if let Some(span) = inline(ui) {
        ways.push(in_braces(lines, &span, &format!("toast = {{ delivery = \"{ON}\" }}")));
        ways.push(in_braces(lines, &span, &format!("toast.delivery = \"{ON}\"")));
    }
    for (table, names) in [(toast, ["delivery", "toast.delivery", "ui.toast.delivery"]), (ui, WAY_FROM_UI)] {
        let first = table.and_then(Item::as_table_like).and_then(first);
        let Some(start) = first else { continue };
        let newline = lines.newline_near(start);
        let indent = lines.indent(start).unwrap_or_default();
        let line = lines.start(start) + if lines.start(start) == 0 { lines.bom() } else { 0 };
        // A table that is there stays where it is: the line goes above its first one.
        ways.extend(names.map(|name| (line..line, format!("{indent}{name} = \"{ON}\"{newline}"))));
        if let Some(Item::Table(_)) = table {
            let after = lines.end(start);
            ways.extend(names.map(|name| (after..after, format!("{indent}{name} = \"{ON}\"{newline}"))));
        }
    }
    // Below a header that has nothing below it, then at the end of everything.
    if let Some(Item::Table(table)) = toast
        && let Some(span) = table.span()
    {
        let after = lines.end(span.start);
        let newline = lines.newline_near(after);
        let gap = if lines.text()[..after].ends_with('\n') { "" } else { newline };
        ways.insert(0, (after..after, format!("{gap}delivery = \"{ON}\"{newline}")));
    } else {
        ways.insert(0, at_the_end(lines));
    }
    ways
}

/// As `ui` may have `toast` among its lines.
const WAY_FROM_UI: [&str; 3] = ["toast.delivery", "ui.toast.delivery", "delivery"];

/// Where the first key of a table stands.
fn first(table: &dyn TableLike) -> Option<usize> {
    let starts = table.iter().filter_map(|(name, item)| match item {
        Item::Value(_) => Some(table.get_key_value(name)?.0.span()?.start),
        other => first(other.as_table_like()?),
    });
    starts.min()
}

fn inline(item: Option<&Item>) -> Option<Range<usize>> {
    match item {
        Some(Item::Value(Value::InlineTable(table))) => table.span(),
        _ => None,
    }
}

fn in_braces(lines: &Lines<'_>, span: &Range<usize>, entry: &str) -> (Range<usize>, String) {
    let text = lines.text();
    let Some(inner) = text.get(span.start + 1..span.end.saturating_sub(1)) else {
        return (span.clone(), entry.to_owned());
    };
    let kept = inner.trim_end_matches([' ', '\t']);
    let at = span.start + 1 + kept.len();
    let new = match (kept.is_empty(), at == span.end - 1) {
        (true, true) => format!(" {entry} "),
        (true, false) => format!(" {entry}"),
        (false, _) => format!(", {entry}"),
    };
    (at..at, new)
}

fn at_the_end(lines: &Lines<'_>) -> (Range<usize>, String) {
    let text = lines.text();
    let end = text.len();
    let newline = lines.newline_near(end);
    let last = if end == 0 { "" } else { &text[lines.start(end - 1)..] };
    let mut new = String::new();
    if !text.is_empty() && !text.ends_with('\n') && !is_blank(last) {
        new.push_str(newline);
    }
    if !is_blank(last) {
        new.push_str(newline);
    }
    new.push_str(&format!("[ui.toast]{newline}delivery = \"{ON}\"{newline}"));
    (end..end, new)
}
