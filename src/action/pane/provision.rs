//! `provision`: the process of the pane that `start` opens. Five visible steps, then the agent's terminal.

use super::agent::{Given, start_agent};
use super::create::{create, take_back};
use super::install::{self, Installed};
use super::label::{Shows, name_own};
use super::{holding, home, include, project, show, values};
use crate::action::mapping::{
    ActionContext, PERSONS_NAME, RECORD, RESTORED, UP, Wishes, detached, restore, title, wishes,
};
use crate::command;
use crate::config::{Agent, Config, Network, Project, RemoteRoot, Seed};
use crate::createos::Provider;
use crate::error::{Error, Result};
use crate::fs::Lock;
use crate::journey::{ProviderBox, Stop, Upload, deliver, plant};
use crate::merge::Ledger;
use crate::state::{Phase, Record, RecordId, StartOutcome};
use crate::ui::{self, Steps};
use crate::worktree::{self, Packed, Person, Reason, Selection, Worktree};
use std::time::Instant;

/// Runs in the plugin pane, from the record that its environment names.
///
/// # Errors
/// The pane has no record, or another process shows it. Everything later is shown on the screen.
pub(crate) fn provision(context: &ActionContext) -> Result<()> {
    let id: RecordId = std::env::var(RECORD).ok().and_then(|id| id.parse().ok()).ok_or_else(|| {
        Error::failed("this pane was not opened by a start or an attach")
            .help(format!("in Herdr press the start key, or run: {}", command::action("start")))
    })?;
    let lock =
        context.store.own_record(&id)?.ok_or_else(|| Error::failed("another pane shows this box already"))?;
    let record = context.store.read()?.record(&id).cloned().ok_or_else(|| {
        Error::failed("the record of this pane is gone")
            .fact("state", context.paths.show(context.store.folder()))
            .help(format!("see which boxes there are: {}", command::action("boxes")))
    })?;
    let pane = context.need_focus()?;
    // An attach may bring a box here that another session of Herdr has shown.
    context.store.edit(|state| state.bind(&id, &context.socket, pane))?;
    match record.phase {
        Phase::Ready => {
            let restored = std::env::var(RESTORED).ok();
            let _best_effort = match restored.as_deref().and_then(|value| value.strip_prefix(PERSONS_NAME)) {
                Some(name) => context.herdr.rename_pane(&pane.id, name).ok().map(|()| name.to_owned()),
                None => name_own(context, &record, Shows::Agent),
            };
            // An attach has opened this pane, and brings the agent back.
            if context.store.is_agent_locked(&id)? {
                ui::paragraph(format!("\n{} in {}: bringing it back …", title(&record), record.name));
                drop(context.store.lock_agent(&id)?);
            }
            match restored.is_some() {
                true => show::show_restored(context, &id, &lock),
                false => show::show(context, &id, &lock),
            }
        }
        Phase::Starting => new_box(context, record, lock),
        Phase::Failed | Phase::Leftover => Err(Error::failed("the start of this box has failed")),
    }
}

fn new_box(context: &ActionContext, mut record: Record, lock: Lock) -> Result<()> {
    record.label = name_own(context, &record, Shows::Agent);
    match make(context, &mut record, lock, &[])? {
        Making::Ready(lock) => show::show(context, &record.id, &lock),
        Making::Stopped => Ok(()),
        Making::Failed(error) => {
            ui::paragraph(format!("\n{}", ui::format_error(&error)));
            holding::failed(context, &record)
        }
    }
}

/// How the start of a box has ended.
pub(crate) enum Making {
    /// The agent runs; with the record's lock.
    Ready(Lock),
    /// The pane was closed, or Ctrl-C pressed: a clean-up of its own takes back what was made.
    Stopped,
    /// It failed, and what was made is taken back, or named.
    Failed(Error),
}

