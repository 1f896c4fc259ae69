//! What a pane is called: the agent, the worktree and the box that it shows, or that it is in no box. Only while the
//! person has not named it.

use crate::action::mapping::{ActionContext, title};
use crate::herdr::Pane;
use crate::state::Record;
use crate::ui;

/// The name that Herdr gives to a pane of ours: its title in the plugin's manifest.
const GIVEN: &str = "Agent in a box";
/// What that title was before; a pane keeps it.
const GIVEN_BEFORE: &str = "Agent in a sandbox";
/// Herdr shows it on the pane's border, which is short.
const LONGEST: usize = 60;

/// What a pane shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shows {
    /// The agent in its box, or the holding screen of it.
    Agent,
    /// A shell of this machine, asked for by its key.
    ThisMachine,
    /// A shell of this machine that Herdr has opened in the pane's place when it was started again.
    Restored,
    /// Nothing: the box was deleted.
    Deleted,
    /// Nothing: the start failed.
    Failed,
}

/// Names the pane of this process, and gives the name if it did. Best effort, as every decoration: what is in the
/// pane says it too.
pub(crate) fn name_own(context: &ActionContext, record: &Record, shows: Shows) -> Option<String> {
    let pane = context.focus().ok().flatten()?;
    name(context, record, &context.herdr.pane(&pane.id).ok()?, shows)
}

/// Names a pane, unless the person has.
pub(crate) fn name(context: &ActionContext, record: &Record, pane: &Pane, shows: Shows) -> Option<String> {
    let key = (shows == Shows::Restored).then(|| context.chords("attach").first().map(ToString::to_string));
    let label = label(record, shows, key.flatten().as_deref());
    if pane.label.is_none()
        || pane.label.as_ref() == Some(&label)
        || name_of_a_person(context, record, pane).is_some()
    {
        return None;
    }
    context.herdr.rename_pane(&pane.id, &label).ok()?;
    let _named_again_later = context.store.change(&record.id, |record| record.label = Some(label.clone()));
    Some(label)
}

/// The name that the person gave to a pane of this record; `None` where it has a name of ours.
pub(crate) fn name_of_a_person(context: &ActionContext, record: &Record, pane: &Pane) -> Option<String> {
    // As it is now: this process may know an older name.
    let stored = context.store.read().ok().and_then(|state| state.record(&record.id)?.label.clone());
    let ours = [Some(GIVEN), Some(GIVEN_BEFORE), record.label.as_deref(), stored.as_deref()];
    pane.label.clone().filter(|label| !ours.contains(&Some(label)))
}

/// The box of a record is deleted: a restored shell in the pane that the record names says so.
pub(crate) fn name_without_box(context: &ActionContext, record: &Record) {
    let owned = context.store.is_record_owned(&record.id).unwrap_or(true);
    if record.terminal.is_none() || record.socket != context.socket || owned {
        return;
    }
    let panes = context.herdr.panes().unwrap_or_default();
    if let Some(pane) = panes.iter().find(|pane| record.terminal.as_ref() == Some(&pane.terminal)) {
        let _best_effort = name(context, record, pane, Shows::Deleted);
    }
}

fn label(record: &Record, shows: Shows, key: Option<&str>) -> String {
    let name = record.name.as_str();
    let short =
        name.rsplit('-').next().map_or(name, |last| last.get(last.len().saturating_sub(5)..).unwrap_or(last));
    let folder = record.worktree.file_name().unwrap_or_default().to_string_lossy();
    let (agent, folder) = (title(record), ui::visible_line(&folder));
    let text = match (shows, key) {
        (Shows::Agent, _) => format!("{agent} · {folder} · {short}"),
        (Shows::ThisMachine, _) => format!("THIS machine, not a box · {folder}"),
        (Shows::Restored, Some(key)) => format!("NOT in a box · {key} brings {agent} back · {short}"),
        (Shows::Restored, None) => format!("NOT in a box · the action attach brings {agent} back · {short}"),
        (Shows::Failed, _) => format!("NOT in a box: the start failed · {folder}"),
        (Shows::Deleted, _) => format!("NOT in a box: {short} was deleted · {folder}"),
    };
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_agent_worktree_and_box_or_that_there_is_none() {
        let record = serde_json::json!({
            "id": "00000000", "phase": "ready", "socket": "/s", "provider": "local", "box": "hd-webshop-ab3db2g8s",
            "agent": "codex", "local": "/home/u/webshop", "remote": "/workspace",
        });
        let record: Record = serde_json::from_value(record).unwrap();
        let called = |shows, key| label(&record, shows, key);
        assert_eq!(called(Shows::Agent, None), "Codex · webshop · b2g8s");
        assert_eq!(
            called(Shows::Restored, Some("prefix+shift+c")),
            "NOT in a box · prefix+shift+c brings Codex back · b2g8s"
        );
        assert!(called(Shows::Restored, None).starts_with("NOT in a box · the action attach"));
        assert_eq!(called(Shows::ThisMachine, None), "THIS machine, not a box · webshop");
        assert_eq!(called(Shows::Deleted, None), "NOT in a box: b2g8s was deleted · webshop");
    }

    #[test]
    fn the_name_that_herdr_gives_is_the_manifest_s() {
        let manifest = include_str!("../../../templates/herdr-plugin.toml");
        assert!(manifest.contains(&format!("id = \"agent\"\ntitle = \"{GIVEN}\"")));
    }
}
