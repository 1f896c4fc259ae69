//! Mappings of the earlier plugin: `panes.json` in the same folder is read whenever it changes, and left as it is.

use super::record::{Phase, Record, RecordId, Recorded};
use super::state::State;
use super::store::Store;
use crate::createos::ProviderKind;
use crate::error::Result;
use crate::fs::{digest, read_if_there};
use serde_json::Value;
use std::path::{Path, PathBuf};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenOver {
    /// So many boxes, none of which was known.
    pub(crate) count: usize,
    /// What could not be used, a sentence each.
    pub(crate) odd: Vec<String>,
}

/// Takes mappings over, each box once, bound to nothing yet: only their pane ids are known, and those exist in every
/// session of Herdr. A file that is not JSON, as one that is just being written, is read again the next time.
///
/// # Errors
/// The file cannot be read, or the state not be written.
pub(crate) fn take_over(store: &Store) -> Result<TakenOver> {
    let Some(text) = file_in(store.folder())? else { return Ok(TakenOver::default()) };
    let stamp = digest(text.as_bytes()).to_string();
    if store.read()?.took_over_from.as_ref() == Some(&stamp) {
        return Ok(TakenOver::default());
    }
    let Some((found, odd)) = read(&text) else {
        let odd = "panes.json of the earlier plugin is not JSON; it is read again at the next action";
        return Ok(TakenOver { count: 0, odd: vec![odd.into()] });
    };
    let count = store.update(|state| {
        let before = state.records.len();
        adopt(state, found);
        state.took_over = true;
        state.took_over_from = Some(stamp);
        Ok(state.records.len() - before)
    })?;
    Ok(TakenOver { count, odd })
}

impl Store {
    /// The state in `folder`, for readers who must not change anything. Boxes of the earlier plugin that are not taken
    /// over yet count.
    ///
    /// # Errors
    /// It cannot be read, is corrupt, or a newer version of this program wrote it.
    pub(crate) fn peek(folder: &Path) -> Result<State> {
        let mut state = Self::open(folder).unchanged()?;
        if let Ok(Some(text)) = file_in(folder)
            && let Some((found, _)) = read(&text)
        {
            adopt(&mut state, found);
        }
        Ok(state)
    }
}

