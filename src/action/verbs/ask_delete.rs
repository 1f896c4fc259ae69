//! `ask-delete`: the popup that asks before a delete.

use super::delete::delete_now;
use crate::action::mapping::naming::title;
use crate::action::mapping::running::run_box;
use crate::action::mapping::session::Session;
use crate::action::pane::message::closed;
use crate::action::pane::sheet::Sheet;
use crate::action::work::home::{self, NotHome};
use crate::error::{Error, Result};
use crate::ui;

/// Asks before a box is deleted, and deletes it on `y` or on the delete key again.
///
/// # Errors
/// The record is gone, or the terminal cannot be read. A provider's refusal is shown.
pub(crate) fn ask_delete(session: &Session) -> Result<()> {
    let record =
        session.named_record().ok_or_else(|| Error::failed("the box of this question is gone already"))?;
    let question = |found: &[(&str, String)]| {
        let known = [
            ("box", format!("{} ({})", record.name, title(&record))),
            ("worktree", session.paths.show(&record.worktree)),
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
    let same_key = delete_keys(session);
    // To look into the box takes a while.
    looking("looking …");
    let mut found = home::look(session, &record);
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
            Some(Answer::Delete) => break,
            Some(Answer::Look) => {
                looking("resuming it …");
                found = match session
                    .remote(&record)
                    .and_then(|remote| run_box(session, &record, &remote.provider, &remote.id))
                {
                    Ok(_) => home::look(session, &record),
                    Err(error) => NotHome { unknown: vec![error.message().to_owned()], ..NotHome::default() },
                };
            }
            Some(Answer::Keep) | None => return Ok(()),
        }
    }
    Sheet::new(format!("deleting {} …", record.name), "", "").draw();
    match delete_now(session, &record) {
        Ok(report) => {
            session.herdr.notice(report.text(), report.pane());
            Ok(())
        }
        Err(error) => closed(ui::format_error(&error)),
    }
}

/// What the keys to which delete is bound make a terminal send, without Herdr's prefix.
fn delete_keys(session: &Session) -> Vec<Vec<u8>> {
    let text = crate::fs::read_regular(session.paths.herdr_config_file()).unwrap_or_default();
    let command = format!("{}.delete", crate::paths::PLUGIN_ID);
    let chords = crate::keys::chords_of(&text, &command).unwrap_or_default();
    chords.into_iter().filter_map(crate::keys::Chord::typed).collect()
}

/// What is said to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Delete,
    Keep,
    /// The box is to be resumed, and looked into.
    Look,
}

/// What a burst of keys says to the question; `None`: nothing yet.
fn answer(typed: &[u8], delete: &[Vec<u8>], paused: bool) -> Option<Answer> {
    let is_yes = |typed: &[u8]| typed == b"y" || delete.iter().any(|key| key == typed);
    let says = |typed: &[u8]| if is_yes(typed) { Answer::Delete } else { Answer::Keep };
    if is_yes(typed) {
        return Some(Answer::Delete);
    }
    // The prefix reaches us too while a popup is open (docs/measured/herdr.md 13): it is no answer by itself.
    match typed {
        b"l" if paused => Some(Answer::Look),
        [0x03] | [0x1b, ..] => Some(Answer::Keep),
        [first, rest @ ..] if *first < 0x20 => (!rest.is_empty()).then(|| says(rest)),
        _ => Some(Answer::Keep),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y_or_the_delete_key_again_deletes_and_the_prefix_alone_says_nothing() {
        let delete = [b"X".to_vec(), b"\x1bx".to_vec(), b"\x18".to_vec()];
        for (typed, says) in [
            (&b"y"[..], Some(Answer::Delete)),
            (b"X", Some(Answer::Delete)),
            (b"\x02X", Some(Answer::Delete)),
            (b"\x1bx", Some(Answer::Delete)),
            (b"\x02\x1bx", Some(Answer::Delete)),
            (b"\x18", Some(Answer::Delete)),
            (b"\x02", None),
            (b"\x1b", Some(Answer::Keep)),
            (b"\x03", Some(Answer::Keep)),
            (b"n", Some(Answer::Keep)),
            (b"x", Some(Answer::Keep)),
            (b"yes please", Some(Answer::Keep)),
        ] {
            assert_eq!(answer(typed, &delete, false), says, "{typed:?}");
            assert_eq!(answer(typed, &delete, true), says, "{typed:?}");
        }
        assert_eq!(answer(b"l", &delete, true), Some(Answer::Look));
        assert_eq!(answer(b"l", &delete, false), Some(Answer::Keep), "there is nothing to resume");
    }
}
