//! What a supervisor and its clients say to each other, and the form of a kept log:
//! a letter, a length, a body.

use std::io::{self, Read};

/// No body is larger.
pub(crate) const LARGEST: usize = 1024 * 1024;
const HEAD: usize = 5;

/// The letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameKind {
    /// Client: what it wants, a `Hello` as JSON; always first.
    Hello,
    /// Client: bytes for the program.
    Input,
    /// Client: size of its terminal.
    Resize,
    /// Client: the program's stdin has ended.
    EndOfInput,
    /// Supervisor: the process as it is now, JSON.
    Status,
    /// Supervisor: bytes that bring a terminal into the program's modes; no output.
    Modes,
    /// Supervisor: stdout, or a terminal's output.
    Out,
    /// Supervisor: stderr.
    Err,
    /// Supervisor: so many bytes were dropped before they could be sent; also the first frame of a log.
    Lost,
    /// Supervisor: the program's end, JSON.
    End,
}

const LETTERS: [(FrameKind, u8); 10] = [
    (FrameKind::Hello, b'h'),
    (FrameKind::Input, b'i'),
    (FrameKind::Resize, b'r'),
    (FrameKind::EndOfInput, b'z'),
    (FrameKind::Status, b's'),
    (FrameKind::Modes, b'm'),
    (FrameKind::Out, b'o'),
    (FrameKind::Err, b'e'),
    (FrameKind::Lost, b'l'),
    (FrameKind::End, b'x'),
];

impl FrameKind {
    fn letter(self) -> u8 {
        LETTERS.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, letter)| *letter)
    }
}

/// One frame as bytes.
pub(crate) fn frame(kind: FrameKind, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("bodies are at most LARGEST");
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    bytes.push(kind.letter());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Cuts a stream into frames, however it was split.
#[derive(Debug, Default)]
pub(crate) struct FrameReader {
    waiting: Vec<u8>,
    start: usize,
}

impl FrameReader {
    /// Adds what has come.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.waiting.drain(..self.start);
        self.start = 0;
        self.waiting.extend_from_slice(bytes);
    }

    /// The next whole frame.
    ///
    /// # Errors
    /// The other side does not speak this language.
    pub(crate) fn next(&mut self) -> io::Result<Option<(FrameKind, Vec<u8>)>> {
        let rest = &self.waiting[self.start..];
        let Some((head, body)) = rest.split_at_checked(HEAD) else { return Ok(None) };
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let kind = LETTERS.iter().find(|(_, letter)| *letter == head[0]).map(|(kind, _)| *kind);
        let (Some(kind), true) = (kind, length <= LARGEST) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let Some(body) = body.get(..length) else { return Ok(None) };
        let body = body.to_vec();
        self.start += HEAD + length;
        Ok(Some((kind, body)))
    }

    /// Reads until the next whole frame; `None` at the end of the stream.
    pub(crate) fn wait(&mut self, mut from: impl Read) -> io::Result<Option<(FrameKind, Vec<u8>)>> {
        let mut buffer = vec![0; 64 * 1024];
        loop {
            if let Some(frame) = self.next()? {
                return Ok(Some(frame));
            }
            match from.read(&mut buffer) {
                Ok(0) => return Ok(None),
                Ok(count) => self.push(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_survive_every_split() {
        let stream =
            [frame(FrameKind::Out, "ä€".as_bytes()), frame(FrameKind::End, b""), frame(FrameKind::Err, b"x")]
                .concat();
        for cut in 0..stream.len() {
            let mut reader = FrameReader::default();
            let mut seen = Vec::new();
            for part in [&stream[..cut], &stream[cut..]] {
                reader.push(part);
                while let Some(frame) = reader.next().unwrap() {
                    seen.push(frame);
                }
            }
            assert_eq!(seen.len(), 3, "cut at {cut}");
            assert_eq!(seen[0], (FrameKind::Out, "ä€".as_bytes().to_vec()));
        }
    }

    #[test]
    fn nonsense_is_an_error_and_not_a_large_buffer() {
        let mut reader = FrameReader::default();
        reader.push(b"o\xff\xff\xff\xff");
        assert!(reader.next().is_err());
        let mut reader = FrameReader::default();
        reader.push(b"?\0\0\0\0");
        assert!(reader.next().is_err());
    }
}
