//! An agent's process: started on a terminal of the pane's size.

use super::terminal;
use crate::config::{Agent, RemoteRoot};
use crate::createos::{BoxId, ProcessId, Provider, StartSpec};
use crate::error::Result;

/// Starts the agent on a PTY of the pane's size.
pub(crate) fn start_agent(
    provider: &Provider,
    id: &BoxId,
    root: &RemoteRoot,
    agent: Agent,
    program: &str,
) -> Result<ProcessId> {
    let (rows, cols) = terminal::size();
    // The last row is the footer's.
    let rows = if provider.kind().has().screen { rows } else { rows.max(2) - 1 };
    let spec = StartSpec {
        cwd: root.as_str().into(),
        rows,
        cols,
        program: program.into(),
        args: agent.spec().args.clone(),
    };
    Ok(provider.process_start(id, &spec)?.id)
}
