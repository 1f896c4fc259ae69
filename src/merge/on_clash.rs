//! What becomes of paths that clash, when a person has said so.

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
