//! What need not be there.

use super::read_regular;
use crate::error::{IoContext, Result};
use std::io::ErrorKind;
use std::path::Path;

/// Makes "there is none" an answer.
pub(crate) trait IfThere<T> {
    fn if_there(self) -> std::io::Result<Option<T>>;
}

impl<T> IfThere<T> for std::io::Result<T> {
    fn if_there(self) -> std::io::Result<Option<T>> {
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
pub(crate) fn read_if_there(path: &Path) -> Result<Option<Vec<u8>>> {
    read_regular(path).if_there().at("read", path)
}
