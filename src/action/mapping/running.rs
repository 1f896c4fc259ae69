//! A box that has to run: resumed where it is paused, and waited for.

use super::context::ActionContext;
use super::forget::{or_elsewhere, ours};
use super::naming::start_one;
use crate::createos::{Failure, Refusal, Status};
use crate::error::{Error, Result};
use crate::journey::ProviderBox;
use crate::state::Record;
use std::time::Duration;

/// How long after `create` and `resume` a box may take to run.
pub(crate) const UP: Duration = Duration::from_secs(60);

/// Resumes the box if it is paused, and waits until it runs. Whether it had to be waited for.
pub(crate) fn run_box(context: &ActionContext, record: &Record, remote: &ProviderBox) -> Result<bool> {
    let ProviderBox { provider, id, .. } = remote;
    let view = match provider.get(id) {
        Ok(view) => view,
        Err(failure) if failure.refusal == Refusal::NotFound => {
            return Err(missing(context, record, remote, failure)?);
        }
        Err(failure) => return Err(failure.into()),
    };
    let look = || format!("look at it with: {}", provider.shown(&["get", id.as_str()]));
    let up = || provider.wait_running(id, UP).map_err(|failure| Error::from(failure).help(look()));
    match view.status {
        Status::Running => Ok(false),
        Status::Paused | Status::Pausing => {
            provider.resume(id)?;
            context.store.change(&record.id, |record| record.paused_by_hand = false)?;
            up().map(|()| true)
        }
        Status::Destroyed => {
            context.store.forget(record)?;
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
    start_one("start a new one")
}

/// What "not found" means: gone only if a complete listing does not have it (docs/measured/createos-cli.md 4.5).
fn missing(
    context: &ActionContext,
    record: &Record,
    ProviderBox { provider, id, .. }: &ProviderBox,
    failure: Failure,
) -> Result<Error> {
    if provider.is_gone(id, &ours(context))? {
        context.store.forget(record)?;
        return Ok(Error::failed(format!("box {} is gone", record.name)).help(start_anew()));
    }
    Ok(or_elsewhere(provider, failure)
        .fact("box", format!("{} {id}", record.name))
        .help("the provider may look at 200 boxes only: that it does not find the box is no proof"))
}
