//! The plugin as Herdr has it, as this program has written it, and as a developer's checkout has it.

use super::programs;
use crate::command;
use crate::error::Error;
use crate::herdr::{Manifest, Plugin, read_registry};
use crate::paths::{PLUGIN_ID, Paths};
use crate::setup::bundle;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A plugin in Herdr's registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    pub(crate) plugin: Plugin,
    /// Its manifest as it is now, which is the one that counts.
    pub(crate) manifest: Result<Manifest, String>,
    /// Whether it runs on Bun.
    pub(crate) runs_on_bun: bool,
}

/// A developer's checkout of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    pub(crate) actions: Vec<String>,
    /// Its real path, as Herdr will register it.
    pub(crate) root: PathBuf,
    pub(crate) has_build: bool,
    /// Whether it runs on Bun.
    pub(crate) runs_on_bun: bool,
}

/// Whether two spellings lead to the same folder.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || other.canonicalize().is_ok_and(|real| real == one)
}

/// Whether the programs of the manifest can be started, as Herdr starts them: ours says its version, another
/// plugin's is only looked for.
pub(super) fn starts(registered: &Registered, is_bundled: bool) -> Result<(), String> {
    let Ok(manifest) = &registered.manifest else { return Ok(()) };
    manifest.programs().into_iter().try_for_each(|program| {
        let path = Manifest::resolve(&registered.plugin.root, program)
            .ok_or_else(|| format!("its manifest starts {program}, which is not there"))?;
        if is_bundled { programs::is_ours(&path) } else { Ok(()) }
    })
}

/// The files of the bundled plugin's folder, as they are.
pub(crate) fn bundled_files(paths: &Paths) -> BTreeMap<&'static str, Vec<u8>> {
    let folder = paths.bundled_plugin();
    [bundle::MANIFEST, bundle::PROGRAMS]
        .into_iter()
        .filter_map(|name| Some((name, crate::fs::read_regular(&folder.join(name)).ok()?)))
        .collect()
}

/// The plugin under our id in Herdr's registry.
pub(crate) fn registered(paths: &Paths) -> Result<Option<Registered>, String> {
    let registry = paths.herdr_config_dir().join("plugins.json");
    let plugins = read_registry(&registry)?;
    Ok(plugins.into_iter().find(|plugin| plugin.id == PLUGIN_ID).map(|plugin| {
        let manifest = Manifest::read(&plugin.root);
        let runs_on_bun = manifest.as_ref().is_ok_and(|manifest| manifest.runs_on_bun(&plugin.root));
        Registered { plugin, manifest, runs_on_bun }
    }))
}

/// The checkout in `folder`, which has to hold a manifest with our id.
pub(super) fn checkout(folder: &Path, id: &str) -> Result<Checkout, Error> {
    let help = "name the folder that holds herdr-plugin.toml, such as packages/herdr-plugin of a checkout";
    let root = folder
        .canonicalize()
        .map_err(|error| Error::usage(format!("--local {}: {error}", folder.display())).help(help))?;
    let manifest = Manifest::read(&root).map_err(|bad| Error::usage(format!("--local: {bad}")).help(help))?;
    if manifest.id != id {
        return Err(Error::usage(format!("--local: {} is the plugin \"{}\"", root.display(), manifest.id))
            .help(format!(
                "only the plugin {id} is set up here; link another one with: {}",
                command::herdr(["plugin", "link"]).path(&root)
            )));
    }
    Ok(Checkout {
        actions: manifest.actions().map(str::to_owned).collect(),
        has_build: root.join("build.sh").is_file(),
        runs_on_bun: manifest.runs_on_bun(&root),
        root,
    })
}
