//! A setup: look, install what is missing, plan, ask, apply.

use super::carry_out::{apply_plan, refuse_other_folder, reload};
use super::change::Purpose;
use super::checks::{self, context::Context};
use super::observe::{Observed, observe, programs};
use super::offer::{self, Consent, explain_missing, use_instead};
use super::plan::{Displaced, Plan, Warning, config, keys, plugin};
use super::receipt::Progress;
use super::report::Report;
use super::request::Request;
use super::talk::{Answer, Talk, host};
use crate::command;
use crate::error::Result;
use crate::exit::Exit;
use std::path::Path;

/// Sets Herdr up; the exit code.
///
/// # Errors
/// Something is missing, or a change failed; what was changed before it is taken back.
pub(super) fn set_up(talk: &Talk<'_>, report: &mut Report) -> Result<Exit> {
    let Talk { request, paths } = talk;
    let look = || {
        let observed = observe(paths, request);
        let checks = checks::before_setup(&Context::new(request, &observed, paths));
        (observed, checks)
    };
    let (mut observed, mut checks) = look();
    config::refuse_loosening(request, &observed.config, paths)?;
    let can_be_had = offer::installable(&checks, &observed, paths)?;
    let ids: Vec<&str> = can_be_had.iter().map(|(check, _)| check.id).collect();
    let installed = offer::install(&can_be_had, talk.consent(), request, paths, &|text| talk.say(text));
    drop(can_be_had);
    if !matches!(installed, Ok(false)) {
        (observed, checks) = look();
    }
    if let Err(error) = installed {
        use_instead(&ids, &checks, error)?;
    }
    talk.annotate(&checks);
    let offered = if talk.consent() == Consent::None { &ids[..] } else { &[] };
    let missing = explain_missing(&checks, offered, request);
    report.add_checks(checks);
    missing?;
    let own = programs::own_path()?;
    if let Ok(Some(receipt)) = &observed.receipt {
        refuse_other_folder(receipt, paths)?;
    }
    let mut request = (*request).clone();
    let mut plan = plan_with_warnings(talk, &request, &observed, &own)?;
    report.add_plan(&plan, paths);
    let was_killed = matches!(&observed.receipt, Ok(Some(receipt)) if receipt.state == Progress::Applying);
    if plan.changes.is_empty() && !was_killed {
        talk.show(&format!("{} is set up", host(&observed)), &plan, false);
        talk.say("Nothing was changed.");
        return Ok(talk.code(&plan));
    }
    loop {
        match talk.agree(&format!("Setting up {}", host(&observed)), &plan)? {
            Answer::Go => break,
            Answer::Leave => return Ok(Exit::failed_if(!request.dry_run)),
            Answer::Keep(action, chord) => request = request.choosing(&action, chord),
            Answer::Notices => request = request.with_notices(),
        }
        plan = plan_with_warnings(talk, &request, &observed, &own)?;
        report.add_plan(&plan, paths);
    }
    apply_plan(talk, &observed, &plan, Purpose::Setup)?;
    report.changed = true;
    if plan.edits_keys() {
        reload(talk, &observed);
    }
    talk.say(last_words(&plan));
    Ok(talk.code(&plan))
}

/// What is to be done for this request, with what is worth a warning around it.
fn plan_with_warnings(talk: &Talk<'_>, request: &Request, observed: &Observed, own: &Path) -> Result<Plan> {
    let context = Context::new(request, observed, talk.paths);
    let mut plan = Plan::default();
    plugin::plan_plugin(&mut plan, &context, own)?;
    config::plan_config(&mut plan, &context)?;
    keys::plan_keys(&mut plan, &context)?;
    let checks = checks::around_a_plan(&context);
    plan.warnings.extend(checks.into_iter().filter_map(Warning::from_check));
    Ok(plan)
}

fn last_words(plan: &Plan) -> String {
    let start = match plan.presses("start") {
        Some(keys) => format!("press {}.", keys.replacen(' ', ", then ", 1)),
        None => "paste the bindings, then press the one for start.".into(),
    };
    let start = format!("Done. In Herdr, inside a git worktree, {start}");
    let undo = format!("Take it all back: {}", command::setup().flag("--undo"));
    let difference = "(herdr config reset-keys would also take the keys that you bound yourself)";
    let displaced = plan.displaced.as_ref().map_or_else(String::new, |displaced| {
        let Displaced { action, field, way_back, .. } = displaced;
        format!("Herdr's {field} has no key now; to give it back, and {action} another one: {way_back}\n")
    });
    format!("{start}\nSign the agent in inside its pane the first time.\n{displaced}{undo}\n  {difference}")
}
