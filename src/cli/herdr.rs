//! `createos-sandbox herdr …`: the plugin's actions.

use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;

/// One action each; Herdr calls them by key, a person may call them in a pane.
#[derive(Debug, Subcommand)]
pub(crate) enum HerdrCommand {
    /// Start an agent in a new box, in a pane beside this one
    Start(StartArgs),
    /// Choose an agent in a popup, and start it in a new box
    StartMenu,
    /// Resume the pane's box if it is paused, and reattach its agent
    Attach(ReattachArgs),
    /// Keep worktree and box in step in a pane below, until you stop it
    Sync(Which),
    /// What is done with a box.
    #[command(flatten)]
    Of(BoxCommand),
    /// Show what start uploads from this worktree and what stays home, or write the archive to a file
    Upload(UploadArgs),
    /// Every box, redrawn every five seconds; Enter attaches to one, d deletes one of ours
    Boxes,
    /// Delete our own boxes that nothing here needs any more; asks first
    Prune(PruneArgs),
    /// Keep boxes tied to their panes when panes move and after Herdr's start (Herdr calls this)
    #[command(skip)]
    Reconcile,
    /// Finish a start that nobody owns any more (we call this ourselves): the record's id
    #[command(skip)]
    Cleanup(String),
    /// The process of the pane that start opens (Herdr calls this)
    #[command(skip)]
    Provision,
    /// The process of the pane that sync opens (Herdr calls this)
    #[command(skip)]
    SyncPane,
    /// The pane that review opens after a key (Herdr calls this)
    #[command(skip)]
    ReviewPane,
    /// A popup that shows a message (Herdr calls this)
    #[command(skip)]
    Message,
    /// A popup that asks before a delete (Herdr calls this)
    #[command(skip)]
    AskDelete,
    /// A popup that asks about `.worktreeinclude` (Herdr calls this)
    #[command(skip)]
    AskTrust,
    /// The popup of the start menu (Herdr calls this)
    #[command(skip)]
    AskAgent,
    /// The names of the boxes that are recorded here, a line each (completions call this)
    #[command(skip)]
    BoxNames,
    /// A program on a terminal of ours, between it and the pane (we call this ourselves)
    #[command(skip)]
    Relay {
        /// So many bytes of what it shows first have been shown before; none of them: all is new.
        old: Option<u64>,
        /// The program and its arguments.
        argv: Vec<OsString>,
    },
}

/// What is done with a box, for a pane of Herdr as in any terminal.
#[derive(Debug, Subcommand)]
pub(crate) enum BoxCommand {
    /// Bring the box's new work into the worktree
    Apply(ApplyArgs),
    /// Show what the box would change here, and apply it on y
    Review(Which),
    /// Take the last apply back, where its files are still as it left them
    Undo(UndoArgs),
    /// Pause the box: a snapshot is kept, nothing runs
    Pause(Which),
    /// Bring a paused box back
    Resume(Which),
    /// Show agent, box, status and paths
    Info(Which),
    /// Delete the box for ever; asks first, and names what is not here
    Delete(DeleteArgs),
}

/// Options of `herdr start`.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// This agent in place of that of config.json
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
}

/// Which box an action is for.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// A box by its name or id; without it the pane's, else the only one of this worktree
    #[arg(value_name = "BOX")]
    pub(crate) name: Option<String>,
}

/// Arguments of `attach`.
#[derive(Debug, Args)]
pub(crate) struct ReattachArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// An agent that has to start again begins anew, and does not go on with its conversation
    #[arg(long)]
    pub(crate) fresh: bool,
}

/// Arguments of `herdr apply`.
#[derive(Debug, Args)]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// What to do where you and the box changed the same; without it nothing is applied then
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) on_clash: Option<ClashArg>,
    /// Take all that the box did since its start, also what came home before and is not here any more
    #[arg(long)]
    pub(crate) again: bool,
    /// Apply although more than half of the files would be deleted here
    #[arg(long)]
    pub(crate) allow_deletions: bool,
    /// Change nothing here; write what the box did to this file, for git apply
    #[arg(long, value_name = "FILE", conflicts_with_all = ["on_clash", "allow_deletions"])]
    pub(crate) to_patch: Option<PathBuf>,
}

/// Arguments of `herdr undo`.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// List the applies that can be taken back, the next one first
    #[arg(long, conflicts_with = "keep_changed")]
    pub(crate) list: bool,
    /// Leave files that were changed since the apply as they are, and take the others back
    #[arg(long)]
    pub(crate) keep_changed: bool,
}

/// Arguments of `herdr delete`.
#[derive(Debug, Args)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Delete at once, if all of the box's work is proven to be here
    #[arg(long, conflicts_with = "discard")]
    pub(crate) yes: bool,
    /// Delete at once, whatever is lost
    #[arg(long)]
    pub(crate) discard: bool,
}

/// What becomes of files that both sides changed.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ClashArg {
    /// Both versions go into the file, with git's conflict marks; texts only
    Mark,
    /// Yours stays
    Mine,
    /// The box's replaces yours, until an undo
    Theirs,
}

/// Options of `herdr prune`.
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Do not ask; boxes with work that is not here stay
    #[arg(long)]
    pub(crate) yes: bool,
    /// With --yes: delete those, too
    #[arg(long, requires = "yes")]
    pub(crate) discard: bool,
    /// Also boxes that are in no pane
    #[arg(long)]
    pub(crate) orphans: bool,
}

/// Options of `herdr upload`.
#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// List what would leave, and why each other file stays
    #[arg(long, conflicts_with = "output")]
    pub(crate) dry_run: bool,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the archive (tar, gzip) to this file; - is stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The command lines by which Herdr and this program itself start the inner ends of actions. They are read here
/// and not by clap, which would propose them to people and complete them.
pub(super) fn own(args: &[OsString]) -> Option<HerdrCommand> {
    let [_, herdr, rest @ ..] = args else { return None };
    if let [relay, old, argv @ ..] = rest
        && herdr == "herdr"
        && relay == "relay"
    {
        let old = old.to_str().and_then(|old| old.parse().ok());
        return Some(HerdrCommand::Relay { old, argv: argv.to_vec() });
    }
    let words: Vec<&str> = rest.iter().map(|arg| arg.to_str()).collect::<Option<_>>()?;
    let command = match *words.as_slice() {
        ["reconcile"] => HerdrCommand::Reconcile,
        ["cleanup", record] => HerdrCommand::Cleanup(record.to_owned()),
        ["provision"] => HerdrCommand::Provision,
        ["sync-pane"] => HerdrCommand::SyncPane,
        ["review-pane"] => HerdrCommand::ReviewPane,
        ["message"] => HerdrCommand::Message,
        ["ask-delete"] => HerdrCommand::AskDelete,
        ["ask-trust"] => HerdrCommand::AskTrust,
        ["ask-agent"] => HerdrCommand::AskAgent,
        ["box-names"] => HerdrCommand::BoxNames,
        _ => return None,
    };
    (herdr == "herdr").then_some(command)
}
