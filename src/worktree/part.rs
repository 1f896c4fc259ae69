//! A part of what may leave: one folder of a worktree, and without what patterns leave out.

use super::RelPath;
use super::select::Selection;
use super::stayed::{Reason, Stayed};
use crate::error::Error;
use std::fmt;
use std::str::FromStr;

/// What leaves a name or a path out, with everything below it. Without `/` it is a name at any depth, with one a path from
/// the top; a `/` at the end means a folder. `*`, `?` and `[…]` stop at a `/`, `**` does not. Case counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    text: String,
    /// Only folders.
    folder: bool,
    /// From the top; else a name at any depth.
    anchored: bool,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Byte(u8),
    /// One character.
    Any,
    /// Any text of a component.
    Star,
    /// Any text.
    Stars,
    /// Any number of folders, none too.
    Folders,
    /// One character of these ranges, or none of them.
    Class(bool, Vec<(u8, u8)>),
}

impl Pattern {
    /// Whether a path is left out, itself or by a folder that it is in; `is_folder` says what it is itself.
    pub(crate) fn leaves_out(&self, path: &RelPath, is_folder: bool) -> bool {
        let bytes = path.as_bytes();
        let mut from = 0;
        let ends = memchr::memchr_iter(b'/', bytes).chain([bytes.len()]);
        ends.into_iter().any(|end| {
            let candidate = if self.anchored { &bytes[..end] } else { &bytes[from..end] };
            from = end + 1;
            let may = !self.folder || is_folder || end < bytes.len();
            may && matches(&self.parts, candidate)
        })
    }
}

fn matches(parts: &[Part], text: &[u8]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return text.is_empty() };
    let one = || {
        let next = text.first().filter(|byte| **byte != b'/')?;
        let further = text.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count();
        Some((*next, &text[1 + if *next < 0x80 { 0 } else { further }..]))
    };
    match first {
        Part::Byte(byte) => text.first() == Some(byte) && matches(rest, &text[1..]),
        Part::Any => one().is_some_and(|(_, after)| matches(rest, after)),
        Part::Class(is_in, ranges) => one().is_some_and(|(byte, after)| {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte)) == *is_in && matches(rest, after)
        }),
        Part::Star => {
            let most = memchr::memchr(b'/', text).unwrap_or(text.len());
            (0..=most).any(|taken| matches(rest, &text[taken..]))
        }
        Part::Stars => (0..=text.len()).any(|taken| matches(rest, &text[taken..])),
        Part::Folders => {
            matches(rest, text)
                || memchr::memchr_iter(b'/', text).any(|slash| matches(rest, &text[slash + 1..]))
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Pattern {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |why: &str| {
            Error::usage(format!("\"{text}\" is no pattern: {why}"))
                .help("use a name, a path below DIR or a folder/, with *, ?, [abc] and **")
        };
        let (bare, folder) = text.strip_suffix('/').map_or((text, false), |bare| (bare, true));
        let anchored = bare.contains('/');
        let bare = bare.strip_prefix('/').unwrap_or(bare);
        if bare.is_empty() {
            return Err(wrong("it is empty"));
        }
        if bare.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return Err(wrong("it leaves the folder"));
        }
        let mut parts = Vec::new();
        let mut rest = bare.as_bytes();
        let mut at_start = true;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'*' if rest.first() == Some(&b'*') => {
                    rest = &rest[1..];
                    match rest.split_first() {
                        Some((b'/', after)) if at_start => {
                            parts.push(Part::Folders);
                            rest = after;
                            continue;
                        }
                        _ => parts.push(Part::Stars),
                    }
                }
                b'*' => parts.push(Part::Star),
                b'?' => parts.push(Part::Any),
                b'[' => {
                    let (class, after) = class(rest).ok_or_else(|| wrong("a [ has no end"))?;
                    parts.push(class);
                    rest = after;
                }
                b'\\' => {
                    let (escaped, after) =
                        rest.split_first().ok_or_else(|| wrong("it ends with a backslash"))?;
                    parts.push(Part::Byte(*escaped));
                    rest = after;
                }
                byte => parts.push(Part::Byte(*byte)),
            }
            at_start = *byte == b'/';
        }
        if parts.iter().all(|part| matches!(part, Part::Star | Part::Stars | Part::Folders)) {
            return Err(wrong("it would leave everything out"));
        }
        Ok(Self { text: text.into(), folder, anchored, parts })
    }
}

