//! `process attach` (contract 4.7 and 0.1): our provider's, and the words of a detach.

use crate::argv::Parsed;
use crate::control::Control;
use crate::{backend, print};
use std::io::Write;

/// The exit code with which our provider tells that the person has detached.
const DETACHED: u8 = 3;

/// Attaches. With a terminal a detach is said on stderr; like every other end it is exit code 0.
pub(crate) fn run(control: &Control, parsed: &Parsed) -> u8 {
    if control.take("attach_loses") {
        return 1;
    }
    if control.take("attach_ends") {
        return 0;
    }
    if control.take("attach_says_detached") {
        // What a box may print as well.
        print("Detached. The shell is still running.\n");
        return 0;
    }
    let mut passed = parsed.clone();
    passed.flags.push(("--for-pane".into(), None));
    let code = backend::run(control, false, "process attach", &passed, &[]);
    if code != DETACHED {
        return code;
    }
    let again = format!("createos sandbox process attach {}", parsed.positional.join(" "));
    let words = format!("Detached. The shell is still running. Reattach with:\r\n  {again}\r\n");
    let _closed = std::io::stderr().write_all(words.as_bytes());
    0
}
