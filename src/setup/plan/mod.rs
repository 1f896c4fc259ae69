//! The changes that lead from what is there to what is wanted: a pure function. An empty plan is the proof
//! that a second run does nothing.

mod backup;
pub(super) mod config;
mod keys;
pub(super) mod stays;
pub(super) mod undo;
mod unrecorded;

use crate::command::{self, Command};
use crate::config::ProviderKind;
use crate::error::{Error, Result};
use crate::keys::Chord;
use crate::paths::Paths;
use crate::setup::bundle::{self, Programs};
use crate::setup::change::apply::missing_file;
use crate::setup::change::{BuildChange, BundleChange, Change, Line, PluginChange};
use crate::setup::checks::check::{Check, Status};
use crate::setup::observe::{Observed, Registered};
use crate::setup::receipt::PluginState;
use crate::setup::request::{Request, WantedPlugin};
use std::path::{Path, PathBuf};

/// What is going to happen, and what is worth saying about it.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// In the order in which they are made.
    pub(crate) changes: Vec<Change>,
    /// What stays as it is although something else was asked for.
    pub(crate) kept: Vec<Line>,
    /// How many things are right already.
    pub(crate) right: usize,
    /// What a person should know, with the fix.
    pub(crate) warnings: Vec<Warning>,
    /// What a person should know about the keys.
    pub(crate) notes: Vec<String>,
    /// Bindings to paste, where they are not written.
    pub(crate) block: Option<String>,
    /// The chords of each action afterwards, in the order of the actions.
    pub(crate) chords: Vec<(String, Vec<String>)>,
    /// An action that takes a default of Herdr's by this plan, unasked: its name, the field that loses its key, and
    /// what would take none.
    pub(crate) displaced: Option<Displaced>,
    /// Whether Herdr's notices are off, and could be turned on with this plan.
    pub(crate) notices_off: bool,
    /// The key that `prefix` stands for, where `config.toml` can be read.
    pub(crate) prefix: Option<String>,
}

/// A default of Herdr's that one of our bindings takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Displaced {
    /// Our action.
    pub(crate) action: String,
    /// The name in `[keys]` of what has no key then.
    pub(crate) field: String,
    /// The chord that would take nothing from anybody; none when there is none.
    pub(crate) instead: Option<Chord>,
    /// The setup with it, to be typed.
    pub(crate) way_back: Command,
}

/// Something that is not as it should be and does not stop the setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    /// One sentence.
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) fix: Option<String>,
}

impl Warning {
    /// What a check warns of; none when it does not.
    pub(crate) fn of(check: Check) -> Option<Self> {
        let needed = check.needed.map_or_else(String::new, |needed| format!(" ({needed})"));
        let message = format!("{}{needed}", check.message);
        (check.status == Status::Warn).then_some(Self { message, fix: check.fix })
    }
}

impl Plan {
    /// The chord that starts `action` afterwards.
    pub(crate) fn chord(&self, action: &str) -> Option<&str> {
        let (_, chords) = self.chords.iter().find(|(name, _)| name == action)?;
        chords.first().map(String::as_str)
    }
}

/// The plan for `request`. `own` is the absolute path of this program.
///
/// # Errors
/// What is wanted cannot be had: a file does not parse, a checkout is none, settings that the wanted plugin
/// does not know.
pub(crate) fn plan(request: &Request, observed: &Observed, paths: &Paths, own: &Path) -> Result<Plan> {
    let mut plan = Plan::default();
    plan_plugin(&mut plan, request, observed, paths, own)?;
    config::plan(&mut plan, request, observed, paths)?;
    keys::plan(&mut plan, request, observed, paths)?;
    Ok(plan)
}

