//! Three states of one path, one verdict. Nothing here reads or writes.

use super::ours::Here;
use crate::worktree::{Entry, FileKind};

/// What becomes of a path that the box changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Ours is as the base was: theirs replaces it.
    Take,
    /// Ours is already as theirs.
    Here,
    /// Both changed a file: its mode is decided, its contents have to be merged.
    Merge(FileKind),
    /// Both changed it and there is no way to have both.
    Clash(Clash),
}

/// Why a path cannot be brought home without a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Clash {
    /// Two files of that name were made.
    BothMade,
    /// Changed in the box, deleted here.
    DeletedHere,
    /// Deleted in the box, changed here.
    DeletedThere,
    /// Changed on both sides, and one of them is not a plain file.
    BothChanged,
    /// A folder or something special has that name here.
    InTheWay,
}

impl Clash {
    /// For a person, after the path.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::BothMade => "both sides made it, differently",
            Self::DeletedHere => "changed in the box, deleted here",
            Self::DeletedThere => "deleted in the box, changed here",
            Self::BothChanged => "both sides changed it",
            Self::InTheWay => "something else has this name here",
        }
    }
}

/// Judges one path. `theirs` differs from `base`; `None` is absence.
pub(super) fn verdict(base: Option<Entry>, theirs: Option<Entry>, ours: Here) -> Verdict {
    let ours = match ours {
        Here::Nothing => None,
        Here::Entry(entry) => Some(entry),
        // A folder may have taken the place of a file, on both sides alike; the way decides that later.
        Here::Folder if base.is_none() => return Verdict::Take,
        Here::Folder if theirs.is_none() => return Verdict::Here,
        Here::Folder | Here::Special => return Verdict::Clash(Clash::InTheWay),
    };
    if ours == theirs {
        return Verdict::Here;
    }
    if ours == base {
        return Verdict::Take;
    }
    match (base, theirs, ours) {
        (None, _, _) => Verdict::Clash(Clash::BothMade),
        (Some(_), Some(_), None) => Verdict::Clash(Clash::DeletedHere),
        (Some(_), None, _) => Verdict::Clash(Clash::DeletedThere),
        (Some(base), Some(theirs), Some(ours)) => match merged_kind(base.kind, theirs.kind, ours.kind) {
            Some(kind) => Verdict::Merge(kind),
            None => Verdict::Clash(Clash::BothChanged),
        },
    }
}

/// The mode that has both sides' changes, for plain files.
fn merged_kind(base: FileKind, theirs: FileKind, ours: FileKind) -> Option<FileKind> {
    if [base, theirs, ours].contains(&FileKind::Link) {
        return None;
    }
    Some(if ours == base { theirs } else { ours })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::digest;

    const NONE: Option<Entry> = None;

    fn file(text: &str) -> Option<Entry> {
        Some(Entry { kind: FileKind::File, hash: digest(text.as_bytes()) })
    }

    fn with(kind: FileKind, text: &str) -> Option<Entry> {
        Some(Entry { kind, hash: digest(text.as_bytes()) })
    }

    fn ours(entry: Option<Entry>) -> Here {
        entry.map_or(Here::Nothing, Here::Entry)
    }

    #[test]
    fn every_combination_of_three_states_has_its_verdict() {
        let (a, b, c) = (file("a"), file("b"), file("c"));
        let link = with(FileKind::Link, "a");
        for (base, theirs, here, expected) in [
            (a, b, a, Verdict::Take),
            (a, NONE, a, Verdict::Take),
            (NONE, b, NONE, Verdict::Take),
            (a, link, a, Verdict::Take),
            (a, b, b, Verdict::Here),
            (a, NONE, NONE, Verdict::Here),
            (NONE, b, b, Verdict::Here),
            (a, b, c, Verdict::Merge(FileKind::File)),
            (NONE, b, c, Verdict::Clash(Clash::BothMade)),
            (NONE, b, with(FileKind::Executable, "b"), Verdict::Clash(Clash::BothMade)),
            (a, b, NONE, Verdict::Clash(Clash::DeletedHere)),
            (a, NONE, c, Verdict::Clash(Clash::DeletedThere)),
            (a, link, c, Verdict::Clash(Clash::BothChanged)),
            (link, with(FileKind::Link, "b"), with(FileKind::Link, "c"), Verdict::Clash(Clash::BothChanged)),
        ] {
            assert_eq!(verdict(base, theirs, ours(here)), expected, "{base:?} {theirs:?} {here:?}");
        }
    }

    #[test]
    fn a_mode_changed_on_one_side_and_contents_on_the_other_go_together() {
        let (base, theirs) = (file("a"), with(FileKind::Executable, "a"));
        assert_eq!(verdict(base, theirs, ours(file("b"))), Verdict::Merge(FileKind::Executable));
        assert_eq!(verdict(base, file("b"), ours(theirs)), Verdict::Merge(FileKind::Executable));
    }

    #[test]
    fn a_special_file_is_never_replaced() {
        assert_eq!(verdict(NONE, file("a"), Here::Special), Verdict::Clash(Clash::InTheWay));
        assert_eq!(verdict(file("a"), NONE, Here::Special), Verdict::Clash(Clash::InTheWay));
    }
}
