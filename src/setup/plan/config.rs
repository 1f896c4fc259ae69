//! The plan for the plugin's `config.json`: written when it is missing, kept when it is there, rewritten
//! when that is asked for.

use super::backup;
use crate::config::{AllowFiles, Dropped, Key, ProviderKind, Settings};
use crate::error::{Error, Result};
use crate::paths::Paths;
use crate::setup::change::{Change, FileChange, Line};
use crate::setup::checks::context::Context;
use crate::setup::checks::settings::let_through;
use crate::setup::observe::files::FileSeen;
use crate::setup::plan::{Plan, Warning};
use crate::setup::receipt::UserFile;
use crate::setup::request::{Request, Rewrite, WantedPlugin};

/// Settings that only the bundled plugin knows; the parser of CreateOS's own rejects them.
const OURS_ONLY: [Key; 11] = [
    Key::Network,
    Key::HomeFiles,
    Key::AgentSettings,
    Key::AgentArgs,
    Key::Unattended,
    Key::Environment,
    Key::AllowSecrets,
    Key::AllowFiles,
    Key::Provider,
    Key::RestorePanes,
    Key::DetachKey,
];

pub(in crate::setup) fn plan_config(plan: &mut Plan, context: &Context<'_>) -> Result<()> {
    let Context { request, observed, paths, .. } = *context;
    let file = &observed.config;
    if let Some(reason) = &file.unreadable {
        return Err(Error::failed(format!("{} cannot be read: {reason}", paths.show(&file.path))));
    }
    let (after, summary) = match (&file.bytes, request.rewrite) {
        (None, _) => (Some(fresh(&request.settings)), summary(&request.settings)),
        (Some(bytes), Rewrite::No) => {
            let kept = Settings::parse(bytes).map_err(|bad| bad.in_file(&file.path, &request.forced()))?;
            refuse_foreign(request, &kept)?;
            refuse_conflict(file, &kept)?;
            keep(plan, request, &kept);
            (None, String::new())
        }
        (Some(bytes), Rewrite::Keep) => {
            let (kept, dropped) = Settings::salvage(bytes);
            let message = |dropped: &Dropped| Warning { message: dropped.sentence(), fix: None };
            plan.warnings.extend(dropped.iter().map(message));
            (Some(fresh(&request.settings.clone().over(kept))), "flags over your settings".into())
        }
        (Some(_), Rewrite::Reset) => (Some(fresh(&request.settings)), "the defaults and your flags".into()),
    };
    let (settings, _dropped) = match &after {
        Some(after) => (after.clone(), Vec::new()),
        None => Settings::salvage(file.contents()),
    };
    for (written, _, patterns) in settings.allow_files.iter().flat_map(AllowFiles::entries) {
        let rest = let_through(written, patterns);
        plan.kept.push(Line::new("keep", "allowFiles", rest));
    }
    let Some(after) = after else { return Ok(()) };
    refuse_foreign(request, &after)?;
    if let Some(conflict) = after.conflict() {
        return Err(conflict.wanted());
    }
    let after = after.to_json().into_bytes();
    if file.bytes.as_ref() == Some(&after) {
        plan.right += 1;
        return Ok(());
    }
    if !file.owner.is_ours_to_write() {
        plan.warn(
            format!("{} was not written: {}", paths.show(&file.path), file.owner),
            format!("give it these settings:\n{}", String::from_utf8_lossy(&after).trim_end()),
        );
        return Ok(());
    }
    // A reset loses what earlier flags said, so it always leaves a copy.
    let backup = match (request.rewrite, &file.bytes) {
        (Rewrite::Reset, Some(bytes)) => backup::place(&file.path, bytes),
        _ => backup::needed(file, observed.known_receipt()),
    };
    let change = FileChange::new(UserFile::Config, &file.path, file.bytes.clone(), Some(after), summary);
    plan.changes.push(Change::File(FileChange { backup, ..change }));
    Ok(())
}

