//! What becomes of a path.

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

/// A person's answer to what both sides changed. Without one nothing is applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum OnClash {
    /// Nothing is applied at all, and what clashes is named.
    #[default]
    Refuse,
    /// Texts get both versions with git's conflict marks around them; what is no text still clashes.
    Mark,
    /// What is here stays, and counts as the answer to what the box did.
    Mine,
    /// The box's version replaces what is here; an undo brings that back.
    Theirs,
}

/// How a path that clashes was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// Both versions are in the file, marked.
    Marked,
    /// What is here stays.
    Mine,
    /// The box's version replaces what is here.
    Theirs,
}
