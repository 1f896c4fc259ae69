//! The newest output of a process: a bounded ring of bytes, each with its place in the whole stream.

use std::collections::VecDeque;

/// How much output is kept.
pub(crate) const KEPT: usize = 4 * 1024 * 1024;
/// How often the kept output may change between stdout and stderr.
const CHANGES: usize = 64 * 1024;

/// Where output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputStream {
    /// stdout, or a terminal.
    Out,
    Err,
}

/// The newest output. A sequence number is the count of bytes before a place in the stream.
#[derive(Debug, Default)]
pub(crate) struct Ring {
    bytes: VecDeque<u8>,
    oldest: u64,
    /// Where a stretch of one stream begins; the first is at or before `oldest`.
    stretches: VecDeque<(u64, OutputStream)>,
}

impl Ring {
    /// Appends output; gives back what fell out at the other end.
    pub(crate) fn push(&mut self, stream: OutputStream, bytes: &[u8]) -> Vec<u8> {
        if bytes.is_empty() {
            return Vec::new();
        }
        if self.stretches.back().is_none_or(|(_, last)| *last != stream) {
            self.stretches.push_back((self.newest(), stream));
        }
        self.bytes.extend(bytes);
        let mut excess = self.bytes.len().saturating_sub(KEPT);
        if self.stretches.len() > CHANGES {
            let second = self.stretches[1].0;
            excess = excess.max(usize::try_from(second - self.oldest).unwrap_or(usize::MAX));
        }
        let dropped: Vec<u8> = self.bytes.drain(..excess.min(self.bytes.len())).collect();
        self.oldest += dropped.len() as u64;
        while self.stretches.get(1).is_some_and(|(start, _)| *start <= self.oldest) {
            self.stretches.pop_front();
        }
        dropped
    }

    /// The first byte that is still kept.
    pub(crate) fn oldest(&self) -> u64 {
        self.oldest
    }

    /// The place behind the last byte.
    pub(crate) fn newest(&self) -> u64 {
        self.oldest + self.bytes.len() as u64
    }

    /// At most `most` bytes of one stream from `place` on. `None` when there are none yet.
    pub(crate) fn read(&self, place: u64, most: usize) -> Option<(OutputStream, Vec<u8>)> {
        if place < self.oldest || place >= self.newest() {
            return None;
        }
        let after = self.stretches.partition_point(|(start, _)| *start <= place);
        let stream = self.stretches[after - 1].1;
        let end =
            self.stretches.get(after).map_or(self.newest(), |(start, _)| *start).min(place + most as u64);
        let index = |place: u64| usize::try_from(place - self.oldest).unwrap_or(usize::MAX);
        Some((stream, self.bytes.range(index(place)..index(end)).copied().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stay_when_old_output_falls_out() {
        let mut ring = Ring::default();
        assert!(ring.push(OutputStream::Out, b"begin").is_empty());
        let dropped = ring.push(OutputStream::Out, &vec![b'x'; KEPT]);
        assert_eq!(dropped, b"begin");
        assert_eq!((ring.oldest(), ring.newest()), (5, 5 + KEPT as u64));
        assert_eq!(ring.read(4, 10), None);
        assert_eq!(ring.read(5, 3), Some((OutputStream::Out, b"xxx".to_vec())));
        assert_eq!(ring.read(ring.newest(), 3), None);
    }

    #[test]
    fn streams_are_kept_apart_in_their_order() {
        let mut ring = Ring::default();
        ring.push(OutputStream::Out, b"ab");
        ring.push(OutputStream::Err, b"c");
        ring.push(OutputStream::Out, b"d");
        assert_eq!(ring.read(0, 9), Some((OutputStream::Out, b"ab".to_vec())));
        assert_eq!(ring.read(1, 9), Some((OutputStream::Out, b"b".to_vec())));
        assert_eq!(ring.read(2, 9), Some((OutputStream::Err, b"c".to_vec())));
        assert_eq!(ring.read(3, 9), Some((OutputStream::Out, b"d".to_vec())));
    }

    #[test]
    fn changing_streams_for_ever_stays_bounded() {
        let mut ring = Ring::default();
        for turn in 0..3 * CHANGES {
            ring.push(if turn % 2 == 0 { OutputStream::Out } else { OutputStream::Err }, b"x");
        }
        assert!(ring.stretches.len() <= CHANGES);
        assert_eq!(ring.newest(), 3 * CHANGES as u64);
        assert!(ring.read(ring.oldest(), 1).is_some());
    }
}
