//! Finds secrets in contents: formats that are secrets with high confidence, as data
//! (`templates/secret-formats.toml`), with their check digits or their entropy where the format has them.
//!
//! Literal prefixes of all formats are looked for in one pass; only where one is found, its rule's
//! pattern is tried. What was found is told by line and kind; the secret itself goes nowhere.

mod check;
mod literals;
mod rules;
mod utf16;

use super::RelPath;
use rules::{RULES, Rule};

/// A secret was found here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The rule's id.
    pub(crate) rule: &'static str,
    /// The kind of secret, in words.
    pub(crate) kind: &'static str,
    /// The line, from 1.
    pub(crate) line: u32,
}

/// A hit in these whole contents of the file at `path`: the first one.
pub(crate) fn find(path: &RelPath, contents: &[u8]) -> Option<Hit> {
    if let Some(order) = utf16::order(contents) {
        return find_in(path, &utf16::decode(contents, order));
    }
    find_in(path, contents)
}

fn find_in(path: &RelPath, contents: &[u8]) -> Option<Hit> {
    let (at, rule) = RULES
        .first(contents, 0, contents.len())
        .or_else(|| RULES.of_file(path).find_map(|rule| rule.in_file(contents).map(|at| (at, rule))))?;
    Some(hit(rule, line(contents, at)))
}

/// How much of a stream is looked at again with what follows it. No format is longer.
const OVERLAP: usize = 4096;

/// Looks through contents that come in pieces. Rules for single file names are not applied: the
/// files that they are for are small.
#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// The order of UTF-16 text; unknown before the first piece.
    order: Option<Option<utf16::Order>>,
    /// The first byte of a unit whose second is in the next piece.
    half: Option<u8>,
    kept: Vec<u8>,
    judged: usize,
    lines: u32,
}

impl Stream {
    /// The next piece; `last` ends the stream. Gives the first hit, if there is one so far.
    pub(crate) fn feed(&mut self, piece: &[u8], last: bool) -> Option<Hit> {
        match *self.order.get_or_insert_with(|| utf16::order(piece)) {
            None => self.kept.extend_from_slice(piece),
            Some(order) => {
                let mut units: Vec<u8> = self.half.take().into_iter().collect();
                units.extend_from_slice(piece);
                self.half = (units.len() % 2 == 1).then(|| units.pop()).flatten();
                self.kept.extend(utf16::decode(&units, order));
            }
        }
        let end = if last { self.kept.len() } else { self.kept.len().saturating_sub(OVERLAP) };
        if end > self.judged {
            if let Some((at, rule)) = RULES.first(&self.kept, self.judged, end) {
                return Some(hit(rule, self.lines + line(&self.kept, at)));
            }
            self.judged = end;
        }
        // Some of what was judged stays, because a token may begin before its literal.
        let done = self.judged.saturating_sub(OVERLAP);
        self.lines += line(&self.kept, done) - 1;
        self.kept.drain(..done);
        self.judged -= done;
        None
    }
}

fn hit(rule: &'static Rule, line: u32) -> Hit {
    Hit { rule: &rule.entry.id, kind: &rule.entry.kind, line }
}

/// The line, from 1, of the byte at `at`.
fn line(contents: &[u8], at: usize) -> u32 {
    u32::try_from(memchr::memchr_iter(b'\n', &contents[..at]).count()).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token() -> String {
        // The random part is the one of the format's published example; joined here only.
        ["ghp", "_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ", "0mLq17"].concat()
    }

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_hit_names_its_line_and_kind() {
        let text = format!("a\nb\nkey = \"{}\"\n", token());
        let hit = find(&path("x.py"), text.as_bytes()).unwrap();
        assert_eq!((hit.rule, hit.line), ("github-token", 3));
    }

    #[test]
    fn a_wrong_check_digit_is_no_token() {
        let text = token().replace("0mLq17", "0mLq18");
        assert_eq!(find(&path("x"), text.as_bytes()), None);
    }

    #[test]
    fn text_of_16_bits_is_read_whole_and_in_pieces() {
        let text = format!("\u{feff}a\r\n{}key = \"{}\"\r\n", "filler\r\n".repeat(2_000), token());
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(find(&path("x.ps1"), &bytes).map(|hit| hit.line), Some(2_002));
        for size in [999, 1_000] {
            let mut stream = Stream::default();
            let mut pieces = bytes.chunks(size).peekable();
            let mut found = None;
            while let (None, Some(piece)) = (found, pieces.next()) {
                found = stream.feed(piece, pieces.peek().is_none());
            }
            assert_eq!(found.map(|hit| hit.line), Some(2_002), "pieces of {size}");
        }
    }

    #[test]
    fn a_stream_finds_what_lies_across_its_pieces() {
        for at in [0, 1, 5000, 9_990, 9_999, 10_000, 20_000, 29_950] {
            let mut text = vec![b'.'; at];
            text.extend(b"\n");
            text.extend(token().as_bytes());
            text.resize(30_000.max(text.len()), b' ');
            for size in [1000, 10_000] {
                let mut stream = Stream::default();
                let mut pieces = text.chunks(size).peekable();
                let mut found = None;
                while let (None, Some(piece)) = (found, pieces.next()) {
                    found = stream.feed(piece, pieces.peek().is_none());
                }
                assert_eq!(found.map(|hit| hit.line), Some(2), "at {at}, pieces of {size}");
            }
        }
    }
}
