//! What Mutagen leaves alone: its patterns, as `--exclude` hands them on.

use std::path::Path;

/// One pattern.
pub(crate) struct Pattern {
    /// It takes back what patterns before it exclude.
    back: bool,
    /// Only folders.
    folder: bool,
    /// It may stand for a name at any depth.
    anywhere: bool,
    units: Vec<u32>,
}

/// The patterns of `--exclude` values as they arrive: the official CLI splits each at commas and cuts the blanks
/// off, and Mutagen reads what is left as a line of CSV. `Err` for what Mutagen refuses.
pub(crate) fn parse<'a>(values: impl Iterator<Item = &'a str>) -> Result<Vec<Pattern>, String> {
    let mut patterns = vec![];
    for text in values.flat_map(|value| value.split(',')) {
        let text = text.trim().lines().next().unwrap_or_default();
        if text.contains('"') {
            return Err(format!("invalid argument {text:?} for \"--ignore\": bare \" in non-quoted-field"));
        }
        let (back, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        // Alternatives are nothing that we are ever given.
        let alternatives = text.replace("\\\\", "").replace("\\{", "").contains('{');
        if text.is_empty() || text == "/" || alternatives {
            return Err(format!("unable to parse pattern: {text:?}"));
        }
        let absolute = text.starts_with('/');
        let name = text.strip_prefix('/').unwrap_or(text);
        let folder = name.ends_with('/');
        let name = name.strip_suffix('/').unwrap_or(name);
        patterns.push(Pattern {
            back,
            folder,
            anywhere: !absolute && !name.contains('/'),
            units: units(name.as_bytes()),
        });
    }
    Ok(patterns)
}

impl Pattern {
    /// Whether it matches a path below the root.
    pub(crate) fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        (is_folder || !self.folder)
            && (matches(&self.units, &units(path)) || self.anywhere && matches(&self.units, &units(name)))
    }
}

/// Whether a path, or a folder on the way to it, is ignored.
pub(crate) fn ignored(patterns: &[Pattern], path: &Path, is_folder: bool) -> bool {
    use std::os::unix::ffi::OsStrExt;
    let bytes = path.as_os_str().as_bytes();
    let ends = (0..bytes.len()).filter(|at| bytes[*at] == b'/').map(|at| (at, true));
    ends.chain([(bytes.len(), is_folder)]).any(|(end, is_folder)| {
        // A repository's own folder is left alone without a pattern.
        let name = bytes[..end].rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let vcs = is_folder && [&b".git"[..], b".svn", b".hg", b".bzr", b"_darcs"].contains(&name);
        // The last one that matches decides.
        let last = patterns.iter().rev().find(|pattern| pattern.matches(&bytes[..end], is_folder));
        vcs || last.is_some_and(|pattern| !pattern.back)
    })
}

/// Characters; each byte that is no text is one of its own.
fn units(bytes: &[u8]) -> Vec<u32> {
    let mut units = Vec::new();
    for chunk in bytes.utf8_chunks() {
        units.extend(chunk.valid().chars().map(u32::from));
        units.extend(chunk.invalid().iter().map(|byte| 0x11_0000 + u32::from(*byte)));
    }
    units
}

const SLASH: u32 = '/' as u32;

fn matches(pattern: &[u32], name: &[u32]) -> bool {
    let is = |unit: u32, c: char| unit == u32::from(c);
    match (pattern, name) {
        ([], name) => name.is_empty(),
        ([one, two, slash, rest @ ..], name) if is(*one, '*') && is(*two, '*') && *slash == SLASH => {
            let deeper = (0..name.len()).filter(|at| name[*at] == SLASH).map(|at| &name[at + 1..]);
            matches(rest, name) || deeper.into_iter().any(|name| matches(rest, name))
        }
        ([star, rest @ ..], name) if is(*star, '*') => {
            let most = name.iter().position(|unit| *unit == SLASH).unwrap_or(name.len());
            (0..=most).any(|taken| matches(rest, &name[taken..]))
        }
        ([any, rest @ ..], [unit, name @ ..]) if is(*any, '?') => *unit != SLASH && matches(rest, name),
        ([open, rest @ ..], [unit, name @ ..]) if is(*open, '[') => {
            let end = rest.iter().position(|unit| is(*unit, ']')).expect("a class has an end");
            rest[..end].contains(unit) && matches(&rest[end + 1..], name)
        }
        ([escape, literal, rest @ ..], [unit, name @ ..]) if is(*escape, '\\') => {
            literal == unit && matches(rest, name)
        }
        ([literal, rest @ ..], [unit, name @ ..]) => literal == unit && matches(rest, name),
        (_, []) => false,
    }
}
