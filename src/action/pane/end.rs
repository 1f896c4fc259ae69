//! How an attach has ended, and why: asked of the provider.

use crate::action::mapping::context::{ActionContext, box_id};
use crate::action::mapping::forget::ours;
use crate::action::mapping::restore::is_deleted;
use crate::createos::{BoxId, ProcessId, ProcessView, Provider, Refusal, Status};
use crate::error::{Error, Result};
use crate::state::Record;

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
    let provider = context.provider(record.provider)?;
    let id = box_id(record)?;
    if is_deleted(context, record)? {
        return Ok(Some(End::Gone));
    }
    let view = match provider.get(&id) {
        Ok(view) => view,
        Err(failure) if failure.refusal == Refusal::NotFound && provider.is_gone(&id, &ours(context))? => {
            context.store.forget(record)?;
            return Ok(Some(End::Gone));
        }
        Err(failure) => return Err(failure.into()),
    };
    match view.status {
        Status::Running => agent_end(&provider, &id, process),
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
pub(crate) fn agent_end(provider: &Provider, id: &BoxId, process: &ProcessId) -> Result<Option<End>> {
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
