//! Panes: their ids, what Herdr says about them, and what may be done to them.

use super::client::{Herdr, HerdrError};
use crate::text_type::text_type;
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

text_type! {
    /// A pane's id. Opaque; comes back to other owners after a restart (docs/measured/herdr.md 9).
    pub(crate) PaneId: opaque => NotAHerdrId
}

text_type! {
    /// The id of a tab, which holds panes.
    pub(crate) TabId: opaque => NotAHerdrId
}

text_type! {
    /// A terminal's id: stays over moves, is new after a restart (docs/measured/herdr.md 9, 13).
    pub(crate) TerminalId: opaque => NotAHerdrId
}

/// The text is not an id of Herdr's.
#[derive(Debug, thiserror::Error)]
#[error("\"{0}\" is not an id of Herdr's")]
pub(crate) struct NotAHerdrId(String);

/// One argv word that is never taken for an option; everything else is Herdr's affair.
fn opaque(text: &str) -> Result<&str, NotAHerdrId> {
    let good = (1..=80).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":_-.".contains(&byte));
    if good { Ok(text) } else { Err(NotAHerdrId(text.chars().take(80).collect())) }
}

/// A pane as Herdr shows it; only what we use.
#[derive(Debug, Clone)]
pub(crate) struct Pane {
    pub(crate) id: PaneId,
    /// The tab that it is in.
    pub(crate) tab: Option<TabId>,
    pub(crate) terminal: TerminalId,
    pub(crate) cwd: Option<PathBuf>,
    /// The title of a plugin's pane, or the name that a person gave it.
    pub(crate) label: Option<String>,
}

impl Pane {
    pub(super) fn parse(value: &Value) -> Option<Self> {
        let text = |key| value.get(key).and_then(Value::as_str);
        Some(Self {
            id: text("pane_id")?.parse().ok()?,
            tab: text("tab_id").and_then(|id| id.parse().ok()),
            terminal: text("terminal_id")?.parse().ok()?,
            cwd: text("cwd").map(PathBuf::from),
            label: text("label").map(str::to_owned),
        })
    }
}

/// What runs in the foreground of a pane.
#[derive(Debug, Clone)]
pub(crate) struct Foreground {
    /// The pane's own process.
    pub(crate) shell_pid: i64,
    /// The foreground processes: id and the kernel's name.
    pub(crate) processes: Vec<(i64, String)>,
}

impl Foreground {
    /// Only the pane's own shell is there. What is half typed in it cannot be seen (docs/measured/herdr.md 13).
    pub(crate) fn is_idle_shell(&self) -> bool {
        const SHELLS: [&str; 10] =
            ["sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "nu", "tcsh", "elvish"];
        match self.processes.as_slice() {
            [(pid, name)] => *pid == self.shell_pid && SHELLS.contains(&name.trim_start_matches('-')),
            _ => false,
        }
    }
}

impl Herdr {
    /// Every pane of the session.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn panes(&self) -> Result<Vec<Pane>, HerdrError> {
        let result = self.call(["pane", "list"])?;
        let rows = result.get("panes").and_then(Value::as_array).cloned().unwrap_or_default();
        rows.iter()
            .map(|row| Pane::parse(row).ok_or_else(|| HerdrError::Failed("a pane without ids".into())))
            .collect()
    }

    /// One pane; an id from before a move still finds it while the server lives.
    ///
    /// # Errors
    /// `pane_not_found`, and see [`HerdrError`].
    pub(crate) fn pane(&self, id: &PaneId) -> Result<Pane, HerdrError> {
        Self::one(&self.call(["pane", "get", id.as_str()])?)
    }

    /// The pane in which we are called, else the one that has the focus.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn current_pane(&self) -> Result<Pane, HerdrError> {
        Self::one(&self.call(["pane", "current"])?)
    }

    /// The pane that has the person's focus now, from wherever it is asked; `None` when there is none.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn focused_pane(&self) -> Result<Option<Pane>, HerdrError> {
        match self.call_from_nowhere(["pane", "current"]) {
            Err(HerdrError::Refused { .. }) => Ok(None),
            answer => Self::one(&answer?).map(Some),
        }
    }

    /// Gives a pane a name.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn rename_pane(&self, id: &PaneId, label: &str) -> Result<(), HerdrError> {
        self.call(["pane", "rename", id.as_str(), label]).map(|_| ())
    }

    pub(super) fn one(result: &Value) -> Result<Pane, HerdrError> {
        result
            .get("pane")
            .and_then(Pane::parse)
            .ok_or_else(|| HerdrError::Failed("the answer has no pane".into()))
    }

    /// Closes a pane. The caller has proven whose it is.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn close_pane(&self, id: &PaneId) -> Result<(), HerdrError> {
        self.call(["pane", "close", id.as_str()]).map(|_| ())
    }

    /// What runs in a pane's foreground.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn foreground(&self, id: &PaneId) -> Result<Foreground, HerdrError> {
        let result = self.call(["pane", "process-info", "--pane", id.as_str()])?;
        let info = result.get("process_info").unwrap_or(&Value::Null);
        let rows = info.get("foreground_processes").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok(Foreground {
            shell_pid: info.get("shell_pid").and_then(Value::as_i64).unwrap_or(-1),
            processes: rows
                .iter()
                .map(|row| {
                    let name = row.get("name").and_then(Value::as_str).unwrap_or_default();
                    (row.get("pid").and_then(Value::as_i64).unwrap_or(-1), name.to_owned())
                })
                .collect(),
        })
    }

    /// Shows a title on the pane's border that goes away by itself; the user's own label stays.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn show_title(&self, id: &PaneId, title: &str, time: Duration) -> Result<(), HerdrError> {
        let title = short(title, 80);
        let ttl = time.as_millis().to_string();
        let source = crate::paths::PLUGIN_ID;
        self.call([
            "pane",
            "report-metadata",
            id.as_str(),
            "--source",
            source,
            "--title",
            &title,
            "--ttl-ms",
            &ttl,
        ])
        .map(|_| ())
    }
}

/// Herdr cuts long values; we cut at a character, visibly.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foreground(shell_pid: i64, processes: &[(i64, &str)]) -> Foreground {
        let processes = processes.iter().map(|(pid, name)| (*pid, (*name).to_owned())).collect();
        Foreground { shell_pid, processes }
    }

    #[test]
    fn only_the_panes_own_shell_alone_is_idle() {
        assert!(foreground(7, &[(7, "bash")]).is_idle_shell());
        assert!(!foreground(7, &[(7, "vi")]).is_idle_shell(), "after exec vi the pid is still the shell's");
        assert!(!foreground(7, &[(8, "bash")]).is_idle_shell());
        assert!(!foreground(7, &[(7, "bash"), (8, "cat")]).is_idle_shell());
    }

    #[test]
    fn an_id_is_never_an_option() {
        assert!("w1:pA".parse::<PaneId>().is_ok());
        assert!("--current".parse::<PaneId>().is_err());
        assert!("w1 p1".parse::<PaneId>().is_err());
    }
}
