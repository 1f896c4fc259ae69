//! The rules: read from the built-in data once, and the search for their literals.

use super::check::{Check, entropy, is_placeholder};
use super::literals::{Literals, spellings};
use crate::worktree::RelPath;
use crate::worktree::deny::Glob;
use crate::{base64, templates};
use regex::bytes::{Captures, Match, Regex, RegexBuilder};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// How far before its literal a token may begin, in bytes.
const REACH: usize = 256;
/// How much of the contents a pattern may look at, from its beginning, in bytes.
const WINDOW: usize = 4096;

/// One format of a secret.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) entry: Entry,
    pattern: Regex,
    public: Option<Regex>,
    unless: Option<Regex>,
    files: Vec<Glob>,
}

/// All rules, and the search for their literals.
#[derive(Debug)]
pub(super) struct RuleSet {
    literals: Literals,
    /// By the literal's number.
    anchored: Vec<Vec<Arc<Rule>>>,
    in_files: Vec<Arc<Rule>>,
}

/// The built-in rules.
pub(super) static RULES: LazyLock<RuleSet> =
    LazyLock::new(|| RuleSet::new(&templates::read(include_str!("../../../templates/secret-formats.toml"))));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Pieces of patterns that several rules have: `<NAME>` in a pattern stands for one.
    #[serde(default)]
    parts: BTreeMap<String, String>,
    rule: Vec<Entry>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) kind: String,
    /// Where the format is described: for the reader of the data.
    #[allow(dead_code, reason = "its presence is required, its text is for people")]
    source: String,
    #[serde(default)]
    literals: Vec<String>,
    pattern: String,
    /// A token begins before its literal, as far as its characters reach.
    #[serde(default)]
    begins_before: bool,
    /// A token begins so many bytes before its literal.
    #[serde(default)]
    behind: usize,
    #[serde(default)]
    open_end: bool,
    #[serde(default)]
    binary: bool,
    #[serde(default)]
    decode: bool,
    check: Option<Check>,
    #[serde(default)]
    entropy: f64,
    public: Option<String>,
    unless: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

impl RuleSet {
    fn new(file: &File) -> Self {
        let mut literals: Vec<String> = Vec::new();
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let mut anchored: Vec<Vec<Arc<Rule>>> = Vec::new();
        let mut in_files = Vec::new();
        for entry in &file.rule {
            let rule = Arc::new(Rule::new(entry, &file.parts));
            if entry.literals.is_empty() {
                in_files.push(rule);
                continue;
            }
            for literal in entry.literals.iter().flat_map(|literal| spellings(literal)) {
                let at = *numbers.entry(literal).or_insert_with_key(|literal| {
                    literals.push(literal.clone());
                    anchored.push(Vec::new());
                    literals.len() - 1
                });
                anchored[at].push(Arc::clone(&rule));
            }
        }
        Self { literals: Literals::new(&literals), anchored, in_files }
    }

    /// The first secret whose literal begins in `from..to`: where the literal is, and its rule.
    pub(super) fn first(&self, contents: &[u8], from: usize, to: usize) -> Option<(usize, &Rule)> {
        self.search(contents, from, to, true)
    }

    /// `decode`: whether what base64 stands for is looked through as well.
    fn search(&self, contents: &[u8], mut from: usize, to: usize, decode: bool) -> Option<(usize, &Rule)> {
        loop {
            let (at, number) = self.literals.find(contents, from, to)?;
            let found = self.anchored[number].iter().find_map(|rule| match rule.entry.decode {
                false => rule.at(contents, at).then_some(&**rule),
                true if decode => self.decoded(contents, at),
                true => None,
            });
            if let Some(rule) = found {
                return Some((at, rule));
            }
            from = at + 1;
        }
    }

    /// The rule of a secret in the text that the base64 at `at` stands for.
    fn decoded(&self, contents: &[u8], at: usize) -> Option<&Rule> {
        // The literal begins with a group of four; the groups before it can belong to the same text.
        let groups = contents[at.saturating_sub(REACH)..at].rchunks_exact(4);
        let before = groups.take_while(|group| group.iter().all(|byte| base64::is_digit(*byte))).count() * 4;
        let start = at - before;
        let text = base64::decode_in_source(&contents[start..contents.len().min(at + WINDOW)]);
        self.search(&text, 0, text.len(), false).map(|(_, rule)| rule)
    }

    /// The rules that are for files of this name only.
    pub(super) fn of_file(&self, path: &RelPath) -> impl Iterator<Item = &Rule> {
        let name = path.file_name().to_ascii_lowercase();
        let own = self.in_files.iter().filter(move |rule| rule.files.iter().any(|glob| glob.matches(&name)));
        own.map(|rule| &**rule)
    }
}

