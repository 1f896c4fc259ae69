//! What leaves, packed and measured before a box is paid for.

use crate::command;
use crate::error::{Error, IoContext, Result};
use crate::ui;
use crate::worktree::{self, Packed, Progress, Selection};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;

/// The service takes files up to this size, in bytes (contract `createos-cli.md` 3).
const LARGEST: u64 = 500_000_000;

/// Packs the selection into a file without a name in `folder`, and rewinds it.
///
/// # Errors
/// The archive is larger than the service takes, nothing of the selection may leave, or the disk fails.
pub(crate) fn pack(selection: &Selection, folder: &Path, progress: Progress<'_>) -> Result<(Packed, File)> {
    pack_within(LARGEST, selection, folder, progress)
}

fn pack_within(
    largest: u64,
    selection: &Selection,
    folder: &Path,
    progress: Progress<'_>,
) -> Result<(Packed, File)> {
    let file = tempfile::tempfile_in(folder).at("create a file in", folder)?;
    let mut out = Bounded { file, left: largest, full: false };
    let packed = worktree::pack(selection, &mut out, progress);
    if out.full {
        return Err(Error::failed(format!("the upload is larger than {}", ui::bytes(largest))).help(
            format!(
                "leave large files out with excludes in config.json; see them with: {}",
                command::action("upload").flag("--dry-run")
            ),
        ));
    }
    let (packed, mut file) = (packed?, out.file);
    if packed.base.is_empty() {
        return Err(Error::failed("no file of this worktree may be uploaded")
            .help(format!("see why with: {}", command::action("upload").flag("--dry-run"))));
    }
    file.rewind().at("read", folder)?;
    Ok((packed, file))
}

/// A file that takes so many bytes: what nobody can send must not fill the disk either.
struct Bounded {
    file: File,
    left: u64,
    full: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
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
        let noise: String = (0..4_000).map(|_| crate::random::hex(16)).collect();
        std::fs::write(top.join("noise.txt"), noise).unwrap();
        let worktree = Worktree::discover(Path::new("git"), &top).unwrap();
        let selection = worktree::select(&worktree, &Rules::default()).unwrap();
        let pack = |largest| pack_within(largest, &selection, dir.path(), &mut |_, _| {});

        let (packed, file) = pack(LARGEST).unwrap();
        assert_eq!(file.metadata().unwrap().len(), packed.archive_bytes);
        assert!(pack(packed.archive_bytes).is_ok(), "the limit itself is taken");
        let error = pack(packed.archive_bytes - 1).unwrap_err();
        assert!(error.message().starts_with("the upload is larger than"), "{error}");
        assert!(error.hints()[0].contains("excludes"), "{error}");
    }
}
