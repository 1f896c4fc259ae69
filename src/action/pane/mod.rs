//! The pane that shows a box: how it comes up, what it shows while and after the agent runs, what is typed there.

pub(super) mod agent;
pub(super) mod create;
pub(super) mod here;
pub(super) mod holding;
pub(super) mod home;
pub(super) mod include;
pub(super) mod install;
pub(super) mod label;
pub(super) mod menu;
pub(super) mod passed;
pub(super) mod project;
pub(super) mod provision;
pub(super) mod sheet;
pub(super) mod show;
pub(super) mod terminal;
pub(super) mod values;
