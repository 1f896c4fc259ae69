//! The package registry that an agent's installer uses.

use super::files::FileSeen;
use super::programs;
use crate::config::Settings;
use crate::exec::Run;

/// The host of the agent's package registry, by the tool that would use it: nothing is assumed.
pub(super) fn registry(flags: &Settings, config: &FileSeen) -> Option<String> {
    let settings = flags.clone().over(Settings::salvage(config.contents()).0).resolve();
    let tool = settings.agent.spec().registry.as_ref().filter(|_| !settings.egress.is_empty())?;
    let cache = tempfile::tempdir().ok()?;
    let ended = Run::new(which::which(tool).ok()?)
        .args(["config", "get", "registry"])
        .cwd("/")
        // It would log into the home folder, and look for a newer self.
        .env("npm_config_cache", cache.path())
        .env("npm_config_logs_max", "0")
        .env("npm_config_update_notifier", "false")
        .limit(programs::LIMIT)
        .run()
        .ok()?;
    let address = ended.stdout_text();
    let address = address.trim();
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    let host = host.rsplit_once(':').map_or(host, |(host, _port)| host);
    let is_host = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
    (ended.success() && is_host).then(|| host.to_owned())
}
