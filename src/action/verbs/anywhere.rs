//! `start`, `attach` and `boxes` in any terminal: the journey of the actions, with this terminal as the pane.

use super::boxes;
use crate::action::mapping::{
    ActionContext, Wanted, choose, installation_of, ours, ready, reservation, start_one, title, wishes,
};
use crate::action::pane::agent::{Anew, bring_back};
use crate::action::pane::here::show_here;
use crate::action::pane::include;
use crate::action::pane::provision::{Making, make};
use crate::cli::StartHereArgs;
use crate::command;
use crate::config::{Agent, ProviderKind, Settings, judged_arg};
use crate::createos::{Refusal, Status};
use crate::error::{Error, IoContext, Result};
use crate::exit::Exit;
use crate::fs::{Mode, write_atomic};
use crate::state::{Phase, Record, Recorded};
use crate::ui;
use crate::worktree::Worktree;
use std::path::Path;

/// Starts an agent in a box of the worktree, or goes on with the one that is there.
///
/// # Errors
/// There is no terminal, no worktree, or anything that keeps the agent from running.
pub(crate) fn start(context: &ActionContext, args: &StartHereArgs) -> Result<Exit> {
    need_terminal("start")?;
    let worktree = context.worktree()?;
    for arg in &args.args {
        judged_arg(arg).map_err(Error::usage)?;
    }
    let settings = Settings::load(&context.config_file())?;
    let asked = args.agent.as_deref().map(str::parse).transpose()?;
    let agent = match asked {
        Some(agent) => agent,
        None => wishes(context, worktree.root())?.config.agent,
    };
    let named = args.provider.as_deref().map(str::parse).transpose()?;
    if !args.new
        && let Some(record) = living(context, worktree.root(), agent, named)?
    {
        return show(context, &record, Anew { more: &args.args, fresh: false });
    }
    let provider = match named.or(settings.provider) {
        Some(kind) => kind,
        None => ask_provider(context)?,
    };
    let _is_there = context.provider(provider)?;
    new_box(context, &worktree, asked, provider, &args.args)
}

/// Shows a box in this terminal. `fresh`: an agent that has to start again begins a conversation.
///
/// # Errors
/// There is no terminal, no box, or it cannot be brought back.
pub(crate) fn attach(context: &ActionContext, fresh: bool) -> Result<Exit> {
    need_terminal("attach")?;
    show(context, &choose(context)?.record, Anew { more: &[], fresh })
}

/// The list of every box; one that is chosen is shown here.
///
/// # Errors
/// No provider can be asked, or the chosen box cannot be brought back.
pub(crate) fn boxes(context: &ActionContext) -> Result<Exit> {
    match boxes::boxes(context)? {
        Some(record) => show(context, &ready(record)?, Anew::default()),
        None => Ok(Exit::DONE),
    }
}

fn need_terminal(verb: &str) -> Result<()> {
    if ui::is_on_terminal() {
        return Ok(());
    }
    Err(Error::usage(format!("{verb} shows an agent, and here is no terminal"))
        .help(format!("type it in a terminal: {}", command::own([verb])))
        .help(format!("to run one command in a box, see: {}", command::own(["cos", "--help"]))))
}

fn show(context: &ActionContext, record: &Record, anew: Anew<'_>) -> Result<Exit> {
    // A pane, or another terminal, may have it: then both show the same.
    let _owned = context.store.own_record(&record.id)?;
    ui::paragraph(format!("{} in {}: bringing it back …", title(record), record.name));
    let brought = bring_back(context, &record.id, anew)?;
    if !anew.more.is_empty() && record.process.as_ref() == Some(&brought.process) {
        ui::paragraph("  note: the agent runs already, so what stands behind -- was not given to it");
    }
    show_here(context, &record.id)
}

