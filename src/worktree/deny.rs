//! The deny-list: names that hold credentials, as data (`templates/deny.toml`).

use super::RelPath;
use super::harmless::Harmless;
use crate::templates;
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The list that is built into the binary.
pub(crate) fn list() -> &'static DenyList {
    static LIST: LazyLock<DenyList> =
        LazyLock::new(|| DenyList::new(templates::read(include_str!("../../templates/deny.toml"))));
    &LIST
}

/// One pattern of the list. Each is there once: they are the same when their patterns are.
#[derive(Debug)]
pub(crate) struct Deny {
    /// The pattern as the list writes it.
    pub(crate) pattern: String,
    /// Whether it is ours, and not of the plugin's published list.
    pub(crate) added: bool,
    /// What a file of such a name can hold instead of a secret.
    pub(crate) unless: Vec<Harmless>,
    folder: bool,
    components: Vec<Glob>,
    except: Vec<Glob>,
}

impl PartialEq for Deny {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for Deny {}

/// All patterns, in the order of the list: the published ones first.
#[derive(Debug)]
pub(crate) struct DenyList {
    rules: Vec<Deny>,
    /// Rules by their last component, where that has no `*`.
    names: HashMap<Vec<u8>, Vec<usize>>,
    /// The other rules.
    globs: Vec<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    rule: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    names: Vec<String>,
    #[serde(default)]
    except: Vec<String>,
    #[serde(default)]
    unless: Vec<Harmless>,
    #[serde(default)]
    added: bool,
}

impl DenyList {
    fn new(file: File) -> Self {
        let mut list = Self { rules: Vec::new(), names: HashMap::new(), globs: Vec::new() };
        for group in file.rule {
            for pattern in group.names {
                let (name, folder) =
                    pattern.strip_suffix('/').map_or((&*pattern, false), |name| (name, true));
                let components: Vec<Glob> = name.split('/').map(Glob::new).collect();
                let index = list.rules.len();
                match components.last() {
                    Some(Glob(parts)) if parts.len() == 1 => {
                        list.names.entry(parts[0].clone()).or_default().push(index);
                    }
                    _ => list.globs.push(index),
                }
                let except = group.except.iter().map(|name| Glob::new(name)).collect();
                let (added, unless) = (group.added, group.unless.clone());
                list.rules.push(Deny { pattern, added, unless, folder, components, except });
            }
        }
        list
    }

    /// All patterns for programs that take ignore patterns in git's way and to which case counts; a later one decides.
    /// A folder with a name that only files may not have is taken back. Their exceptions are not said.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = String> + '_ {
        let written = |rule: &Deny| {
            // A pattern with a slash inside would be anchored to the root otherwise.
            let several = rule.components.len() > 1;
            format!("{}{}", if several { "**/" } else { "" }, in_any_case(&rule.pattern))
        };
        let files = self.rules.iter().filter(|rule| !rule.folder).map(written);
        let back = files.clone().map(|pattern| format!("!{pattern}/"));
        files.chain(back).chain(self.rules.iter().filter(|rule| rule.folder).map(written))
    }

    /// Whether a pattern for folders matches the last of these components.
    pub(super) fn denies_folder(&self, folder: &[u8]) -> bool {
        let folded = fold(folder);
        let components: Vec<&[u8]> = folded.split(|byte| *byte == b'/').collect();
        self.rules.iter().any(|rule| rule.folder && rule.ends_at(&components))
    }

    /// The first pattern of the list that matches.
    pub(crate) fn find(&self, path: &RelPath) -> Option<&Deny> {
        let folded = fold(path.as_bytes());
        let components: Vec<&[u8]> = folded.split(|byte| *byte == b'/').collect();
        let last = components.len() - 1;
        let mut found: Option<usize> = None;
        for (at, component) in components.iter().enumerate() {
            let candidates = self.names.get(*component).into_iter().flatten().chain(&self.globs);
            for &index in candidates {
                let rule = &self.rules[index];
                let sooner = found.is_none_or(|found| index < found);
                if sooner
                    && rule.folder == (at < last)
                    && rule.ends_at(&components[..=at])
                    && !rule.except.iter().any(|glob| glob.matches(components[last]))
                {
                    found = Some(index);
                }
            }
        }
        found.map(|index| &self.rules[index])
    }
}

impl Deny {
    /// Whether the pattern matches the last of these components and those before it.
    fn ends_at(&self, components: &[&[u8]]) -> bool {
        let Some(start) = components.len().checked_sub(self.components.len()) else {
            return false;
        };
        components[start..].iter().zip(&self.components).all(|(component, glob)| glob.matches(component))
    }
}

/// A component's pattern: literal parts with any text between them.
#[derive(Debug)]
pub(super) struct Glob(Vec<Vec<u8>>);

impl Glob {
    /// A pattern; case does not count.
    pub(super) fn new(text: &str) -> Self {
        Self(fold(text.as_bytes()).split(|byte| *byte == b'*').map(<[u8]>::to_vec).collect())
    }

    /// Whether it matches a name in lower case.
    pub(super) fn matches(&self, name: &[u8]) -> bool {
        let [first, middle @ .., last] = &self.0[..] else {
            return self.0.first().is_some_and(|only| only == name);
        };
        let Some(mut rest) = name.strip_prefix(&first[..]).and_then(|rest| rest.strip_suffix(&last[..]))
        else {
            return false;
        };
        for part in middle {
            let Some(at) = memchr::memmem::find(rest, part) else { return false };
            rest = &rest[at + part.len()..];
        }
        true
    }
}

