//! `cos run`: a command in the project's box.

use super::clean_up;
use super::name::command;
use super::project::Project;
use super::providers::Providers;
use super::refused::{refused, unfollowed, with_ways};
use super::run::{self, PIPE};
use super::state::{ProjectBox, StateFolder};
use super::up;
use crate::cli::RunArgs;
use crate::createos::{BoxId, Failure, ProcessId, Provider, Refusal};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::fs::Lock;
use crate::journey::Stop;
use std::sync::{Arc, Mutex, PoisonError};

/// The project's box, and who has it.
pub(super) struct Its {
    pub(super) state: StateFolder,
    pub(super) project: Project,
    pub(super) own: ProjectBox,
    pub(super) provider: Provider,
    pub(super) id: BoxId,
}

impl Its {
    /// The box on record.
    ///
    /// # Errors
    /// There is none, or its provider cannot be asked.
    pub(super) fn find(providers: &Providers) -> Result<Self> {
        let project = Project::here()?;
        let state = StateFolder::of(&providers.paths)?;
        let none = || Error::failed("no active box — run 'cos up' first");
        let own = state.project_box(&project.key)?.ok_or_else(none)?;
        let id = own.id().ok_or_else(|| {
            Error::failed("the project's box is still being made")
                .help(format!("look for it: {}", command("up")))
        })?;
        let provider = providers.of(own.provider())?;
        Ok(Self { state, project, own, provider, id })
    }

    /// The same for who changes it: nobody else does meanwhile.
    ///
    /// # Errors
    /// As [`Its::find`]; or another call is at work for too long.
    pub(super) fn alone(providers: &Providers) -> Result<(Self, Lock)> {
        let seen = Self::find(providers)?;
        let lock = seen.state.lock(&seen.project.key)?;
        // What was read before the lock may be old.
        Ok((Self::find(providers)?, lock))
    }

    pub(super) fn name(&self) -> String {
        self.own.name().map_or_else(|| self.id.to_string(), |name| name.to_string())
    }

    /// What a refusal of a call about the box means: one that is gone is forgotten.
    pub(super) fn refused(&self, failure: Failure) -> Error {
        if failure.refusal == Refusal::Paused {
            return Error::failed(format!("box {} is paused", self.name()))
                .help(format!("bring it back: {}", command("resume")));
        }
        if matches!(failure.refusal, Refusal::NotFound | Refusal::Rejected | Refusal::Other) {
            match up::look(&self.provider, &self.state, &self.project, &self.own, &self.id) {
                Ok(None) => {
                    return Error::failed("the project's box is gone").help(command("up").to_string());
                }
                Ok(Some(_)) => {}
                Err(error) => return error,
            }
        }
        refused(failure)
    }
}

/// Runs it: the command's exit code, or ours.
///
/// # Errors
/// There is no box, it is paused, or the provider fails.
pub(super) fn run(providers: &Providers, args: &RunArgs) -> Result<Exit> {
    let line = run::line(&args.command)?;
    let its = Its::find(providers)?;
    let process: Arc<Mutex<Option<ProcessId>>> = Arc::default();
    let end = {
        let (state, provider, id, process) =
            (its.state.clone(), its.provider.clone(), its.id.clone(), Arc::clone(&process));
        // Taken: it is ended once, whoever comes first.
        move || match process.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(process) => clean_up::start_stop(&state, &provider, &id, &process),
            None => Ok(()),
        }
    };
    let stop = Stop::watch("interrupted", end.clone())?;
    // The start is not cut short: what it has begun has to be known.
    let mut started = its
        .provider
        .start_run(&its.id, its.own.sync_remote(), &line)
        .map_err(|failure| its.refused(failure))?;
    process.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&started.process);
    if stop.raised() {
        end()?;
    }
    let provider = its.provider.clone().stop_when(stop.flag());
    let outcome = run::to_stdout(&provider, &its.id, &mut started);
    if let Some(signal) = stop.signal() {
        return Ok(Exit::of_program(128 + signal));
    }
    match outcome {
        Ok(code) => Ok(Exit::of_program(code)),
        Err(why) if run::is_unread(&why) => {
            end()?;
            Ok(Exit::of_program(PIPE))
        }
        Err(why) => Err(with_ways(unfollowed(why), &its.provider, its.id.as_str())),
    }
}
