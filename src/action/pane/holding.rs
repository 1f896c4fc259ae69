//! The holding screen: what a pane shows when its attach has ended, and the keys that count there.

use super::agent::{Anew, bring_back};
use super::label::{Shows, name_own};
use super::terminal::{self, Keys, LoneKeys, Typed};
use crate::action::mapping::{ActionContext, RECORD, RESTORED, is_deleted, title};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::state::{Record, RecordId};
use crate::{command, ui};
use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

/// The screen of a start that failed: it stays readable, and no host shell opens by itself.
pub(crate) fn failed(context: &ActionContext, record: &Record) -> Result<()> {
    let _best_effort = name_own(context, record, Shows::Failed);
    choose(context, &record.id, Some(record), Choice::CloseOnly).map(|_| ())
}

/// Holds until the person brings the agent back or closes the pane. False: the pane is to be closed.
pub(crate) fn hold_and_bring_back(context: &ActionContext, why: &str, record: &Record) -> Result<bool> {
    let id = &record.id;
    headline(record, why);
    loop {
        if !choose(context, id, Some(record), Choice::BringBack)? {
            return Ok(false);
        }
        ui::paragraph("  bringing it back …");
        match bring_back(context, id, Anew::default()) {
            Ok(_) => return Ok(true),
            Err(error) => ui::paragraph(format!("\n{}\n", ui::format_error(&error))),
        }
        if is_deleted(context, record)? {
            return Ok(true);
        }
    }
}

/// Holds until the person closes the pane: the box is gone for ever, and `why` says so.
pub(crate) fn hold(context: &ActionContext, id: &RecordId, why: &str, record: Option<&Record>) -> Result<()> {
    match record {
        Some(record) => say_deleted(context, record, why),
        None => ui::paragraph(format!("\nThis pane has nothing to show: {why}.\n")),
    }
    choose(context, id, record, Choice::Deleted).map(|_| ())
}

fn say_deleted(context: &ActionContext, record: &Record, why: &str) {
    let _best_effort = name_own(context, record, Shows::Deleted);
    headline(record, why);
}

fn headline(record: &Record, why: &str) {
    ui::paragraph(format!("\n{} in {}: {why}.\n", title(record), record.name));
}

/// What the holding screen offers besides a shell and the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    BringBack,
    CloseOnly,
    /// The box is gone for ever: only the end is left.
    Deleted,
}

/// Rows that stay for the words above the choices: a headline of two lines, blanks, the cursor.
const ABOVE: usize = 5;

impl Choice {
    /// The keys with what they do, in lines for a screen of this size; in fewer words where rows are few.
    fn offered(self, folder: &str, (rows, columns): (u16, u16)) -> String {
        let stays = match self {
            Self::BringBack => format!(" (the box stays: {})", command::action("boxes")),
            _ => String::new(),
        };
        let lines = |folder: &str, stays: &str| {
            let back = (self == Self::BringBack).then(|| "  Enter   resume and reattach".to_owned());
            let shell = (self != Self::Deleted).then(|| format!("  s       a shell on THIS machine{folder}"));
            let quit = Some(format!("  q       close this pane{stays}"));
            let lines: Vec<_> = [back, shell, quit].into_iter().flatten().collect();
            ui::wrap(&lines.join("\n"), usize::from(columns).max(8))
        };
        let whole = lines(&format!(", in {folder}"), &stays);
        match whole.lines().count() + ABOVE > usize::from(rows) {
            true => lines("", ""),
            false => whole,
        }
    }
}

/// Whether the agent is to be brought back; else the pane is to be closed.
fn choose(
    context: &ActionContext,
    id: &RecordId,
    record: Option<&Record>,
    mut choice: Choice,
) -> Result<bool> {
    let folder = record.map_or_else(|| context.paths.home().to_path_buf(), |record| record.worktree.clone());
    let offer = |choice: Choice| {
        let folder = ui::visible(&context.paths.show(&folder));
        ui::line(choice.offered(&folder, terminal::size()));
    };
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    let _holding = context.store.hold(id)?;
    offer(choice);
    loop {
        match key(context, id, record, choice)? {
            Key::Wake | Key::Enter if choice == Choice::BringBack => return Ok(true),
            Key::Quit => return Ok(false),
            Key::Shell if choice != Choice::Deleted => {
                let called = |shows| record.and_then(|record| name_own(context, record, shows));
                let _best_effort = called(Shows::ThisMachine);
                local_shell(&folder)?;
                let before = if choice == Choice::CloseOnly { Shows::Failed } else { Shows::Agent };
                let _best_effort = called(before);
                offer(choice);
            }
            Key::Deleted => {
                choice = Choice::Deleted;
                record.into_iter().for_each(|record| say_deleted(context, record, "its box was deleted"));
                offer(choice);
            }
            Key::Wake | Key::Enter | Key::Shell => {}
        }
    }
}

enum Key {
    Enter,
    Shell,
    Quit,
    /// An attach from another pane, or by key, wants this screen to come back.
    Wake,
    /// The box that could be brought back is forgotten: it was deleted from elsewhere.
    Deleted,
}

fn key(context: &ActionContext, id: &RecordId, record: Option<&Record>, choice: Choice) -> Result<Key> {
    let keys = Keys::take()?;
    let wake = context.store.wake_file(id);
    let mut lone = LoneKeys::new(Instant::now());
    loop {
        if wake.exists() && std::fs::remove_file(&wake).is_ok() {
            return Ok(Key::Wake);
        }
        let typed = keys.read(Duration::from_millis(250));
        match (lone.take(&typed, Instant::now()), typed) {
            (Some(b'\r' | b'\n'), _) => return Ok(Key::Enter),
            (Some(b's'), _) => return Ok(Key::Shell),
            (Some(b'q'), _) | (_, Typed::Ended) => return Ok(Key::Quit),
            (None, Typed::Nothing) if choice == Choice::BringBack => match record {
                Some(record) if is_deleted(context, record)? => return Ok(Key::Deleted),
                _ => {}
            },
            _ => {}
        }
    }
}

/// A shell on this machine, asked for by its key.
fn local_shell(folder: &Path) -> Result<()> {
    let shell =
        std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    ui::paragraph("\nThis shell runs on THIS machine. Leave it with exit.\n");
    let modes = ui::terminal::line_modes();
    let run = Run::new(&shell).cwd(folder).env_remove("HERDR_AGENT").env_remove(RECORD).env_remove(RESTORED);
    let ended = run.interactive().run();
    ui::terminal::restore(modes.as_ref());
    match ended {
        Ok(_) => ui::paragraph("\nBack from the shell on this machine.\n"),
        Err(error) => ui::paragraph(format!("\n{}\n", ui::format_error(&Error::from(error)))),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_keys_do_is_said_in_fewer_words_where_rows_are_few() {
        assert_eq!(
            Choice::BringBack.offered("~/a long/way/to/shop", (12, 40)),
            "  Enter   resume and reattach\n  s       a shell on THIS machine, in\n          ~/a long/way/to/shop\n  \
             q       close this pane (the box\n          stays:\n          createos-sandbox herdr boxes)"
        );
        assert_eq!(
            Choice::BringBack.offered("~/a long/way/to/shop", (9, 40)),
            "  Enter   resume and reattach\n  s       a shell on THIS machine\n  q       close this pane"
        );
        assert_eq!(
            Choice::CloseOnly.offered("~/shop", (8, 60)),
            "  s       a shell on THIS machine, in ~/shop\n  q       close this pane"
        );
        assert_eq!(Choice::Deleted.offered("~/shop", (24, 80)), "  q       close this pane");
    }
}
