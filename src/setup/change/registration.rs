//! Bringing the plugin's registration in Herdr from one state to another.

use super::apply::{Apply, Purpose};
use crate::error::{Error, Result};
use crate::fs::kill_point;
use crate::herdr::Herdr;
use crate::paths::PLUGIN_ID;
use crate::setup::observe::registered;
use crate::setup::receipt::PluginState;

/// What became of a registration.
pub(in crate::setup) enum Registered {
    /// It was there already, so that it is not this run's to take back.
    Already,
    /// It was made.
    Now,
    /// An undo: ours is gone, and the earlier plugin could not be had again.
    GoneOnly(Error),
}

impl Apply<'_> {
    /// What is there now decides about the steps, since a run that was killed may have done some of them.
    ///
    /// # Errors
    /// Herdr refuses a step; what was there before is back, or the error says that it is not.
    pub(in crate::setup) fn register(
        &self,
        from: &PluginState,
        to: &PluginState,
        purpose: Purpose,
    ) -> Result<Registered> {
        let herdr = self.herdr.as_ref().ok_or_else(|| {
            Error::failed("herdr is not there to change its plugins")
                .help("install it from https://herdr.dev")
        })?;
        let now = self.state_now()?;
        let is = |state: &PluginState| now.is_at(state) && now.enabled() == state.enabled();
        if is(to) {
            return Ok(Registered::Already);
        }
        if !is(from) && now != PluginState::Absent {
            return Err(Error::failed("the plugin was registered anew meanwhile")
                .fact("it was", from.to_string())
                .fact("it is", now.to_string())
                .help("run the command again"));
        }
        let Err(error) = step(herdr, &now, to) else { return Ok(Registered::Now) };
        let there = self.state_now()?;
        if purpose == Purpose::Undo && *to != PluginState::Absent {
            // An earlier plugin that cannot be had again must not keep anybody from taking the rest back.
            if there != PluginState::Absent && there.is_at(from) {
                herdr.uninstall(PLUGIN_ID)?;
            }
            return Ok(Registered::GoneOnly(error.help(format!("bring it back with: {}", to.command()))));
        }
        // Half a replacement is no change: give the old one back.
        if there != now
            && let Err(back) = step(herdr, &there, &now)
        {
            return Err(error.fact("not taken back", format!("it was {now}: {back}")));
        }
        Err(error)
    }

    fn state_now(&self) -> Result<PluginState> {
        let registry = self.paths.herdr_config_dir().join("plugins.json");
        let now = registered(&registry, PLUGIN_ID).map_err(Error::failed)?;
        Ok(PluginState::of(now.as_ref().map(|registered| &registered.plugin)))
    }
}

fn step(herdr: &Herdr, now: &PluginState, to: &PluginState) -> Result<()> {
    let crosses = matches!(
        (now, to),
        (PluginState::Github { .. }, PluginState::Linked { .. })
            | (PluginState::Linked { .. }, PluginState::Github { .. })
    );
    if crosses || (*to == PluginState::Absent && *now != PluginState::Absent) {
        herdr.uninstall(PLUGIN_ID)?;
        kill_point();
    }
    match to {
        PluginState::Absent => Ok(()),
        PluginState::Linked { root, enabled } => herdr.link(root, *enabled),
        PluginState::Github { source, enabled } => {
            herdr.install(source)?;
            if *enabled { Ok(()) } else { herdr.disable(PLUGIN_ID) }
        }
    }
}