impl Rule {
    fn new(entry: &Entry, parts: &BTreeMap<String, String>) -> Self {
        let anchor = if entry.literals.is_empty() { "" } else { r"\A" };
        let mut whole = entry.pattern.clone();
        for (name, part) in parts {
            whole = whole.replace(&format!("<{name}>"), part);
        }
        Self {
            entry: entry.clone(),
            pattern: pattern(&format!("{anchor}(?:{whole})")),
            public: entry.public.as_deref().map(pattern),
            unless: entry.unless.as_deref().map(pattern),
            files: entry.files.iter().map(|name| Glob::new(name)).collect(),
        }
    }

    /// Whether the literal at `at` belongs to a secret of this format.
    fn at(&self, contents: &[u8], at: usize) -> bool {
        let start = if self.entry.behind == 0 && self.entry.begins_before {
            let reach = &contents[at.saturating_sub(REACH)..at];
            let start = at - reach.iter().rev().take_while(|byte| is_token(**byte)).count();
            // The letter of an escaped line feed is not the token's first.
            let escape =
                start > 0 && contents[start - 1] == b'\\' && matches!(contents[start], b'n' | b'r' | b't');
            start + usize::from(escape)
        } else {
            match at.checked_sub(self.entry.behind).filter(|start| begins(contents, *start)) {
                Some(start) => start,
                None => return false,
            }
        };
        let window = &contents[start..contents.len().min(start + WINDOW)];
        let Some(groups) = self.pattern.captures(window) else { return false };
        let whole = groups.get(0).expect("group 0 is the match");
        let next = window.get(whole.end());
        if !self.entry.open_end && next.is_some_and(|byte| is_word(*byte)) {
            return false;
        }
        self.judge(&groups)
    }

    /// Where in the whole contents a secret of this format is.
    pub(super) fn in_file(&self, contents: &[u8]) -> Option<usize> {
        let found = self.pattern.captures_iter(contents).find(|groups| self.judge(groups))?;
        Some(secret(&found).start())
    }

    fn judge(&self, groups: &Captures<'_>) -> bool {
        let whole = groups.get(0).expect("group 0 is the match").as_bytes();
        let secret = secret(groups).as_bytes();
        // What people write where a secret would be has little entropy; runs and words in encoded bytes say nothing.
        (self.entry.binary || !is_placeholder(secret))
            && entropy(secret) >= self.entry.entropy
            && self.entry.check.is_none_or(|check| check.holds(secret))
            && self.public.as_ref().is_none_or(|public| !public.is_match(secret))
            && self.unless.as_ref().is_none_or(|unless| !unless.is_match(whole))
    }
}

/// The first group that took part in the match, else all of it.
fn secret<'a>(groups: &Captures<'a>) -> Match<'a> {
    groups.iter().skip(1).flatten().next().or_else(|| groups.get(0)).expect("group 0 is the match")
}

fn pattern(text: &str) -> Regex {
    let built = RegexBuilder::new(text).unicode(false).size_limit(1 << 22).build();
    built.expect("the built-in patterns are tested")
}

/// Whether a token can begin here: not in the middle of a word, where an escaped character does not count as one:
/// `\n`, `\x3d`, `\u003d`, `%3D`.
fn begins(contents: &[u8], at: usize) -> bool {
    if !is_word(contents[at]) {
        return true;
    }
    let before = |back: usize| at.checked_sub(back).map(|at| contents[at]);
    match before(1) {
        Some(byte) if is_word(byte) => {
            let letter = matches!(byte, b'n' | b'r' | b't') && before(2) == Some(b'\\');
            let digits = |count: usize| {
                (1..=count).all(|back| before(back).is_some_and(|byte| byte.is_ascii_hexdigit()))
            };
            let is = |back: usize, text: &[u8]| at >= back && contents[at - back..].starts_with(text);
            letter || digits(2) && (before(3) == Some(b'%') || is(4, b"\\x")) || digits(4) && is(6, b"\\u")
        }
        _ => true,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_token(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_says_what_it_is_and_no_literal_hides_another() {
        let file: File =
            toml_edit::de::from_str(include_str!("../../../templates/secret-formats.toml")).unwrap();
        let mut ids = std::collections::HashSet::new();
        let mut literals = std::collections::BTreeSet::new();
        for rule in &file.rule {
            assert!(ids.insert(&rule.id), "{} twice", rule.id);
            assert!(!rule.kind.is_empty() && !rule.source.is_empty(), "{}", rule.id);
            assert_ne!(rule.literals.is_empty(), rule.files.is_empty(), "{}", rule.id);
            literals.extend(rule.literals.iter().flat_map(|literal| spellings(literal)));
        }
        // Two that begin at the same byte would hide each other in a search for the first match.
        for (one, next) in literals.iter().zip(literals.iter().skip(1)) {
            assert!(!next.starts_with(one.as_str()), "{one} hides {next}");
        }
    }
}
