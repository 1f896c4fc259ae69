//! What is remembered of boxes, where the earlier driver remembered it.

mod boxes;
mod folder;
mod project_box;
mod runs;

pub(super) use boxes::{BoxRecord, Owned, Phase};
pub(super) use folder::StateFolder;
pub(super) use project_box::ProjectBox;
pub(super) use runs::new_run_folder;
