//! One client of a supervisor: what it has still to get, and how far it has come. Nothing here blocks.

use super::ring::{OutputStream, Ring};
use crate::local::wire::frames::{FrameKind, FrameReader, frame};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// How much output is put into a frame.
const CHUNK: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) struct Served {
    stream: UnixStream,
    reader: FrameReader,
    out: Vec<u8>,
    sent: usize,
    place: Option<u64>,
    /// Where a client ends that does not follow.
    until: Option<u64>,
    moved: Instant,
    last_words: Option<Vec<u8>>,
    painted: bool,
    open: bool,
}

impl Served {
    /// A new one; only this user and root may be one, whatever the folder's mode says.
    pub(crate) fn new(stream: UnixStream) -> Option<Self> {
        let peer = rustix::net::sockopt::socket_peercred(&stream).ok()?.uid;
        if peer != rustix::process::geteuid() && !peer.is_root() {
            return None;
        }
        stream.set_nonblocking(true).ok()?;
        Some(Self {
            stream,
            reader: FrameReader::default(),
            out: Vec::new(),
            sent: 0,
            place: None,
            until: None,
            moved: Instant::now(),
            last_words: None,
            painted: false,
            open: true,
        })
    }

    /// Whole frames that it has sent.
    pub(crate) fn read(&mut self) -> Vec<(FrameKind, Vec<u8>)> {
        let mut buffer = vec![0; 64 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.open = false,
            Ok(count) => self.reader.push(&buffer[..count]),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(_) => self.open = false,
        }
        let mut frames = Vec::new();
        loop {
            match self.reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => return frames,
                Err(_) => {
                    self.open = false;
                    return frames;
                }
            }
        }
    }

    /// Begins to send output from `place` on.
    pub(crate) fn follow(&mut self, place: u64, follow: bool, ring: &Ring) {
        self.place = Some(place);
        self.until = (!follow).then(|| ring.newest());
        self.moved = Instant::now();
        self.overtaken(ring, 1);
    }

    /// Output has been dropped: what this client had not got yet, it is told.
    pub(crate) fn overtaken(&mut self, ring: &Ring, dropped: usize) {
        if let Some(place) = self.place.filter(|place| dropped > 0 && *place < ring.oldest()) {
            let lost = ring.oldest() - place;
            self.say(&frame(FrameKind::Lost, &lost.to_le_bytes()));
            self.place = Some(ring.oldest());
        }
    }

    /// It has been given the screen as it is, which needs no program's help if `whole`.
    pub(crate) fn paint(&mut self, whole: bool) {
        self.painted = whole;
    }

    /// Whether it has the screen as it is.
    pub(crate) fn is_painted(&self) -> bool {
        self.painted
    }

    /// Adds a frame to what it gets next.
    pub(crate) fn say(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// After all output, these words and nothing more.
    pub(crate) fn finish(&mut self, words: &[u8]) {
        self.last_words.get_or_insert_with(|| words.to_vec());
    }

    /// After what it has got already, the stream ends without a word.
    pub(crate) fn let_go(&mut self) {
        if self.place.is_some() {
            self.until = Some(0);
        }
    }

    pub(crate) fn close(&mut self) {
        self.open = false;
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// When it last took something.
    pub(crate) fn moved(&self) -> Instant {
        self.moved
    }

    /// The place that it has come to, if it gets output at all.
    pub(crate) fn place(&self) -> Option<u64> {
        self.place
    }

    /// Whether there is something to send.
    pub(crate) fn has_more(&self, ring: &Ring) -> bool {
        let output = self.place.is_some_and(|place| place < self.end(ring));
        self.open
            && (output || self.sent < self.out.len() || self.last_words.is_some() || self.until.is_some())
    }

    fn end(&self, ring: &Ring) -> u64 {
        self.until.unwrap_or(u64::MAX).min(ring.newest())
    }

    /// Sends as much as it takes.
    pub(crate) fn write(&mut self, ring: &Ring) {
        while self.open {
            if self.sent == self.out.len() {
                self.out.clear();
                self.sent = 0;
                if !self.refill(ring) {
                    return;
                }
            }
            match self.stream.write(&self.out[self.sent..]) {
                Ok(count) => {
                    self.sent += count;
                    self.moved = Instant::now();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.open = false,
            }
        }
    }

    /// Puts the next frame into the buffer; false when there is none.
    fn refill(&mut self, ring: &Ring) -> bool {
        if let Some(place) = self.place
            && place < self.end(ring)
        {
            let room = usize::try_from(self.end(ring) - place).unwrap_or(CHUNK).min(CHUNK);
            if let Some((stream, bytes)) = ring.read(place, room) {
                let kind = if stream == OutputStream::Out { FrameKind::Out } else { FrameKind::Err };
                self.place = Some(place + bytes.len() as u64);
                self.out = frame(kind, &bytes);
                return true;
            }
        }
        if let Some(words) = self.last_words.take() {
            self.out = words;
            self.until = Some(0);
            return true;
        }
        if self.until.is_some() {
            // It has everything that it asked for.
            self.open = false;
        } else {
            // It has all there is, so nothing waits for it.
            self.moved = Instant::now();
        }
        false
    }
}

impl AsFd for Served {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
