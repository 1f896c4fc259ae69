//! Client of the Herdr command line: calls, panes, popups, notices, and how Herdr called us.

mod client;
mod invocation;
mod notice;
mod pane;
mod plugin_pane;

pub(crate) use client::{Herdr, HerdrError};
pub(crate) use invocation::{Caller, Invocation, Moved};
pub(crate) use pane::{Foreground, Pane, PaneId, TerminalId};
pub(crate) use plugin_pane::Place;
