//! Changes as a patch in git's format, which `git apply` takes, text and binary, any name.

mod binary;
mod file;

pub(super) use file::{PatchFile, of_changes, of_theirs};

use crate::worktree::{FileKind, RelPath};
use similar::{Algorithm, DiffOp};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// git looks for a zero byte in this much of a file to tell binary from text.
const BINARY_PROBE: usize = 8000;
/// Larger files are shown as binary: a line diff of them helps nobody and takes memory.
const TEXT_LIMIT: u64 = 8 * 1024 * 1024;
/// After this long a diff settles for a correct answer that is not the shortest.
const DIFF_TIME: Duration = Duration::from_secs(2);
const CONTEXT: usize = 3;

/// A file or link before or after.
#[derive(Debug, Clone)]
pub(super) struct Side {
    /// What it is.
    pub(super) kind: FileKind,
    /// Its contents.
    pub(super) contents: Contents,
}

/// Where contents are.
#[derive(Debug, Clone)]
pub(super) enum Contents {
    /// In memory: a link's target.
    Bytes(Vec<u8>),
    /// In a file.
    File(PathBuf),
}

impl Contents {
    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Bytes(bytes) => Ok(bytes.len() as u64),
            Self::File(path) => Ok(std::fs::metadata(path)?.len()),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Bytes(bytes) => Ok(Box::new(bytes.as_slice())),
            Self::File(path) => Ok(Box::new(File::open(path)?)),
        }
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open()?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn is_text(&self) -> io::Result<bool> {
        if self.size()? > TEXT_LIMIT {
            return Ok(false);
        }
        let mut probe = Vec::new();
        self.open()?.take(BINARY_PROBE as u64).read_to_end(&mut probe)?;
        Ok(!probe.contains(&0))
    }
}

/// Lines that a patch adds and takes away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stat {
    /// Lines added, in text files.
    pub(crate) insertions: u64,
    /// Lines taken away, in text files.
    pub(crate) deletions: u64,
}

/// Writes one path's change. `None` is absence; at least one side is there.
///
/// # Errors
/// Contents cannot be read, or the patch not be written.
pub(super) fn write(
    out: &mut impl Write,
    path: &RelPath,
    before: Option<&Side>,
    after: Option<&Side>,
    stat: &mut Stat,
) -> io::Result<()> {
    if let (Some(old), Some(new)) = (before, after)
        && (old.kind == FileKind::Link) != (new.kind == FileKind::Link)
    {
        // git has no line for a change of type: the one goes, the other comes.
        write(out, path, before, None, stat)?;
        return write(out, path, None, after, stat);
    }
    let (old_name, new_name) = (quoted(b"a/", path), quoted(b"b/", path));
    out.write_all(&[b"diff --git ", &old_name[..], b" ", &new_name, b"\n"].concat())?;
    match (before, after) {
        (Some(old), Some(new)) if old.kind != new.kind => {
            writeln!(out, "old mode {}\nnew mode {}", old.kind.mode(), new.kind.mode())?;
        }
        (None, Some(new)) => writeln!(out, "new file mode {}", new.kind.mode())?,
        (Some(old), None) => writeln!(out, "deleted file mode {}", old.kind.mode())?,
        _ => {}
    }
    let empty = Contents::Bytes(Vec::new());
    let old = before.map_or(&empty, |side| &side.contents);
    let new = after.map_or(&empty, |side| &side.contents);
    let (old_hash, new_hash) = (blob(before)?, blob(after)?);
    if old_hash == new_hash {
        return Ok(());
    }
    write!(out, "index {old_hash}..{new_hash}")?;
    match (before, after) {
        (Some(old), Some(new)) if old.kind == new.kind => writeln!(out, " {}", new.kind.mode())?,
        _ => writeln!(out)?,
    }
    if !(old.is_text()? && new.is_text()?) {
        out.write_all(b"GIT binary patch\n")?;
        binary::literal(out, &mut new.open()?, new.size()?)?;
        return binary::literal(out, &mut old.open()?, old.size()?);
    }
    let (old, new) = (old.read()?, new.read()?);
    if old.is_empty() && new.is_empty() {
        return Ok(());
    }
    let name = |there: bool, name: &[u8]| -> Vec<u8> {
        match (there, name.contains(&b' ') && name[0] != b'"') {
            (false, _) => b"/dev/null".to_vec(),
            // git ends a name with blanks by a tab, so that nothing is taken for a date.
            (true, true) => [name, b"\t"].concat(),
            (true, false) => name.to_vec(),
        }
    };
    out.write_all(&[b"--- ", &name(before.is_some(), &old_name)[..], b"\n"].concat())?;
    out.write_all(&[b"+++ ", &name(after.is_some(), &new_name)[..], b"\n"].concat())?;
    hunks(out, &lines(&old), &lines(&new), stat)
}

/// git's name of the contents: SHA-1 over a header and the bytes; zeros for absence.
fn blob(side: Option<&Side>) -> io::Result<String> {
    use sha1::Digest as _;
    let Some(side) = side else { return Ok("0".repeat(40)) };
    let mut hash = sha1::Sha1::new();
    hash.update(format!("blob {}\0", side.contents.size()?));
    let mut input = side.contents.open()?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match input.read(&mut buffer)? {
            0 => break,
            count => hash.update(&buffer[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn hunks(out: &mut impl Write, old: &[&[u8]], new: &[&[u8]], stat: &mut Stat) -> io::Result<()> {
    let deadline = Instant::now().checked_add(DIFF_TIME);
    let ops = similar::capture_diff_slices_deadline(Algorithm::Myers, old, new, deadline);
    for group in similar::group_diff_ops(ops, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_range = first.old_range().start..last.old_range().end;
        let new_range = first.new_range().start..last.new_range().end;
        writeln!(out, "@@ -{} +{} @@", range(&old_range), range(&new_range))?;
        for op in &group {
            let (taken, added) = (&old[op.old_range()], &new[op.new_range()]);
            if let DiffOp::Equal { .. } = op {
                body(out, b' ', taken)?;
                continue;
            }
            body(out, b'-', taken)?;
            body(out, b'+', added)?;
            stat.deletions += taken.len() as u64;
            stat.insertions += added.len() as u64;
        }
    }
    Ok(())
}

/// `start,count` as a hunk's head has it: counted from one, the line before when there is none.
fn range(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        count => format!("{},{count}", range.start + 1),
    }
}

fn body(out: &mut impl Write, sign: u8, lines: &[&[u8]]) -> io::Result<()> {
    for line in lines {
        out.write_all(&[sign])?;
        out.write_all(line)?;
        if line.last() != Some(&b'\n') {
            out.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// A name as git writes it: in quotes with C escapes where it holds more than plain characters.
fn quoted(prefix: &[u8], path: &RelPath) -> Vec<u8> {
    let name = path.as_bytes();
    let plain = |byte: &u8| (b' '..=b'~').contains(byte) && !matches!(byte, b'"' | b'\\');
    if name.iter().all(plain) {
        return [prefix, name].concat();
    }
    let mut text = [b"\"", prefix].concat();
    for byte in name {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            b'\t' => text.extend(b"\\t"),
            b' '..=b'~' => text.push(*byte),
            _ => text.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    text.push(b'"');
    text
}

#[cfg(test)]
mod tests;
