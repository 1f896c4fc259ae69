//! `createos-sandbox setup`: from the command line to the exit code, and the one document of `--json`.

use super::checks::{self, check, context::Context};
use super::observe::observe;
use super::report::Report;
use super::request::{Request, Task};
use super::talk::Talk;
use super::{change, render, set_up, take_back};
use crate::cli::SetupArgs;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::paths::Paths;
use crate::ui;
use std::ffi::OsString;

/// Runs `setup`; the exit code. With `--json` stdout holds one document, whatever happens.
///
/// # Errors
/// As an error for a person; with `--json` it is in the document instead.
pub(crate) fn run(args: &SetupArgs) -> Result<Exit> {
    let mut report = Report::new(Task::asked(args.doctor, args.undo));
    let outcome = carry_out(args, &mut report);
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
    Ok(Exit::of_program(report.exit_code))
}

fn carry_out(args: &SetupArgs, report: &mut Report) -> Result<Exit> {
    let request = Request::parse(args, |name| std::env::var(name).ok())?;
    let paths = Paths::from_env()?;
    crate::exec::end_together(ui::is_asking, change::last_words)
        .map_err(|source| Error::cannot_run(format!("signals cannot be watched: {source}")))?;
    if request.task != Task::Doctor {
        paths.refuse_foreign_home(paths.home())?;
    }
    let talk = Talk { request: &request, paths: &paths };
    match request.task {
        Task::Doctor => Ok(examine(&talk, report)),
        Task::Setup => set_up::set_up(&talk, report),
        Task::Undo => take_back::take_back(&talk, report),
    }
}

/// Looks at everything and says what is wrong; the exit code.
fn examine(talk: &Talk<'_>, report: &mut Report) -> Exit {
    let observed = observe(talk.paths, talk.request);
    let context = Context::new(talk.request, &observed, talk.paths);
    let checks = checks::all(&context);
    let code = check::exit_code(&checks, talk.request.strict);
    talk.say(render::doctor(&checks, ui::columns()));
    talk.annotate(&checks);
    report.add_checks(checks);
    code
}

/// A full disk behind stdout keeps us from telling what was done; it does not undo it.
fn say_if_lost(report: &Report) {
    if report.changed && ui::lost_a_line() {
        ui::note(match report.command {
            Task::Undo => "The setup was taken back all the same.",
            _ => "The setup is done all the same.",
        });
    }
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
    let mut report = Report::new(Task::asked(has_flag(args, "--doctor"), has_flag(args, "--undo")));
    let message = message.trim().strip_prefix("error: ").unwrap_or(message.trim());
    report.fail(&Error::usage(message));
    report.text()
}
