//! Reads, judges, hashes, archives and compresses a selection in one pass, on all cores.
//!
//! The list is cut into chunks of consecutive paths. Workers take chunks and make gzip members of
//! them; the caller's thread writes the members in the order of the list. Where a member begins
//! and ends depends on the files alone, so the bytes are the same whatever the number of workers.
//! A series of gzip members is one gzip file (RFC 1952, 2.2).

use super::file::{Found, Reader, SMALL, Signature, changed, disturb};
use super::secret::{self, Hit};
use super::select::Selection;
use super::stayed::{Reason, Stayed};
use super::{Base, Entry, Kind, RelPath, tar};
use crate::error::{Error, Result};
use crate::fs::{Digest, digest};
use libdeflater::{CompressionLvl, Compressor};
use sha2::Digest as _;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::num::NonZero;
use std::sync::{Condvar, Mutex, mpsc};

/// Paths in a chunk: enough that handing over costs nothing, few enough that all cores have work.
const CHUNK: usize = 64;
/// Archive bytes in a gzip member: more compresses no better, less costs memory for nothing.
const MEMBER: usize = 512 * 1024;
/// The least effort; the link to a box is seldom slower than this compresses.
const LEVEL: i32 = 1;
/// More workers than this wait for the disk or for each other.
const MAX_WORKERS: usize = 8;
/// A large file's members wait in memory up to this size, beyond it in a temporary file.
const SPOOL: usize = 1024 * 1024;

/// What was packed.
#[derive(Debug)]
pub(crate) struct Packed {
    /// Mode, hash and path of everything that is in the archive.
    pub(crate) base: Base,
    /// How many files and links are in the archive.
    pub(crate) files: u64,
    /// The sum of their sizes in bytes, before packing.
    pub(crate) bytes: u64,
    /// The size of the archive in bytes; 0 when it was only judged.
    pub(crate) archive_bytes: u64,
    /// Everything that stays home: for its name, its kind or its contents; in the order of the paths.
    pub(crate) stayed: Vec<Stayed>,
    /// The size of each file in the archive, in the order of the base.
    pub(crate) sizes: Vec<u64>,
    /// SHA-256 of the written base list: the same list, the same digest.
    pub(crate) digest: Digest,
}

/// Called now and then with the number of paths done and the bytes that they held.
pub(crate) type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// Packs the selection as a gzip tar into `out`, on all cores.
///
/// # Errors
/// `out` fails, or the worktree cannot be entered. A file that cannot be read is no error: it is
/// left out and named in [`Packed::stayed`].
pub(crate) fn pack(
    selection: &Selection,
    out: &mut (dyn Write + Send),
    progress: Progress<'_>,
) -> Result<Packed> {
    run(selection, Some(out), workers(), progress)
}

/// Reads and judges everything as [`pack`] does, and writes nothing.
///
/// # Errors
/// The worktree cannot be entered.
pub(crate) fn judge(selection: &Selection, progress: Progress<'_>) -> Result<Packed> {
    run(selection, None, workers(), progress)
}

fn workers() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_WORKERS)
}

/// What a worker hands over of its chunk.
enum Piece {
    /// The next gzip member.
    Member(Vec<u8>),
    /// The chunk's end.
    End(ChunkEnd),
}

#[derive(Default)]
struct ChunkEnd {
    entries: Vec<(RelPath, Entry, u64)>,
    stayed: Vec<Stayed>,
    paths: u64,
    error: Option<Error>,
}

