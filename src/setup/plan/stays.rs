//! What stays when a setup is taken back, each with the command that removes it.

use super::backup;
use crate::command::{self, Command};
use crate::keys::{self, PluginEntry};
use crate::paths::Paths;
use crate::setup::change::{Change, Line};
use crate::setup::observe::Observed;
use crate::setup::plan::Plan;
use crate::setup::receipt::{Receipt, UserFile};
use crate::setup::shim;
use std::path::{Path, PathBuf};

/// Everything that is there afterwards and would not be without this program, but for the program itself.
pub(in crate::setup) fn after(
    plan: &Plan,
    receipt: &Receipt,
    observed: &Observed,
    paths: &Paths,
) -> Vec<Line> {
    let mut lines = Vec::new();
    let keys = files(UserFile::Keys, receipt, &observed.keys.path);
    let configs = files(UserFile::Config, receipt, &observed.config.path);
    for path in &keys {
        if let Some(text) = text_after(plan, path) {
            lines.extend(bindings(&text, path, paths));
        }
    }
    for path in &configs {
        let was_there = receipt.files.iter().any(|file| file.path == *path && file.original.is_some());
        if text_after(plan, path).is_some() && !was_there {
            let rest = format!("settings that somebody chose; remove it with: {}", rm(path));
            lines.push(keep(paths.show(path), rest));
        }
    }
    for copy in keys.iter().chain(&configs).flat_map(|path| backup::all(path)) {
        let rest = format!("a copy from before a setup; remove it with: {}", rm(&copy));
        lines.push(keep(paths.show(&copy), rest));
    }
    let state = paths.plugin_state();
    if holds_something(&state) {
        let rest = format!(
            "what the actions remember, kept patches among it; remove it with: {}",
            command::program("rm", ["-r"]).path(&state)
        );
        lines.push(keep(paths.show(&state), rest));
    }
    for name in local_boxes(paths) {
        let command = command::own(["local", "sandbox", "rm", "--yes"]).on(&name);
        lines.push(keep(format!("local box {name}"), format!("delete it with: {command}")));
    }
    if shim::state(paths, &std::env::var_os("PATH").unwrap_or_default()) != shim::ShimState::Absent {
        lines.push(keep(
            "the link named createos".into(),
            format!("remove it with: {}", command::own(["shim", "remove"])),
        ));
    }
    lines
}

fn rm(path: &Path) -> Command {
    command::program("rm", []).path(path)
}

fn keep(thing: String, rest: String) -> Line {
    Line::new("keep", thing, rest)
}

/// The files of a kind: those that setups wrote, and the one that is read now.
fn files(what: UserFile, receipt: &Receipt, now: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        receipt.files.iter().filter(|file| file.what == what).map(|file| file.path.clone()).collect();
    if !paths.iter().any(|path| path == now) {
        paths.push(now.to_path_buf());
    }
    paths
}

/// A file's bytes once the plan is carried out; none when it is not there then, or cannot be read.
fn text_after(plan: &Plan, path: &Path) -> Option<Vec<u8>> {
    let planned = plan.changes.iter().find_map(|change| match change {
        Change::File(file) if file.path == path => Some(file.after.clone()),
        _ => None,
    });
    planned.unwrap_or_else(|| crate::fs::read_regular(path).ok())
}

/// The bindings of our actions that stay, and how their lines are taken out.
fn bindings(text: &[u8], path: &Path, paths: &Paths) -> Vec<Line> {
    let stay = keys::entries_of_the_plugin(text).unwrap_or_default();
    let line = |entry: PluginEntry| {
        let how = match entry.last_line {
            Some(last) => {
                let lines = format!("{},{last}d", entry.line);
                format!("take it out with: {}", command::program("sed", ["-i.bak", &lines]).path(path))
            }
            None => "take it out of its list by hand".into(),
        };
        keep(
            format!("{}, line {}", paths.show(path), entry.line),
            format!("your own binding of {} stays; {how}", entry.command),
        )
    };
    // From the bottom, so that the numbers of those above still hold when the commands are typed one after the other.
    stay.into_iter().rev().map(line).collect()
}

fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// The boxes on this machine, by their ids.
fn local_boxes(paths: &Paths) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(paths.boxes()) else { return Vec::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("sb-")).collect();
    names.sort();
    names
}
