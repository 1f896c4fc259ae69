//! The plugin's actions, one file each, over Herdr, a provider, the worktree, the merge and the state.

mod mapping;
mod pane;
mod report;
mod verbs;
mod work;

pub(crate) use verbs::trust::trust;

use crate::cli::{AnywhereCommand, BoxCommand, HerdrCommand, Which};
use crate::command;
use crate::error::{Error, Kind, Result};
use crate::exit::Exit;
use crate::herdr::{Caller, Invocation, Place};
use crate::ui;
use mapping::{ActionContext, Called, detached};
use pane::{include, menu, provision, sheet, terminal};
use report::{Notice, Report};
use std::io::IsTerminal;
use verbs::{
    anywhere, apply, ask_delete, attach, boxes, cleanup, delete, info, pause, prune, reconcile, resume,
    review, start, start_menu, sync, undo, upload,
};

/// Runs an action. Exit code 0: done; 1: not (docs/json.md, the result line); 130: Ctrl-C at a question.
///
/// # Errors
/// Only of commands that print no result line.
pub(crate) fn run(command: HerdrCommand) -> Result<Exit> {
    let action = |name, which, act: &dyn Fn(&ActionContext) -> Result<Report>| {
        action(Called::InHerdr, name, which, act)
    };
    Ok(match command {
        HerdrCommand::Upload(args) => return upload::upload(&args),
        HerdrCommand::Start(args) => action("start", None, &|context| {
            start::start(context, args.agent.as_deref().map(str::parse).transpose()?)
        }),
        HerdrCommand::StartMenu => action("start-menu", None, &start_menu::start_menu),
        HerdrCommand::Attach(args) => {
            action("attach", Some(&args.which), &|context| attach::attach(context, args.fresh))
        }
        HerdrCommand::Of(command) => on_a_box(Called::InHerdr, &command),
        HerdrCommand::Sync(which) => action("sync", Some(&which), &sync::sync),
        HerdrCommand::Prune(args) => action("prune", None, &|context| prune::prune(context, &args)),
        HerdrCommand::Boxes if Invocation::from_env().caller == Caller::Key => {
            action("boxes", None, &boxes::open)
        }
        HerdrCommand::Boxes => pane(open(|context| {
            detached::finish_abandoned(context)?;
            boxes::boxes(context).map(|_| ())
        })),
        HerdrCommand::SyncPane => pane(open(sync::pane)),
        HerdrCommand::Reconcile => quiet(open(reconcile::reconcile)),
        HerdrCommand::Cleanup(record) => quiet(clean_up(&record)),
        HerdrCommand::Provision => pane(open(provision::provision)),
        HerdrCommand::ReviewPane => pane(open(review::pane)),
        HerdrCommand::Message => pane(sheet::message()),
        HerdrCommand::Relay { old, argv } => return crate::relay::run(old, &argv),
        HerdrCommand::AskTrust => pane(open(include::ask_in_popup)),
        HerdrCommand::AskDelete => pane(open(ask_delete::ask_delete)),
        HerdrCommand::AskAgent => pane(open(menu::ask_in_popup)),
        HerdrCommand::BoxNames => quiet(box_names()),
    })
}

/// The same for a command that was typed in any terminal.
///
/// # Errors
/// Only of commands that print no result line.
pub(crate) fn run_anywhere(command: AnywhereCommand) -> Result<Exit> {
    command::speak_plainly();
    match command {
        AnywhereCommand::Start(args) => anywhere::start(&opened(None)?, &args),
        AnywhereCommand::Attach(args) => anywhere::attach(&opened(args.which.name)?, args.fresh),
        AnywhereCommand::Boxes => anywhere::boxes(&opened(None)?),
        AnywhereCommand::Of(command) => Ok(on_a_box(Called::Anywhere, &command)),
    }
}

fn on_a_box(called: Called, command: &BoxCommand) -> Exit {
    let act =
        |name, which, act: &dyn Fn(&ActionContext) -> Result<Report>| action(called, name, Some(which), act);
    match command {
        BoxCommand::Apply(args) => act("apply", &args.which, &|context| apply::apply(context, args)),
        BoxCommand::Review(which) => act("review", which, &review::review),
        BoxCommand::Undo(args) => act("undo", &args.which, &|context| undo::undo(context, args)),
        BoxCommand::Pause(which) => act("pause", which, &pause::pause),
        BoxCommand::Resume(which) => act("resume", which, &resume::resume),
        BoxCommand::Info(which) => act("info", which, &info::info),
        BoxCommand::Delete(args) => act("delete", &args.which, &|context| delete::delete(context, args)),
    }
}