/// Hands out chunks in order, and their receivers to the writer, no further ahead than it can take.
struct Queue<'a> {
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
    fn new(files: &'a [RelPath], ahead: usize) -> Self {
        let state = QueueState { chunks: files.chunks(CHUNK), ready: VecDeque::new(), stopped: false };
        Self { state: Mutex::new(state), changed: Condvar::new(), ahead }
    }

    /// For a worker: the next chunk, and where its pieces go.
    fn take(&self) -> Option<(&'a [RelPath], mpsc::SyncSender<Piece>)> {
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
    fn next(&self) -> Option<mpsc::Receiver<Piece>> {
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
    fn stop(&self) {
        let mut state = self.state.lock().expect("no one panics with the queue");
        state.stopped = true;
        state.ready.clear();
        self.changed.notify_all();
    }
}

fn run(
    selection: &Selection,
    mut out: Option<&mut (dyn Write + Send)>,
    workers: usize,
    progress: Progress<'_>,
) -> Result<Packed> {
    let archive = out.is_some();
    let queue = Queue::new(&selection.files, workers * 2);
    let mut packed = Packed {
        base: Base::default(),
        files: 0,
        bytes: 0,
        archive_bytes: 0,
        stayed: selection.stayed.clone(),
        sizes: Vec::with_capacity(selection.files.len()),
        digest: digest(b""),
    };
    let readers = (0..workers).map(|_| Reader::new(selection)).collect::<Result<Vec<_>>>()?;
    std::thread::scope(|scope| {
        for reader in readers {
            let queue = &queue;
            scope.spawn(move || Worker::new(selection, reader, archive).work(queue));
        }
        let done = collect(&queue, &mut packed, &mut out, progress);
        queue.stop();
        done
    })?;
    if let Some(out) = &mut out {
        let end = gzip(&mut compressor(), &tar::END);
        write(&mut **out, &end, &mut packed.archive_bytes)?;
        out.flush().map_err(|source| not_written(&source))?;
    }
    packed.stayed.sort_by(|one, other| one.path.cmp(&other.path));
    let mut list = HashWriter(sha2::Sha256::new());
    packed.base.write(&mut list).expect("a hash takes everything");
    packed.digest = Digest::from(<[u8; 32]>::from(list.0.finalize()));
    Ok(packed)
}

/// The writer's side: members in order, entries into the base.
fn collect(
    queue: &Queue<'_>,
    packed: &mut Packed,
    out: &mut Option<&mut (dyn Write + Send)>,
    progress: Progress<'_>,
) -> Result<()> {
    let mut paths = 0;
    while let Some(pieces) = queue.next() {
        for piece in pieces {
            match (piece, &mut *out) {
                (Piece::Member(member), Some(out)) => write(&mut **out, &member, &mut packed.archive_bytes)?,
                (Piece::Member(_), None) => {}
                (Piece::End(end), _) => {
                    if let Some(error) = end.error {
                        return Err(error);
                    }
                    for (path, entry, size) in end.entries {
                        packed.files += 1;
                        packed.bytes += size;
                        packed.sizes.push(size);
                        packed.base.insert(path, entry);
                    }
                    packed.stayed.extend(end.stayed);
                    paths += end.paths;
                    progress(paths, packed.bytes);
                }
            }
        }
    }
    Ok(())
}

fn write(out: &mut dyn Write, bytes: &[u8], count: &mut u64) -> Result<()> {
    out.write_all(bytes).map_err(|source| not_written(&source))?;
    *count += bytes.len() as u64;
    Ok(())
}

fn not_written(source: &io::Error) -> Error {
    Error::failed(format!("could not write the archive: {source}"))
}

struct HashWriter(sha2::Sha256);

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writer has stopped listening: nothing more is wanted.
struct Unwanted;

struct Worker<'a> {
    selection: &'a Selection,
    reader: Reader<'a>,
    compressor: Option<Compressor>,
    /// Archive bytes that are not yet compressed.
    pending: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn new(selection: &'a Selection, reader: Reader<'a>, archive: bool) -> Self {
        Self { selection, reader, compressor: archive.then(compressor), pending: Vec::new() }
    }

    fn work(mut self, queue: &Queue<'_>) {
        while let Some((chunk, sender)) = queue.take() {
            let mut end = ChunkEnd { paths: chunk.len() as u64, ..ChunkEnd::default() };
            let done = chunk
                .iter()
                .try_for_each(|path| self.add(path, &mut end, &sender))
                .and_then(|()| self.flush(&sender, 0));
            if done.is_err() || sender.send(Piece::End(end)).is_err() {
                return;
            }
        }
    }

    fn add(
        &mut self,
        path: &RelPath,
        end: &mut ChunkEnd,
        sender: &mpsc::SyncSender<Piece>,
    ) -> Result<(), Unwanted> {
        match self.reader.read(path) {
            Found::Stays(stayed) => end.stayed.push(stayed),
            Found::Link(target) => {
                end.entries.push((path.clone(), Entry { kind: Kind::Link, hash: digest(&target) }, 0));
                if self.compressor.is_some() {
                    tar::link(&mut self.pending, path, &target);
                }
            }
            Found::Small(kind) => {
                let contents = &self.reader.contents;
                let size = contents.len() as u64;
                if let Some(hit) = self.secret(path, |path| secret::find(path, contents)) {
                    end.stayed.push(hit);
                    return Ok(());
                }
                end.entries.push((path.clone(), Entry { kind, hash: digest(contents) }, size));
                if self.compressor.is_some() {
                    tar::file_header(&mut self.pending, path, kind, size);
                    self.pending.extend_from_slice(contents);
                    tar::pad(&mut self.pending, size);
                }
            }
            Found::Large(kind, file, before) => {
                self.flush(sender, 0)?;
                return self.add_large(path, kind, file, before, end, sender);
            }
        }
        self.flush(sender, MEMBER)
    }

    /// Compresses what is pending when it has reached `least` bytes.
    fn flush(&mut self, sender: &mpsc::SyncSender<Piece>, least: usize) -> Result<(), Unwanted> {
        let Some(compressor) = &mut self.compressor else { return Ok(()) };
        if self.pending.is_empty() || self.pending.len() < least {
            return Ok(());
        }
        for part in self.pending.chunks(MEMBER) {
            sender.send(Piece::Member(gzip(compressor, part))).map_err(|_| Unwanted)?;
        }
        self.pending.clear();
        Ok(())
    }

    fn secret(&self, path: &RelPath, find: impl FnOnce(&RelPath) -> Option<Hit>) -> Option<Stayed> {
        if self.selection.allowed.contains(path) {
            return None;
        }
        find(path).map(|hit| stayed_for(path, hit))
    }

    /// A large file is judged to its end before any of it is handed over: its members wait.
    fn add_large(
        &mut self,
        path: &RelPath,
        kind: Kind,
        file: File,
        before: Signature,
        end: &mut ChunkEnd,
        sender: &mpsc::SyncSender<Piece>,
    ) -> Result<(), Unwanted> {
        let (mut kind, mut file, mut before) = (kind, file, before);
        for attempt in 0..2 {
            match self.stream(path, kind, file, before, attempt) {
                Ok(Streamed::Whole(hash, spool)) => {
                    end.entries.push((path.clone(), Entry { kind, hash }, before.size));
                    return replay(spool, sender).unwrap_or_else(|source| {
                        end.error = Some(no_room(&source));
                        Ok(())
                    });
                }
                Ok(Streamed::NoRoom(source)) => {
                    end.error = Some(no_room(&source));
                    return Ok(());
                }
                Ok(Streamed::Secret(stayed)) => {
                    end.stayed.push(stayed);
                    return Ok(());
                }
                Ok(Streamed::Changed) => {}
                Err(error) => {
                    end.stayed.push(self.reader.missing(path, &error));
                    return Ok(());
                }
            }
            match self.reader.read(path) {
                Found::Large(now, again, signature) => (kind, file, before) = (now, again, signature),
                Found::Stays(stayed) => {
                    end.stayed.push(stayed);
                    return Ok(());
                }
                // It became small or a link meanwhile: it is still changing.
                Found::Small(_) | Found::Link(_) => break,
            }
        }
        end.stayed.push(changed(path));
        Ok(())
    }

    fn stream(
        &mut self,
        path: &RelPath,
        kind: Kind,
        mut file: File,
        before: Signature,
        attempt: u8,
    ) -> io::Result<Streamed> {
        let mut spool = tempfile::SpooledTempFile::new(SPOOL);
        let mut scan = (!self.selection.allowed.contains(path)).then(secret::Stream::new);
        let mut hash = sha2::Sha256::new();
        let mut left = before.size;
        self.pending.clear();
        tar::file_header(&mut self.pending, path, kind, before.size);
        while left > 0 {
            let start = self.pending.len();
            let wanted = left.min((MEMBER - start) as u64);
            let count = (&mut file).take(wanted).read_to_end(&mut self.pending)? as u64;
            if count < wanted {
                self.pending.clear();
                return Ok(Streamed::Changed);
            }
            left -= count;
            let piece = &self.pending[start..];
            hash.update(piece);
            if let Some(hit) = scan.as_mut().and_then(|scan| scan.feed(piece, left == 0)) {
                self.pending.clear();
                return Ok(Streamed::Secret(stayed_for(path, hit)));
            }
            if left == 0 {
                tar::pad(&mut self.pending, before.size);
            }
            if let Some(compressor) = &mut self.compressor {
                let member = gzip(compressor, &self.pending);
                let length = u32::try_from(member.len()).expect("a member is small").to_le_bytes();
                if let Err(source) = spool.write_all(&length).and_then(|()| spool.write_all(&member)) {
                    self.pending.clear();
                    return Ok(Streamed::NoRoom(source));
                }
            }
            self.pending.clear();
        }
        disturb(self.selection, path, attempt);
        if Signature::of(&file)? != before {
            return Ok(Streamed::Changed);
        }
        Ok(Streamed::Whole(Digest::from(<[u8; 32]>::from(hash.finalize())), spool))
    }
}

