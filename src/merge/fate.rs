//! What becomes of a path.

use super::on_clash::Settled;
use crate::worktree::RelPath;

/// What happens to a path that is taken as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It is new here.
    Added,
    /// It replaces what is here.
    Changed,
    /// It goes away.
    Deleted,
}

/// What becomes of one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Theirs is taken.
    Take(What),
    /// It is here already.
    AlreadyHere,
    /// Both sides changed it, and both changes fit.
    Merged,
    /// Both sides changed it and a person has to decide: why.
    Conflict(String),
    /// It clashed, and a person has decided.
    Settled(Settled),
    /// It does not come home: why.
    Dropped(String),
}

impl Fate {
    /// Whether an apply would write the path.
    pub(crate) fn touches(&self) -> bool {
        matches!(self, Self::Take(_) | Self::Merged | Self::Settled(Settled::Marked | Settled::Theirs))
    }
}

/// One path's judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judged {
    /// The path; `None` for a name that no worktree may hold.
    pub(crate) path: Option<RelPath>,
    /// The name as text, damaged bytes replaced. Hostile: show it through `ui::visible`.
    pub(crate) name: String,
    /// What becomes of it.
    pub(crate) fate: Fate,
    /// Why it runs code on this machine when touched, if it does and would be written.
    pub(crate) runs_code: Option<&'static str>,
}
