//! The agent's process in the box: started on a terminal of the pane's size, how it has ended, and brought back.

use super::{passed, project, terminal, values};
use crate::action::mapping::{ActionContext, is_deleted, ours, run_box};
use crate::config::{AgentSpec, Environment, RemoteRoot, Resume};
use crate::createos::{ProcessId, ProcessView, Refusal, StartSpec, Status};
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::journey::{ProviderBox, deliver};
use crate::state::{Record, RecordId};
use std::time::Duration;

/// How an agent is started this time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Anew<'a> {
    /// What it is given behind everything else.
    pub(crate) more: &'a [String],
    /// With a conversation of its own, also where there is one to go on with.
    pub(crate) fresh: bool,
}

/// Says `HAS` when there is a file called `$2` in the folder `$1` of the home. The agent's folder is `$3`, else `$4`.
const CONVERSATION: &str = r#"d=$HOME/${1#'~/'}; c=$3; [ -d "$c" ] || c=$4
c=$(cd -- "$c" && pwd -P) && d=${d//@FOLDER@/${c//[^a-zA-Z0-9]/-}}
[ -z "$(find "$d" -name "$2" -type f -size +0 -print -quit 2>/dev/null)" ] || echo HAS
exit 0"#;

/// Whether there is a conversation to go on with. It is looked for: told to continue none, some agents end.
fn has_conversation(remote: &ProviderBox, record: &Record, resume: &Resume) -> Result<bool> {
    let root = record.remote_root.get()?;
    let args = [resume.conversations.as_str(), &resume.name, &folder(record, &root), root.as_str()];
    let said = remote.provider.exec_asking(&remote.id, CONVERSATION, &args, Duration::from_secs(60))?;
    Ok(said.text().lines().any(|line| line == "HAS"))
}

/// The folder in which the agent of a record starts, where it is there.
fn folder(record: &Record, root: &RemoteRoot) -> String {
    record.folder.as_ref().map_or_else(|| root.to_string(), |below| format!("{root}/{below}"))
}

/// What an agent is started with, around what it is always given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) program: &'a str,
    pub(crate) first: &'a [String],
    pub(crate) more: &'a [String],
    /// The settings' variables, which the box has already.
    pub(crate) environment: &'a Environment,
}

/// Starts the agent of a record on a PTY of the pane's size.
pub(crate) fn start_agent(remote: &ProviderBox, record: &Record, given: Given<'_>) -> Result<ProcessId> {
    let (agent, root) = (record.agent.get()?, record.remote_root.get()?);
    let (rows, cols) = terminal::size();
    // The last row is the footer's.
    let rows = if remote.provider.kind().has().screen { rows } else { rows.max(2) - 1 };
    let mut variables = variables(agent.spec(), record.unattended);
    variables.retain(|(name, _)| !given.environment.names(name));
    let spec = StartSpec {
        cwd: root.as_str().into(),
        folder: folder(record, &root),
        variables,
        rows,
        cols,
        program: given.program.into(),
        args: [given.first, &agent.spec().args, &record.args, given.more].concat(),
    };
    Ok(remote.provider.process_start(&remote.id, &spec)?.id)
}

/// What an agent gets of this terminal's environment, and what it needs to ask nothing if it is to.
fn variables(spec: &AgentSpec, unattended: bool) -> Vec<(String, String)> {
    let unattended = spec.unattended.iter().filter(|_| unattended);
    let own = unattended.flat_map(|unattended| &unattended.environment);
    passed::on().into_iter().chain(own.map(|(name, value)| (name.clone(), value.clone()))).collect()
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

/// Makes the agent run, and gives its process. If it has to start, it goes on with its
/// conversation, unless that is not wanted.
///
/// # Errors
/// The box is gone, cannot be resumed, or the provider cannot be asked.
pub(crate) fn bring_back(context: &ActionContext, id: &RecordId, anew: Anew<'_>) -> Result<Brought> {
    bring_back_alone(context, id, anew, &context.store.lock_agent(id)?)
}

/// The same for who holds the lock of the record's agent already.
pub(crate) fn bring_back_alone(
    context: &ActionContext,
    id: &RecordId,
    Anew { more, fresh }: Anew<'_>,
    _alone: &Lock,
) -> Result<Brought> {
    let record = context
        .store
        .read()?
        .record(id)
        .cloned()
        .ok_or_else(|| Error::failed("the box of this pane was deleted"))?;
    let remote = context.remote(&record)?;
    let resumed = run_box(context, &record, &remote)?;
    if resumed {
        let failed = project::on_resume(context, &record, &remote);
        context.store.change(id, |record| record.project_failed = failed)?;
    }
    if let Some(process) = &record.process
        && agent_end(&remote, process)?.is_none()
    {
        return Ok(Brought { process: process.clone(), anew: resumed });
    }
    let program = record.program.clone().ok_or_else(|| {
        Error::failed(format!("where the agent is in box {} is not known", record.name))
            .help("delete the box and start again")
    })?;
    let environment = context.config()?.environment;
    let values = values::of(&environment, &context.paths)?;
    // What it had of earlier settings goes, too.
    if !values.is_empty() || !record.environment.is_empty() {
        deliver(&mut remote.clone(), &values)?;
    }
    let spec = record.agent.get()?.spec();
    let first = match spec.resume.as_ref().filter(|_| !fresh) {
        Some(resume) if has_conversation(&remote, &record, resume)? => &resume.args[..],
        _ => &[],
    };
    let process =
        start_agent(&remote, &record, Given { program: &program, first, more, environment: &environment })?;
    context.store.change(id, |record| {
        record.process = Some(process.clone());
        record.environment = values.into_iter().map(|(name, _)| name).collect();
    })?;
    Ok(Brought { process, anew: true })
}
