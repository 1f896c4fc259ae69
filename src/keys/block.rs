//! Our entries as TOML text.

use super::Wanted;
use super::chord::Chord;

/// Stands above our entries. A courtesy to the reader: nothing depends on it.
pub(super) const MARKER: &str = "# createos-sandbox";

/// The block to paste, for a file that we do not write.
pub(crate) fn block(wanted: &[Wanted]) -> String {
    let entries: Vec<_> = wanted.iter().map(|wanted| (wanted, wanted.chord)).collect();
    tables(&entries, &Layout { newline: "\n", indent: "", field_indent: "" })
}

/// The line end and the blanks of the place where the entries go.
pub(super) struct Layout<'a> {
    /// The line end.
    pub(super) newline: &'a str,
    /// The blanks before a header, or before an entry of a list.
    pub(super) indent: &'a str,
    /// The blanks before a field.
    pub(super) field_indent: &'a str,
}

/// `[[keys.command]]` tables with the marker above, a blank line between two of them.
pub(super) fn tables(entries: &[(&Wanted, Chord)], layout: &Layout<'_>) -> String {
    let Layout { newline, indent, field_indent } = layout;
    let mut text = format!("{indent}{MARKER}{newline}");
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
    format!("{indent}{MARKER}{newline}{}", entries.collect::<Vec<_>>().join(&format!(",{newline}")))
}

/// The fields of an entry in the order in which they are written.
pub(super) fn fields(wanted: &Wanted, chord: Chord) -> [(&'static str, String); 4] {
    [
        ("key", chord.to_string()),
        ("type", "plugin_action".into()),
        ("command", wanted.command.clone()),
        ("description", wanted.description.clone()),
    ]
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
