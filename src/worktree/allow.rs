//! Names that the user lets through on purpose: the paths and globs of `allowFiles` in config.json.

use super::{RelPath, deny};
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// An exact path below the worktree, or a glob: `*` and `?` within a component, `**` for any number of them. Case
/// counts. `fixtures/` is everything below that folder. Kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AllowPattern {
    text: String,
    components: Vec<String>,
}

impl AllowPattern {
    /// Whether it lets `path` through.
    pub(crate) fn matches(&self, path: &RelPath) -> bool {
        let names: Vec<&[u8]> = path.components().collect();
        below(&self.components, &names)
    }

    /// The name of the plugin's published list that it is for.
    pub(crate) fn published(&self) -> Option<&'static str> {
        let path = RelPath::new(self.components.join("/").as_bytes()).ok()?;
        deny::list().find(&path).filter(|deny| !deny.added).map(|deny| &*deny.pattern)
    }
}

fn below(pattern: &[String], names: &[&[u8]]) -> bool {
    match (pattern, names) {
        ([], names) => names.is_empty(),
        ([all, rest @ ..], names) if all == "**" => {
            (0..=names.len()).any(|taken| below(rest, &names[taken..]))
        }
        ([one, rest @ ..], [name, names @ ..]) => component(one.as_bytes(), name) && below(rest, names),
        (_, []) => false,
    }
}

/// `?` is one character of the name, which may have several bytes.
fn component(pattern: &[u8], name: &[u8]) -> bool {
    match pattern {
        [] => name.is_empty(),
        [b'*', rest @ ..] => (0..=name.len()).any(|taken| component(rest, &name[taken..])),
        [b'?', rest @ ..] => {
            let further = name.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count();
            !name.is_empty() && component(rest, &name[1 + further..])
        }
        [literal, rest @ ..] => name.first() == Some(literal) && component(rest, &name[1..]),
    }
}

impl fmt::Display for AllowPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for AllowPattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |reason: &str| {
            Error::usage(format!(
                "\"{text}\" is {reason}; accepted are paths below the worktree and globs with *, ? and **"
            ))
        };
        if text.starts_with('!') || text.contains('\\') {
            return Err(wrong("a pattern of another kind"));
        }
        let whole = if text.ends_with('/') { format!("{text}**") } else { text.to_owned() };
        let path = RelPath::new(whole.as_bytes()).map_err(|bad| wrong(&bad.to_string()))?;
        let components: Vec<String> =
            path.components().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        if components.iter().all(|name| name == "**") {
            return Err(wrong("every file"));
        }
        Ok(Self { text: text.into(), components })
    }
}

/// An entry as it counts for one worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Allow {
    /// What it lets through.
    pub(crate) pattern: AllowPattern,
    /// It is for every worktree: names of the published list stay home all the same.
    pub(crate) everywhere: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_and_a_glob_match_what_they_say() {
        for (pattern, hits, misses) in [
            (".npmrc", &[".npmrc"][..], &["a/.npmrc", ".NPMRC"][..]),
            ("t/*.pem", &["t/a.pem", "t/.pem"], &["t/u/a.pem", "a.pem"]),
            ("**/*.pem", &["a.pem", "t/u/a.pem"], &["a.key"]),
            ("t/**", &["t/a", "t/u/v"], &["u/t"]),
            ("t/", &["t/a", "t/u/v"], &["t2/a"]),
            ("a/**/b", &["a/b", "a/x/y/b"], &["a/x"]),
            (".env.?", &[".env.1", ".env.é"], &[".env.", ".env.12"]),
            ("app/[slug]/x.key", &["app/[slug]/x.key"], &["app/s/x.key"]),
        ] {
            let allow: AllowPattern = pattern.parse().unwrap();
            assert_eq!(allow.to_string(), pattern);
            let matches = |path: &&str| allow.matches(&RelPath::new(path.as_bytes()).unwrap());
            assert!(hits.iter().all(matches) && !misses.iter().any(matches), "{pattern}");
        }
    }

    #[test]
    fn what_leads_out_or_means_everything_is_refused() {
        for bad in ["", "/", "/etc/x", "../x", "a//b", "!a", "a\\b", ".git/config", "**", "**/**", "~/x/../y"]
        {
            assert!(bad.parse::<AllowPattern>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pattern_for_names_of_the_published_list_is_known() {
        let published = |text: &str| text.parse::<AllowPattern>().unwrap().published();
        for text in [".env", "a/.npmrc", "**/*.pem", ".ssh/**", ".env.*", ".AWS/config"] {
            assert!(published(text).is_some(), "{text}");
        }
        for text in ["docs/**", "*.json", ".htpasswd", ".env.example"] {
            assert_eq!(published(text), None, "{text}");
        }
    }
}
