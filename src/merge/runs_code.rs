//! Paths that run code on this machine when they are touched: `templates/runs-code.txt`.

use crate::worktree::RelPath;
use std::sync::LazyLock;

struct Rule {
    components: Vec<String>,
    folder: bool,
    why: &'static str,
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let lines = include_str!("../../templates/runs-code.txt").lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(parse).collect()
});

fn parse(line: &'static str) -> Rule {
    let (pattern, why) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let folder = pattern.ends_with('/');
    let components = pattern.trim_end_matches('/').split('/').map(str::to_lowercase).collect();
    Rule { components, folder, why: why.trim() }
}

/// Why `path` runs code here, if it does.
pub(super) fn runs_code(path: &RelPath) -> Option<&'static str> {
    let names: Vec<String> =
        path.components().map(|name| String::from_utf8_lossy(name).to_lowercase()).collect();
    RULES.iter().find(|rule| rule.matches(&names)).map(|rule| rule.why)
}

impl Rule {
    fn matches(&self, names: &[String]) -> bool {
        let count = self.components.len();
        let mut places = names.windows(count).enumerate().filter(|(_, window)| {
            window.iter().zip(&self.components).all(|(name, wanted)| match wanted.strip_prefix('*') {
                Some(ending) => name.ends_with(ending),
                None => name == wanted,
            })
        });
        places.any(|(at, _)| if self.folder { at + count < names.len() } else { at + count == names.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hot(path: &str) -> bool {
        runs_code(&RelPath::new(path.as_bytes()).unwrap()).is_some()
    }

    #[test]
    fn what_runs_is_found_in_any_case_and_at_any_depth() {
        for path in [
            ".envrc",
            "a/b/.ENVRC",
            ".husky/pre-commit",
            "pkg/.vscode/tasks.json",
            ".github/workflows/ci.yml",
            "sub/.gitattributes",
            "x/y.pth",
            ".gitmodules",
        ] {
            assert!(hot(path), "{path}");
        }
    }

    #[test]
    fn ordinary_files_are_not() {
        for path in
            ["src/main.rs", "envrc", ".github/FUNDING.yml", "husky/x", ".vscode", "a.pth.txt", "workflows/a"]
        {
            assert!(!hot(path), "{path}");
        }
    }

    #[test]
    fn every_rule_says_why() {
        assert!(RULES.len() > 50);
        for rule in RULES.iter() {
            assert!(rule.why.len() > 10, "{:?}", rule.components);
        }
    }
}
