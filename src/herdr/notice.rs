//! A short message that goes away by itself: a toast, else the pane's title.

use super::client::Herdr;
use super::pane::{PaneId, short};
use serde_json::Value;
use std::time::Duration;

/// How long a title stays on a pane.
const TITLE: Duration = Duration::from_secs(6);

impl Herdr {
    /// Shows `text` once: as a toast if Herdr shows toasts, else as the title of `pane`.
    /// Best effort: what cannot be shown stands in the plugin's log.
    pub(crate) fn notice(&self, text: &str, pane: Option<&PaneId>) {
        // Off is the default, and the exit code is 0 all the same (contract 8.3).
        let toast = self.call(["notification", "show", &short(text, 80), "--sound", "none"]);
        let shown = toast.is_ok_and(|result| result.get("shown").and_then(Value::as_bool) == Some(true));
        if let (false, Some(pane)) = (shown, pane) {
            let _best_effort = self.show_title(pane, text, TITLE);
        }
    }
}
