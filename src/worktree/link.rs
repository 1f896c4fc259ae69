//! Where a link leads, judged without following it.

use super::path::is_git;

/// As many links as Linux follows, the first one included.
const MAX_LINKS: usize = 40;

/// Where a link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leads {
    /// Inside the root, whether or not anything is there.
    Inside,
    /// Out of it, or nowhere after forty turns.
    Out,
    /// Into git's own folder, or through it.
    IntoGit,
}

/// Where a link at `path` (relative to a root, raw bytes) with this target leads, and the path in the root at which it
/// ends: empty for the root itself and for a link that leads out. `link_at` gives the target of a link inside the root,
/// and nothing for anything else; so links on the way are followed as the kernel would. The folders of `path` itself are
/// folders, not links. An absolute target always leads out: it means something else on each machine.
pub(crate) fn follow(
    path: &[u8],
    target: &[u8],
    mut link_at: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> (Leads, Vec<u8>) {
    const OUT: (Leads, Vec<u8>) = (Leads::Out, Vec::new());
    let mut here: Vec<Vec<u8>> = path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect();
    here.pop();
    let mut ahead = Vec::new();
    if !push_target(&mut ahead, target) {
        return OUT;
    }
    let (mut links, mut through_git) = (1, false);
    while let Some(component) = ahead.pop() {
        match &component[..] {
            b"" | b"." => continue,
            b".." if here.pop().is_none() => return OUT,
            b".." => continue,
            name => through_git |= is_git(name),
        }
        here.push(component);
        if let Some(next) = link_at(&here.join(&b'/')) {
            links += 1;
            here.pop();
            if links > MAX_LINKS || !push_target(&mut ahead, &next) {
                return OUT;
            }
        }
    }
    (if through_git { Leads::IntoGit } else { Leads::Inside }, here.join(&b'/'))
}

/// Puts a target's components on the stack, the first on top; `false` for one that leads out at once.
fn push_target(ahead: &mut Vec<Vec<u8>>, target: &[u8]) -> bool {
    if target.is_empty() || target[0] == b'/' || target.contains(&0) {
        return false;
    }
    ahead.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_with(path: &str, target: &str, links: &[(&str, &str)]) -> Leads {
        let link_at = |at: &[u8]| {
            let found = links.iter().find(|(link, _)| link.as_bytes() == at);
            found.map(|(_, target)| target.as_bytes().to_vec())
        };
        follow(path.as_bytes(), target.as_bytes(), link_at).0
    }

    #[test]
    fn targets_inside_are_fine_even_when_they_do_not_exist() {
        for (path, target) in [
            ("a", "b"),
            ("d/a", "../b"),
            ("d/e/a", "../../x/./y"),
            ("a", "."),
            ("d/a", ".."),
            ("d/a", "../."),
        ] {
            assert_eq!(leads_with(path, target, &[]), Leads::Inside, "{path} -> {target}");
        }
    }

    #[test]
    fn targets_outside_are_found() {
        for (path, target) in
            [("a", "/etc/passwd"), ("a", "../b"), ("a", ".."), ("d/a", "../../b"), ("a", ""), ("a", "b\0c")]
        {
            assert_eq!(leads_with(path, target, &[]), Leads::Out, "{path} -> {target}");
        }
    }

    #[test]
    fn the_way_through_other_links_counts_and_not_the_letters() {
        assert_eq!(leads_with("a", "b", &[("b", "/etc")]), Leads::Out);
        assert_eq!(leads_with("a", "b/x", &[("b", "c"), ("c", "../..")]), Leads::Out);
        // By its text alone it stays inside: up is the root, and .. of that is outside.
        assert_eq!(leads_with("d/e/a", "up/../x", &[("d/e/up", "../..")]), Leads::Out);
        // `x/y/l/../..` looks like `x`, and is the folder above the root.
        assert_eq!(leads_with("m", "x/y/l/../..", &[("x/y/l", "../../z")]), Leads::Out);
        assert_eq!(leads_with("m", "a/c", &[("a", "b/d")]), Leads::Inside);
    }

    #[test]
    fn a_chain_is_as_long_as_the_kernel_follows() {
        assert_eq!(leads_with("a", "b", &[("b", "a"), ("a", "b")]), Leads::Out, "a loop");
        let names: Vec<(String, String)> =
            (2..=41).map(|at| (format!("l{at}"), format!("l{}", at + 1))).collect();
        let chain = |links: usize| -> Vec<(&str, &str)> {
            names[..links - 1].iter().map(|(link, target)| (link.as_str(), target.as_str())).collect()
        };
        assert_eq!(leads_with("l1", "l2", &chain(MAX_LINKS)), Leads::Inside);
        assert_eq!(leads_with("l1", "l2", &chain(MAX_LINKS + 1)), Leads::Out);
    }

    #[test]
    fn gits_own_folder_is_told_apart() {
        assert_eq!(leads_with("a/l", "../.git/hooks/x", &[]), Leads::IntoGit);
        assert_eq!(leads_with("l", ".git/../x", &[]), Leads::IntoGit);
        assert_eq!(leads_with("l", "x", &[("x", ".GIT")]), Leads::IntoGit);
        assert_eq!(leads_with("l", ".git/../../x", &[]), Leads::Out);
    }
}
