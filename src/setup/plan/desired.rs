//! The plan of a setup: a pure function of what is wanted and what is there.

use super::Plan;
use super::config::plan_config;
use super::keys::plan_keys;
use super::plugin::plan_plugin;
use crate::error::Result;
use crate::paths::Paths;
use crate::setup::observe::Observed;
use crate::setup::request::Request;
use std::path::Path;

/// The plan for `request`. `own` is the absolute path of this program.
///
/// # Errors
/// What is wanted cannot be had: a file does not parse, a checkout is none, settings that the wanted plugin
/// does not know.
pub(crate) fn plan_setup(request: &Request, observed: &Observed, paths: &Paths, own: &Path) -> Result<Plan> {
    let mut plan = Plan::default();
    plan_plugin(&mut plan, request, observed, paths, own)?;
    plan_config(&mut plan, request, observed, paths)?;
    plan_keys(&mut plan, request, observed, paths)?;
    Ok(plan)
}
