//! `--undo`: what setups did is taken back, and what stays is named.

use super::carry_out::{apply_plan, lock, refuse_other_folder, reload};
use super::change::{BundleChange, Change, Leftover, Purpose};
use super::observe::{Observed, observe};
use super::plan::{Plan, leftovers, stays, undo};
use super::render;
use super::report::Report;
use super::talk::Talk;
use crate::command;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::state::Record;
use crate::ui;

/// Takes the setup back; the exit code.
///
/// # Errors
/// It cannot be taken back, or panes are tied to boxes and there was no terminal to ask on.
pub(super) fn take_back(talk: &Talk<'_>, report: &mut Report) -> Result<Exit> {
    let Talk { request, paths } = talk;
    let observed = observe(paths, request);
    let receipt = observed.receipt.clone()?;
    if let Some(receipt) = &receipt {
        refuse_other_folder(receipt, paths)?;
    }
    let mut plan = undo::plan_undo(receipt.as_ref(), &observed, paths)?;
    if receipt.is_none() {
        plan.changes.extend(leftovers(talk, &observed, &plan)?);
    }
    plan.kept = stays::after(&plan, &receipt.clone().unwrap_or_default(), &observed, paths);
    report.add_plan(&plan, paths);
    if receipt.is_none() && plan.changes.is_empty() {
        let title = "There is nothing to take back: no setup is on record here, and none left anything.";
        talk.say(render::plan(title, &plan, paths, false, ui::columns()).trim_end());
        talk.say("Nothing was changed.");
        return Ok(talk.code(&plan));
    }
    let boxes = observed.mappings.as_ref().map_or(&[][..], Vec::as_slice);
    say_boxes(talk, boxes);
    let agreed = if boxes.is_empty() || request.dry_run || request.yes {
        talk.go_ahead("Taking the setup back", &plan, "Take it back?", true)?
    } else if talk.asks() {
        talk.go_ahead("Taking the setup back", &plan, "Take it back and leave these boxes?", false)?
    } else {
        return Err(Error::failed("panes are still tied to boxes, which would be left behind")
            .fact("boxes", boxes.iter().map(|record| record.name.as_str()).collect::<Vec<_>>().join(", "))
            .help(format!(
                "delete them first, or leave them with: {}",
                command::setup().flag("--undo").flag("--yes")
            )));
    };
    if !agreed {
        return Ok(Exit::failed_if(!request.dry_run));
    }
    let short = apply_plan(talk, &observed, &plan, Purpose::Undo)?;
    report.changed = true;
    if plan.edits_keys() {
        reload(talk, &observed);
    }
    if let Some(error) = short.into_iter().next() {
        let lost =
            Error::failed("the setup was taken back, but the plugin from before it is not there again");
        return Err(lost.fact("because", error.message()).because(&error));
    }
    talk.say(if plan.warnings.is_empty() {
        "Done. Everything that setup did was taken back."
    } else {
        "Done. Everything that setup did was taken back, but for what is warned of above."
    });
    Ok(talk.code(&plan))
}

/// What killed runs left without a receipt, but for what the plan takes already. Under the lock: what is staged may be
/// a running setup's.
fn leftovers(talk: &Talk<'_>, observed: &Observed, plan: &Plan) -> Result<Vec<Change>> {
    let _lock = lock(talk.paths)?;
    let mut planned = Vec::new();
    for change in &plan.changes {
        if let Change::Bundle(BundleChange { folder, before, .. }) = change {
            planned.extend(before.keys().map(|name| folder.join(name)));
            planned.push(folder.clone());
        }
    }
    let found = leftovers::find(talk.paths, observed, &planned).into_iter();
    Ok(found.map(|path| Change::Leftover(Leftover { path })).collect())
}

fn say_boxes(talk: &Talk<'_>, boxes: &[Record]) {
    if boxes.is_empty() {
        return;
    }
    talk.say("These boxes are still tied to panes, and nothing here deletes them:\n");
    for record in boxes {
        let id = record.box_id.as_ref().map_or_else(|| record.name.to_string(), |id| id.to_string());
        let delete = record.provider.command(&["rm", "--yes", &id]);
        talk.say(format!("  {}", ui::visible(&delete.to_string())));
    }
    talk.say("");
}
