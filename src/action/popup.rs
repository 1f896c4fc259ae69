//! What the popups run: a message to read, and the question before a delete.

use super::delete::delete_now;
use super::report::error_text;
use super::session::Session;
use super::start::{RECORD, title};
use super::terminal::{Keys, Typed};
use crate::createos::Status;
use crate::error::{Error, Result};
use crate::merge::{Fate, OnClash};
use crate::state::RecordId;
use crate::ui;
use std::time::{Duration, Instant};

/// The variable that carries a message to its popup.
pub(super) const MESSAGE: &str = "CREATEOS_SANDBOX_MESSAGE";
/// Longer messages are cut: they travel in one environment variable.
pub(super) const LONGEST: usize = 6_000;
/// Keys within the first second were meant for the pane below.
const CALM: Duration = Duration::from_secs(1);

/// Shows a message until a key is pressed.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn message() -> Result<()> {
    let text = std::env::var(MESSAGE).unwrap_or_default();
    ui::line(format!("\n{}\n\n  any key closes this", ui::visible(&text)));
    let keys = Keys::take()?;
    let began = Instant::now();
    loop {
        match keys.read(Duration::from_secs(60)) {
            Typed::Ended => return Ok(()),
            Typed::Bytes(_) if began.elapsed() >= CALM => return Ok(()),
            Typed::Bytes(_) | Typed::Nothing => {}
        }
    }
}

/// Asks before a box is deleted, and deletes it on `y` or the delete key's own letter.
///
/// # Errors
/// The record is gone, or the terminal cannot be read. A provider's refusal is shown.
pub(super) fn delete(session: &Session) -> Result<()> {
    let record = std::env::var(RECORD)
        .ok()
        .and_then(|id| RecordId::try_from(id).ok())
        .and_then(|id| session.store.read().ok()?.record(&id).cloned())
        .ok_or_else(|| Error::failed("the box of this question is gone already"))?;
    let pending = pending(session, &record);
    ui::line("\nDelete this box for ever?\n");
    for (label, value) in [
        ("box", format!("{} ({})", record.name, title(&record))),
        ("worktree", session.paths.show(&record.worktree)),
        ("not applied", pending),
    ] {
        ui::line(format!("  {label:<11}   {}", ui::visible(&value)));
    }
    ui::line("\n  y, or the same key again   delete it\n  any other key              keep it");
    let letter = delete_letter(session);
    let keys = Keys::take()?;
    let began = Instant::now();
    loop {
        let bytes = match keys.read(Duration::from_secs(60)) {
            Typed::Ended => return Ok(()),
            Typed::Nothing => continue,
            Typed::Bytes(_) if began.elapsed() < CALM => continue,
            Typed::Bytes(bytes) => bytes,
        };
        // The prefix reaches us too while a popup is open (contract `herdr.md` 13): it is no answer.
        if bytes.len() == 1 && bytes[0] < 0x20 && bytes[0] != 0x1b && bytes[0] != 0x03 {
            continue;
        }
        let said = String::from_utf8_lossy(&bytes).into_owned();
        let key = said.trim_start_matches(|c: char| c.is_ascii_control());
        let same = letter.is_some_and(|letter| key.chars().eq([letter]));
        if key == "y" || same {
            break;
        }
        return Ok(());
    }
    drop(keys);
    match delete_now(session, &record) {
        Ok(report) => {
            session.herdr.notice(report.text(), report.pane());
            Ok(())
        }
        Err(error) => {
            ui::line(format!("\n{}\n\n  any key closes this", error_text(&error)));
            let keys = Keys::take()?;
            while keys.read(Duration::from_secs(60)) == Typed::Nothing {}
            Ok(())
        }
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

/// The last letter of the key to which delete is bound in Herdr's configuration.
fn delete_letter(session: &Session) -> Option<char> {
    let text = std::fs::read_to_string(session.paths.herdr_config_file()).ok()?;
    let config: toml_edit::DocumentMut = text.parse().ok()?;
    let commands = config.get("keys")?.get("command")?.as_array_of_tables()?.clone();
    let bound = commands.iter().find(|entry| {
        entry.get("command").and_then(toml_edit::Item::as_str) == Some("createos.sandbox.delete")
    })?;
    let chord = bound.get("key")?.as_str()?.to_ascii_lowercase();
    let mut letters = chord.rsplit('+').next()?.chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?;
    Some(if chord.contains("shift+") { letter.to_ascii_uppercase() } else { letter })
}
