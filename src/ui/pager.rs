//! A simple pager: lines with a shade, wrapped and never cut, a footer, and the keys of `less`.

use unicode_width::UnicodeWidthChar;

/// What a line is, which decides its colour and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shade {
    Plain,
    Heading,
    /// A place in a file.
    Hunk,
    /// A line that comes.
    Added,
    /// A line that goes.
    Removed,
    /// Something to look at.
    Warning,
    /// Something wrong.
    Bad,
    /// Of less weight.
    Dim,
}

impl Shade {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Heading => "\x1b[1m",
            Self::Hunk => "\x1b[36m",
            Self::Added => "\x1b[32m",
            Self::Removed => "\x1b[31m",
            Self::Warning => "\x1b[33m",
            Self::Bad => "\x1b[1;31m",
            Self::Dim => "\x1b[2m",
        }
    }
}

/// One line of text with its shade. The text has no control characters: see `ui::visible`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toned {
    pub(crate) shade: Shade,
    pub(crate) text: String,
}

impl Toned {
    pub(crate) fn new(shade: Shade, text: impl Into<String>) -> Self {
        Self { shade, text: text.into() }
    }

    /// The line for a terminal, or for anything else when `colour` is off.
    pub(crate) fn styled(&self, colour: bool) -> String {
        match self.shade.code() {
            code if colour && !code.is_empty() => format!("{code}{}\x1b[0m", self.text),
            _ => self.text.clone(),
        }
    }
}

/// What a key asks for that is not the pager's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Go on showing.
    Stay,
    /// `y`.
    Yes,
    /// `q`, Esc, Ctrl-C.
    Quit,
}

/// What the keys do takes at most so many rows.
const MOST_FOOTER: usize = 3;

/// Lines on a screen of a given size.
#[derive(Debug)]
pub(crate) struct Pager {
    lines: Vec<Toned>,
    footer: String,
    rows: usize,
    columns: usize,
    /// The lines as they fit the screen: which line, and its part.
    wrapped: Vec<Toned>,
    top: usize,
}

impl Pager {
    /// Shows `lines`; `footer` says what the keys do.
    pub(crate) fn new(lines: Vec<Toned>, footer: impl Into<String>, size: (u16, u16)) -> Self {
        let mut pager =
            Self { lines, footer: footer.into(), rows: 0, columns: 0, wrapped: Vec::new(), top: 0 };
        pager.resize(size);
        pager
    }

    /// The screen has another size, in rows and columns. What is at the top stays near it.
    pub(crate) fn resize(&mut self, (rows, columns): (u16, u16)) {
        let (rows, columns) = (usize::from(rows).max(2), usize::from(columns).max(20));
        if (rows, columns) == (self.rows, self.columns) {
            return;
        }
        let seen = if self.wrapped.is_empty() { 0.0 } else { self.top as f64 / self.wrapped.len() as f64 };
        (self.rows, self.columns) = (rows, columns);
        self.wrapped = self.lines.iter().flat_map(|line| wrap(line, columns)).collect();
        self.top = ((seen * self.wrapped.len() as f64) as usize).min(self.last());
    }

    fn last(&self) -> usize {
        self.wrapped.len().saturating_sub(self.body())
    }

    /// The rows that are left for the lines.
    fn body(&self) -> usize {
        self.rows.saturating_sub(self.footer(self.wrapped.len()).len()).max(1)
    }

    /// What the keys do, and how far the screen is that ends with line `end`.
    fn footer(&self, end: usize) -> Vec<String> {
        let rows = |text: &str| {
            let text = super::wrap::wrap(text, self.columns - 2);
            text.lines().take(MOST_FOOTER.min(self.rows - 1)).map(|row| format!(" {row}")).collect::<Vec<_>>()
        };
        let (alone, all) = (rows(&self.footer), self.wrapped.len());
        match all + alone.len() <= self.rows {
            true => alone,
            // As wide for every line, so that the number of rows stays.
            false => rows(&format!("{end:>width$}/{all}   {}", self.footer, width = all.to_string().len())),
        }
    }

    /// Takes what was typed at once.
    pub(crate) fn key(&mut self, typed: &[u8]) -> Wish {
        let page = self.body().saturating_sub(1).max(1);
        let to = match typed {
            b"y" | b"Y" => return Wish::Yes,
            b"q" | b"Q" | b"\x1b" | b"\x03" => return Wish::Quit,
            b"j" | b"\r" | b"\n" | b"\x1b[B" | b"\x1bOB" => self.top + 1,
            b"k" | b"\x1b[A" | b"\x1bOA" => self.top.saturating_sub(1),
            b" " | b"f" | b"\x06" | b"\x1b[6~" => self.top + page,
            b"b" | b"\x02" | b"\x1b[5~" => self.top.saturating_sub(page),
            b"g" | b"<" | b"\x1b[H" | b"\x1b[1~" => 0,
            b"G" | b">" | b"\x1b[F" | b"\x1b[4~" => self.last(),
            b"n" => self.heading(self.top + 1..self.wrapped.len()).unwrap_or(self.top),
            b"p" => self.heading((0..self.top).rev()).unwrap_or(0),
            _ => self.top,
        };
        self.top = to.min(self.last());
        Wish::Stay
    }

    fn heading(&self, mut among: impl Iterator<Item = usize>) -> Option<usize> {
        among.find(|at| self.wrapped[*at].shade == Shade::Heading)
    }

