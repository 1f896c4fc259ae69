//! `homeFiles`: files and folders of the user's home that a box's home gets, too.

use crate::error::Error;
use crate::worktree::RelPath;
use std::fmt;
use std::str::FromStr;

/// A path below the home, written `~/…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HomePath {
    text: String,
    path: RelPath,
}

impl HomePath {
    /// The path from the home on.
    pub(crate) fn path(&self) -> &RelPath {
        &self.path
    }
}

impl fmt::Display for HomePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for HomePath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| Error::usage(format!("home file \"{text}\" {why}; write its path as ~/…"));
        let below = text.strip_prefix("~/").ok_or_else(|| wrong("is not below the home"))?;
        let below = below.strip_suffix('/').unwrap_or(below);
        let path = RelPath::new(below.as_bytes()).map_err(|why| wrong(&format!("is {why}")))?;
        if path.components().next() == Some(b".createos-sandbox") {
            return Err(wrong("is a place of ours"));
        }
        Ok(Self { text: text.into(), path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_the_home() {
        for good in ["~/.gitconfig", "~/.claude/skills/", "~/a b"] {
            assert_eq!(good.parse::<HomePath>().unwrap().to_string(), good);
        }
        for bad in
            ["", "~", "~/", "/etc/passwd", ".gitconfig", "~/../x", "~/a/../../x", "~/.createos-sandbox/x"]
        {
            assert!(bad.parse::<HomePath>().is_err(), "{bad}");
        }
    }
}