/// The newest box of this worktree and agent that can be shown; of this provider, if one was named.
///
/// # Errors
/// One is being made, or its provider cannot be asked.
fn living(
    context: &ActionContext,
    root: &Path,
    agent: Agent,
    named: Option<ProviderKind>,
) -> Result<Option<Record>> {
    let state = context.store.read()?;
    let is_meant = |record: &&Record| {
        record.worktree == root
            && record.agent == Recorded::Known(agent)
            && named.is_none_or(|kind| record.provider == kind)
    };
    for record in state.records.iter().rev().filter(is_meant) {
        let another = command::own(["start"]).word(agent.name()).flag("--new");
        if record.phase == Phase::Starting && context.store.is_record_owned(&record.id)? {
            let error =
                Error::failed(format!("{} is already starting in box {}", title(record), record.name));
            return Err(error
                .help("wait for it, then run this again")
                .help(format!("make another one: {another}")));
        }
        if record.phase != Phase::Ready {
            continue;
        }
        let remote = context.remote(record)?;
        match remote.provider.get(&remote.id) {
            Ok(view) if matches!(view.status, Status::Failed | Status::Destroying | Status::Destroyed) => {}
            Ok(_) => return Ok(Some(record.clone())),
            Err(failure)
                if failure.refusal == Refusal::NotFound
                    && remote.provider.is_gone(&remote.id, &ours(context))? =>
            {
                context.store.forget(record)?;
            }
            Err(failure) => {
                return Err(Error::from(failure)
                    .fact("box", record.name.to_string())
                    .help(format!("make another one: {another}")));
            }
        }
    }
    Ok(None)
}

/// Asks who makes the boxes, once: the answer is kept in `config.json`.
fn ask_provider(context: &ActionContext) -> Result<ProviderKind> {
    if cfg!(not(target_os = "linux")) {
        // There is no choice.
        return Ok(ProviderKind::Createos);
    }
    ui::paragraph(
        "Where do boxes run? A local box is on this machine and costs nothing; its wall is the kernel's. A CreateOS box \
         is a microVM of your account, which is billed while it runs.",
    );
    let kind = match ui::pick("l local, c CreateOS", &['l', 'c'])? {
        Some('l') => ProviderKind::Local,
        Some(_) => ProviderKind::Createos,
        None => {
            return Err(Error::failed("nothing was started: it is not known who makes the box").help(
                format!("say it: {}", command::own(["start"]).with("--provider", ProviderKind::Local.word())),
            ));
        }
    };
    let path = context.config_file();
    // As it is now: the question may have waited.
    let settings = Settings { provider: Some(kind), ..Settings::load(&path)? };
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).at("create the folder", folder)?;
    }
    write_atomic(&path, settings.to_json().as_bytes(), Mode::Private)?;
    ui::paragraph(format!("kept as \"provider\" in {}\n", context.paths.show(&path)));
    Ok(kind)
}

fn new_box(
    context: &ActionContext,
    worktree: &Worktree,
    agent: Option<Agent>,
    provider: ProviderKind,
    more: &[String],
) -> Result<Exit> {
    // What is said to the repository's word decides what is wanted.
    include::ask_before_start(context, worktree)?;
    let wishes = wishes(context, worktree.root())?;
    let wanted = Wanted { agent: agent.unwrap_or(wishes.config.agent), provider };
    let mut record = reservation(context, worktree, &wishes, wanted)?;
    // Before anybody can see the record: one without an owner is finished by the next action.
    let owned = context.store.own_record(&record.id)?;
    let owned = owned.ok_or_else(|| Error::failed("another start has the same id").help("run it again"))?;
    context.store.edit(|state| {
        state.installation.clone_from(&installation_of(&record.name));
        state.records.push(record.clone());
    })?;
    match make(context, &mut record, owned, more)? {
        Making::Ready(_owned) => show_here(context, &record.id),
        Making::Stopped => {
            ui::note(format!("stopped: box {} is being deleted", record.name));
            Ok(Exit::INTERRUPTED)
        }
        Making::Failed(error) => {
            context.store.edit(|state| {
                state.records.retain(|kept| kept.id != record.id || kept.phase != Phase::Failed);
            })?;
            Err(error.help(start_one("start again")))
        }
    }
}