/// Refuses a repair that would open what `config.json` closes: what cannot be taken over may be what protects, and
/// only a flag that gives that setting anew, or `--reset`, says what is wanted in its place.
///
/// # Errors
/// With what would be lost, and how each of it is given.
pub(in crate::setup) fn refuse_loosening(request: &Request, config: &FileSeen, paths: &Paths) -> Result<()> {
    let Some(bytes) = config.bytes.as_ref().filter(|_| request.rewrite == Rewrite::Keep) else {
        return Ok(());
    };
    let is_given = |key: &Key| request.settings.get(*key).is_some();
    let (_, dropped) = Settings::salvage(bytes);
    let losses = dropped.iter().filter(|dropped| !dropped.loosens.iter().all(is_given));
    let mut error =
        Error::usage("--force would drop settings that protect, so it did nothing; nothing was changed")
            .fact("in", paths.show(&config.path));
    let mut flags = Vec::new();
    for loss in losses {
        error = error.fact("lost", loss.reason.clone());
        flags.extend(loss.loosens.iter().filter(|key| !is_given(key)).map(|key| flag(*key)));
    }
    flags.dedup();
    let reset = request.again.clone().without("--force").flag("--reset");
    if flags.is_empty() {
        return Ok(());
    }
    Err(error
        .help(format!("correct the file, or say what is to hold instead: {}", flags.join(" ")))
        .help(format!("or start from the defaults, without them: {reset}")))
}

/// The flag that gives a setting which protects.
fn flag(key: Key) -> &'static str {
    match key {
        Key::Egress => "--egress HOST (or none)",
        Key::Network => "--network NAME",
        Key::Excludes => "--exclude PATH",
        Key::SyncExcludes => "--sync-exclude NAME",
        _ => "--provider NAME",
    }
}

/// The settings of a file that we write: the four that setup has always written, and what was asked for.
pub(super) fn fresh(settings: &Settings) -> Settings {
    let defaults = Settings::default().resolve();
    let mut fresh = settings.clone().over(Settings {
        agent: Some(defaults.agent),
        shape: Some(defaults.shape),
        auto_pause: Some(defaults.auto_pause),
        remote_root: Some(defaults.remote_root),
        ..Settings::default()
    });
    fresh.provider = fresh.provider.filter(|provider| *provider != ProviderKind::Createos);
    fresh
}

fn summary(settings: &Settings) -> String {
    let config = settings.clone().resolve();
    let provider = if config.provider.has().isolation { ", boxes on this machine" } else { "" };
    format!("agent {}, {}{provider}", config.agent, config.shape)
}

/// Says which values of the flags were not applied to a file that is kept.
fn keep(plan: &mut Plan, request: &Request, kept: &Settings) {
    let default = Settings::from(kept.clone().resolve());
    let mut differing = Vec::new();
    for key in Key::ALL {
        let Some(wanted) = request.settings.get(key) else { continue };
        if default.get(key).as_ref() != Some(&wanted) {
            let now = default.get(key).map_or_else(|| "unset".into(), |value| plain(&value));
            differing.push(format!("{} {now} stays; {} was not applied", key.name(), plain(&wanted)));
        }
    }
    if differing.is_empty() {
        plan.right += 1;
    } else {
        let rest = format!("{} (use --force)", differing.join(", "));
        plan.kept.push(Line::new("keep", "config.json", rest));
    }
}

/// A value without the quotes of JSON.
fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) if items.is_empty() => "none".into(),
        serde_json::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// What is kept has to go together.
fn refuse_conflict(file: &FileSeen, kept: &Settings) -> Result<()> {
    kept.conflict().map_or(Ok(()), |conflict| Err(conflict.in_file(&file.path, file.contents())))
}

/// With a plugin that is not ours, settings that only ours knows would break every action.
fn refuse_foreign(request: &Request, settings: &Settings) -> Result<()> {
    if request.plugin == WantedPlugin::Bundled {
        return Ok(());
    }
    let Some(key) = OURS_ONLY.into_iter().find(|key| settings.get(*key).is_some()) else { return Ok(()) };
    let mut error =
        Error::failed(format!("this plugin does not know \"{}\", and would reject config.json", key.name()));
    if request.settings.provider == Some(ProviderKind::Local) {
        error =
            error.help("--provider local works with the bundled plugin only: leave out --source and --local");
        return Err(error);
    }
    let again = match key {
        Key::Provider => request.forced().only("--provider", "createos"),
        _ => request.again.clone().without("--force").flag("--reset"),
    };
    Err(error.help(format!("take it out of config.json, or: {again}")))
}
