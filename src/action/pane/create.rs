//! The box of a start: made under a name that is in the record before, and taken back when the start fails.

use crate::action::mapping::{ActionContext, delete_box, find_box, renamed, restore};
use crate::action::report::full_message;
use crate::command;
use crate::config::Config;
use crate::createos::{BoxId, CreateSpec, Failure, Provider, Refusal};
use crate::error::{Error, Result};
use crate::state::{Phase, Record, StartOutcome};

/// How often a taken name is replaced by another.
const NAMES: usize = 5;

/// Makes the box. What becomes of the call is in the record at every moment, here and in the state.
///
/// # Errors
/// The provider's refusal with what it means, or the state cannot be written.
pub(crate) fn create(
    context: &ActionContext,
    record: &mut Record,
    config: &Config,
    provider: &Provider,
) -> Result<BoxId> {
    let agent = record.agent.get()?;
    for _ in 0..NAMES {
        if let Err(error) = save(context, record, |record| record.create_called = true) {
            // Nothing was called: there is no box to look for.
            record.create_called = false;
            return Err(error);
        }
        let spec = CreateSpec {
            name: record.name.clone(),
            shape: config.shape.as_str().into(),
            rootfs: config.rootfs.as_ref().map(|rootfs| rootfs.as_str().into()),
            auto_pause: Some(config.auto_pause.as_str().into()),
            egress: config.egress.iter().map(|rule| rule.as_str().into()).collect(),
            env: Vec::new(),
            network: config.network,
            nested: agent.spec().nested,
        };
        match provider.create(&spec) {
            Ok(id) => {
                save(context, record, |record| record.box_id = Some(id.clone()))?;
                context.store.edit(|state| state.remember(record))?;
                return Ok(id);
            }
            Err(failure) if failure.refusal == Refusal::NameTaken => {
                let name = renamed(&record.name)?;
                save(context, record, |record| {
                    record.name = name.clone();
                    record.create_called = false;
                })?;
            }
            Err(failure) => {
                if !failure.may_have_happened() {
                    save(context, record, |record| record.create_called = false)?;
                }
                return Err(refused(context, record, failure));
            }
        }
    }
    Err(Error::failed(format!("{NAMES} box names in a row were taken")).help("press the start key again"))
}

/// Changes the record here, whatever becomes of the state: what fails later must find the box. Then in the state.
fn save(context: &ActionContext, record: &mut Record, change: impl Fn(&mut Record)) -> Result<()> {
    change(record);
    context.store.update(|state| match state.record_mut(&record.id) {
        Some(record) => {
            change(record);
            Ok(())
        }
        None => Err(Error::failed("the record of this start is gone")),
    })
}

/// A refusal with what it means here: which of the boxes are our own.
fn refused(context: &ActionContext, refused: &Record, failure: Failure) -> Error {
    let is_cap = matches!(failure.refusal, Refusal::Cap | Refusal::DailyCap);
    let Some(state) = context.store.read().ok().filter(|_| is_cap) else { return failure.into() };
    let ours = state.records.iter().filter(|record| record.id != refused.id && record.box_id.is_some());
    ours.fold(Error::from(failure), |error, record| {
        error.fact("yours", format!("{} in {}", record.name, context.paths.show(&record.worktree)))
    })
}

/// Deletes what a failed start has made, and tells the start that waits. Gives the failure with what became
/// of the box. [`Phase::Leftover`]: the clean-up has to go on.
///
/// # Errors
/// The provider's program is nowhere: the record stays as it is.
pub(crate) fn take_back(
    context: &ActionContext,
    record: &mut Record,
    mut error: Error,
) -> Result<(Error, Phase)> {
    let mut phase = Phase::Failed;
    if record.create_called {
        let provider = context.provider(record.provider)?;
        let name = &record.name;
        match find_box(&provider, record) {
            Ok(Some(box_id)) => {
                match delete_box(context, &provider, &box_id) {
                    Ok(()) => {
                        let billed = if record.provider.has().account { ", nothing is billed" } else { "" };
                        context.store.forget_base(&box_id, name.as_str());
                        error = error.fact("box", format!("{name} was deleted{billed}"));
                    }
                    Err(failure) => {
                        phase = Phase::Leftover;
                        let command = provider.shown(&["rm", "--yes", box_id.as_str()]);
                        error = error
                            .fact("box", format!("{name} could not be deleted: {}", failure.words))
                            .help(format!("delete it with: {command}"));
                    }
                }
                record.box_id = Some(box_id);
            }
            // A call that nobody refused may still make its box.
            Ok(None) | Err(_) => {
                phase = Phase::Leftover;
                error = error
                    .fact("box", format!("{name} may still come: it is looked for, and deleted then"))
                    .help(format!("see in a minute that it is gone: {}", command::action("boxes")));
            }
        }
    }
    record.phase = phase;
    record.outcome = Some(StartOutcome::failed(full_message(&error), error.hints().join("; ")));
    let told = context.store.change(&record.id, |told| {
        (told.phase, told.outcome, told.box_id) = (phase, record.outcome.clone(), record.box_id.clone());
    });
    // What is left is not forgotten with the state.
    let kept = || if phase == Phase::Leftover { restore(context, record) } else { Ok(()) };
    if let Err(unsaved) = told.and_then(|()| kept()) {
        error = error.fact("state", unsaved.message());
    }
    Ok((error, phase))
}
