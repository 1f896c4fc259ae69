//! What is remembered of boxes that are gone.

use super::json::{parse, write_json};
use super::meta::Tombstone;
use crate::error::IoContext;
use crate::fs::IfThere;
use crate::local::failure::Result;
use std::path::{Path, PathBuf};

/// How many are remembered.
const MOST: usize = 500;

fn file(boxes: &Path) -> PathBuf {
    boxes.join("destroyed.json")
}

/// Those of this folder of boxes, newest first.
pub(crate) fn read(boxes: &Path) -> Result<Vec<Tombstone>> {
    let path = file(boxes);
    let bytes = std::fs::read(&path).if_there().at("read", &path)?;
    Ok(bytes.map(|bytes| parse(&path, &bytes)).transpose()?.unwrap_or_default())
}

/// Adds one. The caller holds the lock of all boxes.
pub(super) fn add(boxes: &Path, tombstone: &Tombstone) -> Result<()> {
    let mut gone = read(boxes)?;
    gone.retain(|other| other.id != tombstone.id);
    gone.insert(0, tombstone.clone());
    gone.truncate(MOST);
    write_json(&file(boxes), &gone)
}
