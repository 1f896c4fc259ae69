//! Only regular files are ours: reading a FIFO waits for ever, and replacing a device takes it from everybody.

use crate::error::IoContext;
use std::fs::{File, FileType, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

/// What `path` is, behind all links, when it is there and is no regular file; in words.
pub(crate) fn irregular(path: &Path) -> Option<&'static str> {
    std::fs::metadata(path).ok().and_then(|metadata| kind(metadata.file_type()))
}

/// The bytes of a regular file; links are followed.
///
/// # Errors
/// As [`std::fs::read`]; or it is no regular file, and nothing of it was read.
pub(crate) fn read_regular(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A regular file, open for reading; links are followed.
///
/// # Errors
/// As [`File::open`]; or it is no regular file.
pub(crate) fn open_regular(path: &Path) -> Result<File> {
    refuse(std::fs::metadata(path)?.file_type())?;
    // What lies there may be exchanged meanwhile: never wait for a writer, and look again at what was opened.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    let flags = flags.bits().try_into().map_err(|_| Error::from(ErrorKind::Unsupported))?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    refuse(file.metadata()?.file_type())?;
    Ok(file)
}

fn refuse(found: FileType) -> Result<()> {
    match kind(found) {
        None => Ok(()),
        Some(kind) => Err(Error::new(ErrorKind::InvalidInput, format!("it is {kind}, not a regular file"))),
    }
}

fn kind(found: FileType) -> Option<&'static str> {
    match found {
        found if found.is_file() => None,
        found if found.is_dir() => Some("a folder"),
        found if found.is_fifo() => Some("a FIFO"),
        found if found.is_socket() => Some("a socket"),
        _ => Some("a device"),
    }
}

/// Makes "there is none" an answer.
pub(crate) trait IfThere<T> {
    fn if_there(self) -> Result<Option<T>>;
}

impl<T> IfThere<T> for Result<T> {
    fn if_there(self) -> Result<Option<T>> {
        match self {
            Err(source) if source.kind() == ErrorKind::NotFound => Ok(None),
            found => found.map(Some),
        }
    }
}

/// The bytes of a regular file that need not exist; links are followed.
///
/// # Errors
/// It is there, and cannot be read or is no regular file.
pub(crate) fn read_if_there(path: &Path) -> crate::error::Result<Option<Vec<u8>>> {
    read_regular(path).if_there().at("read", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fifo_is_not_waited_for_and_a_link_to_a_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, file, link) = (dir.path().join("fifo"), dir.path().join("file"), dir.path().join("link"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        assert!(read_regular(&fifo).unwrap_err().to_string().contains("a FIFO"));
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        assert_eq!((read_regular(&link).unwrap(), irregular(&link)), (b"x".to_vec(), None));
        assert_eq!(irregular(dir.path()), Some("a folder"));
        assert_eq!(read_regular(&dir.path().join("absent")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
