//! `src` as modules and the names that each of them takes from another: read as tokens, so that no comment, string or
//! layout misleads. What only tests compile is left out.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A path of modules below the crate, or a path as it is written.
type Names = Vec<String>;

/// What one module has and takes.
#[derive(Default)]
struct Module {
    file: String,
    /// What `use` brings in: the name here, the path, and whether others may take it from here.
    imports: Vec<(String, Names, bool)>,
    /// Paths with two names or more, outside of `use`.
    inline: BTreeSet<Names>,
    /// Names that stand alone.
    words: BTreeSet<String>,
}

/// All modules by their path.
pub(super) struct Source {
    top: PathBuf,
    modules: BTreeMap<Names, Module>,
    /// Each file's code without spaces, comments, words, imports and what only tests compile.
    pub(super) code: BTreeMap<String, String>,
}

/// One file takes something from another.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arrow {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) path: String,
}

impl fmt::Display for Arrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {} ({})", self.from, self.to, self.path)
    }
}

impl Source {
    /// Everything that `src/main.rs` leads to, read once.
    pub(super) fn all() -> &'static Self {
        static ALL: LazyLock<Source> =
            LazyLock::new(|| Source::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")));
        &ALL
    }

    /// Everything that `main.rs` in a folder leads to.
    pub(super) fn read(top: PathBuf) -> Self {
        let mut source = Self { top, modules: BTreeMap::new(), code: BTreeMap::new() };
        source.file("main.rs".to_owned(), Vec::new());
        source
    }

    fn file(&mut self, file: String, module: Names) {
        let text = std::fs::read_to_string(self.top.join(&file)).expect("a module has its file");
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        self.modules.insert(module.clone(), Module { file: file.clone(), ..Module::default() });
        self.tokens(&file, &tokens.into_iter().collect::<Vec<_>>(), &module);
    }

    fn tokens(&mut self, file: &str, tokens: &[TokenTree], module: &Names) {
        let mut at = 0;
        while at < tokens.len() {
            let rest = &tokens[at..];
            if let Some(length) = only_for_tests(rest) {
                at += length;
                continue;
            }
            at += self.one(file, tokens, at, module);
        }
    }

    /// Reads what begins at `at`, and says how many tokens it was.
    fn one(&mut self, file: &str, tokens: &[TokenTree], at: usize, module: &Names) -> usize {
        let rest = &tokens[at..];
        let words: Vec<String> = rest.iter().take(3).map(word).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match (&rest[0], words.as_slice()) {
            (_, ["mod", name, ";"]) => {
                self.child(file, module, name);
                3
            }
            (_, ["mod", name, "{}"]) => {
                let inner = below(module, name);
                self.modules.insert(inner.clone(), Module { file: file.to_owned(), ..Module::default() });
                self.group(file, &rest[2], &inner);
                3
            }
            // Who may see it is no use of it.
            (_, ["pub", "()", ..]) => {
                let is_shared = words.get(2) == Some(&"use");
                2 + if is_shared { self.import(&rest[2..], module, true) } else { 0 }
            }
            (_, ["pub", "use", ..]) => 1 + self.import(&rest[1..], module, true),
            (_, ["use", ..]) => self.import(rest, module, false),
            (TokenTree::Group(_), _) => {
                self.flat(file, &words[0][..1]);
                self.group(file, &rest[0], module);
                self.flat(file, &words[0][1..]);
                1
            }
            (TokenTree::Ident(_), _) => {
                let path = path(rest);
                let length = path.len() * 3 - 2;
                self.flat(file, &path.join("::"));
                let is_a_member = at > 0 && word(&tokens[at - 1]) == ".";
                let here = self.modules.get_mut(module).expect("it is being read");
                if path.len() > 1 {
                    here.inline.insert(path);
                } else if !is_a_member {
                    here.words.extend(path);
                }
                length
            }
            (TokenTree::Literal(_), _) => 1,
            _ => {
                self.flat(file, words[0]);
                1
            }
        }
    }

    fn flat(&mut self, file: &str, token: &str) {
        self.code.entry(file.to_owned()).or_default().push_str(token);
    }

    fn group(&mut self, file: &str, group: &TokenTree, module: &Names) {
        let TokenTree::Group(group) = group else { return };
        self.tokens(file, &group.stream().into_iter().collect::<Vec<_>>(), module);
    }

    fn child(&mut self, file: &str, module: &Names, name: &str) {
        let folder = match file.rsplit_once('/').map_or(("", file), |(folder, name)| (folder, name)) {
            (folder, "mod.rs" | "main.rs") => folder.to_owned(),
            _ => file.trim_end_matches(".rs").to_owned(),
        };
        let stem = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
        let file = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
        let file = file.into_iter().find(|file| self.top.join(file).exists());
        self.file(file.unwrap_or_else(|| panic!("src/{stem}.rs is missing")), below(module, name));
    }

    /// Reads a `use` up to its semicolon.
    fn import(&mut self, tokens: &[TokenTree], module: &Names, is_shared: bool) -> usize {
        let end = tokens.iter().position(|token| word(token) == ";").expect("a use ends");
        let mut found = Vec::new();
        tree(&tokens[1..end], &[], &mut found);
        let found = found.into_iter().map(|(name, path)| (name, path, is_shared));
        self.modules.get_mut(module).expect("it is being read").imports.extend(found);
        end + 1
    }

