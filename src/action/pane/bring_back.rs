//! Brings a record's agent back: resume the box, and start the agent again only when it is proven gone.

use super::agent::start_agent;
use super::end::agent_end;
use crate::action::mapping::context::{ActionContext, box_id};
use crate::action::mapping::running::run_box;
use crate::createos::ProcessId;
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::state::RecordId;

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
    let provider = context.provider(record.provider)?;
    let box_id = box_id(&record)?;
    let resumed = run_box(context, &record, &provider, &box_id)?;
    if let Some(process) = &record.process
        && agent_end(&provider, &box_id, process)?.is_none()
    {
        return Ok(Brought { process: process.clone(), anew: resumed });
    }
    let agent = record.agent.get()?;
    let program = record.program.clone().ok_or_else(|| {
        Error::failed(format!("where the agent is in box {} is not known", record.name))
            .help("delete the box and start again")
    })?;
    let process = start_agent(&provider, &box_id, &record.remote_root.get()?, agent, &program)?;
    context.store.change(id, |record| record.process = Some(process.clone()))?;
    Ok(Brought { process, anew: true })
}
