//! Every check of the doctor: the observation that a setup works on, judged. The ids are stable.

pub(super) mod check;
pub(super) mod context;
mod keys;
mod plugin;
pub(super) mod programs;
pub(super) mod settings;
mod surroundings;

use check::Check;
use context::Context;

/// What has to be there before anything is changed.
pub(super) fn before_setup(context: &Context<'_>) -> Vec<Check> {
    let mut checks = vec![programs::os()];
    for requirement in &context.template.requirements {
        if context.observed.programs.contains_key(&requirement.id) {
            checks.push(programs::requirement(context, requirement));
            checks.extend(programs::shadowed(context, requirement));
        }
        if requirement.id == "createos" {
            checks.push(programs::sign_in(context));
        }
    }
    if context.provider.has().isolation {
        checks.push(surroundings::local_sandbox(context));
    }
    checks
}

/// What is worth a warning beside a plan.
pub(super) fn around_a_plan(context: &Context<'_>) -> Vec<Check> {
    let shadowed = context.template.requirements.iter().filter_map(|one| programs::shadowed(context, one));
    let shape = context.request.settings.shape.is_some().then(|| settings::shape(context));
    shadowed.chain(shape).collect()
}

/// Everything.
pub(super) fn all(context: &Context<'_>) -> Vec<Check> {
    let mut checks = before_setup(context);
    checks.extend(plugin::unfinished(context));
    checks.push(plugin::plugin(context));
    checks.push(settings::config(context));
    checks.extend(settings::allowed(context));
    checks.push(surroundings::server(context));
    checks.push(surroundings::herdr_config(context));
    checks.push(settings::shape(context));
    checks.extend(keys::keys(context));
    checks.push(surroundings::config_owner(context));
    checks.extend(surroundings::home_owner(context));
    checks.push(settings::egress(context));
    checks.push(surroundings::agent_env(context, |name| {
        std::env::var_os(name).is_some_and(|value| !value.is_empty())
    }));
    checks.push(surroundings::notices(context));
    if !context.provider.has().isolation {
        checks.push(surroundings::local_sandbox(context));
    }
    checks.push(surroundings::mappings(context));
    checks.push(surroundings::shim(context));
    checks.push(plugin::paths(context));
    checks
}
