//! Reads, judges, hashes, archives and compresses a selection in one pass, on all cores.
//!
//! The list is cut into chunks of consecutive paths. Workers take chunks and make gzip members of
//! them; the caller's thread writes the members in the order of the list. Where a member begins
//! and ends depends on the files alone, so the bytes are the same whatever the number of workers.
//! A series of gzip members is one gzip file (RFC 1952, 2.2).

mod queue;
mod worker;

use super::file::Reader;
use super::select::Selection;
use super::stayed::Stayed;
use super::{Base, tar};
use crate::error::{Error, Result};
use crate::fs::{Digest, digest};
use queue::{Piece, Queue};
use std::io::{self, Write};
use std::num::NonZero;
use worker::{Worker, compressor, gzip};

/// More workers than this wait for the disk or for each other.
const MAX_WORKERS: usize = 8;

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
    let mut list = Vec::new();
    packed.base.write(&mut list).expect("memory takes everything");
    packed.digest = digest(&list);
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
