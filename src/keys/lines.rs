//! Lines of a text by byte offset, and the comments in a piece of TOML.

use std::ops::Range;

/// Where each line of a text starts.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of `text`, ended by LF or CRLF.
    pub(super) fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts }
    }

    /// The text itself.
    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    /// The length of a byte order mark.
    pub(super) fn bom(&self) -> usize {
        if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    /// The line of an offset, from 1.
    pub(super) fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Line and column of an offset, both from 1, the column in characters.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[self.start(offset)..offset];
        (self.number(offset), before.trim_start_matches('\u{feff}').chars().count() + 1)
    }

    /// The start of the line that holds `offset`.
    pub(super) fn start(&self, offset: usize) -> usize {
        self.starts[self.number(offset) - 1]
    }

    /// The end of the line that holds `offset`, its line end included.
    pub(super) fn end(&self, offset: usize) -> usize {
        self.starts.get(self.number(offset)).copied().unwrap_or(self.text.len())
    }

    /// The line that starts at `start`, its line end included; empty at the end of the text.
    pub(super) fn at(&self, start: usize) -> &'a str {
        &self.text[start..self.end(start)]
    }

    /// The blanks before `offset` when nothing else stands before it on its line.
    pub(super) fn indent(&self, offset: usize) -> Option<&'a str> {
        let before = self.text[self.start(offset)..offset].trim_start_matches('\u{feff}');
        before.chars().all(|c| matches!(c, ' ' | '\t')).then_some(before)
    }

    /// The line end in use around `offset`: of the line before it, else of the first line, else LF.
    pub(super) fn newline_near(&self, offset: usize) -> &'static str {
        let of = |line: &str| match line {
            line if line.ends_with("\r\n") => Some("\r\n"),
            line if line.ends_with('\n') => Some("\n"),
            _ => None,
        };
        let before = match self.text[..offset].strip_suffix('\n') {
            Some(_) => of(&self.text[..offset]),
            None => of(self.at(self.start(offset))),
        };
        before.or_else(|| of(self.at(0))).unwrap_or("\n")
    }
}

/// Whether a line holds nothing.
pub(super) fn is_blank(line: &str) -> bool {
    line.trim_matches(['\u{feff}', ' ', '\t', '\r', '\n']).is_empty()
}

/// Whether a line holds a comment and nothing else; only meaningful outside of a string.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start_matches(['\u{feff}', ' ', '\t']).starts_with('#')
}

/// The comments of `text`, each up to its line end. `text` starts outside of a string.
pub(super) fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(step) = text[at..].find(['#', '"', '\'']) {
        at += step;
        at = match text.as_bytes()[at] {
            b'#' => {
                let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
                let end = at + text[at..end].trim_end_matches('\r').len();
                found.push(at..end);
                end
            }
            quote => after_string(text, at, quote),
        };
    }
    found
}

/// The end of the string that starts at `start`; the end of the text when it has none.
fn after_string(text: &str, start: usize, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let triple = [quote; 3];
    let is_long = bytes[start..].starts_with(&triple);
    let mut at = start + if is_long { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' => at += 2,
            byte if byte == quote && !is_long => return at + 1,
            _ if is_long && bytes[at..].starts_with(&triple) => {
                // Up to two more quotes belong to the string.
                let more = bytes[at + 3..].iter().take(2).take_while(|byte| **byte == quote).count();
                return at + 3 + more;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_have_lines_and_columns() {
        let lines = Lines::new("a\r\n\u{feff}äb\nc");
        assert_eq!(lines.position(0), (1, 1));
        let b = lines.text().find('b').unwrap();
        assert_eq!((lines.position(b), lines.at(lines.start(b))), ((2, 2), "\u{feff}äb\n"));
        assert_eq!(lines.position(lines.text().len()), (3, 2));
        assert_eq!(lines.end(lines.text().len()), lines.text().len());
    }

    #[test]
    fn the_line_end_is_that_of_the_neighbourhood() {
        let lines = Lines::new("a\nb\r\nc");
        assert_eq!(
            (lines.newline_near(2), lines.newline_near(5), lines.newline_near(6)),
            ("\n", "\r\n", "\n")
        );
        assert_eq!(Lines::new("").newline_near(0), "\n");
    }

    fn found(text: &str) -> Vec<&str> {
        comments(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_hash_in_a_string_is_no_comment() {
        assert_eq!(found("a = \"# no \\\" # no\" # yes\r\n# two\n"), ["# yes", "# two"]);
        assert_eq!(found("a = '# no \\' # yes"), ["# yes"]);
        assert_eq!(
            found("a = \"\"\"\n# no \"\" # no\\\"\"\"\" # yes\nb = '''# no''''' # yes"),
            ["# yes", "# yes"]
        );
        assert_eq!(found("a = \"ä#\" # ö"), ["# ö"]);
        assert!(found("a = \"not closed # no").is_empty());
    }
}
