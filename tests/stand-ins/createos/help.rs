//! Help texts, and the words that bring them up wherever they stand (docs/measured/createos-cli.md 3.2).

use crate::argv::{Parsed, known};
use crate::control::Generation;
use crate::errors::SIGNED_OUT;
use crate::{Call, print};

/// The hosts for which `sandbox setup` has an installer.
pub(crate) const HOSTS: [&str; 7] = ["claude-code", "codex", "deepseek", "herdr", "opencode", "orca", "pi"];

/// Whether the program looks for this word in every argv.
pub(crate) fn is_word(word: &str) -> bool {
    matches!(word, "--help" | "-h" | "help")
}

/// Of the program.
pub(crate) fn banner() -> String {
    "createos - your intelligent infrastructure CLI\n\nCOMMANDS:\n   sandbox\n".into()
}

/// Of `sandbox`.
pub(crate) fn group(generation: Generation) -> String {
    let setup = if generation == Generation::Main { "\n   setup    Connect a coding harness" } else { "" };
    format!(
        "NAME:\n   createos sandbox - Manage sandboxes\n\nCOMMANDS:\n   create\n   exec\n   get\n   list\n   pause\n   \
         process\n   pull\n   push\n   resume\n   rm{setup}\n   shapes\n   sync\n   tunnel\n\nOPTIONS:\n   --help, -h\n"
    )
}

/// Of `sandbox setup`: the hosts.
pub(crate) fn hosts() -> String {
    let rows = HOSTS.map(|host| format!("   {host:<12} Connect {host} to CreateOS Sandbox\n")).concat();
    format!(
        "NAME:\n   createos sandbox setup - Connect a coding harness\n\nCOMMANDS:\n{rows}\nOPTIONS:\n   --help, -h\n"
    )
}

/// Of a verb, with its flags.
pub(crate) fn verb(verb: &str, generation: Generation) -> String {
    let (with_value, alone) = known(verb, generation).unwrap_or_default();
    let values = with_value.iter().map(|flag| format!("   {flag} value\n"));
    let flags: String = values.chain(alone.iter().map(|flag| format!("   {flag}\n"))).collect();
    format!("NAME:\n   createos sandbox {verb}\n\nOPTIONS:\n{flags}   --help, -h\n")
}

impl Call<'_> {
    /// What a help word in the argv leads to. Newest: among a verb's arguments its help and exit code 0, and as
    /// the value of a flag a call without a sign-in. Older: that for all but `process`, which shows its help.
    pub(crate) fn helps(&self, parsed: &Parsed, words: &[String]) -> Option<u8> {
        if !words.iter().any(|word| is_word(word)) {
            return None;
        }
        let among = parsed.positional.iter().chain(&self.argv.command).any(|word| is_word(word));
        let newest = self.is_main() && !self.control.older_help;
        if among && (newest || self.argv.verb.starts_with("process")) {
            print(&verb(&self.argv.verb, self.control.generation));
            return Some(0);
        }
        Some(self.fail("error", SIGNED_OUT))
    }
}
