//! The list's screen: which box is chosen, what is asked about it, and how all of it is drawn.

use super::item::{attach, delete, not_home, to_attach};
use crate::action::mapping::{ActionContext, Inventory, Item, Owner};
use crate::action::pane::terminal;
use crate::action::work::NotHome;
use crate::error::Result;
use crate::state::Record;
use crate::ui;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A message at the bottom has at most so many lines.
const FOOTER: usize = 5;

/// What the list shows.
#[derive(Default)]
pub(super) struct Screen {
    pub(super) items: Option<Vec<Item>>,
    /// Who could not be asked the last time, or not for all; the boxes of the former are shown as they were.
    pub(super) failures: Vec<String>,
    pub(super) message: Option<String>,
    pub(super) selected: usize,
    /// A box that is to be deleted, and what of it is not here; nothing before it was looked into.
    pub(super) question: Option<(Item, Option<NotHome>)>,
}

impl Screen {
    /// What cannot be had leaves what was there on the screen.
    pub(super) fn take(&mut self, listing: Result<Inventory>) {
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

    pub(super) fn down(&mut self) {
        let last = self.items.as_ref().map_or(0, Vec::len).saturating_sub(1);
        self.selected = (self.selected + 1).min(last);
    }

    pub(super) fn ask_delete(&mut self) {
        match self.chosen().cloned() {
            Some(item) if item.is_ours() => self.question = Some((item, None)),
            Some(_) => self.message = Some("this box was made elsewhere and is not deleted from here".into()),
            None => {}
        }
    }

    /// Looks into the box that is to be deleted; true if that was still to be done.
    pub(super) fn look(&mut self, context: &ActionContext) -> bool {
        let Some((item, found @ None)) = &mut self.question else { return false };
        *found = Some(not_home(context, item));
        true
    }

    pub(super) fn is_asked(&self) -> bool {
        matches!(self.question, Some((_, Some(_))))
    }

    pub(super) fn delete(&mut self, context: &ActionContext) {
        let Some((item, _)) = self.question.take() else { return };
        let name = item.view.name.clone();
        self.message = Some(match delete(context, &item) {
            Ok(()) => format!("{name} was deleted"),
            Err(error) => format!("error: {}", error.message()),
        });
    }

    /// The record of the chosen box, to be shown in this terminal.
    pub(super) fn choose(&mut self, context: &ActionContext) -> Option<Record> {
        let item = self.chosen().cloned()?;
        let chosen = to_attach(context, &item);
        chosen.map_err(|error| self.message = Some(format!("error: {}", error.message()))).ok()
    }

    /// Brings the chosen box back into its pane, or into a new one; true when that is done.
    pub(super) fn attach(&mut self, context: &ActionContext) -> bool {
        let Some(item) = self.chosen().cloned() else { return false };
        self.message = Some(format!("attaching to {} …", item.view.name));
        self.draw(context);
        match attach(context, &item) {
            Ok(()) => true,
            Err(error) => {
                self.message = Some(format!("error: {}", error.message()));
                false
            }
        }
    }

    /// The table's rows for a screen of this width, the head first. Names are anybody's text.
    pub(super) fn rows(&self, context: &ActionContext, width: usize) -> Vec<String> {
        let Some(items) = &self.items else { return vec!["asking for the list …".into()] };
        let head = ["BOX", "STATUS", "AUTO-PAUSE", "PANE", "WORKTREE"].map(str::to_owned);
        let mut rows = vec![head];
        rows.extend(items.iter().map(|item| {
            let owner = match &item.owner {
                Owner::Pane(pane) => pane.as_str(),
                Owner::Orphan => "orphan",
                Owner::Terminal => "in a terminal",
                Owner::NoSession => "session not running",
                Owner::Unmapped => "not recorded",
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
                    .map(|path| ui::visible_line(&context.paths.show(path)))
                    .unwrap_or_default(),
            ]
        }));
        let mut lines = table(&rows, width);
        if items.is_empty() {
            lines.push("no boxes".into());
        }
        lines
    }

    pub(super) fn draw(&mut self, context: &ActionContext) {
        let _closed = ui::raw(self.frame(context, terminal::size()).as_bytes());
    }

    /// The whole screen, drawn over what was there.
    fn frame(&mut self, context: &ActionContext, (height, width): (u16, u16)) -> String {
        let (height, width) = (usize::from(height), usize::from(width));
        let count = self.items.as_ref().map_or(0, Vec::len);
        self.selected = self.selected.min(count.saturating_sub(1));
        let rows = self.rows(context, width);
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
