//! Offering to install what is missing or too old, before a setup gives up on it.

use super::checks::check::{Check, Status};
use super::checks::programs::without_account;
use super::observe::Observed;
use super::request::Request;
use crate::error::{Error, Result};
use crate::install::{Installation, Installed, Machine, OnPath};
use crate::paths::Paths;
use crate::{command, ui};

/// Who decides whether something is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Consent {
    /// The command line said yes.
    Given,
    /// A person is asked.
    Ask,
    /// Only say what would be done.
    DryRun,
    /// There is no terminal to ask on, so no.
    None,
}

/// The requirements that failed and that we can install.
pub(super) fn installable<'a>(
    checks: &'a [Check],
    observed: &Observed,
    paths: &Paths,
) -> Result<Vec<(&'a Check, Installation)>> {
    let failed = checks.iter().filter(|check| check.required && check.status == Status::Fail);
    let mut found = Vec::new();
    with_machine(paths, |machine| {
        for check in failed {
            let existing = observed.path_of(check.id);
            if let Some(installation) = Installation::find(check.id, existing, machine)? {
                found.push((check, installation));
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Installs what is agreed on. Says whether anything was, so that all has to be looked at again.
///
/// # Errors
/// A download or an installer failed.
pub(super) fn install(
    missing: &[(&Check, Installation)],
    consent: Consent,
    request: &Request,
    paths: &Paths,
    say: &dyn Fn(&str),
) -> Result<bool> {
    let mut any = false;
    for (check, installation) in missing {
        let id = check.id;
        let doing = match consent {
            Consent::None => continue,
            Consent::DryRun => format!("Would install {id} (--install-missing):"),
            Consent::Given => format!("Installing {id}:"),
            Consent::Ask => format!("{}. To install it, this will:", ui::visible(&check.message)),
        };
        say(&doing);
        for line in installation.lines() {
            say(&format!("  {line}"));
        }
        if consent == Consent::Ask && id == "createos" && cfg!(target_os = "linux") {
            say(&without_account(&request.again));
        }
        if consent == Consent::Given
            || consent == Consent::Ask && ui::confirm(&format!("Install {id}?"), true)?
        {
            let installed = with_machine(paths, |machine| installation.install(machine))?;
            say(&done(id, &installed, paths));
            any = true;
        }
    }
    Ok(any)
}

fn done(id: &str, installed: &Installed, paths: &Paths) -> String {
    let mut text = format!("Installed {id} to {}", paths.show(&installed.path));
    if let Some(backup) = &installed.backup {
        text.push_str(&format!("; the one before it is {}", paths.show(backup)));
    }
    let folder = installed.path.parent().map(|folder| paths.show(folder)).unwrap_or_default();
    text + &match &installed.on_path {
        OnPath::Chosen => String::new(),
        OnPath::Nothing => format!("\n{folder} is not on PATH yet: add it in your shell's file"),
        OnPath::Other(other) => {
            format!("\nPATH leads to {} first: put {folder} before it", paths.show(other))
        }
    }
}

/// This process's machine. An empty variable counts as unset.
fn with_machine<T>(paths: &Paths, run: impl FnOnce(&Machine<'_>) -> Result<T>) -> Result<T> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    run(&Machine { home: paths.home(), path: &path, var: &var })
}

/// An installation failed. When what it was to bring is there all the same (its installer came that far,
/// or another run was faster), that is used and said.
///
/// # Errors
/// It is not there, and the installation's error says why.
pub(super) fn use_instead(ids: &[&str], checks: &[Check], error: Error) -> Result<()> {
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

/// What is missing, as one error with every fix.
///
/// What we can install (`offered`) comes first, by the one command that does all of it: this is read by people who
/// have nothing yet.
///
/// # Errors
/// Something that is required is missing.
pub(super) fn explain_missing(checks: &[Check], offered: &[&str], request: &Request) -> Result<()> {
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
        error.help(without_account(if installs { &install } else { &request.again })).help(try_first)
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
