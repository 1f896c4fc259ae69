//! What was made in a box and is not in its checked-out tree: other branches, stashes, worktrees, repositories.

use super::script::{self, Script};
use super::{Remote, lying};
use crate::config::RemoteRoot;
use crate::error::Result;
use crate::{base64, ui};
use std::collections::BTreeMap;

/// A place with more kinds of work than these has them all the same; a box that names more lies.
const MOST: usize = 5_000;

/// What was found, in sentences as `branch feat: 2 commits`. They hold names of the box's: hostile text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Elsewhere {
    /// Work that stays in the box.
    pub(crate) work: Vec<String>,
    /// Folders that the box's git takes for a repository and cannot look into.
    pub(crate) unknown: Vec<String>,
}

/// Looks for it in a running box.
///
/// # Errors
/// The box cannot be asked, or its answer cannot be read.
pub(crate) fn elsewhere(remote: &mut dyn Remote, root: &RemoteRoot) -> Result<Elsewhere> {
    let said = script::run(remote, Script::Elsewhere, root, &[])??;
    if said.get("elsewhere") != Some("yes") {
        return Err(lying("it does not say what it has besides the workspace's files"));
    }
    let mut found = Elsewhere::default();
    let mut own = Vec::new();
    // What is in one place is one sentence.
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in said.all("work") {
        let Some((rank, place, words)) = parse(line) else {
            return Err(lying(format!("it tells of work in words that are none: \"{line}\"")));
        };
        if own.len() + found.unknown.len() + places.len() > MOST {
            return Err(lying("it tells of work without end"));
        }
        match words {
            Words::Sentence(sentence) => own.push((rank, sentence)),
            Words::InPlace(words) => places.entry(place).or_default().push(words),
            Words::Unknown if place.is_empty() => found.unknown.push("the workspace's own repository".into()),
            Words::Unknown => found.unknown.push(place),
        }
    }
    own.sort_by_key(|(rank, _)| *rank);
    found.work.extend(own.into_iter().map(|(_, sentence)| sentence));
    found.work.extend(places.into_iter().map(|(place, words)| format!("{place}: {}", words.join(", "))));
    Ok(found)
}

enum Words {
    /// The whole of it.
    Sentence(String),
    /// What a place has.
    InPlace(String),
    /// Nothing that could be seen.
    Unknown,
}

/// One line of the box's answer: the rank of its kind, its place, and its words.
fn parse(line: &str) -> Option<(u8, String, Words)> {
    let mut fields = line.split(' ');
    let kind = fields.next()?;
    let count: u64 = fields.next()?.parse().ok()?;
    let (place, name) = fields.next()?.split_once(':')?;
    let text = |encoded: &str| String::from_utf8_lossy(&base64::decode(encoded.as_bytes())).into_owned();
    let (place, name) = (text(place), text(name));
    let commits = ui::count(count, "commit");
    let stashes = || if count == 1 { "a stash".into() } else { format!("{count} stashes") };
    let (rank, words) = match kind {
        "branch" => (0, Words::Sentence(format!("branch {name}: {commits}"))),
        "tag" => (1, Words::Sentence(format!("tag {name}: {commits}"))),
        "ref" => (2, Words::Sentence(format!("{name}: {commits}"))),
        "detached" if place.is_empty() => (3, Words::Sentence(format!("on no branch, at {name}: {commits}"))),
        "detached" => (3, Words::InPlace(format!("{commits} on no branch, at {name}"))),
        "stash" if place.is_empty() => (4, Words::Sentence(stashes())),
        "stash" => (4, Words::InPlace(stashes())),
        "commits" => (5, Words::InPlace(commits)),
        "tagged" => (6, Words::InPlace(format!("{commits} behind tags"))),
        "files" => (7, Words::InPlace(ui::count(count, "file"))),
        "unknown" => (8, Words::Unknown),
        _ => return None,
    };
    Some((rank, place, words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_none_is_no_work() {
        for bad in ["", "branch", "branch x :", "branch -1 :", "branch 1 ZmVhdA==", "hat 1 :", "branch 1 "] {
            assert!(parse(bad).is_none(), "{bad}");
        }
        assert!(parse("branch 2 :ZmVhdA==").is_some());
    }
}
