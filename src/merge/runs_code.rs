//! Paths that run code on this machine when they are touched: `templates/runs-code.txt`.

use std::collections::{BTreeMap, BTreeSet};
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

/// Links by the place that they lead to.
pub(super) type LinksTo = BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>;

/// Touched paths judged under every name that they have: their own, and those that links give to them
/// or to a folder on the way. Names are no list, since links may lead in circles: they are the steps of
/// a graph from folder to folder.
pub(super) struct Hot<'a> {
    touched: BTreeMap<Vec<u8>, bool>,
    into: &'a LinksTo,
    /// Folders of which everything below runs code.
    below: BTreeMap<Vec<u8>, &'static str>,
}

impl<'a> Hot<'a> {
    /// `touched`: paths, and whether they are or were a link. `into`: links by the place they lead to.
    pub(super) fn new(touched: BTreeMap<Vec<u8>, bool>, into: &'a LinksTo) -> Self {
        let mut hot = Self { touched, into, below: BTreeMap::new() };
        let mut places = BTreeSet::new();
        for path in hot.touched.keys().chain(into.keys()).chain(into.values().flatten()) {
            let mut path = &path[..];
            while !path.is_empty() && places.insert(path.to_vec()) {
                path = split(path).0;
            }
        }
        let mut inner: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
        for place in places.iter().map(|place| &place[..]).chain([&b""[..]]) {
            for way in ways(into, place) {
                inner.entry(split(way).0).or_default().push(place);
            }
        }
        let mut next = Vec::new();
        for place in places.iter().map(|place| &place[..]).chain([&b""[..]]) {
            let rule = RULES.iter().find(|rule| rule.folder && ends(into, place, &rule.components));
            if let Some(rule) = rule {
                hot.below.insert(place.to_vec(), rule.why);
                next.push(place);
            }
        }
        while let Some(place) = next.pop() {
            let why = hot.below[place];
            for inner in inner.get(place).into_iter().flatten() {
                if !hot.below.contains_key(*inner) {
                    hot.below.insert(inner.to_vec(), why);
                    next.push(inner);
                }
            }
        }
        hot
    }

    /// Why the touched `path` runs code here, if it does.
    pub(super) fn why(&self, path: &[u8]) -> Option<&'static str> {
        let link = self.touched.get(path).copied().unwrap_or_default();
        let mut folders = ways(self.into, path).map(|way| split(way).0);
        folders.find_map(|folder| self.below.get(folder).copied()).or_else(|| {
            let rule = RULES.iter().find(|rule| match link {
                // As a folder it is also the first part of what is deeper: `.github` of its workflows.
                true => (1..=rule.components.len()).any(|n| ends(self.into, path, &rule.components[..n])),
                false => !rule.folder && ends(self.into, path, &rule.components),
            });
            rule.map(|rule| rule.why)
        })
    }
}

/// The paths of which the last step leads to `place`: its own and those of links.
fn ways<'a>(into: &'a LinksTo, place: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let own = (!place.is_empty()).then_some(place);
    own.into_iter().chain(into.get(place).into_iter().flatten().map(Vec::as_slice))
}

/// Whether a name of `place` ends with these components.
fn ends(into: &LinksTo, place: &[u8], components: &[String]) -> bool {
    let Some((last, outer)) = components.split_last() else { return true };
    ways(into, place).any(|way| {
        let (folder, name) = split(way);
        let name = String::from_utf8_lossy(name).to_lowercase();
        let fits = match last.strip_prefix('*') {
            Some(ending) => name.ends_with(ending),
            None => name == *last,
        };
        fits && ends(into, folder, outer)
    })
}

/// Folder and name of a path; the folder of a single name is empty.
fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hot(path: &str) -> bool {
        hot_with(path, false, &[])
    }

    fn hot_with(path: &str, link: bool, links: &[(&str, &str)]) -> bool {
        let mut into: LinksTo = BTreeMap::new();
        for (link, place) in links {
            into.entry(place.as_bytes().to_vec()).or_default().insert(link.as_bytes().to_vec());
        }
        let touched = BTreeMap::from([(path.as_bytes().to_vec(), link)]);
        Hot::new(touched, &into).why(path.as_bytes()).is_some()
    }

    #[test]
    fn links_give_other_names_and_may_lead_in_circles() {
        assert!(hot_with(".vscode", true, &[]) && hot_with("a/.github", true, &[]));
        assert!(!hot_with("vscode", true, &[]));
        let links =
            [(".github", "x"), ("x/workflows", "w"), ("w/again", "w"), ("w/top", ""), (".envrc", "e")];
        for path in ["w/ci.yml", "w/d/e/ci.yml", "x/workflows/a", "e"] {
            assert!(hot_with(path, false, &links), "{path}");
        }
        // Everything is below a folder that leads to the top.
        assert!(hot_with("readme", false, &links) && !hot_with("readme", false, &[(".github", "x")]));
        assert!(!hot_with("x/readme", false, &[(".github", "x")]));
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