/// The pattern with a class of both cases for each letter.
fn in_any_case(pattern: &str) -> String {
    let mut classes = String::new();
    for c in pattern.chars() {
        if c.is_ascii_alphabetic() {
            classes.extend(['[', c.to_ascii_lowercase(), c.to_ascii_uppercase(), ']']);
        } else {
            classes.push(c);
        }
    }
    classes
}

/// The name as a file system that ignores case compares it.
fn fold(name: &[u8]) -> Vec<u8> {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // Upper case first: it joins letters, such as the long s, that lower case keeps apart.
    String::from_utf8_lossy(name).to_uppercase().to_lowercase().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(path: &str) -> Option<&'static str> {
        list().find(&RelPath::new(path.as_bytes()).unwrap()).map(|deny| &*deny.pattern)
    }

    #[test]
    fn the_published_names_stay_home() {
        for (path, pattern) in [
            (".env", ".env"),
            ("a/.env.local", ".env.*"),
            (".env.example.local", ".env.*"),
            ("x/.ssh/config", ".ssh/"),
            (".aws/credentials", ".aws/"),
            (".gnupg/a/b", ".gnupg/"),
            (".kube/config", ".kube/"),
            ("home/.config/gcloud/x.db", ".config/gcloud/"),
            (".docker/config.json", ".docker/config.json"),
            ("a/.netrc", ".netrc"),
            (".npmrc", ".npmrc"),
            (".pypirc", ".pypirc"),
            (".envrc", ".envrc"),
            (".git-credentials", ".git-credentials"),
            ("k/id_rsa", "id_rsa"),
            ("id_dsa", "id_dsa"),
            ("id_ecdsa", "id_ecdsa"),
            ("id_ed25519", "id_ed25519"),
            ("server.pem", "*.pem"),
            ("server.key", "*.key"),
            ("a.p12", "*.p12"),
            ("a.pfx", "*.pfx"),
            ("a.keystore", "*.keystore"),
            ("a.jks", "*.jks"),
            ("config/credentials", "credentials"),
            ("credentials.json", "credentials.json"),
            (".terraform/x", ".terraform/"),
            ("prod.tfstate", "*.tfstate"),
            (".azure/accessTokens.json", ".azure/"),
            ("terraform.tfstate.backup", "*.tfstate.backup"),
        ] {
            assert_eq!(rule(path), Some(pattern), "{path}");
            assert!(!list().find(&RelPath::new(path.as_bytes()).unwrap()).unwrap().added, "{path}");
        }
    }

    #[test]
    fn names_that_the_published_list_lets_through_stay_home_too() {
        for path in [
            ".ENV",
            "prod.env",
            ".env-prod",
            ".claude/.credentials.json",
            ".codex/auth.json",
            ".cargo/credentials.toml",
            ".config/gh/hosts.yml",
            ".pgpass",
            ".vault-token",
            "id_ed25519_sk",
            "id_rsa.bak",
            "x.ppk",
            "x.kdbx",
            "application_default_credentials.json",
            ".htpasswd",
            ".terraform.d/credentials.tfrc.json",
            ".dockerconfigjson",
            "server.PEM",
            "CREDENTIALS",
            ".dev.vars",
            ".dev.vars.production",
            ".flaskenv",
            ".streamlit/secrets.toml",
            "secrets.toml",
            "config/secrets.yml",
            "config/prod.secret.exs",
            ".vault_pass",
            ".config/pypoetry/auth.toml",
            ".authinfo",
            ".authinfo.gpg",
            ".dbt/profiles.yml",
            "kaggle.json",
            "sftp.json",
            ".ngrok2/ngrok.yml",
            ".config/hcloud/cli.toml",
            ".oci/config",
            "office.ovpn",
            "http.keytab",
            ".config/cursor/auth.json",
            ".qwen/oauth_creds.json",
            ".local/share/opencode/mcp-auth.json",
            ".local/share/amp/secrets.json",
            ".copilot/config.json",
            ".SSH/known_hosts",
            "\u{212a}/.\u{212a}ube/config",
        ] {
            assert!(rule(path).is_some(), "{path}");
        }
    }

    #[test]
    fn examples_public_keys_and_ordinary_files_leave() {
        for path in [
            ".env.example",
            ".env.sample",
            "a/.env.template",
            ".env.test",
            ".env.ci",
            ".env.dist",
            ".env.defaults",
            ".env.schema",
            "src/.env.d.ts",
            ".dev.vars.example",
            "android/debug.keystore",
            ".azure/pipelines.yml",
            "src/credentials/mod.rs",
            "cmd/credentials/main.go",
            "docs/credentials/index.md",
            "id_rsa.pub",
            "id_ed25519_sk.pub",
            ".config/gcloud",
            ".docker/daemon.json",
            "config.json",
            "env",
            "src/env.rs",
            "keys.md",
            "pem",
            "a.pem.md",
            ".yarnrc.yml",
            "nuget.config",
            "terraform.tfvars",
            "settings.xml",
            "auth.json",
            "docker.environment",
            "example.env",
            ".ssh",
            "id_rsa_test.go",
            ".terraform.lock.hcl",
            "secrets.yaml",
            "monkey",
            "turkey.keys",
        ] {
            assert_eq!(rule(path), None, "{path}");
        }
    }

    #[test]
    fn an_exception_does_not_open_a_denied_folder() {
        assert_eq!(rule(".ssh/.env.example"), Some(".ssh/"));
    }
}
