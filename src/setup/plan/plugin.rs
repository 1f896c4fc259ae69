//! The plan for the plugin: the bundled one's files, its registration, and a checkout's build.

use super::Plan;
use crate::command;
use crate::error::{Error, Result};
use crate::setup::bundle::{self, ProgramPaths};
use crate::setup::change::{BuildChange, BundleChange, Change, PluginChange, missing_file};
use crate::setup::checks::context::Context;
use crate::setup::observe::plugin::{Registered, same_folder};
use crate::setup::receipt::PluginState;
use crate::setup::request::WantedPlugin;
use std::path::{Path, PathBuf};

pub(in crate::setup) fn plan_plugin(plan: &mut Plan, context: &Context<'_>, own: &Path) -> Result<()> {
    let Context { request, observed, paths, .. } = *context;
    let registered = observed.plugin.as_ref().map_err(|reason| {
        Error::failed("Herdr's plugin registry cannot be read")
            .fact("reason", reason)
            .help("mend or move the file away; Herdr refuses every plugin call until then")
    })?;
    let from = PluginState::from(registered.as_ref().map(|registered| &registered.plugin));
    let to = match &request.plugin {
        WantedPlugin::Bundled => {
            plan_bundle(plan, context, own)?;
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
        warn_of_boxes(plan, &from, &to, context);
        let commit = registered.as_ref().and_then(|registered| registered.plugin.commit()).map(str::to_owned);
        plan.changes.push(Change::Plugin(PluginChange { from, to, commit }));
    }
    if let Some(Ok(checkout)) = observed.checkout.as_ref().filter(|_| request.plugin != WantedPlugin::Bundled)
        && checkout.has_build
    {
        let createos = observed.path_of("createos");
        plan.changes.push(Change::Build(BuildChange {
            root: checkout.root.clone(),
            createos: createos.map(Into::into),
        }));
    }
    Ok(())
}

/// Boxes are known to the plugin that made them: another one shows none of them.
fn warn_of_boxes(plan: &mut Plan, from: &PluginState, to: &PluginState, context: &Context<'_>) {
    let boxes = context.observed.mappings.as_ref().map_or(&[][..], Vec::as_slice);
    if boxes.is_empty() || !from.is_bundled(context.paths) || to.is_bundled(context.paths) {
        return;
    }
    let names: Vec<&str> = boxes.iter().map(|record| record.name.as_str()).collect();
    let tied = match boxes.len() {
        1 => "1 pane is tied to a box".to_owned(),
        count => format!("{count} panes are tied to boxes"),
    };
    plan.warn(
        format!("{tied} that the other plugin does not know: {}", names.join(", ")),
        format!(
            "bring the work home and delete them first; they are listed by: {}",
            command::action("boxes")
        ),
    );
}

/// The folder to link, in the spelling that the registry has when it is the same folder: Herdr stores real
/// paths.
fn linked_root(folder: &Path, registered: Option<&Registered>) -> PathBuf {
    let root = registered.map(|registered| &registered.plugin.root);
    root.filter(|root| same_folder(root, folder)).cloned().unwrap_or_else(|| folder.to_path_buf())
}

fn plan_bundle(plan: &mut Plan, context: &Context<'_>, own: &Path) -> Result<()> {
    let Context { observed, paths, .. } = *context;
    let createos = observed.path_of("createos").filter(|_| context.provider.has().account);
    // A variable names Herdr for this shell only.
    let recorded = observed.recorded.as_ref().ok().and_then(Option::as_ref);
    let herdr = match observed.programs.get("herdr").is_some_and(|choice| choice.named) {
        true => recorded.and_then(|recorded| recorded.herdr.as_deref()).filter(|path| path.exists()),
        false => observed.path_of("herdr"),
    };
    let after = bundle::files(own, &ProgramPaths::new(createos, observed.path_of("git"), herdr))?;
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
