//! The plan that takes a setup back, from what is there and from its receipt. A file that still has the hash that we
//! left gets its original bytes; from one that changed since, exactly our own entries are removed.

use super::{leftovers, unrecorded};
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::fs::{Digest, digest};
use crate::keys;
use crate::paths::Paths;
use crate::setup::change::{BundleChange, Change, FileChange, PluginChange, ProgramChange};
use crate::setup::observe::Observed;
use crate::setup::plan::{Plan, Warning};
use crate::setup::receipt::{FileReceipt, PluginState, Receipt, UserFile, disk};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The plan that undoes the setup of `receipt`, and what else of setups is there; without a receipt that alone.
///
/// # Errors
/// An original is gone, or `config.toml` does not parse any more.
pub(crate) fn plan_undo(receipt: Option<&Receipt>, observed: &Observed, paths: &Paths) -> Result<Plan> {
    let mut plan = Plan::default();
    let none = Receipt::default();
    let (receipt, is_recorded) = (receipt.unwrap_or(&none), receipt.is_some());
    // Keys first: they are what a person would miss the plugin by.
    for file in receipt.files.iter().rev() {
        let turned_on = receipt.notices.iter().any(|kept| kept.path == file.path);
        give_back_file(&mut plan, file, turned_on, paths, |now| match file.what {
            UserFile::Keys => without_keys(now, receipt, file, paths),
            UserFile::Config => without_settings(now, file, paths),
        })?;
    }
    unrecorded::plan_unrecorded(&mut plan, receipt, observed, paths)?;
    give_back_plugin(&mut plan, receipt, observed, paths);
    if let Some(program) = &receipt.program {
        let now = std::fs::read(&program.path).ok();
        if now.as_deref().map(digest) != Some(program.original) {
            plan.changes.push(Change::Program(ProgramChange {
                path: program.path.clone(),
                before: now,
                after: disk::original(paths, program.original)?,
            }));
        }
    }
    let goes =
        |change: &Change| matches!(change, Change::Plugin(PluginChange { to, .. }) if !is_bundled(to, paths));
    if !observed.bundle.is_empty()
        && (is_recorded || plan.changes.iter().any(goes) || !leftovers::is_in_use(paths))
    {
        plan.changes.push(Change::Bundle(BundleChange {
            folder: paths.bundled_plugin(),
            before: observed.bundle.clone(),
            after: BTreeMap::new(),
        }));
    }
    Ok(plan)
}

/// Whether a registration leads to the folder of the bundled plugin.
fn is_bundled(state: &PluginState, paths: &Paths) -> bool {
    state.is_at(&PluginState::Linked { root: paths.bundled_plugin(), enabled: true })
}

/// What our entries leave when they are taken out: the file's new bytes, or none when nothing stays.
type Rest = Option<Vec<u8>>;

fn give_back_file(
    plan: &mut Plan,
    file: &FileReceipt,
    turned_on: bool,
    paths: &Paths,
    by_meaning: impl FnOnce(&[u8]) -> Result<Rest>,
) -> Result<()> {
    let seen = crate::setup::observe::files::FileSeen::look(&file.path);
    if let owner @ crate::setup::observe::files::Owner::Irregular { .. } = &seen.owner {
        plan.warnings.push(Warning {
            message: format!("{} is left alone: {}", paths.show(&file.path), owner),
            fix: None,
        });
        return Ok(());
    }
    if let Some(reason) = &seen.unreadable {
        return Err(Error::failed(format!("{} cannot be read: {reason}", paths.show(&file.path))));
    }
    let Some(now) = seen.bytes.clone() else { return Ok(()) };
    let hash = digest(&now);
    if Some(hash) == file.original {
        return Ok(());
    }
    let untouched = file.left.contains(&hash) && !file.edited_between;
    let (after, summary) = if untouched {
        let original = original(file.original, paths)?;
        let summary = if original.is_some() { "back to what it was" } else { "it was not there before" };
        (original, summary)
    } else {
        (by_meaning(&now)?, "it changed since, so exactly our entries go")
    };
    if let (UserFile::Keys, Some(after)) = (file.what, &after)
        && turned_on
        && keys::delivery(after).is_ok_and(|on| on.is_some())
    {
        plan.notes.push(format!(
            "{}: Herdr's notices, which a setup turned on, stay on: something was built on them",
            paths.show(&file.path)
        ));
    }
    if after.as_ref() == Some(&now) {
        return Ok(());
    }
    if !seen.owner.is_ours_to_write() {
        plan.warn(
            format!("{} is not written: {}", paths.show(&file.path), seen.owner),
            seen.owner.take_out(),
        );
        return Ok(());
    }
    plan.changes.push(Change::File(FileChange::new(file.what, &file.path, Some(now), after, summary)));
    Ok(())
}

