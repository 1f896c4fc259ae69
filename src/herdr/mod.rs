//! Client of the Herdr command line: calls, panes, popups, notices, and how Herdr called us.

mod admin;
mod client;
mod diagnostics;
mod invocation;
mod manifest;
mod pane;
mod plugin_pane;
mod registry;

pub(crate) use admin::Reload;
pub(crate) use client::{Herdr, HerdrError};
pub(crate) use diagnostics::Diagnostics;
pub(crate) use invocation::{Caller, Invocation};
pub(crate) use manifest::Manifest;
pub(crate) use pane::{Pane, PaneId, TerminalId};
pub(crate) use plugin_pane::{Focus, Place};
pub(crate) use registry::{GithubSource, Plugin, read_registry};
