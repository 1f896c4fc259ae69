//! What clients ask for, and what is done about it.

use super::Supervisor;
use crate::local::process::ring::KEPT;
use crate::local::process::served::Served;
use crate::local::wire::frames::{FrameKind, frame};
use crate::local::wire::hello::Hello;
use crate::local::wire::spec::Command;
use crate::ui::terminal::Size;
use rustix::event::PollFlags;
use std::time::{Duration, Instant};

/// So much of a painted screen is put into a frame.
const PART: usize = 256 * 1024;

impl Supervisor {
    pub(crate) fn serve(&mut self, at: usize, flags: PollFlags) {
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            for (kind, body) in self.served[at].read() {
                self.answer(at, kind, &body);
            }
        }
        if flags.contains(PollFlags::OUT) {
            self.served[at].write(&self.ring);
        }
    }

    fn answer(&mut self, at: usize, kind: FrameKind, body: &[u8]) {
        match kind {
            FrameKind::Hello => match serde_json::from_slice(body) {
                Ok(Hello::Status) => {
                    let mut record = self.record.clone();
                    record.output = self.output();
                    let status = serde_json::to_vec(&(record, self.foreground())).unwrap_or_default();
                    self.served[at].finish(&frame(FrameKind::Status, &status));
                }
                Ok(Hello::Attach { after, follow, terminal }) => {
                    self.touch();
                    match terminal.filter(|_| self.record.pty) {
                        Some(size) => self.attach_terminal(at, after, follow, size),
                        None => self.attach(at, after, follow),
                    }
                }
                Ok(Hello::LetGo) => self.served.iter_mut().for_each(Served::let_go),
                Ok(Hello::Resize(size)) => {
                    self.resize(size);
                    self.served[at].finish(&[]);
                }
                Ok(Hello::Signal(signal)) => {
                    self.signal(signal);
                    self.served[at].finish(&[]);
                }
                Ok(Hello::Stop { grace }) => self.stop(at, Duration::from_millis(grace)),
                Err(_) => self.served[at].close(),
            },
            FrameKind::Input => {
                self.touch();
                self.input.extend(body);
            }
            FrameKind::Resize => {
                if let Some(size) = size(body)
                    && (self.size != Some(size) || !self.served[at].is_painted())
                {
                    self.resize(size);
                }
            }
            FrameKind::EndOfInput => {
                self.input_ended = true;
                self.close_input();
            }
            _ => self.served[at].close(),
        }
    }

    /// The client stays attached, and so hears of the end.
    fn stop(&mut self, at: usize, grace: Duration) {
        let now = Instant::now();
        let doom = now + grace;
        self.doom = Some(self.doom.map_or(doom, |earlier| earlier.min(doom)));
        if !grace.is_zero() {
            // A shell on a terminal ignores TERM; HUP is how its terminal goes.
            let signals =
                if self.record.pty { vec![libc::SIGTERM, libc::SIGHUP] } else { vec![libc::SIGTERM] };
            for signal in signals {
                let _just_ended = self.entry.send(&Command::Signal(signal));
            }
        }
        let place = self.ring.newest();
        self.served[at].follow(place, true, &self.ring);
    }

    /// A terminal that names no place gets the screen as it is. The first one of all gets every byte: what the
    /// program has asked so far has no answer yet.
    fn attach_terminal(&mut self, at: usize, after: Option<u64>, follow: bool, size: Size) {
        let first = !std::mem::replace(&mut self.shown, true);
        if first || after.is_some() || self.model.is_none() {
            return self.attach(at, after.or(first.then_some(0)), follow);
        }
        if self.size != Some(size) {
            self.resize(size);
        }
        let Some(model) = &self.model else { return };
        for part in model.paint().chunks(PART) {
            self.served[at].say(&frame(FrameKind::Modes, part));
        }
        // A full-screen program paints what the model may not know of, when the size changes for a moment.
        self.served[at].paint(!model.is_alternate());
        self.served[at].follow(self.ring.newest(), follow, &self.ring);
    }

    fn attach(&mut self, at: usize, after: Option<u64>, follow: bool) {
        let newest = self.ring.newest();
        let place = after.unwrap_or(newest).min(newest);
        let start = place.max(self.ring.oldest());
        if self.record.pty {
            // What the terminal's modes were at that place: everything before it, seen again.
            let mut modes = self.dropped.clone();
            let mut seen = self.ring.oldest();
            while seen < start
                && let Some((_, bytes)) = self.ring.read(seen, usize::try_from(start - seen).unwrap_or(KEPT))
            {
                modes.feed(&bytes);
                seen += bytes.len() as u64;
            }
            self.served[at].say(&frame(FrameKind::Modes, &modes.enter()));
        }
        self.served[at].follow(place, follow, &self.ring);
    }
}

/// Rows and columns, two bytes each.
fn size(body: &[u8]) -> Option<Size> {
    let [r0, r1, c0, c1] = *body else { return None };
    let size = Size { rows: u16::from_le_bytes([r0, r1]), cols: u16::from_le_bytes([c0, c1]) };
    (size.rows > 0 && size.cols > 0).then_some(size)
}
