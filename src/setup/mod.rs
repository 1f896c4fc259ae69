//! Setting Herdr up for sandboxed agents, and taking it back: desired, observed, plan, apply, receipt, undo.
//! The doctor renders the same observation.

mod annotations;
mod bundle;
mod change;
mod checks;
mod install;
mod observe;
mod offer;
mod plan;
mod receipt;
mod render;
mod report;
mod request;
pub(crate) mod shim;
mod template;
mod version;
mod words;

use crate::cli::SetupArgs;
use crate::command;
use crate::error::{Error, IoContext, Result};
use crate::herdr::{Herdr, Reload};
use crate::keys::Chord;
use crate::paths::Paths;
use crate::state::Record;
use crate::ui::{self, Said};
use change::Change;
use change::apply::{self, Apply, Purpose};
use change::leftovers;
use checks::Context;
use checks::check::{self, Check, Status};
use observe::{Depth, Observed, files, observe, programs};
use offer::Consent;
use plan::{Displaced, Plan, Warning, config as plan_config, stays, undo};
use receipt::{Receipt, What};
use render::Detail;
use report::{Command, Report};
use request::{Mode, Request};
use std::ffi::OsString;
use std::path::Path;

/// Runs `setup`; the exit code. With `--json` stdout holds one document, whatever happens.
///
/// # Errors
/// As an error for a person; with `--json` it is in the document instead.
pub(crate) fn run(args: &SetupArgs) -> Result<u8> {
    let command = match (args.doctor, args.undo) {
        (true, _) => Command::Doctor,
        (_, true) => Command::Undo,
        _ => Command::Setup,
    };
    let mut report = Report::new(command);
    let outcome = session(args, &mut report);
    crate::exec::stay_when_ending();
    if !args.json {
        say_if_lost(&report);
        return outcome;
    }
    match outcome {
        Ok(code) => report.end(code),
        Err(error) => report.fail(&error),
    }
    ui::line(report.text());
    say_if_lost(&report);
    Ok(report.exit_code)
}

/// What was done stays done when nobody could be told: a full disk behind stdout does not undo it.
fn say_if_lost(report: &Report) {
    if report.changed && ui::lost_a_line() {
        ui::note(match report.command {
            Command::Undo => "The setup was taken back all the same.",
            _ => "The setup is done all the same.",
        });
    }
}

fn session(args: &SetupArgs, report: &mut Report) -> Result<u8> {
    let request = Request::parse(args, |name| std::env::var(name).ok())?;
    let paths = Paths::from_env()?;
    crate::exec::end_together(ui::is_asking, apply::last_words)
        .map_err(|source| Error::cannot_run(format!("signals cannot be watched: {source}")))?;
    Session { request: &request, paths: &paths }.run(report)
}

/// Whether a command line that may be wrong asks for a document, be it as `--json` or as `--json=…`.
pub(crate) fn asks_for_json(args: &[OsString]) -> bool {
    has_flag(args, "--json")
}

fn has_flag(args: &[OsString], flag: &str) -> bool {
    let is_flag = |arg: &OsString| {
        let rest = arg.as_encoded_bytes().strip_prefix(flag.as_bytes());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"="))
    };
    args.iter().take_while(|arg| *arg != "--").any(is_flag)
}

/// The document of a command line that was not understood.
pub(crate) fn wrong_usage(message: &str, args: &[OsString]) -> String {
    let mut report = Report::new(match (has_flag(args, "--doctor"), has_flag(args, "--undo")) {
        (true, _) => Command::Doctor,
        (_, true) => Command::Undo,
        _ => Command::Setup,
    });
    let message = message.trim().strip_prefix("error: ").unwrap_or(message.trim());
    report.fail(&Error::usage(message));
    report.text()
}

/// One run.
struct Session<'a> {
    request: &'a Request,
    paths: &'a Paths,
}

