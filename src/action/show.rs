//! The pane that shows a box: the attach child, what its end means, and the holding screen.

use super::back_off::BackOff;
use super::bring_back::{bring_back, find_end};
use super::mapping::is_deleted;
use super::session::Session;
use super::start::title;
use super::terminal::{self, Keys, LoneKeys, Typed};
use crate::config::Agent;
use crate::createos::ProcessId;
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::fs::Lock;
use crate::state::{Record, RecordId};
use crate::ui;
use rustix::termios::Termios;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How an attach has ended; told apart by asking, since its exit code says little (quirk Q12).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The agent still runs, the person looked away.
    Detached,
    /// The agent ended, with its exit code or signal if known.
    Exited(String),
    /// The box is paused.
    Paused,
    /// The box has failed.
    Failed,
    /// The box is being deleted.
    Going,
    /// The box is deleted, which is proven.
    Gone,
    /// The connection ended, or the provider cannot be asked.
    Lost(String),
}

/// Shows a box until the person closes the pane. `_owned` is the record's lock: while this runs the
/// pane has an owner.
///
/// # Errors
/// The state cannot be read.
pub(super) fn show(session: &Session, id: &RecordId, _owned: &Lock) -> Result<()> {
    // Ctrl-C is the agent's; between two children it must not end the pane.
    let _ignored = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
    let modes = terminal::modes();
    let mut back_off = BackOff::new();
    let mut last: Option<Record> = None;
    loop {
        let Some(record) = current(session, id, last.as_ref())? else {
            return hold(session, id, "its box was deleted", last.as_ref(), Choice::Deleted);
        };
        last = Some(record.clone());
        let (end, lasted) = match &record.process {
            Some(process) => attempt(session, &record, process, back_off.is_lost(), modes.as_ref()),
            None => (End::Exited(String::new()), Duration::ZERO),
        };
        let why = words(&record, &end);
        let again = match end {
            End::Gone => return hold(session, id, &why, Some(&record), Choice::Deleted),
            End::Lost(_) => back_off.lost(Instant::now(), lasted).map(|wait| ("trying", wait)),
            End::Going => back_off.lost(Instant::now(), lasted).map(|wait| ("looking", wait)),
            End::Detached | End::Exited(_) | End::Paused | End::Failed => None,
        };
        if let Some((what, wait)) = again {
            ui::paragraph(format!(
                "\n{} in {}: {why}; {what} again in {} s (q closes this pane)",
                title(&record),
                record.name,
                wait.as_secs()
            ));
            if wait_or_quit(wait)? {
                return Ok(());
            }
            continue;
        }
        if end == End::Going {
            return hold(session, id, &why, Some(&record), Choice::Deleted);
        }
        back_off = BackOff::new();
        if !hold_and_bring_back(session, id, &why, &record)? {
            return Ok(());
        }
    }
}

/// Shows the process until its attach ends; why it did, and how long it took. When the connection was lost
/// before, the provider is asked first: an attach that only waits for it must not count as a connection.
fn attempt(
    session: &Session,
    record: &Record,
    process: &ProcessId,
    was_lost: bool,
    modes: Option<&Termios>,
) -> (End, Duration) {
    if was_lost {
        match find_end(session, record, process) {
            Ok(None) => {}
            Ok(Some(end)) => return (end, Duration::ZERO),
            Err(error) => return (End::Lost(error.message().to_owned()), Duration::ZERO),
        }
    }
    let began = Instant::now();
    // Whoever wanted it shown has it now; a key from here on finds a box that had to be brought back.
    let _answered = std::fs::remove_file(session.store.wake_file(&record.id));
    let attached = attach(session, record, process);
    let lasted = began.elapsed();
    terminal::restore(modes);
    let end = match attached {
        Ok(ended_well) => judge(session, record, process, ended_well),
        // Nothing was proven, and the program may be back in a moment: it is being upgraded.
        Err(error) => End::Lost(error.message().to_owned()),
    };
    (end, lasted)
}

/// The screen of a start that failed: it stays readable, and no host shell opens by itself.
///
/// # Errors
/// The terminal cannot be read.
pub(super) fn failed(session: &Session, id: &RecordId) -> Result<()> {
    let record = record(session, id)?;
    choose(session, id, record.as_ref(), Choice::CloseOnly).map(|_| ())
}

fn record(session: &Session, id: &RecordId) -> Result<Option<Record>> {
    Ok(session.store.read()?.record(id).cloned())
}

/// The record, also one that the state has lost; `None` when its box was deleted.
fn current(session: &Session, id: &RecordId, last: Option<&Record>) -> Result<Option<Record>> {
    match (record(session, id)?, last) {
        (None, Some(last)) if !is_deleted(session, last)? => Ok(Some(last.clone())),
        (record, _) => Ok(record),
    }
}

/// Runs the attach child in the pane's own terminal. Only the child carries `HERDR_AGENT`: on the pane
/// it would stick to whatever runs there later (contract `herdr.md` 13). True for exit code 0.
fn attach(session: &Session, record: &Record, process: &ProcessId) -> Result<bool> {
    let provider = session.provider(record.provider)?;
    let id = super::session::box_id(record)?;
    let argv = provider.attach_argv(&id, process, true);
    let mut run = Run::new(&argv[0]).args(&argv[1..]).cwd("/").env("CREATEOS_DO_NOT_TRACK", "1");
    run = match record.agent.parse::<Agent>().ok().and_then(|agent| agent.spec().label.clone()) {
        Some(label) => run.env("HERDR_AGENT", label),
        None => run.env_remove("HERDR_AGENT"),
    };
    Ok(run.interactive().run()?.success())
}