fn original(digest: Option<Digest>, paths: &Paths) -> Result<Rest> {
    digest.map(|digest| disk::original(paths, digest)).transpose()
}

fn without_keys(now: &[u8], receipt: &Receipt, file: &FileReceipt, paths: &Paths) -> Result<Rest> {
    let unreadable = |error: keys::KeysError| {
        Error::failed(format!("{}, {error}", paths.show(&file.path)))
            .fact(
                "nothing was changed",
                "our bindings cannot be told from yours in a file that does not parse",
            )
            .help("mend the file and run this again")
    };
    let mut text = now.to_vec();
    for kept in receipt.keys.iter().rev().filter(|kept| kept.may_be_in(&file.path)) {
        text = keys::unmerge(&text, &kept.added).map_err(unreadable)?.text;
    }
    for kept in receipt.notices.iter().rev().filter(|kept| kept.path == file.path) {
        if let Some(without) = keys::without_notices(&text, &kept.patch).map_err(unreadable)? {
            text = without;
        }
    }
    let text = keys::without_markers(&text).map_err(unreadable)?;
    Ok((!(text.is_empty() && file.original.is_none())).then_some(text))
}

/// Every setting that still has the value that we left goes back to what it was; the others are the user's.
fn without_settings(now: &[u8], file: &FileReceipt, paths: &Paths) -> Result<Rest> {
    let object = |bytes: &[u8]| serde_json::from_slice::<Map<String, Value>>(bytes).ok();
    let Some(mut settings) = object(now) else {
        // It is not ours any more in any sense that could be taken back.
        return Ok(Some(now.to_vec()));
    };
    let left = file.left.last().map(|left| disk::original(paths, *left)).transpose()?;
    let left = left.as_deref().and_then(object).unwrap_or_default();
    let before = original(file.original, paths)?;
    let before = before.as_deref().and_then(object).unwrap_or_default();
    for (key, value) in &left {
        if settings.get(key) != Some(value) {
            continue;
        }
        match before.get(key) {
            Some(old) => settings.insert(key.clone(), old.clone()),
            None => settings.shift_remove(key),
        };
    }
    if settings.is_empty() && file.original.is_none() {
        return Ok(None);
    }
    if object(now).as_ref() == Some(&settings) {
        return Ok(Some(now.to_vec()));
    }
    let rest = Value::Object(settings);
    // In the documentation's order where it is a valid file.
    let ordered = serde_json::to_vec(&rest).ok().and_then(|bytes| Settings::parse(&bytes).ok());
    Ok(Some(ordered.map_or_else(|| format!("{rest:#}\n"), |settings| settings.to_json()).into_bytes()))
}

fn give_back_plugin(plan: &mut Plan, receipt: &Receipt, observed: &Observed, paths: &Paths) {
    let Some(known) = &receipt.plugin else { return };
    let mut original = known.again();
    if is_bundled(&original, paths) {
        // Of a setup whose receipt was lost.
        original = PluginState::Absent;
    }
    let mut leave = |message: String, to: &PluginState| {
        plan.warn(message, format!("do it with: {}", to.command()));
    };
    let registered = match &observed.plugin {
        Ok(registered) => registered,
        Err(reason) => {
            leave(format!("the plugin's registration stays, {reason}"), &original);
            return;
        }
    };
    let now = PluginState::from(registered.as_ref().map(|registered| &registered.plugin));
    if now == original || now == known.original {
        return;
    }
    let is_ours = now.is_at(&known.left) || now == PluginState::Absent;
    if !is_ours {
        plan.warn(
            format!("the plugin stays, since somebody registered it anew: it is {now}"),
            format!(
                "remove it with: {}",
                crate::command::herdr(["plugin", "uninstall", crate::paths::PLUGIN_ID])
            ),
        );
        return;
    }
    if observed.path_of("herdr").is_none() {
        leave("the plugin's registration stays, since herdr is not there".into(), &original);
        return;
    }
    let mut to = original.clone();
    if let PluginState::Linked { root, .. } = &to
        && !root.is_dir()
    {
        leave(format!("the earlier plugin is not linked again, {} is gone", root.display()), &to);
        to = PluginState::Absent;
    }
    if now != to {
        plan.changes.push(Change::Plugin(PluginChange { from: now, to, commit: None }));
    }
}
