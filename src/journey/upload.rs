//! What leaves: packed and measured before a box is paid for, sent, and made a workspace that is ready for an agent.

use crate::config::RemoteRoot;
use crate::error::{Error, IoContext, Result};
use crate::merge::{self, Ledger, Remote};
use crate::worktree::{self, Packed, Person, Progress, Selection};
use crate::{random, ui};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Packed files on their way into a box.
pub(crate) struct Upload {
    pub(crate) packed: Packed,
    archive: File,
    /// Where the archive lands in the box; prepare moves it away from there.
    place: String,
}

impl Upload {
    /// Packs the selection into a file without a name in `folder`, of so many bytes at most, until `stop` is raised.
    /// `help` says what to do about more.
    ///
    /// # Errors
    /// The archive is larger, it was stopped, or the disk fails.
    pub(crate) fn pack(
        selection: &Selection,
        folder: &Path,
        largest: u64,
        stop: Arc<AtomicBool>,
        help: &dyn Fn() -> String,
        progress: Progress<'_>,
    ) -> Result<Self> {
        let file = tempfile::tempfile_in(folder).at("create a file in", folder)?;
        let mut out = Bounded { file, left: largest, full: false, stop };
        let packed = worktree::pack(selection, &mut out, progress);
        if out.full {
            let error = Error::failed(format!("the upload is larger than {}", ui::bytes(largest)));
            return Err(error.help(help()));
        }
        let place = format!("/tmp/createos-sandbox-{}.tgz", random::hex(8));
        Ok(Self { packed: packed?, archive: out.file, place })
    }

    /// The archive from its beginning.
    ///
    /// # Errors
    /// The disk fails.
    pub(crate) fn archive(&mut self) -> Result<&mut File> {
        self.archive.rewind().at("read", Path::new("the archive of the upload"))?;
        Ok(&mut self.archive)
    }

    /// Where the archive lands in the box.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Brings the archive into the box. `progress` gets the bytes that have left, now and then.
    ///
    /// # Errors
    /// The transfer failed.
    pub(crate) fn push(&self, remote: &mut dyn Remote, progress: &mut (dyn FnMut(u64) + Send)) -> Result<()> {
        let step = (self.packed.archive_bytes / 100).max(64 * 1024);
        let mut sent = Sent { file: &self.archive, progress, step, done: 0, told: 0 };
        remote.push(&mut sent, &self.place)
    }

    /// Makes a workspace of it with one baseline commit, by this person where the box has no identity for git, and
    /// begins the record of what comes home. `progress` gets how far that is, in words.
    ///
    /// # Errors
    /// The box lacks a program, its workspace cannot be used, or the record not be written.
    pub(crate) fn prepare(
        &self,
        remote: &mut dyn Remote,
        root: &RemoteRoot,
        ledger: &Ledger,
        person: Option<&Person>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<()> {
        merge::prepare(remote, root, &self.place, &self.packed.base, person, progress)?;
        ledger.begin(&self.packed.base)
    }
}

/// The archive on its way, and how much of it has left.
struct Sent<'a> {
    file: &'a File,
    progress: &'a mut (dyn FnMut(u64) + Send),
    step: u64,
    done: u64,
    told: u64,
}

impl Read for Sent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // By place: the same archive may be on its way to several boxes.
        let count = self.file.read_at(buffer, self.done)?;
        self.done += count as u64;
        if self.done - self.told >= self.step {
            self.told = self.done;
            (self.progress)(self.done);
        }
        Ok(count)
    }
}

/// A file that takes so many bytes: what nobody can send must not fill the disk either.
struct Bounded {
    file: File,
    left: u64,
    full: bool,
    stop: Arc<AtomicBool>,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(io::Error::other("interrupted"));
        }
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            self.full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        };
        let count = self.file.write(bytes)?;
        self.left = left + (bytes.len() - count) as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::Run;
    use crate::worktree::{Rules, Worktree};

    #[test]
    fn an_archive_is_refused_once_it_is_larger_than_the_service_takes() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().join("repo");
        assert!(Run::new("git").args(["init", "-q"]).arg(&top).run().unwrap().success());
        let noise: String = (0..4_000).map(|_| random::hex(16)).collect();
        std::fs::write(top.join("noise.txt"), noise).unwrap();
        let worktree = Worktree::discover(Path::new("git"), &top).unwrap();
        let selection = worktree::select(&worktree, &Rules::default()).unwrap();
        let stopped = Arc::new(AtomicBool::new(false));
        let help = || "leave some out with excludes".to_owned();
        let pack = |largest| {
            Upload::pack(&selection, dir.path(), largest, Arc::clone(&stopped), &help, &mut |_, _| {})
        };

        let mut upload = pack(u64::MAX).unwrap();
        let bytes = upload.packed.archive_bytes;
        assert_eq!(upload.archive().unwrap().metadata().unwrap().len(), bytes);
        assert!(pack(bytes).is_ok(), "the limit itself is taken");
        let error = pack(bytes - 1).err().unwrap();
        assert!(error.message().starts_with("the upload is larger than"), "{error}");
        assert!(error.hints()[0].contains("excludes"), "{error}");
        stopped.store(true, Ordering::Relaxed);
        assert!(pack(u64::MAX).is_err());
    }
}
