//! Comments in a piece of TOML: a `#` outside of every string.

use std::ops::Range;

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
