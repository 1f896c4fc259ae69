//! `sync`: a pane below in which the provider keeps worktree and remote root in step.

use crate::action::mapping::{ActionContext, RECORD, choose, program, run_box};
use crate::action::pane::include;
use crate::action::report::{Notice, Report};
use crate::createos::BoxId;
use crate::error::{Error, IoContext, Result};
use crate::exec::{Ended, Run};
use crate::fs::{Lock, Mode, write_atomic};
use crate::herdr::Place;
use crate::journey::ProviderBox;
use crate::state::{Record, now};
use crate::worktree::{Worktree, sync_patterns};
use crate::{command, ui};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Opens the pane, a quarter high, without the focus.
///
/// # Errors
/// There is no box, it cannot be synced, or the pane cannot be opened.
pub(crate) fn sync(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let record = &chosen.record;
    let (remote, _) = syncable(context, record)?;
    run_box(context, record, &remote)?;
    let above = context.need_focus()?.id.clone();
    let env = [(RECORD, record.id.as_str())];
    let pane = context.herdr.open_plugin_pane("sync", Place::Below(&above), Some(&record.worktree), &env)?;
    let pane = pane.map(|pane| pane.id);
    // Half of the height is Herdr's default for a split; the sync runs all the same.
    if let Err(error) = context.herdr.grow_down(&above, 0.25) {
        ui::note(format!("warning: the pane keeps half of the height: {error}"));
    }
    Ok(Report::new(format!(
        "files of box {} and {} are kept in step{}",
        record.name,
        context.paths.show(&record.worktree),
        chosen.why()
    ))
    .field("box", record.name.as_str())
    .field("pane", pane.as_ref().map_or("", |pane| pane.as_str()))
    .notice(Notice::Nothing))
}

/// The box, and the key that goes into it.
fn syncable(context: &ActionContext, record: &Record) -> Result<(ProviderBox, PathBuf)> {
    if !record.provider.has().sync {
        return Err(Error::failed(format!(
            "box {} is on this machine, and boxes on this machine have no file sync",
            record.name
        ))
        .help(format!(
            "bring its work home with the apply key, or: {}",
            command::action("apply").on(&record.name)
        )));
    }
    let remote = context.remote(record)?;
    Ok((remote, sync_key(context)?))
}

/// # Errors
/// The pane has no record, another sync runs, or the provider's sync ends with an error.
pub(crate) fn pane(context: &ActionContext) -> Result<()> {
    let record = context
        .named_record()
        .ok_or_else(|| Error::failed("this pane was not opened by sync").help("press the sync key again"))?;
    let (remote, key) = syncable(context, &record)?;
    let _only = Lock::try_take(&context.store.folder().join("sync.lock"))?.ok_or_else(|| {
        Error::failed("another file sync runs; two at once disturb each other")
            .help("stop it first with Ctrl-C")
    })?;
    let excludes = excludes(context, &record)?;
    let [worktree, shown_key] = [&record.worktree, &key].map(|path| context.paths.show(path));
    ui::paragraph(format!(
        "File sync: {worktree} and {} in {}\n\n  \
         key         {shown_key}.pub goes into the box; it is for file sync alone\n  \
         stay home   {} patterns, among them what a scan found just now\n  \
         warning     contents are not scanned while this runs: a secret in a new file goes into the box\n  \
         note        Mutagen may be downloaded the first time, and its daemon is restarted\n\n\
         Ctrl-C stops it.\n",
        record.remote_root,
        record.name,
        excludes.len()
    ));
    let local = record.worktree.to_string_lossy().into_owned();
    let key = key.to_string_lossy();
    let root = record.remote_root.to_string();
    let mut words = vec!["sync", "--local", &local, "--remote", &root, "--mode", "two-way"];
    words.extend(["--yes", "-i", &key]);
    for pattern in &excludes {
        words.extend(["--exclude", pattern]);
    }
    words.push(remote.id.as_str());
    // Ctrl-C is the child's; we stay to say how it ended, unless that was wished.
    let stopped = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        let _ignored = signal_hook::flag::register(signal, Arc::clone(&stopped));
    }
    let began = now();
    let ended = remote.provider.watched(words).run();
    end_sessions(context.paths.home(), &remote.id, began);
    match ended?.code() {
        0 => Ok(()),
        _ if stopped.load(Ordering::Relaxed) => Ok(()),
        code => Err(Error::failed(format!("file sync ended with exit code {code}"))
            .help("read what it said above, then press the sync key again")),
    }
}

