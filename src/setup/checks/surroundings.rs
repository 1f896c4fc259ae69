//! What is around the plugin: Herdr's server and file, the shell's variables, notices, boxes.

use super::check::Check;
use super::context::Context;
use crate::config::{Agent, Source};
use crate::local::Reach;
use crate::setup::observe::files::Owner;
use crate::setup::shim::{self, ShimState};
use crate::{command, keys};

/// Whether a server runs that understands the client.
pub(super) fn server(context: &Context<'_>) -> Check {
    match &context.observed.server {
        None => Check::skip("herdr-server", "there is no herdr to ask"),
        Some(Err(error)) => Check::warn("herdr-server", error.message().to_owned()),
        Some(Ok(None)) => Check::ok("herdr-server", "not running; what is set up applies when it starts"),
        Some(Ok(Some(true))) => Check::ok("herdr-server", "running"),
        Some(Ok(Some(false))) => Check::warn(
            "herdr-server",
            "it is of another version and refuses plugin calls",
        )
        .fix(format!("{}\nthen: {}", command::herdr(["server", "stop"]), command::herdr([]))),
    }
}

/// What Herdr itself says about `config.toml`.
pub(super) fn herdr_config(context: &Context<'_>) -> Check {
    let path = context.paths.show(&context.observed.keys.path);
    if let owner @ Owner::Irregular { .. } = &context.observed.keys.owner {
        return Check::skip("herdr-config", format!("not read: {}", owner)).path(path);
    }
    let diagnostics = match &context.observed.diagnostics {
        None => return Check::skip("herdr-config", "there is no herdr to ask"),
        Some(Err(error)) => return Check::warn("herdr-config", error.message().to_owned()).path(path),
        Some(Ok(diagnostics)) => diagnostics,
    };
    let lines = diagnostics.lines();
    let look = command::herdr(["config", "check"]);
    if diagnostics.drops_the_file() {
        let first = lines.first().map_or("", String::as_str);
        let message = format!("Herdr ignores the whole file: {first}");
        return Check::warn("herdr-config", message).path(path).fix(look);
    }
    match lines {
        [] if context.observed.keys.bytes.is_none() => {
            Check::ok("herdr-config", "there is none yet, so Herdr's defaults apply").path(path)
        }
        [] => Check::ok("herdr-config", "Herdr has nothing to say about it").path(path),
        [only] => Check::warn("herdr-config", only.clone()).path(path).fix(look),
        [first, rest @ ..] => {
            let message = format!("{first}, and {} more", rest.len());
            Check::warn("herdr-config", message).path(path).fix(look)
        }
    }
}

/// Who writes `config.toml`.
pub(super) fn config_owner(context: &Context<'_>) -> Check {
    let file = &context.observed.keys;
    let path = context.paths.show(&file.path);
    match &file.owner {
        Owner::User | Owner::Linked if file.bytes.is_none() => {
            let real = context.paths.show(&file.real);
            let at = if real == path { String::new() } else { format!(" at {real}, where its link leads") };
            Check::ok("config-owner", format!("there is none yet; setup makes it{at}")).path(path)
        }
        Owner::User => Check::ok("config-owner", "an ordinary file").path(path),
        Owner::Linked => {
            let target = context.paths.show(&file.real);
            Check::ok("config-owner", format!("a link to {target}, which stays a link")).path(path)
        }
        owner => Check::warn("config-owner", format!("it is not written by setup: {}", owner))
            .path(path)
            .fix(format!(
                "print the bindings, to paste them {}: {}",
                owner.by_hand(),
                context.setup().without("--key").flag("--no-keys")
            )),
    }
}

/// Said only when root looks at another user's home.
pub(super) fn home_owner(context: &Context<'_>) -> Option<Check> {
    let uid = context.paths.foreign_home()?;
    Some(Check::warn("home-owner", crate::paths::is_foreign(uid)).fix("run it as that user, without sudo"))
}

