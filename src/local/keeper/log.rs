//! What is on record about a box's way out: what was refused, and which way it takes.

use crate::error::{IoContext, Result as Told};
use crate::fs::IfThere;
use crate::network::Refusals;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// In a box's folder.
const FILE: &str = "network.json";
/// Beside it, while it is written.
const STAGED: &str = "network.json.new";

/// The record.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct NetworkLog {
    /// The host's own proxy, through which everything goes.
    #[serde(default)]
    pub(crate) via: Option<String>,
    /// Every program finds the way out, not only those that ask a proxy.
    #[serde(default)]
    pub(crate) transparent: bool,
    #[serde(default)]
    pub(crate) refusals: Refusals,
}

impl NetworkLog {
    /// As it is now; empty for a box that has not been entered, and where it cannot be read: it protects nothing.
    pub(crate) fn read(folder: &Path) -> Self {
        let bytes = std::fs::read(folder.join(FILE)).if_there().ok().flatten();
        bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Whole or not at all, but not proof against a failure of power: it protects nothing.
    pub(crate) fn write(&self, folder: &Path) -> Told<()> {
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        let (path, staged) = (folder.join(FILE), folder.join(STAGED));
        // One keeper writes at a time; what a killed one left is in the way.
        let _not_there = std::fs::remove_file(&staged);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&staged);
        file.at("create", &staged)?.write_all(&bytes).at("write", &staged)?;
        std::fs::rename(&staged, &path).at("replace", &path)
    }

    /// As a part of the box's view.
    pub(crate) fn view(&self) -> Value {
        let targets = self.refusals.targets.iter();
        let refused = targets.map(|refused| {
            json!({
                "target": refused.target,
                "count": refused.count,
                "reason": refused.reason,
                "egress": refused.remedy,
            })
        });
        let mut view = json!({ "refused": refused.collect::<Vec<_>>() });
        if let Some(via) = &self.via {
            view["via"] = json!(via);
        }
        view
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_record_takes_the_place_of_the_last_one_and_of_what_a_killed_keeper_left() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(STAGED), "half of").unwrap();
        for transparent in [true, false] {
            let log = NetworkLog { transparent, via: Some("proxy.example:1".into()), ..Default::default() };
            log.write(dir.path()).unwrap();
            let read = NetworkLog::read(dir.path());
            assert_eq!((read.transparent, read.via), (transparent, log.via));
        }
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!dir.path().join(STAGED).exists());
    }
}
