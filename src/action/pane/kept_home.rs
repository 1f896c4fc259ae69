//! What of a start stayed home for a name or a secret, as its pane and its report say it.

use crate::command;
use crate::state::StartOutcome;
use crate::ui;
use crate::worktree::{Packed, Reason};

/// How many names are said.
const NAMED: usize = 5;

/// What stayed home for a name or a secret.
#[derive(Debug, Default)]
pub(crate) struct KeptHome {
    pub(crate) count: usize,
    pub(crate) first: Vec<String>,
}

impl KeptHome {
    pub(crate) fn of_packed(packed: &Packed) -> Self {
        let kept = |reason| matches!(reason, Reason::Denied | Reason::Secret);
        let mut names = packed.stayed.iter().filter(|stayed| kept(stayed.reason)).map(|stayed| &stayed.path);
        let first: Vec<String> =
            names.by_ref().take(NAMED).map(|path| path.to_string_lossy().into()).collect();
        Self { count: first.len() + names.count(), first }
    }

    /// As the pane has told it.
    pub(crate) fn of_a_start(outcome: &StartOutcome) -> Self {
        Self { count: outcome.stayed, first: outcome.stayed_files.clone() }
    }

    /// The names, and what shows them all; nothing when none stayed.
    pub(crate) fn words(&self) -> Option<String> {
        let all = command::action("upload").flag("--dry-run");
        (self.count > 0).then(|| {
            format!("stayed home for a name or a secret: {}; all: {all}", ui::some(&self.first, self.count))
        })
    }
}
