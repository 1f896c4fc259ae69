//! What is new about boxes for who has had some by an earlier version: said once.

use super::store::BoxStore;
use super::tombstones;
use crate::error::IoContext;
use crate::local::failure::Result;
use std::fs::File;
use std::path::Path;

/// In the folder of all boxes, once it has been said.
const TOLD: &str = "told-own-network";

/// That boxes have a network of their own, and what lets them out of it.
pub(super) fn own_network(subject: &str) -> String {
    format!(
        "{subject} a network of its own now: services of this machine and private networks are out of its reach\n  \
         a new box reaches what its rules name, such as --egress '*' --egress localhost:5432\n  \
         --network host gives a new box this machine's network, as it was"
    )
}

/// What is to be said before a box is made, if it has not been said yet.
///
/// # Errors
/// The boxes cannot be read.
pub(crate) fn news(store: &BoxStore) -> Result<Option<String>> {
    if !store.folder().exists() || is_told(store.folder()) {
        return Ok(None);
    }
    let _lock = store.lock()?;
    if is_told(store.folder()) || !had_earlier(store)? {
        return Ok(None);
    }
    let path = store.folder().join(TOLD);
    drop(File::create(&path).at("write", &path)?);
    Ok(Some(own_network("new: a box of this machine has")))
}

fn is_told(boxes: &Path) -> bool {
    boxes.join(TOLD).exists()
}

/// Whether an earlier version has made boxes here, as far as they are remembered.
fn had_earlier(store: &BoxStore) -> Result<bool> {
    let gone = tombstones::read(store.folder())?;
    Ok(gone.iter().any(|gone| gone.version < 2)
        || store.all()?.iter().any(|found| found.meta.network.is_none()))
}
