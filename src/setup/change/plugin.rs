//! Bringing the plugin's registration in Herdr from one state to another.

use super::ledger::Purpose;
use super::step::{Done, Line, Step, Work};
use crate::error::{Error, Result};
use crate::fs::kill_point;
use crate::herdr::Herdr;
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::observe::plugin::registered;
use crate::setup::receipt::{PluginState, Receipt};

/// How the plugin is registered before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PluginChange {
    pub(crate) from: PluginState,
    pub(crate) to: PluginState,
    /// The commit of what is there before, of one from GitHub.
    pub(crate) commit: Option<String>,
}

impl Step for PluginChange {
    fn line(&self, paths: &Paths) -> Line {
        let (verb, rest) = match (&self.from, &self.to) {
            (PluginState::Absent, PluginState::Linked { root, .. }) => ("link", paths.show(root)),
            (PluginState::Absent, PluginState::Github { source, .. }) => {
                ("install", format!("{source}, from GitHub"))
            }
            (from, PluginState::Absent) => ("unlink", shown(from, paths)),
            (
                PluginState::Linked { root, enabled: false },
                PluginState::Linked { root: to, enabled: true },
            ) if root == to => ("enable", "it was disabled".into()),
            (from, to) => {
                let enabled = match (from.enabled(), to.enabled()) {
                    (false, true) => "; it was disabled and gets enabled",
                    _ => "",
                };
                ("replace", format!("{}, now {}{enabled}", shown(from, paths), shown(to, paths)))
            }
        };
        Line::new(verb, PLUGIN_ID, rest)
    }

    fn begin(&self, receipt: &mut Receipt, _: &Paths) -> Result<()> {
        receipt.note_plugin(&self.from, &self.to, self.commit.as_deref());
        Ok(())
    }

    fn apply(&self, work: &mut Work<'_>) -> Result<Done> {
        register(&self.from, &self.to, work.ledger.purpose(), work)
    }

    fn revert(&self, work: &mut Work<'_>) -> Result<()> {
        register(&self.to, &self.from, Purpose::Setup, work).map(|_made| ())
    }
}

/// What is there now decides about the steps, since a run that was killed may have done some of them.
///
/// # Errors
/// Herdr refuses a step; what was there before is back, or the error says that it is not.
fn register(from: &PluginState, to: &PluginState, purpose: Purpose, work: &Work<'_>) -> Result<Done> {
    let herdr = work.herdr.as_ref().ok_or_else(|| {
        Error::failed("herdr is not there to change its plugins").help("install it from https://herdr.dev")
    })?;
    let now = state_now(work.paths)?;
    let is = |state: &PluginState| now.is_at(state) && now.enabled() == state.enabled();
    if is(to) {
        return Ok(Done::Already);
    }
    if !is(from) && now != PluginState::Absent {
        return Err(Error::failed("the plugin was registered anew meanwhile")
            .fact("it was", from.to_string())
            .fact("it is", now.to_string())
            .help("run the command again"));
    }
    let Err(error) = replace(herdr, &now, to) else { return Ok(Done::Made) };
    let there = state_now(work.paths)?;
    if purpose == Purpose::Undo && *to != PluginState::Absent {
        // An earlier plugin that cannot be had again must not keep anybody from taking the rest back.
        if there != PluginState::Absent && there.is_at(from) {
            herdr.uninstall(PLUGIN_ID)?;
        }
        return Ok(Done::Short(error.help(format!("bring it back with: {}", to.command()))));
    }
    // Half a replacement is no change: give the old one back.
    if there != now
        && let Err(back) = replace(herdr, &there, &now)
    {
        return Err(error.fact("not taken back", format!("it was {now}: {back}")));
    }
    Err(error)
}

fn state_now(paths: &Paths) -> Result<PluginState> {
    let now = registered(paths).map_err(Error::failed)?;
    Ok(PluginState::from(now.as_ref().map(|registered| &registered.plugin)))
}

fn replace(herdr: &Herdr, now: &PluginState, to: &PluginState) -> Result<()> {
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

/// As a person reads it, with `~` for the home folder.
fn shown(state: &PluginState, paths: &Paths) -> String {
    match state {
        PluginState::Linked { root, .. } => format!("linked from {}", paths.show(root)),
        PluginState::Github { source, .. } => format!("installed from {source}"),
        PluginState::Absent => "not installed".into(),
    }
}
