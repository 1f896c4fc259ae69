//! `createos-sandbox`: picks the role, runs it, exits.
#![allow(dead_code, unused_imports)] // INTEGRATION: removed when every room is in use

mod about;
mod action;
mod cli;
mod config;
mod createos;
mod error;
mod exec;

mod fs;
mod herdr;
mod keys;
mod merge;
mod paths;
mod setup;
mod state;
mod ui;
mod worktree;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args_os();
    let outcome = match setup::shim::is_called_as_createos(args.next().as_deref()) {
        true => setup::shim::run_as_createos(&args.collect::<Vec<_>>()),
        false => run(parse()),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            ui::report(&error);
            ExitCode::from(error.code())
        }
    }
}

/// The command line. One that is not understood ends the process here; with `setup --json` the one document
/// says so, as it does whatever happens.
fn parse() -> cli::Cli {
    cli::Cli::try_parse().unwrap_or_else(|error| {
        let words: Vec<_> = std::env::args_os().skip(1).collect();
        let is_json =
            words.iter().any(|word| word == "--json") && words.first().is_some_and(|word| word == "setup");
        if is_json && error.use_stderr() {
            ui::line(setup::wrong_usage(&error.render().to_string()));
            std::process::exit(error.exit_code());
        }
        error.exit()
    })
}

fn run(cli: cli::Cli) -> error::Result<u8> {
    match cli.command {
        cli::Command::Try(_args) => Ok(0),
        cli::Command::Setup(args) => setup::run(&args),
        cli::Command::Shim(command) => shim(command),
        cli::Command::Herdr(command) => action::run(command),
        cli::Command::Completions(args) => Ok(about::completions(&args)),
        cli::Command::Man(args) => about::man(&args),
        cli::Command::Version(args) => Ok(about::version(&args)),
        cli::Command::Local(command) => match command {},
    }
}

fn shim(command: cli::ShimCommand) -> error::Result<u8> {
    let paths = paths::Paths::from_env()?;
    match command {
        cli::ShimCommand::Install => {
            let var = |name| std::env::var_os(name);
            setup::shim::install(&paths, &var("PATH").unwrap_or_default(), var("SHELL").as_deref())
        }
        cli::ShimCommand::Remove => setup::shim::remove(&paths),
    }
}
