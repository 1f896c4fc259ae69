//! Names of boxes, which say the repository and the installation, and of agents.

use crate::command;
use crate::createos::BoxName;
use crate::error::{Error, Result};
use crate::random;
use crate::state::Record;
use crate::worktree::Worktree;

/// The agent's name for people.
pub(crate) fn title(record: &Record) -> String {
    record.agent.get().map_or_else(|_| record.agent.to_string(), |agent| agent.spec().title.clone())
}

/// How a box is started, behind words such as "start one".
pub(crate) fn start_one(words: &str) -> String {
    let key = if command::is_plain() { "" } else { " the start key, or" };
    format!("{words} with{key}: {}", command::action("start"))
}

/// A new name for a box of this worktree.
pub(crate) fn box_name(worktree: &Worktree, installation: &str) -> Result<BoxName> {
    let folder = worktree.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
    new_name(&folder, installation)
}

/// `hd-<repo ≤8>-<installation 4><random 5>`, at most 22 characters.
fn new_name(folder: &str, installation: &str) -> Result<BoxName> {
    let folder = folder.to_ascii_lowercase();
    let words = folder.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.collect::<Vec<_>>().join("-");
    let repo = words.get(..8).unwrap_or(&words).trim_end_matches('-');
    let repo = if repo.is_empty() { "box" } else { repo };
    let name = format!("hd-{repo}-{installation}{}", random::letters(5));
    name.parse().map_err(|error| Error::failed(format!("{error}")))
}

/// Another name for the same record, when one is taken.
pub(crate) fn renamed(name: &BoxName) -> Result<BoxName> {
    let stem = &name.as_str()[..name.as_str().len() - 5];
    format!("{stem}{}", random::letters(5)).parse().map_err(|error| Error::failed(format!("{error}")))
}

/// The installation's four characters in one of our names.
pub(crate) fn installation_of(name: &BoxName) -> String {
    let text = name.as_str();
    text.rsplit('-').next().unwrap_or_default().chars().take(4).collect()
}

/// Whether a box name is one of this installation's.
pub(crate) fn is_ours(name: &str, installation: &str) -> bool {
    let Some(last) = name.strip_prefix("hd-").and_then(|rest| rest.rsplit('-').next()) else { return false };
    last.len() == 9 && last.starts_with(installation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_say_repo_and_installation() {
        for (folder, stem) in
            [("WebShop Front", "hd-webshop-ab3d"), ("été", "hd-t-ab3d"), ("---", "hd-box-ab3d")]
        {
            let name = new_name(folder, "ab3d").unwrap();
            assert!(name.as_str().starts_with(stem), "{name}");
            assert!(name.as_str().len() <= 22);
            assert_eq!(installation_of(&name), "ab3d");
            assert!(is_ours(name.as_str(), "ab3d") && !is_ours(name.as_str(), "zzzz"));
            let other = renamed(&name).unwrap();
            assert_eq!(other.as_str().len(), name.as_str().len());
            assert!(is_ours(other.as_str(), "ab3d"));
        }
    }
}
