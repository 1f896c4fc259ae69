//! What is on the machine now. Reading it changes nothing: no folder is made and no server is started.
//! Independent probes run at the same time, each with its own time limit.

use super::bundle::{self, Programs};
use super::files::FileSeen;
use super::programs::{self, Program};
use super::receipt::Receipt;
use super::request::{Request, WantedPlugin};
use super::session::{self, Credentials, Session};
use super::template::{Need, Requirement, Template};
use crate::command;
use crate::config::{Provider, Settings};
use crate::createos::{Failure, Provider as Client};
use crate::error::Error;
use crate::herdr::{Diagnostics, Herdr, Manifest, Plugin, read_registry};
use crate::paths::Paths;
use crate::state::{Record, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What a setup needs to know.
    Setup,
    /// Everything.
    Doctor,
}

/// What is there.
#[derive(Debug)]
pub(crate) struct Observed {
    /// Each requirement's program, by the requirement's id.
    pub(crate) programs: BTreeMap<String, Program>,
    /// Where the official CLI's credential comes from.
    pub(crate) credentials: Credentials,
    /// Whether it can be used.
    pub(crate) session: Session,
    /// The shapes of the account; none when they were not asked for.
    pub(crate) shapes: Option<Result<Vec<String>, Failure>>,
    /// What Herdr says about `config.toml`; none when there is no Herdr that could.
    pub(crate) diagnostics: Option<Result<Diagnostics, Error>>,
    /// Whether a server runs and understands the client; none when that was not asked.
    pub(crate) server: Option<Result<Option<bool>, Error>>,
    /// The plugin under our id; none when nobody has registered it.
    pub(crate) plugin: Result<Option<Registered>, String>,
    /// The developer's checkout that is wanted; none when none is.
    pub(crate) checkout: Option<Result<Checkout, Error>>,
    /// The files of the bundled plugin's folder, as they are.
    pub(crate) bundle: BTreeMap<&'static str, Vec<u8>>,
    /// The programs that the bundled plugin has written down.
    pub(crate) recorded: Result<Option<Programs>, Error>,
    /// `config.json`.
    pub(crate) config: FileSeen,
    /// `config.toml`.
    pub(crate) keys: FileSeen,
    /// What an earlier setup did.
    pub(crate) receipt: Result<Option<Receipt>, Error>,
    /// Whether this machine isolates a local box; none when that was not tried.
    pub(crate) isolation: Option<Result<(), Error>>,
    /// Boxes that panes are tied to.
    pub(crate) mappings: Result<Vec<Record>, Error>,
}

/// A plugin in Herdr's registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Registered {
    /// Its record.
    pub(crate) plugin: Plugin,
    /// Its manifest as it is now, which is the one that counts.
    pub(crate) manifest: Result<Manifest, String>,
    /// Whether it runs on Bun.
    pub(crate) runs_on_bun: bool,
}

/// A developer's checkout of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// Its real path, as Herdr will register it.
    pub(crate) root: PathBuf,
    /// It has a `build.sh`.
    pub(crate) has_build: bool,
    /// Whether it runs on Bun.
    pub(crate) runs_on_bun: bool,
}

/// Who makes the boxes, as far as it is decided before anything is looked at closely: the flags, else the
/// file, else the default.
pub(crate) fn provider(flags: &Settings, config: &FileSeen) -> Provider {
    let in_file = || Settings::salvage(config.contents()).0.provider;
    flags.provider.or_else(in_file).unwrap_or_default()
}

