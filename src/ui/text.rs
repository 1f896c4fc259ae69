//! Text for people: sizes, times, and hostile text made visible.

use std::time::Duration;

/// A size in decimal units, as in `8.3 MB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    for (size, unit) in UNITS {
        if count >= size {
            return format!("{:.1} {unit}", count as f64 / size as f64);
        }
    }
    format!("{count} B")
}

/// A number of things with thousands marked, as in `1,204 files`; `one` is the word for one.
pub(crate) fn count(number: u64, one: &str) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    let ending = match number {
        1 => "",
        _ if one.ends_with('x') => "es",
        _ => "s",
    };
    format!("{shown} {one}{ending}")
}

/// A duration in seconds with one decimal, as in `2.1 s`; milliseconds below a tenth.
pub(crate) fn seconds(time: Duration) -> String {
    if time < Duration::from_millis(100) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// Text from outside with every control, bidirectional and invisible character escaped,
/// so that it can neither move the cursor nor pose as something else. Line feeds stay.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if c.is_ascii_control() => shown.push_str(&format!("\\x{:02x}", c as u32)),
            c if is_hostile(c) => shown.push_str(&format!("\\u{{{:x}}}", c as u32)),
            c => shown.push(c),
        }
    }
    shown
}

/// As [`visible`], and on one line: a name with a line feed is still one name.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\x0a")
}

/// The first of `all` names, and how many more there are: `a, b and 3 more`.
pub(crate) fn some(first: impl IntoIterator<Item = impl AsRef<str>>, all: usize) -> String {
    let first: Vec<_> = first.into_iter().map(|name| visible_line(name.as_ref())).collect();
    match all.saturating_sub(first.len()) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// Characters that change how other text is shown, or that cannot be seen at all.
pub(crate) fn is_hostile(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'            // C1 controls
        | '\u{ad}'                     // soft hyphen
        | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_too_many_are_counted() {
        assert_eq!(some(["a", "b\n"], 2), "a, b\\x0a");
        assert_eq!(some(["a", "b"], 5), "a, b and 3 more");
    }

    #[test]
    fn sizes_are_short() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(8_300_000), "8.3 MB");
    }

    #[test]
    fn counts_are_marked_by_thousands() {
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(999, "file"), "999 files");
        assert_eq!(count(1_204_000, "file"), "1,204,000 files");
        assert_eq!([count(0, "box"), count(1, "box")], ["0 boxes", "1 box"]);
    }

    #[test]
    fn a_name_stays_on_its_line() {
        assert_eq!(visible_line("a\nb\u{9b}1m"), "a\\x0ab\\u{9b}1m");
    }

    #[test]
    fn controls_and_direction_marks_are_escaped_and_letters_stay() {
        assert_eq!(visible("ä\u{202e}b\t\u{9b}31m"), "ä\\u{202e}b\\x09\\u{9b}31m");
    }
}
