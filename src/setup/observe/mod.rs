//! What is on the machine now. Reading it changes nothing: no folder is made and no server is started.
//! Independent probes run at the same time, each with its own time limit.

pub(super) mod credentials;
pub(super) mod files;
pub(super) mod plugin;
pub(super) mod programs;

use crate::config::{ProviderKind, Settings};
use crate::createos::{Credentials, Failure, Provider};
use crate::error::Error;
use crate::herdr::{Diagnostics, Herdr};
use crate::local::Reach;
use crate::paths::Paths;
use crate::setup::bundle::ProgramPaths;
use crate::setup::receipt::Receipt;
use crate::setup::request::{Request, Task, WantedPlugin};
use crate::setup::template::{self, Need, Requirement};
use crate::state::{Record, Store};
use credentials::SignIn;
use files::FileSeen;
use plugin::{Checkout, Registered, bundled_files, checkout, registered, same_folder, starts};
use programs::{Choice, registry};
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Debug)]
pub(crate) struct Observed {
    /// The copy of each requirement's program that is used, by the requirement's id.
    pub(crate) programs: BTreeMap<String, Choice>,
    /// The host of the package registry that the agent uses, where it uses one and its tool could be asked.
    pub(crate) registry: Option<String>,
    /// Whether what the registered plugin's manifest starts can be started; none when that was not tried.
    pub(crate) starts: Option<Result<(), String>>,
    /// Where the official CLI's credential comes from.
    pub(crate) credentials: Credentials,
    /// Whether the official CLI can be used.
    pub(crate) sign_in: SignIn,
    /// The shapes of the account; none when they were not asked for.
    pub(crate) shapes: Option<Result<Vec<String>, Failure>>,
    /// What Herdr says about `config.toml`; none when there is no Herdr that could.
    pub(crate) diagnostics: Option<Result<Diagnostics, Error>>,
    /// Whether a server runs and understands the client; none when that was not asked.
    pub(crate) server: Option<Result<Option<bool>, Error>>,
    /// The plugin under our id; none when it is not registered.
    pub(crate) plugin: Result<Option<Registered>, String>,
    /// The developer's checkout that is wanted; none when none is.
    pub(crate) checkout: Option<Result<Checkout, Error>>,
    /// The files of the bundled plugin's folder, as they are.
    pub(crate) bundle: BTreeMap<&'static str, Vec<u8>>,
    /// The programs that the bundled plugin has written down.
    pub(crate) recorded: Result<Option<ProgramPaths>, Error>,
    pub(crate) config: FileSeen,
    pub(crate) keys: FileSeen,
    /// What an earlier setup did.
    pub(crate) receipt: Result<Option<Receipt>, Error>,
    /// Whether this machine isolates a local box; none when that was not tried.
    pub(crate) isolation: Option<Result<Reach, Error>>,
    /// Boxes that panes are tied to.
    pub(crate) mappings: Result<Vec<Record>, Error>,
}

impl Observed {
    /// Where the program of this requirement is.
    pub(crate) fn path_of(&self, id: &str) -> Option<&Path> {
        self.programs.get(id)?.program.path()
    }

    /// What an earlier setup did, as far as it can be read.
    pub(crate) fn known_receipt(&self) -> Option<&Receipt> {
        self.receipt.as_ref().ok().and_then(Option::as_ref)
    }
}

/// Who makes the boxes, as far as it is decided before anything is looked at closely: the flags, else the
/// file, else the default.
pub(crate) fn provider(flags: &Settings, config: &FileSeen) -> ProviderKind {
    let in_file = || Settings::salvage(config.contents()).0.provider;
    flags.provider.or_else(in_file).unwrap_or_default()
}

/// The doctor looks at everything, a setup and an undo at what they need to know.
pub(crate) fn observe(paths: &Paths, request: &Request) -> Observed {
    let template = &*template::HERDR;
    let config = FileSeen::look(&paths.plugin_config());
    let provider = provider(&request.settings, &config);
    let everything = request.task == Task::Doctor;
    let wanted = template.requirements.iter().filter(|requirement| {
        everything || requirement.needed != Need::Bun || request.plugin != WantedPlugin::Bundled
    });
    let wanted: Vec<&Requirement> = wanted.collect();
    let choices = choose(&wanted, paths);
    let path_of = |id: &str| choices.get(id).and_then(|choice| choice.program.path().map(Path::to_path_buf));
    let createos = path_of("createos").filter(|_| provider.has().account);
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

        let tried = everything || provider.has().isolation;
        let isolation = tried.then(|| scope.spawn(crate::local::probe));

        let keys = FileSeen::look(paths.herdr_config_file());
        let plugin = registered(paths);
        let folder = paths.bundled_plugin();
        let starts = match &plugin {
            Ok(Some(registered)) if everything => {
                Some(starts(registered, same_folder(&registered.plugin.root, &folder)))
            }
            _ => None,
        };
        let (sign_in, shapes) = account.map_or((SignIn::NotAsked, None), join);
        Observed {
            programs: choices,
            starts,
            registry: if everything { registry(&request.settings, &config) } else { None },
            credentials: Credentials::look(paths.home(), |name| {
                std::env::var_os(name).is_some_and(|value| !value.is_empty())
            }),
            sign_in,
            shapes,
            diagnostics: diagnostics.map(join),
            server: server.map(join),
            plugin,
            checkout: match &request.plugin {
                WantedPlugin::Checkout(folder) => Some(checkout(folder, &template.plugin.id)),
                WantedPlugin::Bundled | WantedPlugin::Github(_) => None,
            },
            bundle: bundled_files(paths),
            recorded: ProgramPaths::read(&folder),
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

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().expect("a probe does not panic")
}
