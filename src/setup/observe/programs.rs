//! Programs on this machine: where they are and which version they are.

use super::files::FileSeen;
use crate::config::Settings;
use crate::createos::Own;
use crate::error::Error;
use crate::exec::Run;
use crate::install::{self, OnPath};
use crate::setup::template::Requirement;
use crate::version::Version;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A version is printed at once; a program that hangs must not hang the doctor.
pub(in crate::setup) const LIMIT: Duration = Duration::from_secs(10);

/// What was found of one required program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    Missing,
    /// It is there and does not say which version it is.
    Broken {
        path: PathBuf,
        reason: String,
    },
    Found {
        path: PathBuf,
        /// Its version; none for one that counts as the newest.
        version: Option<Version>,
        /// The version as it prints it.
        text: String,
    },
}

impl Program {
    /// Where it is.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Missing => None,
            Self::Broken { path, .. } | Self::Found { path, .. } => Some(path),
        }
    }

    /// Whether it is there and new enough.
    pub(crate) fn will_do(&self, minimum: Option<&Version>) -> bool {
        match self {
            Self::Found { version, .. } => {
                version.as_ref().is_none_or(|version| minimum.is_none_or(|minimum| version >= minimum))
            }
            Self::Missing | Self::Broken { .. } => false,
        }
    }
}

/// Where a program may be.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    /// The copies, best first.
    paths: Vec<PathBuf>,
    /// The copy that PATH leads to.
    first_on_path: Option<PathBuf>,
    /// Its variable names the only one.
    named: bool,
}

/// The copy that doctor, setup and actions use, all of them.
#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) program: Program,
    /// Its variable names it.
    pub(crate) named: bool,
    pub(crate) on_path: OnPath,
}

/// Where a program is: what its variable names and nothing else, as the actions have it; else on PATH, and where
/// its installer puts it even when that is not on PATH. This program itself is passed over, which the shim under
/// the name `createos` leads to.
pub(crate) fn candidates(requirement: &Requirement, home: &Path) -> Candidates {
    let named = requirement.variable.as_ref().and_then(std::env::var_os).and_then(|value| {
        // Herdr's server says so of a binary that was replaced under it (docs/measured/herdr.md 6.1).
        let text = value.to_string_lossy();
        let path = PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text));
        (path.is_absolute() && path.exists()).then_some(path)
    });
    let own = Own::of_this_process().ok();
    let is_other = |path: &PathBuf| !own.as_ref().is_some_and(|own| own.is(path));
    let on_path: Vec<PathBuf> =
        which::which_all(&requirement.id).into_iter().flatten().filter(is_other).collect();
    let first_on_path = on_path.first().cloned();
    if let Some(path) = named.filter(is_other) {
        return Candidates { paths: vec![path], first_on_path, named: true };
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut seen = BTreeSet::new();
    let all = on_path.into_iter().chain(install::landed(&requirement.id, home).into_iter().filter(is_other));
    let paths = all.filter(|path| seen.insert(real(path))).collect();
    Candidates { paths, first_on_path, named: false }
}

/// The first of these copies that will do; the first one when none does.
pub(crate) fn choose(requirement: &Requirement, candidates: Candidates) -> Choice {
    let Candidates { paths, first_on_path, named } = candidates;
    let program = probe_best(requirement, paths);
    Choice { on_path: OnPath::new(first_on_path, program.path()), program, named }
}

fn probe_best(requirement: &Requirement, paths: Vec<PathBuf>) -> Program {
    let mut first = None;
    for path in paths {
        let program = probe(requirement, path);
        if program.will_do(requirement.minimum.as_ref()) {
            return program;
        }
        first.get_or_insert(program);
    }
    first.unwrap_or(Program::Missing)
}

/// Asks the program at `path` for its version.
fn probe(requirement: &Requirement, path: PathBuf) -> Program {
    let run = Run::new(&path).args(&requirement.version).cwd("/").env("CREATEOS_DO_NOT_TRACK", "1");
    let ended = match run.limit(LIMIT).run() {
        Ok(ended) => ended,
        Err(error) => return Program::Broken { path, reason: error.to_string() },
    };
    let call = || format!("{} {}", requirement.id, requirement.version.join(" "));
    if !ended.success() {
        let said = ended.stderr_text();
        let said = said.lines().next().map_or_else(String::new, |line| format!(": {line}"));
        return Program::Broken { path, reason: format!("{} ended with {}{said}", call(), ended.code()) };
    }
    let text = ended.stdout_text();
    if let Some((version, text)) = Version::find(&text) {
        return Program::Found { path, version: Some(version), text };
    }
    let newest = text.split_whitespace().find(|word| requirement.newest.iter().any(|newest| newest == word));
    match newest {
        Some(word) => Program::Found { path, version: None, text: word.to_owned() },
        None => Program::Broken { path, reason: format!("{} printed no version", call()) },
    }
}

/// Whether the program at `path` is a `createos-sandbox` that runs here.
pub(crate) fn is_ours(path: &Path) -> Result<(), String> {
    let shown = path.display();
    let ended = Run::new(path).arg("--version").cwd("/").limit(LIMIT).run();
    match ended {
        Err(error) => Err(format!("{shown} does not start: {error}")),
        Ok(ended) if !ended.success() => Err(format!("{shown} --version ended with {}", ended.code())),
        Ok(ended) if !ended.stdout_text().starts_with(env!("CARGO_PKG_NAME")) => {
            Err(format!("{shown} is not createos-sandbox"))
        }
        Ok(_) => Ok(()),
    }
}

/// The absolute path by which this program is to be started later.
///
/// # Errors
/// As of [`Own::of_this_process`].
pub(crate) fn own_path() -> Result<PathBuf, Error> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Ok(Own::of_this_process()?.lasting_path(&path))
}

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
        .limit(LIMIT)
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
