//! What the provider says about a sandbox.

use super::json;
use super::status::Status;
use super::{BoxId, Failure};
use serde_json::Value;

/// A sandbox as `get` and `list` show it; only what we use.
#[derive(Debug, Clone)]
pub(crate) struct BoxView {
    pub(crate) id: BoxId,
    /// Raw text from outside: it may be empty or hostile.
    pub(crate) name: String,
    pub(crate) status: Status,
    /// Seconds without activity after which it pauses by itself.
    pub(crate) auto_pause_seconds: Option<u64>,
    /// The hosts that it may reach; empty when it may reach all.
    pub(crate) egress: Vec<String>,
}

impl BoxView {
    pub(super) fn parse(verb: &str, value: &Value) -> Result<Self, Failure> {
        let id = json::text(value, "id")
            .ok_or_else(|| Failure::other(verb, "the answer has no id of a box"))?
            .parse()
            .map_err(|error| Failure::other(verb, format!("{error}")))?;
        let text = |key| json::text(value, key).unwrap_or_default().to_owned();
        let rules = value.get("egress").and_then(Value::as_array).into_iter().flatten();
        Ok(Self {
            id,
            name: text("name"),
            status: Status::parse(&text("status")),
            auto_pause_seconds: value.get("auto_pause_after_seconds").and_then(Value::as_u64),
            egress: rules.filter_map(Value::as_str).map(str::to_owned).collect(),
        })
    }
}
