//! A folder for the logs of a call; the last twenty are kept.

use super::StateFolder;
use crate::error::{IoContext, Result};
use crate::fs::make_private;
use std::path::PathBuf;
use std::time::SystemTime;

const FOLDER: &str = "runs";
const KEPT: usize = 20;

/// Makes one, and removes the oldest.
///
/// # Errors
/// It cannot be made.
pub(crate) fn new_run_folder(state: &StateFolder) -> Result<PathBuf> {
    let runs = state.make(FOLDER)?;
    let mut known: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(&runs)
        .at("read", &runs)?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    known.sort();
    let many = known.len().saturating_sub(KEPT - 1);
    for (_, old) in known.into_iter().take(many) {
        // One that another call writes into is not the oldest of twenty.
        let _a_later_call_tries_again = std::fs::remove_dir_all(old);
    }
    let folder = runs.join(crate::random::hex(8));
    make_private(&folder)?;
    Ok(folder)
}
