//! `boxes`: every box, redrawn in place every five seconds.

use super::delete::delete_now;
use super::inventory::{Item, Owner, inventory};
use super::provision::delete_box;
use super::session::Session;
use super::terminal::{self, Keys, Typed};
use crate::error::{Error, Result};
use crate::ui;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// How often the list is asked for.
const EVERY: Duration = Duration::from_secs(5);
/// The alternate screen without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Shows the list until `q` or Esc. Without a terminal it is printed once.
///
/// # Errors
/// The terminal cannot be read; without one, the provider cannot be asked.
pub(super) fn boxes(session: &Session) -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let screen = Screen { items: Some(inventory(session)?), ..Screen::default() };
        let rows = screen.rows(session);
        ui::line(rows.join("\n"));
        return Ok(());
    }
    let resized = Arc::new(AtomicBool::new(false));
    // Registered so that a change of the size interrupts the wait for keys.
    let _kept = signal_hook::flag::register(signal_hook::consts::SIGWINCH, Arc::clone(&resized));
    let keys = Keys::take()?;
    let _closed = ui::raw(ENTER.as_bytes());
    let result = watch(session, &keys, &resized);
    let _closed = ui::raw(LEAVE.as_bytes());
    result
}

fn watch(session: &Session, keys: &Keys, resized: &AtomicBool) -> Result<()> {
    let (answers, listings) = channel();
    let (wishes, wanted) = channel();
    std::thread::spawn(move || ask(&answers, &wanted));
    let mut screen = Screen::default();
    loop {
        while let Ok(listing) = listings.try_recv() {
            screen.take(listing);
        }
        resized.store(false, Ordering::Relaxed);
        let _closed = ui::raw(screen.frame(session, terminal::size()).as_bytes());
        match keys.read(Duration::from_millis(250)) {
            Typed::Nothing => {}
            Typed::Ended => return Ok(()),
            Typed::Bytes(bytes) => {
                if screen.question.is_some() {
                    if bytes == b"y" {
                        screen.delete(session);
                        let _asks_at_once = wishes.send(());
                    }
                    screen.question = None;
                    continue;
                }
                match bytes.as_slice() {
                    b"q" | b"\x1b" | b"\x03" => return Ok(()),
                    b"j" | b"\x1b[B" | b"\x1bOB" => screen.selected += 1,
                    b"k" | b"\x1b[A" | b"\x1bOA" => screen.selected = screen.selected.saturating_sub(1),
                    b"d" => screen.ask_delete(),
                    _ => {}
                }
            }
        }
    }
}

/// Asks for the list on its own thread: a provider that hangs must not hang the keys.
fn ask(answers: &Sender<Result<Vec<Item>>>, wanted: &Receiver<()>) {
    loop {
        let listing = Session::open().and_then(|session| inventory(&session));
        if answers.send(listing).is_err() {
            return;
        }
        if let Err(std::sync::mpsc::RecvTimeoutError::Disconnected) = wanted.recv_timeout(EVERY) {
            return;
        }
    }
}

#[derive(Default)]
struct Screen {
    items: Option<Vec<Item>>,
    message: Option<String>,
    selected: usize,
    question: Option<Item>,
}

impl Screen {
    /// A list that cannot be had leaves the old one on the screen.
    fn take(&mut self, listing: Result<Vec<Item>>) {
        match listing {
            Ok(items) => {
                // The choice stays on its box when others come and go.
                let chosen = self.chosen().map(|item| item.view.id.clone());
                let at = chosen.and_then(|id| items.iter().position(|item| item.view.id == id));
                self.selected = at.unwrap_or(self.selected);
                self.items = Some(items);
                self.message = None;
            }
            Err(error) => self.message = Some(format!("error: {}", error.message())),
        }
    }

    fn chosen(&self) -> Option<&Item> {
        self.items.as_ref()?.get(self.selected)
    }

    fn ask_delete(&mut self) {
        match self.chosen().cloned() {
            Some(item) if item.is_ours() => self.question = Some(item),
            Some(_) => self.message = Some("this box was made elsewhere and is not deleted from here".into()),
            None => {}
        }
    }

    fn delete(&mut self, session: &Session) {
        let Some(item) = self.question.take() else { return };
        let name = item.view.name.clone();
        self.message = Some(match delete(session, &item) {
            Ok(()) => format!("{name} was deleted"),
            Err(error) => format!("error: {}", error.message()),
        });
    }

