//! The embedded provider: boxes on this machine, with the command line of `createos sandbox`.
//!
//! A box is a folder with a root file system of its own. Every program in it runs in new user, mount,
//! process, IPC, UTS and cgroup namespaces, as one unprivileged uid, with the host's `/usr` read-only.
//! Each `exec` and each `process` has namespaces of its own; the files of the box are what they share.
//! Linux only: elsewhere every command says so and ends with exit code 2.

#[cfg(target_os = "linux")]
mod attach;
#[cfg(target_os = "linux")]
mod channel;
#[cfg(target_os = "linux")]
mod commands;
#[cfg(target_os = "linux")]
mod detach;
#[cfg(target_os = "linux")]
mod enter;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(target_os = "linux")]
mod exec;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has local boxes"))]
mod failure;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod hidden;
#[cfg(target_os = "linux")]
mod id;
#[cfg(target_os = "linux")]
mod inside;
#[cfg(target_os = "linux")]
mod meta;
#[cfg(target_os = "linux")]
mod model;
#[cfg(target_os = "linux")]
mod modes;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has local boxes"))]
mod output;
#[cfg(target_os = "linux")]
mod pause;
#[cfg(target_os = "linux")]
mod probe;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod record;
#[cfg(target_os = "linux")]
mod refusal;
#[cfg(target_os = "linux")]
mod remove;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod served;
#[cfg(target_os = "linux")]
mod shape;
#[cfg(target_os = "linux")]
mod skeleton;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod spec;
#[cfg(target_os = "linux")]
mod store;
#[cfg(target_os = "linux")]
mod supervisor;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod transfer;

#[cfg(target_os = "linux")]
pub(crate) use commands::run;
#[cfg(target_os = "linux")]
pub(crate) use probe::probe;
#[cfg(target_os = "linux")]
pub(crate) use shape::knows_shape;

use crate::error::Error;
use output::Mode;
use std::ffi::OsString;

/// Shows a command line of `local …` that cannot be read, as JSON where that is expected; exit code 2.
pub(crate) fn wrong_use(error: &clap::Error, args: &[OsString]) -> u8 {
    let before: Vec<&str> =
        args.iter().take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str()).collect();
    let said = before.iter().enumerate().find_map(|(at, arg)| match *arg {
        "-o" | "--output" => before.get(at + 1).copied(),
        arg => ["-o=", "--output=", "-o"].iter().find_map(|start| arg.strip_prefix(start)),
    });
    let is_text = ["exec", "rm", "delete", "destroy"].iter().any(|verb| before.contains(verb));
    let mode = if is_text { Mode::Text } else { Mode::of(said) };
    if mode == Mode::Text || !error.use_stderr() {
        let _closed_pipe = error.print();
        return u8::try_from(error.exit_code()).unwrap_or(2);
    }
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).trim();
    mode.fail(&Error::usage(text).into())
}

/// Runs a command of the provider; there are no boxes on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn run(args: crate::cli::LocalArgs) -> u8 {
    let error = Error::cannot_run("local sandboxes need Linux; nothing was run").help(format!(
        "use CreateOS instead: {} && {}",
        crate::command::createos(["login"]),
        crate::command::setup()
    ));
    Mode::of(args.output.as_deref()).fail(&error.into())
}

/// Whether this machine can isolate a box: only Linux can.
///
/// # Errors
/// Always.
#[cfg(not(target_os = "linux"))]
pub(crate) fn probe() -> crate::error::Result<()> {
    Err(Error::cannot_run("local sandboxes need Linux; nothing was run")
        .help(crate::command::setup().with("--provider", "createos").flag("--force")))
}

/// There are no boxes here that could have a shape.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub(crate) fn knows_shape(_text: &str) -> Result<(), &'static [&'static str]> {
    Ok(())
}
