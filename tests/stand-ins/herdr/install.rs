//! `plugin install`: a shallow checkout with the real git, build, move into place, register (docs/measured/herdr.md
//! 4.4).

use crate::Herdr;
use crate::manifest::Manifest;
use crate::reply::{Reply, usage};
use serde_json::{Map, Value};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

impl Herdr {
    pub(crate) fn install(&self, words: &[&str]) -> Reply {
        let (mut source, mut reference, mut yes) = (None, None, false);
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            match (*word, rest.as_slice()) {
                ("--yes" | "-y", _) => yes = true,
                ("--ref", [name, ..]) => {
                    reference = Some(*name);
                    rest.next();
                }
                (word, _) if source.is_some() || word.starts_with('-') => {
                    return usage(&format!("unknown option: {word}"));
                }
                (word, _) => source = Some(word),
            }
        }
        let Some(source) = source else {
            return usage("usage: herdr plugin install <owner>/<repo>[/subdir...] [--ref REF] [--yes]");
        };
        let parts: Vec<&str> = source.splitn(3, '/').collect();
        let is_part = |part: &&str| !part.is_empty() && !part.contains([':', '@']);
        let ([owner, repo] | [owner, repo, _], true) = (parts.as_slice(), parts.iter().all(is_part)) else {
            return usage("plugin install v1 accepts only owner/repo[/subdir] shorthand");
        };
        if !yes {
            return usage("remote plugin install requires --yes when stdin is not interactive");
        }
        match self.install_from(owner, repo, parts.get(2).copied(), reference) {
            Ok(reply) => reply,
            Err(text) => Reply::debug(&text),
        }
    }

    fn install_from(
        &self,
        owner: &str,
        repo: &str,
        subdir: Option<&str>,
        reference: Option<&str>,
    ) -> Result<Reply, String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_millis();
        let temp = self.places.config_dir.join(format!("plugins/.tmp-install-{}-{now}", std::process::id()));
        let outcome = self.install_through(&temp, owner, repo, subdir, reference, now);
        let _nothing_left = std::fs::remove_dir_all(&temp);
        outcome
    }

    fn install_through(
        &self,
        temp: &Path,
        owner: &str,
        repo: &str,
        subdir: Option<&str>,
        reference: Option<&str>,
        now: u128,
    ) -> Result<Reply, String> {
        let checkout = temp.join("checkout");
        std::fs::create_dir_all(&checkout).map_err(|error| error.to_string())?;
        let url = format!("https://github.com/{owner}/{repo}.git");
        git(&checkout, &["init", "-q"])?;
        git(&checkout, &["fetch", "-q", "--depth", "1", &url, reference.unwrap_or("HEAD")])?;
        git(&checkout, &["checkout", "-q", "--detach", "FETCH_HEAD"])?;
        let commit = git(&checkout, &["rev-parse", "HEAD"])?;
        let root = subdir.map_or_else(|| checkout.clone(), |sub| checkout.join(sub));
        let manifest = Manifest::load(&root, &self.control.version).map_err(|bad| bad.text)?;
        let records = self.registry()?;
        let old = records.iter().find(|record| record["plugin_id"] == manifest.id.as_str());
        if old.is_some_and(|record| record["source"]["kind"] == "local") {
            return Err(format!(
                "plugin {} is already linked from a local path; uninstall/unlink it before installing from GitHub",
                manifest.id
            ));
        }
        for argv in manifest.builds() {
            if let Some(reply) = build(&root, &argv) {
                return Ok(reply);
            }
        }
        let managed = self.places.checkout(&manifest.id);
        if managed.exists() {
            std::fs::remove_dir_all(&managed).map_err(|error| error.to_string())?;
        }
        std::fs::create_dir_all(managed.parent().expect("a folder")).map_err(|error| error.to_string())?;
        std::fs::rename(&checkout, &managed).map_err(|error| error.to_string())?;
        let placed = subdir.map_or_else(|| managed.clone(), |sub| managed.join(sub));
        let manifest = Manifest::load(&placed, &self.control.version).map_err(|bad| bad.text)?;

        let mut source = Map::new();
        let mut set = |key: &str, value: Option<Value>| value.map(|value| source.insert(key.into(), value));
        set("kind", Some("github".into()));
        set("owner", Some(owner.into()));
        set("repo", Some(repo.into()));
        set("subdir", subdir.map(Into::into));
        set("requested_ref", reference.map(Into::into));
        set("resolved_commit", Some(commit.trim().into()));
        set("managed_path", Some(managed.display().to_string().into()));
        set("installed_unix_ms", u64::try_from(now).ok().map(Into::into));
        self.register(&manifest.id, manifest.record(true, Value::Object(source)))?;
        let from = [Some(owner), Some(repo), subdir].into_iter().flatten().collect::<Vec<_>>().join("/");
        let config = self.places.plugin_config(&manifest.id);
        let out = format!("Installed {} from {from}.\nConfig: {}\n", manifest.id, config.display());
        Ok(Reply { out, err: "Plugin install preview:\n".into(), code: 0 })
    }
}

fn git(folder: &Path, args: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("git failed with status {}: {}", output.status, said.trim()))
}

/// Runs one build command; the refusal when it fails.
fn build(root: &Path, argv: &[String]) -> Option<Reply> {
    let mut command = Command::new(&argv[0]);
    command.args(&argv[1..]).current_dir(root).stdin(Stdio::null());
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HERDR_")) {
        command.env_remove(name);
    }
    let reason = match command.output() {
        Ok(output) if output.status.success() => return None,
        Ok(output) => format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)),
        Err(error) => format!("failed to start: {error}"),
    };
    Some(Reply::failed(format!(
        "error: plugin build failed\ncommand: {}\nstatus: {reason}\nPlugin was not installed.\n",
        argv.join(" ")
    )))
}
