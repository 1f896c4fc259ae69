//! `process …`, but for `attach`: views, as documents (docs/measured/createos-cli.md 4.2).

use crate::argv::Parsed;
use crate::{Call, backend, print};

impl Call<'_> {
    pub(crate) fn process(&self, parsed: &Parsed) -> u8 {
        let verb = self.argv.verb.as_str();
        let output = backend::capture(self.control, true, verb, parsed, &self.argv.command);
        if output.code != 0 {
            return self.relay(&output);
        }
        let text = String::from_utf8_lossy(&output.stdout);
        if self.control.null_lists && text.trim() == "[]" {
            print("null\n");
        } else {
            print(&text);
        }
        0
    }
}
