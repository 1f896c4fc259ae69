//! What a follower sends: lines that begin with its mark, and between them output in base64. What a login shell or the
//! CLI prints besides is neither; a line that was cut, or that something else was written into, ends the trust in all
//! that follows.

use memchr::memchr;

/// Bytes of output on a line, and the letters that they are there.
const ON_A_LINE: u64 = 57;
/// How much of what is no frame is kept: the CLI's own words.
const KEPT: usize = 16 * 1024;
/// A line longer than this is none of ours.
const LONGEST: usize = 4096;

/// How a follower has ended its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Last {
    /// The command's exit code.
    Code(u8),
    /// Nothing was printed for a minute.
    Quiet,
    /// There is no such run.
    Gone,
    /// The box lacks this program.
    Lacks(String),
}

/// Reads the words of one follower.
#[derive(Debug)]
pub(super) struct Frames {
    mark: Vec<u8>,
    /// A line whose end has not come.
    held: Vec<u8>,
    /// The next byte of the output.
    pub(super) at: u64,
    /// So many bytes of the frame are still to come.
    left: u64,
    /// The follower has begun.
    pub(super) began: bool,
    pub(super) last: Option<Last>,
    /// What was no frame, before anything was wrong.
    pub(super) besides: Vec<u8>,
    damaged: bool,
}

impl Frames {
    /// Frames with this mark from byte `at` of the output on.
    pub(super) fn new(mark: &str, at: u64) -> Self {
        Self {
            mark: mark.as_bytes().to_vec(),
            held: Vec::new(),
            at,
            left: 0,
            began: false,
            last: None,
            besides: Vec::new(),
            damaged: false,
        }
    }

    /// Takes what came; `out` gets the output in it.
    pub(super) fn feed(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.held.is_empty() {
                self.line(line, out);
            } else {
                let mut whole = std::mem::take(&mut self.held);
                whole.extend_from_slice(line);
                self.line(&whole, out);
            }
        }
        if self.held.len() + bytes.len() <= LONGEST {
            self.held.extend_from_slice(bytes);
        } else {
            self.damaged = true;
        }
    }

    fn line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        if self.damaged || self.last.is_some() {
            self.keep(line);
        } else if self.left > 0 {
            let count = self.left.min(ON_A_LINE);
            if unpack(line, count as usize, out) {
                self.at += count;
                self.left -= count;
            } else {
                self.damaged = true;
                self.keep(line);
            }
        } else if let Some(words) = line.strip_prefix(&self.mark[..]).and_then(|rest| rest.strip_prefix(b" "))
        {
            self.word(&String::from_utf8_lossy(words));
        } else {
            self.keep(line);
        }
    }

    fn word(&mut self, words: &str) {
        let words: Vec<&str> = words.split(' ').collect();
        let at = self.at.to_string();
        match words[..] {
            ["b"] => self.began = true,
            ["h"] => {}
            ["d", from, count] if from == at => match count.parse() {
                Ok(count) => self.left = count,
                Err(_) => self.damaged = true,
            },
            ["e", code, end] if end == at => match code.parse() {
                Ok(code) => self.last = Some(Last::Code(code)),
                Err(_) => self.damaged = true,
            },
            ["q"] => self.last = Some(Last::Quiet),
            ["g"] => self.last = Some(Last::Gone),
            ["x", name] => self.last = Some(Last::Lacks(name.to_owned())),
            _ => self.damaged = true,
        }
    }

    fn keep(&mut self, line: &[u8]) {
        if self.besides.len() + line.len() < KEPT {
            self.besides.extend_from_slice(line);
            self.besides.push(b'\n');
        }
    }

    /// What was no frame, the last line too, whose end may be missing.
    pub(super) fn words(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.besides).into_owned();
        text.push_str(&String::from_utf8_lossy(&self.held));
        text
    }
}

/// The value of each letter; 64 for what is none.
const VALUES: [u8; 256] = {
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut values = [64; 256];
    let mut at = 0;
    while at < 64 {
        values[letters[at] as usize] = at as u8;
        at += 1;
    }
    values
};

