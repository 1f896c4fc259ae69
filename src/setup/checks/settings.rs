//! The plugin's settings: `config.json`, the shape, what an egress list lets through, and the names that `allowFiles`
//! lets through: never silently.

use super::check::Check;
use super::context::Context;
use crate::config::{Config, Network, ProviderKind, Settings};
use crate::paths::Paths;
use crate::ui::count;
use crate::worktree::{self, AllowPattern, Worktree};
use std::path::Path;

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
            if let Some(conflict) = context.config().conflict() {
                let bad = conflict.place(bytes);
                return Check::fail(
                    "config",
                    format!("line {}, column {}: {}", bad.line, bad.column, bad.reason),
                )
                .path(shown)
                .fix(conflict.fix())
                .required();
            }
            let boxes = match config.provider {
                ProviderKind::Createos => "boxes on CreateOS",
                ProviderKind::Local => "boxes on this machine",
            };
            let asks = if config.unattended { ", unattended: it asks nothing" } else { "" };
            Check::ok("config", format!("agent {}{asks}, {boxes}", config.agent)).path(shown).required()
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
pub(super) fn shape(context: &Context<'_>) -> Check {
    let shape = context.config().shape;
    if !context.provider.has().limits {
        return match crate::local::knows_shape(shape.as_str()) {
            Ok(()) => Check::ok(
                "shape",
                format!("{shape}: processes and memory of each process are limited, processors are not"),
            )
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

/// Whether the allow-list lets the agent and its installer through. What is not known is not called good.
pub(super) fn egress(context: &Context<'_>) -> Check {
    let config = context.config();
    if config.provider.has().network && config.network == Network::Host {
        return Check::note(
            "egress",
            "open: boxes share this machine's network, with its own services in it",
        )
        .fix(context.forced().only("--network", "own"));
    }
    if config.egress.is_empty() {
        return Check::ok("egress", "open: a box may reach anything (no egress list)");
    }
    let rules = count(config.egress.len() as u64, "rule");
    let spec = config.agent.spec();
    if spec.install.is_none() {
        return Check::ok("egress", format!("{rules}; a {} needs none", spec.title.to_lowercase()));
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
        return Check::ok("egress", format!("{rules}; {} and its installer pass", spec.title));
    }
    let message = format!(
        "{rules}; what is known of {} passes, but nobody here knows the host of {}",
        spec.title,
        unknown.join(" and ")
    );
    Check::note("egress", message).fix("add it to egress in config.json, if it is not there")
}

/// One check for each worktree of `allowFiles`; none without any.
pub(super) fn allowed(context: &Context<'_>) -> Vec<Check> {
    let config = context.config();
    let entries = config.allow_files.entries().filter(|(.., patterns)| !patterns.is_empty());
    entries
        .map(|(written, folder, patterns)| {
            let message = let_through(written, patterns);
            match folder.map(|folder| fault(&config, &folder, context.paths)) {
                Some(Some(fault)) => Check::warn("allow-files", format!("{message}; {fault}"))
                    .fix("correct allowFiles in config.json, or take the entry out"),
                Some(None) | None => Check::note("allow-files", message),
            }
        })
        .collect()
}

/// What is let through, for a line of setup's or the doctor's.
pub(in crate::setup) fn let_through(written: &str, patterns: &[AllowPattern]) -> String {
    let place = if written == "*" { "every worktree" } else { written };
    let list: Vec<String> = patterns.iter().map(AllowPattern::to_string).collect();
    format!("of {place} leave although their names say no: {}", list.join(", "))
}

/// What is not as the entry means it.
fn fault(config: &Config, folder: &Path, paths: &Paths) -> Option<String> {
    if !folder.exists() {
        return Some(format!("{} is not there", paths.show(folder)));
    }
    let listed = Worktree::discover(Path::new("git"), folder)
        .and_then(|worktree| worktree::select(&worktree, &config.rules(worktree.root())));
    match listed {
        Ok(selection) => selection.idle.first().cloned(),
        Err(error) => Some(error.message().to_owned()),
    }
}