    /// The table's rows, the head first. Names are anybody's text.
    fn rows(&self, session: &Session) -> Vec<String> {
        let Some(items) = &self.items else { return vec!["asking for the list …".into()] };
        let mut rows = vec![row("BOX", "STATUS", "AUTO-PAUSE", "PANE", "WORKTREE")];
        for item in items {
            let worktree = item.worktree.as_ref().map(|path| session.paths.show(path)).unwrap_or_default();
            let pause = item.view.auto_pause_seconds.map(pause).unwrap_or_default();
            let owner = match &item.owner {
                Owner::Pane(pane) => pane.as_str(),
                Owner::Orphan => "orphan",
                Owner::Unmapped => "no mapping",
                Owner::Elsewhere => "elsewhere",
            };
            let name = if item.view.name.is_empty() { item.view.id.as_str() } else { &item.view.name };
            rows.push(row(name, item.view.status.word(), &pause, owner, &worktree));
        }
        if items.is_empty() {
            rows.push("no boxes".into());
        }
        rows
    }

    /// The whole screen, drawn over what was there.
    fn frame(&mut self, session: &Session, (height, width): (u16, u16)) -> String {
        let (height, width) = (usize::from(height), usize::from(width));
        let count = self.items.as_ref().map_or(0, Vec::len);
        self.selected = self.selected.min(count.saturating_sub(1));
        let rows = self.rows(session);
        let room = height.saturating_sub(3).max(1);
        let first = (self.selected + 1).saturating_sub(room);
        let mut frame = String::from("\x1b[H");
        let head = rows.first().cloned().unwrap_or_default();
        push(&mut frame, &head, width, false);
        for (at, text) in rows.iter().skip(1).enumerate().skip(first).take(room) {
            push(&mut frame, text, width, count > 0 && at == self.selected);
        }
        frame.push_str("\x1b[J");
        let last = match (&self.question, &self.message) {
            (Some(item), _) => {
                format!("delete {} for ever? y deletes, any other key keeps it", item.view.name)
            }
            (None, Some(message)) => message.clone(),
            (None, None) => format!("{}   d delete   j k move   q quit", ui::count(count as u64, "box")),
        };
        let _into_a_string =
            write!(frame, "\x1b[{};1H\x1b[K{}", height.max(1), cut(&ui::visible(&last), width));
        frame
    }
}

fn push(frame: &mut String, text: &str, width: usize, chosen: bool) {
    let text = cut(text, width);
    let (on, off) = if chosen { ("\x1b[7m", "\x1b[0m") } else { ("", "") };
    let _into_a_string = write!(frame, "{on}{text}{off}\x1b[K\r\n");
}

fn row(name: &str, status: &str, pause: &str, pane: &str, worktree: &str) -> String {
    let name = cut(&one_line(name), 28);
    let status = cut(&one_line(status), 10);
    format!("{name:<28}  {status:<10}  {pause:<10}  {pane:<10}  {}", one_line(worktree)).trim_end().to_owned()
}

/// Hostile text made visible, in one line.
fn one_line(text: &str) -> String {
    ui::visible(text).replace('\n', "\\n")
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Seconds as the settings write them.
fn pause(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, 0) => format!("{minutes}m"),
        (hours, 0, 0) => format!("{hours}h"),
        (hours, minutes, 0) => format!("{hours}h{minutes}m"),
        _ => format!("{seconds}s"),
    }
}

/// Deletes one of ours, with its mapping if it has one.
///
/// # Errors
/// The provider's refusal.
pub(super) fn delete(session: &Session, item: &Item) -> Result<()> {
    let state = session.store.read()?;
    match state.records.iter().find(|record| record.box_id.as_ref() == Some(&item.view.id)) {
        Some(record) => delete_now(session, record).map(|_| ()),
        None => delete_box(session, &session.provider(item.provider)?, &item.view.id).map_err(Error::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_in_their_cell() {
        let text = row("x\u{1b}[2J\nfake row\u{202e}", "running", "30m", "w1:p1", "~/a");
        assert!(!text.contains('\u{1b}') && !text.contains('\n') && !text.contains('\u{202e}'), "{text}");
        assert!(text.contains("running"));
    }

    #[test]
    fn durations_read_like_the_setting() {
        assert_eq!([pause(1800), pause(3600), pause(5400), pause(90)], ["30m", "1h", "1h30m", "90s"]);
    }

    #[test]
    fn rows_are_cut_at_the_width() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
    }
}