impl Session<'_> {
    fn run(&self, report: &mut Report) -> Result<u8> {
        if self.request.mode != Mode::Doctor {
            self.paths.refuse_foreign_home(self.paths.home())?;
        }
        match self.request.mode {
            Mode::Doctor => Ok(self.doctor(report)),
            Mode::Setup => self.set_up(report),
            Mode::Undo => self.undo(report),
        }
    }

    /// Says something, unless stdout is one JSON document.
    fn say(&self, text: impl AsRef<str>) {
        if !self.request.json {
            ui::line(text);
        }
    }

    fn asks(&self) -> bool {
        !self.request.yes && !self.request.json && !self.request.dry_run && ui::is_on_terminal()
    }

    /// Whether missing programs may be installed.
    fn consent(&self) -> Consent {
        match self.request {
            Request { dry_run: true, .. } => Consent::DryRun,
            Request { install_missing: true, .. } => Consent::Given,
            _ if self.asks() => Consent::Ask,
            _ => Consent::None,
        }
    }

    fn doctor(&self, report: &mut Report) -> u8 {
        let template = template::herdr();
        let observed = observe(template, self.paths, self.request, Depth::Doctor);
        let context = Context::new(template, self.request, &observed, self.paths, ui::is_on_terminal());
        let checks = checks::all(&context);
        let code = check::exit_code(&checks, self.request.strict);
        self.say(render::doctor(&checks, ui::columns()));
        self.annotate(&checks);
        report.add_checks(checks);
        code
    }

    /// Failures as annotations, where a workflow runs us.
    fn annotate(&self, checks: &[Check]) {
        if std::env::var_os("GITHUB_ACTIONS").is_none_or(|value| value.is_empty()) {
            return;
        }
        for line in annotations::annotations(checks, self.request.strict) {
            if self.request.json { ui::note(line) } else { ui::line(line) }
        }
    }

    fn set_up(&self, report: &mut Report) -> Result<u8> {
        let template = template::herdr();
        let look = || {
            let observed = observe(template, self.paths, self.request, Depth::Setup);
            let context = Context::new(template, self.request, &observed, self.paths, ui::is_on_terminal());
            let checks = checks::before_setup(&context);
            (observed, checks)
        };
        let (mut observed, mut checks) = look();
        plan_config::refuse_loosening(self.request, &observed.config, self.paths)?;
        plan_config::refuse_local_egress(self.request, &observed.config)?;
        let can_be_had = offer::installable(&checks, &observed, self.paths)?;
        let ids: Vec<&str> = can_be_had.iter().map(|(check, _)| check.id).collect();
        let installed =
            offer::install(&can_be_had, self.consent(), self.request, self.paths, &|text| self.say(text));
        drop(can_be_had);
        if !matches!(installed, Ok(false)) {
            (observed, checks) = look();
        }
        if let Err(error) = installed {
            self.do_without(&ids, &checks, error)?;
        }
        self.annotate(&checks);
        let offered = if self.consent() == Consent::None { &ids[..] } else { &[] };
        let missing = missing(&checks, offered, self.request);
        report.add_checks(checks);
        missing?;
        let own = programs::own_path()
            .ok_or_else(|| Error::cannot_run("this binary was moved or removed while it ran"))?;
        if let Ok(Some(receipt)) = &observed.receipt {
            self.same_folder(receipt)?;
        }
        let mut request = self.request.clone();
        let mut plan = self.plan(&request, &observed, &own)?;
        report.add_plan(&plan, self.paths);
        let was_killed =
            matches!(&observed.receipt, Ok(Some(receipt)) if receipt.state == receipt::State::Applying);
        if plan.changes.is_empty() && !was_killed {
            let title = format!("{} is set up", self.name(&observed));
            self.say(render::plan(&title, &plan, self.paths, Detail { diffs: false }));
            self.say("Nothing was changed.");
            return Ok(self.code(&plan));
        }
        loop {
            match self.agree(&self.title(&observed), &plan)? {
                Answer::Go => break,
                Answer::Leave => return Ok(u8::from(!self.request.dry_run)),
                Answer::Keep(action, chord) => request = request.choosing(&action, chord),
                Answer::Notices => request = request.with_notices(),
            }
            plan = self.plan(&request, &observed, &own)?;
            report.add_plan(&plan, self.paths);
        }
        self.apply(&observed, &plan, Purpose::Setup)?;
        report.changed = true;
        let edited_keys = edits_keys(&plan);
        if edited_keys {
            self.reload(&observed);
        }
        self.say(done(&plan));
        Ok(self.code(&plan))
    }

    /// What is to be done for this request, with what is worth a warning around it.
    fn plan(&self, request: &Request, observed: &Observed, own: &Path) -> Result<Plan> {
        let template = template::herdr();
        let mut plan = plan::plan(request, observed, self.paths, own)?;
        let context = Context::new(template, request, observed, self.paths, ui::is_on_terminal());
        let shadowed = template.requirements.iter().filter_map(|one| checks::shadowed(&context, one));
        plan.warnings.extend(shadowed.filter_map(Warning::of));
        if request.settings.shape.is_some() {
            plan.warnings.extend(Warning::of(checks::shape(&context)));
        }
        Ok(plan)
    }

    /// The one question of a setup. What it offers beside yes and no changes the plan, which is shown again then.
    fn agree(&self, title: &str, plan: &Plan) -> Result<Answer> {
        let keep = plan.displaced.as_ref().and_then(|displaced| Some((displaced, displaced.instead?)));
        let edits = edits_keys(plan);
        let (keep, notices) = (keep.filter(|_| edits), plan.notices_off && edits);
        if !self.asks() || (keep.is_none() && !notices) {
            let go = self.go_ahead(title, plan, "Continue?", true)?;
            return Ok(if go { Answer::Go } else { Answer::Leave });
        }
        self.say(render::plan(title, plan, self.paths, Detail { diffs: true }));
        let mut others = Vec::new();
        if let Some((Displaced { action, field, .. }, chord)) = keep {
            self.say(format!("  k  keeps Herdr's {field}: {action} gets {chord}"));
            others.push('k');
        }
        if notices {
            self.say("  t  turns Herdr's notices on, too: they tell what an action did");
            others.push('t');
        }
        Ok(match (ui::choose("Continue?", true, &others)?, keep) {
            (Said::Yes, _) => Answer::Go,
            (Said::Other('k'), Some((displaced, chord))) => Answer::Keep(displaced.action.clone(), chord),
            (Said::Other('t'), _) => Answer::Notices,
            _ => {
                self.say("Nothing was changed.");
                Answer::Leave
            }
        })
    }

    /// An installation failed. When what it was to bring is there all the same (its installer came that far,
    /// or somebody else was faster), that is used and said.
    fn do_without(&self, ids: &[&str], checks: &[Check], error: Error) -> Result<()> {
        let wanted = checks.iter().filter(|check| ids.contains(&check.id));
        if wanted.clone().any(|check| check.status == Status::Fail) {
            return Err(error);
        }
        ui::note(format!("warning: {}", ui::visible(error.message())));
        for check in wanted {
            let place = check.path.as_deref().unwrap_or_default();
            ui::note(format!("  used instead: {}   {}", ui::visible(&check.message), ui::visible(place)));
        }
        Ok(())
    }

    fn undo(&self, report: &mut Report) -> Result<u8> {
        let template = template::herdr();
        let observed = observe(template, self.paths, self.request, Depth::Setup);
        let receipt = observed.receipt.clone()?;
        if let Some(receipt) = &receipt {
            self.same_folder(receipt)?;
        }
        let mut plan = undo::plan(receipt.as_ref(), &observed, self.paths)?;
        if receipt.is_none() {
            plan.changes.extend(self.leftovers(&observed, &plan)?);
        }
        plan.kept = stays::after(&plan, &receipt.clone().unwrap_or_default(), &observed, self.paths);
        report.add_plan(&plan, self.paths);
        if receipt.is_none() && plan.changes.is_empty() {
            let title = "There is nothing to take back: no setup is on record here, and none left anything.";
            self.say(render::plan(title, &plan, self.paths, Detail { diffs: false }).trim_end());
            self.say("Nothing was changed.");
            return Ok(self.code(&plan));
        }
        let boxes = observed.mappings.as_ref().map_or(&[][..], Vec::as_slice);
        self.say_boxes(boxes);
        let agreed = if boxes.is_empty() || self.request.dry_run || self.request.yes {
            self.go_ahead("Taking the setup back", &plan, "Take it back?", true)?
        } else if self.asks() {
            self.go_ahead("Taking the setup back", &plan, "Take it back and leave these boxes?", false)?
        } else {
            return Err(Error::failed("panes are still tied to boxes, which would be left behind")
                .fact("boxes", boxes.iter().map(|record| record.name.as_str()).collect::<Vec<_>>().join(", "))
                .help(format!(
                    "delete them first, or leave them with: {}",
                    command::setup().flag("--undo").flag("--yes")
                )));
        };
        if !agreed {
            return Ok(u8::from(!self.request.dry_run));
        }
        let short = self.apply(&observed, &plan, Purpose::Undo)?;
        report.changed = true;
        if edits_keys(&plan) {
            self.reload(&observed);
        }
        if let Some(error) = short.into_iter().next() {
            let lost =
                Error::failed("the setup was taken back, but the plugin from before it is not there again");
            let lost = lost.fact("because", error.message());
            let lost = error.facts().iter().fold(lost, |lost, (label, value)| lost.fact(label, value));
            return Err(error.hints().iter().fold(lost, |lost, hint| lost.help(hint)));
        }
        self.say(if plan.warnings.is_empty() {
            "Done. Everything that setup did was taken back."
        } else {
            "Done. Everything that setup did was taken back, but for what is warned of above."
        });
        Ok(self.code(&plan))
    }

    /// What killed runs left without a receipt, but for what the plan takes already. Under the lock: what is staged
    /// may be a running setup's.
    fn leftovers(&self, observed: &Observed, plan: &Plan) -> Result<Vec<Change>> {
        let _lock = self.lock()?;
        let planned = plan.changes.iter().flat_map(|change| match change {
            Change::Bundle(bundle) => {
                let files = bundle.before.keys().map(|name| bundle.folder.join(name));
                files.chain([bundle.folder.clone()]).collect()
            }
            _ => Vec::new(),
        });
        let planned: Vec<std::path::PathBuf> = planned.collect();
        Ok(leftovers::find(self.paths, observed, &planned).into_iter().map(Change::Leftover).collect())
    }

    /// Another configuration folder has another registry and another `config.json`.
    fn same_folder(&self, receipt: &Receipt) -> Result<()> {
        let real = |path: &Path| {
            let path = files::absolute(path);
            path.canonicalize().unwrap_or(path)
        };
        let now = self.paths.herdr_config_dir();
        let Some(known) = receipt.herdr_config.as_deref().filter(|known| real(known) != real(now)) else {
            return Ok(());
        };
        let folder = known.parent().unwrap_or(known);
        Err(Error::failed("Herdr was set up in another configuration folder; nothing was changed")
            .fact("it was", known.display().to_string())
            .fact("it is", files::absolute(now).display().to_string())
            .help(format!(
                "take that back first: {}",
                command::setup().flag("--undo").variable("XDG_CONFIG_HOME", &folder.to_string_lossy())
            )))
    }

    /// Shows the plan and asks when somebody is there. False means that nothing is to be done.
    fn go_ahead(&self, title: &str, plan: &Plan, question: &str, default: bool) -> Result<bool> {
        let asks = self.asks();
        self.say(render::plan(title, plan, self.paths, Detail { diffs: asks || self.request.dry_run }));
        if self.request.dry_run {
            self.say("Nothing was changed (--dry-run).");
            return Ok(false);
        }
        if asks && !ui::confirm(question, default)? {
            self.say("Nothing was changed.");
            return Ok(false);
        }
        Ok(true)
    }

    fn apply(&self, observed: &Observed, plan: &Plan, purpose: Purpose) -> Result<Vec<Error>> {
        // Two setups at once would not see each other's receipts.
        let _lock = self.lock()?;
        let before = self.unchanged(observed)?;
        let apply = Apply {
            paths: self.paths,
            herdr: herdr(observed),
            diagnostics: match (&observed.diagnostics, purpose) {
                (Some(diagnostics), Purpose::Setup) => diagnostics.clone()?,
                _ => Default::default(),
            },
            again: self.request.again.clone(),
            quiet: self.request.json,
        };
        apply.run(&plan.changes, before, purpose)
    }

    /// The receipt, when everything that the plan is made from is still as it was seen: somebody may have set
    /// up while this run waited for an answer or for the lock.
    fn unchanged(&self, seen: &Observed) -> Result<Option<Receipt>> {
        let receipt = Receipt::read(self.paths)?;
        let registry = self.paths.herdr_config_dir().join("plugins.json");
        let plugin = observe::registered(&registry, &template::herdr().plugin.id);
        let same = Ok(&receipt) == seen.receipt.as_ref().map_err(|_| ())
            && plugin == seen.plugin
            && observe::bundle(self.paths) == seen.bundle;
        if same {
            return Ok(receipt);
        }
        Err(Error::failed("Herdr was set up by another run meanwhile").help("run it again"))
    }

    /// The lock is on the home folder itself: it is always there, and no file has to be left for it. Where
    /// the file system has no locks (some network homes), two setups at once are the user's to avoid.
    fn lock(&self) -> Result<Option<std::fs::File>> {
        let home = self.paths.home();
        let folder = std::fs::File::open(home).at("open", home)?;
        match folder.try_lock() {
            Ok(()) => Ok(Some(folder)),
            Err(std::fs::TryLockError::WouldBlock) => {
                Err(Error::failed("another setup is running").help("wait for it to end, then run this again"))
            }
            Err(std::fs::TryLockError::Error(_)) => Ok(None),
        }
    }

    /// Lets running servers read their file again. It is worth a warning when they do not, no more.
    fn reload(&self, observed: &Observed) {
        let Some(herdr) = herdr(observed) else { return };
        match herdr.reload() {
            Ok(Reload::Applied) => self.say("The running Herdr has taken the keys over."),
            Ok(Reload::NoServer) => {}
            Ok(Reload::Refused(words)) => ui::note(format!(
                "warning: the running Herdr did not take all of config.toml over: {}",
                ui::visible(&words.join("; "))
            )),
            Err(error) => {
                ui::note(format!("warning: Herdr could not be told: {}", ui::visible(error.message())))
            }
        }
    }

    fn say_boxes(&self, boxes: &[Record]) {
        if boxes.is_empty() {
            return;
        }
        self.say("These boxes are still tied to panes, and nothing here deletes them:\n");
        for record in boxes {
            let id = record.box_id.as_ref().map_or_else(|| record.name.to_string(), |id| id.to_string());
            let delete = record.provider.command(&["rm", "--yes", &id]);
            self.say(format!("  {}", ui::visible(&delete.to_string())));
        }
        self.say("");
    }

    fn title(&self, observed: &Observed) -> String {
        format!("Setting up {}", self.name(observed))
    }

    /// The host with its version.
    fn name(&self, observed: &Observed) -> String {
        let title = &template::herdr().title;
        match observed.programs.get("herdr") {
            Some(programs::Program::Found { text, .. }) => format!("{title} {}", ui::visible(text)),
            _ => title.clone(),
        }
    }

    fn code(&self, plan: &Plan) -> u8 {
        u8::from(self.request.strict && !plan.warnings.is_empty())
    }
}