fn judge(session: &Session, record: &Record, process: &ProcessId, ended_well: bool) -> End {
    match find_end(session, record, process) {
        Ok(Some(end)) => end,
        // The agent runs. A stream that simply ends has exit code 0 too, as a detach has.
        Ok(None) if ended_well => End::Detached,
        Ok(None) => End::Lost("the connection to the box was lost".into()),
        Err(error) => End::Lost(error.message().to_owned()),
    }
}

fn words(record: &Record, end: &End) -> String {
    match end {
        End::Detached => "this pane is detached, the agent runs on in the box".into(),
        End::Exited(how) if how.is_empty() => "the agent has ended".into(),
        End::Exited(how) => format!("the agent has ended, {how}"),
        End::Paused if record.auto_pause.is_empty() => "the box is paused".into(),
        End::Paused => format!("the box is paused; it pauses after {} without activity", record.auto_pause),
        End::Failed => "the box has failed".into(),
        End::Going => "its box is being deleted".into(),
        End::Gone => "its box was deleted".into(),
        End::Lost(why) => ui::visible(why),
    }
}

/// Holds until the person brings the agent back or closes the pane. False: the pane is to be closed.
fn hold_and_bring_back(session: &Session, id: &RecordId, why: &str, record: &Record) -> Result<bool> {
    headline(record, why);
    loop {
        if choose(session, id, Some(record), Choice::BringBack)? == Decision::Close {
            return Ok(false);
        }
        ui::paragraph("  bringing it back …");
        match bring_back(session, id) {
            Ok(_) => return Ok(true),
            Err(error) => ui::paragraph(format!("\n{}\n", super::report::error_text(&error))),
        }
        if is_deleted(session, record)? {
            return Ok(true);
        }
    }
}

fn hold(session: &Session, id: &RecordId, why: &str, record: Option<&Record>, choice: Choice) -> Result<()> {
    match record {
        Some(record) => headline(record, why),
        None => ui::paragraph(format!("\nThis pane has nothing to show: {why}.\n")),
    }
    choose(session, id, record, choice).map(|_| ())
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
        let stays = if self == Self::BringBack { " (the box stays; herdr boxes shows it)" } else { "" };
        let lines = |folder: &str, stays: &str| {
            let back = (self == Self::BringBack).then(|| "  Enter   resume and reattach".to_owned());
            let shell = (self != Self::Deleted).then(|| format!("  s       a shell on THIS machine{folder}"));
            let quit = Some(format!("  q       close this pane{stays}"));
            let lines: Vec<_> = [back, shell, quit].into_iter().flatten().collect();
            ui::wrap(&lines.join("\n"), usize::from(columns).max(8))
        };
        let whole = lines(&format!(", in {folder}"), stays);
        match whole.lines().count() + ABOVE > usize::from(rows) {
            true => lines("", ""),
            false => whole,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    BringBack,
    Close,
}

fn choose(session: &Session, id: &RecordId, record: Option<&Record>, mut choice: Choice) -> Result<Decision> {
    let folder = record.map_or_else(|| session.paths.home().to_path_buf(), |record| record.worktree.clone());
    let offer = |choice: Choice| {
        let folder = ui::visible(&session.paths.show(&folder));
        ui::line(choice.offered(&folder, terminal::size()));
    };
    if !std::io::stdin().is_terminal() {
        return Ok(Decision::Close);
    }
    let _holding = session.store.hold(id)?;
    offer(choice);
    loop {
        match key(session, id, record, choice)? {
            Key::Wake | Key::Enter if choice == Choice::BringBack => return Ok(Decision::BringBack),
            Key::Quit => return Ok(Decision::Close),
            Key::Shell if choice != Choice::Deleted => {
                local_shell(&folder)?;
                offer(choice);
            }
            Key::Deleted => {
                choice = Choice::Deleted;
                match record {
                    Some(record) => headline(record, "its box was deleted"),
                    None => ui::paragraph("\nIts box was deleted.\n"),
                }
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

fn key(session: &Session, id: &RecordId, record: Option<&Record>, choice: Choice) -> Result<Key> {
    let keys = Keys::take()?;
    let wake = session.store.wake_file(id);
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
                Some(record) if is_deleted(session, record)? => return Ok(Key::Deleted),
                _ => {}
            },
            _ => {}
        }
    }
}

/// Waits, but a `q` ends it: true.
fn wait_or_quit(limit: Duration) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        std::thread::sleep(limit);
        return Ok(false);
    }
    let keys = Keys::take()?;
    let began = Instant::now();
    let mut lone = LoneKeys::new(began);
    while began.elapsed() < limit || lone.is_waiting() {
        let left = limit.saturating_sub(began.elapsed());
        let typed = keys.read(left.clamp(Duration::from_millis(10), Duration::from_millis(250)));
        match (lone.take(&typed, Instant::now()), typed) {
            (Some(b'q'), _) | (_, Typed::Ended) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

/// A shell on this machine, asked for by its key.
fn local_shell(folder: &std::path::Path) -> Result<()> {
    let shell =
        std::env::var_os("SHELL").filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".into());
    ui::paragraph("\nThis shell runs on THIS machine. Leave it with exit.\n");
    let modes = terminal::modes();
    let run = Run::new(&shell).cwd(folder).env_remove("HERDR_AGENT").env_remove(super::start::RECORD);
    let ended = run.interactive().run();
    terminal::restore(modes.as_ref());
    match ended {
        Ok(_) => ui::paragraph("\nBack from the shell on this machine.\n"),
        Err(error) => ui::paragraph(format!("\n{}\n", super::report::error_text(&Error::from(error)))),
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
             q       close this pane (the box\n          stays; herdr boxes shows it)"
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