/// What stands behind `[`, and the rest.
fn class(text: &[u8]) -> Option<(Part, &[u8])> {
    let (is_in, text) = match text.split_first()? {
        (b'!' | b'^', rest) => (false, rest),
        _ => (true, text),
    };
    // A `]` that comes first is one of the characters.
    let end = 1 + text.iter().skip(1).position(|byte| *byte == b']')?;
    let (inner, rest) = (&text[..end], &text[end + 1..]);
    let (mut ranges, mut at) = (Vec::new(), 0);
    while at < inner.len() {
        let is_range = inner.get(at + 1) == Some(&b'-') && at + 2 < inner.len();
        ranges.push(if is_range { (inner[at], inner[at + 2]) } else { (inner[at], inner[at]) });
        at += if is_range { 3 } else { 1 };
    }
    let is_sane = ranges.iter().all(|(low, high)| low <= high) && !inner.contains(&b'/');
    is_sane.then_some((Part::Class(is_in, ranges), rest))
}

impl Selection {
    /// The part that is in a folder, as if that were the top.
    #[must_use]
    pub(crate) fn below(self, folder: &RelPath) -> Self {
        let inner = |path: &RelPath| {
            let rest = path.as_bytes().strip_prefix(folder.as_bytes())?.strip_prefix(b"/")?;
            RelPath::new(rest).ok()
        };
        let keys = |paths: &std::collections::HashSet<RelPath>| paths.iter().filter_map(inner).collect();
        let stayed = self.stayed.into_iter().filter_map(|stayed| {
            let path = stayed.path.strip_prefix(folder.as_path()).ok()?.to_path_buf();
            (!path.as_os_str().is_empty()).then_some(Stayed { path, ..stayed })
        });
        Self {
            root: self.root.join(folder.as_path()),
            files: self.files.iter().filter_map(inner).collect(),
            allowed: keys(&self.allowed),
            depends: self.depends.iter().filter_map(|(path, deny)| Some((inner(path)?, *deny))).collect(),
            skipped: keys(&self.skipped),
            untracked: keys(&self.untracked),
            stayed: stayed.collect(),
            let_through: self
                .let_through
                .into_iter()
                .filter_map(|(path, lifted)| Some((inner(&path)?, lifted)))
                .collect(),
            idle: self.idle,
        }
    }

    /// Keeps home what `rule` names one for; it is told whether git tracks the file.
    pub(crate) fn leave_out(&mut self, rule: impl Fn(&RelPath, bool) -> Option<String>) {
        let files = std::mem::take(&mut self.files);
        for path in files {
            match rule(&path, !self.untracked.contains(&path)) {
                None => self.files.push(path),
                Some(rule) => {
                    self.let_through.remove(&path);
                    self.stayed.push(Stayed::new(path.as_path(), Reason::Excluded, rule));
                }
            }
        }
    }

    /// The sizes of the files on the disk, in bytes, in their order.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (&RelPath, u64)> {
        self.files.iter().map(|path| {
            let found = self.root.join(path.as_path()).symlink_metadata();
            (path, found.map_or(0, |found| found.len()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves_out(pattern: &str, path: &[u8]) -> bool {
        pattern.parse::<Pattern>().unwrap().leaves_out(&RelPath::new(path).unwrap(), false)
    }

    #[test]
    fn a_name_counts_at_any_depth_and_a_path_from_the_top() {
        for (pattern, path) in [
            ("target", &b"target"[..]),
            ("target", b"a/target/b"),
            ("target/", b"a/target/b"),
            ("*.gif", b"a/b.gif"),
            ("*.gif", b"pictures.gif/a"),
            ("docs/a", b"docs/a"),
            ("docs/a", b"docs/a/b"),
            ("/docs", b"docs/x"),
            ("docs/*.md", b"docs/x.md"),
            ("docs/**", b"docs/x/y"),
            ("docs/**.md", b"docs/x/y.md"),
            ("**/.cargo/registry", b".cargo/registry/x"),
            ("**/.cargo/registry", b"home/.cargo/registry/x"),
            ("a?c", "aüc".as_bytes()),
            ("[a-c]x", b"bx"),
            ("[!a-c]x", b"dx"),
            ("[]x]y", b"]y"),
            ("a\\*", b"a*"),
            ("caf\\?", b"caf?"),
            ("x*", b"x\xff\xfe"),
        ] {
            assert!(leaves_out(pattern, path), "{pattern} {path:?}");
        }
        for (pattern, path) in [
            ("target", &b"targets"[..]),
            ("target/", b"target"),
            ("docs/a", b"x/docs/a"),
            ("/docs", b"x/docs"),
            ("docs/*.md", b"docs/x/y.md"),
            ("a*c", b"a/c"),
            ("a?c", b"a/c"),
            ("[!a]", b"b/c/dd"),
            ("a\\*", b"ab"),
            ("Target", b"target"),
        ] {
            let hit = leaves_out(pattern, path);
            assert!(!hit || pattern == "[!a]", "{pattern} {path:?}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for bad in ["", "/", "a//b", "../x", "a/./b", "[abc", "[z-a]", "a\\", "*", "**", "**/*", "[a/b]"] {
            assert!(bad.parse::<Pattern>().is_err(), "{bad}");
        }
    }
}
