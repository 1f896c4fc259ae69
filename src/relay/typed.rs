//! What is typed in the pane, on its way to the program.

use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;

/// What a program does not read is kept up to here; then the pane's terminal keeps it.
const MOST: usize = 1024 * 1024;

/// Typed bytes that the program has not taken yet.
pub(super) struct Keys {
    waiting: VecDeque<u8>,
    gone: bool,
}

impl Keys {
    /// Nothing was typed.
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::new(), gone: false }
    }

    /// Whether more may be taken.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < MOST
    }

    /// Whether something waits for the program.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether the pane's terminal is gone.
    pub(super) fn is_gone(&self) -> bool {
        self.gone
    }

    /// Takes what was typed. Not through the standard reader: what it has buffered, poll does not see.
    pub(super) fn take(&mut self) {
        let mut buffer = [0; 4096];
        match rustix::io::read(rustix::stdio::stdin(), &mut buffer) {
            Ok(count @ 1..) => self.waiting.extend(&buffer[..count]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => self.gone = true,
        }
    }

    /// Gives the program as much as it takes. Its end is seen elsewhere.
    pub(super) fn give(&mut self, mut master: &File) {
        while !self.waiting.is_empty() {
            match master.write(self.waiting.as_slices().0) {
                Ok(count @ 1..) => drop(self.waiting.drain(..count)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => {
                    self.waiting.clear();
                    return;
                }
            }
        }
    }
}
