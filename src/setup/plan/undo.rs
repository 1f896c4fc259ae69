//! The plan that takes a setup back, from what is there and from its receipt. A file that still has the hash that we
//! left gets its original bytes; from one that changed since, exactly our own entries are removed.
//!
//! So is what setups did that no receipt knows of, and that is theirs all the same: a registration that leads to our folder,
//! entries below our marker with our words, a `config.json` with nothing but what every setup writes.

use super::config::fresh;
use super::leftovers;
use crate::config::{ProviderKind, Settings};
use crate::error::{Error, Result};
use crate::fs::{Digest, digest};
use crate::keys;
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::change::{BundleChange, Change, FileChange, PluginChange, ProgramChange};
use crate::setup::observe::Observed;
use crate::setup::observe::files::{FileSeen, Owner};
use crate::setup::plan::{Plan, Warning};
use crate::setup::receipt::{FileReceipt, PluginState, Receipt, UserFile, disk};
use crate::setup::request::keys::description;
use crate::setup::{bundle, template};
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
    plan_unrecorded(&mut plan, receipt, observed, paths)?;
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
    let seen = FileSeen::look(&file.path);
    if let owner @ Owner::Irregular { .. } = &seen.owner {
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
            format!("remove it with: {}", crate::command::herdr(["plugin", "uninstall", PLUGIN_ID])),
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

/// Adds to the plan of an undo what `receipt` does not cover.
///
/// # Errors
/// `config.toml` does not parse.
fn plan_unrecorded(plan: &mut Plan, receipt: &Receipt, observed: &Observed, paths: &Paths) -> Result<()> {
    let is_known =
        |what: UserFile, file: &FileSeen| receipt.files.iter().any(|f| f.what == what && f.path == file.path);
    if !is_known(UserFile::Keys, &observed.keys) {
        take_out_keys(plan, &observed.keys, paths)?;
    }
    if !is_known(UserFile::Config, &observed.config) {
        take_out_config(plan, &observed.config, paths);
    }
    if receipt.plugin.is_none() {
        take_out_plugin(plan, observed, paths);
    }
    Ok(())
}

/// Each action's id with the words that a setup gives its binding.
fn our_words() -> Vec<(String, String)> {
    let known = &template::herdr().keys;
    let words = |action: &String| match known.iter().find(|key| key.action == *action) {
        Some(key) => key.description.clone(),
        None => description(action),
    };
    bundle::actions().iter().map(|action| (format!("{PLUGIN_ID}.{action}"), words(action))).collect()
}

fn take_out_keys(plan: &mut Plan, file: &FileSeen, paths: &Paths) -> Result<()> {
    let Some(now) = file.bytes.as_ref().filter(|_| file.unreadable.is_none()) else { return Ok(()) };
    let shown = paths.show(&file.path);
    let unmerged = match keys::unmerge_marked(now, &our_words()) {
        Ok(unmerged) => unmerged,
        // Nothing says that anything of ours is in there.
        Err(_) if !contains(now, PLUGIN_ID) => return Ok(()),
        Err(error) => {
            return Err(Error::failed(format!("{shown}, {error}"))
                .fact("nothing was changed", "our bindings cannot be told from yours in such a file")
                .help("mend the file and run this again"));
        }
    };
    if unmerged.removed.is_empty() {
        return Ok(());
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(format!("{shown} is not written: {}", file.owner), file.owner.take_out());
        return Ok(());
    }
    let summary = "our entries go; no record of a setup has what was there before";
    let change =
        FileChange::new(UserFile::Keys, &file.path, file.bytes.clone(), Some(unmerged.text), summary);
    plan.changes.push(Change::File(change));
    Ok(())
}

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|window| window == word.as_bytes())
}

fn take_out_config(plan: &mut Plan, file: &FileSeen, paths: &Paths) {
    let Some(now) = &file.bytes else { return };
    let of_every_setup = [None, Some(ProviderKind::Local)]
        .map(|provider| fresh(&Settings { provider, ..Settings::default() }).to_json().into_bytes());
    if !of_every_setup.contains(now) {
        return;
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(format!("{} stays: {}", paths.show(&file.path), file.owner), "remove it by hand");
        return;
    }
    let summary = "it holds what every setup writes, and nothing else";
    let change = FileChange::new(UserFile::Config, &file.path, file.bytes.clone(), None, summary);
    plan.changes.push(Change::File(change));
}

fn take_out_plugin(plan: &mut Plan, observed: &Observed, paths: &Paths) {
    let Ok(Some(registered)) = &observed.plugin else { return };
    let now = PluginState::from(Some(&registered.plugin));
    if !now.is_at(&PluginState::Linked { root: paths.bundled_plugin(), enabled: true }) {
        return;
    }
    if observed.path_of("herdr").is_none() {
        plan.warn(
            "the plugin's registration stays, since herdr is not there",
            format!("do it with: {}", PluginState::Absent.command()),
        );
        return;
    }
    plan.changes.push(Change::Plugin(PluginChange { from: now, to: PluginState::Absent, commit: None }));
}