enum Streamed {
    Whole(Digest, tempfile::SpooledTempFile),
    Secret(Stayed),
    Changed,
    /// The members could not be kept aside.
    NoRoom(io::Error),
}

/// Hands over the members that were kept aside.
fn replay(
    mut spool: tempfile::SpooledTempFile,
    sender: &mpsc::SyncSender<Piece>,
) -> io::Result<Result<(), Unwanted>> {
    spool.rewind()?;
    let mut length = [0; 4];
    loop {
        match spool.read_exact(&mut length) {
            Ok(()) => {}
            Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => return Ok(Ok(())),
            Err(source) => return Err(source),
        }
        let mut member = vec![0; u32::from_le_bytes(length) as usize];
        spool.read_exact(&mut member)?;
        if sender.send(Piece::Member(member)).is_err() {
            return Ok(Err(Unwanted));
        }
    }
}

fn no_room(source: &io::Error) -> Error {
    Error::io("keep a large file's archive aside in", &std::env::temp_dir(), source)
        .help("make room there, or set TMPDIR to a folder that has some")
}

fn stayed_for(path: &RelPath, hit: Hit) -> Stayed {
    let mut stayed = Stayed::new(path.as_path(), Reason::Secret, hit.rule);
    stayed.line = Some(hit.line);
    stayed.kind = Some(hit.kind);
    stayed
}

fn compressor() -> Compressor {
    Compressor::new(CompressionLvl::new(LEVEL).expect("a level that exists"))
}

/// One gzip member. Without a time stamp, so that it depends on its contents alone.
fn gzip(compressor: &mut Compressor, bytes: &[u8]) -> Vec<u8> {
    let mut member = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut member).expect("the bound is enough");
    member.truncate(length);
    member.shrink_to_fit();
    member
}

const _: () = assert!(SMALL > MEMBER as u64, "a large file's header and first piece fit one member");
