//! Where a link leads, judged without following it.

/// More links in one chain than any sane tree has; Linux gives up at 40.
const MAX_LINKS: usize = 40;

/// Whether a link at `path` (relative to a root, raw bytes) with this target leads out of the root.
/// `link_at` gives the target of a link inside the root, and nothing for anything else; so links
/// on the way are followed as the kernel would. An absolute target always leads out: it means
/// something else on each machine. A loop leads nowhere, and counts as out.
pub(crate) fn leads_out(
    path: &[u8],
    target: &[u8],
    mut link_at: impl FnMut(&[u8]) -> Option<Vec<u8>>,
) -> bool {
    let mut here: Vec<Vec<u8>> = path.split(|byte| *byte == b'/').map(<[u8]>::to_vec).collect();
    here.pop();
    let mut ahead = Vec::new();
    if !push_target(&mut ahead, target) {
        return true;
    }
    let mut links = 0;
    while let Some(component) = ahead.pop() {
        match &component[..] {
            b"" | b"." => {}
            b".." => {
                if here.pop().is_none() {
                    return true;
                }
            }
            _ => {
                here.push(component);
                if let Some(next) = link_at(&here.join(&b'/')) {
                    links += 1;
                    here.pop();
                    if links > MAX_LINKS || !push_target(&mut ahead, &next) {
                        return true;
                    }
                }
            }
        }
    }
    false
}

/// Puts the components of a relative target on the stack, the first on top.
fn push_target(ahead: &mut Vec<Vec<u8>>, target: &[u8]) -> bool {
    if target.is_empty() || target[0] == b'/' {
        return false;
    }
    ahead.extend(target.split(|byte| *byte == b'/').rev().map(<[u8]>::to_vec));
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn out(path: &str, target: &str, links: &[(&str, &str)]) -> bool {
        let links: HashMap<_, _> = links.iter().copied().collect();
        leads_out(path.as_bytes(), target.as_bytes(), |at| {
            links.get(std::str::from_utf8(at).unwrap()).map(|target| target.as_bytes().to_vec())
        })
    }

    #[test]
    fn targets_inside_are_fine_even_when_they_do_not_exist() {
        for (path, target) in
            [("a", "b"), ("d/a", "../b"), ("d/e/a", "../../x/./y"), ("a", "."), ("d/a", "..")]
        {
            assert!(!out(path, target, &[]), "{path} -> {target}");
        }
    }

    #[test]
    fn targets_outside_are_found_also_behind_other_links() {
        assert!(out("a", "/etc/passwd", &[]));
        assert!(out("a", "../b", &[]));
        assert!(out("d/a", "../../b", &[]));
        assert!(out("a", "b", &[("b", "/etc")]));
        assert!(out("a", "b/x", &[("b", "c"), ("c", "../..")]));
        // By its text alone it stays inside: up is the root, and .. of that is outside.
        assert!(out("d/e/a", "up/../x", &[("d/e/up", "../..")]));
        assert!(out("a", "b", &[("b", "a"), ("a", "b")]));
    }
}
