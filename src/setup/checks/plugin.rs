//! The plugin, its settings, whether what it has written down is still there, and whether its setup came to its end.

use super::check::{Check, Status};
use super::context::Context;
use crate::command;
use crate::herdr::{Manifest, Plugin};
use crate::setup::bundle;
use crate::setup::observe::plugin::same_folder;
use crate::setup::receipt::{PluginState, Progress};
use std::path::Path;

/// How the plugin is registered.
pub(super) fn plugin(context: &Context<'_>) -> Check {
    let registered = match &context.observed.plugin {
        Err(reason) => {
            return Check::fail("plugin", format!("Herdr's plugin registry cannot be read: {reason}"))
                .fix(format!("mend it or move it away, then: {}", context.setup()))
                .required();
        }
        Ok(None) if context.is_set_up() => {
            let message = "the plugin was set up and is not registered any more";
            return Check::fail("plugin", message).fixed_by(context.setup()).required();
        }
        Ok(None) => {
            return Check::skip("plugin", "not set up yet").fixed_by(context.setup());
        }
        Ok(Some(registered)) => registered,
    };
    let plugin = &registered.plugin;
    let root = context.paths.show(&plugin.root);
    let check = match &registered.manifest {
        Err(reason) => Check::fail("plugin", format!("its manifest is gone: {reason}")),
        // Herdr's own way to enable it needs a server.
        Ok(_) if !plugin.enabled => Check::fail("plugin", "it is disabled"),
        Ok(manifest) if manifest.id != plugin.id => {
            Check::fail("plugin", format!("its manifest now says \"{}\"", manifest.id))
        }
        Ok(manifest) => {
            let bundled = same_folder(&plugin.root, &context.paths.bundled_plugin());
            let how = match PluginState::from(Some(plugin)) {
                PluginState::Github { source, .. } => format!("installed from {source}"),
                _ if bundled => "bundled".into(),
                _ => "a checkout".into(),
            };
            let says = format!("{} {}, {how}", plugin.id, manifest.version);
            let check = match &context.observed.starts {
                _ if let Some(who) = replaced_by(context, plugin) => {
                    Check::warn("plugin", format!("{who} in place of ours: {says}"))
                }
                Some(Err(reason)) => Check::fail("plugin", format!("no key works: {reason}")),
                _ if bundled => as_written(context, manifest, says),
                _ => Check::ok("plugin", says),
            };
            check.found(manifest.version.clone())
        }
    };
    let check = if check.status == Status::Ok { check } else { check.fixed_by(context.setup()) };
    check.path(root).required()
}

/// Who has put the registered plugin in place of the one that a setup here registered.
fn replaced_by(context: &Context<'_>, plugin: &Plugin) -> Option<&'static str> {
    let receipt = context.observed.receipt.as_ref().ok()?.as_ref()?;
    let now = PluginState::from(Some(plugin));
    if now.is_at(&receipt.plugin.as_ref()?.left) {
        return None;
    }
    let official = context.template.plugin.github.split('/').take(2).collect::<Vec<_>>().join("/");
    let is_official = match &now {
        PluginState::Github { source, .. } => source.repository.starts_with(&official),
        PluginState::Linked { root, .. } => {
            root.starts_with(context.paths.home().join(".config/createos/plugins"))
        }
        PluginState::Absent => false,
    };
    Some(match is_official {
        true => "the official `createos sandbox setup herdr` has put its plugin",
        false => "another plugin was put",
    })
}

/// Whether the bundled manifest is the one that this program would write for the program that it starts.
fn as_written(context: &Context<'_>, manifest: &Manifest, says: String) -> Check {
    let programs = manifest.programs();
    let own = match programs.as_slice() {
        [only] => bundle::files(Path::new(only), &bundle::ProgramPaths::default()).ok(),
        _ => None,
    };
    let own = own.as_ref().and_then(|files| files.get(bundle::MANIFEST));
    if own == context.observed.bundle.get(bundle::MANIFEST) {
        return Check::ok("plugin", says);
    }
    let wanted = own.and_then(|text| Manifest::parse(text));
    match wanted.as_ref().map(|wanted| manifest.lacks(wanted)) {
        Some(None) => {
            Check::warn("plugin", format!("{says}; its manifest is of another version of this program"))
        }
        Some(Some(what)) => Check::fail("plugin", format!("{says}; its manifest lacks: {what}")),
        None => Check::fail("plugin", format!("{says}; its manifest starts something else")),
    }
}

/// Whether the recorded programs still exist.
pub(super) fn paths(context: &Context<'_>) -> Check {
    let recorded = match &context.observed.recorded {
        Err(error) => return Check::warn("paths", error.message().to_owned()).fixed_by(context.setup()),
        Ok(None) => return Check::skip("paths", "nothing is recorded yet"),
        Ok(Some(recorded)) => recorded,
    };
    let manifest = context.observed.bundle.get(bundle::MANIFEST).and_then(|text| Manifest::parse(text));
    let own = manifest.as_ref().and_then(|manifest| manifest.programs().first().copied().map(Path::new));
    let named = recorded.entries().chain(own.map(|own| ("createos-sandbox", own)));
    let gone = named.filter(|(_, path)| !is_program(path));
    let gone: Vec<String> =
        gone.map(|(name, path)| format!("{name} at {}", context.paths.show(path))).collect();
    if gone.is_empty() {
        return Check::ok("paths", "the recorded programs are where they were");
    }
    Check::warn("paths", format!("not there any more: {}", gone.join(", "))).fixed_by(context.setup())
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

/// Said only when the last setup, or undo, did not come to its end.
pub(super) fn unfinished(context: &Context<'_>) -> Option<Check> {
    let Ok(Some(receipt)) = &context.observed.receipt else { return None };
    let undo = command::setup().flag("--undo");
    (receipt.state == Progress::Applying).then(|| {
        Check::warn("setup", "the last one was stopped half way")
            .fix(format!("{}\nor take it back: {undo}", context.setup()))
    })
}