/// What a command in any terminal has at hand; starts that nobody owns any more are finished first.
fn opened(wanted: Option<String>) -> Result<ActionContext> {
    let mut context = ActionContext::open(Called::Anywhere)?;
    context.wanted = wanted;
    detached::finish_abandoned(&context)?;
    Ok(context)
}

/// Nobody is asked for it: a person waits for a completion.
fn box_names() -> Result<String> {
    let state = ActionContext::open(Called::Anywhere)?.store.read()?;
    let names: Vec<_> = state.records.iter().map(|record| record.name.to_string()).collect();
    Ok(names.join("\n"))
}

/// Needs no Herdr, also where the start was in one of its panes.
fn clean_up(record: &str) -> Result<String> {
    let id = record.parse().map_err(Error::usage)?;
    cleanup::cleanup(&ActionContext::open(Called::Anywhere)?, &id).map(|()| "done".to_owned())
}

fn open<T>(act: impl FnOnce(&ActionContext) -> Result<T>) -> Result<T> {
    act(&ActionContext::open(Called::InHerdr)?)
}

/// An action proper: words for people, its result line last, and a notice after a key press.
fn action(
    called: Called,
    name: &'static str,
    which: Option<&Which>,
    act: impl FnOnce(&ActionContext) -> Result<Report>,
) -> Exit {
    let context = ActionContext::open(called).map(|mut context| {
        (context.action, context.wanted) = (name, which.and_then(|which| which.name.clone()));
        context
    });
    let outcome = match &context {
        Ok(context) => detached::finish_abandoned(context).and_then(|()| act(context)),
        Err(error) => Err(error.clone()),
    };
    let report = outcome.unwrap_or_else(Report::refused).with_fix();
    match &report.refused {
        Some(error) => ui::report(error),
        None if report.text.is_empty() => {}
        None => ui::line(ui::visible(&report.text)),
    }
    // It is for programs, and would only be in a person's way.
    if !std::io::stdout().is_terminal() {
        ui::line(report.line(name));
    }
    if let Ok(context) = &context
        && context.invocation.caller == Caller::Key
    {
        tell(context, name, &report);
    }
    match &report.refused {
        None => Exit::DONE,
        Some(error) if error.kind() == Kind::Interrupted => error.exit(),
        Some(_) => Exit::FAILED,
    }
}

/// A key's outcome is invisible unless we show it.
fn tell(context: &ActionContext, name: &str, report: &Report) {
    let (text, pane) = match &report.refused {
        _ if report.notice == Notice::Nothing => return,
        Some(error) => (format!("{name}\n\n{}", ui::format_error(error)), None),
        None => (report.text.clone(), report.pane.as_ref()),
    };
    let focus = context.focus().ok().flatten().map(|pane| pane.id.clone());
    let popup = || {
        let text: String = text.chars().take(sheet::LONGEST).collect();
        let env = [(sheet::MESSAGE, text.as_str())];
        context.herdr.open_plugin_pane("message", Place::Popup, None, &env).is_ok()
    };
    if report.notice == Notice::Popup && popup() {
        return;
    }
    let line =
        text.lines().filter(|line| !line.trim().is_empty()).map(str::trim).collect::<Vec<_>>().join("  ");
    if !context.herdr.notice(&line, pane.or(focus.as_ref())) && report.notice == Notice::Toast {
        let _stands_in_the_log = popup();
    }
}

/// A hook: a word for the plugin's log.
fn quiet(outcome: Result<String>) -> Exit {
    match outcome {
        Ok(text) => {
            ui::line(text);
            Exit::DONE
        }
        Err(error) => {
            ui::report(&error);
            Exit::FAILED
        }
    }
}

/// The process of a pane: what goes wrong must stay readable, the pane closes when we end.
fn pane(outcome: Result<()>) -> Exit {
    let Err(error) = outcome else { return Exit::DONE };
    match terminal::Keys::take() {
        Ok(keys) => {
            ui::paragraph(ui::format_error(&error));
            ui::paragraph("\n  any key closes this");
            keys.wait();
        }
        Err(_) => ui::report(&error),
    }
    Exit::FAILED
}
