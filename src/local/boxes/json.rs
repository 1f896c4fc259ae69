//! Records of ours on the disk.

use crate::error::Error;
use crate::fs::{Mode, write_atomic};
use crate::local::failure::Result;
use std::path::Path;

/// Writes a record of ours, atomically, mode 0600.
pub(crate) fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("records of ours have text keys");
    bytes.push(b'\n');
    Ok(write_atomic(path, &bytes, Mode::Private)?)
}

/// Reads a record of ours.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(path: &Path, bytes: &[u8]) -> crate::error::Result<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::failed(format!("{} cannot be read: {error}", path.display())))
}
