//! Rows of aligned columns, cut at a screen's width.

use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Lines of aligned columns. Where the screen is narrow, the setting of auto-pause gives way.
pub(super) fn table(rows: &[[String; 5]], width: usize) -> Vec<String> {
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
pub(super) fn push(frame: &mut String, text: &str, width: usize, chosen: bool) {
    let text = cut(text, width);
    let (on, off) = if chosen { ("\x1b[7m", "\x1b[0m") } else { ("", "") };
    let _into_a_string = write!(frame, "\x1b[K{on}{text}{off}\r\n");
}

/// Text that takes at most so many cells.
pub(super) fn cut(text: &str, width: usize) -> String {
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
pub(super) fn pause(seconds: u64) -> String {
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
