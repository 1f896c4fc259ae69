//! The plugin, its settings, and whether what it has written down is still there.

use super::Context;
use super::check::{Check, Status};
use crate::config::{Config, ProviderKind, Settings};
use crate::herdr::{Manifest, Plugin};
use crate::setup::bundle;
use crate::setup::observe::same_folder;
use crate::setup::receipt::PluginState;
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
        Err(reason) => {
            Check::fail("plugin", format!("its manifest is gone: {reason}")).fixed_by(context.setup())
        }
        // Herdr's own way to enable it needs a server.
        Ok(_) if !plugin.enabled => Check::fail("plugin", "it is disabled").fixed_by(context.setup()),
        Ok(manifest) if manifest.id != plugin.id => {
            Check::fail("plugin", format!("its manifest now says \"{}\"", manifest.id))
                .fixed_by(context.setup())
        }
        Ok(manifest) => {
            let bundled = same_folder(&plugin.root, &context.paths.bundled_plugin());
            let how = match PluginState::of(Some(plugin)) {
                PluginState::Github { source, .. } => format!("installed from {source}"),
                _ if bundled => "bundled".into(),
                _ => "a checkout".into(),
            };
            let check = match &context.observed.starts {
                _ if let Some(who) = replaced_by(context, plugin) => Check::warn(
                    "plugin",
                    format!("{who} in place of ours: {} {}, {how}", plugin.id, manifest.version),
                ),
                Some(Err(reason)) => Check::fail("plugin", format!("no key works: {reason}")),
                _ if bundled => {
                    as_written(context, manifest, format!("{} {}, {how}", plugin.id, manifest.version))
                }
                _ => Check::ok("plugin", format!("{} {}, {how}", plugin.id, manifest.version)),
            };
            let check = if check.status == Status::Ok { check } else { check.fixed_by(context.setup()) };
            check.found(manifest.version.clone())
        }
    };
    check.path(root).required()
}

/// Who has put the registered plugin in place of the one that a setup here registered.
fn replaced_by(context: &Context<'_>, plugin: &Plugin) -> Option<&'static str> {
    let receipt = context.observed.receipt.as_ref().ok()?.as_ref()?;
    let now = PluginState::of(Some(plugin));
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
        [only] => bundle::files(Path::new(only), &bundle::Programs::default()).ok(),
        _ => None,
    };
    let own = own.as_ref().and_then(|files| files.get(bundle::MANIFEST));
    if own == context.observed.bundle.get(bundle::MANIFEST) {
        return Check::ok("plugin", says);
    }
    let wanted = own.and_then(|text| Manifest::of_text(std::str::from_utf8(text).ok()?));
    match wanted.as_ref().map(|wanted| manifest.lacks(wanted)) {
        Some(None) => {
            Check::warn("plugin", format!("{says}; its manifest is of another version of this program"))
        }
        Some(Some(what)) => Check::fail("plugin", format!("{says}; its manifest lacks: {what}")),
        None => Check::fail("plugin", format!("{says}; its manifest starts something else")),
    }
}

/// The plugin's `config.json`.
pub(super) fn config(context: &Context<'_>) -> Check {
    let file = &context.observed.config;
    let shown = context.paths.show(&file.path);
    if let Some(reason) = &file.unreadable {
        return Check::fail("config", format!("it cannot be read: {reason}")).path(shown).required();
    }
    let Some(bytes) = &file.bytes else {
        let check = Check::skip("config", "there is none, so the defaults apply").path(shown);
        return if context.is_set_up() { check.fixed_by(context.setup()) } else { check };
    };
    match Settings::parse(bytes) {
        Ok(settings) => {
            let config = settings.resolve();
            let boxes = match config.provider {
                ProviderKind::Createos => "boxes on CreateOS",
                ProviderKind::Local => "boxes on this machine",
            };
            Check::ok("config", format!("agent {}, {boxes}", config.agent)).path(shown).required()
        }
        Err(bad) => {
            Check::fail("config", format!("line {}, column {}: {}", bad.line, bad.column, bad.reason))
                .path(shown)
                .fix(format!("correct it, or keep its valid settings with: {}", context.forced()))
                .required()
        }
    }
}

