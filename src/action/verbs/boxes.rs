//! `boxes`: every box, redrawn in place every five seconds.

use super::attach::{By, reattach};
use super::delete::delete_now;
use crate::action::mapping::forget::delete_box;
use crate::action::mapping::inventory::{Inventory, Item, Owner, inventory, of_box};
use crate::action::mapping::session::Session;
use crate::action::mapping::which::ready;
use crate::action::pane::terminal::{self, Keys, Typed};
use crate::action::report::{Notice, Report};
use crate::action::work::home::{self, NotHome};
use crate::command;
use crate::createos::ProviderBox;
use crate::error::{Error, Result};
use crate::herdr::Place;
use crate::state::Record;
use crate::ui;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How often the list is asked for.
const EVERY: Duration = Duration::from_secs(5);
/// A message at the bottom has at most so many lines.
const FOOTER: usize = 5;
/// The alternate screen without a cursor, and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// After a key: opens the pane that shows the list.
///
/// # Errors
/// Herdr refuses the pane.
pub(crate) fn open(session: &Session) -> Result<Report> {
    session.herdr.open_plugin_pane("boxes", Place::Overlay, None, &[]).map_err(|error| {
        Error::from(error).help(format!("or see them in a terminal: {}", command::action("boxes")))
    })?;
    Ok(Report::new("").notice(Notice::Nothing).field("result", "opened"))
}

/// Shows the list until `q` or Esc, or until a box is attached to. Without a terminal it is printed once.
///
/// # Errors
/// The terminal cannot be read; without one, no provider can be asked.
pub(crate) fn boxes(session: &Session) -> Result<()> {
    if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
        let inventory = inventory(session)?.or_error()?;
        for warning in inventory.warnings() {
            ui::note(format!("warning: {warning}"));
        }
        let screen = Screen { items: Some(inventory.items), ..Screen::default() };
        ui::line(screen.rows(session, usize::MAX).join("\n"));
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
        screen.draw(session);
        if screen.look(session) {
            // What was typed meanwhile is no answer to a question that was not there.
            while let Typed::Bytes(_) = keys.read(Duration::ZERO) {}
            continue;
        }
        match keys.read(Duration::from_millis(250)) {
            Typed::Nothing => {}
            Typed::Ended => return Ok(()),
            // An answer is one key, pressed when the question was there.
            Typed::Bytes(bytes) if screen.question.is_some() => {
                if bytes == b"y" && screen.is_asked() {
                    screen.delete(session);
                    let _asks_at_once = wishes.send(());
                }
                screen.question = None;
            }
            Typed::Bytes(bytes) => {
                for key in terminal::single_keys(&bytes) {
                    match key {
                        b"q" | b"\x1b" | b"\x03" => return Ok(()),
                        b"j" | b"\x1b[B" | b"\x1bOB" => screen.down(),
                        b"k" | b"\x1b[A" | b"\x1bOA" => screen.selected = screen.selected.saturating_sub(1),
                        b"d" => screen.ask_delete(),
                        b"\r" | b"\n" if screen.attach(session) => return Ok(()),
                        _ => {}
                    }
                }
            }
        }
    }
}

/// Asks for the list on its own thread: a provider that hangs must not hang the keys.
fn ask(answers: &Sender<Result<Inventory>>, wanted: &Receiver<()>) {
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
    /// Who could not be asked the last time, or not for all; the boxes of the former are shown as they were.
    failures: Vec<String>,
    message: Option<String>,
    selected: usize,
    /// A box that is to be deleted, and what of it is not here; nothing before it was looked into.
    question: Option<(Item, Option<NotHome>)>,
}

impl Screen {
    /// What cannot be had leaves what was there on the screen.
    fn take(&mut self, listing: Result<Inventory>) {
        let inventory = match listing {
            Ok(inventory) => inventory,
            Err(error) => {
                self.failures = vec![format!("error: {}", error.message())];
                return;
            }
        };
        self.failures = inventory.warnings();
        let silent = |item: &Item| inventory.unasked.iter().any(|(kind, _)| *kind == item.provider);
        let mut items = inventory.items;
        items.extend(self.items.iter().flatten().filter(|item| silent(item)).cloned());
        items.sort_by_key(|item| !item.is_ours());
        if items.is_empty() && self.items.is_none() && !self.failures.is_empty() {
            return;
        }
        // The choice stays on its box when others come and go.
        let chosen = self.chosen().map(|item| item.view.id.clone());
        let at = chosen.and_then(|id| items.iter().position(|item| item.view.id == id));
        self.selected = at.unwrap_or(self.selected);
        self.items = Some(items);
        self.message = None;
    }

    fn chosen(&self) -> Option<&Item> {
        self.items.as_ref()?.get(self.selected)
    }

