//! The pane's terminal: its size, and what is typed in it.

use crate::error::{IoContext, Result};
use crate::ui::{self, terminal::Raw};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Rows and columns of the pane; 24 by 80 when it is no terminal.
pub(crate) fn size() -> (u16, u16) {
    ui::terminal::size().map_or((24, 80), |size| (size.rows, size.cols))
}

/// Another size of the pane ends a wait for keys from now on.
pub(crate) fn wake_at_resize() {
    let _kept = signal_hook::flag::register(signal_hook::consts::SIGWINCH, Arc::default());
}

/// The other screen, left again whatever happens.
pub(crate) struct OtherScreen;

impl OtherScreen {
    /// `enter` is what goes there.
    pub(crate) fn enter(enter: &str) -> Self {
        let _gone = ui::raw(enter.as_bytes());
        Self
    }
}

impl Drop for OtherScreen {
    fn drop(&mut self) {
        let _gone = ui::raw(b"\x1b[?25h\x1b[?1049l");
    }
}

/// Single keys instead of lines, no echo; back to what it was when dropped.
pub(crate) struct Keys {
    _raw: Raw,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Typed {
    /// Nothing within the time.
    Nothing,
    /// One key, or a burst: a paste, a fast typist, an escape sequence.
    Bytes(Vec<u8>),
    Ended,
}

impl Keys {
    pub(crate) fn take() -> Result<Self> {
        let raw = Raw::for_keys().at("set the modes of", Path::new("the terminal"))?;
        Ok(Self { _raw: raw })
    }

    /// Waits for any key, or the end.
    pub(crate) fn wait(&self) {
        while self.read(Duration::from_secs(60)) == Typed::Nothing {}
    }

    /// Forgets what was typed so far.
    pub(crate) fn discard(&self) {
        while matches!(self.read(Duration::ZERO), Typed::Bytes(_)) {}
    }

    pub(crate) fn read(&self, limit: Duration) -> Typed {
        let stdin = std::io::stdin();
        let limit = Timespec {
            tv_sec: i64::try_from(limit.as_secs()).unwrap_or(1),
            tv_nsec: i64::from(limit.subsec_nanos()),
        };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&limit)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Typed::Nothing,
            Ok(_) => {}
            Err(_) => return Typed::Ended,
        }
        let mut buffer = [0; 1024];
        // Not through the standard reader: what it has buffered, poll does not see.
        match rustix::io::read(&stdin, &mut buffer) {
            Err(rustix::io::Errno::INTR) => Typed::Nothing,
            Ok(0) | Err(_) => Typed::Ended,
            Ok(count) => Typed::Bytes(buffer[..count].to_vec()),
        }
    }
}

/// A key counts only after so long without another: the words that are being typed when the agent ends are
/// meant for the agent.
const QUIET_BEFORE: Duration = Duration::from_secs(1);
/// A letter with another behind it within this time begins a word, and is none of ours.
const QUIET_AFTER: Duration = Duration::from_millis(500);

/// Tells a key that is pressed on purpose from words that are meant for the program of a moment ago.
#[derive(Debug)]
pub(crate) struct LoneKeys {
    last: Instant,
    letter: Option<u8>,
}

impl LoneKeys {
    pub(crate) fn new(now: Instant) -> Self {
        Self { last: now, letter: None }
    }

    /// A letter was pressed that may still turn out to begin a word.
    pub(crate) fn is_waiting(&self) -> bool {
        self.letter.is_some()
    }

    /// Takes what [`Keys::read`] gave at `now`, and gives the key that was pressed on purpose. Enter counts at
    /// once, a letter when nothing follows it.
    pub(crate) fn take(&mut self, typed: &Typed, now: Instant) -> Option<u8> {
        let quiet = now.duration_since(self.last);
        match typed {
            Typed::Bytes(bytes) => {
                self.last = now;
                let first = self.letter.take().is_none() && quiet >= QUIET_BEFORE;
                match bytes.as_slice() {
                    [key @ (b'\r' | b'\n')] if first => return Some(*key),
                    [key] if first => self.letter = Some(*key),
                    _ => {}
                }
                None
            }
            Typed::Nothing if quiet >= QUIET_AFTER => self.letter.take(),
            Typed::Nothing | Typed::Ended => None,
        }
    }
}

/// The keys of a burst, as of one that is held down, each with its whole escape sequence.
pub(crate) fn single_keys(bytes: &[u8]) -> Vec<&[u8]> {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let long = match rest {
            [0x1b, b'[', tail @ ..] => {
                2 + tail.iter().position(|byte| (0x40..0x7f).contains(byte)).map_or(tail.len(), |at| at + 1)
            }
            [0x1b, b'O', _, ..] => 3,
            _ => 1,
        };
        let (key, tail) = rest.split_at(long);
        keys.push(key);
        rest = tail;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_taken_apart_into_its_keys() {
        let keys = single_keys(b"jj\x1b[B\x1b[1;5A\x1bOAk\r\x1b");
        let expected: [&[u8]; 8] = [b"j", b"j", b"\x1b[B", b"\x1b[1;5A", b"\x1bOA", b"k", b"\r", b"\x1b"];
        assert_eq!(keys, expected);
        assert_eq!(single_keys(b"\x1b["), [b"\x1b["]);
    }

    #[test]
    fn a_key_counts_alone_and_a_word_never() {
        // What was typed, after so many milliseconds; a blank is a look at which nothing was there.
        for (typed, expected) in [
            (&[(1_000, "s"), (250, ""), (250, "")][..], Some(b's')),
            (&[(1_000, "\r")], Some(b'\r')),
            (&[(999, "\r"), (600, "")], None),
            (&[(400, "s"), (600, ""), (600, "")], None),
            (&[(1_000, "squash that\r"), (600, "")], None),
            // A word letter by letter: neither its first letter nor any later one, nor its Enter.
            (&[(2_000, "s"), (200, "h"), (200, "o"), (200, "w"), (300, "\r"), (600, "")], None),
            (&[(2_000, "s"), (200, ""), (200, "s"), (600, "")], None),
            // It is over when it was quiet for a second.
            (&[(2_000, "s"), (200, "h"), (1_000, "q"), (250, ""), (250, "")], Some(b'q')),
            (&[(2_000, "s"), (200, "h"), (999, "q"), (600, "")], None),
            (&[(2_000, "\x1b[A"), (600, "")], None),
        ] {
            let mut now = Instant::now();
            let mut keys = LoneKeys::new(now);
            let mut pressed = Vec::new();
            for (after, text) in typed {
                now += Duration::from_millis(*after);
                let typed = match text.is_empty() {
                    true => Typed::Nothing,
                    false => Typed::Bytes(text.as_bytes().to_vec()),
                };
                pressed.extend(keys.take(&typed, now));
            }
            assert_eq!(pressed, expected.into_iter().collect::<Vec<_>>(), "{typed:?}");
            assert!(!keys.is_waiting(), "{typed:?}");
        }
    }
}