/// Makes the box of a reservation whose lock this process holds, and starts its agent, in sight. `more` is what that
/// is given this time only.
///
/// # Errors
/// The state cannot be read or written. What else fails is told by [`Making`].
pub(crate) fn make(
    context: &ActionContext,
    record: &mut Record,
    lock: Lock,
    more: &[String],
) -> Result<Making> {
    let id = record.id.clone();
    let stop = Stop::watch("the pane was closed", {
        let (store, id) = (context.store.folder().to_path_buf(), id.clone());
        move || detached::cleanup_at(&store, &id)
    })?;
    let result = include::ask_in_pane(context, record)
        .and_then(|()| Provision::new(context, record, &stop)?.run(more));
    if stop.raised() {
        // The clean-up already waits for our lock, and looks for the record then.
        if record.create_called {
            restore(context, record)?;
        }
        return Ok(Making::Stopped);
    }
    let error = match result.and_then(|outcome| tell_ready(context, &id, outcome)) {
        Ok(()) => return Ok(Making::Ready(lock)),
        Err(error) => error,
    };
    let (error, phase) = take_back(context, record, error)?;
    // Nothing is owned any more: what is left is the clean-up's, not this screen's.
    drop(lock);
    if stop.raised() {
        return Ok(Making::Stopped);
    }
    drop(stop);
    let goes_on = if phase == Phase::Leftover { detached::cleanup(context, &id) } else { Ok(()) };
    // One that could not be started is the next action's.
    let error = goes_on.err().iter().fold(error, |error, why| error.fact("clean-up", why.message()));
    Ok(Making::Failed(error))
}

/// Turns the reservation into a mapping, and tells the start that waits.
fn tell_ready(context: &ActionContext, id: &RecordId, outcome: StartOutcome) -> Result<()> {
    context.store.update(|state| {
        let record = state.record_mut(id).ok_or_else(|| Error::failed("the record of this start is gone"))?;
        record.phase = Phase::Ready;
        record.outcome = Some(outcome);
        Ok(())
    })
}

/// The service takes files up to this size, in bytes (docs/measured/createos-cli.md 4.4).
const LARGEST: u64 = 500_000_000;
/// How many names of what stayed home are said.
const NAMED: usize = 5;

/// Said at each start, for it is a wall less.
const SHARED: &str = "note: this machine's network is the box's too, with its services and its private neighbours (network in config.json)";

/// What to do about an upload that is too large.
fn leave_out() -> String {
    let list = command::action("upload").flag("--dry-run");
    format!("leave large files out with excludes in config.json; see them with: {list}")
}

struct Provision<'a> {
    context: &'a ActionContext,
    record: &'a mut Record,
    config: Config,
    agent: Agent,
    root: RemoteRoot,
    provider: Provider,
    steps: Steps,
    stop: &'a Stop,
    /// Whose commits the agent makes.
    person: Option<Person>,
    /// What the repository says that its boxes need, if that counts.
    project: Option<Project>,
}

impl<'a> Provision<'a> {
    fn new(context: &'a ActionContext, record: &'a mut Record, stop: &'a Stop) -> Result<Self> {
        let Wishes { config, project, ignored } = wishes(context, &record.worktree)?;
        let agent = record.agent.get()?;
        let root = record.remote_root.get()?;
        let provider = context.provider(record.provider)?.stop_when(stop.flag());
        ui::paragraph(format!(
            "{} in {}    {}, pauses after {}\n",
            title(record),
            record.name,
            config.shape,
            record.auto_pause
        ));
        if let Some(ignored) = ignored {
            ui::paragraph(format!("  note: {ignored}\n"));
        }
        let steps = Steps::new(&["create", "upload", "prepare", "install", "start"]);
        Ok(Self { context, record, config, agent, root, provider, steps, stop, person: None, project })
    }