/// Everything that stays home, as patterns.
fn excludes(context: &ActionContext, record: &Record) -> Result<Vec<String>> {
    let config = context.config()?;
    let worktree = Worktree::discover(&context.git()?, &record.worktree)?;
    let rules = include::rules(&config, &context.store, worktree.root())?;
    let own = config.sync_excludes.iter().map(|exclude| exclude.as_str()).chain([".git"]);
    sync_patterns(&worktree, &rules, own.map(str::to_owned))
}

/// The file of the private key, mode 0600 in the state folder; the public one lies beside it as `.pub`.
///
/// The official CLI appends a public key to `authorized_keys` in the box, and needs a pair without a passphrase
/// (docs/measured/createos-cli.md 3.9): a person's own key is often neither meant for a box nor open.
///
/// # Errors
/// There is no ssh-keygen, it cannot make a pair, or the one that is there cannot be used.
fn sync_key(context: &ActionContext) -> Result<PathBuf> {
    let keygen = program::find("ssh-keygen", &context.paths).map_err(|error| {
        error.help("file sync needs OpenSSH: install its client, with ssh and ssh-keygen")
    })?;
    let folder = context.store.folder();
    let _one_makes_it = Lock::wait(&folder.join("sync-key.lock"))?;
    let key = folder.join("sync-key");
    if key.symlink_metadata().is_err() {
        make_key(&keygen, &folder.join("sync-key.new"), &key)?;
    }
    let opened = keygen_with(&keygen, &["-y", "-P", "", "-f"], &key)?;
    if !opened.success() {
        let shown = context.paths.show(&key);
        return Err(Error::failed(format!("the key of file sync cannot be used: {}", opened.stderr_text()))
            .help(format!("delete it, and the next sync makes another: rm {shown}")));
    }
    let public = folder.join("sync-key.pub");
    if crate::fs::read_regular(&public).ok().as_ref() != Some(&opened.stdout) {
        write_atomic(&public, &opened.stdout, Mode::Shared)?;
    }
    Ok(key)
}

/// Makes the pair under another name first: what is cut short leaves no half of one.
fn make_key(keygen: &Path, staged: &Path, key: &Path) -> Result<()> {
    let public = staged.with_extension("new.pub");
    for left in [staged, &public] {
        let _none_is_left = std::fs::remove_file(left);
    }
    let made =
        keygen_with(keygen, &["-q", "-t", "ed25519", "-N", "", "-C", "createos-sandbox sync", "-f"], staged)?;
    if !made.success() {
        return Err(Error::failed(format!("no key for file sync could be made: {}", made.stderr_text()))
            .help("see what is wrong with: ssh-keygen -t ed25519 -N '' -f /tmp/key"));
    }
    let _written_anew_from_the_key = std::fs::remove_file(&public);
    std::fs::rename(staged, key).at("rename", staged)
}

fn keygen_with(keygen: &Path, words: &[&str], key: &Path) -> Result<Ended> {
    Ok(Run::new(keygen).args(words).arg(key).cwd("/").run()?)
}

/// A line for each session: its identifier and its name.
const TEMPLATE: &str = "{{range .}}{{.Identifier}} {{.Name}}{{\"\\n\"}}{{end}}";
/// Mutagen's daemon answers at once, or not at all.
const LIMIT: Duration = Duration::from_secs(10);

/// The official CLI's file sync leaves Mutagen sessions behind, which go on by themselves after Ctrl-C
/// (docs/measured/createos-cli.md 3.9). Terminates those of this box that were begun between `began` and now. Those of another sync, of another box or
/// of a person stay. Where there is no Mutagen, there are none.
fn end_sessions(home: &Path, id: &BoxId, began: u64) {
    let Some(mutagen) = mutagen(home) else { return };
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
fn mutagen(home: &Path) -> Option<PathBuf> {
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let own = config.unwrap_or_else(|| home.join(".config")).join("createos/bin/mutagen");
    which::which("mutagen").ok().or_else(|| own.is_file().then_some(own))
}

/// The identifiers of the sessions `createos-<id>-<seconds>` that began in this time.
fn ours<'a>(listed: &'a str, id: &BoxId, time: RangeInclusive<u64>) -> impl Iterator<Item = &'a str> {
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
