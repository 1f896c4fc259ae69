//! The user's own rules: `excludes` and `allowSecrets` of config.json.

use super::stayed::Reason;
use super::{Exclude, RelPath, deny};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What the user's settings say about what leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Paths that never leave.
    pub(crate) excludes: Vec<Exclude>,
    /// Paths whose contents, or whose names by rules that we added, are known to be harmless.
    pub(crate) allow_secrets: Vec<RelPath>,
}

/// The reason and rule by which a path stays home for its name alone: the excludes, then the
/// deny-list. Pure, so that the way back judges by the same rules as the way out.
pub(crate) fn stays_home(path: &RelPath, rules: &Rules) -> Option<(Reason, String)> {
    if let Some(exclude) = rules.excludes.iter().find(|exclude| exclude.matches(path)) {
        return Some((Reason::Excluded, exclude.to_string()));
    }
    let denied = deny::list().find(path)?;
    if denied.added && rules.allow_secrets.contains(path) {
        return None;
    }
    Some((Reason::Denied, denied.pattern.clone()))
}

/// The deny-list and the excludes as patterns for `sync --exclude` (Mutagen's: `/` first anchors to
/// the root, `/` last means a folder, case counts). Exceptions of the deny-list stay home too: the
/// contents of a file cannot be judged on that way.
pub(crate) fn sync_excludes(rules: &Rules) -> Vec<String> {
    let own = rules.excludes.iter().map(|exclude| match exclude {
        Exclude::Path(path) => sync_pattern(path.as_path()),
        Exclude::Folder(path) => format!("{}/", sync_pattern(path.as_path())),
        Exclude::Ending(ending) => format!("*{}", literal(ending.as_bytes())),
    });
    deny::list().patterns().chain(own).collect()
}

/// One path of the worktree as such a pattern; `/` last makes it a folder.
pub(crate) fn sync_pattern(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let (name, folder) = bytes.strip_suffix(b"/").map_or((bytes, ""), |name| (name, "/"));
    format!("/{}{folder}", literal(name))
}

/// A pattern that matches this text. What a pattern takes for its own is escaped, and what does not arrive is
/// replaced with `?`, any one character: the official CLI takes text, splits a value at commas and cuts blanks
/// off its ends, and Mutagen reads it once more as a line of CSV.
fn literal(text: &[u8]) -> String {
    let mut pattern = String::new();
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '*' | '?' | '[' | ']' | '{' | '}' | '\\' => pattern.extend(['\\', c]),
                ',' | '"' => pattern.push('?'),
                c if c.is_control() => pattern.push('?'),
                c => pattern.push(c),
            }
        }
        // Each byte that is no text counts as a character.
        pattern.extend(chunk.invalid().iter().map(|_| '?'));
    }
    let kept = pattern.trim_end().len();
    let cut = pattern[kept..].chars().count();
    pattern.truncate(kept);
    pattern.extend(std::iter::repeat_n('?', cut));
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn sync_leaves_out_the_same_names() {
        let rules = Rules {
            excludes: vec!["app/[a]/x".parse().unwrap(), "f/".parse().unwrap(), "*.mp4".parse().unwrap()],
            ..Rules::default()
        };
        let patterns = sync_excludes(&rules);
        for pattern in ["*.[pP][eE][mM]", ".[sS][sS][hH]/", "/app/\\[a\\]/x", "/f/", "*.mp4"] {
            assert!(patterns.iter().any(|one| one == pattern), "{pattern} in {patterns:?}");
        }
        assert!(
            patterns.iter().any(|one| one.starts_with("**/.[dD][oO][cC][kK][eE][rR]/[cC]")),
            "{patterns:?}"
        );
    }

    #[test]
    fn a_name_of_any_bytes_becomes_a_pattern_that_arrives_and_matches_it() {
        for (name, pattern) in [
            (&b"docs/plan.md"[..], "/docs/plan.md"),
            (b"build/", "/build/"),
            (b"a*b?[c]{d}\\e", "/a\\*b\\?\\[c\\]\\{d\\}\\\\e"),
            (b"a,b/c,d/", "/a?b/c?d/"),
            (b"a\"b", "/a?b"),
            (b"a\nb\tc", "/a?b?c"),
            (b"a b ", "/a b?"),
            ("a\u{2003}\u{2003}".as_bytes(), "/a??"),
            (b"folder /", "/folder?/"),
            (b"caf\xe9\xff", "/caf??"),
            ("café".as_bytes(), "/café"),
            (b"!a", "/!a"),
            (b"-a", "/-a"),
        ] {
            let path = Path::new(std::ffi::OsStr::from_bytes(name));
            assert_eq!(sync_pattern(path), pattern, "{path:?}");
        }
    }

    #[test]
    fn excludes_decide_first_and_allowing_lifts_only_what_we_added() {
        let rules = Rules {
            excludes: vec!["keys/".parse().unwrap()],
            allow_secrets: vec![path("web/.htpasswd"), path(".npmrc")],
        };
        assert_eq!(stays_home(&path("keys/a.pem"), &rules), Some((Reason::Excluded, "keys/".into())));
        assert_eq!(stays_home(&path("web/.htpasswd"), &rules), None);
        assert_eq!(stays_home(&path("web2/.htpasswd"), &rules).unwrap().0, Reason::Denied);
        assert_eq!(stays_home(&path(".npmrc"), &rules), Some((Reason::Denied, ".npmrc".into())));
    }
}