    fn run(mut self, more: &[String]) -> Result<StartOutcome> {
        let values = values::of(&self.config.environment, &self.context.paths)?;
        let home = self.pack_home()?;
        let upload = self.pack()?;
        self.stop.check()?;
        self.warn_about_egress();
        self.tell_of_the_network()?;

        self.steps.begin("create");
        let id = create(self.context, self.record, &self.config, &self.provider)?;
        self.provider.wait_running(&id, UP)?;
        self.steps.done("create", id.as_str());

        let mut remote = ProviderBox::new(self.provider.clone(), id.clone());
        self.steps.begin("upload");
        let (steps, total) = (&mut self.steps, ui::bytes(upload.packed.archive_bytes));
        upload.push(&mut remote, &mut |done| steps.progress(&format!("{} of {total}", ui::bytes(done))))?;
        let outcome = self.tell_of(&upload.packed);
        self.stop.check()?;

        self.steps.begin("prepare");
        let ledger = Ledger::new(self.context.store.box_folder(&id)?);
        let steps = &mut self.steps;
        let person = self.person.as_ref();
        upload.prepare(&mut remote, &self.root, &ledger, person, &mut |text| steps.progress(text))?;
        self.steps.done("prepare", "starting point kept");
        self.stop.check()?;

        if let Some(home) = &home {
            home::deliver(home, &mut remote)?;
        }
        if !values.is_empty() {
            deliver(&mut remote, &values)?;
        }
        self.steps.begin("install");
        let (egress, steps) = (&self.config.egress, &mut self.steps);
        let installed = install::install(&remote, self.agent, egress, self.stop, steps)?;
        self.steps.done("install", &shown(&installed));
        self.stop.check()?;

        self.seed(&mut remote, &upload.packed)?;
        self.stop.check()?;

        let failed = self.on_create(&remote)?;

        self.steps.begin("start");
        let (program, environment) = (installed.program.as_str(), &self.config.environment);
        let process = start_agent(&remote, self.record, Given { program, first: &[], more, environment })?;
        self.context.store.change(&self.record.id, |record| {
            record.program = Some(installed.program.clone());
            record.process = Some(process);
            record.project_failed = failed;
            record.environment = values.iter().map(|(name, _)| name.clone()).collect();
        })?;
        self.steps.done("start", &format!("attached. {} detaches", self.config.detach_key.words()));
        Ok(outcome)
    }

    /// Answers the agent's first questions, as far as the worktree is not one that would run something by the answer.
    fn seed(&mut self, remote: &mut ProviderBox, packed: &Packed) -> Result<()> {
        let spec = self.agent.spec();
        let is_hook = |path: &str| {
            spec.hooks
                .iter()
                .any(|hook| path == hook || hook.ends_with('/') && path.starts_with(hook.as_str()))
        };
        let hooks = packed.base.iter().any(|(path, _)| is_hook(&path.to_string()));
        let wanted = |seed: &&Seed| !(seed.trust && hooks) && (!seed.unattended || self.record.unattended);
        let seeds: Vec<_> = spec.seeds.iter().filter(wanted).collect();
        for note in plant(remote, &seeds, &self.root)? {
            self.steps.interrupt();
            ui::paragraph(format!("  note: {}", ui::visible_line(&note)));
        }
        Ok(())
    }

    /// Runs the project's commands, in sight. One that fails keeps no agent from starting; what failed.
    fn on_create(&mut self, remote: &ProviderBox) -> Result<Option<String>> {
        let commands = self.project.take().map(|project| project.on_create).unwrap_or_default();
        let mut failed = Vec::new();
        for command in commands {
            self.steps.interrupt();
            ui::paragraph(format!("\n  onCreate: {}", ui::visible_line(&command)));
            let began = Instant::now();
            let why = project::run(remote, &self.root, &command, &mut install::on_screen());
            let how = why.as_deref().unwrap_or("done");
            ui::paragraph(format!("  {how}, {}", ui::seconds(began.elapsed())));
            failed.extend(why.map(|why| format!("onCreate {}: {why}", ui::visible_line(&command))));
            self.stop.check()?;
        }
        Ok((!failed.is_empty()).then(|| failed.join("; ")))
    }

    /// What of the user's home goes along, judged as the rest.
    fn pack_home(&mut self) -> Result<Option<Upload>> {
        let paths = &self.context.paths;
        let Some(selection) = home::selection(&self.config, self.agent, paths)? else { return Ok(None) };
        let (upload, stayed) = home::pack(&selection, self.context.store.folder(), self.stop.flag())?;
        let missing = home::missing(&self.config, paths);
        for (what, names) in [("stay home", stayed), ("are not there", missing)] {
            if !names.is_empty() {
                self.steps.interrupt();
                let some = ui::some(names.iter().take(NAMED), names.len());
                ui::paragraph(format!("  note: of your home files {what}: {some}"));
            }
        }
        Ok((upload.packed.files > 0).then_some(upload))
    }

