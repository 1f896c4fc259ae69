//! Lines for a narrow pane: broken between words, with what follows below where its column starts.

use super::terminal::columns;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Narrower than this, a column of text is no help: what follows starts further left.
const LEAST: usize = 16;
/// What a command to type starts with: it is never broken, so that it can be copied.
const PROGRAMS: [&str; 6] = ["createos-sandbox ", "createos ", "git ", "herdr ", "ssh-keygen ", "less "];

/// Text on stdout, for a person in a pane: broken at the terminal's width.
pub(crate) fn paragraph(text: impl AsRef<str>) {
    match columns() {
        Some(width) => super::line(wrap(text.as_ref(), width)),
        None => super::line(text),
    }
}

/// Breaks each line that is wider than `width`. What follows stands below the line's column of text (after
/// two or more blanks), else below its first word; a word that is wider than its column is cut.
pub(crate) fn wrap(text: &str, width: usize) -> String {
    text.split('\n').map(|line| one(line, width)).collect::<Vec<_>>().join("\n")
}

fn one(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    // An indent that leaves no room for words is none.
    let line =
        if line.trim_start_matches(' ').len() + width / 2 < line.len() { line.trim_start() } else { line };
    let (head, indent) = hanging(line, width);
    let mut lines: Vec<String> = Vec::new();
    let mut current = line[..head].to_owned();
    let mut at = current.width();
    let mut empty = true;
    let mut next = |current: &mut String, at: &mut usize| {
        lines.push(std::mem::replace(current, " ".repeat(indent)).trim_end().to_owned());
        *at = indent;
    };
    for (blanks, word) in words(&line[head..]) {
        if !empty && at + blanks.len() + word.width() > width {
            next(&mut current, &mut at);
        } else {
            current.push_str(blanks);
            at += blanks.len();
        }
        empty = false;
        if is_command(word) {
            current.push_str(word);
            at += word.width();
            continue;
        }
        // Only a word that is wider than its column is cut.
        for c in word.chars() {
            let cell = c.width().unwrap_or(0);
            if at + cell > width && at > indent {
                next(&mut current, &mut at);
            }
            current.push(c);
            at += cell;
        }
    }
    lines.push(current);
    lines.join("\n")
}

/// Where the words begin that may be broken, in bytes, and where what follows starts: at the line's last
/// column that leaves enough room, else below its first word, or two behind the label of a message.
fn hanging(line: &str, width: usize) -> (usize, usize) {
    let lead = line.len() - line.trim_start_matches(' ').len();
    let (mut at, mut blanks, mut column) = (lead, 0, None);
    for (index, c) in line.char_indices().skip(lead) {
        if c != ' ' && blanks >= 2 && at + LEAST <= width {
            column = Some((index, at));
        }
        blanks = if c == ' ' { blanks + 1 } else { 0 };
        at += c.width().unwrap_or(0);
    }
    let labelled = ["error: ", "help: ", "note: "].iter().any(|label| line[lead..].starts_with(label));
    column.unwrap_or((lead, if labelled { lead + 2 } else { lead }))
}

/// Words with the blanks before them. A command behind a colon is one word, to the end of the line.
fn words(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.len() - rest.trim_start_matches(' ').len();
        let (blanks, tail) = rest.split_at(start);
        let after_colon = found.last().is_some_and(|(_, word): &(&str, &str)| word.ends_with(':'));
        let end = match after_colon && is_command(tail) {
            true => tail.len(),
            false => tail.find(' ').unwrap_or(tail.len()),
        };
        if end > 0 {
            found.push((blanks, &tail[..end]));
        }
        rest = &tail[end..];
    }
    found
}

fn is_command(text: &str) -> bool {
    PROGRAMS.iter().any(|program| text.starts_with(program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_column_stays_a_column() {
        assert_eq!(
            wrap("  Enter   resume and reattach the agent of this box", 30),
            "  Enter   resume and reattach\n          the agent of this\n          box"
        );
        assert_eq!(
            wrap("  box      hd-shop-ab3dx was deleted, nothing is billed", 30),
            "  box      hd-shop-ab3dx was\n           deleted, nothing is\n           billed"
        );
    }

    #[test]
    fn a_sentence_is_broken_between_words_and_a_label_hangs() {
        assert_eq!(wrap("the agent has ended, exit code 7", 20), "the agent has ended,\nexit code 7");
        assert_eq!(wrap("error: the pane was closed early", 20), "error: the pane was\n  closed early");
        assert_eq!(wrap("short\n\n  q   close", 20), "short\n\n  q   close");
    }

    #[test]
    fn a_command_is_never_broken() {
        assert_eq!(
            wrap("help: delete it with: createos sandbox rm --yes sb-01JABC", 30),
            "help: delete it with:\n  createos sandbox rm --yes sb-01JABC"
        );
        assert_eq!(wrap("createos boxes cannot be listed now", 20), "createos boxes\ncannot be listed now");
    }

    #[test]
    fn where_no_column_fits_what_follows_starts_at_the_left() {
        assert_eq!(
            wrap("  a label that is long   and its text", 24),
            "  a label that is long\n  and its text"
        );
        assert_eq!(wrap("aaaaaaaaaaaaaaaaaaaaaaaaa", 10), "aaaaaaaaaa\naaaaaaaaaa\naaaaa");
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(text in "[a-zä字 ]{0,120}", width in 8usize..80) {
            let wrapped = wrap(&text, width);
            prop_assert!(wrapped.lines().all(|line| line.width() <= width), "{wrapped:?}");
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(letters(&wrapped), letters(&text));
        }
    }
}
