//! What stays home, and why.

use serde::Serialize;
use std::path::PathBuf;

/// Why a path does not leave the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// A submodule, or a path under one.
    Submodule,
    /// An untracked git repository inside the worktree.
    Repository,
    /// The user's `excludes`.
    Excluded,
    /// The deny-list knows the name as one that holds credentials.
    Denied,
    /// git's ignore rules match it, although it is tracked.
    Ignored,
    /// git ignores it, and a `.worktreeinclude` that nobody said yes to names it.
    #[serde(rename = "would-be-included")]
    Include,
    /// The scan found a secret in it.
    Secret,
    /// A link whose target is outside the worktree.
    LinkOut,
    /// A folder on the way to it is a link, or no folder.
    BehindLink,
    /// A name that is git's own on some file system.
    Name,
    /// A pipe, a socket or a device.
    Special,
    /// It may not be read.
    Unreadable,
    /// It changed while it was read, twice.
    Changed,
    /// In the index but not on disk: deleted, sparse, or gone while the tree was read.
    Missing,
}

impl Reason {
    /// The reason in a word or two, for a column.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Submodule => "submodule",
            Self::Repository => "repository",
            Self::Excluded => "excluded",
            Self::Denied => "credentials",
            Self::Ignored => "ignored",
            Self::Include => "would be included",
            Self::Secret => "secret",
            Self::LinkOut => "link out",
            Self::BehindLink => "behind link",
            Self::Name => "name",
            Self::Special => "no file",
            Self::Unreadable => "unreadable",
            Self::Changed => "changing",
            Self::Missing => "not on disk",
        }
    }
}

/// One path that stays home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stayed {
    /// The path below the worktree, in raw bytes.
    pub(crate) path: PathBuf,
    /// Why.
    pub(crate) reason: Reason,
    /// The rule that decided: an exclude, a deny pattern, a secret rule's id, a link's target.
    pub(crate) rule: String,
    /// The line of a secret, from 1.
    pub(crate) line: Option<u32>,
    /// What kind of secret it is, in words. Never the secret.
    pub(crate) kind: Option<&'static str>,
}

impl Stayed {
    pub(super) fn new(path: impl Into<PathBuf>, reason: Reason, rule: impl Into<String>) -> Self {
        Self { path: path.into(), reason, rule: rule.into(), line: None, kind: None }
    }
}
