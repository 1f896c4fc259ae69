//! A file for each command, called as the command is.

pub(super) mod anywhere;
pub(super) mod apply;
pub(super) mod ask_delete;
pub(super) mod attach;
pub(super) mod boxes;
pub(super) mod cleanup;
pub(super) mod delete;
pub(super) mod info;
pub(super) mod pause;
pub(super) mod prune;
pub(super) mod reconcile;
pub(super) mod resume;
pub(super) mod review;
pub(super) mod start;
pub(super) mod start_menu;
pub(super) mod sync;
pub(super) mod trust;
pub(super) mod undo;
pub(super) mod upload;
