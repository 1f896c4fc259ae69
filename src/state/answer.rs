//! What the user said to a worktree's `.worktreeinclude`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// One answer. It is for exactly one content in one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IncludeAnswer {
    /// The worktree's top folder.
    pub(crate) worktree: PathBuf,
    /// The hash of the worktree and the content.
    pub(crate) hash: String,
    /// What it names may leave.
    pub(crate) yes: bool,
}
