//! Our entries as TOML text.

use super::Wanted;
use super::chord::Chord;
use super::document::FIELDS;
use super::marker::MARKER;

/// The block to paste, for a file that we do not write.
pub(crate) fn block(wanted: &[Wanted]) -> String {
    let entries: Vec<_> = wanted.iter().map(|wanted| (wanted, wanted.chord)).collect();
    tables(&entries, &Layout { newline: "\n", indent: "", field_indent: "", is_marked: false })
}

/// The line end and the blanks of the place where the entries go.
pub(super) struct Layout<'a> {
    /// The line end.
    pub(super) newline: &'a str,
    /// The blanks before a header, or before an entry of a list.
    pub(super) indent: &'a str,
    /// The blanks before a field.
    pub(super) field_indent: &'a str,
    /// The entries follow others of ours, below whose marker they stand.
    pub(super) is_marked: bool,
}

impl Layout<'_> {
    fn marker(&self) -> String {
        let Layout { newline, indent, is_marked, .. } = self;
        if *is_marked { String::new() } else { format!("{indent}{MARKER}{newline}") }
    }
}

/// `[[keys.command]]` tables with the marker above, a blank line between two of them.
pub(super) fn tables(entries: &[(&Wanted, Chord)], layout: &Layout<'_>) -> String {
    let Layout { newline, indent, field_indent, .. } = layout;
    let mut text = layout.marker();
    for (i, (wanted, chord)) in entries.iter().enumerate() {
        if i > 0 {
            text.push_str(newline);
        }
        text.push_str(&format!("{indent}[[keys.command]]{newline}"));
        for (name, value) in fields(wanted, *chord) {
            text.push_str(&format!("{field_indent}{name} = {}{newline}", quoted(&value)));
        }
    }
    text
}

/// `{…}` entries of a list with the marker above, a line each; no comma after the last, no line end.
pub(super) fn inline(entries: &[(&Wanted, Chord)], layout: &Layout<'_>) -> String {
    let Layout { newline, indent, .. } = layout;
    let entries = entries.iter().map(|(wanted, chord)| {
        let fields = fields(wanted, *chord).map(|(name, value)| format!("{name} = {}", quoted(&value)));
        format!("{indent}{{ {} }}", fields.join(", "))
    });
    format!("{}{}", layout.marker(), entries.collect::<Vec<_>>().join(&format!(",{newline}")))
}

/// The fields of an entry with their values.
pub(super) fn fields(wanted: &Wanted, chord: Chord) -> [(&'static str, String); 4] {
    let values =
        [chord.to_string(), "plugin_action".into(), wanted.command.clone(), wanted.description.clone()];
    let mut values = values.into_iter();
    FIELDS.map(|name| (name, values.next().unwrap_or_default()))
}

/// A basic string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
