//! Which modes a program has put its terminal into: to bring another terminal into the same ones, and
//! to take a terminal out of them again.

mod orders;
mod scan;
mod state;

#[cfg(target_os = "linux")]
pub(crate) use scan::Seen;
pub(crate) use state::Modes;

#[cfg(test)]
mod tests {
    use super::*;

    fn after(output: &str) -> Modes {
        let mut modes = Modes::default();
        // One byte at a time: no split may matter.
        output.bytes().for_each(|byte| modes.feed(&[byte]));
        modes
    }

    #[test]
    fn an_editor_is_entered_and_left_in_full() {
        let modes = after("\x1b[?1049h\x1b[?25l\x1b[?1000;1006h\x1b[?2004h\x1b[>1u\x1b=text");
        let entered = String::from_utf8(modes.enter()).unwrap();
        let left = String::from_utf8(modes.leave()).unwrap();
        for mode in ["1000", "1006", "2004", "1049"] {
            assert!(entered.contains(&format!("\x1b[?{mode}h")), "{entered:?}");
            assert!(left.contains(&format!("\x1b[?{mode}l")), "{left:?}");
        }
        assert!(entered.contains("\x1b[>1u") && left.contains("\x1b[<1u"));
        assert!(entered.contains("\x1b[?25l") && left.ends_with("\x1b[?25h"));
        let mut fresh = Modes::default();
        fresh.feed(&modes.enter());
        assert_eq!(fresh.leave(), modes.leave(), "what was entered can be left");
    }

    #[test]
    fn a_plain_shell_is_not_taken_out_of_a_screen_that_it_was_not_in() {
        let shell = after("$ ls\r\n\x1b[1mdir\x1b[0m");
        assert!(!String::from_utf8(shell.leave()).unwrap().contains("49l"));
        assert!(!shell.is_plain() && after("$ ls ä").is_plain());
        assert!(after("\x1b[?1049h\x1b[?1000h\x1bc").enter().is_empty());
        assert!(after("\x1b[?1049h\x1b[?2004h\x1b[?2004l\x1b[?1049l").enter().is_empty());
    }

    #[test]
    fn no_spelling_hides_a_mode() {
        let zeros = format!("\x1b[?{}1049h", "0".repeat(500));
        let many = format!("\x1b[?{}1049h", "7;".repeat(100));
        for hidden in ["\x1b[?10\r49h", "\u{9b}?1049h", "\x1b\0[?1049h", "\x1b[?1049\x7fh", &zeros, &many] {
            let left = String::from_utf8(after(hidden).leave()).unwrap();
            assert!(left.contains("\x1b[?1049l"), "{hidden:?}");
        }
        assert!(after("\x1b[?1049\x18h").alternate.is_none());
    }

    #[test]
    fn colours_are_given_back_where_they_were_taken_and_queries_are_noticed() {
        let reset = |output| String::from_utf8(after(output).leave()).unwrap().contains("\x1b]111\x1b\\");
        assert!(reset("\x1b]11;#ff0000\x07") && reset("\u{9d}0011;red\x1b\\"));
        assert!(!reset("\x1b]0;title 11;\x07"));
        for query in ["\x1b[c", "\x1b[6n", "\x1b]11;?\x07", "\x1bP+q544e\x1b\\", "\x1b[?u", "\x1b[?1$p"] {
            assert!(after(query).awaits_answer(), "{query:?}");
        }
        assert!(!after("\x1b[?1049h\x1b[1;31mred\x1b]0;t\x07").awaits_answer());
    }
}
