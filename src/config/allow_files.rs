//! `allowFiles`: worktrees, and the paths and globs in each that leave although a filter of names would keep them.

use super::value::{many, parsed};
use crate::worktree::{Allow, AllowPattern};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The key that stands for every worktree.
const EVERYWHERE: &str = "*";

/// The whole setting, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct AllowFiles(Vec<(String, Vec<AllowPattern>)>);

/// From its value in the file.
///
/// # Errors
/// Why it is not valid.
pub(super) fn read(value: &Value) -> Result<AllowFiles, String> {
    let object = value.as_object().ok_or("expected an object from worktree to a list of paths")?;
    let mut all = Vec::new();
    for (worktree, paths) in object {
        let is_path = worktree.starts_with('/') || worktree == "~" || worktree.starts_with("~/");
        if worktree != EVERYWHERE && !is_path {
            return Err(format!("\"{worktree}\" is no worktree; write its path from / or ~/ on, or *"));
        }
        let wrong = || format!("\"{worktree}\": expected a list of texts");
        let mut patterns = Vec::new();
        for path in paths.as_array().ok_or_else(wrong)? {
            let text = path.as_str().ok_or_else(wrong)?;
            let pattern: AllowPattern = parsed(text)?;
            if worktree == EVERYWHERE
                && let Some(name) = pattern.published()
            {
                return Err(format!(
                    "\"{text}\" is for {name}, which no entry lets through everywhere; name its worktree in place of *"
                ));
            }
            patterns.push(pattern);
        }
        all.push((worktree.clone(), patterns));
    }
    Ok(AllowFiles(all))
}

/// As the file has it.
pub(super) fn write(files: &AllowFiles) -> Value {
    let entries = files.0.iter().map(|(worktree, patterns)| (worktree.clone(), many::write(patterns)));
    Value::Object(entries.collect())
}

impl AllowFiles {
    /// What counts for the worktree with this top folder, which has no links on its way.
    pub(super) fn for_worktree(&self, root: &Path) -> Vec<Allow> {
        let mut allows = Vec::new();
        for (worktree, patterns) in &self.0 {
            let everywhere = worktree == EVERYWHERE;
            if everywhere || is(&place(worktree), root) {
                allows.extend(patterns.iter().cloned().map(|pattern| Allow { pattern, everywhere }));
            }
        }
        allows
    }

    /// Each worktree as it is written, its folder when it is one, and its entries.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, Option<PathBuf>, &[AllowPattern])> {
        self.0.iter().map(|(worktree, patterns)| {
            (worktree.as_str(), (worktree != EVERYWHERE).then(|| place(worktree)), &patterns[..])
        })
    }
}

/// The folder of a key.
fn place(worktree: &str) -> PathBuf {
    match worktree.strip_prefix('~') {
        Some(rest) => crate::paths::home().unwrap_or_default().join(rest.trim_start_matches('/')),
        None => PathBuf::from(worktree),
    }
}

fn is(written: &Path, root: &Path) -> bool {
    written == root || std::fs::canonicalize(written).is_ok_and(|real| real == root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_count_for_their_worktree_and_for_every_one() {
        let value = json!({ "/w": [".npmrc"], "/v": ["a.pem"], "*": [".htpasswd"] });
        let files = read(&value).unwrap();
        assert_eq!(write(&files), value);
        let of: Vec<_> = files
            .for_worktree(Path::new("/w"))
            .into_iter()
            .map(|allow| (allow.pattern.to_string(), allow.everywhere))
            .collect();
        assert_eq!(of, [(".npmrc".into(), false), (".htpasswd".into(), true)]);
    }

    #[test]
    fn what_is_no_worktree_and_a_published_name_for_all_are_refused() {
        for bad in [
            json!([]),
            json!({ "w": [] }),
            json!({ "~me/w": [] }),
            json!({ "/w": "x" }),
            json!({ "/w": ["../x"] }),
            json!({ "/w": [1] }),
            json!({ "*": [".env"] }),
            json!({ "*": ["**/*.pem"] }),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }
}