/// Appends the `count` bytes of a line; nothing, and `false`, when it is not exactly theirs.
fn unpack(line: &[u8], count: usize, out: &mut Vec<u8>) -> bool {
    let (letters, before) = (count.div_ceil(3) * 4, out.len());
    if line.len() != letters {
        return false;
    }
    let padding = (3 - count % 3) % 3;
    let (body, pad) = line.split_at(letters - padding);
    let mut wrong = pad.iter().any(|letter| *letter != b'=');
    for four in body.chunks(4) {
        let mut held = 0_u32;
        for at in 0..4 {
            let value = four.get(at).map_or(0, |letter| VALUES[usize::from(*letter)]);
            wrong |= value > 63;
            held = held << 6 | u32::from(value & 63);
        }
        out.extend_from_slice(&held.to_be_bytes()[1..]);
    }
    out.truncate(before + if wrong { 0 } else { count });
    !wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;
    use std::process::{Command, Stdio};

    /// The frames of a follower, by the real program.
    fn sent(mark: &str, output: &[u8], pieces: usize) -> Vec<u8> {
        let mut stream = format!("{mark} b\n").into_bytes();
        let mut at = 0;
        for piece in output.chunks(output.len().div_ceil(pieces).max(1)) {
            stream.extend(format!("{mark} d {at} {}\n", piece.len()).bytes());
            let mut child = Command::new("base64")
                .args(["-w", "76"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("it starts");
            child.stdin.take().expect("a pipe").write_all(piece).expect("it reads");
            stream.extend(child.wait_with_output().expect("it ends").stdout);
            at += piece.len();
        }
        stream.extend(format!("{mark} e 7 {at}\n").bytes());
        stream
    }

    fn noise(count: usize) -> Vec<u8> {
        (0..count).map(|at| (at * 7919 % 251) as u8 ^ (at >> 8) as u8).collect()
    }

    #[test]
    fn what_was_sent_arrives_whatever_the_pieces() {
        let output = noise(10_007);
        let stream = sent("@m", &output, 3);
        for size in [1, 7, 76, 77, 5_000, stream.len()] {
            let (mut frames, mut out) = (Frames::new("@m", 0), Vec::new());
            for piece in stream.chunks(size) {
                frames.feed(piece, &mut out);
            }
            assert_eq!((out == output, frames.last.clone()), (true, Some(Last::Code(7))), "{size}");
            assert_eq!(frames.at, output.len() as u64);
        }
    }

    #[test]
    fn words_of_others_are_no_output() {
        let mut stream = b"Welcome!\n".to_vec();
        stream.extend(sent("@m", b"hello", 1));
        let (mut frames, mut out) = (Frames::new("@m", 0), Vec::new());
        frames.feed(&stream, &mut out);
        assert_eq!((&out[..], frames.words().as_str()), (&b"hello"[..], "Welcome!\n"));
        assert!(frames.began);
    }

    #[test]
    fn an_error_in_the_middle_of_a_line_is_no_output_and_nothing_after_it_counts() {
        let stream = sent("@m", &noise(300), 1);
        let cut = [&stream[..150], b" ERROR  read stream: EOF\n", &stream[150..]].concat();
        let (mut frames, mut out) = (Frames::new("@m", 0), Vec::new());
        frames.feed(&cut, &mut out);
        assert_eq!((frames.at, out.len(), &frames.last), (57, 57, &None));
        assert!(frames.words().contains("read stream: EOF"), "{}", frames.words());
        // Letters of base64 alone could be a line's: its length tells.
        let (mut frames, mut out) = (Frames::new("@m", 0), Vec::new());
        frames.feed(b"@m d 0 60\nQUJD\n", &mut out);
        assert_eq!((frames.at, out.len()), (0, 0));
    }

    #[test]
    fn a_frame_from_another_place_does_not_count() {
        for wrong in ["@m d 5 1\nQQ==\n", "@m e 0 9\n", "@m e 900 0\n", "@m nonsense\n", "@m d 0 -1\n"] {
            let (mut frames, mut out) = (Frames::new("@m", 0), Vec::new());
            frames.feed(format!("{wrong}@m e 0 0\n").as_bytes(), &mut out);
            assert_eq!((out.len(), &frames.last), (0, &None), "{wrong}");
        }
    }

    proptest! {
        /// Cut at any byte and opened again at the byte reached, the output is complete and there once.
        #[test]
        fn a_stream_that_is_cut_anywhere_goes_on_where_it_was(cuts in proptest::collection::vec(0_usize..4_000, 0..6)) {
            let output = noise(2_000);
            let (mut out, mut at) = (Vec::new(), 0);
            for cut in cuts.into_iter().chain([usize::MAX]) {
                let mut frames = Frames::new("@m", at);
                let rest = &output[at as usize..];
                let mut stream = sent("@m", rest, 2);
                // As a follower from that byte on would say it.
                let text = String::from_utf8(std::mem::take(&mut stream)).expect("letters");
                let lines = text.lines().map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                    ["@m", "d", from, count] => format!("@m d {} {count}\n", from.parse::<u64>().expect("a number") + at),
                    ["@m", "e", code, end] => format!("@m e {code} {}\n", end.parse::<u64>().expect("a number") + at),
                    _ => format!("{line}\n"),
                });
                let stream: Vec<u8> = lines.collect::<String>().into_bytes();
                frames.feed(&stream[..cut.min(stream.len())], &mut out);
                at = frames.at;
                prop_assert_eq!(&out[..], &output[..at as usize]);
                if frames.last == Some(Last::Code(7)) {
                    break;
                }
            }
            prop_assert!(out == output);
        }
    }
}
