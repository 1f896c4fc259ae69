//! Panes of this plugin: they run our own binary, nothing is typed into a shell (docs/measured/herdr.md 4.7, 13).

use super::client::{Herdr, HerdrError, Result};
use super::pane::{Pane, PaneId};
use crate::paths::PLUGIN_ID;
use serde_json::Value;
use std::ffi::OsString;
use std::path::Path;

/// What becomes of the focus when a pane opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Focus {
    /// It goes to the new pane.
    Moves,
    /// It stays where it is.
    Stays,
}

/// Where a plugin pane opens.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// Right of this pane; the focus goes there only if this says so.
    RightOf(&'a PaneId, Focus),
    /// Below this pane, without the focus.
    Below(&'a PaneId),
    /// A modal window over the session, one at a time.
    Popup,
    /// Over the whole tab.
    Overlay,
}

impl Herdr {
    /// Opens a pane that runs the manifest's entry `entrypoint` in `cwd`. A popup has no pane id.
    ///
    /// # Errors
    /// `ui_busy` and `plugin_pane_open_failed` are ordinary for popups; see [`HerdrError`].
    pub(crate) fn open_plugin_pane(
        &self,
        entrypoint: &str,
        place: Place<'_>,
        cwd: Option<&Path>,
        env: &[(&str, &str)],
    ) -> Result<Option<Pane>> {
        let mut args: Vec<OsString> =
            ["plugin", "pane", "open", "--plugin", PLUGIN_ID, "--entrypoint", entrypoint]
                .map(OsString::from)
                .into();
        let words: &[&str] = match place {
            Place::RightOf(pane, focus) => {
                let focus = if focus == Focus::Moves { "--focus" } else { "--no-focus" };
                &["--placement", "split", "--direction", "right", "--target-pane", pane.as_str(), focus]
            }
            Place::Below(pane) => {
                &["--placement", "split", "--direction", "down", "--target-pane", pane.as_str(), "--no-focus"]
            }
            Place::Popup => &["--placement", "popup"],
            Place::Overlay => &["--placement", "overlay"],
        };
        args.extend(words.iter().map(OsString::from));
        if let Some(cwd) = cwd {
            args.extend(["--cwd".into(), cwd.into()]);
        }
        for (name, value) in env {
            args.extend(["--env".into(), format!("{name}={value}").into()]);
        }
        let result = self.call(args)?;
        match result.get("plugin_pane").and_then(|opened| opened.get("pane")) {
            Some(pane) => Pane::parse(pane)
                .map(Some)
                .ok_or_else(|| HerdrError::Failed("the new pane has no ids".into())),
            None if result.get("type").and_then(Value::as_str) == Some("ok") => Ok(None),
            None => Err(HerdrError::Failed("the answer names no pane".into())),
        }
    }

    /// Gives a pane of this plugin the focus.
    ///
    /// # Errors
    /// It is no plugin pane any more, as after a restart; see [`HerdrError`].
    pub(crate) fn focus_plugin_pane(&self, pane: &PaneId) -> Result<()> {
        self.call(["plugin", "pane", "focus", pane.as_str()]).map(|_| ())
    }

    /// Gives a pane this share more of the height that it has with the pane below it.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn grow_down(&self, pane: &PaneId, share: f64) -> Result<()> {
        let share = share.to_string();
        let words = ["pane", "resize", "--direction", "down", "--amount", &share, "--pane", pane.as_str()];
        self.call(words).map(|_| ())
    }
}
