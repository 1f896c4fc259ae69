//! Where a link leads, in the tree as it would be after the apply.

use crate::error::Result;
use crate::worktree::{BadPath, RelPath};

/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// Where a link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leads {
    /// Inside the worktree, whether or not anything is there.
    Inside,
    /// Out of it, or nowhere after forty turns.
    Out,
    /// Into git's own folder.
    IntoGit,
}

/// Follows the link at `at` with the target `target`. `link_at` gives the target of a link in the tree
/// as it would be, `None` for everything else. The folders of `at` itself are folders, not links.
///
/// # Errors
/// Those of `link_at`.
pub(super) fn leads(
    at: &RelPath,
    target: &[u8],
    link_at: &mut dyn FnMut(&RelPath) -> Result<Option<Vec<u8>>>,
) -> Result<Leads> {
    let mut place: Vec<Vec<u8>> = at.components().map(<[u8]>::to_vec).collect();
    place.pop();
    let mut links = 0;
    let mut ahead = Vec::new();
    if !follow(target, &mut ahead) {
        return Ok(Leads::Out);
    }
    while let Some(name) = ahead.pop() {
        match &name[..] {
            b"" | b"." => continue,
            b".." if place.pop().is_none() => return Ok(Leads::Out),
            b".." => continue,
            _ => place.push(name),
        }
        let path = match RelPath::new(&place.join(&b'/')) {
            Ok(path) => path,
            Err(BadPath::Git) => return Ok(Leads::IntoGit),
            Err(_) => return Ok(Leads::Out),
        };
        if let Some(next) = link_at(&path)? {
            links += 1;
            place.pop();
            if links >= MAX_LINKS || !follow(&next, &mut ahead) {
                return Ok(Leads::Out);
            }
        }
    }
    Ok(Leads::Inside)
}

/// Puts a target's components on the stack, first one on top; `false` for a target that leads out at once.
fn follow(target: &[u8], ahead: &mut Vec<Vec<u8>>) -> bool {
    if target.is_empty() || target[0] == b'/' {
        return false;
    }
    ahead.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_with(at: &str, target: &str, links: &[(&str, &str)]) -> Leads {
        let at = RelPath::new(at.as_bytes()).unwrap();
        let mut link_at = |path: &RelPath| {
            let found = links.iter().find(|(link, _)| link.as_bytes() == path.as_bytes());
            Ok(found.map(|(_, target)| target.as_bytes().to_vec()))
        };
        leads(&at, target.as_bytes(), &mut link_at).unwrap()
    }

    #[test]
    fn plain_targets() {
        assert_eq!(leads_with("a/b/l", "../c", &[]), Leads::Inside);
        assert_eq!(leads_with("a/l", "../.", &[]), Leads::Inside);
        assert_eq!(leads_with("l", "..", &[]), Leads::Out);
        assert_eq!(leads_with("a/l", "../../x", &[]), Leads::Out);
        assert_eq!(leads_with("l", "/etc/passwd", &[]), Leads::Out);
        assert_eq!(leads_with("l", "", &[]), Leads::Out);
        assert_eq!(leads_with("a/l", "../.git/hooks/x", &[]), Leads::IntoGit);
    }

    #[test]
    fn the_way_through_other_links_counts_and_not_the_letters() {
        // `x/y/l/../..` looks like `x`, and is the folder above the root.
        assert_eq!(leads_with("m", "x/y/l/../..", &[("x/y/l", "../../z")]), Leads::Out);
        assert_eq!(leads_with("m", "out/x", &[("out", "/mnt")]), Leads::Out);
        assert_eq!(leads_with("m", "a", &[("a", "b"), ("b", "a")]), Leads::Out);
        assert_eq!(leads_with("m", "a/c", &[("a", "b/d")]), Leads::Inside);
    }
}
