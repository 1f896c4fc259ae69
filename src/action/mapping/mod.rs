//! Which box belongs to which pane and worktree, and what becomes of the record of it.

mod context;
pub(super) mod detached;
mod forget;
mod inventory;
mod naming;
pub(super) mod program;
mod project;
mod reserve;
mod running;
mod which;

pub(super) use context::{ActionContext, Called, PERSONS_NAME, RECORD, RESTORED, box_id, state_folder};
pub(super) use forget::{delete_box, find_box, forget_gone, is_deleted, or_elsewhere, ours, restore};
pub(super) use inventory::{Inventory, Item, Owner, inventory, record_of_box};
pub(super) use naming::{installation_of, renamed, start_one, title};
pub(super) use project::{Wishes, wishes};
pub(super) use reserve::{Wanted, reservation};
pub(super) use running::{UP, run_box};
pub(super) use which::{Chosen, choose, meant, named, ready};