/// What a person says to a plan.
enum Answer {
    /// Do it.
    Go,
    /// Do nothing.
    Leave,
    /// Give this action another chord, so that Herdr keeps its own.
    Keep(String, Chord),
    /// Turn Herdr's notices on as well.
    Notices,
}

fn herdr(observed: &Observed) -> Option<Herdr> {
    observed.programs.get("herdr").and_then(|program| program.path()).map(Herdr::new)
}

fn edits_keys(plan: &Plan) -> bool {
    plan.changes.iter().any(|change| matches!(change, Change::File(file) if file.what == What::Keys))
}

/// What is missing, as one error with every fix.
///
/// What we can install (`offered`) comes first, by the one command that does all of it: whoever sees this has
/// nothing yet.
fn missing(checks: &[Check], offered: &[&str], request: &Request) -> Result<()> {
    let failed: Vec<&Check> =
        checks.iter().filter(|check| check.status == Status::Fail && check.required).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let mut error = Error::failed("Herdr cannot be set up yet; nothing was changed");
    for check in &failed {
        let needed = check.needed.as_ref().map_or_else(String::new, |needed| format!(" (needs {needed})"));
        error = error.fact(check.id, format!("{}{needed}", check.message));
    }
    let install = request.again.clone().flag("--install-missing");
    if !offered.is_empty() {
        error = error.help(format!("have {} installed, and Herdr set up: {install}", offered.join(" and ")));
    }
    let no_createos = failed.iter().any(|check| check.id == "createos" && check.found.is_none());
    if no_createos && offered.contains(&"createos") {
        error = error.help(format!("then, with a CreateOS account: {}", command::createos(["login"])));
    }
    let installs = offered.iter().any(|id| *id != "createos");
    let other_ways = |error: Error| {
        let try_first = format!("or see first what it does, with nothing set up: {}", command::own(["try"]));
        error.help(checks::without_account(if installs { &install } else { &request.again })).help(try_first)
    };
    let no_session = failed.iter().any(|check| check.id == "session");
    if cfg!(target_os = "linux") && no_createos {
        error = other_ways(error);
    }
    for check in failed {
        let is_offered = offered.contains(&check.id);
        let lead = if is_offered { format!("or {} by hand: ", check.id) } else { String::new() };
        for line in check.fix.iter().flat_map(|fix| fix.lines()) {
            error = error.help(format!("{lead}{line}"));
        }
    }
    if cfg!(target_os = "linux") && no_session && !no_createos {
        error = other_ways(error);
    }
    Err(error)
}

/// The last words of a setup.
fn done(plan: &Plan) -> String {
    let start = match plan.chord("start") {
        Some(chord) => {
            let prefix = plan.prefix.as_ref().filter(|_| chord.starts_with("prefix+"));
            let prefix = prefix.map_or_else(String::new, |key| format!(" (prefix is {key})"));
            format!("Done. In Herdr, inside a git worktree, press {chord}{prefix}.")
        }
        None => {
            "Done. In Herdr, paste the bindings, then press the one for start inside a git worktree.".into()
        }
    };
    let undo = format!("Take it all back: {}", command::setup().flag("--undo"));
    let difference = "(herdr config reset-keys would also take the keys that you bound yourself)";
    let displaced = plan.displaced.as_ref().map_or_else(String::new, |displaced| {
        let Displaced { action, field, way_back, .. } = displaced;
        format!("Herdr's {field} has no key now; to give it back, and {action} another one: {way_back}\n")
    });
    format!("{start}\nSign the agent in inside its pane the first time.\n{displaced}{undo}\n  {difference}")
}
