//! What leaves for /work: a folder, or the part of a worktree that it is.

use super::project;
use super::say::say;
use crate::config::CosConfig;
use crate::error::{Error, Result};
use crate::templates;
use crate::ui;
use crate::worktree::{self, Packed, Pattern, Reason, RelPath, Selection, Worktree};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

#[derive(Deserialize)]
struct Data {
    excludes: Vec<String>,
}

/// What stays home of every folder, unless git tracks it.
static FIXED: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let data: Data = templates::read(include_str!("../../templates/cos.toml"));
    data.excludes.iter().map(|text| text.parse().expect("the data is valid, which is tested")).collect()
});

/// The service takes files up to this size, in bytes.
pub(super) const LARGEST: u64 = 500 * 1024 * 1024;
/// How many of the largest folders are named.
const NAMED: usize = 5;

/// The folder DIR, without links on its way.
///
/// # Errors
/// It is not there, is no folder, or cannot be read.
pub(super) fn folder(dir: &Path) -> Result<PathBuf> {
    let wrong = |why: &str| {
        Error::usage(format!("{} {why}", dir.display()))
            .help("name the folder to copy, such as . for this one")
    };
    let real = std::fs::canonicalize(dir).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => wrong("is not there"),
        _ => wrong(&format!("cannot be entered: {source}")),
    })?;
    if !real.is_dir() {
        return Err(wrong("is no folder"));
    }
    std::fs::read_dir(&real).map_err(|source| wrong(&format!("cannot be read: {source}")))?;
    Ok(real)
}

/// What of the folder may leave, judged by name. `home` is the user's.
///
/// # Errors
/// git cannot list the worktree, or the folder is one that never leaves as a whole.
pub(super) fn select(dir: &Path, home: &Path, config: &CosConfig, own: &[Pattern]) -> Result<Selection> {
    let by_own = |path: &RelPath, is_folder: bool| {
        own.iter().find(|pattern| pattern.leaves_out(path, is_folder)).map(ToString::to_string)
    };
    let by_fixed = |path: &RelPath, is_folder: bool| {
        FIXED.iter().find(|pattern| pattern.leaves_out(path, is_folder)).map(ToString::to_string)
    };
    if project::top(dir).is_none() {
        let home = home.canonicalize().unwrap_or_else(|_| home.to_path_buf());
        if home.starts_with(dir) {
            return Err(Error::usage(format!("{} holds your home folder: that never leaves", dir.display()))
                .help("name a folder of one project"));
        }
        let leaves_out =
            |path: &RelPath, folder: bool| by_own(path, folder).or_else(|| by_fixed(path, folder));
        return worktree::walk(dir, &config.rules(dir), &leaves_out);
    }
    let git = which::which("git").map_err(|_| {
        Error::cannot_run(format!("{} is in a git worktree, and git is not on PATH", dir.display()))
            .help("install git: it says which files are the project's")
    })?;
    let tree = Worktree::discover(&git, dir)?;
    let whole = worktree::select(&tree, &config.rules(tree.root()))?;
    for idle in &whole.idle {
        say(format!("warning: {idle}"));
    }
    let inner = dir.strip_prefix(tree.root()).unwrap_or(Path::new("")).as_os_str().as_bytes();
    let mut selection = match RelPath::new(inner) {
        Ok(folder) => whole.below(&folder),
        Err(_its_top) => whole,
    };
    selection.leave_out(|path, tracked| {
        by_own(path, false).or_else(|| if tracked { None } else { by_fixed(path, false) })
    });
    Ok(selection)
}

/// What to do about an upload that is too large: its largest folders.
pub(super) fn largest_folders(selection: &Selection) -> String {
    let mut folders: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for (path, size) in selection.sizes() {
        let bytes = path.as_bytes();
        // Two levels say enough; files of the top stand for themselves.
        let end = memchr::memchr_iter(b'/', bytes).take(2).last().unwrap_or(bytes.len());
        *folders.entry(bytes[..end].to_vec()).or_default() += size;
    }
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    let named = folders.iter().take(NAMED).map(|(folder, size)| {
        format!("{} ({})", ui::visible_line(&String::from_utf8_lossy(folder)), ui::bytes(*size))
    });
    format!("leave some out with -x; the largest are {}", named.collect::<Vec<_>>().join(", "))
}

/// Names in one line what stayed home for a secret.
pub(super) fn tell_of_secrets(packed: &Packed) {
    let secret =
        packed.stayed.iter().filter(|stayed| matches!(stayed.reason, Reason::Secret | Reason::Denied));
    let names: Vec<String> = secret.map(|stayed| stayed.path.to_string_lossy().into_owned()).collect();
    if !names.is_empty() {
        let shown = ui::some(names.iter().take(NAMED), names.len());
        say(format!("stayed home, since they may hold secrets: {shown}"));
    }
}
