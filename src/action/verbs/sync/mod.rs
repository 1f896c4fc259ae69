//! `sync`: a pane below in which the provider keeps worktree and remote root in step.

mod key;
mod sessions;

use self::key::sync_key;
use crate::action::mapping::context::ActionContext;
use crate::action::mapping::context::RECORD;
use crate::action::mapping::running::run_box;
use crate::action::mapping::which::choose;
use crate::action::pane::include;
use crate::action::report::{Notice, Report};
use crate::command;
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::herdr::Place;
use crate::journey::ProviderBox;
use crate::state::{Record, now};
use crate::ui;
use crate::worktree::{Worktree, sync_patterns};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens the pane, a quarter high, without the focus.
///
/// # Errors
/// There is no box, it cannot be synced, or the pane cannot be opened.
pub(crate) fn sync(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let record = &chosen.record;
    let (remote, _) = syncable(context, record)?;
    run_box(context, record, &remote.provider, &remote.id)?;
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
        if chosen.by_worktree { " (the only box of this worktree)" } else { "" }
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
    ui::paragraph(format!(
        "File sync: {} and {} in {}\n",
        context.paths.show(&record.worktree),
        record.remote_root,
        record.name
    ));
    ui::paragraph(format!(
        "  key         {}.pub goes into the box; it is for file sync alone",
        context.paths.show(&key)
    ));
    ui::paragraph(format!(
        "  stay home   {} patterns, among them what a scan found just now",
        excludes.len()
    ));
    ui::paragraph(
        "  warning     contents are not scanned while this runs: a secret in a new file goes into the box",
    );
    ui::paragraph("  note        Mutagen may be downloaded the first time, and its daemon is restarted");
    ui::paragraph("\nCtrl-C stops it.\n");
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
    sessions::end_sessions(context.paths.home(), &remote.id, began);
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
