//! What the popups run: a message to read, and the question before a delete.

use super::delete::delete_now;
use super::report::error_text;
use super::session::Session;
use super::sheet::Sheet;
use super::start::title;
use crate::createos::Status;
use crate::error::{Error, Result};
use crate::merge::{Fate, OnClash};
use crate::ui;

/// The variable that carries a message to its popup.
pub(super) const MESSAGE: &str = "CREATEOS_SANDBOX_MESSAGE";
/// Longer messages are cut: they travel in one environment variable.
pub(super) const LONGEST: usize = 6_000;

/// Shows a message until a key is pressed.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn message() -> Result<()> {
    let text = std::env::var(MESSAGE).unwrap_or_default();
    closed(ui::visible(&text))
}

/// Shows text until a key is pressed.
fn closed(text: String) -> Result<()> {
    Sheet::closable(text).ask(|_| Some(())).map(|_| ())
}

/// Asks before a box is deleted, and deletes it on `y` or on the delete key again.
///
/// # Errors
/// The record is gone, or the terminal cannot be read. A provider's refusal is shown.
pub(super) fn delete(session: &Session) -> Result<()> {
    let record =
        session.named_record().ok_or_else(|| Error::failed("the box of this question is gone already"))?;
    let question = |pending: String| {
        let rows = [
            ("box", format!("{} ({})", record.name, title(&record))),
            ("worktree", session.paths.show(&record.worktree)),
            ("not applied", pending),
        ];
        let rows = rows.map(|(label, value)| format!("  {label:<11}   {}", ui::visible_line(&value)));
        format!("Delete this box for ever?\n\n{}", rows.join("\n"))
    };
    // To look into the box takes a while.
    Sheet::new(question("looking …".into()), "", "").draw();
    let mut question = Sheet::new(
        question(pending(session, &record)),
        "  y, or the same key again   delete it\n  any other key              keep it",
        "y deletes, other keys keep it",
    );
    let same_key = delete_keys(session);
    if question.ask(|typed| answer(typed, &same_key))? != Some(true) {
        return Ok(());
    }
    Sheet::new(format!("deleting {} …", record.name), "", "").draw();
    match delete_now(session, &record) {
        Ok(report) => {
            session.herdr.notice(report.text(), report.pane());
            Ok(())
        }
        Err(error) => closed(error_text(&error)),
    }
}

/// How many files of the box are not here yet. A paused box is not resumed for it.
fn pending(session: &Session, record: &crate::state::Record) -> String {
    let count = || -> Result<String> {
        let remote = session.remote(record)?;
        if remote.provider.get(&remote.id)?.status != Status::Running {
            return Ok("unknown, the box is paused".into());
        }
        let proposal =
            super::apply::propose(session, record, &super::apply::ledger(session, record)?, OnClash::Refuse)?;
        let changed: Vec<_> = proposal
            .judged
            .iter()
            .filter(|judged| judged.fate != Fate::AlreadyHere)
            .map(|judged| judged.name.clone())
            .collect();
        Ok(match changed.as_slice() {
            [] => "nothing".into(),
            [only] => only.clone(),
            [first, second] => format!("{first}, {second}"),
            [first, second, rest @ ..] => format!("{first}, {second} and {} more files", rest.len()),
        })
    };
    count().unwrap_or_else(|error| format!("unknown: {}", error.message()))
}

/// What the keys to which delete is bound make a terminal send, without Herdr's prefix.
fn delete_keys(session: &Session) -> Vec<Vec<u8>> {
    let text = crate::fs::read_regular(session.paths.herdr_config_file()).unwrap_or_default();
    let command = format!("{}.delete", crate::paths::PLUGIN_ID);
    let chords = crate::keys::chords_of(&text, &command).unwrap_or_default();
    chords.into_iter().filter_map(crate::keys::Chord::typed).collect()
}

/// What a burst of keys says to the question; `None`: nothing yet.
fn answer(typed: &[u8], delete: &[Vec<u8>]) -> Option<bool> {
    let is_yes = |typed: &[u8]| typed == b"y" || delete.iter().any(|key| key == typed);
    if is_yes(typed) {
        return Some(true);
    }
    // The prefix reaches us too while a popup is open (contract `herdr.md` 13): it is no answer by itself.
    match typed {
        [0x03] | [0x1b, ..] => Some(false),
        [first, rest @ ..] if *first < 0x20 => (!rest.is_empty()).then(|| is_yes(rest)),
        _ => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn y_or_the_delete_key_again_deletes_and_the_prefix_alone_says_nothing() {
        let delete = [b"X".to_vec(), b"\x1bx".to_vec(), b"\x18".to_vec()];
        for (typed, says) in [
            (&b"y"[..], Some(true)),
            (b"X", Some(true)),
            (b"\x02X", Some(true)),
            (b"\x1bx", Some(true)),
            (b"\x02\x1bx", Some(true)),
            (b"\x18", Some(true)),
            (b"\x02", None),
            (b"\x1b", Some(false)),
            (b"\x03", Some(false)),
            (b"n", Some(false)),
            (b"x", Some(false)),
            (b"yes please", Some(false)),
        ] {
            assert_eq!(answer(typed, &delete), says, "{typed:?}");
        }
    }
}
