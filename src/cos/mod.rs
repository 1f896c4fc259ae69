//! `cos`: run a command in a box, from any terminal.

mod auth;
mod background;
mod clean_up;
mod down;
mod egress;
mod environment;
mod fanout;
mod fork;
mod home;
mod link;
mod make;
mod name;
mod offload;
mod program;
mod project;
mod providers;
mod refused;
mod run;
mod run_in;
mod say;
mod shell;
mod ship;
mod state;
mod status;
mod up;
mod variable;

use crate::cli::{CosArgs, CosVerb};
use crate::error::Result;
use crate::exit::Exit;
use name::NAME;
use providers::Providers;
use std::ffi::OsStr;
use std::path::Path;

/// Whether this process was started under the name `cos`.
pub(crate) fn is_called_as_cos(argv0: Option<&OsStr>) -> bool {
    argv0.and_then(|name| Path::new(name).file_name()) == Some(OsStr::new(NAME))
}

/// Runs a verb: the command's exit code, or ours.
///
/// # Errors
/// None: what went wrong is said here, in this program's way.
pub(crate) fn run(args: &CosArgs) -> Result<Exit> {
    let outcome = match &args.verb {
        CosVerb::Install { target } => link::install(target.as_deref()),
        CosVerb::CleanUp(name) => clean_up::clean_up(name),
        CosVerb::StopRun(words) => clean_up::stop_run(words),
        verb => Providers::read(args.provider.as_deref()).and_then(|providers| match verb {
            CosVerb::Auth => auth::auth(&providers),
            CosVerb::Status(args) => status::status(&providers, args),
            CosVerb::Offload(args) => offload::offload(&providers, args),
            CosVerb::Fanout(args) => fanout::fanout(&providers, args),
            CosVerb::Up(args) => up::up(&providers, args),
            CosVerb::Run(args) => run_in::run(&providers, args),
            CosVerb::Down(args) => down::down(&providers, args),
            CosVerb::Pause => down::pause(&providers),
            CosVerb::Resume => down::resume(&providers),
            CosVerb::Fork => fork::fork(&providers),
            CosVerb::Shell(args) => shell::shell(&providers, args),
            CosVerb::Install { .. } | CosVerb::CleanUp(_) | CosVerb::StopRun(_) => Ok(Exit::DONE),
        }),
    };
    Ok(outcome.unwrap_or_else(|error| {
        say::report(&error);
        error.exit()
    }))
}

/// Says what is wrong with a command line, or shows the help that it asks for; gives the exit code.
pub(crate) fn wrong_use(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let _closed_pipe = error.print();
        return Exit::DONE;
    }
    let text = error.render().to_string();
    say::say(text.strip_prefix("error: ").unwrap_or(&text).trim_end());
    Exit::UNUSABLE
}