    /// What will leave, by name and by contents, packed and measured before a box is paid for.
    fn pack(&mut self) -> Result<Upload> {
        self.steps.progress("packing …");
        let selection = self.selection()?;
        let total = ui::count(selection.files().len() as u64, "file");
        let folder = self.context.store.folder();
        let steps = &mut self.steps;
        let upload =
            Upload::pack(&selection, folder, LARGEST, self.stop.flag(), &leave_out, &mut |done, bytes| {
                steps.progress(&format!("packing {total}: {done} done, {}", ui::bytes(bytes)));
            })?;
        if upload.packed.base.is_empty() {
            return Err(Error::failed("no file of this worktree may be uploaded")
                .help(format!("see why with: {}", command::action("upload").flag("--dry-run"))));
        }
        Ok(upload)
    }

    fn selection(&mut self) -> Result<Selection> {
        let worktree = Worktree::discover(&self.context.git()?, &self.record.worktree)?;
        self.person = worktree.person();
        let rules = include::rules(&self.config, &self.context.store, worktree.root())?;
        let selection = worktree::select(&worktree, &rules)?;
        if selection.files().is_empty() {
            return Err(Error::failed("no file of this worktree would be uploaded")
                .fact("worktree", self.context.paths.show(worktree.root()))
                .fact("stay home", ui::count(selection.stayed.len() as u64, "file"))
                .help(format!("see why with: {}", command::action("upload").flag("--dry-run"))));
        }
        for idle in &selection.idle {
            self.steps.interrupt();
            ui::paragraph(format!("  warning: {idle}"));
        }
        Ok(selection)
    }

    /// Images often carry the agent: an allow-list without the installer's hosts is only a warning.
    fn warn_about_egress(&mut self) {
        let (spec, egress) = (self.agent.spec(), &self.config.egress);
        let blocked = install::blocked(self.agent, egress).join(", ");
        let needed = install::kept_out(spec.needed_hosts(), egress).join(", ");
        let what = match (blocked.as_str(), needed.as_str()) {
            ("", "") => return,
            ("", needed) => format!("{needed}, which {} needs to be of use", spec.title),
            (blocked, _) => format!("{blocked}: if the image lacks {}, its install will fail", spec.program),
        };
        self.steps.interrupt();
        ui::paragraph(format!("  note: egress does not list {what}\n"));
    }

    /// What a box of this machine shares with it, and what is new about that.
    fn tell_of_the_network(&mut self) -> Result<()> {
        if !self.provider.kind().has().network {
            return Ok(());
        }
        let news = crate::local::news(&self.context.paths)?.filter(|_| self.config.network == Network::Own);
        let shared = (self.config.network == Network::Host).then(|| SHARED.to_owned());
        for words in news.into_iter().chain(shared) {
            self.steps.interrupt();
            ui::paragraph(format!("  {words}\n"));
        }
        Ok(())
    }

    fn tell_of(&mut self, packed: &Packed) -> StartOutcome {
        let kept = |reason| matches!(reason, Reason::Denied | Reason::Secret);
        let mut names = packed.stayed.iter().filter(|stayed| kept(stayed.reason)).map(|stayed| &stayed.path);
        let files = names.by_ref().take(NAMED).map(|path| path.to_string_lossy().into());
        let stayed_files: Vec<String> = files.collect();
        let stayed = stayed_files.len() + names.count();
        let outcome = StartOutcome { ok: true, stayed, stayed_files, ..StartOutcome::default() };
        let home = packed.stayed.len();
        let mut what = format!("{}, {}", ui::count(packed.files, "file"), ui::bytes(packed.bytes));
        if home > 0 {
            what.push_str(&format!("; {home} stayed home"));
        }
        if home > 0 && stayed == 0 {
            what.push_str(" (upload --dry-run)");
        }
        self.steps.done("upload", &what);
        if let Some(stayed) = stayed_words(&outcome) {
            ui::paragraph(format!("       {stayed}"));
        }
        outcome
    }
}

/// What stayed home for a name or a secret: the names, and what shows them all; nothing when none stayed.
pub(crate) fn stayed_words(outcome: &StartOutcome) -> Option<String> {
    let StartOutcome { stayed, stayed_files: first, .. } = outcome;
    let all = command::action("upload").flag("--dry-run");
    (*stayed > 0)
        .then(|| format!("stayed home for a name or a secret: {}; all: {all}", ui::some(first, *stayed)))
}

fn shown(installed: &Installed) -> String {
    let version = installed.version.as_deref().map(|version| format!("{version}  ")).unwrap_or_default();
    let whose = if installed.of_image { ", of the image" } else { "" };
    format!("{version}{}{whose}", ui::visible(&installed.program))
}
