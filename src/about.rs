//! What the binary says about itself: completions, manual pages, version.

use crate::cli::{Cli, CompletionsArgs, ManArgs, VersionArgs};
use crate::error::{IoContext, Result};
use crate::exit::Exit;
use crate::fs::{Mode, write_atomic};
use crate::ui;
use clap::{Command, CommandFactory};
use serde_json::json;
use std::path::Path;

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), env!("CARGO_PKG_NAME"), &mut script);
    // clap_complete 4.6 spells a hyphen in our name one way where its bash script sets the command and
    // another way where it asks for it, so that nothing below the first level would be completed.
    let script = String::from_utf8_lossy(&script).replace("createos__subcmd__sandbox", "createos__sandbox");
    let _closed_pipe = ui::raw(script.as_bytes());
    Exit::DONE
}

/// Prints the manual page, or writes one for each command into a folder.
///
/// # Errors
/// The folder cannot be made or written.
pub(crate) fn man(args: &ManArgs) -> Result<Exit> {
    // Without `help` as a command of its own, which would repeat every other page.
    let mut root = Cli::command().disable_help_subcommand(true);
    root.build();
    let Some(folder) = &args.out else {
        let _closed_pipe = ui::raw(&page(&root)?.1);
        return Ok(Exit::DONE);
    };
    std::fs::create_dir_all(folder).at("create the folder", folder)?;
    let count = pages(&root, folder)?;
    ui::line(format!("{count} pages in {}", folder.display()));
    Ok(Exit::DONE)
}

/// Writes the page of a command and of those below it; says how many.
fn pages(command: &Command, folder: &Path) -> Result<usize> {
    let (name, text) = page(command)?;
    write_atomic(&folder.join(name), &text, Mode::Shared)?;
    let mut count = 1;
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        count += pages(below, folder)?;
    }
    Ok(count)
}

/// The page of a command, with the name of its file.
fn page(command: &Command) -> Result<(String, Vec<u8>)> {
    let source = format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    let man = clap_mangen::Man::new(command.clone()).source(source);
    let (name, mut text) = (man.get_filename(), Vec::new());
    man.render(&mut text).at("render", Path::new(&name))?;
    Ok((name, text))
}

/// Prints the version, as one line or as one JSON document.
pub(crate) fn version(args: &VersionArgs) -> Exit {
    let [name, version] = [env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")];
    let (os, arch) = (std::env::consts::OS, std::env::consts::ARCH);
    ui::line(match args.json {
        true => format!(
            "{:#}",
            json!({ "schemaVersion": 1, "name": name, "version": version, "os": os, "arch": arch })
        ),
        false => format!("{name} {version} ({os} {arch})"),
    });
    Exit::DONE
}
