//! `createos-sandbox`: picks the role, runs it, exits.
#![allow(dead_code, unused_imports)] // INTEGRATION: removed when every room is in use

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
mod state;
mod ui;
mod worktree;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match run(cli) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            ui::report(&error);
            ExitCode::from(error.code())
        }
    }
}

fn run(cli: cli::Cli) -> error::Result<u8> {
    match cli.command {
        cli::Command::Try(_args) => Ok(0),
        cli::Command::Setup(_args) => Ok(0),
        cli::Command::Herdr(command) => match command {},
        cli::Command::Local(command) => match command {},
    }
}
