//! A worker: reads, judges and hashes the paths of its chunks, and makes gzip members of them.

use super::queue::{ChunkEnd, Piece, Pieces, Queue};
use crate::error::Error;
use crate::fs::{Digest, digest};
use crate::worktree::file::{Found, Reader, SMALL, Signature, changed, disturb};
use crate::worktree::secret::{self, Hit};
use crate::worktree::select::Selection;
use crate::worktree::stayed::{Reason, Stayed};
use crate::worktree::{Entry, FileKind, RelPath, tar};
use libdeflater::{CompressionLvl, Compressor};
use sha2::Digest as _;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;

/// Archive bytes in a gzip member: more compresses no better, less costs memory for nothing.
const MEMBER: usize = 512 * 1024;
/// The least effort; the link to a box is seldom slower than this compresses.
const LEVEL: i32 = 1;
/// A large file's members wait in memory up to this size, beyond it in a temporary file.
const SPOOL: usize = 1024 * 1024;
/// By so much of a large file its format is known, in bytes.
const BEGINNING: usize = 16;

/// The writer has stopped listening: nothing more is wanted.
struct Unwanted;

/// Takes chunks until there are none.
pub(super) struct Worker<'a> {
    selection: &'a Selection,
    reader: Reader<'a>,
    compressor: Option<Compressor>,
    /// Archive bytes that are not yet compressed.
    pending: Vec<u8>,
}

impl<'a> Worker<'a> {
    /// A worker with a reader of its own; without `archive` it only judges.
    pub(super) fn new(selection: &'a Selection, reader: Reader<'a>, archive: bool) -> Self {
        Self { selection, reader, compressor: archive.then(compressor), pending: Vec::new() }
    }

    /// Works until the queue is empty or the writer has stopped.
    pub(super) fn work(mut self, queue: &Queue<'_>) {
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

    fn add(&mut self, path: &RelPath, end: &mut ChunkEnd, sender: &Pieces) -> Result<(), Unwanted> {
        match self.reader.read(path) {
            Found::Stays(stayed) => end.stayed.push(stayed),
            Found::Link(target) => {
                end.entries.push((path.clone(), Entry { kind: FileKind::Link, hash: digest(&target) }, 0));
                if self.compressor.is_some() {
                    tar::link(&mut self.pending, path, &target);
                }
            }
            Found::Small(kind) => {
                let contents = &self.reader.contents;
                let size = contents.len() as u64;
                if let Some(stays) = self.denied(path, contents).or_else(|| self.secret(path, contents)) {
                    end.stayed.push(stays);
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
                let mut beginning = [0; BEGINNING];
                // One that cannot be read is zeros here, which is nothing harmless.
                let _read = file.read_at(&mut beginning, 0);
                if let Some(denied) = self.denied(path, &beginning) {
                    end.stayed.push(denied);
                    return Ok(());
                }
                self.flush(sender, 0)?;
                return self.add_large(path, kind, file, before, end, sender);
            }
        }
        self.flush(sender, MEMBER)
    }

    /// Compresses what is pending when it has reached `least` bytes.
    fn flush(&mut self, sender: &Pieces, least: usize) -> Result<(), Unwanted> {
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

    /// A file whose name is denied, and whose contents are nothing else than the name says.
    fn denied(&self, path: &RelPath, contents: &[u8]) -> Option<Stayed> {
        let denied = self.selection.depends.get(path)?;
        let harmless = denied.unless.iter().any(|harmless| harmless.is(contents));
        (!harmless).then(|| Stayed::new(path.as_path(), Reason::Denied, denied.pattern.clone()))
    }

    fn secret(&self, path: &RelPath, contents: &[u8]) -> Option<Stayed> {
        let judged = !self.selection.allowed.contains(path);
        judged.then(|| secret::find(path, contents)).flatten().map(|hit| stayed_for(path, hit))
    }

    /// A large file is judged to its end before any of it is handed over: its members wait.
    fn add_large(
        &mut self,
        path: &RelPath,
        mut kind: FileKind,
        mut file: File,
        mut before: Signature,
        end: &mut ChunkEnd,
        sender: &Pieces,
    ) -> Result<(), Unwanted> {
        for attempt in 0..2 {
            let found = match self.stream(path, kind, file, before, attempt) {
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
                Ok(Streamed::Secret(stayed)) => Found::Stays(stayed),
                Ok(Streamed::Changed) => self.reader.read(path),
                Err(error) => Found::Stays(self.reader.missing(path, &error)),
            };
            match found {
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
        kind: FileKind,
        mut file: File,
        before: Signature,
        attempt: u8,
    ) -> io::Result<Streamed> {
        let mut spool = tempfile::SpooledTempFile::new(SPOOL);
        let mut scan = (!self.selection.allowed.contains(path)).then(secret::Stream::default);
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

/// A compressor of that effort.
pub(super) fn compressor() -> Compressor {
    Compressor::new(CompressionLvl::new(LEVEL).expect("a level that exists"))
}

/// One gzip member. Without a time stamp, so that it depends on its contents alone.
pub(super) fn gzip(compressor: &mut Compressor, bytes: &[u8]) -> Vec<u8> {
    let mut member = vec![0; compressor.gzip_compress_bound(bytes.len())];
    let length = compressor.gzip_compress(bytes, &mut member).expect("the bound is enough");
    member.truncate(length);
    member.shrink_to_fit();
    member
}

enum Streamed {
    Whole(Digest, tempfile::SpooledTempFile),
    Secret(Stayed),
    Changed,
    /// The members could not be kept aside.
    NoRoom(io::Error),
}

/// Hands over the members that were kept aside.
fn replay(mut spool: tempfile::SpooledTempFile, sender: &Pieces) -> io::Result<Result<(), Unwanted>> {
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
    let stayed = Stayed::new(path.as_path(), Reason::Secret, hit.rule);
    Stayed { line: Some(hit.line), kind: Some(hit.kind), ..stayed }
}

const _: () = assert!(SMALL > MEMBER as u64, "a large file's header and first piece fit one member");