/// The earlier plugin may still come and go, and its file with it.
fn file_in(folder: &Path) -> Result<Option<String>> {
    let bytes = read_if_there(&folder.join("panes.json"))?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn adopt(state: &mut State, found: Vec<Record>) {
    for record in found {
        let Some(id) = record.box_id.clone() else { continue };
        let known = state.records.iter().any(|known| known.box_id.as_ref() == Some(&id));
        if state.taken_over.contains(&id) {
            continue;
        }
        state.taken_over.push(id);
        if !known {
            state.records.push(record);
        }
    }
}

/// The mappings by pane id (docs/measured/createos-cli.md 6.1), and a line for each that is not one; `None`: not JSON.
fn read(text: &str) -> Option<(Vec<Record>, Vec<String>)> {
    let (mut found, mut odd) = (Vec::new(), Vec::new());
    if text.trim().is_empty() {
        return Some((found, odd));
    }
    let document = serde_json::from_str::<Value>(text).ok()?;
    let panes = document.get("panes").filter(|panes| panes.is_object()).unwrap_or(&document);
    for (pane, mapping) in panes.as_object().into_iter().flatten() {
        if !mapping.is_object() {
            continue;
        }
        match record(pane, mapping) {
            Some(record) => found.push(record),
            None => odd.push(format!("the earlier plugin's box of pane {pane} could not be read")),
        }
    }
    Some((found, odd))
}

fn record(pane: &str, mapping: &Value) -> Option<Record> {
    let text = |key: &str| mapping.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    Some(Record {
        id: RecordId::random(),
        phase: Phase::Ready,
        socket: String::new(),
        source: None,
        terminal: None,
        pane: Some(pane.parse().ok()?),
        provider: ProviderKind::Createos,
        name: text("box")?.parse().ok()?,
        create_called: false,
        box_id: Some(text("boxId")?.parse().ok()?),
        agent: text("agent").unwrap_or("shell").to_owned().into(),
        args: Vec::new(),
        unattended: false,
        environment: Vec::new(),
        project_failed: None,
        folder: None,
        program: text("bin").map(str::to_owned),
        process: text("processId").and_then(|id| id.parse().ok()),
        shown: text("processId").and_then(|id| id.parse().ok()),
        paused_by_hand: false,
        label: None,
        worktree: PathBuf::from(text("local")?),
        remote_root: text("remote").unwrap_or("/workspace").to_owned().into(),
        auto_pause: Recorded::default(),
        outcome: None,
        delete_armed_at: None,
        created_at: 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::herdr::Pane;

    const PANES: &str = r#"{"w1:p2":{"box":"hd-web-abc123","boxId":"sb-01J","agent":"codex","bin":"/r/codex",
        "processId":"proc_1","local":"/w","remote":"/workspace"},"w1:p3":{"box":7}}"#;

    fn pane(id: &str, terminal: &str, cwd: Option<&str>) -> Pane {
        Pane {
            id: id.parse().unwrap(),
            terminal: terminal.parse().unwrap(),
            cwd: cwd.map(PathBuf::from),
            label: None,
            tab: None,
        }
    }

    #[test]
    fn each_box_is_taken_over_once_also_one_that_comes_later_and_the_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("panes.json");
        let store = Store::open(dir.path());
        assert_eq!(take_over(&store).unwrap(), TakenOver::default());
        // As one that is just being written.
        std::fs::write(&file, &PANES[..PANES.len() / 2]).unwrap();
        assert_eq!(take_over(&store).unwrap().odd.len(), 1);
        std::fs::write(&file, PANES).unwrap();
        let taken = take_over(&store).unwrap();
        assert_eq!((taken.count, taken.odd.len()), (1, 1));
        assert_eq!(store.read().unwrap().records[0].box_id.as_ref().unwrap().as_str(), "sb-01J");
        assert_eq!(take_over(&store).unwrap(), TakenOver::default(), "the file is as it was");
        store
            .update(|state| {
                state.records.clear();
                Ok(())
            })
            .unwrap();
        let later = PANES.replace(
            "\"w1:p3\":{\"box\":7}",
            "\"w1:p4\":{\"box\":\"hd-web-later1\",\"boxId\":\"sb-02J\",\"local\":\"/w\"}",
        );
        std::fs::write(&file, &later).unwrap();
        // A reader sees it, and changes nothing.
        assert_eq!(Store::peek(dir.path()).unwrap().records.len(), 1);
        assert!(store.read().unwrap().records.is_empty());
        assert_eq!(take_over(&store).unwrap().count, 1, "one that was deleted here does not come again");
        assert_eq!(store.read().unwrap().records[0].name.as_str(), "hd-web-later1");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), later);
    }

    #[test]
    fn a_session_has_what_its_own_pane_proves() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("panes.json"), PANES).unwrap();
        let store = Store::open(dir.path());
        let _ = take_over(&store).unwrap();
        let prove = |panes: &[Pane], socket: &str| {
            store.update(|state| Ok(state.prove(socket, panes))).unwrap();
            store.read().unwrap().records[0].socket.clone()
        };
        // Another session has a pane of that id, too, elsewhere or who knows where.
        assert_eq!(
            prove(&[pane("w1:p2", "term_1", Some("/other")), pane("w1:p1", "term_2", Some("/w"))], "/a"),
            ""
        );
        assert_eq!(prove(&[pane("w1:p2", "term_1", None)], "/a"), "");
        assert_eq!(prove(&[pane("w1:p2", "term_3", Some("/w/src"))], "/b"), "/b");
        assert_eq!(store.read().unwrap().records[0].terminal.as_ref().unwrap().to_string(), "term_3");
        assert_eq!(prove(&[pane("w1:p2", "term_1", Some("/w"))], "/a"), "/b", "it stays there");
    }
}
