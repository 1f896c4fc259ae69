//! The user's own rules: `excludes`, `allowSecrets` and `allowFiles` of config.json, and a yes to `.worktreeinclude`.

use super::deny::{self, Deny};
use super::stayed::Reason;
use super::{Allow, Exclude, RelPath};

/// What the user's settings say about what leaves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rules {
    /// Paths that never leave.
    pub(crate) excludes: Vec<Exclude>,
    /// Paths whose contents, or whose names by rules that we added, are known to be harmless.
    pub(crate) allow_secrets: Vec<RelPath>,
    /// What leaves of this worktree although a filter of names would keep it.
    pub(crate) allow_files: Vec<Allow>,
    /// The hash of the `.worktreeinclude` that the user said yes to, for this worktree.
    pub(crate) trusted: Option<String>,
}

impl Rules {
    /// The first entry of `allowFiles` for a path, by its place.
    pub(super) fn allowed(&self, path: &RelPath, published: bool) -> Option<usize> {
        let lifts = |allow: &Allow| !(published && allow.everywhere) && allow.pattern.matches(path);
        self.allow_files.iter().position(lifts)
    }
}

/// What a path's name says of whether it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ByName {
    /// It may leave.
    Leaves,
    /// It stays home for this reason and by this rule.
    Stays(Reason, String),
    /// It may leave because of the entry of `allowFiles` at this place.
    Allowed(usize),
    /// It stays home by this rule, unless its contents are something else than its name says.
    Depends(&'static Deny),
}

/// Judges a path by its name alone: the excludes, then the deny-list.
pub(crate) fn by_name(path: &RelPath, rules: &Rules) -> ByName {
    if let Some(exclude) = rules.excludes.iter().find(|exclude| exclude.matches(path)) {
        return ByName::Stays(Reason::Excluded, exclude.to_string());
    }
    let Some(denied) = deny::list().find(path) else { return ByName::Leaves };
    if let Some(entry) = rules.allowed(path, !denied.added) {
        return ByName::Allowed(entry);
    }
    if denied.added && rules.allow_secrets.contains(path) {
        ByName::Leaves
    } else if denied.unless.is_empty() {
        ByName::Stays(Reason::Denied, denied.pattern.clone())
    } else {
        ByName::Depends(denied)
    }
}

/// The reason and rule by which a path that comes back from a box stays there for its name: the same that keep one
/// home. `left`: it was sent before, and so its contents once were harmless.
pub(crate) fn stays_home(path: &RelPath, left: bool, rules: &Rules) -> Option<(Reason, String)> {
    match by_name(path, rules) {
        ByName::Stays(reason, rule) => Some((reason, rule)),
        ByName::Depends(denied) if !left => Some((Reason::Denied, denied.pattern.clone())),
        ByName::Depends(_) | ByName::Allowed(_) | ByName::Leaves => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn excludes_decide_first_and_allowing_lifts_only_what_we_added() {
        let rules = Rules {
            excludes: vec!["keys/".parse().unwrap()],
            allow_secrets: vec![path("web/.htpasswd"), path(".npmrc")],
            ..Rules::default()
        };
        let stays = |text: &str| stays_home(&path(text), true, &rules);
        assert_eq!(stays("keys/a.pem"), Some((Reason::Excluded, "keys/".into())));
        assert_eq!(stays("web/.htpasswd"), None);
        assert_eq!(stays("web2/.htpasswd").unwrap().0, Reason::Denied);
        assert_eq!(stays(".npmrc"), Some((Reason::Denied, ".npmrc".into())));
    }

    #[test]
    fn an_allowed_file_lifts_names_and_never_an_exclude() {
        let allow = |pattern: &str, everywhere| Allow { pattern: pattern.parse().unwrap(), everywhere };
        let rules = Rules {
            excludes: vec!["keys/".parse().unwrap()],
            allow_files: vec![allow("**/*.pem", false), allow("*.txt", true), allow("web/**", true)],
            ..Rules::default()
        };
        assert_eq!(by_name(&path("t/a.pem"), &rules), ByName::Allowed(0));
        assert_eq!(by_name(&path("web/.htpasswd"), &rules), ByName::Allowed(2));
        assert_eq!(by_name(&path("web/.npmrc"), &rules), ByName::Stays(Reason::Denied, ".npmrc".into()));
        assert_eq!(by_name(&path("keys/a.pem"), &rules), ByName::Stays(Reason::Excluded, "keys/".into()));
        assert_eq!(stays_home(&path("t/a.pem"), false, &rules), None);
    }

    #[test]
    fn a_certificate_that_was_sent_may_come_back() {
        let (pem, rules) = (path("t/ca.pem"), Rules::default());
        assert_eq!(stays_home(&pem, true, &rules), None);
        assert_eq!(stays_home(&pem, false, &rules), Some((Reason::Denied, "*.pem".into())));
    }
}
