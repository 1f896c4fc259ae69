//! Copying one file in or out, inside the box: its links and special files can deceive nobody else.

use rustix::fs::{Mode, OFlags, open};
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The largest chunk of a pushed file.
pub(crate) const LARGEST_CHUNK: usize = 256 * 1024;

/// Writes stdin to `path`, making its folders; the file appears whole or not at all.
pub(super) fn push(path: &OsStr) -> i32 {
    tell(write_whole(Path::new(path)))
}

/// Writes the file at `path` to stdout.
pub(super) fn pull(path: &OsStr) -> i32 {
    tell(read_whole(Path::new(path)))
}

/// The exit code; the reason goes to stderr, which the host reads.
fn tell(result: io::Result<()>) -> i32 {
    match result {
        Ok(()) => 0,
        Err(error) => {
            let _host_gone = write!(io::stderr(), "{error}");
            1
        }
    }
}

fn write_whole(path: &Path) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("that is a folder"))?;
    fs::create_dir_all(folder)?;
    // A link at the end is followed, as a shell's redirection would; the file behind it is replaced.
    let target: PathBuf = match fs::canonicalize(path) {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_path_buf(),
        Err(error) => return Err(error),
    };
    let mode = match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::Error::other("that is a folder")),
        Ok(found) if !found.is_file() => return Err(io::Error::other("that is not an ordinary file")),
        Ok(found) => found.permissions().mode() & 0o777,
        Err(_new) => 0o644,
    };
    let beside = target.parent().ok_or_else(|| io::Error::other("that is a folder"))?;
    let mut staged = tempfile::Builder::new()
        .prefix(".push-")
        .permissions(Permissions::from_mode(0o600))
        .tempfile_in(beside)?;
    unpack(io::stdin().lock(), staged.as_file_mut())?;
    staged.as_file().set_permissions(Permissions::from_mode(mode))?;
    staged.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

fn read_whole(path: &Path) -> io::Result<()> {
    // A FIFO must not make us wait.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty())?);
    let found = file.metadata()?;
    if found.is_dir() {
        return Err(io::Error::other("that is a folder: pack it with tar in the box and pull the archive"));
    }
    if !found.is_file() {
        return Err(io::Error::other("that is not an ordinary file"));
    }
    copy(file, &mut File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// The host sends chunks with a length before each, and a length of 0 at the end: a host that dies
/// on the way must not look like the end of the file.
fn unpack(mut from: impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        let mut length = [0; 4];
        from.read_exact(&mut length)?;
        match u32::from_le_bytes(length) as usize {
            0 => return Ok(()),
            length if length > LARGEST_CHUNK => return Err(io::ErrorKind::InvalidData.into()),
            length => {
                buffer.resize(length, 0);
                from.read_exact(&mut buffer)?;
                to.write_all(&buffer)?;
            }
        }
    }
}

fn copy(mut from: impl Read, to: &mut File) -> io::Result<()> {
    let mut buffer = vec![0; LARGEST_CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => to.write_all(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
