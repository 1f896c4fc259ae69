//! Addresses to download from: https, or http to this very machine.

use crate::error::{Error, Result};
use std::fmt;

/// An address whose answer cannot be forged on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url(String);

impl Url {
    /// Takes an address from `variable`, or from the template.
    ///
    /// # Errors
    /// It is neither https nor http to a loopback address.
    pub(super) fn new(text: &str, variable: &str) -> Result<Self> {
        let local = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
        let is_local = local.iter().any(|prefix| {
            text.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
        });
        let is_plain = text.chars().all(|c| c.is_ascii_graphic() && c != '"' && c != '\'');
        let is_https =
            text.strip_prefix("https://").is_some_and(|rest| !rest.starts_with('/') && !rest.is_empty());
        if is_plain && (is_https || is_local) && !text.contains('@') {
            return Ok(Self(text.trim_end_matches('/').into()));
        }
        Err(Error::usage(format!("{variable} is no address to download from: {text}"))
            .help("it must start with https://"))
    }

    pub(super) fn join(&self, below: &str) -> Self {
        Self(format!("{}/{below}", self.0))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// Everything on the way must be https, redirects included.
    pub(super) fn is_https(&self) -> bool {
        self.0.starts_with("https://")
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_cannot_be_tampered_with_will_do() {
        for good in ["https://a.b/c/", "http://127.0.0.1:80/x", "http://localhost", "http://[::1]:1"] {
            assert!(Url::new(good, "X").is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.b",
            "http://a.b",
            "http://127.0.0.1.a.b/",
            "https://",
            "ftp://a",
            "https://a b",
            "https://u@a",
            "file:///x",
        ] {
            assert!(Url::new(bad, "X").is_err(), "{bad}");
        }
        assert_eq!(Url::new("https://a/", "X").unwrap().join("b").as_str(), "https://a/b");
    }
}
