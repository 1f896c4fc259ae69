//! Entries of the archive: GNU tar headers with normalised owner and time, so that the same tree
//! gives the same bytes. Every tar in a box reads them, busybox's too.

use super::{FileKind, RelPath};
use tar::{EntryType, Header};

/// Size of a tar block in bytes.
const BLOCK: usize = 512;

/// Every entry's time, 2000-01-01: tools that make zip archives refuse what is older than 1980.
const TIME: u64 = 946_684_800;

/// Appends a regular file's header. The contents follow, then [`pad`].
pub(super) fn file_header(out: &mut Vec<u8>, path: &RelPath, kind: FileKind, size: u64) {
    let mode = if kind == FileKind::Executable { 0o755 } else { 0o644 };
    entry(out, EntryType::Regular, path.as_bytes(), b"", mode, size);
}

/// Appends a symbolic link.
pub(super) fn link(out: &mut Vec<u8>, path: &RelPath, target: &[u8]) {
    entry(out, EntryType::Symlink, path.as_bytes(), target, 0o777, 0);
}

/// Fills the last block of a file of this size with zeros.
pub(super) fn pad(out: &mut Vec<u8>, size: u64) {
    let beyond = usize::try_from(size % BLOCK as u64).expect("less than a block");
    if beyond > 0 {
        out.resize(out.len() + BLOCK - beyond, 0);
    }
}

/// The two empty blocks that end an archive.
pub(super) const END: [u8; 2 * BLOCK] = [0; 2 * BLOCK];

fn entry(out: &mut Vec<u8>, what: EntryType, name: &[u8], target: &[u8], mode: u32, size: u64) {
    let mut header = header(what, mode, size);
    let gnu = header.as_gnu_mut().expect("made as a GNU header");
    if name.len() > gnu.name.len() {
        long(out, EntryType::GNULongName, name);
    }
    if target.len() > gnu.linkname.len() {
        long(out, EntryType::GNULongLink, target);
    }
    put(&mut gnu.name, name);
    put(&mut gnu.linkname, target);
    header.set_cksum();
    out.extend_from_slice(header.as_bytes());
}

/// A name that does not fit its field comes before, as an entry of its own.
fn long(out: &mut Vec<u8>, what: EntryType, text: &[u8]) {
    let size = text.len() as u64 + 1;
    let mut header = header(what, 0, size);
    put(&mut header.as_gnu_mut().expect("made as a GNU header").name, b"././@LongLink");
    header.set_cksum();
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(text);
    out.push(0);
    pad(out, size);
}

fn header(what: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(what);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(TIME);
    header.set_size(size);
    header
}

fn put(field: &mut [u8], text: &[u8]) {
    let length = text.len().min(field.len());
    field[..length].copy_from_slice(&text[..length]);
}