/// Whether keys of agents' providers are exported here: they do not reach a box, but by the settings.
pub(super) fn agent_env(context: &Context<'_>, is_set: impl Fn(&str) -> bool) -> Check {
    let environment = context.config().environment;
    let is_from = |name: &str| environment.entries().any(|(_, source)| *source == Source::From(name.into()));
    let is_lost = |name: &&str| is_set(name) && !environment.names(name) && !is_from(name);
    let set: Vec<&str> = Agent::provider_variables().iter().map(String::as_str).filter(is_lost).collect();
    if set.is_empty() {
        return Check::ok("agent-env", "no key of an agent's provider is exported here");
    }
    let verb = if set.len() == 1 { "is set here and does" } else { "are set here and do" };
    Check::warn("agent-env", format!("{} {verb} not reach a box", set.join(", ")))
        .fix("sign the agent in inside its own pane, the first time that it starts")
}

/// Whether Herdr shows notices; it does not by default.
pub(super) fn notices(context: &Context<'_>) -> Check {
    let file = &context.observed.keys;
    match keys::delivery(file.contents()) {
        Err(_said_by_keys) => Check::skip("notices", "config.toml cannot be read"),
        Ok(Some(delivery)) => {
            Check::ok("notices", format!("Herdr shows notices ({delivery})")).found(delivery)
        }
        Ok(None) => Check::note(
            "notices",
            "Herdr's notices are off, so an action's result shows in a popup or not at all",
        )
        .fix(context.setup().without("--no-keys").flag("--notices")),
    }
}

/// Boxes that panes are tied to.
pub(super) fn mappings(context: &Context<'_>) -> Check {
    match &context.observed.mappings {
        Err(error) => Check::warn("boxes", error.message().to_owned())
            .path(context.paths.show(&context.paths.plugin_state())),
        Ok(records) if records.is_empty() => Check::ok("boxes", "no pane is tied to a box"),
        Ok(records) => {
            let plural = if records.len() == 1 { "pane is" } else { "panes are" };
            let dropped =
                format!("a box that was deleted elsewhere is forgotten by: {}", command::action("prune"));
            Check::ok("boxes", format!("{} {plural} tied to a box; {dropped}", records.len()))
                .found(records.len().to_string())
        }
    }
}

/// Whether the link under the official name comes first on PATH.
pub(super) fn shim(context: &Context<'_>) -> Check {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let install = command::own(["shim", "install"]);
    let fix = format!("put its folder first on PATH; print the line with: {install}");
    match shim::state(context.paths, &path) {
        ShimState::Absent => Check::skip("shim", format!("not installed; to make it: {install}")),
        ShimState::First => Check::ok("shim", "createos sandbox setup herdr is answered by this program"),
        ShimState::Behind(first) => {
            let first = context.paths.show(&first);
            Check::warn("shim", format!("{first} comes before the link on PATH")).fix(fix)
        }
        ShimState::OffPath => Check::warn("shim", "its folder is not on PATH").fix(fix),
        ShimState::Broken(target) => {
            let target = context.paths.show(&target);
            Check::warn("shim", format!("the link leads to {target}, which is gone")).fix(install)
        }
    }
}

/// Whether this machine isolates a local box: the real thing was tried.
pub(super) fn local_sandbox(context: &Context<'_>) -> Check {
    let id = "local-sandbox";
    let wanted = context.provider.has().isolation;
    match &context.observed.isolation {
        None => Check::skip(id, "it was not tried"),
        Some(Ok(Reach::ProxyOnly)) => Check::ok(
            id,
            "this machine isolates local boxes; they reach the network by their proxy only: /dev/net/tun cannot be opened",
        ),
        Some(Ok(Reach::Everything | Reach::Nothing)) => Check::ok(id, "this machine isolates local boxes"),
        Some(Err(_)) if !cfg!(target_os = "linux") && !wanted => Check::skip(
            id,
            "boxes on this machine (--provider local, try) need Linux; CreateOS microVMs work here",
        ),
        Some(Err(error)) => {
            let facts: Vec<String> =
                error.facts().iter().map(|(label, value)| format!("{label} {value}")).collect();
            let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
            let message = format!("{}{facts}", error.message());
            // Without it every start would fail.
            let check = if wanted { Check::fail(id, message).required() } else { Check::warn(id, message) };
            Check { fix: error.hints().first().cloned(), ..check }
        }
    }
}
