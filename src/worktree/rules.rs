//! The user's own rules: `excludes` and `allowSecrets` of config.json.

use super::stayed::Reason;
use super::{Exclude, RelPath, deny};
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
        Exclude::Path(path) => format!("/{}", literal(&path.to_string())),
        Exclude::Folder(path) => format!("/{}/", literal(&path.to_string())),
        Exclude::Ending(ending) => format!("*{ending}"),
    });
    deny::list().patterns().chain(own).collect()
}

/// One path of the worktree as such a pattern; `/` last makes it a folder. `None` for a name that no
/// pattern can hold: the official CLI takes text.
pub(crate) fn sync_pattern(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    let (name, folder) = text.strip_suffix('/').map_or((text, ""), |name| (name, "/"));
    Some(format!("/{}{folder}", literal(name)))
}

/// The text with what a pattern would take for its own escaped.
fn literal(path: &str) -> String {
    path.chars()
        .flat_map(|c| {
            matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\').then_some('\\').into_iter().chain([c])
        })
        .collect()
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
        for pattern in [".env", "*.pem", ".ssh/", "**/.docker/config.json", "/app/\\[a\\]/x", "/f/", "*.mp4"]
        {
            assert!(patterns.iter().any(|one| one == pattern), "{pattern} in {patterns:?}");
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
