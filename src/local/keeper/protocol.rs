//! What a keeper and those who come to it say to each other. The words stay the same from version to version: an upgraded
//! program enters boxes whose keeper is the earlier one.

use crate::local::failure;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a keeper is told, on its stdin.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Brief {
    /// The box's folder.
    pub(crate) folder: PathBuf,
    /// Of its processes on the host.
    pub(crate) uid: Option<u32>,
    /// Where the box may connect to.
    pub(crate) egress: Vec<String>,
    /// Variables of the host that name its own way out.
    pub(crate) variables: Vec<(String, String)>,
}

/// What it answers, once.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum KeeperAnswer {
    Keeps,
    /// It does not, and nothing is left of it.
    Failed(failure::Parts),
}

/// What a lease begins with: a descriptor with each of these words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Hand {
    User,
    Net,
}

/// Where it listens, in the box's folder.
pub(crate) const SOCKET: &str = "keeper";
