//! The user's own excludes: an exact path, a folder with everything under it, or an extension.

use super::RelPath;
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// One entry of `excludes`. Kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Exclude {
    /// `docs/plan.md`: this file.
    Path(RelPath),
    /// `fixtures/`: this folder with everything under it.
    Folder(RelPath),
    /// `*.mp4`: every file with this ending, wherever it is; held without the star.
    Ending(String),
}

impl fmt::Display for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{path}"),
            Self::Folder(path) => write!(f, "{path}/"),
            Self::Ending(ending) => write!(f, "*{ending}"),
        }
    }
}

impl FromStr for Exclude {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let path = |text: &str| {
            if text.contains(['*', '?', '[', ']', '\\']) {
                return Err(wrong(text, "a pattern of another kind"));
            }
            RelPath::new(text.as_bytes()).map_err(|bad| wrong(text, &bad.to_string()))
        };
        if let Some(ending) = text.strip_prefix('*') {
            let is_ending = ending.len() > 1
                && ending.starts_with('.')
                && !ending.contains(['*', '?', '[', ']', '\\', '/'])
                && !ending.chars().any(char::is_control);
            return if is_ending {
                Ok(Self::Ending(ending.into()))
            } else {
                Err(wrong(text, "not an extension"))
            };
        }
        match text.strip_suffix('/') {
            Some(folder) => path(folder).map(Self::Folder),
            None => path(text).map(Self::Path),
        }
    }
}

fn wrong(text: &str, reason: &str) -> Error {
    Error::usage(format!("exclude \"{text}\" is {reason}"))
        .help("use a path in the repository, a folder that ends with /, or an extension such as *.mp4")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_accepted_and_shown_as_written() {
        for good in ["docs/plan.md", "fixtures/", "*.mp4", "*.tar.gz"] {
            assert_eq!(good.parse::<Exclude>().unwrap().to_string(), good);
        }
    }

    #[test]
    fn any_other_pattern_is_an_error_that_says_what_is_accepted() {
        for bad in ["", "/abs", "../up", "**/x", "a*b", "*", "*.", "*/x", "a//b", "./a", "x[1]"] {
            assert!(bad.parse::<Exclude>().unwrap_err().hints()[0].contains("*.mp4"), "{bad}");
        }
    }
}
