//! Output that was shown before and is shown again: the text and the colours pass, what would act a second time
//! does not. An old query would be answered again, and the answer typed into a program that asked long ago; an old
//! clipboard would replace a newer one; old bells and notifications would ring. Where in doubt, it does not pass.

use std::time::{Duration, Instant};

/// So much silence behind the last old byte, and what comes then is new.
const QUIET: Duration = Duration::from_millis(200);
/// A program that never is silent is taken for up to date so long after its last old byte.
const BUSY: Duration = Duration::from_secs(5);
/// Less has come than there should be, and nothing more does.
const SHORT: Duration = Duration::from_secs(2);
/// A sequence that is longer is swallowed to its end.
const MOST: usize = 4096;

/// Operating system commands that pass whatever they hold: titles, folder, links, marks of a prompt.
const HARMLESS: [u32; 7] = [0, 1, 2, 7, 8, 133, 633];
/// Those that never pass: notifications, clipboards, and iTerm2's, which are of all kinds.
const ACTING: [u32; 6] = [9, 52, 99, 777, 1337, 5522];

/// The official program's first line, before which nothing old can be.
const OWN_LINE: &str = "attached to ";
/// What stands between a saved and a restored cursor is its footer when it is no longer.
const FOOTER: u64 = 1024;

/// The filter of old output. What the official program adds is not counted: its first line and its footer, which may
/// come long before the output does.
#[derive(Debug)]
pub(super) struct OldOutput {
    left: i64,
    began: Instant,
    last: Instant,
    reached: Option<Instant>,
    scan: Scan,
    /// The first line, as far as it has come; `None` behind it.
    head: Option<Vec<u8>>,
    /// Bytes since the cursor was saved; `None` when it was restored.
    saved: Option<u64>,
    /// The byte before.
    before: u8,
    /// A sequence that has not been judged yet.
    held: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scan {
    Ground,
    /// 0xc2: the next byte may make it a control character of the upper half.
    Half,
    Escape,
    /// Behind an escape's intermediate characters.
    Intermediate,
    Sequence,
    /// An operating system command, whose number is not complete.
    Number(u32),
    /// A string with its escape, which may end it.
    Text {
        fate: Fate,
        escape: bool,
        bell_ends: bool,
    },
    /// The head of a device control string.
    Head,
}

/// What becomes of a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passes,
    /// Only if it asks for nothing.
    UnlessAsking,
    Swallowed,
}

impl OldOutput {
    /// `bytes` of what comes are old, from `now` on.
    pub(super) fn new(bytes: u64, now: Instant) -> Self {
        let reached = (bytes == 0).then_some(now);
        Self {
            left: i64::try_from(bytes).unwrap_or(i64::MAX),
            began: now,
            last: now,
            reached,
            scan: Scan::Ground,
            head: Some(Vec::new()),
            saved: None,
            before: 0,
            held: Vec::new(),
        }
    }

