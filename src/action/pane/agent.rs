//! The agent's process in the box: started on a terminal of the pane's size, how it has ended, and brought back.

use super::terminal;
use crate::action::mapping::{ActionContext, is_deleted, ours, run_box};
use crate::config::{Agent, RemoteRoot};
use crate::createos::{ProcessId, ProcessView, Refusal, StartSpec, Status};
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::journey::ProviderBox;
use crate::state::{Record, RecordId};

/// Starts the agent on a PTY of the pane's size.
pub(crate) fn start_agent(
    remote: &ProviderBox,
    root: &RemoteRoot,
    agent: Agent,
    program: &str,
) -> Result<ProcessId> {
    let (rows, cols) = terminal::size();
    // The last row is the footer's.
    let rows = if remote.provider.kind().has().screen { rows } else { rows.max(2) - 1 };
    let (cwd, args) = (root.as_str().into(), agent.spec().args.clone());
    let spec = StartSpec { cwd, rows, cols, program: program.into(), args };
    Ok(remote.provider.process_start(&remote.id, &spec)?.id)
}

/// How an attach has ended; told apart by asking, since its exit code says little (docs/measured/createos-cli.md 3.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The agent still runs, the person looked away.
    Detached,
    /// The agent ended, with its exit code or signal if known.
    Exited(String),
    Paused,
    Failed,
    Going,
    /// The box is deleted, which is proven.
    Gone,
    /// The connection ended, or the provider cannot be asked.
    Lost(String),
}

/// How an attach has ended; `None` while the agent runs.
///
/// # Errors
/// The provider cannot be asked: then nothing is proven.
pub(crate) fn find_end(context: &ActionContext, record: &Record, process: &ProcessId) -> Result<Option<End>> {
    let remote = context.remote(record)?;
    if is_deleted(context, record)? {
        return Ok(Some(End::Gone));
    }
    let ProviderBox { provider, id, .. } = &remote;
    let view = match provider.get(id) {
        Ok(view) => view,
        Err(failure) if failure.refusal == Refusal::NotFound && provider.is_gone(id, &ours(context))? => {
            context.store.forget(record)?;
            return Ok(Some(End::Gone));
        }
        Err(failure) => return Err(failure.into()),
    };
    match view.status {
        Status::Running => agent_end(&remote, process),
        Status::Paused | Status::Pausing => Ok(Some(End::Paused)),
        Status::Destroyed => {
            context.store.forget(record)?;
            Ok(Some(End::Gone))
        }
        Status::Destroying => Ok(Some(End::Going)),
        Status::Failed => Ok(Some(End::Failed)),
        status => Err(Error::failed(format!("the box is {status}"))),
    }
}

/// How the agent has ended in a running box; `None` while it runs.
fn agent_end(remote: &ProviderBox, process: &ProcessId) -> Result<Option<End>> {
    let ProviderBox { provider, id, .. } = remote;
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

/// An agent that runs.
#[derive(Debug)]
pub(crate) struct Brought {
    pub(crate) process: ProcessId,
    /// Something had to be done for it: whoever shows it will notice, or has noticed already.
    pub(crate) anew: bool,
}

/// Makes the agent run, and gives its process.
///
/// # Errors
/// The box is gone, cannot be resumed, or the provider cannot be asked.
pub(crate) fn bring_back(context: &ActionContext, id: &RecordId) -> Result<Brought> {
    bring_back_alone(context, id, &context.store.lock_agent(id)?)
}

/// The same for who holds the lock of the record's agent already.
pub(crate) fn bring_back_alone(context: &ActionContext, id: &RecordId, _alone: &Lock) -> Result<Brought> {
    let record = context
        .store
        .read()?
        .record(id)
        .cloned()
        .ok_or_else(|| Error::failed("the box of this pane was deleted"))?;
    let remote = context.remote(&record)?;
    let resumed = run_box(context, &record, &remote)?;
    if let Some(process) = &record.process
        && agent_end(&remote, process)?.is_none()
    {
        return Ok(Brought { process: process.clone(), anew: resumed });
    }
    let agent = record.agent.get()?;
    let program = record.program.clone().ok_or_else(|| {
        Error::failed(format!("where the agent is in box {} is not known", record.name))
            .help("delete the box and start again")
    })?;
    let process = start_agent(&remote, &record.remote_root.get()?, agent, &program)?;
    context.store.change(id, |record| record.process = Some(process.clone()))?;
    Ok(Brought { process, anew: true })
}
