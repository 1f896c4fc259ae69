//! `cos down`, `pause` and `resume`: the end and the rest of the project's box.

use super::background;
use super::clean_up;
use super::name::command;
use super::project::Project;
use super::providers::Providers;
use super::refused::{refused, with_ways};
use super::run_in::Its;
use super::say::{report, say};
use super::state::{ProjectBox, StateFolder};
use super::up;
use crate::cli::DownArgs;
use crate::createos::{BoxId, Provider, Status};
use crate::error::{Error, Result};
use crate::exit::Exit;
use std::time::Duration;

/// How long a box that was resumed may take to run.
const UP: Duration = Duration::from_secs(60);

/// Deletes the project's box, if it was made here. The record goes only when the box is gone.
///
/// # Errors
/// It, or a fork that should go with it, is still there.
pub(super) fn down(providers: &Providers, args: &DownArgs) -> Result<Exit> {
    let project = Project::here()?;
    let state = StateFolder::of(&providers.paths)?;
    let none = || {
        say("no active box for this project");
        Ok(Exit::DONE)
    };
    if state.project_box(&project.key)?.is_none() {
        clean_up::tidy(&state, &project.key)?;
        return none();
    }
    let _alone = state.lock(&project.key)?;
    clean_up::tidy(&state, &project.key)?;
    let Some(mut own) = state.project_box(&project.key)? else { return none() };
    background::end(&own);
    let provider = providers.of(own.provider())?;
    let mut left = false;
    for fork in own.forks() {
        if !args.forks {
            say(format!("fork {fork} stays: {}", provider.shown(&["rm", "--yes", fork.as_str()])));
        } else if let Err(error) = delete(&provider, &state, &own, &fork) {
            left = true;
            report(&error);
        } else {
            own.drop_fork(&fork);
            state.keep_project_box(&project.key, &own)?;
            say(format!("fork {fork} is deleted"));
        }
    }
    let name = own.name().map_or_else(|| "?".to_owned(), |name| name.to_string());
    if !own.is_owned() {
        say(format!("box {name} was adopted: it stays"));
    } else if let Some(id) = find(&provider, &own)? {
        delete(&provider, &state, &own, &id)?;
        say(format!("box {name} is deleted"));
    }
    if left {
        return Ok(Exit::FAILED);
    }
    state.forget_project_box(&project.key)?;
    Ok(Exit::DONE)
}

/// The box of the record; one whose create call was killed is looked for by its name.
fn find(provider: &Provider, own: &ProjectBox) -> Result<Option<BoxId>> {
    match (own.id(), own.name()) {
        (Some(id), _) => Ok(Some(id)),
        (None, Some(name)) => provider.find_late(&name).map_err(refused),
        (None, None) => Ok(None),
    }
}

fn delete(provider: &Provider, state: &StateFolder, own: &ProjectBox, id: &BoxId) -> Result<()> {
    let ours = || {
        let mut ours = state.ours();
        ours.extend(own.forks());
        ours.extend(own.id());
        ours
    };
    provider.delete(id, ours).map_err(|failure| {
        let error = Error::failed(format!("box {id} could not be deleted: {}", failure.words));
        with_ways(error, provider, id.as_str()).help(format!("or do it again: {}", command("down")))
    })
}

/// Pauses the project's box; what runs here for it ends first.
///
/// # Errors
/// There is none, or the provider refuses.
pub(super) fn pause(providers: &Providers) -> Result<Exit> {
    let (its, _alone) = Its::alone(providers)?;
    background::end(&its.own);
    let Some(status) = its.status()? else { return Ok(Exit::FAILED) };
    match status {
        Status::Paused | Status::Pausing => say(format!("box {} is paused already", its.name())),
        _ => {
            its.provider.pause(&its.id).map_err(|failure| its.refused(failure))?;
            say(format!("box {} is paused; bring it back: {}", its.name(), command("resume")));
        }
    }
    Ok(Exit::DONE)
}

/// Brings the project's box back.
///
/// # Errors
/// There is none, or the provider refuses.
pub(super) fn resume(providers: &Providers) -> Result<Exit> {
    let (its, _alone) = Its::alone(providers)?;
    let Some(status) = its.status()? else { return Ok(Exit::FAILED) };
    match status {
        Status::Running => say(format!("box {} runs already", its.name())),
        status => {
            if matches!(status, Status::Paused | Status::Pausing) {
                its.provider.resume(&its.id).map_err(|failure| its.refused(failure))?;
            }
            let up = its.provider.wait_running(&its.id, UP);
            up.map_err(|failure| with_ways(refused(failure), &its.provider, its.id.as_str()))?;
            say(format!("box {} runs", its.name()));
        }
    }
    Ok(Exit::DONE)
}

impl Its {
    /// The box's status; `None` when it is gone, which was said.
    pub(super) fn status(&self) -> Result<Option<Status>> {
        let view = up::look(&self.provider, &self.state, &self.project, &self.own, &self.id)?;
        Ok(view.map(|view| view.status))
    }
}
