//! What the binary says about itself: completions, version.

use crate::cli::{Cli, CompletionsArgs, VersionArgs};
use crate::exit::Exit;
use crate::ui;
use clap::CommandFactory;
use serde_json::json;

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
