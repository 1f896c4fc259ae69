//! Brings a record's agent back: resume the box, and start the agent again only when it is proven gone.

use super::provision::{UP, start_agent};
use super::show::End;
use crate::action::mapping::forget::{or_elsewhere, ours};
use crate::action::mapping::restore::is_deleted;
use crate::action::mapping::session::{Session, box_id};
use crate::command;
use crate::config::Agent;
use crate::createos::{BoxId, Failure, ProcessId, ProcessView, Provider, Refusal, Status};
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::state::{Record, RecordId};

/// An agent that runs.
#[derive(Debug)]
pub(crate) struct Brought {
    /// Its process.
    pub(crate) process: ProcessId,
    /// Something had to be done for it: whoever shows it will notice, or has noticed already.
    pub(crate) anew: bool,
}

/// Makes the agent run, and gives its process.
///
/// # Errors
/// The box is gone, cannot be resumed, or the provider cannot be asked.
pub(crate) fn bring_back(session: &Session, id: &RecordId) -> Result<Brought> {
    bring_back_alone(session, id, &session.store.lock_agent(id)?)
}

/// The same for who holds the lock of the record's agent already.
///
/// # Errors
/// As [`bring_back`].
pub(crate) fn bring_back_alone(session: &Session, id: &RecordId, _alone: &Lock) -> Result<Brought> {
    let record = session
        .store
        .read()?
        .record(id)
        .cloned()
        .ok_or_else(|| Error::failed("the box of this pane was deleted"))?;
    let provider = session.provider(record.provider)?;
    let box_id = box_id(&record)?;
    let resumed = run_box(session, &record, &provider, &box_id)?;
    if let Some(process) = &record.process
        && agent_end(&provider, &box_id, process)?.is_none()
    {
        return Ok(Brought { process: process.clone(), anew: resumed });
    }
    let agent: Agent = record.agent.parse()?;
    let program = record.program.clone().ok_or_else(|| {
        Error::failed(format!("where the agent is in box {} is not known", record.name))
            .help("delete the box and start again")
    })?;
    let process = start_agent(&provider, &box_id, &record.remote_root.parse()?, agent, &program)?;
    session.store.change(id, |record| record.process = Some(process.clone()))?;
    Ok(Brought { process, anew: true })
}

/// Resumes the box if it is paused, and waits until it runs. Whether it had to be waited for.
pub(crate) fn run_box(session: &Session, record: &Record, provider: &Provider, id: &BoxId) -> Result<bool> {
    let view = match provider.get(id) {
        Ok(view) => view,
        Err(failure) if failure.refusal == Refusal::NotFound => {
            return Err(missing(session, record, provider, id, failure)?);
        }
        Err(failure) => return Err(failure.into()),
    };
    let look = || format!("look at it with: {}", provider.shown(&["get", id.as_str()]));
    let up = || provider.wait_running(id, UP).map_err(|failure| Error::from(failure).help(look()));
    match view.status {
        Status::Running => Ok(false),
        Status::Paused | Status::Pausing => {
            provider.resume(id)?;
            session.store.change(&record.id, |record| record.paused_by_hand = false)?;
            up().map(|()| true)
        }
        Status::Destroyed => {
            session.store.forget(record)?;
            Err(Error::failed(format!("box {} was deleted", record.name)).help(start_anew()))
        }
        // Not yet gone: the mapping stays until it is.
        Status::Destroying => {
            Err(Error::failed(format!("box {} is being deleted", record.name)).help(start_anew()))
        }
        Status::Failed => Err(Error::failed(format!("box {} has failed", record.name)).help(look())),
        Status::Creating | Status::Resuming | Status::Forking | Status::Unknown(_) => up().map(|()| true),
    }
}

fn start_anew() -> String {
    format!("start a new one with the start key, or: {}", command::action("start"))
}

/// What "not found" means: gone only if a complete listing does not have it (contract 3.1).
fn missing(
    session: &Session,
    record: &Record,
    provider: &Provider,
    id: &BoxId,
    failure: Failure,
) -> Result<Error> {
    if provider.is_gone(id, &ours(session))? {
        session.store.forget(record)?;
        return Ok(Error::failed(format!("box {} is gone", record.name)).help(start_anew()));
    }
    Ok(or_elsewhere(provider, failure)
        .fact("box", format!("{} {id}", record.name))
        .help("the provider may look at 200 sandboxes only: that it does not find the box is no proof"))
}

/// How an attach has ended; `None` while the agent runs.
///
/// # Errors
/// The provider cannot be asked: then nothing is proven.
pub(crate) fn find_end(session: &Session, record: &Record, process: &ProcessId) -> Result<Option<End>> {
    let provider = session.provider(record.provider)?;
    let id = box_id(record)?;
    if is_deleted(session, record)? {
        return Ok(Some(End::Gone));
    }
    let view = match provider.get(&id) {
        Ok(view) => view,
        Err(failure) if failure.refusal == Refusal::NotFound && provider.is_gone(&id, &ours(session))? => {
            session.store.forget(record)?;
            return Ok(Some(End::Gone));
        }
        Err(failure) => return Err(failure.into()),
    };
    match view.status {
        Status::Running => agent_end(&provider, &id, process),
        Status::Paused | Status::Pausing => Ok(Some(End::Paused)),
        Status::Destroyed => {
            session.store.forget(record)?;
            Ok(Some(End::Gone))
        }
        Status::Destroying => Ok(Some(End::Going)),
        Status::Failed => Ok(Some(End::Failed)),
        status => Err(Error::failed(format!("the box is {status}"))),
    }
}

/// How the agent has ended in a running box; `None` while it runs.
fn agent_end(provider: &Provider, id: &BoxId, process: &ProcessId) -> Result<Option<End>> {
    let view = match provider.process_get(id, process) {
        Ok(view) => Some(view),
        // A box that was resumed may have lost its processes: proven by the list only.
        Err(failure) if failure.refusal == Refusal::NotFound => {
            provider.process_list(id)?.into_iter().find(|view| view.id == *process)
        }
        Err(failure) => return Err(failure.into()),
    };
    Ok(match view {
        Some(view) if view.running => None,
        Some(view) => Some(End::Exited(how(&view))),
        None => Some(End::Exited(String::new())),
    })
}

fn how(view: &ProcessView) -> String {
    match (&view.signal, view.exit_code) {
        (Some(signal), _) => format!("killed by {}", crate::ui::visible(signal)),
        (None, Some(code)) => format!("exit code {code}"),
        (None, None) => String::new(),
    }
}