    fn down(&mut self) {
        let last = self.items.as_ref().map_or(0, Vec::len).saturating_sub(1);
        self.selected = (self.selected + 1).min(last);
    }

    fn ask_delete(&mut self) {
        match self.chosen().cloned() {
            Some(item) if item.is_ours() => self.question = Some((item, None)),
            Some(_) => self.message = Some("this box was made elsewhere and is not deleted from here".into()),
            None => {}
        }
    }

    /// Looks into the box that is to be deleted; true if that was still to be done.
    fn look(&mut self, session: &Session) -> bool {
        let Some((item, found @ None)) = &mut self.question else { return false };
        *found = Some(not_home(session, item));
        true
    }

    fn is_asked(&self) -> bool {
        matches!(self.question, Some((_, Some(_))))
    }

    fn delete(&mut self, session: &Session) {
        let Some((item, _)) = self.question.take() else { return };
        let name = item.view.name.clone();
        self.message = Some(match delete(session, &item) {
            Ok(()) => format!("{name} was deleted"),
            Err(error) => format!("error: {}", error.message()),
        });
    }

    /// Brings the chosen box back into its pane, or into a new one; true when that is done.
    fn attach(&mut self, session: &Session) -> bool {
        let Some(item) = self.chosen().cloned() else { return false };
        self.message = Some(format!("attaching to {} …", item.view.name));
        self.draw(session);
        match attach(session, &item) {
            Ok(()) => true,
            Err(error) => {
                self.message = Some(format!("error: {}", error.message()));
                false
            }
        }
    }

    /// The table's rows for a screen of this width, the head first. Names are anybody's text.
    fn rows(&self, session: &Session, width: usize) -> Vec<String> {
        let Some(items) = &self.items else { return vec!["asking for the list …".into()] };
        let head = ["BOX", "STATUS", "AUTO-PAUSE", "PANE", "WORKTREE"].map(str::to_owned);
        let mut rows = vec![head];
        rows.extend(items.iter().map(|item| {
            let owner = match &item.owner {
                Owner::Pane(pane) => pane.as_str(),
                Owner::Orphan => "orphan",
                Owner::NoSession => "session not running",
                Owner::Unmapped => "no mapping",
                Owner::Elsewhere => "elsewhere",
            };
            let name = if item.view.name.is_empty() { item.view.id.as_str() } else { &item.view.name };
            [
                cut(&ui::visible_line(name), 28),
                cut(&ui::visible_line(item.view.status.word()), 10),
                item.view.auto_pause_seconds.map(pause).unwrap_or_default(),
                cut(&ui::visible_line(owner), 19),
                item.worktree
                    .as_ref()
                    .map(|path| ui::visible_line(&session.paths.show(path)))
                    .unwrap_or_default(),
            ]
        }));
        let mut lines = table(&rows, width);
        if items.is_empty() {
            lines.push("no boxes".into());
        }
        lines
    }

    fn draw(&mut self, session: &Session) {
        let _closed = ui::raw(self.frame(session, terminal::size()).as_bytes());
    }

    /// The whole screen, drawn over what was there.
    fn frame(&mut self, session: &Session, (height, width): (u16, u16)) -> String {
        let (height, width) = (usize::from(height), usize::from(width));
        let count = self.items.as_ref().map_or(0, Vec::len);
        self.selected = self.selected.min(count.saturating_sub(1));
        let rows = self.rows(session, width);
        let footer = self.footer(width);
        let room = height.saturating_sub(footer.len() + 2).max(1);
        let first = (self.selected + 1).saturating_sub(room);
        let mut frame = String::from("\x1b[H");
        let head = rows.first().cloned().unwrap_or_default();
        push(&mut frame, &head, width, false);
        // The cursor needs a row below what is shown: the screen must not scroll.
        let shown = room.min(height.saturating_sub(2));
        for (at, text) in rows.iter().skip(1).enumerate().skip(first).take(shown) {
            push(&mut frame, text, width, count > 0 && at == self.selected);
        }
        frame.push_str("\x1b[J");
        for (at, text) in footer.iter().enumerate() {
            let row = (height + at + 1).saturating_sub(footer.len()).max(1);
            let _into_a_string = write!(frame, "\x1b[{row};1H\x1b[K{}", cut(text, width));
        }
        frame
    }

