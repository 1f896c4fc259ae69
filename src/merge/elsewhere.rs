//! What was made in a box and is not in its checked-out tree: other branches, stashes, worktrees, repositories.

use super::script::{self, Script};
use super::{Remote, lying};
use crate::base64;
use crate::config::RemoteRoot;
use crate::error::Result;
use crate::ui;
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
        let Some(record) = Record::parse(line) else {
            return Err(lying(format!("it tells of work in words that are none: \"{line}\"")));
        };
        if own.len() + found.unknown.len() + places.len() > MOST {
            return Err(lying("it tells of work without end"));
        }
        match record.words() {
            Words::Sentence(sentence) => own.push((record.kind, sentence)),
            Words::InPlace(words) => places.entry(record.place).or_default().push(words),
            Words::Unknown => found.unknown.push(if record.place.is_empty() {
                "the workspace's own repository".into()
            } else {
                record.place
            }),
        }
    }
    own.sort_by_key(|(kind, _)| *kind);
    found.work.extend(own.into_iter().map(|(_, sentence)| sentence));
    found.work.extend(places.into_iter().map(|(place, words)| format!("{place}: {}", words.join(", "))));
    Ok(found)
}

/// One line of the box's answer.
#[derive(Debug)]
struct Record {
    kind: Kind,
    count: u64,
    place: String,
    name: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Branch,
    Tag,
    Ref,
    Detached,
    Stash,
    Commits,
    Tagged,
    Files,
    Unknown,
}

enum Words {
    /// The whole of it.
    Sentence(String),
    /// What a place has.
    InPlace(String),
    /// Nothing that could be seen.
    Unknown,
}

impl Record {
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.split(' ');
        let kind = match fields.next()? {
            "branch" => Kind::Branch,
            "tag" => Kind::Tag,
            "ref" => Kind::Ref,
            "detached" => Kind::Detached,
            "stash" => Kind::Stash,
            "commits" => Kind::Commits,
            "tagged" => Kind::Tagged,
            "files" => Kind::Files,
            "unknown" => Kind::Unknown,
            _ => return None,
        };
        let count = fields.next()?.parse().ok()?;
        let (place, name) = fields.next()?.split_once(':')?;
        let text = |encoded: &str| String::from_utf8_lossy(&base64::decode(encoded.as_bytes())).into_owned();
        Some(Self { kind, count, place: text(place), name: text(name) })
    }

    fn words(&self) -> Words {
        let Self { kind, count, place, name } = self;
        let commits = ui::count(*count, "commit");
        let stashes = || if *count == 1 { "a stash".into() } else { format!("{count} stashes") };
        let here = place.is_empty();
        match kind {
            Kind::Branch => Words::Sentence(format!("branch {name}: {commits}")),
            Kind::Tag => Words::Sentence(format!("tag {name}: {commits}")),
            Kind::Ref => Words::Sentence(format!("{name}: {commits}")),
            Kind::Detached if here => Words::Sentence(format!("on no branch, at {name}: {commits}")),
            Kind::Detached => Words::InPlace(format!("{commits} on no branch, at {name}")),
            Kind::Stash if here => Words::Sentence(stashes()),
            Kind::Stash => Words::InPlace(stashes()),
            Kind::Commits => Words::InPlace(commits),
            Kind::Tagged => Words::InPlace(format!("{commits} behind tags")),
            Kind::Files => Words::InPlace(ui::count(*count, "file")),
            Kind::Unknown => Words::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_none_is_no_work() {
        for bad in ["", "branch", "branch x :", "branch -1 :", "branch 1 ZmVhdA==", "hat 1 :", "branch 1 "] {
            assert!(Record::parse(bad).is_none(), "{bad}");
        }
        assert!(Record::parse("branch 2 :ZmVhdA==").is_some());
    }
}
