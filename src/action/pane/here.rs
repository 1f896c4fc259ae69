//! A box in a plain terminal: shown until the person detaches or the agent ends, then two lines that say how to go on.

use super::agent::End;
use super::show::{Over, Watch};
use crate::action::mapping::{ActionContext, title};
use crate::error::Result;
use crate::exit::Exit;
use crate::state::{Record, RecordId, Recorded};
use crate::{command, ui};

/// Shows a box, whose agent runs, in this terminal.
///
/// # Errors
/// The state or the terminal cannot be read.
pub(crate) fn show_here(context: &ActionContext, id: &RecordId) -> Result<Exit> {
    let (record, end) = match Watch::begin("stops trying").until_over(context, id)? {
        Over::Ended(record, end) => (record, end),
        Over::Left => match context.store.read()?.record(id).cloned() {
            Some(record) => (record, End::Lost("the connection to the box was lost".into())),
            None => return Ok(Exit::FAILED),
        },
        Over::Forgotten(last) => {
            let name = last.map(|record| format!(" {}", record.name)).unwrap_or_default();
            ui::paragraph(format!("box{name} was deleted"));
            return Ok(Exit::DONE);
        }
    };
    ui::paragraph(parting(&record, &end));
    Ok(Exit::failed_if(matches!(end, End::Failed | End::Lost(_))))
}

/// What became of the agent and its box, and what to type about it.
fn parting(record: &Record, end: &End) -> String {
    let (name, agent) = (&record.name, title(record));
    let what = match end {
        End::Gone | End::Going => return format!("box {name} was deleted"),
        End::Detached => format!("{agent} runs on in box {name}"),
        End::Exited(how) if how.is_empty() => format!("{agent} has ended; box {name} stays"),
        End::Exited(how) => format!("{agent} has ended, {how}; box {name} stays"),
        End::Paused => match &record.auto_pause {
            Recorded::Known(after) if !record.paused_by_hand => {
                format!("box {name} is paused; it pauses after {after} without activity")
            }
            _ => format!("box {name} is paused"),
        },
        End::Failed => format!("box {name} has failed"),
        End::Lost(why) => format!("{} (box {name})", ui::visible(why)),
    };
    format!(
        "{what}. Come back with: {}\nSo with review, apply, undo, pause, delete: {}",
        command::action("attach").on(name),
        command::action("review").on(name)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_name_the_box_and_what_to_type() {
        let record = serde_json::json!({
            "id": "00000000", "phase": "ready", "socket": "", "provider": "local", "box": "hd-shop-ab3db2g8s",
            "agent": "codex", "local": "/home/u/shop", "remote": "/workspace", "autoPause": "30m",
        });
        let record: Record = serde_json::from_value(record).unwrap();
        let said = |end| parting(&record, &end);
        let detached = said(End::Detached);
        assert!(
            detached.starts_with("Codex runs on in box hd-shop-ab3db2g8s. Come back with: "),
            "{detached}"
        );
        assert!(detached.ends_with(" review hd-shop-ab3db2g8s"), "{detached}");
        for word in ["attach", "apply", "review", "delete"] {
            assert!(detached.contains(word), "{detached}");
        }
        assert_eq!(detached.lines().count(), 2);
        assert!(said(End::Exited("exit code 7".into())).starts_with("Codex has ended, exit code 7; box hd-"));
        assert!(said(End::Paused).contains("after 30m without"));
        assert_eq!(said(End::Gone), "box hd-shop-ab3db2g8s was deleted");
    }
}
