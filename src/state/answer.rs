//! What the user said to a worktree's `.worktreeinclude`.

use super::State;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How many answers are remembered, the newest.
const REMEMBERED: usize = 200;

/// One answer. It is for exactly one content in one worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// The worktree's top folder.
    pub(crate) worktree: PathBuf,
    /// The hash of the worktree and the content.
    pub(crate) hash: String,
    /// What it names may leave.
    pub(crate) yes: bool,
}

impl State {
    /// Whether there is an answer for exactly this.
    pub(crate) fn is_answered(&self, worktree: &Path, hash: &str) -> bool {
        self.answers.iter().any(|answer| answer.worktree == worktree && answer.hash == hash)
    }

    /// Remembers an answer in place of an earlier one for the worktree.
    pub(crate) fn answer(&mut self, worktree: &Path, hash: &str, yes: bool) {
        self.answers.retain(|answer| answer.worktree != worktree);
        self.answers.push(Answer { worktree: worktree.to_path_buf(), hash: hash.into(), yes });
        let too_many = self.answers.len().saturating_sub(REMEMBERED);
        self.answers.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_answer_for_a_worktree_is_kept() {
        let mut state = State::default();
        for number in 0..REMEMBERED + 3 {
            state.answer(&PathBuf::from(format!("/w/{number}")), "a", true);
        }
        state.answer(Path::new("/w/50"), "b", false);
        assert_eq!(state.answers.len(), REMEMBERED);
        let last = state.answers.last().unwrap();
        assert_eq!((last.worktree.as_path(), last.hash.as_str(), last.yes), (Path::new("/w/50"), "b", false));
        assert_eq!(state.answers.iter().filter(|answer| answer.worktree == Path::new("/w/50")).count(), 1);
    }
}
