//! The user's own rules: `excludes` and `allowSecrets` of config.json.

use super::stayed::Reason;
use super::{Exclude, RelPath, deny};

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
        };
        assert_eq!(stays_home(&path("keys/a.pem"), &rules), Some((Reason::Excluded, "keys/".into())));
        assert_eq!(stays_home(&path("web/.htpasswd"), &rules), None);
        assert_eq!(stays_home(&path("web2/.htpasswd"), &rules).unwrap().0, Reason::Denied);
        assert_eq!(stays_home(&path(".npmrc"), &rules), Some((Reason::Denied, ".npmrc".into())));
    }
}
