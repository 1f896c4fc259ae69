//! Versions of programs, compared by their numbers only: `0.7.5-preview.x` counts as 0.7.5, as Herdr's own
//! gate does it (docs/measured/herdr.md 1).

use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// Up to three numbers; missing ones are zero, and what follows them is left out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Version(semver::Version);

impl Version {
    /// The first version in what a program prints: digits with a dot between them.
    pub(crate) fn find(text: &str) -> Option<(Self, String)> {
        text.split_whitespace().find_map(|word| {
            let word = word.trim_start_matches(['v', '(', '"']).trim_end_matches([',', ')', '"']);
            let version = word.parse().ok()?;
            word.contains('.').then(|| (version, word.to_owned()))
        })
    }
}

/// The text holds no version.
#[derive(Debug, thiserror::Error)]
#[error("not a version")]
pub(crate) struct NotAVersion;

impl FromStr for Version {
    type Err = NotAVersion;

    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let mut numbers = [0; 3];
        for (index, part) in text.split('.').take(3).enumerate() {
            let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            numbers[index] = part[..digits].parse().map_err(|_no_number| NotAVersion)?;
            if digits < part.len() {
                break;
            }
        }
        let [major, minor, patch] = numbers;
        Ok(Self(semver::Version::new(major, minor, patch)))
    }
}

impl TryFrom<String> for Version {
    type Error = NotAVersion;

    fn try_from(text: String) -> Result<Self, NotAVersion> {
        text.parse()
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            semver::Version { major: major @ 1.., minor, patch: 0, .. } => write!(f, "{major}.{minor}"),
            version => fmt::Display::fmt(version, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<String> {
        let numbers = |version: Version| [version.0.major, version.0.minor, version.0.patch];
        Version::find(text).map(|(version, word)| format!("{word} = {:?}", numbers(version)))
    }

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        insta::assert_snapshot!(found("createos version v0.0.26\n").unwrap(), @"0.0.26 = [0, 0, 26]");
        insta::assert_snapshot!(found("herdr 0.8.2-preview.2026-08-19-9eb521456ac0").unwrap(), @"0.8.2-preview.2026-08-19-9eb521456ac0 = [0, 8, 2]");
        insta::assert_snapshot!(found("git version 2.39.5 (Apple Git-154)").unwrap(), @"2.39.5 = [2, 39, 5]");
        insta::assert_snapshot!(found("git version 2.39").unwrap(), @"2.39 = [2, 39, 0]");
        insta::assert_snapshot!(found("1.1.29").unwrap(), @"1.1.29 = [1, 1, 29]");
        assert_eq!(found("no version 7"), None);
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |text: &str| text.parse::<Version>().unwrap();
        assert!(version("0.10.0") > version("0.7.5"));
        assert!(version("0.7.5-preview.1") >= version("0.7.5"));
        assert!(version("0.7.4") < version("0.7.5"));
        assert_eq!(version("2.31").to_string(), "2.31");
    }
}
