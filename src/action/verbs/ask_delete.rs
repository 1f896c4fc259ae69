//! `ask-delete`: the popup that asks before a delete.

use super::delete::delete_now;
use crate::action::mapping::{ActionContext, run_box, title};
use crate::action::pane::sheet::{Sheet, closed};
use crate::action::work::{NotHome, home};
use crate::error::{Error, Result};
use crate::keys::Chord;
use crate::ui;

/// Asks before a box is deleted, and deletes it on `y` or on the delete key again.
///
/// # Errors
/// The record is gone, or the terminal cannot be read. A provider's refusal is shown.
pub(crate) fn ask_delete(context: &ActionContext) -> Result<()> {
    let record =
        context.named_record().ok_or_else(|| Error::failed("the box of this question is gone already"))?;
    let question = |found: &[(&str, String)]| {
        let known = [
            ("box", format!("{} ({})", record.name, title(&record))),
            ("worktree", context.paths.show(&record.worktree)),
        ];
        let rows = known.iter().chain(found);
        let rows: Vec<_> =
            rows.map(|(label, value)| format!("  {label:<11}   {}", ui::visible_line(value))).collect();
        format!("Delete this box for ever?\n\n{}", rows.join("\n"))
    };
    let looking = |words: &str| {
        let text = question(&[("not applied", words.to_owned())]);
        Sheet::new(text, "  keys count when the question is here", "keys count in a moment").draw();
    };
    // What the keys to which delete is bound make a terminal send, without Herdr's prefix.
    let same_key: Vec<_> = context.chords("delete").into_iter().filter_map(Chord::typed).collect();
    // To look into the box takes a while.
    looking("looking …");
    let mut found = home::look(context, &record);
    loop {
        let keys = "  y, or the same key again   delete it\n  any other key              keep it";
        let (keys, short) = match found.paused {
            true => (
                format!("  l                          resume it, and look into it first\n{keys}"),
                "l looks first (resumes it), y deletes, other keys keep it",
            ),
            false => (keys.to_owned(), "y deletes, other keys keep it"),
        };
        let mut sheet = Sheet::new(question(&found.rows()), keys, short);
        let paused = found.paused;
        match sheet.ask(|typed| answer(typed, &same_key, paused))? {
            Some(Reply::Delete) => break,
            Some(Reply::Look) => {
                looking("resuming it …");
                let runs = context.remote(&record).and_then(|remote| run_box(context, &record, &remote));
                found = match runs {
                    Ok(_) => home::look(context, &record),
                    Err(error) => NotHome::unknown(&error),
                };
            }
            Some(Reply::Keep) | None => return Ok(()),
        }
    }
    Sheet::new(format!("deleting {} …", record.name), "", "").draw();
    match delete_now(context, &record) {
        Ok(report) => {
            context.herdr.notice(&report.text, report.pane.as_ref());
            Ok(())
        }
        Err(error) => closed(ui::format_error(&error)),
    }
}

/// What is said to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    Delete,
    Keep,
    /// The box is to be resumed, and looked into.
    Look,
}

/// What a burst of keys says to the question; `None`: nothing yet.
fn answer(typed: &[u8], delete: &[Vec<u8>], paused: bool) -> Option<Reply> {
    let is_yes = |typed: &[u8]| typed == b"y" || delete.iter().any(|key| key == typed);
    let says = |typed: &[u8]| if is_yes(typed) { Reply::Delete } else { Reply::Keep };
    if is_yes(typed) {
        return Some(Reply::Delete);
    }
    // The prefix reaches us too while a popup is open (docs/measured/herdr.md 13): it is no answer by itself.
    match typed {
        b"l" if paused => Some(Reply::Look),
        [0x03] | [0x1b, ..] => Some(Reply::Keep),
        [first, rest @ ..] if *first < 0x20 => (!rest.is_empty()).then(|| says(rest)),
        _ => Some(Reply::Keep),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y_or_the_delete_key_again_deletes_and_the_prefix_alone_says_nothing() {
        let delete = [b"X".to_vec(), b"\x1bx".to_vec(), b"\x18".to_vec()];
        for (typed, says) in [
            (&b"y"[..], Some(Reply::Delete)),
            (b"X", Some(Reply::Delete)),
            (b"\x02X", Some(Reply::Delete)),
            (b"\x1bx", Some(Reply::Delete)),
            (b"\x02\x1bx", Some(Reply::Delete)),
            (b"\x18", Some(Reply::Delete)),
            (b"\x02", None),
            (b"\x1b", Some(Reply::Keep)),
            (b"\x03", Some(Reply::Keep)),
            (b"n", Some(Reply::Keep)),
            (b"x", Some(Reply::Keep)),
            (b"yes please", Some(Reply::Keep)),
        ] {
            assert_eq!(answer(typed, &delete, false), says, "{typed:?}");
            assert_eq!(answer(typed, &delete, true), says, "{typed:?}");
        }
        assert_eq!(answer(b"l", &delete, true), Some(Reply::Look));
        assert_eq!(answer(b"l", &delete, false), Some(Reply::Keep), "there is nothing to resume");
    }
}
