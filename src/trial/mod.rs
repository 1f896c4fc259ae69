//! `try`: an agent's work in a local box and home again, without an account and without Herdr.

mod agent;
mod source;
mod stage;

use crate::cli::TryArgs;
use crate::config::{Network, RemoteRoot};
use crate::createos::{BoxId, BoxName, CreateSpec};
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::journey::{ProviderBox, Upload};
use crate::merge::{Ledger, OnClash, Outcome};
use crate::ui::Toned;
use crate::worktree::{self, Packed, Rules, Selection, Worktree};
use crate::{command, local, random, ui};
use stage::{Interrupt, Stage};
use std::path::Path;

/// How many names of files that stayed home are shown.
const NAMED: usize = 3;

/// Runs the whole loop in a temporary folder; nothing of it is left, whatever happens.
///
/// # Errors
/// The step that failed, or why no box can be isolated here (exit code 2).
pub(crate) fn run(args: &TryArgs) -> Result<Exit> {
    let interrupt = Interrupt::listen()?;
    match steps(args, &interrupt) {
        Err(_) if interrupt.raised() => {
            if !interrupt.left_something() {
                ui::note("interrupted: the box and every file of this try are gone");
            }
            Ok(Exit::INTERRUPTED)
        }
        result => result.map(|()| Exit::DONE),
    }
}

fn steps(args: &TryArgs, interrupt: &Interrupt) -> Result<()> {
    let git = which::which("git").map_err(|_| {
        Error::cannot_run("git is not on PATH").help("install git 2.31 or newer, then run this again")
    })?;
    let given = args.worktree.as_deref().map(|folder| open(&git, folder, interrupt)).transpose()?;
    ui::line("createos-sandbox try: an agent's work in a box and home again, on this machine\n");
    let mut steps = ui::Steps::new(&["isolate", "worktree", "create", "upload", "agent", "apply", "delete"]);

    local::probe()?;
    interrupt.check()?;
    steps.done("isolate", "own user, files, processes and network: works here");

    let stage = Stage::set(interrupt)?;
    let (source, made_up) = match given {
        Some(worktree) => (worktree, false),
        None => (source::made_up(&git, &stage.path().join("worktree"), interrupt)?, true),
    };
    let selection = worktree::select(&source, &Rules::default())?;
    interrupt.check()?;
    steps.done("worktree", &describe(&selection, made_up));

    let root = RemoteRoot::default();
    let (id, name) = create(&stage)?;
    interrupt.check()?;
    steps.done("create", &name);

    let mut upload =
        Upload::pack(&selection, stage.path(), u64::MAX, interrupt.flag(), &String::new, &mut |_, _| {})?;
    let home = match made_up {
        true => source.root().to_path_buf(),
        false => source::copy(&git, upload.archive()?, &stage.path().join("copy"), interrupt)?,
    };
    let mut remote = ProviderBox::new(stage.provider().clone(), id.clone());
    let ledger = Ledger::new(stage.path().join("ledger"));
    upload.push(&mut remote, &mut |_| {})?;
    upload.prepare(&mut remote, &root, &ledger, None, &mut |_| {})?;
    interrupt.check()?;
    let packed = &upload.packed;
    steps.done("upload", &left(packed));

    agent::work(stage.provider(), &id, &root, &agent::edited(&packed.base, made_up), interrupt)?;
    interrupt.check()?;
    steps.done("agent", "typed an edit and a commit on its terminal");

    let (summary, patch) = bring_home(&git, &mut remote, &root, &home, packed, &ledger)?;
    interrupt.check()?;
    steps.done("apply", &summary);

    stage.strike()?;
    steps.done("delete", "the box and every file of this try are gone");

    ui::line("");
    for line in patch {
        ui::line(line.styled(true));
    }
    ui::line("");
    ui::line(format!(
        "Done in {}. The commit above was made in the box and came home as a patch.",
        ui::seconds(steps.elapsed())
    ));
    ui::line(format!("Next, with boxes on this machine: {}", command::setup().with("--provider", "local")));
    ui::line(format!("or, with CreateOS microVMs: {}", command::setup()));
    if which::which("createos-sandbox").is_err() {
        ui::line("It is not on PATH yet; in a checkout, ./install.sh comes first.");
    }
    Ok(())
}

/// Somebody's worktree, which is only read.
fn open(git: &Path, folder: &Path, interrupt: &Interrupt) -> Result<Worktree> {
    if !folder.is_dir() {
        return Err(Error::usage(format!("there is no folder {}", folder.display()))
            .help(format!("name a git worktree: {}", command::own(["try"]).with("--worktree", "DIR"))));
    }
    Worktree::discover_until(git, folder, Some(interrupt.flag()))
}

fn describe(selection: &Selection, made_up: bool) -> String {
    let total = selection.files().len() + selection.stayed.len();
    match made_up {
        true => format!("a made-up repository of {}", ui::count(total as u64, "file")),
        false => ui::count(total as u64, "file"),
    }
}

/// A box without any network, named so that a list of boxes explains it.
fn create(stage: &Stage) -> Result<(BoxId, String)> {
    let name: BoxName = format!("hd-try-{}", random::letters(5))
        .parse()
        .map_err(|error| Error::failed(format!("the box got no name: {error}")))?;
    let id = stage.provider().create(&CreateSpec {
        name: name.clone(),
        shape: "s-2vcpu-4gb".into(),
        rootfs: None,
        auto_pause: None,
        egress: Vec::new(),
        env: Vec::new(),
        network: Network::None,
        nested: false,
    })?;
    Ok((id, name.to_string()))
}

fn left(packed: &Packed) -> String {
    let mut text = format!("{}, {}", ui::count(packed.files, "file"), ui::bytes(packed.bytes));
    if !packed.stayed.is_empty() {
        let names: Vec<_> = packed
            .stayed
            .iter()
            .take(NAMED)
            .map(|stayed| ui::visible_line(&stayed.path.to_string_lossy()))
            .collect();
        let more = if packed.stayed.len() > NAMED { ", …" } else { "" };
        text += &format!("; {} stayed home: {}{more}", packed.stayed.len(), names.join(", "));
    }
    text
}

fn bring_home(
    git: &Path,
    remote: &mut ProviderBox,
    root: &RemoteRoot,
    home: &Path,
    packed: &Packed,
    ledger: &Ledger,
) -> Result<(String, Vec<Toned>)> {
    let proposal = remote.propose(root, home, &packed.base, git, &Rules::default(), OnClash::Refuse)?;
    let patch = proposal.patch_lines()?;
    let applied = proposal.apply(remote, ledger)?;
    if applied.outcome != Outcome::Applied {
        return Err(Error::failed("the commit did not come home").fact("result", applied.outcome.word()));
    }
    let summary = format!(
        "the commit came home: {}, +{} -{}",
        ui::count(applied.files as u64, "file"),
        applied.lines.insertions,
        applied.lines.deletions
    );
    Ok((summary, patch))
}
