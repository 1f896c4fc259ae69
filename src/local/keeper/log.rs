//! What is on record about a box's way out: what was refused, and which way it takes.

use crate::error::Result as Told;
use crate::fs::{IfThere, Mode, write_atomic};
use crate::network::Refusals;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// In a box's folder.
const FILE: &str = "network.json";

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

    pub(crate) fn write(&self, folder: &Path) -> Told<()> {
        let bytes = serde_json::to_vec_pretty(self).unwrap_or_default();
        write_atomic(&folder.join(FILE), &bytes, Mode::Private)
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
