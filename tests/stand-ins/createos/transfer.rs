//! `push` and `pull`: one file, byte for byte, with a word about it (docs/measured/createos-cli.md 4.4).

use crate::argv::Parsed;
use crate::boxes::said;
use crate::errors::badge;
use crate::{Call, backend, print, tell};
use std::process::Stdio;

impl Call<'_> {
    pub(crate) fn transfer(&self, parsed: &Parsed) -> u8 {
        let verb = self.argv.verb.as_str();
        let mut parsed = parsed.clone();
        parsed.flags.clear();
        let mut command = backend::command(self.control, &backend::words(false, verb, &parsed, &[]));
        let child = command.stdin(Stdio::inherit()).stderr(Stdio::piped()).spawn();
        let ended = child.and_then(std::process::Child::wait_with_output).expect("our provider runs");
        let code = backend::code(ended.status);
        if code != 0 {
            let output = backend::Output { stdout: Vec::new(), stderr: ended.stderr, code };
            return self.fail("error", &said(&output));
        }
        let is_out = parsed.positional.last().is_some_and(|last| last == "-");
        let word = badge(self.control, "SUCCESS", &format!("{verb}ed 1 file"));
        // Old builds tell it on stdout, where nothing else goes.
        if self.is_main() && !is_out {
            print(&word)
        } else {
            tell(&word)
        }
        0
    }
}
