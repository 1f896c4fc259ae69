//! Every check of the doctor: the observation that a setup works on, judged. The ids are stable.

mod allowed;
pub(super) mod check;
mod keys;
mod plugin;
mod programs;
mod surroundings;
mod unfinished;

pub(super) use allowed::sentence as allowed_sentence;
pub(super) use plugin::{NOT_LOCAL, shape};
pub(super) use programs::{shadowed, without_account};

use super::observe::{Observed, provider};
use super::request::Request;
use super::template::Template;
use crate::command::Command;
use crate::config::{Config, ProviderKind, Settings};
use crate::paths::Paths;
use check::Check;

/// What the checks judge.
pub(super) struct Context<'a> {
    pub(super) template: &'static Template,
    pub(super) request: &'a Request,
    pub(super) observed: &'a Observed,
    pub(super) paths: &'a Paths,
    pub(super) provider: ProviderKind,
    /// Whether a person is there to type into what we propose.
    pub(super) on_terminal: bool,
}

impl<'a> Context<'a> {
    /// The context of this observation.
    pub(super) fn new(
        template: &'static Template,
        request: &'a Request,
        observed: &'a Observed,
        paths: &'a Paths,
        on_terminal: bool,
    ) -> Self {
        let provider = provider(&request.settings, &observed.config);
        Self { template, request, observed, paths, provider, on_terminal }
    }

    /// The setup that this command line asks for, to be typed.
    fn setup(&self) -> Command {
        self.request.again.clone()
    }

    /// The same setup, over an existing `config.json`.
    fn forced(&self) -> Command {
        self.request.forced()
    }

    /// Whether a setup was done here.
    fn is_set_up(&self) -> bool {
        matches!(self.observed.plugin, Ok(Some(_))) || matches!(self.observed.receipt, Ok(Some(_)))
    }

    /// The settings as they will be used, as far as they are valid.
    fn config(&self) -> Config {
        let (kept, _dropped) = Settings::salvage(self.observed.config.contents());
        self.request.settings.clone().over(kept).resolve()
    }
}

/// What has to be there before anything is changed.
pub(super) fn before_setup(context: &Context<'_>) -> Vec<Check> {
    let mut checks = vec![programs::os()];
    for requirement in &context.template.requirements {
        if context.observed.programs.contains_key(&requirement.id) {
            checks.push(programs::requirement(context, requirement));
            checks.extend(shadowed(context, requirement));
        }
        if requirement.id == "createos" {
            checks.push(programs::session(context));
        }
    }
    if context.provider == ProviderKind::Local {
        checks.push(surroundings::local_sandbox(context));
    }
    checks
}

/// Everything.
pub(super) fn all(context: &Context<'_>) -> Vec<Check> {
    let mut checks = before_setup(context);
    checks.extend(unfinished::unfinished(context));
    checks.push(plugin::plugin(context));
    checks.push(plugin::config(context));
    checks.extend(allowed::allowed(context));
    checks.push(surroundings::server(context));
    checks.push(surroundings::herdr_config(context));
    checks.push(shape(context));
    checks.extend(keys::keys(context));
    checks.push(surroundings::config_owner(context));
    checks.extend(surroundings::home_owner(context));
    checks.push(plugin::egress(context));
    checks
        .push(surroundings::agent_env(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty())));
    checks.push(surroundings::notices(context));
    if context.provider != ProviderKind::Local {
        checks.push(surroundings::local_sandbox(context));
    }
    checks.push(surroundings::mappings(context));
    checks.push(surroundings::shim(context));
    checks.push(plugin::paths(context));
    checks
}
