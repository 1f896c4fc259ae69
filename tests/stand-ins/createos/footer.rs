//! What an attach paints around the remote output: a scroll region and a footer on the last row, on stderr, and
//! another screen for the programs that it knows to want one (docs/measured/createos-cli.md 3.8).

use crate::tell;
use rustix::termios::tcgetwinsize;

/// Programs for which it enters the alternate screen by itself.
const FULL: [&str; 12] =
    ["btop", "top", "htop", "vim", "vi", "nvim", "nano", "less", "more", "man", "ssh", "watch"];
/// Foregrounds that it takes for a shell.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "fish", "dash", "ash", "ksh"];

/// Rows and columns of the terminal at stdin.
pub(crate) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(rustix::stdio::stdin()).ok()?;
    (size.ws_row > 0 && size.ws_col > 0).then_some((size.ws_row, size.ws_col))
}

/// The footer, and the rows above it as the region that scrolls.
pub(crate) fn paint(process: &str) {
    let Some((rows, columns)) = size().filter(|(rows, _)| *rows > 1) else { return };
    let name = match process.len() > 18 {
        true => format!("{}…{}", &process[..10], &process[process.len() - 5..]),
        false => process.to_owned(),
    };
    let text = format!(" createos {name} | Ctrl-] detach | Ctrl-N new | Ctrl-P switch | exit close ");
    let width = usize::from(columns);
    let cut: String = text.chars().take(width).collect();
    tell(&format!(
        "\u{1b}7\u{1b}[0m\u{1b}[1;{}r\u{1b}[{rows};1H\u{1b}[7m{cut:width$}\u{1b}[0m\u{1b}8",
        rows - 1
    ));
}

/// Takes both away.
pub(crate) fn clear() {
    if let Some((rows, _)) = size() {
        tell(&format!("\u{1b}7\u{1b}[r\u{1b}[{rows};1H\u{1b}[2K\u{1b}8"));
    }
}

/// The alternate screen, for a program that is known to want it.
pub(crate) fn enter_screen() {
    tell("\u{1b}[?1049h\u{1b}[0m\u{1b}[2J\u{1b}[H");
}

/// Back from it.
pub(crate) fn leave_screen() {
    tell("\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l");
}

/// Whether a chunk of output turns the alternate screen on, or off.
pub(crate) fn switches(output: &[u8]) -> Option<bool> {
    let has = |end: char| {
        ["1049", "1047", "47"].iter().any(|mode| {
            let wanted = format!("\u{1b}[?{mode}{end}");
            output.windows(wanted.len()).any(|window| window == wanted.as_bytes())
        })
    };
    if has('h') {
        return Some(true);
    }
    has('l').then_some(false)
}

fn name(command: &str) -> &str {
    let first = command.split_whitespace().next().unwrap_or_default();
    first.rsplit('/').next().unwrap_or_default()
}

/// Whether the foreground wants the alternate screen.
pub(crate) fn is_full(foreground: &str) -> bool {
    FULL.contains(&name(foreground))
}

/// Whether the foreground looks like a shell.
pub(crate) fn is_shell(foreground: &str) -> bool {
    foreground.trim().is_empty() || SHELLS.contains(&name(foreground))
}