    /// Whether what comes next is new. Never in the middle of a sequence.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let silent = now.duration_since(self.last);
        self.scan == Scan::Ground
            && match self.reached {
                Some(reached) => silent >= QUIET || now.duration_since(reached) >= BUSY,
                None => self.last > self.began && silent >= SHORT,
            }
    }

    /// Adds to `out` what passes of the bytes that have come at `now`; none may be a look only.
    pub(super) fn pass(&mut self, bytes: &[u8], now: Instant, out: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        self.last = now;
        for &byte in bytes {
            self.count(byte);
        }
        match self.left > 0 {
            true => self.reached = None,
            false => drop(self.reached.get_or_insert(now)),
        }
        for &byte in bytes {
            self.scan = self.step(byte, out);
        }
    }

    /// Counts a byte, unless it is the official program's own.
    fn count(&mut self, byte: u8) {
        let escaped = std::mem::replace(&mut self.before, byte) == 0x1b;
        if let Some(head) = &mut self.head {
            head.push(byte);
            if byte == b'\n' && String::from_utf8_lossy(head).contains(OWN_LINE) {
                self.left += head.len() as i64 - 1;
                self.head = None;
                return;
            }
            if byte == b'\n' || head.len() > 512 {
                self.head = None;
            }
        }
        match (&mut self.saved, escaped, byte) {
            (None, true, b'7') => {
                // Its escape was counted.
                self.left += 1;
                self.saved = Some(0);
            }
            (Some(_), true, b'8') => self.saved = None,
            (Some(count), ..) if *count < FOOTER => *count += 1,
            _ => self.left -= 1,
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>) -> Scan {
        if let Scan::Text { fate, escape, bell_ends } = self.scan {
            return self.text(byte, fate, escape, bell_ends, out);
        }
        match (self.scan, byte) {
            (Scan::Half, 0x9b) => self.hold(byte, Scan::Sequence),
            (Scan::Half, 0x9d) => self.hold(byte, Scan::Number(0)),
            (Scan::Half, 0x90) => self.hold(byte, Scan::Head),
            (Scan::Half, 0x98 | 0x9e | 0x9f) => self.swallow(false),
            // The query of the terminal's kind.
            (Scan::Half, 0x9a) => self.drop_held(),
            (Scan::Half, _) => {
                self.scan = self.give(out);
                self.step(byte, out)
            }
            (_, 0x1b) => {
                self.held.clear();
                self.hold(byte, Scan::Escape)
            }
            // Bell and answer-back.
            (scan, 0x07 | 0x05) if !matches!(scan, Scan::Number(_)) => scan,
            (Scan::Ground, 0xc2) => self.hold(byte, Scan::Half),
            (Scan::Ground, _) => {
                out.push(byte);
                Scan::Ground
            }
            (_, 0x18 | 0x1a) => self.drop_held(),
            (Scan::Number(number), _) => self.number(number, byte, out),
            // A terminal obeys these at once, and goes on with the sequence.
            (scan, 0x00..=0x1f) => {
                out.push(byte);
                scan
            }
            (Scan::Escape, b'[') => self.hold(byte, Scan::Sequence),
            (Scan::Escape, b']') => self.hold(byte, Scan::Number(0)),
            (Scan::Escape, b'P') => self.hold(byte, Scan::Head),
            (Scan::Escape, b'X' | b'^' | b'_') => self.swallow(false),
            // The query of the terminal's kind, and a bell that is seen.
            (Scan::Escape, b'Z' | b'g') => self.drop_held(),
            (Scan::Escape | Scan::Intermediate, 0x20..=0x2f) => self.hold(byte, Scan::Intermediate),
            (Scan::Sequence, 0x20..=0x3f) => self.hold(byte, Scan::Sequence),
            // Of these a terminal takes no notice.
            (scan @ (Scan::Escape | Scan::Intermediate | Scan::Sequence | Scan::Head), 0x7f..) => {
                self.hold(byte, scan)
            }
            (Scan::Sequence, _) => match self.held.len() >= MOST || acts(&self.held, byte) {
                true => self.drop_held(),
                false => {
                    self.held.push(byte);
                    self.give(out)
                }
            },
            (Scan::Head, 0x20..=0x3f) => self.hold(byte, Scan::Head),
            (Scan::Head, _) => self.device(byte, out),
            (_, _) => {
                self.held.push(byte);
                self.give(out)
            }
        }
    }

    fn hold(&mut self, byte: u8, scan: Scan) -> Scan {
        if self.held.len() < MOST {
            self.held.push(byte);
        }
        scan
    }

    fn give(&mut self, out: &mut Vec<u8>) -> Scan {
        out.append(&mut self.held);
        Scan::Ground
    }

    fn drop_held(&mut self) -> Scan {
        self.held.clear();
        Scan::Ground
    }

    fn swallow(&mut self, bell_ends: bool) -> Scan {
        self.held.clear();
        Scan::Text { fate: Fate::Swallowed, escape: false, bell_ends }
    }

    /// An operating system command, until its number is known.
    fn number(&mut self, number: u32, byte: u8, out: &mut Vec<u8>) -> Scan {
        if let digit @ b'0'..=b'9' = byte {
            let number = number.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
            return self.hold(byte, Scan::Number(number));
        }
        let fate = match number {
            number if ACTING.contains(&number) => Fate::Swallowed,
            number if HARMLESS.contains(&number) => Fate::Passes,
            _ => Fate::UnlessAsking,
        };
        match fate {
            Fate::Passes => out.append(&mut self.held),
            Fate::Swallowed => self.held.clear(),
            Fate::UnlessAsking => {}
        }
        self.text(byte, fate, false, true, out)
    }

    /// Of the device control strings only pictures and the marks of a frame pass: the others ask.
    fn device(&mut self, byte: u8, out: &mut Vec<u8>) -> Scan {
        let head = &self.held[self.held.iter().position(|own| matches!(own, b'P' | 0x90)).unwrap_or(0) + 1..];
        let plain = head.iter().all(|own| matches!(own, b'0'..=b'9' | b';'));
        if (byte == b'q' && plain) || (byte == b's' && head.first() == Some(&b'=')) {
            self.held.push(byte);
            out.append(&mut self.held);
            return Scan::Text { fate: Fate::Passes, escape: false, bell_ends: false };
        }
        self.swallow(false)
    }

    fn text(&mut self, byte: u8, fate: Fate, escape: bool, bell_ends: bool, out: &mut Vec<u8>) -> Scan {
        if escape && byte != b'\\' {
            // The string is over, and a sequence of another kind has begun.
            self.held.clear();
            self.scan = self.hold(0x1b, Scan::Escape);
            return self.step(byte, out);
        }
        let alone = [byte];
        let more: &[u8] = match (escape, byte) {
            (true, _) => b"\x1b\\",
            (false, 0x1b) => b"",
            (false, _) => &alone,
        };
        match fate {
            Fate::Passes => out.extend_from_slice(more),
            Fate::UnlessAsking => self.held.extend_from_slice(more),
            Fate::Swallowed => {}
        }
        let cut_short = matches!(byte, 0x18 | 0x1a);
        if escape || cut_short || (bell_ends && byte == 0x07) {
            return if cut_short || self.held.contains(&b'?') { self.drop_held() } else { self.give(out) };
        }
        let fate = match fate {
            Fate::UnlessAsking if self.held.len() >= MOST => {
                self.held.clear();
                Fate::Swallowed
            }
            fate => fate,
        };
        Scan::Text { fate, escape: byte == 0x1b, bell_ends }
    }
}

/// Whether a control sequence asks the terminal for something, or makes it do more than show: reports of status,
/// kind, modes, colours, places and of the keyboard, the window's size and place, the printer.
fn acts(held: &[u8], last: u8) -> bool {
    let body = &held[held.iter().position(|byte| matches!(byte, b'[' | 0x9b)).map_or(0, |at| at + 1)..];
    let private = body.first().copied().filter(|byte| (0x3c..=0x3f).contains(byte)).unwrap_or(0);
    let intermediate = body.iter().rev().copied().find(|byte| (0x20..=0x2f).contains(byte)).unwrap_or(0);
    matches!(
        (private, intermediate, last),
        (_, 0, b'c' | b'n' | b't' | b'x' | b'i')
            | (_, b'$', b'p' | b'w' | b'u')
            | (_, b'*', b'y')
            | (_, b'&', b'u' | b'w')
            | (_, b'\'', b'|' | b'w' | b'z')
            | (_, b'"', b'v')
            | (b'?', 0, b'u' | b'S' | b'm' | b'g')
            | (b'>', 0, b'q')
    )
}

#[cfg(test)]
mod tests;
