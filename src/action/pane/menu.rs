//! The popup in which an agent is chosen: the configured one first, Enter starts.

use super::terminal::{self, Keys, Typed};
use crate::action::mapping::ActionContext;
use crate::config::Agent;
use crate::error::{Error, Result};
use crate::fs::{Lock, Mode, write_atomic};
use crate::ui;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The variable that ties a popup to the action that waits for it.
pub(crate) const MENU: &str = "CREATEOS_SANDBOX_MENU";
/// Keys within this time were meant for the pane below.
const CALM: Duration = Duration::from_millis(500);

/// Where the popup writes what was chosen; beside it is the lock that it holds while it is open.
pub(crate) fn choice_file(context: &ActionContext, token: &str) -> PathBuf {
    context.store.folder().join("locks").join(format!("menu-{token}.choice"))
}

/// The process of the popup.
///
/// # Errors
/// No action waits for it, or the terminal cannot be read.
pub(crate) fn ask_in_popup(context: &ActionContext) -> Result<()> {
    let is_token = |text: &String| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let token = std::env::var(MENU).ok().filter(is_token);
    let token = token.ok_or_else(|| Error::failed("this popup was not opened by the action start-menu"))?;
    let file = choice_file(context, &token);
    if let Some(folder) = file.parent() {
        crate::fs::make_private(folder)?;
    }
    let _open = Lock::wait(&file.with_extension("lock"))?;
    // Settings that cannot be read are the start's to tell.
    let own = context.config().map(|config| config.agent).unwrap_or_default();
    let agents: Vec<Agent> = std::iter::once(own).chain(Agent::all().filter(|agent| *agent != own)).collect();
    match choose(&agents)? {
        Some(agent) => write_atomic(&file, agent.name().as_bytes(), Mode::Private),
        None => Ok(()),
    }
}

fn choose(agents: &[Agent]) -> Result<Option<Agent>> {
    terminal::wake_at_resize();
    let keys = Keys::take()?;
    let (began, mut at) = (Instant::now(), 0);
    loop {
        let _closed = ui::raw(frame(agents, at, terminal::size()).as_bytes());
        let typed = match keys.read(Duration::from_secs(60)) {
            Typed::Ended => return Ok(None),
            Typed::Bytes(typed) if began.elapsed() >= CALM => typed,
            Typed::Bytes(_) | Typed::Nothing => continue,
        };
        for key in terminal::single_keys(&typed) {
            match key {
                b"\r" | b"\n" => return Ok(Some(agents[at])),
                b"q" | b"\x1b" | b"\x03" => return Ok(None),
                b"j" | b"\x1b[B" | b"\x1bOB" => at = (at + 1).min(agents.len() - 1),
                b"k" | b"\x1b[A" | b"\x1bOA" => at = at.saturating_sub(1),
                _ => {}
            }
        }
    }
}

/// The whole screen; where it has too few rows, those around the chosen one.
fn frame(agents: &[Agent], at: usize, (rows, columns): (u16, u16)) -> String {
    let room = usize::from(rows).saturating_sub(1).max(1);
    let first = (at + 1).saturating_sub(room);
    let mut frame = String::from("\x1b[H\x1b[J");
    for (number, agent) in agents.iter().enumerate().skip(first).take(room) {
        let title: String = agent.spec().title.chars().take(usize::from(columns).saturating_sub(4)).collect();
        let line = if number == at { format!("\x1b[7m> {title}\x1b[0m") } else { format!("  {title}") };
        frame.push_str(&line);
        frame.push_str("\r\n");
    }
    let words: String = "Enter starts, q leaves".chars().take(usize::from(columns)).collect();
    frame + &words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_popup_shows_the_chosen_agent_and_the_keys() {
        let agents: Vec<Agent> = Agent::all().collect();
        let whole = frame(&agents, 0, (30, 40));
        assert!(whole.contains("\x1b[7m> Claude Code\x1b[0m") && whole.contains("  Shell\r\n"), "{whole}");
        let small = frame(&agents, agents.len() - 1, (3, 20));
        assert!(small.contains("> Shell") && !small.contains("Claude"), "{small}");
        assert_eq!(small.lines().count(), 3);
        assert!(small.ends_with("Enter starts, q leav"), "{small}");
    }
}
