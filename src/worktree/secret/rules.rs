//! The rules: read from the built-in data once, and the search for their literals.

use super::check::{Check, entropy, is_placeholder};
use super::literals::{Literals, SHORTEST};
use crate::worktree::RelPath;
use crate::worktree::deny::Glob;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use std::sync::LazyLock;

/// How far before its literal a token may begin, in bytes.
const REACH: usize = 256;
/// How much of the contents a pattern may look at, from its beginning, in bytes.
const WINDOW: usize = 4096;

/// One format of a secret.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) kind: String,
    pattern: Regex,
    begins_before: bool,
    open_end: bool,
    check: Option<Check>,
    entropy: f64,
    public: Option<Regex>,
    files: Vec<Glob>,
}

/// All rules, and the search for their literals.
#[derive(Debug)]
pub(super) struct RuleSet {
    literals: Literals,
    /// By the literal's number.
    anchored: Vec<Vec<Rule>>,
    in_files: Vec<Rule>,
}

/// The built-in rules.
pub(super) fn rules() -> &'static RuleSet {
    static RULES: LazyLock<RuleSet> = LazyLock::new(|| {
        RuleSet::parse(include_str!("../../../templates/secrets.toml"))
            .expect("the built-in rules are tested")
    });
    &RULES
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Entry>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: String,
    kind: String,
    /// Where the format is described: for the reader of the data.
    #[allow(dead_code, reason = "its presence is required, its text is for people")]
    source: String,
    #[serde(default)]
    literals: Vec<String>,
    pattern: String,
    #[serde(default)]
    begins_before: bool,
    #[serde(default)]
    open_end: bool,
    check: Option<Check>,
    #[serde(default)]
    entropy: f64,
    public: Option<String>,
    #[serde(default)]
    files: Vec<String>,
}

/// Why the data is not a set of rules.
#[derive(Debug, thiserror::Error)]
pub(super) enum BadRules {
    #[error(transparent)]
    Toml(#[from] toml_edit::de::Error),
    #[error(transparent)]
    Pattern(#[from] regex::Error),
    #[error("the literal \"{0}\" is too short")]
    Short(String),
}

impl RuleSet {
    fn parse(text: &str) -> Result<Self, BadRules> {
        let file: File = toml_edit::de::from_str(text)?;
        let mut literals: Vec<String> = Vec::new();
        let mut anchored: Vec<Vec<Rule>> = Vec::new();
        let mut in_files = Vec::new();
        for entry in file.rule {
            if entry.literals.is_empty() {
                in_files.push(Rule::new(&entry)?);
            }
            for literal in &entry.literals {
                if literal.len() < SHORTEST {
                    return Err(BadRules::Short(literal.clone()));
                }
                let at = literals.iter().position(|known| known == literal).unwrap_or_else(|| {
                    literals.push(literal.clone());
                    anchored.push(Vec::new());
                    literals.len() - 1
                });
                anchored[at].push(Rule::new(&entry)?);
            }
        }
        Ok(Self { literals: Literals::new(&literals), anchored, in_files })
    }

    /// The first secret whose literal begins in `from..to`: where the literal is, and its rule.
    pub(super) fn first(&self, contents: &[u8], mut from: usize, to: usize) -> Option<(usize, &Rule)> {
        loop {
            let (at, number) = self.literals.find(contents, from, to)?;
            if let Some(rule) = self.anchored[number].iter().find(|rule| rule.at(contents, at)) {
                return Some((at, rule));
            }
            from = at + 1;
        }
    }

    /// The rules that are for files of this name only.
    pub(super) fn of_file(&self, path: &RelPath) -> impl Iterator<Item = &Rule> {
        let name = path.file_name().to_ascii_lowercase();
        self.in_files.iter().filter(move |rule| rule.files.iter().any(|glob| glob.matches(&name)))
    }
}

impl Rule {
    fn new(entry: &Entry) -> Result<Self, BadRules> {
        let anchor = if entry.literals.is_empty() { "" } else { r"\A" };
        Ok(Self {
            id: entry.id.clone(),
            kind: entry.kind.clone(),
            pattern: pattern(&format!("{anchor}(?:{})", entry.pattern))?,
            begins_before: entry.begins_before,
            open_end: entry.open_end,
            check: entry.check,
            entropy: entry.entropy,
            public: entry.public.as_deref().map(pattern).transpose()?,
            files: entry.files.iter().map(|name| Glob::new(name)).collect(),
        })
    }

    /// Whether the literal at `at` belongs to a secret of this format.
    fn at(&self, contents: &[u8], at: usize) -> bool {
        let mut start = at;
        if self.begins_before {
            let reach = &contents[at.saturating_sub(REACH)..at];
            start -= reach.iter().rev().take_while(|byte| is_token(**byte)).count();
            // The letter of an escaped line feed is not the token's first.
            if start > 0 && contents[start - 1] == b'\\' && matches!(contents[start], b'n' | b'r' | b't') {
                start += 1;
            }
        } else if !begins(contents, at) {
            return false;
        }
        let window = &contents[start..contents.len().min(start + WINDOW)];
        let Some(groups) = self.pattern.captures(window) else { return false };
        let whole = groups.get(0).expect("group 0 is the match");
        let next = window.get(whole.end());
        if !self.open_end && next.is_some_and(|byte| is_word(*byte)) {
            return false;
        }
        self.judge(groups.get(1).unwrap_or(whole).as_bytes())
    }

    /// Where in the whole contents a secret of this format is.
    pub(super) fn in_file(&self, contents: &[u8]) -> Option<usize> {
        self.pattern.captures_iter(contents).find_map(|groups| {
            let secret = groups.get(1).or(groups.get(0))?;
            self.judge(secret.as_bytes()).then_some(secret.start())
        })
    }

    fn judge(&self, secret: &[u8]) -> bool {
        !is_placeholder(secret)
            && entropy(secret) >= self.entropy
            && self.check.is_none_or(|check| check.holds(secret))
            && self.public.as_ref().is_none_or(|public| !public.is_match(secret))
    }
}

fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).unicode(false).size_limit(1 << 22).build()
}

/// Whether a token can begin here: not in the middle of a word, where an escaped line feed or a
/// percent sign's two digits do not count as one.
fn begins(contents: &[u8], at: usize) -> bool {
    if !is_word(contents[at]) {
        return true;
    }
    let before = |back: usize| at.checked_sub(back).map(|at| contents[at]);
    match before(1) {
        Some(byte) if is_word(byte) => {
            let escape = matches!(byte, b'n' | b'r' | b't') && before(2) == Some(b'\\');
            let percent = byte.is_ascii_hexdigit()
                && before(2).is_some_and(|byte| byte.is_ascii_hexdigit())
                && before(3) == Some(b'%');
            escape || percent
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
        let file: File = toml_edit::de::from_str(include_str!("../../../templates/secrets.toml")).unwrap();
        let mut ids = std::collections::HashSet::new();
        let mut literals = std::collections::BTreeSet::new();
        for rule in &file.rule {
            assert!(ids.insert(&rule.id), "{} twice", rule.id);
            assert!(!rule.kind.is_empty() && !rule.source.is_empty(), "{}", rule.id);
            assert_ne!(rule.literals.is_empty(), rule.files.is_empty(), "{}", rule.id);
            literals.extend(&rule.literals);
        }
        // Two that begin at the same byte would hide each other in a search for the first match.
        for (one, next) in literals.iter().zip(literals.iter().skip(1)) {
            assert!(!next.starts_with(&***one), "{one} hides {next}");
        }
    }
}
