//! Mappings of the plugin of record: `panes.json` in the same folder is read once and left as it is.

use super::record::{Phase, Record, RecordId};
use super::state::State;
use super::store::Store;
use crate::createos::ProviderKind;
use crate::error::{Error, Result};
use crate::herdr::PaneId;
use serde_json::Value;
use std::path::PathBuf;

/// Takes the mappings over, bound to nothing yet: only their pane ids are known. Gives how many there
/// were and what could not be used.
///
/// # Errors
/// The state cannot be written.
pub(crate) fn take_over(store: &Store, socket: &str) -> Result<(usize, Vec<String>)> {
    if store.read()?.took_over {
        return Ok((0, Vec::new()));
    }
    let path = store.folder().join("panes.json");
    let text = match crate::fs::read_regular(&path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        // The earlier plugin may still come and go.
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return Ok((0, Vec::new())),
        Err(source) => return Err(Error::io("read", &path, &source)),
    };
    let (found, odd) = read(&text, socket);
    let count = found.len();
    store.update(|state| {
        if !state.took_over {
            adopt(state, found);
        }
        Ok(())
    })?;
    Ok((count, odd))
}

fn adopt(state: &mut State, found: Vec<Record>) {
    state.took_over = true;
    for record in found {
        if !state.records.iter().any(|known| known.box_id == record.box_id) {
            state.records.push(record);
        }
    }
}

/// The mappings by pane id (contract `createos-cli.md` 6), and a line for each that is not one.
fn read(text: &str, socket: &str) -> (Vec<Record>, Vec<String>) {
    let (mut found, mut odd) = (Vec::new(), Vec::new());
    if text.trim().is_empty() {
        return (found, odd);
    }
    let Ok(document) = serde_json::from_str::<Value>(text) else {
        return (found, vec!["panes.json of the earlier plugin is not JSON".into()]);
    };
    let panes = document.get("panes").filter(|panes| panes.is_object()).unwrap_or(&document);
    for (pane, mapping) in panes.as_object().into_iter().flatten() {
        if !mapping.is_object() {
            continue;
        }
        match record(pane, mapping, socket) {
            Some(record) => found.push(record),
            None => odd.push(format!("the earlier plugin's mapping of pane {pane} could not be read")),
        }
    }
    (found, odd)
}

fn record(pane: &str, mapping: &Value, socket: &str) -> Option<Record> {
    let text = |key: &str| mapping.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(Record {
        id: RecordId::random(),
        phase: Phase::Ready,
        socket: socket.into(),
        source: None,
        terminal: None,
        pane: Some(PaneId::try_from(pane.to_owned()).ok()?),
        provider: ProviderKind::Createos,
        name: text("box")?.parse().ok()?,
        create_called: false,
        box_id: Some(text("boxId")?.parse().ok()?),
        agent: text("agent").unwrap_or("shell").into(),
        program: text("bin").map(str::to_owned),
        process: text("processId").and_then(|id| id.parse().ok()),
        shown: text("processId").and_then(|id| id.parse().ok()),
        paused_by_hand: false,
        label: None,
        worktree: PathBuf::from(text("local")?),
        remote_root: text("remote").unwrap_or("/workspace").into(),
        auto_pause: String::new(),
        outcome: None,
        delete_armed_at: None,
        created_at: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PANES: &str = r#"{"w1:p2":{"box":"hd-web-abc123","boxId":"sb-01J","agent":"codex","bin":"/r/codex",
        "processId":"proc_1","local":"/w","remote":"/workspace"},"w1:p3":{"box":7}}"#;

    #[test]
    fn mappings_are_taken_over_once_and_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("panes.json"), PANES).unwrap();
        let store = Store::open(dir.path());
        let (count, odd) = take_over(&store, "/s").unwrap();
        assert_eq!((count, odd.len()), (1, 1));
        let state = store.read().unwrap();
        assert_eq!(state.records[0].box_id.as_ref().unwrap().as_str(), "sb-01J");
        assert!(state.records[0].terminal.is_none(), "a pane id alone binds nothing");
        store
            .update(|state| {
                state.records.clear();
                Ok(())
            })
            .unwrap();
        assert_eq!(take_over(&store, "/s").unwrap().0, 0, "once");
        assert_eq!(std::fs::read_to_string(dir.path().join("panes.json")).unwrap(), PANES);
    }
}
