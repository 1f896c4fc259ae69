//! Work that must outlive the call that it is for: Claude Code kills a second after TERM. It has a session of its own.

use super::providers::Providers;
use super::say::say;
use super::state::{BoxRecord, Phase, StateFolder};
use crate::config::ProviderKind;
use crate::createos::{BoxId, BoxName, ProcessId, Provider};
use crate::error::{Error, Result};
use crate::exec::Run;
use crate::exit::Exit;
use crate::paths::{Paths, own_binary};
use std::time::{Duration, Instant};

/// The pauses before a box that could not be deleted is tried again.
const AGAIN: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(30)];
/// How long a call waits for the clean-up of its own box.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts the clean-up of a box and does not wait for it: it begins when nobody has the record any more.
///
/// # Errors
/// It cannot be started.
pub(super) fn start(state: &StateFolder, name: &BoxName) -> Result<()> {
    detached(state, &["clean-up", name.as_str()])
}

/// Starts the end of a command in a box that stays.
///
/// # Errors
/// It cannot be started.
pub(super) fn start_stop(
    state: &StateFolder,
    provider: &Provider,
    id: &BoxId,
    process: &ProcessId,
) -> Result<()> {
    detached(state, &["stop-run", provider.kind().word(), id.as_str(), process.as_str()])
}

fn detached(state: &StateFolder, words: &[&str]) -> Result<()> {
    let run = Run::new(own_binary()?).arg("cos").args(words).env("COS_STATE_DIR", state.path()).cwd("/");
    run.start_detached().map_err(|error| Error::failed(format!("could not start the clean-up: {error}")))
}

/// Waits until the clean-up of a box is done; whether it is.
pub(super) fn is_done(state: &StateFolder, name: &BoxName) -> bool {
    let began = Instant::now();
    while state.has(name) {
        if began.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// `clean-up NAME`: ends what runs in a box that nobody has any more, and deletes it.
///
/// # Errors
/// It could not be deleted: the record stays and names it.
pub(super) fn clean_up(name: &str) -> Result<Exit> {
    let name: BoxName = name.parse().map_err(|error| Error::usage(format!("{error}")))?;
    let state = StateFolder::of(&Paths::from_env()?)?;
    let Some(mut owned) = state.own(&name)? else { return Ok(Exit::DONE) };
    if owned.record.phase == Phase::Kept {
        return Ok(Exit::DONE);
    }
    let provider = Providers::read(None)?.of(owned.record.provider)?;
    let Some(id) = find(&provider, &owned.record)? else {
        owned.forget()?;
        return Ok(Exit::DONE);
    };
    owned.change(|record| record.id = Some(id.clone()))?;
    if let Some(process) = &owned.record.process {
        // Its box goes with it.
        let _ended_already = provider.stop_run(&id, process);
    }
    let mut pauses = AGAIN.iter();
    loop {
        match provider.delete(&id, || state.ours()) {
            Ok(()) => {
                owned.forget()?;
                return Ok(Exit::DONE);
            }
            Err(failure) => {
                owned.change(|record| record.phase = Phase::Leftover)?;
                let Some(pause) = pauses.next() else { return Err(failure.into()) };
                std::thread::sleep(*pause);
            }
        }
    }
}

/// The box of a record, waited for if its create call told none.
fn find(provider: &Provider, record: &BoxRecord) -> Result<Option<BoxId>> {
    match &record.id {
        Some(id) => Ok(Some(id.clone())),
        None if record.create_called => Ok(provider.find_late(&record.name)?),
        None => Ok(None),
    }
}

/// `stop-run PROVIDER BOX PROCESS`: ends a command in a box that stays.
///
/// # Errors
/// The provider's refusal.
pub(super) fn stop_run([kind, id, process]: &[String; 3]) -> Result<Exit> {
    let wrong = |error: &dyn std::fmt::Display| Error::usage(error.to_string());
    let kind: ProviderKind = kind.parse()?;
    let id: BoxId = id.parse().map_err(|error| wrong(&error))?;
    let process: ProcessId = process.parse().map_err(|error| wrong(&error))?;
    Providers::read(None)?.of(kind)?.stop_run(&id, &process)?;
    Ok(Exit::DONE)
}

/// Starts the clean-up of what killed calls of a project have left, and says so.
///
/// # Errors
/// The records cannot be read.
pub(super) fn tidy(state: &StateFolder, project: &str) -> Result<()> {
    for (record, is_held) in state.records()? {
        let abandoned = matches!(record.phase, Phase::InUse | Phase::Leftover) && !is_held;
        if record.project == project && abandoned {
            say(format!("tidying up box {} of a call that is gone ({})", record.name, record.verb));
            start(state, &record.name)?;
        }
    }
    Ok(())
}
