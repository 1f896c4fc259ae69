//! With which credential the official CLI is used. Values are never read.

use super::account::{KEY_VARIABLES, STORED};
use std::path::Path;

/// Where the CLI takes its credential from; the first one wins (docs/measured/createos-cli.md 5.3, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Credentials {
    /// Variables of this shell that hold a key, in the CLI's order.
    pub(crate) variables: Vec<&'static str>,
    /// A login is stored in `~/.createos`.
    pub(crate) stored: bool,
}

impl Credentials {
    /// Looks at the names of variables and files only.
    pub(crate) fn look(home: &Path, is_set: impl Fn(&str) -> bool) -> Self {
        let stored = STORED.iter().any(|file| home.join(file).exists());
        Self { variables: KEY_VARIABLES.into_iter().filter(|name| is_set(name)).collect(), stored }
    }

    /// Which one wins.
    pub(crate) fn winner(&self) -> Option<String> {
        match (self.variables.first(), self.stored) {
            (Some(name), true) => Some(format!("{name} (wins over the stored login)")),
            (Some(name), false) => Some((*name).to_owned()),
            (None, true) => Some("the stored login".into()),
            (None, false) => None,
        }
    }

    /// Only this shell has the key, so that a Herdr server that was started elsewhere may lack it.
    pub(crate) fn only_in_this_shell(&self) -> bool {
        !self.stored && !self.variables.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_wins_over_the_stored_login() {
        let home = tempfile::tempdir().unwrap();
        let none = Credentials::look(home.path(), |_| false);
        assert_eq!(none.winner(), None);
        let shell = Credentials::look(home.path(), |name| name == "CREATEOS_API_KEY");
        assert!(shell.only_in_this_shell());
        assert_eq!(shell.winner().unwrap(), "CREATEOS_API_KEY");
        std::fs::create_dir(home.path().join(".createos")).unwrap();
        std::fs::write(home.path().join(".createos/.token"), "").unwrap();
        let both = Credentials::look(home.path(), |_| true);
        assert_eq!(both.winner().unwrap(), "CREATEOS_API_KEY (wins over the stored login)");
        assert!(!both.only_in_this_shell());
    }
}
