//! Who the user is for git.

use super::git::Worktree;

/// A longer name or address is a mistake, in bytes.
const LONGEST: usize = 200;

/// The name and the address that git writes into the user's commits here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) email: String,
}

impl Worktree {
    /// As git has them configured for this worktree; `None` when one of them is not.
    pub(crate) fn person(&self) -> Option<Person> {
        let one = |key: &str| {
            let text = String::from_utf8(self.output(&["config", "--get", key]).ok()?).ok()?;
            let text = text.trim();
            let good = (1..=LONGEST).contains(&text.len()) && !text.chars().any(char::is_control);
            good.then(|| text.to_owned())
        };
        Some(Person { name: one("user.name")?, email: one("user.email")? })
    }
}
