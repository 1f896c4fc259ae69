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
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AGES: u64 = 1 << 40;

    fn filtered<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
        let now = Instant::now();
        let mut old = OldOutput::new(AGES, now);
        let mut out = Vec::new();
        parts.into_iter().for_each(|part| old.pass(part, now, &mut out));
        out
    }

    #[track_caller]
    fn passes(output: &str, expected: &str) {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        assert_eq!(text(filtered([output.as_bytes()])), expected, "{output:?}");
        assert_eq!(text(filtered(output.as_bytes().chunks(1))), expected, "{output:?}, byte by byte");
    }

    #[test]
    fn what_asks_or_acts_does_not_pass() {
        for acting in [
            "\x1b[6n",
            "\x1b[c",
            "\x1b[>c",
            "\x1b[=c",
            "\x1b[5n",
            "\x1b[?6n",
            "\x1b[?996n",
            "\x1b[?u",
            "\x1b[>0q",
            "\x1b[?1$p",
            "\x1b[14t",
            "\x1b[18t",
            "\x1b[x",
            "\x1b[?2;1;0S",
            "\x1b[?4m",
            "\x1b[5i",
            "\x1bZ",
            "\x1b]52;c;aGVsbG8=\x07",
            "\x1b]52;c;?\x1b\\",
            "\x1b]9;done\x07",
            "\x1b]777;notify;a;b\x1b\\",
            "\x1b]99;i=1;hello\x1b\\",
            "\x1b]10;?\x07",
            "\x1b]11;?\x1b\\",
            "\x1b]4;1;?\x07",
            "\x1b]1337;Copy=:x\x07",
            "\x1bP+q544e\x1b\\",
            "\x1bP$qm\x1b\\",
            "\x1b_Ga=q,i=1;AAAA\x1b\\",
            "\x1b^x\x1b\\",
            "\x1bXx\x1b\\",
            "\x07",
            "\x05",
            "\u{9b}6n",
            "\u{9d}52;c;x\x07",
            "\u{90}+q544e\x1b\\",
            "\u{9a}",
            "\x1b[?\x076n",
        ] {
            passes(&format!("a{acting}b"), "ab");
        }
        let zeros = format!("a\x1b[{}6nb", "0".repeat(9_000));
        passes(&zeros, "ab");
        let many = format!("a\x1b[{}6nb", "7;".repeat(100));
        passes(&many, "ab");
    }

    #[test]
    fn what_is_shown_passes_as_it_is() {
        for shown in [
            "plain ä€🦀字 text\r\n\ttab\x08",
            "\x1b[1;31mred\x1b[0m\x1b[38:2::1:2:3m",
            "\x1b[?1049h\x1b[?25l\x1b[2J\x1b[H\x1b[?2004h\x1b[?1000;1006h\x1b[5;20r",
            "\x1b[>1u\x1b[<u\x1b[=5u\x1b[u\x1b[s\x1b7\x1b8\x1b[>4;2m\x1b[!p\x1b[2 q",
            "\x1b]0;a title?\x07\x1b]2;t\x1b\\\x1b]8;;https://example.com/?q\x1b\\link\x1b]8;;\x1b\\",
            "\x1b]7;file:///home\x07\x1b]133;A\x07\x1b]11;#102030\x07\x1b]104\x07",
            "\x1bPq#0;2;0;0;0~~@@\x1b\\\x1bP=1s\x1b\\\x1b(0lqk\x1b(B\x1b#8\x1b=\x1b>\x1bM",
            "\u{a0}\u{bf}é",
        ] {
            passes(shown, shown);
        }
        // A string that another sequence cuts short.
        passes("\x1b]52;c;abc\x1b[1mx", "\x1b[1mx");
        passes("\x1b]52;c;abc\x18x", "x");
        passes("\x1b[6\x1b[1mx", "\x1b[1mx");
    }

    #[test]
    fn it_ends_in_silence_behind_the_last_old_byte_and_never_inside_a_sequence() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut out = Vec::new();
        let mut old = OldOutput::new(10, start);
        assert!(!old.is_over(at(60_000)), "nothing has come");
        old.pass(b"12345", at(100), &mut out);
        assert!(!old.is_over(at(2_000)) && old.is_over(at(2_100)), "less has come than was told");
        old.pass(b"67890\x1b", at(300), &mut out);
        assert!(!old.is_over(at(10_000)), "inside a sequence");
        old.pass(b"[1m", at(310), &mut out);
        assert!(!old.is_over(at(509)) && old.is_over(at(510)));
        // One that is never silent.
        let mut busy = OldOutput::new(10, start);
        for ms in (0..6_000).step_by(50) {
            busy.pass(b"0123456789", at(ms), &mut out);
            assert_eq!(busy.is_over(at(ms)), ms >= 5_000, "{ms}");
        }
        assert!(OldOutput::new(0, start).is_over(at(200)));
    }

    proptest! {
        #[test]
        fn no_split_changes_what_passes(
            output in proptest::collection::vec(
                prop_oneof![
                    Just(b"\x1b[6n".to_vec()), Just(b"\x1b]52;c;eA==\x07".to_vec()), Just(b"\x1b[1m".to_vec()),
                    Just(b"\x1bPq~\x1b\\".to_vec()), Just(b"\xc2\x9b6n".to_vec()), Just("ä字".as_bytes().to_vec()),
                    proptest::collection::vec(any::<u8>(), 0..6),
                ], 0..12),
            cuts in proptest::collection::vec(0usize..80, 0..6),
        ) {
            let output = output.concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(output.len())).collect();
            cuts.extend([0, output.len()]);
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|pair| &output[pair[0]..pair[1]]);
            prop_assert_eq!(filtered(parts), filtered([output.as_slice()]));
        }

        #[test]
        fn text_passes(text in "[a-zäöü字 \r\n]{0,200}") {
            prop_assert_eq!(filtered([text.as_bytes()]), text.as_bytes());
        }
    }

    #[test]
    fn what_the_official_program_adds_is_not_counted() {
        let now = Instant::now();
        let mut old = OldOutput::new(10, now);
        let mut out = Vec::new();
        old.pass(b"  attached to proc_1 (sb-1)\r\n", now, &mut out);
        old.pass(
            b"\x1b7\x1b[0m\x1b[1;23r\x1b[24;1H\x1b[7m createos proc_1 | Ctrl-] detach \x1b[0m\x1b8",
            now,
            &mut out,
        );
        let later = now + Duration::from_secs(1);
        assert!(!old.is_over(later), "nothing old has come yet");
        old.pass(b"123456789\x07", later, &mut out);
        assert!(!out.contains(&7), "an old bell");
        assert!(old.is_over(later + QUIET), "all of it has come");
    }
}
