//! A short message that goes away by itself: a toast, else the pane's title.

use super::client::Herdr;
use super::pane::{PaneId, short};
use serde_json::Value;
use std::time::Duration;

/// How long a title stays on a pane.
const TITLE: Duration = Duration::from_secs(6);
/// Herdr cuts the title and the body of a toast after so many characters (docs/measured/herdr.md 8.3), in the middle
/// of a command too.
const LONGEST: (usize, usize) = (80, 240);

impl Herdr {
    /// Shows `text` once: as a toast if Herdr shows toasts, else as the title of `pane`.
    /// Best effort: what cannot be shown stands in the plugin's log.
    pub(crate) fn notice(&self, text: &str, pane: Option<&PaneId>) {
        // Off is the default, and the exit code is 0 all the same (docs/measured/herdr.md 8.3).
        let (title, body) = parts(text);
        let body = body.as_deref().map_or(vec![], |body| vec!["--body", body]);
        let toast = self.call([&["notification", "show", &title, "--sound", "none"], &body[..]].concat());
        let shown = toast.is_ok_and(|result| result.get("shown").and_then(Value::as_bool) == Some(true));
        if let (false, Some(pane)) = (shown, pane) {
            let _best_effort = self.show_title(pane, &title, TITLE);
        }
    }
}

/// What happened as the title, and what to do about it, when both are too long for one.
fn parts(text: &str) -> (String, Option<String>) {
    let (title, body) = LONGEST;
    let ends = ["\n", "  ", "; "].into_iter().filter_map(|end| text.find(end)).min();
    match ends.filter(|at| text.chars().count() > title && text[..*at].chars().count() <= title) {
        Some(at) => {
            let rest: Vec<&str> = text[at..].trim_start_matches(';').split_whitespace().collect();
            (text[..at].to_owned(), Some(short(&rest.join(" "), body)))
        }
        None => (short(text, title), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_not_cut_in_a_toast() {
        let undo = "createos-sandbox herdr undo hd-shop-a1b2c3";
        let told = format!("box hd-shop-a1b2c3 was deleted; what came home can still be taken back: {undo}");
        let rest = format!("what came home can still be taken back: {undo}");
        assert_eq!(parts(&told), ("box hd-shop-a1b2c3 was deleted".into(), Some(rest)));
        let told =
            format!("12 files of box hd-shop-a1b2c3 came home to ~/shop: +1 -0\n  take it back with: {undo}");
        assert_eq!(parts(&told).1, Some(format!("take it back with: {undo}")));
        assert_eq!(parts("box hd-x runs; all is well"), ("box hd-x runs; all is well".into(), None));
        assert_eq!(parts(&"x".repeat(90)).0.chars().count(), 80);
    }
}