/// Looks at everything.
pub(crate) fn observe(template: &Template, paths: &Paths, request: &Request, depth: Depth) -> Observed {
    let config = FileSeen::look(&paths.plugin_config());
    let provider = provider(&request.settings, &config);
    let found: Vec<(&Requirement, Vec<PathBuf>)> = template
        .requirements
        .iter()
        .map(|requirement| (requirement, programs::candidates(requirement, paths.home())))
        .collect();
    let path_of =
        |id: &str| found.iter().find(|(r, _)| r.id == id).and_then(|(_, paths)| paths.first().cloned());
    let createos = path_of("createos").filter(|_| provider == Provider::Createos);
    let herdr = path_of("herdr").map(Herdr::new);
    let everything = depth == Depth::Doctor;

    std::thread::scope(|scope| {
        let versions: Vec<_> = found
            .iter()
            .filter(|(requirement, _)| {
                everything || requirement.needed != Need::Bun || request.plugin != WantedPlugin::Bundled
            })
            .map(|(requirement, paths)| {
                let paths = paths.clone();
                (requirement.id.clone(), scope.spawn(|| programs::probe_best(requirement, paths)))
            })
            .collect();
        let session = createos.as_deref().map(|path| scope.spawn(move || session::probe(path)));
        let shapes = createos.as_deref().filter(|_| everything || request.settings.shape.is_some());
        let shapes = shapes.map(|path| scope.spawn(move || Client::createos(path).shapes()));
        // Herdr would wait for ever for what a FIFO says.
        let readable = crate::fs::irregular(paths.herdr_config_file()).is_none();
        let diagnostics =
            herdr.as_ref().filter(|_| readable).map(|herdr| scope.spawn(|| herdr.config_check()));
        let server = herdr.as_ref().filter(|_| everything).map(|herdr| scope.spawn(|| herdr.compatible()));

        let tried = everything || provider == Provider::Local;
        let isolation = tried.then(|| scope.spawn(crate::local::probe));

        let keys = FileSeen::look(paths.herdr_config_file());
        let plugin = registered(&paths.herdr_config_dir().join("plugins.json"), &template.plugin.id);
        let folder = paths.bundled_plugin();
        Observed {
            programs: versions.into_iter().map(|(id, probe)| (id, join(probe))).collect(),
            credentials: Credentials::look(paths.home(), |name| {
                std::env::var_os(name).is_some_and(|value| !value.is_empty())
            }),
            session: session.map_or(Session::NotAsked, join),
            shapes: shapes.map(join),
            diagnostics: diagnostics.map(join),
            server: server.map(join),
            plugin,
            checkout: match &request.plugin {
                WantedPlugin::Checkout(folder) => Some(checkout(folder, &template.plugin.id)),
                WantedPlugin::Bundled | WantedPlugin::Github(_) => None,
            },
            bundle: bundle(paths),
            recorded: Programs::read(&folder),
            config,
            keys,
            receipt: Receipt::read(paths),
            isolation: isolation.map(join),
            mappings: Store::peek(&paths.plugin_state()).map(|state| state.records),
        }
    })
}

/// The files of the bundled plugin's folder, as they are.
pub(crate) fn bundle(paths: &Paths) -> BTreeMap<&'static str, Vec<u8>> {
    let folder = paths.bundled_plugin();
    [bundle::MANIFEST, bundle::PROGRAMS]
        .into_iter()
        .filter_map(|name| Some((name, crate::fs::read_regular(&folder.join(name)).ok()?)))
        .collect()
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().expect("a probe does not panic")
}

/// The plugin with this id.
pub(crate) fn registered(registry: &Path, id: &str) -> Result<Option<Registered>, String> {
    let plugins = read_registry(registry).map_err(|error| error.to_string())?;
    Ok(plugins.into_iter().find(|plugin| plugin.id == id).map(|plugin| {
        let manifest = Manifest::read(&plugin.root).map_err(|error| error.to_string());
        let runs_on_bun = manifest.as_ref().is_ok_and(|manifest| manifest.runs_on_bun(&plugin.root));
        Registered { plugin, manifest, runs_on_bun }
    }))
}

/// The checkout in `folder`, which has to hold a manifest with our id.
fn checkout(folder: &Path, id: &str) -> Result<Checkout, Error> {
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
        has_build: root.join("build.sh").is_file(),
        runs_on_bun: manifest.runs_on_bun(&root),
        root,
    })
}