    /// The lines at the bottom: a question, what happened, or what to press.
    fn footer(&self, width: usize) -> Vec<String> {
        let count = self.items.as_ref().map_or(0, Vec::len);
        let text = match (&self.question, &self.message, self.failures.as_slice()) {
            (Some((item, None)), ..) => format!("looking into {} …", item.view.name),
            (Some((item, Some(found))), ..) => {
                let besides =
                    if found.is_home() { String::new() } else { format!("not here: {}. ", found.words()) };
                format!("{besides}delete {} for ever? y deletes, any other key keeps it", item.view.name)
            }
            (None, Some(message), _) => message.clone(),
            (None, None, [_, ..]) => self.failures.join("; "),
            (None, None, []) => {
                format!("{}   Enter attach   d delete   j k move   q quit", ui::count(count as u64, "box"))
            }
        };
        let lines = ui::wrap(&ui::visible_line(&text), width.max(8));
        lines.lines().take(FOOTER).map(str::to_owned).collect()
    }
}

/// Lines of aligned columns. Where the screen is narrow, the setting of auto-pause gives way.
fn table(rows: &[[String; 5]], width: usize) -> Vec<String> {
    let columns: &[usize] = if width < 72 { &[0, 1, 3, 4] } else { &[0, 1, 2, 3, 4] };
    let wide = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = columns.iter().map(|column| wide(*column)).collect();
    let line = |row: &[String; 5]| {
        let cells = columns.iter().zip(&widths).map(|(column, width)| {
            let cell = &row[*column];
            format!("{cell}{}", " ".repeat(width - cell.width()))
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// One row. It is cleared first: where its text reaches the last column, clearing behind it would take that away.
fn push(frame: &mut String, text: &str, width: usize, chosen: bool) {
    let text = cut(text, width);
    let (on, off) = if chosen { ("\x1b[7m", "\x1b[0m") } else { ("", "") };
    let _into_a_string = write!(frame, "\x1b[K{on}{text}{off}\r\n");
}

/// Text that takes at most so many cells.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let cells = c.width().unwrap_or(0);
        let fits = cells <= left;
        left = left.saturating_sub(cells);
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
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
pub(crate) fn delete(session: &Session, item: &Item) -> Result<()> {
    match record(session, item)? {
        Some(record) => delete_now(session, &record).map(|_| ()),
        None => {
            delete_box(session, &session.provider(item.provider)?, &item.view.id)?;
            session.store.forget_base(&item.view.id, &item.view.name);
            Ok(())
        }
    }
}

/// What of a box is not here.
pub(crate) fn not_home(session: &Session, item: &Item) -> NotHome {
    let found = record(session, item).and_then(|record| match record {
        Some(record) => Ok(home::look(session, &record)),
        None => {
            let remote = ProviderBox::new(session.provider(item.provider)?, item.view.id.clone());
            Ok(home::look_unmapped(session, remote, &item.view.status))
        }
    });
    found.unwrap_or_else(|error| NotHome { unknown: vec![error.message().to_owned()], ..NotHome::default() })
}

fn attach(session: &Session, item: &Item) -> Result<()> {
    match record(session, item)? {
        Some(record) => reattach(session, &ready(record)?, By::List).map(|_| ()),
        None if item.is_ours() => {
            Err(Error::failed("this box has no mapping any more, only d is left for it"))
        }
        None => Err(Error::failed("this box was made elsewhere and has no agent of a pane here")),
    }
}

fn record(session: &Session, item: &Item) -> Result<Option<Record>> {
    let state = session.store.read()?;
    let found = of_box(&state, item.provider, &item.view);
    Ok(found.map(|record| Record { box_id: Some(item.view.id.clone()), ..record.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_must_be_and_a_narrow_screen_has_fewer() {
        let row = |cells: [&str; 5]| cells.map(str::to_owned);
        let rows = [
            row(["BOX", "STATUS", "AUTO-PAUSE", "PANE", "WORKTREE"]),
            row(["hd-shop-ab3dxyzzy", "paused", "30m", "session not running", "~/shop"]),
        ];
        assert_eq!(table(&rows, 72)[1], "hd-shop-ab3dxyzzy  paused  30m         session not running  ~/shop");
        assert_eq!(table(&rows, 71)[1], "hd-shop-ab3dxyzzy  paused  session not running  ~/shop");
        assert_eq!(table(&rows, 71)[0], "BOX                STATUS  PANE                 WORKTREE");
        let rows = [row(["箱", "b", "c", "d", "e"]), row(["abc", "b", "c", "d", "e"])];
        assert_eq!(table(&rows, 72), ["箱   b  c  d  e", "abc  b  c  d  e"], "a column is counted in cells");
    }

    #[test]
    fn durations_read_like_the_setting() {
        assert_eq!([pause(1800), pause(3600), pause(5400), pause(90)], ["30m", "1h", "1h30m", "90s"]);
    }

    #[test]
    fn rows_are_cut_at_the_width() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abc", 4), "abc");
        assert_eq!(["箱子箱子", "a箱子箱", "箱"].map(|name| cut(name, 5)), ["箱子…", "a箱…", "箱"]);
    }
}
