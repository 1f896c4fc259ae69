//! The words with which the official attach ends when the person has detached: at the very end of its output,
//! before nothing but the command that reattaches. A box can print the same words; so who hears them asks
//! whether the agent still runs.

/// The words (docs/measured/createos-cli.md 3.8).
const WORDS: &str = "Detached. The shell is still running.";
/// What may follow them.
const LEAD: &str = "Reattach with:";
/// So much of the end is remembered.
const KEPT: usize = 1024;

/// The end of what was shown.
#[derive(Debug, Default)]
pub(super) struct Parting {
    end: Vec<u8>,
}

impl Parting {
    /// Hears what was shown.
    pub(super) fn hear(&mut self, bytes: &[u8]) {
        let newest = &bytes[bytes.len().saturating_sub(KEPT)..];
        let excess = (self.end.len() + newest.len()).saturating_sub(KEPT);
        self.end.drain(..excess.min(self.end.len()));
        self.end.extend_from_slice(newest);
    }

    /// Whether it ends with the words.
    pub(super) fn is_said(&self) -> bool {
        let text = plain(&self.end);
        let Some((_, after)) = text.rsplit_once(WORDS) else { return false };
        let after = after.trim();
        let command = after.strip_prefix(LEAD).unwrap_or(after).trim();
        command.is_empty() || (!command.contains('\n') && command.contains(" sandbox process "))
    }
}

/// The text without its control sequences.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{1b}' => match rest.next() {
                Some('[') => skip_to(&mut rest, |c| ('\u{40}'..='\u{7e}').contains(&c)),
                Some(']') => skip_to(&mut rest, |c| matches!(c, '\u{7}' | '\u{1b}')),
                Some('\u{20}'..='\u{2f}') => skip_to(&mut rest, |c| !('\u{20}'..='\u{2f}').contains(&c)),
                _ => {}
            },
            '\n' => plain.push('\n'),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// Leaves out what comes, up to the first character that is the last one of a sequence.
fn skip_to(rest: &mut std::str::Chars<'_>, is_last: impl Fn(char) -> bool) {
    while rest.next().is_some_and(|c| !is_last(c)) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(output: &str) -> bool {
        // One byte at a time, and at once: no split may matter.
        let (mut slow, mut quick) = (Parting::default(), Parting::default());
        output.bytes().for_each(|byte| slow.hear(&[byte]));
        quick.hear(output.as_bytes());
        assert_eq!(slow.is_said(), quick.is_said(), "{output:?}");
        quick.is_said()
    }

    #[test]
    fn the_words_count_at_the_very_end_only() {
        let words = "\x1b[r\x1b[24;1H\x1b[K\r\nDetached. The shell is still running. Reattach with:\r\n";
        let command = "  createos sandbox process attach sb-01JABC proc_1\r\n";
        assert!(said(&format!("$ ls\r\n{words}{command}")));
        assert!(said(&format!("{words}\r\n{command}\x1b[?25h\x1b[0m")));
        assert!(said("\x1b[1mDetached.\x1b[0m The shell is still running.\r\n"));
        assert!(said(&format!("{}{words}{command}", "x".repeat(70_000))));
        // What a box prints, and goes on.
        assert!(!said(&format!("{words}{command}$ ls\r\n")));
        assert!(!said(&format!("{words}$ createos sandbox process attach\r\n$ ")));
        assert!(!said(&format!("{words}{command}{}", "x".repeat(70_000))));
        assert!(!said("Detached. The shell is still r") && !said(""));
    }
}
