//! Which box belongs to which pane and worktree, and what becomes of the record of it.

pub(super) mod context;
pub(super) mod detached;
pub(super) mod forget;
pub(super) mod inventory;
pub(super) mod naming;
pub(super) mod program;
pub(super) mod restore;
pub(super) mod running;
pub(super) mod which;
