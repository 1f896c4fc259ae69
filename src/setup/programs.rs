//! Programs on this machine: where they are and which version they are.

use super::install;
use super::template::Requirement;
use super::version::Version;
use crate::createos::Own;
use crate::exec::Run;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A version is printed at once; a program that hangs must not hang the doctor.
const LIMIT: Duration = Duration::from_secs(10);

/// What was found of one required program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    /// It is not there.
    Missing,
    /// It is there and does not say which version it is.
    Broken {
        /// Where.
        path: PathBuf,
        /// What happened.
        reason: String,
    },
    /// It is there.
    Found {
        /// Where.
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
    pub(crate) fn will_do(&self, minimum: Option<Version>) -> bool {
        match self {
            Self::Found { version, .. } => {
                version.is_none_or(|version| minimum.is_none_or(|min| version >= min))
            }
            Self::Missing | Self::Broken { .. } => false,
        }
    }
}

/// Where a program is: in its variable, on PATH, and where its installer puts it even when that is not on
/// PATH. This program itself is passed over, which the shim under the name `createos` leads to.
pub(crate) fn candidates(requirement: &Requirement, home: &Path) -> Vec<PathBuf> {
    let named = requirement.variable.as_ref().and_then(std::env::var_os).and_then(|value| {
        // Herdr's server says so of a binary that was replaced under it (contract `herdr.md` 6.1).
        let text = value.to_string_lossy();
        let path = PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text));
        (path.is_absolute() && path.exists()).then_some(path)
    });
    let on_path = which::which_all(&requirement.program).into_iter().flatten();
    let landed = install::landed(&requirement.id, home);
    let own = Own::of_this_process();
    let mut seen = BTreeSet::new();
    let all = named.into_iter().chain(on_path).chain(landed);
    all.filter(|path| !own.as_ref().is_some_and(|own| own.is(path)))
        .filter(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())))
        .collect()
}

/// The first of these copies that will do; the first one when none does.
pub(crate) fn probe_best(requirement: &Requirement, paths: Vec<PathBuf>) -> Program {
    let mut first = None;
    for path in paths {
        let program = probe(requirement, path);
        if program.will_do(requirement.minimum) {
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
    let call = || format!("{} {}", requirement.program, requirement.version.join(" "));
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

/// The absolute path by which this program is to be started later; none when its file was moved or removed
/// while it ran.
pub(crate) fn own_path() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    Some(Own::of_this_process()?.lasting_path(&path))
}
