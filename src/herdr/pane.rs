//! Panes: their ids, what Herdr says about them, what may be done to them, and short messages on them.

use super::client::{Herdr, HerdrError, Result};
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
    pub(crate) fn panes(&self) -> Result<Vec<Pane>> {
        let result = self.call(["pane", "list"])?;
        let rows = result["panes"].as_array().into_iter().flatten();
        rows.map(|row| Pane::parse(row).ok_or_else(|| HerdrError::Failed("a pane without ids".into())))
            .collect()
    }

    /// One pane; an id from before a move still finds it while the server lives.
    ///
    /// # Errors
    /// `pane_not_found`, and see [`HerdrError`].
    pub(crate) fn pane(&self, id: &PaneId) -> Result<Pane> {
        Self::one(&self.call(["pane", "get", id.as_str()])?)
    }

    /// The pane in which we are called, else the one that has the focus.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn current_pane(&self) -> Result<Pane> {
        Self::one(&self.call(["pane", "current"])?)
    }

    /// The pane that has the person's focus now, from wherever it is asked; `None` when there is none.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn focused_pane(&self) -> Result<Option<Pane>> {
        match self.call_from_nowhere(["pane", "current"]) {
            Err(HerdrError::Refused { .. }) => Ok(None),
            answer => Self::one(&answer?).map(Some),
        }
    }

    /// Gives a pane a name.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn rename_pane(&self, id: &PaneId, label: &str) -> Result<()> {
        self.call(["pane", "rename", id.as_str(), label]).map(|_| ())
    }

    pub(super) fn one(result: &Value) -> Result<Pane> {
        result
            .get("pane")
            .and_then(Pane::parse)
            .ok_or_else(|| HerdrError::Failed("the answer has no pane".into()))
    }

    /// Closes a pane. The caller has proven whose it is.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn close_pane(&self, id: &PaneId) -> Result<()> {
        self.call(["pane", "close", id.as_str()]).map(|_| ())
    }

    /// What runs in a pane's foreground.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn foreground(&self, id: &PaneId) -> Result<Foreground> {
        let result = self.call(["pane", "process-info", "--pane", id.as_str()])?;
        let info = &result["process_info"];
        let rows = info["foreground_processes"].as_array().into_iter().flatten();
        let process = |row: &Value| {
            (row["pid"].as_i64().unwrap_or(-1), row["name"].as_str().unwrap_or_default().to_owned())
        };
        Ok(Foreground {
            shell_pid: info["shell_pid"].as_i64().unwrap_or(-1),
            processes: rows.map(process).collect(),
        })
    }

    /// Shows a title on the pane's border that goes away by itself; the user's own label stays.
    ///
    /// # Errors
    /// See [`HerdrError`].
    pub(crate) fn show_title(&self, id: &PaneId, title: &str, time: Duration) -> Result<()> {
        let (title, ttl) = (short(title, 80), time.as_millis().to_string());
        let shown = ["--source", crate::paths::PLUGIN_ID, "--title", &title, "--ttl-ms", &ttl];
        self.call(["pane", "report-metadata", id.as_str()].iter().chain(&shown)).map(|_| ())
    }
}

/// Herdr cuts long values; we cut at a character, visibly.
pub(super) fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

/// How long a title stays on a pane.
const TITLE: Duration = Duration::from_secs(6);
/// Herdr cuts the title and the body of a toast after so many characters (docs/measured/herdr.md 8.3), in the middle
/// of a command too.
const LONGEST: (usize, usize) = (80, 240);

impl Herdr {
    /// Shows `text` once: as a toast if Herdr shows toasts, else as the title of `pane`. False where nobody sees it: a
    /// pane that has its tab for itself has no border for a title (docs/measured/herdr.md 13). Best effort: what
    /// cannot be shown stands in the plugin's log.
    pub(crate) fn notice(&self, text: &str, pane: Option<&PaneId>) -> bool {
        // Off is the default, and the exit code is 0 all the same (docs/measured/herdr.md 8.3).
        let (title, body) = parts(text);
        let body = body.as_deref().map_or(vec![], |body| vec!["--body", body]);
        let toast = self.call([&["notification", "show", &title, "--sound", "none"], &body[..]].concat());
        let shown = toast.is_ok_and(|result| result.get("shown").and_then(Value::as_bool) == Some(true));
        if shown {
            return true;
        }
        let Some(pane) = pane else { return false };
        let titled = self.show_title(pane, &title, TITLE).is_ok();
        titled && !self.is_alone(pane).unwrap_or(false)
    }

    /// Whether a pane has its tab for itself.
    fn is_alone(&self, pane: &PaneId) -> Result<bool> {
        let panes = self.panes()?;
        let tab = panes.iter().find(|other| other.id == *pane).and_then(|pane| pane.tab.as_ref());
        Ok(tab.is_some() && panes.iter().filter(|other| other.tab.as_ref() == tab).count() == 1)
    }
}

/// What happened as the title, and what to do about it, when both are too long for one.
fn parts(text: &str) -> (String, Option<String>) {
    let (title, body) = LONGEST;
    let ends = ["\n", "  ", "; "].into_iter().filter_map(|end| text.find(end)).min();
    match ends.filter(|at| text.chars().count() > title && text[..*at].chars().count() <= title) {
        Some(at) => {
            let rest: Vec<&str> = text[at..].trim_start_matches(';').split_whitespace().collect();
            (text[..at].to_owned(), Some(short(&rest.join(" "), body)))
        }
        None => (short(text, title), None),
    }
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

    #[test]
    fn a_command_is_not_cut_in_a_toast() {
        let undo = "createos-sandbox herdr undo hd-shop-a1b2c3";
        let told = format!("box hd-shop-a1b2c3 was deleted; what came home can still be taken back: {undo}");
        let rest = format!("what came home can still be taken back: {undo}");
        assert_eq!(parts(&told), ("box hd-shop-a1b2c3 was deleted".into(), Some(rest)));
        let told =
            format!("12 files of box hd-shop-a1b2c3 came home to ~/shop: +1 -0\n  take it back with: {undo}");
        assert_eq!(parts(&told).1, Some(format!("take it back with: {undo}")));
        assert_eq!(parts("box hd-x runs; all is well"), ("box hd-x runs; all is well".into(), None));
        assert_eq!(parts(&"x".repeat(90)).0.chars().count(), 80);
    }
}
