//! Settings that are a text, judged once.

use super::names::asks_for_help;
use crate::error::Error;
use crate::text_type::text_type;
use crate::{command, duration};
use std::ops::RangeInclusive;
use std::time::Duration;

text_type! {
    /// A machine size such as `s-2vcpu-4gb`. Which sizes exist is the account's affair.
    pub(crate) Shape: shape => Error
}

text_type! {
    /// An image or template such as `devbox:1`.
    pub(crate) Rootfs: rootfs => Error
}

/// Longer names than this are a mistake.
const LONGEST: usize = 128;

fn shape(text: &str) -> Result<&str, Error> {
    if is_name(text, "._-") && !asks_for_help(text) {
        return Ok(text);
    }
    Err(Error::usage(format!("shape \"{text}\" is not a size")).help(format!(
        "a size looks like s-2vcpu-4gb; list yours with: {}",
        command::createos(["sandbox", "shapes"])
    )))
}

fn rootfs(text: &str) -> Result<&str, Error> {
    let (name, tag) = text.split_once(':').map_or((text, None), |(name, tag)| (name, Some(tag)));
    let name_is_good = is_name(name, "._-/") && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if name_is_good && !asks_for_help(text) && tag.is_none_or(|tag| is_name(tag, "._-")) {
        return Ok(text);
    }
    Err(Error::usage(format!("rootfs \"{text}\" is not an image name")).help(format!(
        "an image looks like devbox:1; list them with: {}",
        command::createos(["sandbox", "rootfs"])
    )))
}

/// Letters, digits and `extra`, beginning with a letter or a digit, so that it is never taken for a flag.
fn is_name(text: &str, extra: &str) -> bool {
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
}

/// The shortest and the longest that the service accepts.
const ACCEPTED: RangeInclusive<Duration> = Duration::from_secs(60)..=Duration::from_secs(24 * 60 * 60);

text_type! {
    /// A Go duration such as `30m` or `1h30m`, between one minute and 24 hours
    /// (docs/measured/createos-cli.md 4.3). Kept as it was written.
    pub(crate) AutoPause: auto_pause => Error
}

fn auto_pause(text: &str) -> Result<&str, Error> {
    let Some(time) = duration::parse(text) else {
        return Err(Error::usage(format!("auto-pause \"{text}\" is not a duration"))
            .help("use a duration like 10m, 1h or 1h30m"));
    };
    if !ACCEPTED.contains(&time) {
        return Err(Error::usage(format!("auto-pause \"{text}\" is out of range"))
            .help("it must be between 1 minute (1m) and 24 hours (24h)"));
    }
    Ok(text)
}

text_type! {
    /// An absolute path of safe characters, without `..`, that is not a system folder.
    /// It is given to shells in the box as a parameter, never spliced into their text.
    pub(crate) RemoteRoot: remote_root => Error
}

/// First components in which a workspace would hide or break the box's own system.
const SYSTEM: [&str; 13] =
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "tmp", "usr"];

impl Default for RemoteRoot {
    fn default() -> Self {
        Self("/workspace".into())
    }
}

fn remote_root(text: &str) -> Result<&str, Error> {
    let wrong = |reason: &str| {
        Err(Error::usage(format!("remote root \"{text}\" {reason}"))
            .help("use an absolute path of letters, digits, . _ - and /, such as /workspace"))
    };
    let trimmed = text.strip_suffix('/').unwrap_or(text);
    let Some(relative) = trimmed.strip_prefix('/') else {
        return wrong(if text == "/" { "is the whole box" } else { "is not an absolute path" });
    };
    if relative.is_empty() {
        return wrong("is the whole box");
    }
    if !relative.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c)) {
        return wrong("has a character that is not accepted");
    }
    if relative.split('/').any(|part| matches!(part, "" | "." | "..") || part.starts_with('-')) {
        return wrong("has a component that is not accepted");
    }
    if relative.split('/').next().is_some_and(|first| SYSTEM.contains(&first)) {
        return wrong("is inside a system folder of the box");
    }
    Ok(trimmed)
}

text_type! {
    /// A pattern that is handed to the provider's `sync --exclude` as one argument.
    pub(crate) SyncExclude: sync_exclude => Error
}

fn sync_exclude(text: &str) -> Result<&str, Error> {
    let reason = if text.trim().is_empty() {
        "is empty"
    } else if asks_for_help(text) {
        "would make the provider print its help; write help/ or **/help"
    } else if text.starts_with('-') {
        "would be taken for a flag"
    } else if text.starts_with('!') {
        "would take other excludes back"
    } else if text.contains(',') || text.chars().any(char::is_control) {
        // The provider's flag parser splits a value at commas.
        "has a character that is not accepted"
    } else {
        return Ok(text);
    };
    Err(Error::usage(format!("sync exclude \"{text}\" {reason}"))
        .help("use a name or a pattern, such as node_modules or *.log"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_in_the_field_are_accepted() {
        for good in ["s-0.25vcpu-512mb", "s-8vcpu-16gb"] {
            assert_eq!(good.parse::<Shape>().unwrap().as_str(), good);
        }
        for good in ["devbox:1", "ubuntu:26.04", "my-template", "acme/base:v1"] {
            assert_eq!(good.parse::<Rootfs>().unwrap().as_str(), good);
        }
    }

    #[test]
    fn flags_blanks_and_odd_characters_are_refused() {
        for bad in ["", "-x", "s 2", "s;x", "s\n", "help", "-h", "--help"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
        for bad in ["", "-x", "a:", ":1", "a:b:c", "a//b", "a/../b", "a b", "$(x)", "help"] {
            assert!(bad.parse::<Rootfs>().is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_not_a_duration_or_out_of_range_is_refused() {
        assert_eq!("1h30m".parse::<AutoPause>().unwrap().as_str(), "1h30m");
        for bad in ["", "30", "m", ".m", "1..5h", "30 m", "-30m", "30min", "1d", "30m;", "999999999999999h"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("not a duration"), "{bad}");
        }
        for bad in ["59s", "24h1s", "0s"] {
            assert!(bad.parse::<AutoPause>().unwrap_err().message().contains("out of range"), "{bad}");
        }
    }

    #[test]
    fn ordinary_roots_are_accepted() {
        for good in ["/workspace", "/home/agent/app-1", "/w/"] {
            assert!(good.parse::<RemoteRoot>().is_ok(), "{good}");
        }
    }

    #[test]
    fn relative_hostile_and_system_roots_are_refused() {
        for bad in [
            "workspace",
            "",
            "/",
            "//",
            "/a//b",
            "/a/../b",
            "/w'; touch /tmp/PWNED; #",
            "/etc/x",
            "/usr",
            "/-x",
            "/a b",
        ] {
            assert!(bad.parse::<RemoteRoot>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_pass_and_what_the_command_line_would_misread_does_not() {
        for good in [".git", "node_modules", "target/", "*.log", "a b", "help/", "**/help"] {
            assert_eq!(good.parse::<SyncExclude>().unwrap().as_str(), good);
        }
        for bad in ["", " ", "-x", "--mode", "!keep", "a,b", "a\nb", "help", "-h", "--help"] {
            assert!(bad.parse::<SyncExclude>().is_err(), "{bad}");
        }
    }
}
