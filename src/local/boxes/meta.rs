//! What is on record about a box, and how the command line shows it.

use super::id::{LocalId, LocalName};
use super::shape::LocalShape;
use crate::local::inside;
use crate::local::wire::spec::{Limits, Network};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::SystemTime;

/// The version of the record. A newer one is not read: before the second, a program would have shared the host's
/// network with a box that has its own.
pub(crate) const VERSION: u32 = 2;

/// A box's record, `meta.json`, mode 0600: `env` may hold secrets.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Meta {
    pub(crate) version: u32,
    pub(crate) id: LocalId,
    pub(crate) name: LocalName,
    pub(crate) shape: LocalShape,
    /// When it was made, RFC 3339.
    pub(crate) created_at: String,
    /// The uid that its processes have on the host when root made it; else the maker's own.
    #[serde(default)]
    pub(crate) uid: Option<u32>,
    /// The network of a record of the first version: an empty one, or what was the host's.
    #[serde(default, skip_serializing)]
    pub(crate) network_none: bool,
    #[serde(default)]
    pub(crate) network: Option<Network>,
    /// Where its own network may connect to, as it was written; any public address when empty.
    #[serde(default)]
    pub(crate) egress: Vec<String>,
    /// Programs in it may make namespaces of their own.
    #[serde(default)]
    pub(crate) nested: bool,
    /// Variables of every program.
    #[serde(default)]
    pub(crate) env: Vec<(String, String)>,
    /// Seconds without activity after which it pauses.
    #[serde(default)]
    pub(crate) auto_pause_after_seconds: Option<u64>,
    /// Running, paused or on its way out.
    pub(crate) status: BoxStatus,
    /// When it was paused last, RFC 3339.
    #[serde(default)]
    pub(crate) paused_at: Option<String>,
    /// When it was resumed last, RFC 3339.
    #[serde(default)]
    pub(crate) last_resumed_at: Option<String>,
}

/// The statuses that a local box can have (a part of docs/measured/createos-cli.md 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BoxStatus {
    /// Programs can be started.
    Running,
    /// Its programs are stopped, none can be started.
    Paused,
    Destroying,
    /// Gone; only its id and name are still known.
    Destroyed,
}

impl BoxStatus {
    /// The word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Destroying => "destroying",
            Self::Destroyed => "destroyed",
        }
    }
}

/// What is left of a deleted box.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Tombstone {
    /// Of the record that the box had; 0 before that was written down.
    #[serde(default)]
    pub(crate) version: u32,
    pub(crate) id: LocalId,
    /// Its name; free again.
    pub(crate) name: LocalName,
    pub(crate) shape: LocalShape,
    /// When it was made, RFC 3339.
    pub(crate) created_at: String,
    pub(crate) destroyed_at: String,
}

impl Meta {
    /// Its network. What shared the host's by default before there was one of a box's own has that now.
    pub(crate) fn network(&self) -> Network {
        self.network.unwrap_or(if self.network_none { Network::None } else { Network::Own })
    }

    /// What of its shape the kernel keeps it to, and what is counted for it: the box, an entry into it, or each process.
    fn limits(&self) -> Value {
        let Limits { processes, shared_mib, .. } = self.shape.limits();
        let counted = match self.network() {
            _ if !inside::counts_by_namespace() => "none",
            Network::Own => "box",
            Network::Host | Network::None => "entry",
        };
        json!({
            "processes": processes,
            "processes_of": counted,
            "memory_of": "process",
            "processors_of": "none",
            "shm_mib": shared_mib,
        })
    }

    /// The sandbox view (docs/measured/createos-cli.md 4.1). Optional keys are left out when there is nothing to say.
    pub(crate) fn view(&self) -> Value {
        let mut view = head(&self.id, &self.name, self.status, &self.shape, &self.created_at);
        view.insert("running_at".into(), json!(self.last_resumed_at.as_ref().unwrap_or(&self.created_at)));
        view.insert("egress".into(), json!(self.egress));
        view.insert("envs".into(), json!(self.env.iter().map(|(name, _)| name).collect::<Vec<_>>()));
        view.insert("ingress_enabled".into(), json!(false));
        view.insert("network".into(), json!(self.network().word()));
        view.insert("nested".into(), json!(self.nested));
        view.insert("limits".into(), self.limits());
        let optional = [("paused_at", &self.paused_at), ("last_resumed_at", &self.last_resumed_at)];
        for (key, value) in optional {
            if let Some(value) = value {
                view.insert(key.into(), json!(value));
            }
        }
        if let Some(seconds) = self.auto_pause_after_seconds {
            view.insert("auto_pause_after_seconds".into(), json!(seconds));
        }
        Value::Object(view)
    }
}

impl Tombstone {
    /// The sandbox view of a box that is gone.
    pub(crate) fn view(&self) -> Value {
        let mut view = head(&self.id, &self.name, BoxStatus::Destroyed, &self.shape, &self.created_at);
        view.insert("destroyed_at".into(), json!(self.destroyed_at));
        Value::Object(view)
    }
}

fn head(
    id: &LocalId,
    name: &LocalName,
    status: BoxStatus,
    shape: &LocalShape,
    created_at: &str,
) -> Map<String, Value> {
    let mut view = Map::new();
    view.insert("id".into(), json!(id));
    view.insert("name".into(), json!(name));
    view.insert("status".into(), json!(status.word()));
    let vcpu = shape.vcpu();
    view.insert("vcpu".into(), if vcpu.fract() == 0.0 { json!(vcpu as u64) } else { json!(vcpu) });
    view.insert("mem_mib".into(), json!(shape.mem_mib()));
    view.insert("created_at".into(), json!(created_at));
    view.insert("shape".into(), json!(shape));
    view.insert("rootfs".into(), json!(ROOTFS));
    view.insert("region".into(), json!("local"));
    view
}

/// The only root file system: this machine's programs and libraries.
pub(crate) const ROOTFS: &str = "host";

/// The time now, RFC 3339 in UTC to the second.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}
