//! What the upload keeps home, as patterns for file sync.

use super::git::{Worktree, records};
use super::select::select;
use super::stayed::Reason;
use super::{Exclude, RelPath, Rules, deny, judge};
use crate::error::Result;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::os::unix::ffi::OsStrExt;

/// Everything that the upload of this worktree would keep home now, as patterns for `sync --exclude`, in their order.
/// They are Mutagen's: `/` first anchors to the root, `/` last means a folder, case counts, and `!` first takes back
/// what patterns before it exclude: so travel the files that are let through on purpose. `own` are patterns of sync's.
///
/// # Errors
/// git cannot list the worktree, or a file's contents cannot be judged.
pub(crate) fn sync_patterns(
    worktree: &Worktree,
    rules: &Rules,
    own: impl IntoIterator<Item = String>,
) -> Result<Vec<String>> {
    let mut patterns: BTreeSet<String> = excluded(rules).chain(own).collect();
    patterns.extend(ignored(worktree)?.iter().map(|name| anchored(name)));
    let selection = select(worktree, rules)?;
    let judged = judge(&selection, &mut |_, _| {})?;
    // What is not on disk has no contents to keep, and may be most of a sparse tree.
    let stayed = judged.stayed.iter().filter(|stayed| stayed.reason != Reason::Missing);
    patterns.extend(stayed.map(|stayed| anchored(stayed.path.as_os_str().as_bytes())));
    let leaves = selection.let_through.keys().filter(|path| judged.base.get(path).is_some());
    let back = taken_back(leaves, &patterns);
    Ok(deny::list().patterns().chain(patterns).chain(back).collect())
}

/// Patterns that take these files back. What else is in an excluded folder on the way to one stays excluded.
fn taken_back<'a>(files: impl Iterator<Item = &'a RelPath>, patterns: &BTreeSet<String>) -> Vec<String> {
    let (mut folders, mut back) = (BTreeSet::new(), Vec::new());
    let mut alone = Vec::new();
    for file in files {
        let bytes = file.as_bytes();
        for end in (0..bytes.len()).filter(|at| bytes[*at] == b'/') {
            let folder = anchored(&bytes[..=end]);
            let excluded = patterns.contains(&folder) || deny::list().denies_folder(&bytes[..end]);
            if excluded && folders.insert(folder.clone()) {
                back.extend([format!("!{folder}"), format!("{folder}*")]);
            }
        }
        alone.push(format!("!{}", anchored(bytes)));
    }
    back.extend(alone);
    back
}

/// The excludes. Of the deny-list, exceptions stay home too: the contents of a new file cannot be judged on that way.
fn excluded(rules: &Rules) -> impl Iterator<Item = String> {
    rules.excludes.iter().map(|exclude| match exclude {
        Exclude::Path(path) => anchored(path.as_bytes()),
        Exclude::Folder(path) | Exclude::Below(path) => format!("{}/", anchored(path.as_bytes())),
        Exclude::Ending(ending) => format!("*{}", literal(ending.as_bytes())),
    })
}

/// What git ignores and does not track; whole folders end with `/`.
fn ignored(worktree: &Worktree) -> Result<BTreeSet<Vec<u8>>> {
    let args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
    let mut names: BTreeSet<Vec<u8>> = records(&worktree.output(&args)?).map(<[u8]>::to_vec).collect();
    // A folder with names below it is listed also when only these are ignored: a new file there must travel.
    let is_above = |name: &&Vec<u8>| {
        let mut behind = names.range::<[u8], _>((Bound::Excluded(&name[..]), Bound::Unbounded));
        name.ends_with(b"/") && behind.next().is_some_and(|next| next.starts_with(name))
    };
    let folders: Vec<Vec<u8>> = names.iter().filter(is_above).cloned().collect();
    let asked =
        worktree.run_git().args(["check-ignore", "-z", "--stdin"]).stdin_bytes(folders.join(&0)).run()?;
    // 1 is none. Where git cannot tell, they stay home.
    if matches!(asked.code(), 0 | 1) {
        let themselves: BTreeSet<&[u8]> = records(&asked.stdout).collect();
        for folder in folders.iter().filter(|folder| !themselves.contains(&folder[..])) {
            names.remove(folder);
        }
    }
    Ok(names)
}

/// A path of the worktree as a pattern; `/` last makes it a folder.
fn anchored(path: &[u8]) -> String {
    let (name, folder) = path.strip_suffix(b"/").map_or((path, ""), |name| (name, "/"));
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

    #[test]
    fn the_deny_list_and_the_excludes_are_among_the_patterns() {
        let rules = Rules {
            excludes: vec!["app/[a]/x".parse().unwrap(), "f/".parse().unwrap(), "*.mp4".parse().unwrap()],
            ..Rules::default()
        };
        let patterns: Vec<_> = deny::list().patterns().chain(excluded(&rules)).collect();
        for pattern in ["*.[pP][eE][mM]", ".[sS][sS][hH]/", "/app/\\[a\\]/x", "/f/", "*.mp4"] {
            assert!(patterns.iter().any(|one| one == pattern), "{pattern} in {patterns:?}");
        }
        assert!(
            patterns.iter().any(|one| one.starts_with("**/.[dD][oO][cC][kK][eE][rR]/[cC]")),
            "{patterns:?}"
        );
    }

    #[test]
    fn a_file_that_is_let_through_is_taken_back_and_its_excluded_folder_stays_so() {
        let paths = [&b".npmrc"[..], b"t/ca.pem", b"out/.azure/x"].map(|path| RelPath::new(path).unwrap());
        let patterns = BTreeSet::from(["/out/".to_owned()]);
        let back = taken_back(paths.iter(), &patterns);
        let expected = [
            "!/out/",
            "/out/*",
            "!/out/.azure/",
            "/out/.azure/*",
            "!/.npmrc",
            "!/t/ca.pem",
            "!/out/.azure/x",
        ];
        assert_eq!(back, expected);
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
            assert_eq!(anchored(name), pattern, "{name:?}");
        }
    }
}