    /// Who takes something from whom. What a module passes on belongs to the file that it comes from.
    pub(super) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (here, module) in &self.modules {
            let named = module
                .imports
                .iter()
                .filter(|(name, _, is_shared)| !is_shared || module.words.contains(name));
            for path in named.map(|(_, path, _)| path).chain(&module.inline) {
                let Some((to, item)) = self.resolve(here, path, 0) else { continue };
                // A module that is named to be reached through does nothing by itself.
                if (item.is_some() || path.last().is_some_and(|last| last == "*")) && to != module.file {
                    let (from, path) = (module.file.clone(), path.join("::"));
                    arrows.insert(Arrow { from, to, path });
                }
            }
        }
        arrows
    }

    /// The file that a path of `here` leads to, and the name in it; a module has no name in it.
    fn resolve(&self, here: &Names, path: &[String], depth: usize) -> Option<(String, Option<String>)> {
        assert!(depth < 20, "{here:?} passes {path:?} on in a circle");
        let (first, mut rest) = path.split_first()?;
        let mut place = match first.as_str() {
            "crate" => Vec::new(),
            "self" => here.clone(),
            "super" => here[..here.len() - 1].to_vec(),
            name if self.modules.contains_key(&below(here, name)) => below(here, name),
            name => {
                let (_, known, _) = self.modules[here].imports.iter().find(|(known, ..)| known == name)?;
                let whole: Names = known.iter().chain(rest).cloned().collect();
                // An import may have the name of what it leads to, as `use proc_macro2;` has.
                return (known[0] != *name).then(|| self.resolve(here, &whole, depth + 1)).flatten();
            }
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                place.pop();
            } else if self.modules.contains_key(&below(&place, next)) && !self.passes_on(&place, next, after)
            {
                place.push(next.clone());
            } else {
                break;
            }
            rest = after;
        }
        let module = &self.modules[&place];
        let Some(item) = rest.first().filter(|item| *item != "*" && *item != "self") else {
            return Some((module.file.clone(), None));
        };
        match module.imports.iter().find(|(name, ..)| name == item) {
            Some((_, known, _)) => self.resolve(&place, known, depth + 1),
            None => Some((module.file.clone(), Some(item.clone()))),
        }
    }

    /// A function or type with the name of its module, passed on by the module above.
    fn passes_on(&self, place: &Names, name: &str, after: &[String]) -> bool {
        after.is_empty() && self.modules[place].imports.iter().any(|(known, ..)| known == name)
    }

    /// Every file of `src`, tests too.
    pub(super) fn files(&self) -> BTreeSet<String> {
        let mut files = BTreeSet::new();
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let name = path.strip_prefix(&self.top).expect("below").to_string_lossy().into_owned();
                    files.insert(name);
                }
            }
        }
        files
    }

    /// How many lines a file has.
    pub(super) fn lines(&self, file: &str) -> usize {
        std::fs::read_to_string(self.top.join(file)).expect("it is there").lines().count()
    }
}

fn below(module: &Names, name: &str) -> Names {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// A token as text; a group as its two delimiters.
fn word(token: &TokenTree) -> String {
    match token {
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => "()".to_owned(),
            Delimiter::Brace => "{}".to_owned(),
            Delimiter::Bracket => "[]".to_owned(),
            Delimiter::None => "  ".to_owned(),
        },
        token => token.to_string(),
    }
}

/// How long an item is that has `#[cfg(test)]`, with its attributes.
fn only_for_tests(tokens: &[TokenTree]) -> Option<usize> {
    let [hash, TokenTree::Group(attribute), ..] = tokens else { return None };
    let text: String = attribute.stream().into_iter().map(|token| token.to_string()).collect();
    if word(hash) != "#" || text != "cfg(test)" {
        return None;
    }
    let end = tokens.iter().position(|token| matches!(word(token).as_str(), ";" | "{}"));
    Some(end.map_or(tokens.len(), |end| end + 1))
}

/// The names joined by `::` with which the tokens begin: each is followed by two tokens but the last.
fn path(tokens: &[TokenTree]) -> Names {
    let mut names = vec![word(&tokens[0])];
    let mut rest = &tokens[1..];
    while let [TokenTree::Punct(colon), second, TokenTree::Ident(name), ..] = rest
        && colon.as_char() == ':'
        && colon.spacing() == Spacing::Joint
        && word(second) == ":"
    {
        names.push(name.to_string());
        rest = &rest[3..];
    }
    names
}

/// The names that a tree of `use` brings in, each with its path.
fn tree(tokens: &[TokenTree], before: &[String], found: &mut Vec<(String, Names)>) {
    for part in tokens.split(|token| word(token) == ",").filter(|part| !part.is_empty()) {
        let mut names = before.to_vec();
        let mut renamed = None;
        let mut is_folder = false;
        for (at, token) in part.iter().enumerate() {
            match token {
                TokenTree::Group(group) => {
                    tree(&group.stream().into_iter().collect::<Vec<_>>(), &names, found);
                    is_folder = true;
                }
                TokenTree::Ident(name) if name == "as" => renamed = part.get(at + 1).map(word),
                TokenTree::Ident(name) if renamed.is_none() => names.push(name.to_string()),
                TokenTree::Punct(star) if star.as_char() == '*' => names.push("*".to_owned()),
                _ => {}
            }
        }
        if names.len() > 1 && names.last().is_some_and(|last| last == "self") {
            names.pop();
        }
        if let (false, Some(last)) = (is_folder, names.last()) {
            found.push((renamed.unwrap_or_else(|| last.clone()), names));
        }
    }
}
