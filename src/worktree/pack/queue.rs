//! Chunks of the list for the workers, and their pieces for the writer in the list's order.

use crate::error::Error;
use crate::worktree::stayed::Stayed;
use crate::worktree::{Entry, RelPath};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, mpsc};

/// Paths in a chunk: enough that handing over costs nothing, few enough that all cores have work.
const CHUNK: usize = 64;

/// What a worker hands over of its chunk.
pub(super) enum Piece {
    /// The next gzip member.
    Member(Vec<u8>),
    /// The chunk's end.
    End(ChunkEnd),
}

/// Where a worker hands them over.
pub(super) type Pieces = mpsc::SyncSender<Piece>;

/// What a chunk came to.
#[derive(Default)]
pub(super) struct ChunkEnd {
    pub(super) entries: Vec<(RelPath, Entry, u64)>,
    pub(super) stayed: Vec<Stayed>,
    pub(super) paths: u64,
    /// What ends the whole packing.
    pub(super) error: Option<Error>,
}

/// Hands out chunks in order, and their receivers to the writer, no further ahead than it can take.
pub(super) struct Queue<'a> {
    state: Mutex<QueueState<'a>>,
    changed: Condvar,
    ahead: usize,
}

struct QueueState<'a> {
    chunks: std::slice::Chunks<'a, RelPath>,
    ready: VecDeque<mpsc::Receiver<Piece>>,
    stopped: bool,
}

impl<'a> Queue<'a> {
    pub(super) fn new(files: &'a [RelPath], ahead: usize) -> Self {
        let state = QueueState { chunks: files.chunks(CHUNK), ready: VecDeque::new(), stopped: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), ahead }
    }

    /// For a worker: the next chunk, and where its pieces go.
    pub(super) fn take(&self) -> Option<(&'a [RelPath], Pieces)> {
        let state = self.state.lock().expect("no one panics with the queue");
        let mut state = self
            .changed
            .wait_while(state, |state| !state.stopped && state.ready.len() >= self.ahead)
            .expect("no one panics with the queue");
        if state.stopped {
            return None;
        }
        let Some(chunk) = state.chunks.next() else {
            self.changed.notify_all();
            return None;
        };
        let (sender, receiver) = mpsc::sync_channel(2);
        state.ready.push_back(receiver);
        self.changed.notify_all();
        Some((chunk, sender))
    }

    /// For the writer: the next chunk's pieces, in the order of the list.
    pub(super) fn next(&self) -> Option<mpsc::Receiver<Piece>> {
        let state = self.state.lock().expect("no one panics with the queue");
        let mut state = self
            .changed
            .wait_while(state, |state| state.ready.is_empty() && state.chunks.len() > 0)
            .expect("no one panics with the queue");
        let next = state.ready.pop_front();
        self.changed.notify_all();
        next
    }

    /// The writer wants no more.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock().expect("no one panics with the queue");
        state.stopped = true;
        state.ready.clear();
        self.changed.notify_all();
    }
}
