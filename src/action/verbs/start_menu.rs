//! `start-menu`: a popup in which an agent is chosen, and its start.

use super::start::start;
use crate::action::mapping::ActionContext;
use crate::action::pane::menu::{MENU, choice_file};
use crate::action::report::{Notice, Report};
use crate::config::Agent;
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::herdr::Place;
use crate::random;
use std::time::{Duration, Instant};

/// How long the process of the popup may take to show itself.
const POPUP: Duration = Duration::from_secs(20);

/// Opens the popup, waits until it has an answer or is gone, and starts what was chosen.
///
/// # Errors
/// The popup cannot be opened, or as of a start.
pub(crate) fn start_menu(context: &ActionContext) -> Result<Report> {
    // A start needs it, and the popup would hide that.
    let _is_there = context.need_focus()?;
    let token = random::hex(16);
    let file = choice_file(context, &token);
    let env = [(MENU, token.as_str())];
    context.herdr.open_plugin_pane("menu", Place::Popup, None, &env).map_err(|error| {
        Error::from(error).help("close the open popup, help or settings, then press the key again")
    })?;
    let (began, mut was_open) = (Instant::now(), false);
    let chosen: Option<Agent> = loop {
        let is_open = Lock::is_held(&file.with_extension("lock"))?;
        if let Some(text) = crate::fs::read_if_there(&file)? {
            break String::from_utf8_lossy(&text).parse().ok();
        }
        if !is_open && (was_open || began.elapsed() > POPUP) {
            break None;
        }
        was_open |= is_open;
        std::thread::sleep(Duration::from_millis(30));
    };
    for left in [file.clone(), file.with_extension("lock")] {
        let _already_gone = std::fs::remove_file(left);
    }
    match chosen {
        Some(agent) => start(context, Some(agent)),
        None => Ok(Report::new("").notice(Notice::Nothing).field("result", "declined")),
    }
}
