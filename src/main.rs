//! `createos-sandbox`: picks the role, runs it, exits.

mod about;
mod action;
mod base64;
mod cli;
mod command;
mod config;
mod cos;
mod createos;
mod duration;
mod error;
mod exec;
mod exit;
mod fs;
mod herdr;
mod install;
mod journey;
mod keys;
#[cfg_attr(not(target_os = "linux"), path = "local/elsewhere.rs")]
mod local;
mod man;
mod merge;
#[cfg(target_os = "linux")]
mod network;
mod paths;
mod random;
mod relay;
mod setup;
mod state;
mod templates;
mod text_type;
mod trial;
mod ui;
mod version;
mod worktree;

/// The tests' terminal, the same for the tests of a module as for those of the binary.
#[cfg(test)]
#[path = "../tests/it/support/terminal.rs"]
mod test_terminal;

use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    let name = args.first().map(|name| name.as_os_str());
    let outcome = match () {
        () if setup::shim::is_called_as_createos(name) => {
            setup::shim::run_as_createos(args.get(1..).unwrap_or_default())
        }
        () if cos::is_called_as_cos(name) => match cli::parse_as_cos(&args) {
            Ok(args) => cos::run(&args),
            Err(error) => Ok(cos::wrong_use(&error)),
        },
        () => run(parse(&args)),
    };
    let code = outcome.unwrap_or_else(|error| {
        ui::report(&error);
        error.exit()
    });
    ExitCode::from(ui::ending(code).code())
}

/// The command line. One that is not understood ends the process here; where one JSON document is promised
/// whatever happens, that document says so.
fn parse(args: &[std::ffi::OsString]) -> cli::Cli {
    cli::parse(args).unwrap_or_else(|error| {
        let says = |at: usize, word: &str| args.get(at).is_some_and(|arg| arg == word);
        if says(1, "cos") {
            std::process::exit(cos::wrong_use(&error).code().into());
        }
        if says(1, "local") {
            std::process::exit(local::wrong_use(&error, args).code().into());
        }
        if says(1, "setup") && setup::asks_for_json(args) && error.use_stderr() {
            ui::line(setup::wrong_usage(&error.render().to_string(), args));
            std::process::exit(error.exit_code());
        }
        error.exit()
    })
}

fn run(cli: cli::Cli) -> error::Result<Exit> {
    match cli.command {
        cli::Command::Try(args) => trial::run(&args),
        cli::Command::Anywhere(command) => action::run_anywhere(command),
        cli::Command::Setup(args) => setup::run(&args),
        cli::Command::Cos(args) => cos::run(&args),
        cli::Command::Trust(args) => action::trust(&args),
        cli::Command::Shim(command) => shim(command),
        cli::Command::Herdr(command) => action::run(command),
        cli::Command::Completions(args) => Ok(about::completions(&args)),
        cli::Command::Man(args) => man::man(&args),
        cli::Command::Version(args) => Ok(about::version(&args)),
        cli::Command::Local(args) => Ok(local::run(args)),
    }
}

fn shim(command: cli::ShimCommand) -> error::Result<Exit> {
    let paths = paths::Paths::from_env()?;
    paths.refuse_foreign_home(paths.data())?;
    match command {
        cli::ShimCommand::Install => {
            let var = |name| std::env::var_os(name);
            setup::shim::install(&paths, &var("PATH").unwrap_or_default(), var("SHELL").as_deref())
        }
        cli::ShimCommand::Remove => setup::shim::remove(&paths),
    }
}
