//! `createos-sandbox setup herdr`: the doctor, the plan, setting up and taking back.

mod checks;
mod corpus;
mod doctor;
mod document;
mod ended;
mod first;
mod generated;
mod install;
mod irregular;
mod killed;
mod leftovers;
mod lost_receipt;
mod only_ours;
mod owners;
mod programs;
mod race;
mod refused;
mod repair;
mod replace;
mod settings;
mod sudo;
mod terminal;
mod told;
mod undo;

use crate::support::{Herdr, Home, User, generation, program};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A home with a signed-in official CLI and, through `Herdr::in_home`, a Herdr.
pub fn machine(user: User) -> Home {
    let home = Home::of(user).with_bin();
    createos(&home, "v0.0.29", true);
    home
}

/// Puts an official CLI into the home's `bin` that answers what a setup asks, and nothing else.
pub fn createos(home: &Home, version: &str, signed_in: bool) {
    let list = match (signed_in, generation().as_str()) {
        (true, _) => "echo null",
        (false, "branch") => {
            "echo '{\"error\":{\"code\":\"unauthorized\",\"message\":\"your session has expired\"}}'; exit 1"
        }
        (false, _) => "echo ' ERROR  your session has expired'; exit 1",
    };
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n--version) echo 'createos version {version}';;\n\
         '-o json sandbox list --limit 1') {list};;\n\
         '-o json sandbox shapes') echo '[{{\"id\":\"s-1vcpu-1gb\"}},{{\"id\":\"s-2vcpu-4gb\"}}]';;\n\
         *) echo \"not in the contract: $*\" >&2; exit 97;;\nesac\n"
    );
    program(home, "bin/createos", &text);
}

/// Everything below `folder`: kind, mode, modification time in nanoseconds, contents. The stand-in's own
/// records are left out.
pub fn tree(folder: &Path) -> BTreeMap<String, String> {
    let shown = |entry: &Entry| {
        format!(
            "{:o} {:?} {}",
            entry.metadata.mode(),
            (entry.metadata.mtime(), entry.metadata.mtime_nsec()),
            entry.contents
        )
    };
    walk(folder).iter().map(|(name, entry)| (name.clone(), shown(entry))).collect()
}

/// As [`tree`], without times, and without the backups beside users' files, which stay for ever.
pub fn contents(folder: &Path) -> BTreeMap<String, String> {
    let shown = |entry: &Entry| format!("{:o} {}", entry.metadata.mode(), entry.contents);
    let is_backup = |name: &String| name.contains(".before-createos");
    walk(folder)
        .iter()
        .filter(|(name, _)| !is_backup(name))
        .map(|(name, entry)| (name.clone(), shown(entry)))
        .collect()
}

/// Herdr keeps the folders of a plugin that it has once seen: then they are there before.
pub fn seen_once(home: &Home, herdr: &Herdr<'_>) {
    let manifest =
        "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n";
    home.write("earlier/herdr-plugin.toml", manifest);
    let _ = herdr.run(&["plugin", "link", "earlier"]).success();
    let _ = herdr.run(&["plugin", "uninstall", "createos.sandbox"]).success();
}

struct Entry {
    metadata: std::fs::Metadata,
    contents: String,
}

fn walk(folder: &Path) -> BTreeMap<String, Entry> {
    fn into(root: &Path, folder: &Path, seen: &mut BTreeMap<String, Entry>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root).expect("below").display().to_string();
            if name == ".herdr-stand-in" {
                continue;
            }
            let metadata = std::fs::symlink_metadata(&path).expect("metadata");
            let contents = if metadata.is_symlink() {
                format!("-> {}", std::fs::read_link(&path).expect("a link").display())
            } else if metadata.is_file() {
                format!(
                    "{:?}",
                    std::fs::read(&path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
                )
            } else {
                String::new()
            };
            if metadata.is_dir() {
                into(root, &path, seen);
            }
            seen.insert(name, Entry { metadata, contents });
        }
    }
    let mut seen = BTreeMap::new();
    into(folder, folder, &mut seen);
    seen
}

/// Puts a git of a fixed version into the home's `bin`, for text that shows it.
pub fn fixed_git(home: &Home) {
    program(home, "bin/git", "#!/bin/sh\necho 'git version 2.47.3'\n");
}

/// The text with what differs from machine to machine replaced. Whether boxes are isolated here does, and
/// with it how many checks ended how.
pub fn plain(home: &Home, text: &str) -> String {
    let home = home.path().to_str().expect("a plain path");
    let text = text.replace(home, "~").replace(std::env::consts::ARCH, "ARCH").replace("macOS", "Linux");
    let mut kept = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.contains("local-sandbox") {
            lines.next_if(|next| next.trim_start().starts_with("fix:"));
        } else if !line.ends_with("Nothing was changed.") || line.starts_with("Nothing") {
            kept.push_str(&format!("{line}\n"));
        }
    }
    kept
}

pub const CONFIG: &str = ".config/herdr/config.toml";
pub const SETTINGS: &str = ".config/herdr/plugins/config/createos.sandbox/config.json";
pub const BUNDLE: &str = ".local/share/createos-sandbox/herdr-plugin";
