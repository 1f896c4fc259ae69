//! `boxes`: every box, redrawn in place every five seconds.

mod item;
mod screen;

pub(crate) use item::{delete, not_home};

use crate::action::mapping::{ActionContext, Called, Inventory, inventory};
use crate::action::pane::terminal::{self, Keys, OtherScreen, Typed};
use crate::action::report::{Notice, Report};
use crate::error::{Error, Result};
use crate::herdr::Place;
use crate::state::Record;
use crate::{command, ui};
use screen::Screen;
use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How often the list is asked for.
const EVERY: Duration = Duration::from_secs(5);

/// After a key: opens the pane that shows the list.
///
/// # Errors
/// Herdr refuses the pane.
pub(crate) fn open(context: &ActionContext) -> Result<Report> {
    context.herdr.open_plugin_pane("boxes", Place::Overlay, None, &[]).map_err(|error| {
        Error::from(error).help(format!("or see them in a terminal: {}", command::action("boxes")))
    })?;
    Ok(Report::new("").notice(Notice::Nothing).field("result", "opened"))
}

/// Shows the list until `q` or Esc, or until a box is attached to: in any terminal that box is given, to be shown
/// where the list was. Without a terminal it is printed once.
///
/// # Errors
/// The terminal cannot be read; without one, no provider can be asked.
pub(crate) fn boxes(context: &ActionContext) -> Result<Option<Record>> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let inventory = inventory(context)?.or_error()?;
        for warning in inventory.warnings() {
            ui::note(format!("warning: {warning}"));
        }
        let screen = Screen { items: Some(inventory.items), ..Screen::default() };
        ui::line(screen.rows(context, usize::MAX).join("\n"));
        return Ok(None);
    }
    terminal::wake_at_resize();
    let keys = Keys::take()?;
    let _screen = OtherScreen::enter("\x1b[?1049h\x1b[?25l");
    watch(context, &keys)
}

fn watch(context: &ActionContext, keys: &Keys) -> Result<Option<Record>> {
    let (answers, listings) = channel();
    let (wishes, wanted) = channel();
    let called = context.called;
    std::thread::spawn(move || ask(called, &answers, &wanted));
    let mut screen = Screen::default();
    loop {
        while let Ok(listing) = listings.try_recv() {
            screen.take(listing);
        }
        screen.draw(context);
        if screen.look(context) {
            // What was typed meanwhile is no answer to a question that was not there.
            while let Typed::Bytes(_) = keys.read(Duration::ZERO) {}
            continue;
        }
        match keys.read(Duration::from_millis(250)) {
            Typed::Nothing => {}
            Typed::Ended => return Ok(None),
            // An answer is one key, pressed when the question was there.
            Typed::Bytes(bytes) if screen.question.is_some() => {
                if bytes == b"y" && screen.is_asked() {
                    screen.delete(context);
                    let _asks_at_once = wishes.send(());
                }
                screen.question = None;
            }
            Typed::Bytes(bytes) => {
                for key in terminal::single_keys(&bytes) {
                    match key {
                        b"q" | b"\x1b" | b"\x03" => return Ok(None),
                        b"j" | b"\x1b[B" | b"\x1bOB" => screen.down(),
                        b"k" | b"\x1b[A" | b"\x1bOA" => screen.selected = screen.selected.saturating_sub(1),
                        b"d" => screen.ask_delete(),
                        b"\r" | b"\n" if called == Called::Anywhere => {
                            if let Some(record) = screen.choose(context) {
                                return Ok(Some(record));
                            }
                        }
                        b"\r" | b"\n" if screen.attach(context) => return Ok(None),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Asks for the list on its own thread: a provider that hangs must not hang the keys.
fn ask(called: Called, answers: &Sender<Result<Inventory>>, wanted: &Receiver<()>) {
    loop {
        let listing = ActionContext::open(called).and_then(|context| inventory(&context));
        if answers.send(listing).is_err() {
            return;
        }
        if let Err(std::sync::mpsc::RecvTimeoutError::Disconnected) = wanted.recv_timeout(EVERY) {
            return;
        }
    }
}
