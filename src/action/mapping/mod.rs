//! Which box belongs to which pane and worktree, and what becomes of the record of it.

mod context;
pub(super) mod detached;
mod forget;
mod inventory;
mod naming;
pub(super) mod program;
mod running;
mod which;

pub(super) use context::{ActionContext, RECORD, RESTORED, box_id, state_folder};
pub(super) use forget::{delete_box, find_box, forget_gone, is_deleted, or_elsewhere, ours, restore};
pub(super) use inventory::{Inventory, Item, Owner, inventory, record_of_box};
pub(super) use naming::{box_name, installation_of, renamed, title};
pub(super) use running::{UP, run_box};
pub(super) use which::{Chosen, choose, meant, named, ready};
