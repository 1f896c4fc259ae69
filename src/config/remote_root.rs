//! Where the worktree lands in the box.

use crate::error::Error;
use crate::text_type::text_type;

text_type! {
    /// An absolute path of safe characters, without `..`, that is not a system folder.
    /// It is given to shells in the box as a parameter, never spliced into their text.
    pub(crate) RemoteRoot: judge => Error
}

/// First components in which a workspace would hide or break the box's own system.
const SYSTEM: [&str; 13] =
    ["bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "proc", "run", "sbin", "sys", "tmp", "usr"];

impl Default for RemoteRoot {
    fn default() -> Self {
        Self("/workspace".into())
    }
}

fn judge(text: &str) -> Result<&str, Error> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