fn plan_plugin(
    plan: &mut Plan,
    request: &Request,
    observed: &Observed,
    paths: &Paths,
    own: &Path,
) -> Result<()> {
    let registered = observed.plugin.as_ref().map_err(|reason| {
        Error::failed("Herdr's plugin registry cannot be read")
            .fact("reason", reason)
            .help("mend or move the file away; Herdr refuses every plugin call until then")
    })?;
    let from = PluginState::of(registered.as_ref().map(|registered| &registered.plugin));
    let to = match &request.plugin {
        WantedPlugin::Bundled => {
            plan_bundle(plan, request, observed, paths, own)?;
            PluginState::Linked {
                root: linked_root(&paths.bundled_plugin(), registered.as_ref()),
                enabled: true,
            }
        }
        WantedPlugin::Checkout(_) => {
            let checkout = observed.checkout.as_ref().expect("it is looked at when it is wanted").clone()?;
            if let (false, Some(missing)) = (checkout.has_build, missing_file(&checkout.root)?) {
                return Err(Error::usage(format!(
                    "--local: the manifest in {} starts {missing}, which is not there",
                    checkout.root.display()
                ))
                .help("build the plugin, then run this again"));
            }
            PluginState::Linked { root: checkout.root, enabled: true }
        }
        WantedPlugin::Github(source) => PluginState::Github { source: source.clone(), enabled: true },
    };
    if from == to {
        plan.right += 1;
    } else {
        warn_of_boxes(plan, &from, &to, observed, paths);
        let commit = registered.as_ref().and_then(|registered| registered.plugin.commit()).map(str::to_owned);
        plan.changes.push(Change::Plugin(PluginChange { from, to, commit }));
    }
    if let Some(Ok(checkout)) = observed.checkout.as_ref().filter(|_| request.plugin != WantedPlugin::Bundled)
        && checkout.has_build
    {
        let createos = observed.programs.get("createos").and_then(|program| program.path());
        plan.changes.push(Change::Build(BuildChange {
            root: checkout.root.clone(),
            createos: createos.map(Into::into),
        }));
    }
    Ok(())
}

/// Boxes are known to the plugin that made them: another one shows none of them.
fn warn_of_boxes(plan: &mut Plan, from: &PluginState, to: &PluginState, observed: &Observed, paths: &Paths) {
    let bundled = PluginState::Linked { root: paths.bundled_plugin(), enabled: true };
    let boxes = observed.mappings.as_ref().map_or(&[][..], Vec::as_slice);
    if boxes.is_empty() || !from.is_at(&bundled) || to.is_at(&bundled) {
        return;
    }
    let names: Vec<&str> = boxes.iter().map(|record| record.name.as_str()).collect();
    let tied = match boxes.len() {
        1 => "1 pane is tied to a box".to_owned(),
        count => format!("{count} panes are tied to boxes"),
    };
    plan.warnings.push(Warning {
        message: format!("{tied} that the other plugin does not know: {}", names.join(", ")),
        fix: Some(format!(
            "bring the work home and delete them first; they are listed by: {}",
            command::action("boxes")
        )),
    });
}

/// The folder to link, in the spelling that the registry has when it is the same folder: Herdr stores real
/// paths.
fn linked_root(folder: &Path, registered: Option<&Registered>) -> PathBuf {
    let same = registered
        .map(|registered| &registered.plugin.root)
        .filter(|root| root.as_path() == folder || folder.canonicalize().is_ok_and(|real| real == **root));
    same.cloned().unwrap_or_else(|| folder.to_path_buf())
}

fn plan_bundle(
    plan: &mut Plan,
    request: &Request,
    observed: &Observed,
    paths: &Paths,
    own: &Path,
) -> Result<()> {
    let found = |id: &str| observed.programs.get(id).and_then(|program| program.path());
    let provider = crate::setup::observe::provider(&request.settings, &observed.config);
    let createos = found("createos").filter(|_| provider == ProviderKind::Createos);
    // A variable names Herdr for this shell only.
    let recorded = observed.recorded.as_ref().ok().and_then(Option::as_ref);
    let herdr = match observed.named.contains("herdr") {
        true => recorded.and_then(|recorded| recorded.herdr.as_deref()).filter(|path| path.exists()),
        false => found("herdr"),
    };
    let after = bundle::files(own, &Programs::new(createos, found("git"), herdr))?;
    if observed.bundle == after {
        plan.right += 1;
    } else {
        plan.changes.push(Change::Bundle(BundleChange {
            folder: paths.bundled_plugin(),
            before: observed.bundle.clone(),
            after,
        }));
    }
    Ok(())
}