/// Whether the account has the shape.
pub(in crate::setup) fn shape(context: &Context<'_>) -> Check {
    let shape = context.config().shape;
    if context.provider == ProviderKind::Local {
        return match crate::local::knows_shape(shape.as_str()) {
            Ok(()) => Check::ok("shape", format!("{shape}, shown and not enforced on this machine"))
                .found(shape.as_str()),
            Err(known) => Check::warn("shape", format!("boxes on this machine know no {shape}"))
                .found(shape.as_str())
                .needed(format!("one of: {}", known.join(", ")))
                .fix(context.forced().only("--shape", Config::default().shape.as_str())),
        };
    }
    match &context.observed.shapes {
        None => Check::skip("shape", "there is no createos to ask"),
        Some(Err(_)) => Check::skip("shape", "createos does not list its shapes"),
        Some(Ok(shapes)) if shapes.iter().any(|known| known == shape.as_str()) => {
            Check::ok("shape", format!("{shape} is in your plan")).found(shape.as_str())
        }
        Some(Ok(shapes)) => {
            let list = shapes.join(", ");
            let smaller = shapes.last().map_or_else(|| "SHAPE".into(), Clone::clone);
            Check::warn("shape", format!("{shape} is not in your plan"))
                .found(shape.as_str())
                .needed(format!("one of: {list}"))
                .fix(context.forced().only("--shape", smaller))
        }
    }
}

/// Why an egress list and local boxes do not go together.
pub(in crate::setup) const NOT_LOCAL: &str = "boxes on this machine cannot enforce an egress list";

/// Whether the allow-list lets the agent and its installer through. What is not known is not called good.
pub(super) fn egress(context: &Context<'_>) -> Check {
    let config = context.config();
    if config.egress.is_empty() {
        return Check::ok("egress", "open: a box may reach anything (no egress list)");
    }
    if context.provider == ProviderKind::Local {
        return Check::fail("egress", NOT_LOCAL).fix(context.forced().only("--egress", "none")).required();
    }
    let rules = config.egress.len();
    let plural = if rules == 1 { "rule" } else { "rules" };
    let spec = config.agent.spec();
    if spec.install.is_none() {
        return Check::ok("egress", format!("{rules} {plural}; a {} needs none", spec.title.to_lowercase()));
    }
    let registry = spec.registry.as_ref().map(|_| context.observed.registry.as_deref());
    let needed = spec.needed_hosts().chain(registry.flatten());
    let passes = |host: &str| config.egress.iter().any(|rule| rule.lets_pass(host, 443));
    let blocked: Vec<&str> = needed.filter(|host| !passes(host)).collect();
    if !blocked.is_empty() {
        let by_address = config.egress.iter().any(|rule| rule.is_about_addresses());
        let doubt = if by_address { ", unless a rule for addresses does" } else { "" };
        let all = config.egress.iter().map(|rule| rule.as_str()).chain(blocked.iter().copied());
        let fix = all.fold(context.forced().without("--egress"), |fix, rule| fix.with("--egress", rule));
        let who = spec.title.as_str();
        return Check::warn(
            "egress",
            format!("no rule lets {who} or its installer reach {}{doubt}", blocked.join(", ")),
        )
        .fix(fix);
    }
    let everything = passes("*");
    let unknown = [
        (registry == Some(None)).then_some("its package registry"),
        spec.provider.then_some("its model provider"),
    ];
    let unknown: Vec<&str> = unknown.into_iter().flatten().filter(|_| !everything).collect();
    if unknown.is_empty() {
        return Check::ok("egress", format!("{rules} {plural}; {} and its installer pass", spec.title));
    }
    let message = format!(
        "{rules} {plural}; what is known of {} passes, but nobody here knows the host of {}",
        spec.title,
        unknown.join(" and ")
    );
    Check::note("egress", message).fix("add it to egress in config.json, if it is not there")
}

/// Whether the recorded programs still exist.
pub(super) fn paths(context: &Context<'_>) -> Check {
    let recorded = match &context.observed.recorded {
        Err(error) => return Check::warn("paths", error.message().to_owned()).fixed_by(context.setup()),
        Ok(None) => return Check::skip("paths", "nothing is recorded yet"),
        Ok(Some(recorded)) => recorded,
    };
    let own = context.observed.bundle.get(bundle::MANIFEST).and_then(|manifest| {
        let manifest = String::from_utf8_lossy(manifest);
        let argv = manifest.lines().find_map(|line| line.strip_prefix("command = ["))?;
        let program = serde_json::Deserializer::from_str(argv).into_iter::<String>().next()?.ok()?;
        Some(std::path::PathBuf::from(program))
    });
    let mut gone: Vec<String> = Vec::new();
    let named = recorded.entries().chain(own.as_deref().map(|own| ("createos-sandbox", own)));
    for (name, path) in named {
        if !is_program(path) {
            gone.push(format!("{name} at {}", context.paths.show(path)));
        }
    }
    if gone.is_empty() {
        return Check::ok("paths", "the recorded programs are where they were");
    }
    Check::warn("paths", format!("not there any more: {}", gone.join(", "))).fixed_by(context.setup())
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}
