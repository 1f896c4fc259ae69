//! What the official CLI's file sync leaves behind: Mutagen sessions, which go on by themselves after Ctrl-C
//! (docs/measured/createos-cli.md 3.9).

use crate::command;
use crate::createos::BoxId;
use crate::exec::Run;
use crate::state::now;
use crate::ui;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A line for each session: its identifier and its name.
const TEMPLATE: &str = "{{range .}}{{.Identifier}} {{.Name}}{{\"\\n\"}}{{end}}";
/// Mutagen's daemon answers at once, or not at all.
const LIMIT: Duration = Duration::from_secs(10);

/// Terminates the sessions of this box that were begun between `began` and now. Those of another sync, of another box or
/// of a person stay. Where there is no Mutagen, there are none.
pub(crate) fn end_sessions(home: &Path, id: &BoxId, began: u64) {
    let Some(mutagen) = program(home) else { return };
    let listed =
        Run::new(&mutagen).args(["sync", "list", "--template", TEMPLATE]).cwd("/").limit(LIMIT).run();
    let Ok(listed) = listed else { return };
    for session in ours(&listed.stdout_text(), id, began..=now() + 1) {
        let ended = Run::new(&mutagen).args(["sync", "terminate", session]).cwd("/").limit(LIMIT).run();
        if !ended.is_ok_and(|ended| ended.success()) {
            let end = command::program("mutagen", ["sync", "terminate", session]);
            ui::note(format!("warning: a Mutagen session of this file sync goes on; end it with: {end}"));
        }
    }
}

/// Mutagen as the official CLI finds it: on PATH, else where it has put its own (docs/measured/createos-cli.md 5.3,
/// 3.9).
fn program(home: &Path) -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let own = config.unwrap_or_else(|| home.join(".config")).join("createos/bin/mutagen");
    which::which("mutagen").ok().or_else(|| own.is_file().then_some(own))
}

/// The identifiers of the sessions `createos-<id>-<seconds>` that began in this time.
fn ours<'a>(
    listed: &'a str,
    id: &BoxId,
    time: std::ops::RangeInclusive<u64>,
) -> impl Iterator<Item = &'a str> {
    let prefix = format!("createos-{id}-");
    listed.lines().filter_map(move |line| {
        let (identifier, name) = line.split_once(' ')?;
        let seconds: u64 = name.trim().strip_prefix(&prefix)?.parse().ok()?;
        let is_plain = identifier.starts_with(|c: char| c.is_ascii_alphanumeric())
            && identifier.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_plain && time.contains(&seconds)).then_some(identifier)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sessions_of_this_box_that_began_meanwhile_are_ours() {
        let listed = "sync_a createos-sb-1-100\nsync_b createos-sb-1-99\nsync_c createos-sb-1-201\n\
                      sync_d createos-sb-12-150\nsync_e mine\nsync_f createos-sb-1-200\n--all createos-sb-1-150\n";
        let id = "sb-1".parse().unwrap();
        assert_eq!(ours(listed, &id, 100..=200).collect::<Vec<_>>(), ["sync_a", "sync_f"]);
    }
}