    /// The whole screen, drawn over the last one without a flicker.
    pub(crate) fn frame(&self, colour: bool) -> String {
        let mut out = String::from("\x1b[?25l\x1b[H");
        let body = self.body();
        for row in 0..body {
            // Erased first: behind a text that reaches the last column, the cursor still stands on its end.
            out.push_str("\x1b[K");
            if let Some(line) = self.wrapped.get(self.top + row) {
                out.push_str(&line.styled(colour));
            }
            out.push_str("\r\n");
        }
        let footer = self.footer((self.top + body).min(self.wrapped.len()));
        let rows = footer.iter().map(|row| match colour {
            true => format!("\x1b[K\x1b[7m{row}\x1b[0m"),
            false => format!("\x1b[K{row}"),
        });
        out.push_str(&rows.collect::<Vec<_>>().join("\r\n"));
        out
    }
}

/// The parts of a line that fit; what follows the first is indented.
fn wrap(line: &Toned, columns: usize) -> Vec<Toned> {
    let mut parts = Vec::new();
    let mut rest = line.text.as_str();
    loop {
        let indent = if parts.is_empty() { "" } else { "    " };
        let part = fit(rest, columns - indent.len());
        parts.push(Toned::new(line.shade, format!("{indent}{part}")));
        rest = &rest[part.len()..];
        if rest.is_empty() {
            return parts;
        }
    }
}

/// As much of `text` as is at most `columns` wide, up to a blank in its second half where there is one; at least one
/// character, so that a caller gets on.
fn fit(text: &str, columns: usize) -> &str {
    let mut width = 0;
    for (at, c) in text.char_indices() {
        width += c.width().unwrap_or(0);
        if width > columns && at > 0 {
            let blank = text[..at].rfind(' ').filter(|blank| blank * 2 > at);
            return &text[..blank.map_or(at, |blank| blank + 1)];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_terminal::Terminal;

    fn pager(count: usize, size: (u16, u16)) -> Pager {
        let lines = (1..=count).map(|n| {
            let shade = if n % 10 == 1 { Shade::Heading } else { Shade::Plain };
            Toned::new(shade, format!("line {n}"))
        });
        Pager::new(lines.collect(), "q quits", size)
    }

    fn screen(pager: &Pager, (rows, columns): (u16, u16)) -> String {
        let mut terminal = Terminal::new(rows, columns, 0);
        terminal.process(pager.frame(true).as_bytes());
        terminal.screen().contents()
    }

    #[test]
    fn a_page_has_its_lines_and_a_footer() {
        let pager = pager(30, (5, 30));
        assert_eq!(screen(&pager, (5, 30)), "line 1\nline 2\nline 3\nline 4\n  4/30   q quits");
    }

    #[test]
    fn keys_move_and_stop_at_the_ends() {
        let mut pager = pager(30, (5, 30));
        for (key, first) in [
            (&b"k"[..], "line 1"),
            (b"j", "line 2"),
            (b" ", "line 5"),
            (b"G", "line 27"),
            (b"\x1b[B", "line 27"),
            (b"b", "line 24"),
            (b"p", "line 21"),
            (b"g", "line 1"),
            (b"n", "line 11"),
            (b"\x1b[A", "line 10"),
        ] {
            assert_eq!(pager.key(key), Wish::Stay);
            let shown = screen(&pager, (5, 30));
            assert_eq!(shown.lines().next(), Some(first), "{key:?}");
        }
        assert_eq!(
            (pager.key(b"y"), pager.key(b"\x1b"), pager.key(b"q")),
            (Wish::Yes, Wish::Quit, Wish::Quit)
        );
    }

    #[test]
    fn long_lines_are_wrapped_and_nothing_is_cut() {
        let text = "+äöü漢字 abcdefghijklmnopqrstuvwxyz 0123456789".to_owned();
        let lines = vec![Toned::new(Shade::Added, text.clone())];
        let pager = Pager::new(lines, "q", (10, 20));
        let joined: String = screen(&pager, (10, 20))
            .lines()
            .take_while(|l| !l.starts_with(" q"))
            .map(|line| line.trim_start())
            .collect();
        assert_eq!(joined.replace(' ', ""), text.replace(' ', ""));
    }

    #[test]
    fn words_stay_whole() {
        let line =
            Toned::new(Shade::Warning, "  new  tasks.json   RUNS CODE HERE: tasks that an editor takes");
        let parts: Vec<String> = wrap(&line, 25).into_iter().map(|part| part.text).collect();
        assert_eq!(parts, ["  new  tasks.json   RUNS ", "    CODE HERE: tasks ", "    that an editor takes"]);
    }

    #[test]
    fn a_line_that_fills_its_row_keeps_its_last_character() {
        for columns in [45, 25, 80] {
            let text: String = ('a'..='z').cycle().take(usize::from(columns)).collect();
            let shades = [Shade::Plain, Shade::Removed, Shade::Hunk];
            let lines = shades.map(|shade| Toned::new(shade, text.clone())).to_vec();
            let pager = Pager::new(lines, "q", (5, columns));
            let shown = screen(&pager, (5, columns));
            assert_eq!(shown.lines().take(3).collect::<Vec<_>>(), [&text, &text, &text], "{columns} columns");
        }
    }

    #[test]
    fn another_size_keeps_the_place() {
        let mut pager = pager(100, (11, 80));
        for _ in 0..6 {
            pager.key(b" ");
        }
        let before = pager.top;
        pager.resize((21, 80));
        assert_eq!(pager.top, before);
        assert!(screen(&pager, (21, 80)).starts_with("line 55"), "{}", screen(&pager, (21, 80)));
    }

    #[test]
    fn without_colour_there_is_none() {
        let line = Toned::new(Shade::Bad, "x");
        assert_eq!((line.styled(false), line.styled(true)), ("x".into(), "\x1b[1;31mx\x1b[0m".into()));
    }
}
