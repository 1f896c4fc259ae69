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
    /// `docs/**`: the same, as ignore files write it. CreateOS's own plugin takes it for the name of one file, which is
    /// below that folder; more than that file is meant.
    Below(RelPath),
    /// `*.mp4`: every file with this ending, wherever it is; held without the star.
    Ending(String),
}

impl Exclude {
    /// Whether `path` is excluded. Case counts.
    pub(crate) fn matches(&self, path: &RelPath) -> bool {
        match self {
            Self::Path(own) => own == path,
            Self::Folder(folder) | Self::Below(folder) => path
                .as_bytes()
                .strip_prefix(folder.as_bytes())
                .is_some_and(|rest| rest.first() == Some(&b'/')),
            Self::Ending(ending) => path.file_name().ends_with(ending.as_bytes()),
        }
    }
}

impl fmt::Display for Exclude {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(path) => write!(f, "{path}"),
            Self::Folder(path) => write!(f, "{path}/"),
            Self::Below(path) => write!(f, "{path}/**"),
            Self::Ending(ending) => write!(f, "*{ending}"),
        }
    }
}

impl FromStr for Exclude {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let path = |text: &str| {
            if text.starts_with('!') || text.contains(['*', '?', '\\']) || text.split('/').any(is_class) {
                return Err(wrong(text, "a pattern of another kind"));
            }
            RelPath::new(text.as_bytes()).map_err(|bad| wrong(text, &bad.to_string()))
        };
        if let Some(ending) = text.strip_prefix('*') {
            let is_ending = ending.len() > 1
                && ending.starts_with('.')
                && !ending.contains(['*', '?', '[', ']', '{', '}', '\\', '/'])
                && !ending.chars().any(char::is_control);
            return if is_ending {
                Ok(Self::Ending(ending.into()))
            } else {
                Err(wrong(text, "not an extension"))
            };
        }
        if let Some(folder) = text.strip_suffix("/**") {
            return path(folder).map(Self::Below);
        }
        match text.strip_suffix('/') {
            Some(folder) => path(folder).map(Self::Folder),
            None => path(text).map(Self::Path),
        }
    }
}

/// A component with a character class or alternatives, which would match nothing here and so
/// protect nothing. One that is bracketed as a whole is a name: web frameworks call routes so.
fn is_class(component: &str) -> bool {
    let whole = component.starts_with('[') && component.ends_with(']');
    !whole && component.contains(['[', ']', '{', '}'])
}

fn wrong(text: &str, reason: &str) -> Error {
    Error::usage(format!(
        "exclude \"{text}\" is {reason}; accepted are a path, a folder that ends with / and an extension such as *.mp4"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_forms_are_accepted_and_shown_as_written() {
        for good in ["docs/plan.md", "fixtures/", "docs/**", "*.mp4", "*.tar.gz", "app/[slug]/page.tsx"] {
            assert_eq!(good.parse::<Exclude>().unwrap().to_string(), good);
        }
    }

    #[test]
    fn any_other_pattern_is_an_error_that_says_what_is_accepted() {
        for bad in [
            "",
            "/",
            "/abs",
            "../up",
            "**/x",
            "**/x/**",
            "/**",
            "a*/**",
            "a*b",
            "*",
            "*.",
            "*/x",
            "a//b",
            "./a",
            "x[1]",
            "[ab].txt",
            "*.{js,ts}",
            "*.j?",
            "!a",
        ] {
            assert!(bad.parse::<Exclude>().unwrap_err().message().contains("*.mp4"), "{bad}");
        }
    }

    #[test]
    fn a_path_a_folder_and_an_ending_match_what_they_say() {
        for (rule, hit, miss) in [
            ("docs/plan.md", "docs/plan.md", "a/docs/plan.md"),
            ("fixtures/", "fixtures/a/b", "fixtures"),
            ("fixtures/", "fixtures/x", "fixtures2/x"),
            ("docs/**", "docs/a/b", "docs2/a"),
            ("docs/**", "docs/**", "docs"),
            ("*.mp4", "a/b.mp4", "a.mp4/b"),
            ("*.tar.gz", "x.tar.gz", "x.gz"),
            ("app/[slug]/page.tsx", "app/[slug]/page.tsx", "app/s/page.tsx"),
        ] {
            let matches = |path: &str| {
                rule.parse::<Exclude>().unwrap().matches(&RelPath::new(path.as_bytes()).unwrap())
            };
            assert!(matches(hit) && !matches(miss), "{rule}");
        }
    }
}
