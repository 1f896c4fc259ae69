//! Values of flags, each refused with the flag that it came from.

use crate::cli::SetupArgs;
use crate::config::EgressRule;
use crate::error::{Error, Result};
use crate::herdr::GithubSource;
use crate::setup::template;
use std::path::PathBuf;
use std::str::FromStr;

fn from_flag(flag: &str, error: &Error) -> Error {
    Error::usage(error.message()).fact("flag", flag).because(error)
}

pub(super) fn parse<T: FromStr<Err = Error>>(flag: &str, value: Option<String>) -> Result<Option<T>> {
    value.map(|text| text.parse().map_err(|error| from_flag(flag, &error))).transpose()
}

pub(super) fn parse_each<T: FromStr<Err = Error>>(flag: &str, values: &[String]) -> Result<Option<Vec<T>>> {
    if values.is_empty() {
        return Ok(None);
    }
    let parsed: Result<Vec<T>> =
        values.iter().map(|text| text.parse().map_err(|error| from_flag(flag, &error))).collect();
    parsed.map(Some)
}

/// `none` alone is the empty list.
pub(super) fn egress(values: &[String]) -> Result<Option<Vec<EgressRule>>> {
    if values.iter().any(|value| value == "none") {
        return if values.len() == 1 {
            Ok(Some(Vec::new()))
        } else {
            Err(Error::usage("--egress none empties the list and stands alone"))
        };
    }
    parse_each("--egress", values)
}

/// Which plugin Herdr is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WantedPlugin {
    /// The one in this binary, in a folder of ours.
    Bundled,
    /// A developer's checkout.
    Checkout(PathBuf),
    /// One that Herdr installs from GitHub.
    Github(GithubSource),
}

pub(super) fn wanted_plugin(args: &SetupArgs) -> Result<WantedPlugin> {
    if let Some(folder) = &args.local {
        return Ok(WantedPlugin::Checkout(folder.clone()));
    }
    let Some(text) = args.source.as_deref() else { return Ok(WantedPlugin::Bundled) };
    let wrong = || {
        Error::usage(format!("source \"{text}\" is not accepted"))
            .help("use bundled, github, github@REF or github:OWNER/REPO/PATH@REF")
    };
    if text == "bundled" {
        return Ok(WantedPlugin::Bundled);
    }
    let rest = text.strip_prefix("github").ok_or_else(wrong)?;
    let (repository, reference) = match rest.split_once('@') {
        Some((repository, reference)) => (repository, Some(reference)),
        None => (rest, None),
    };
    let repository = match repository.strip_prefix(':') {
        Some(named) => named,
        None if repository.is_empty() => &template::HERDR.plugin.github,
        None => return Err(wrong()),
    };
    let is_part = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.starts_with('-')
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let is_reference = |text: &str| text.split('/').all(is_part) && !text.contains("..");
    if repository.split('/').count() < 2
        || !repository.split('/').all(is_part)
        || !reference.is_none_or(is_reference)
    {
        return Err(wrong());
    }
    Ok(WantedPlugin::Github(GithubSource {
        repository: repository.into(),
        reference: reference.map(str::to_owned),
    }))
}
