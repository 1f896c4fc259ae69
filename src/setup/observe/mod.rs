//! What is on the machine now. Reading it changes nothing: no folder is made and no server is started.
//! Independent probes run at the same time, each with its own time limit.

pub(super) mod credentials;
pub(super) mod files;
pub(super) mod programs;

use self::credentials::{Credentials, Session};
use self::files::FileSeen;
use self::programs::{Choice, OnPath, Program};
use crate::command;
use crate::config::{ProviderKind, Settings};
use crate::createos::{Failure, Provider};
use crate::error::Error;
use crate::exec::Run;
use crate::herdr::{Diagnostics, Herdr, Manifest, Plugin, read_registry};
use crate::paths::Paths;
use crate::setup::bundle::{self, Programs};
use crate::setup::receipt::Receipt;
use crate::setup::request::{Request, WantedPlugin};
use crate::setup::template::{Need, Requirement, Template};
use crate::state::{Record, Store};
use std::collections::{BTreeMap, BTreeSet};
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
    /// Requirements whose program a variable names.
    pub(crate) named: BTreeSet<String>,
    /// The host of the package registry that the agent uses, where it uses one and its tool could be asked.
    pub(crate) registry: Option<String>,
    /// What a shell runs under each program's name.
    pub(crate) on_path: BTreeMap<String, OnPath>,
    /// Whether what the registered plugin's manifest starts can be started; none when that was not tried.
    pub(crate) starts: Option<Result<(), String>>,
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

impl Observed {
    /// What an earlier setup did, as far as it can be read.
    pub(crate) fn known_receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref().ok().and_then(Option::as_ref)
    }
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
    /// Its actions.
    pub(crate) actions: Vec<String>,
    /// Its real path, as Herdr will register it.
    pub(crate) root: PathBuf,
    /// It has a `build.sh`.
    pub(crate) has_build: bool,
    /// Whether it runs on Bun.
    pub(crate) runs_on_bun: bool,
}

/// Who makes the boxes, as far as it is decided before anything is looked at closely: the flags, else the
/// file, else the default.
pub(crate) fn provider(flags: &Settings, config: &FileSeen) -> ProviderKind {
    let in_file = || Settings::salvage(config.contents()).0.provider;
    flags.provider.or_else(in_file).unwrap_or_default()
}

/// Looks at everything.
pub(crate) fn observe(template: &Template, paths: &Paths, request: &Request, depth: Depth) -> Observed {
    let config = FileSeen::look(&paths.plugin_config());
    let provider = provider(&request.settings, &config);
    let everything = depth == Depth::Doctor;
    let wanted = template.requirements.iter().filter(|requirement| {
        everything || requirement.needed != Need::Bun || request.plugin != WantedPlugin::Bundled
    });
    let wanted: Vec<&Requirement> = wanted.collect();
    let choices = choose(&wanted, paths);
    let path_of = |id: &str| choices.get(id).and_then(|choice| choice.program.path().map(Path::to_path_buf));
    let createos = path_of("createos").filter(|_| provider == ProviderKind::Createos);
    let herdr = path_of("herdr").map(Herdr::new);

    std::thread::scope(|scope| {
        let asks_shapes = everything || request.settings.shape.is_some();
        // One after the other: two calls at once would both renew a session that has just expired.
        let account = createos.as_deref().map(|path| {
            scope.spawn(move || {
                let session = credentials::probe(path);
                (session, asks_shapes.then(|| Provider::createos(path).shapes()))
            })
        });
        // Herdr would wait for ever for what a FIFO says.
        let readable = crate::fs::irregular(paths.herdr_config_file()).is_none();
        let diagnostics =
            herdr.as_ref().filter(|_| readable).map(|herdr| scope.spawn(|| herdr.config_check()));
        let server = herdr.as_ref().filter(|_| everything).map(|herdr| scope.spawn(|| herdr.compatible()));

        let tried = everything || provider == ProviderKind::Local;
        let isolation = tried.then(|| scope.spawn(crate::local::probe));

        let keys = FileSeen::look(paths.herdr_config_file());
        let plugin = registered(&paths.herdr_config_dir().join("plugins.json"), &template.plugin.id);
        let folder = paths.bundled_plugin();
        let starts = plugin.as_ref().ok().and_then(Option::as_ref).filter(|_| everything).map(|registered| {
            let is_bundled = same_folder(&registered.plugin.root, &folder);
            starts(registered, is_bundled)
        });
        let (session, shapes) = account.map_or((Session::NotAsked, None), join);
        Observed {
            named: choices.iter().filter(|(_, choice)| choice.named).map(|(id, _)| id.clone()).collect(),
            on_path: choices.iter().map(|(id, choice)| (id.clone(), choice.on_path.clone())).collect(),
            programs: choices.into_iter().map(|(id, choice)| (id, choice.program)).collect(),
            starts,
            registry: if everything { registry(&request.settings, &config) } else { None },
            credentials: Credentials::look(paths.home(), |name| {
                std::env::var_os(name).is_some_and(|value| !value.is_empty())
            }),
            session,
            shapes,
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

/// Each program's choice, asked at the same time.
fn choose(wanted: &[&Requirement], paths: &Paths) -> BTreeMap<String, Choice> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = wanted
            .iter()
            .map(|requirement| {
                let ask = || programs::choose(requirement, programs::candidates(requirement, paths.home()));
                (requirement.id.clone(), scope.spawn(ask))
            })
            .collect();
        asked.into_iter().map(|(id, choice)| (id, join(choice))).collect()
    })
}

/// The host of the agent's package registry, by the tool that would use it: nothing is assumed.
fn registry(flags: &Settings, config: &FileSeen) -> Option<String> {
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

/// Whether two spellings lead to the same folder.
pub(crate) fn same_folder(one: &Path, other: &Path) -> bool {
    one == other || other.canonicalize().is_ok_and(|real| real == one)
}

/// Whether the programs of the manifest can be started, as Herdr starts them: ours says its version, somebody
/// else's is only looked for.
fn starts(registered: &Registered, is_bundled: bool) -> Result<(), String> {
    let Ok(manifest) = &registered.manifest else { return Ok(()) };
    manifest.programs().into_iter().try_for_each(|program| {
        let path = Manifest::resolve(&registered.plugin.root, program)
            .ok_or_else(|| format!("its manifest starts {program}, which is not there"))?;
        if is_bundled { programs::is_ours(&path) } else { Ok(()) }
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
        actions: manifest.actions().map(str::to_owned).collect(),
        has_build: root.join("build.sh").is_file(),
        runs_on_bun: manifest.runs_on_bun(&root),
        root,
    })
}
