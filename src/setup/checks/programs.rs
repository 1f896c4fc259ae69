//! The system, the programs, and whether the official CLI can be used.

use super::check::Check;
use super::context::Context;
use crate::command::{self, Command};
use crate::install::{self, OnPath};
use crate::setup::observe::credentials::SignIn;
use crate::setup::observe::programs::Program;
use crate::setup::request::{Task, WantedPlugin};
use crate::setup::template::{Need, Requirement};

/// The way that needs neither the official program nor an account; only Linux has local boxes.
pub(in crate::setup) fn without_account(setup: &Command) -> String {
    let setup = setup.clone().without("--source").without("--local").only("--provider", "local");
    format!("or without an account, boxes on this machine: {setup}")
}

/// Linux and macOS are what the plugin and the boxes run on.
pub(super) fn os() -> Check {
    let name = match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        other => other,
    };
    let found = format!("{name} {}", std::env::consts::ARCH);
    let check = if matches!(name, "Linux" | "macOS") {
        Check::ok("os", found.clone())
    } else {
        Check::fail("os", format!("{name} is not supported")).needed("Linux or macOS")
    };
    check.found(found).required()
}

/// A program of the template. The id is leaked once for each requirement: they are few and stay for ever.
pub(super) fn requirement(context: &Context<'_>, requirement: &'static Requirement) -> Check {
    let id = requirement.id.as_str();
    let program = context.observed.programs.get(id).map_or(&Program::Missing, |choice| &choice.program);
    if let Some(reason) = not_needed(context, requirement.needed) {
        let found = match program {
            Program::Found { text, .. } => Some(text.clone()),
            _ => None,
        };
        return Check { found, ..Check::skip(id, reason) };
    }
    let check = judge(context, requirement, program);
    if id == "bun" || requirement.needed != Need::Bun { check.required() } else { check }
}

/// Said when a shell runs another copy than the one that is used here.
pub(super) fn shadowed(context: &Context<'_>, requirement: &'static Requirement) -> Option<Check> {
    let id = requirement.id.as_str();
    let OnPath::Other(first) = &context.observed.programs.get(id)?.on_path else { return None };
    if not_needed(context, requirement.needed).is_some() {
        return None;
    }
    let chosen = context.observed.path_of(id)?;
    let folder = context.paths.show(chosen.parent()?);
    let message = format!(
        "PATH leads to {} first, and {} is used here",
        context.paths.show(first),
        context.paths.show(chosen)
    );
    Some(Check::warn(id, message).fix(format!("put {folder} before it on PATH")))
}

/// The official program, to be typed: by its path where a shell would run another one.
fn createos<'a>(context: &Context<'_>, words: impl IntoIterator<Item = &'a str>) -> Command {
    let choice = context.observed.programs.get("createos");
    let other = choice.filter(|choice| choice.on_path != OnPath::Chosen);
    match other.and_then(|choice| choice.program.path()) {
        Some(path) => command::program(path.to_string_lossy(), words),
        None => command::createos(words),
    }
}

fn not_needed(context: &Context<'_>, need: Need) -> Option<&'static str> {
    match need {
        Need::Always => None,
        Need::Createos if !context.provider.has().account => Some("not needed with the local provider"),
        Need::Createos => None,
        Need::Bun if needs_bun(context) => None,
        Need::Bun => Some("not needed by the bundled plugin"),
    }
}

/// Whether the plugin that is wanted, or that is there when nothing else is wanted, runs on Bun.
fn needs_bun(context: &Context<'_>) -> bool {
    let registered = matches!(&context.observed.plugin, Ok(Some(registered)) if registered.runs_on_bun);
    match &context.request.plugin {
        WantedPlugin::Checkout(_) => {
            matches!(&context.observed.checkout, Some(Ok(checkout)) if checkout.runs_on_bun)
        }
        WantedPlugin::Github(source) => source.repository == context.template.plugin.github || registered,
        // The doctor looks at what is there; a setup is about to replace it.
        WantedPlugin::Bundled => context.request.task == Task::Doctor && registered,
    }
}

fn judge(context: &Context<'_>, requirement: &'static Requirement, program: &Program) -> Check {
    let id = requirement.id.as_str();
    let minimum = requirement.minimum.as_ref().map(|minimum| format!("{minimum} or newer"));
    let needed = minimum.clone().unwrap_or_else(|| format!("{id} on PATH"));
    let shown = program.path().map(|path| context.paths.show(path));
    let check = match program {
        Program::Missing => {
            let fix = missing(context, requirement);
            Check::fail(id, format!("{id} is not on PATH; {}", requirement.purpose)).needed(needed).fix(fix)
        }
        Program::Broken { reason, .. } => {
            Check::fail(id, reason.clone()).needed(needed).fix(requirement.missing.here())
        }
        Program::Found { text, .. } if program.will_do(requirement.minimum.as_ref()) => {
            Check::ok(id, format!("{id} {text}")).found(text)
        }
        Program::Found { text, .. } => {
            Check::fail(id, format!("{id} {text} is too old; {}", requirement.purpose))
                .found(text)
                .needed(needed)
                .fix(requirement.outdated.here())
        }
    };
    Check { path: shown, ..check }
}

/// How a program gets here. A setup has its own words for it.
fn missing(context: &Context<'_>, requirement: &Requirement) -> String {
    let by_hand = requirement.missing.here();
    if context.request.task != Task::Doctor || !install::brings(&requirement.id) {
        return by_hand.to_owned();
    }
    let setup = context.setup();
    let without = match requirement.needed {
        Need::Createos if cfg!(target_os = "linux") => format!("\n{}", without_account(&setup)),
        _ => String::new(),
    };
    format!("{}{without}\nor by hand: {by_hand}", setup.flag("--install-missing"))
}

/// Whether the official CLI can be used, and with which credential.
pub(super) fn sign_in(context: &Context<'_>) -> Check {
    let observed = context.observed;
    let login = createos(context, ["login"]);
    let sign_in = match context.on_terminal {
        true => login.to_string(),
        false => format!("put a key into CREATEOS_API_KEY, or on a terminal: {login}"),
    };
    let with = observed.credentials.winner();
    let check = match &observed.sign_in {
        SignIn::NotAsked if !context.provider.has().account => {
            return Check::skip("session", "not needed with the local provider");
        }
        SignIn::NotAsked => return Check::skip("session", "there is no createos to ask"),
        SignIn::Usable if observed.credentials.only_in_this_shell() => {
            let name = with.unwrap_or_default();
            let message = format!(
                "signed in with {name}, which only this shell has; a Herdr server that runs may lack it"
            );
            Check::warn("session", message)
                .fix(format!("{login}\nor export it where your shell starts, and then restart Herdr"))
        }
        SignIn::Usable => Check::ok(
            "session",
            format!("signed in with {}", with.unwrap_or_else(|| "a stored login".into())),
        ),
        SignIn::SignedOut(words) => {
            let said = words.lines().next().unwrap_or_default().trim();
            let said = if said.is_empty() { String::new() } else { format!(": {said}") };
            Check::fail("session", format!("createos is not signed in{said}")).fix(sign_in)
        }
        SignIn::Unclear(words) => {
            let said = words.lines().next().unwrap_or_default().trim();
            Check::fail("session", format!("createos does not answer: {said}"))
                .fix(createos(context, ["-o", "json", "sandbox", "list", "--limit", "1"]))
        }
    };
    check.required()
}
