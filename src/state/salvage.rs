//! What can be read of a state file that cannot be read as a whole: one bad record loses no other.

use super::state::State;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Its readable records and boxes; nothing of a file that is not JSON.
pub(super) fn salvage(bytes: &[u8]) -> State {
    let mut state = State::default();
    let Ok(file) = serde_json::from_slice::<Value>(bytes) else { return state };
    state.records = readable(&file["records"]);
    state.made = readable(&file["made"]);
    state.taken_over = readable(&file["takenOver"]);
    state.answers = readable(&file["answers"]);
    state.took_over = file["tookOver"].as_bool().unwrap_or_default();
    if let Some(installation) = file["installation"].as_str().filter(|text| is_installation(text)) {
        state.installation = installation.into();
    }
    state
}

fn readable<T: DeserializeOwned>(list: &Value) -> Vec<T> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| serde_json::from_value(item.clone()).ok()).collect()
}

/// It becomes a part of names (docs/measured/createos-cli.md 4.1).
fn is_installation(text: &str) -> bool {
    text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_bad_record_loses_no_other_and_not_whose_boxes_they_are() {
        let record = |name: &str, phase: &str| {
            json!({
                "id": "00000000", "phase": phase, "socket": "/s", "provider": "local", "box": name,
                "agent": "shell", "local": "/w", "remote": "/workspace",
            })
        };
        let file = json!({
            "version": 1, "installation": "ab3d", "tookOver": true,
            "records": [record("hd-a", "ready"), record("hd-b", "hibernating"), 7, record("hd-c", "leftover")],
            "made": [{ "name": "NO NAME" }, { "name": "hd-c" }],
        });
        let state = salvage(file.to_string().as_bytes());
        let names: Vec<_> = state.records.iter().map(|record| record.name.as_str()).collect();
        assert_eq!((names.as_slice(), state.made.len(), state.took_over), (&["hd-a", "hd-c"][..], 1, true));
        assert_eq!(state.installation, "ab3d");
        for bad in ["{\"records\":", "[]", "{\"records\":7,\"installation\":\"--ab\"}"] {
            let state = salvage(bad.as_bytes());
            assert!(state.records.is_empty() && is_installation(&state.installation), "{bad}");
        }
    }
}
