//! `cos fork`: a copy of the project's box, as it is at this moment.

use super::providers::Providers;
use super::refused::{refused, with_ways};
use super::run_in::Its;
use super::say::{report, say};
use crate::createos::Status;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::ui;

/// Makes it, and prints its id. The box is paused for it and resumed, whatever happened.
///
/// # Errors
/// There is no box, or the provider refuses.
pub(super) fn fork(providers: &Providers) -> Result<Exit> {
    let (mut its, _alone) = Its::alone(providers)?;
    let Some(status) = its.status()? else { return Ok(Exit::FAILED) };
    let ran = status == Status::Running;
    if ran {
        its.provider.pause(&its.id).map_err(|failure| its.refused(failure))?;
    }
    let made = its.provider.fork(&its.id);
    let mut failed = None;
    if let Ok(id) = &made {
        its.own.add_fork(id);
        // Before anything else can fail: nobody must lose it.
        failed = its.state.keep_project_box(&its.project.key, &its.own).err();
        ui::line(id.as_str());
    }
    if ran && let Err(failure) = its.provider.resume(&its.id) {
        let error = Error::failed(format!("box {} stays paused: {}", its.name(), failure.words));
        report(&with_ways(error, &its.provider, its.id.as_str()));
    }
    let id = made.map_err(refused)?;
    if let Some(error) = failed {
        return Err(with_ways(error, &its.provider, id.as_str()));
    }
    say(format!(
        "fork {id} of box {}; delete it: {}",
        its.name(),
        its.provider.shown(&["rm", "--yes", id.as_str()])
    ));
    Ok(Exit::DONE)
}
